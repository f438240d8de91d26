//! The nearest nodes by features: cosine for bags of words, Euclidean distance for measurements. Exact, in blocks of rows.

use edgepace_graph::Features;
use edgepace_nn::{Packed, Threads, tall_product};

use super::smoothness::{add_products, dense_values, is_sparse};

/// Rows that are compared with all others at a time.
const BLOCK: usize = 96;
/// Numbers that are looked over at once for one that belongs to the best.
const GLANCE: usize = 16;

/// For each node the `count` nearest others, nodes × `count`; [`NOBODY`] fills up where there are fewer. Among equals the
/// lower number is nearer. Without a feature in common a node is nobody's neighbour by cosine.
pub(super) fn nearest(threads: &Threads, features: &Features, count: usize) -> Vec<u32> {
    let nodes = features.rows();
    let mut out = vec![NOBODY; nodes * count];
    if nodes == 0 || count == 0 {
        return out;
    }
    match features {
        Features::Sparse(sparse) if is_sparse(features) => {
            let mut unit = sparse.values().to_vec();
            for row in sparse.offsets().windows(2) {
                to_unit_length(&mut unit[row[0]..row[1]]);
            }
            let (offsets, columns) = (sparse.offsets().to_vec(), sparse.columns().to_vec());
            let Ok(unit) =
                edgepace_graph::SparseFeatures::trusted(nodes, sparse.cols(), offsets, columns, unit)
            else {
                return out;
            };
            let by_column = unit.transpose();
            threads.rows(&mut out, count, BLOCK, |first, out| {
                let mut scores = vec![0.0; nodes];
                for (i, out) in out.chunks_exact_mut(count).enumerate() {
                    scores.fill(0.0);
                    add_products(&unit, &by_column, first + i, &mut scores);
                    best(&scores, first + i, 0.0, out);
                }
            });
        }
        _ => {
            let (left, right, depth, least) = factors(features);
            let mut packed = Packed::default();
            packed.pack_transposed(&right, depth, nodes);
            let alone = Threads::new(1).ok();
            threads.rows(&mut out, count, BLOCK, |first, out| {
                let Some(alone) = &alone else { return };
                let rows = out.len() / count;
                let mut scores = vec![0.0; rows * nodes];
                tall_product(alone, &left[first * depth..][..rows * depth], &packed, &mut scores);
                for (i, out) in out.chunks_exact_mut(count).enumerate() {
                    best(&scores[i * nodes..][..nodes], first + i, least, out);
                }
            });
        }
    }
    out
}

/// In place of a neighbour that there is not.
pub(super) const NOBODY: u32 = u32::MAX;

/// Rows whose products order neighbours, how long they are, and above what a product counts. Cosine: rows of length 1.
/// Distance: x_i·x_j − ½‖x_j‖² grows as ‖x_i − x_j‖ shrinks.
fn factors(features: &Features) -> (Vec<f32>, Vec<f32>, usize, f32) {
    let (columns, mut values) = (features.cols(), dense_values(features));
    if matches!(features, Features::Sparse(_)) {
        values.chunks_exact_mut(columns.max(1)).for_each(to_unit_length);
        return (values.clone(), values, columns, 0.0);
    }
    let extended = |last: &dyn Fn(&[f32]) -> f32| -> Vec<f32> {
        (0..features.rows())
            .flat_map(|i| {
                let row = &values[i * columns..(i + 1) * columns];
                row.iter().copied().chain([last(row)])
            })
            .collect()
    };
    let left = extended(&|_| 1.0);
    let right = extended(&|row| -0.5 * row.iter().map(|x| x * x).sum::<f32>());
    (left, right, columns + 1, f32::NEG_INFINITY)
}

fn to_unit_length(row: &mut [f32]) {
    let length = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if length > 0.0 {
        for x in row {
            *x = (f64::from(*x) / length) as f32;
        }
    }
}

