//! Similarity of features: cosine for sparse or binary ones, minus the standardised Euclidean distance for dense ones.

use edgepace_graph::{DenseFeatures, Features, SparseFeatures, Threads};

use crate::each::PIECE;
use crate::math::dot;

/// Similarity of each of `pairs`: O(pairs · columns), once per graph.
pub(crate) fn similarities(threads: &Threads, features: &Features, pairs: &[[u32; 2]]) -> Vec<f32> {
    match features {
        Features::Sparse(sparse) => cosine(threads, sparse, pairs),
        Features::Dense(dense) if is_a_bag(dense) => dense_cosine(threads, dense, pairs),
        Features::Dense(dense) => minus_distance(threads, dense, pairs),
    }
}

fn each_pair(threads: &Threads, pairs: &[[u32; 2]], value: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f32> {
    let mut out = vec![0.0_f32; pairs.len()];
    threads.rows(&mut out, 1, PIECE / 4, |first, piece| {
        for (out, &[i, j]) in piece.iter_mut().zip(&pairs[first..]) {
            *out = value(i as usize, j as usize) as f32;
        }
    });
    out
}

/// Whether dense features are a bag of words that someone stored densely: none negative, and 0 more often than not.
fn is_a_bag(dense: &DenseFeatures) -> bool {
    let values = dense.values();
    let zeros = values.iter().filter(|&&value| value == 0.0).count();
    let binary = values.iter().all(|&value| value == 0.0 || value == 1.0);
    binary || (2 * zeros > values.len() && values.iter().all(|&value| value >= 0.0))
}

fn inverse_norm(row: &[f32]) -> f64 {
    let square = dot(row, row);
    if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 }
}

/// cos(x_i, x_j), 0 where a row is zero.
fn cosine(threads: &Threads, sparse: &SparseFeatures, pairs: &[[u32; 2]]) -> Vec<f32> {
    let row = |node: usize| {
        let range = sparse.offsets()[node]..sparse.offsets()[node + 1];
        (&sparse.columns()[range.clone()], &sparse.values()[range])
    };
    let norms: Vec<f64> = (0..sparse.rows()).map(|node| inverse_norm(row(node).1)).collect();
    each_pair(threads, pairs, |i, j| {
        let ((a_columns, a), (b_columns, b)) = (row(i), row(j));
        let (mut s, mut t, mut sum) = (0, 0, 0.0_f64);
        while s < a.len() && t < b.len() {
            let (left, right) = (a_columns[s], b_columns[t]);
            if left == right {
                sum += f64::from(a[s]) * f64::from(b[t]);
            }
            s += usize::from(left <= right);
            t += usize::from(right <= left);
        }
        sum * norms[i] * norms[j]
    })
}

fn dense_cosine(threads: &Threads, dense: &DenseFeatures, pairs: &[[u32; 2]]) -> Vec<f32> {
    let row = |node: usize| &dense.values()[node * dense.cols()..(node + 1) * dense.cols()];
    let norms: Vec<f64> = (0..dense.rows()).map(|node| inverse_norm(row(node))).collect();
    each_pair(threads, pairs, |i, j| dot(row(i), row(j)) * norms[i] * norms[j])
}

/// −√(mean over columns of ((x_i − x_j) / σ)²); columns without variance do not count.
fn minus_distance(threads: &Threads, dense: &DenseFeatures, pairs: &[[u32; 2]]) -> Vec<f32> {
    const LANES: usize = 8;
    let inverse = inverse_deviations(dense);
    let used = inverse.iter().filter(|&&inverse| inverse > 0.0).count().max(1) as f64;
    let row = |node: usize| &dense.values()[node * dense.cols()..(node + 1) * dense.cols()];
    let square = |a: f32, b: f32, inverse: f32| {
        let z = (a - b) * inverse;
        z * z
    };
    each_pair(threads, pairs, |i, j| {
        let (a, a_rest) = row(i).as_chunks::<LANES>();
        let (b, b_rest) = row(j).as_chunks::<LANES>();
        let (inverse, inverse_rest) = inverse.as_chunks::<LANES>();
        let mut sums = [0.0_f32; LANES];
        for ((a, b), inverse) in a.iter().zip(b).zip(inverse) {
            for lane in 0..LANES {
                sums[lane] += square(a[lane], b[lane], inverse[lane]);
            }
        }
        for (lane, ((&a, &b), &inverse)) in a_rest.iter().zip(b_rest).zip(inverse_rest).enumerate() {
            sums[lane] += square(a, b, inverse);
        }
        let sum: f64 = sums.iter().map(|&sum| f64::from(sum)).sum();
        // Values near the limit of single precision overflow: as far apart as can be told.
        -(sum.min(f64::from(f32::MAX)) / used).sqrt()
    })
}