/// The numbers of the largest scores above `least`, the largest first, without `own`.
fn best(scores: &[f32], own: usize, least: f32, out: &mut [u32]) {
    let mut found: Vec<(f32, u32)> = Vec::with_capacity(out.len() + 1);
    let mut bound = least;
    for (tile, tile_scores) in scores.chunks(GLANCE).enumerate() {
        if tile_scores.iter().filter(|&&score| score > bound).count() == 0 {
            continue;
        }
        for (i, &score) in tile_scores.iter().enumerate() {
            let node = tile * GLANCE + i;
            if score > bound && node != own {
                let place = found.partition_point(|&(other, _)| other >= score);
                found.insert(place, (score, node as u32));
                found.truncate(out.len());
                if found.len() == out.len() {
                    bound = found[out.len() - 1].0;
                }
            }
        }
    }
    for (out, (_, node)) in out.iter_mut().zip(found) {
        *out = node;
    }
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{DenseFeatures, SparseFeatures};

    use super::*;

    fn values(rows: usize, cols: usize) -> Vec<f32> {
        (0..rows * cols).map(|i| ((i * i * 7 + i) % 23) as f32 * if i % 3 == 0 { 0.0 } else { 0.1 }).collect()
    }

    /// Every pair by its definition.
    fn plainly(values: &[f32], cols: usize, count: usize, cosine: bool) -> Vec<u32> {
        let rows: Vec<Vec<f64>> =
            values.chunks_exact(cols).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let mut out = Vec::new();
        for (i, a) in rows.iter().enumerate() {
            let near = |b: &[f64]| {
                let lengths = (dot(a, a) * dot(b, b)).sqrt();
                let distance: f64 = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum();
                if cosine { if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 } } else { -distance }
            };
            let mut others: Vec<usize> =
                (0..rows.len()).filter(|&j| j != i && (!cosine || near(&rows[j]) > 0.0)).collect();
            others.sort_by(|&j, &k| near(&rows[k]).total_cmp(&near(&rows[j])));
            out.extend(others.iter().map(|&j| j as u32).chain(std::iter::repeat(NOBODY)).take(count));
        }
        out
    }

    #[test]
    fn neighbours_are_those_of_a_plain_search() {
        let (rows, cols, count) = (210, 9, 4);
        let values = values(rows, cols);
        let threads = Threads::new(2).unwrap();
        let dense: Features = DenseFeatures::new(rows, cols, values.clone()).unwrap().into();
        // Values repeat, so equals are compared by how near they are.
        let far = |i: usize, j: u32| -> f32 {
            let row = |i: usize| &values[i * cols..][..cols];
            row(i).iter().zip(row(j as usize)).map(|(x, y)| (x - y) * (x - y)).sum()
        };
        let found = nearest(&threads, &dense, count);
        for (at, (&ours, &plain)) in found.iter().zip(&plainly(&values, cols, count, false)).enumerate() {
            let i = at / count;
            assert!((far(i, ours) - far(i, plain)).abs() < 1e-4, "node {i}: {ours}, expected {plain}");
        }
        let (mut offsets, mut columns, mut stored) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks_exact(cols) {
            for (column, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                columns.push(column as u32);
                stored.push(x);
            }
            offsets.push(columns.len());
        }
        let sparse: Features = SparseFeatures::new(rows, cols, offsets, columns, stored).unwrap().into();
        let cosine = |i: usize, j: u32| -> f32 {
            let row = |i: usize| &values[i * cols..][..cols];
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
            let (a, b) = (row(i), row(j as usize));
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        let found = nearest(&threads, &sparse, count);
        for (at, (&ours, &plain)) in found.iter().zip(&plainly(&values, cols, count, true)).enumerate() {
            let i = at / count;
            assert_eq!(ours == NOBODY, plain == NOBODY);
            if plain != NOBODY {
                assert!((cosine(i, ours) - cosine(i, plain)).abs() < 1e-4, "node {i}: {ours}, {plain}");
            }
        }
    }

    #[test]
    fn few_nodes_have_few_neighbours() {
        let threads = Threads::new(1).unwrap();
        let one: Features = DenseFeatures::new(1, 2, vec![1.0, 2.0]).unwrap().into();
        assert_eq!(nearest(&threads, &one, 2), [NOBODY, NOBODY]);
        let two: Features = DenseFeatures::new(2, 1, vec![1.0, 2.0]).unwrap().into();
        assert_eq!(nearest(&threads, &two, 2), [1, NOBODY, 0, NOBODY]);
    }
}