/// 1 / σ of each column, 0 for one without variance.
fn inverse_deviations(dense: &DenseFeatures) -> Vec<f32> {
    let (nodes, cols) = (dense.rows().max(1) as f64, dense.cols());
    let mut means = vec![0.0_f64; cols];
    let mut squares = vec![0.0_f64; cols];
    if cols == 0 {
        return Vec::new();
    }
    for row in dense.values().chunks_exact(cols) {
        means.iter_mut().zip(row).for_each(|(mean, &x)| *mean += f64::from(x));
    }
    for mean in &mut means {
        *mean /= nodes;
    }
    for row in dense.values().chunks_exact(cols) {
        for ((square, mean), &x) in squares.iter_mut().zip(&means).zip(row) {
            *square += (f64::from(x) - mean).powi(2);
        }
    }
    let inverse = |(&square, &mean): (&f64, &f64)| {
        let deviation = (square / nodes).sqrt();
        if deviation > 1e-9 * mean.abs() && deviation > 1e-30 { (1.0 / deviation) as f32 } else { 0.0 }
    };
    squares.iter().zip(&means).map(inverse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [[u32; 2]; 4] = [[0, 1], [1, 2], [0, 2], [2, 3]];

    #[test]
    fn sparse_and_binary_features_are_compared_by_cosine() {
        let values = vec![
            1.0, 0.0, 1.0, 0.0, /**/ 1.0, 1.0, 0.0, 0.0, /**/ 1.0, 1.0, 1.0, 1.0, /**/ 0.0,
            0.0, 0.0, 0.0,
        ];
        let expected = [0.5, 2.0 / 8.0_f32.sqrt(), 2.0 / 8.0_f32.sqrt(), 0.0];
        let dense = Features::from(DenseFeatures::new(4, 4, values).unwrap());
        let (offsets, columns) = (vec![0, 2, 4, 8, 8], vec![0, 2, 0, 1, 0, 1, 2, 3]);
        let sparse = Features::from(SparseFeatures::new(4, 4, offsets, columns, vec![1.0; 8]).unwrap());
        for features in [dense, sparse] {
            for (found, expected) in
                similarities(&Threads::one(), &features, &PAIRS).into_iter().zip(expected)
            {
                assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            }
        }
    }

    #[test]
    fn dense_features_are_compared_by_their_standardised_distance() {
        // Column 0 has deviation 1, column 1 has deviation 10, column 2 none.
        let values = vec![
            -1.0, 10.0, 7.0, /**/ 1.0, 10.0, 7.0, /**/ 1.0, -10.0, 7.0, /**/ -1.0, -10.0, 7.0,
        ];
        let features = Features::from(DenseFeatures::new(4, 3, values).unwrap());
        let root = |sum: f32| -(sum / 2.0).sqrt();
        let expected = [root(4.0), root(4.0), root(8.0), root(4.0)];
        for (found, expected) in similarities(&Threads::one(), &features, &PAIRS).into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn features_without_columns_or_with_huge_values_give_numbers() {
        let none = Features::from(DenseFeatures::new(4, 0, vec![]).unwrap());
        let huge = Features::from(DenseFeatures::new(4, 1, vec![f32::MAX, -f32::MAX, 3.0, 1.0]).unwrap());
        for features in [none, huge] {
            assert!(
                similarities(&Threads::one(), &features, &PAIRS)
                    .iter()
                    .all(|similarity| similarity.is_finite())
            );
        }
    }
}
