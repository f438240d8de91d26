//! How much features differ along S: R(S) = ½ Σ_ij S_ij ‖x_i/√d_i − x_j/√d_j‖² with d_i = 1 + Σ_j S_ij.
//!
//! With K = X Xᵀ it is Σ_i (1 − 1/d_i) K_ii − Σ_ij S_ij K_ij / √(d_i d_j). Its gradient by a symmetric S is
//! −K_ij / √(d_i d_j) + ½ (q_i + q_j), q_i = (K_ii / d_i + t_i) / d_i, t_i = Σ_j S_ij K_ij / √(d_i d_j).
//! Features are scaled by one number so that the mean of K_ii is 1: λ then means the same on every dataset.

use edgepace_graph::{Features, SparseFeatures};
use edgepace_nn::{Packed, Real, Threads, tall_product};

/// r_i = 1/√d_i and q_i of every node.
#[derive(Debug, Default)]
pub(super) struct Scales<T> {
    pub(super) r: Vec<T>,
    pub(super) q: Vec<T>,
}

impl<T: Real> Scales<T> {
    /// The gradient of R by the entry (i, j), given K_ij.
    #[inline(always)]
    pub(super) fn gradient(&self, i: usize, j: usize, similarity: T) -> T {
        T::of(0.5) * (self.q[i] + self.q[j]) - self.r[i] * self.r[j] * similarity
    }

    /// Recomputed from the sums of S's rows; `weighted(i, r)` is Σ_j S_ij K_ij r_j, `own` has K_ii.
    pub(super) fn update(
        &mut self,
        threads: &Threads,
        own: &[T],
        degree: impl Fn(usize) -> T + Sync,
        weighted: impl Fn(usize, &[T]) -> T + Sync,
    ) {
        self.r.resize(own.len(), T::ZERO);
        self.q.resize(own.len(), T::ZERO);
        threads.rows(&mut self.r, 1, 64, |first, r| {
            for (i, r) in r.iter_mut().enumerate() {
                *r = T::ONE / (T::ONE + degree(first + i)).sqrt();
            }
        });
        let r = &self.r;
        threads.rows(&mut self.q, 1, 64, |first, q| {
            for (i, q) in q.iter_mut().enumerate() {
                let i = first + i;
                *q = (own[i] * r[i] * r[i] + r[i] * weighted(i, r)) * r[i] * r[i];
            }
        });
    }
}

/// The number that makes the mean squared length of rows 1; 0 where all are 0.
fn scale(features: &Features) -> f64 {
    let values = match features {
        Features::Dense(dense) => dense.values(),
        Features::Sparse(sparse) => sparse.values(),
    };
    let total: f64 = values.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if total > 0.0 { (features.rows() as f64 / total).sqrt() } else { 0.0 }
}

/// Whether a product of rows is cheaper on stored values than on all of them: a dense product does about this many
/// multiplications in the time of one along stored columns.
const DENSE_GAIN: f64 = 16.0;

/// Whether pairs of rows are best multiplied along the columns that they share.
pub(super) fn is_sparse(features: &Features) -> bool {
    let Features::Sparse(sparse) = features else { return false };
    let transposed = sparse.transpose();
    let along_columns: f64 =
        transposed.offsets().windows(2).map(|range| ((range[1] - range[0]) as f64).powi(2)).sum();
    along_columns * DENSE_GAIN < (sparse.rows() as f64).powi(2) * sparse.cols() as f64
}

/// All values, row after row.
pub(super) fn dense_values(features: &Features) -> Vec<f32> {
    match features {
        Features::Dense(dense) => dense.values().to_vec(),
        Features::Sparse(sparse) => {
            let mut values = vec![0.0; sparse.rows() * sparse.cols()];
            for row in 0..sparse.rows() {
                for at in sparse.offsets()[row]..sparse.offsets()[row + 1] {
                    values[row * sparse.cols() + sparse.columns()[at] as usize] = sparse.values()[at];
                }
            }
            values
        }
    }
}

/// The products of a row with all rows, added to `out`, one number per row; `by_column` is the transpose.
pub(super) fn add_products(rows: &SparseFeatures, by_column: &SparseFeatures, row: usize, out: &mut [f32]) {
    for at in rows.offsets()[row]..rows.offsets()[row + 1] {
        let (column, x) = (rows.columns()[at] as usize, rows.values()[at]);
        let others = by_column.offsets()[column]..by_column.offsets()[column + 1];
        for (&other, &y) in by_column.columns()[others.clone()].iter().zip(&by_column.values()[others]) {
            out[other as usize] += x * y;
        }
    }
}

/// K of all pairs, nodes × nodes, with the same bits on both sides of the diagonal.
pub(super) fn similarities(threads: &Threads, features: &Features) -> Vec<f32> {
    let nodes = features.rows();
    let mut out = vec![0.0; nodes * nodes];
    match features {
        Features::Sparse(sparse) if is_sparse(features) => {
            let by_column = sparse.transpose();
            threads.rows(&mut out, nodes.max(1), 8, |first, rows| {
                for (i, row) in rows.chunks_exact_mut(nodes).enumerate() {
                    add_products(sparse, &by_column, first + i, row);
                }
            });
        }
        _ => {
            let values = dense_values(features);
            let mut packed = Packed::default();
            packed.pack_transposed(&values, features.cols(), nodes);
            tall_product(threads, &values, &packed, &mut out);
        }
    }
    let scale = scale(features).powi(2) as f32;
    threads.rows(&mut out, nodes.max(1), 8, |_, rows| rows.iter_mut().for_each(|x| *x *= scale));
    out
}

/// K of some pairs: `ends(e)` are the ends of entry `e`.
pub(super) fn similarities_at(
    threads: &Threads,
    features: &Features,
    entries: usize,
    ends: impl Fn(usize) -> (usize, usize) + Sync,
) -> Vec<f32> {
    let scale = scale(features).powi(2) as f32;
    let mut out = vec![0.0; entries];
    threads.rows(&mut out, 1, 1024, |first, out| {
        for (e, out) in out.iter_mut().enumerate() {
            let (i, j) = ends(first + e);
            *out = scale * product(features, i.min(j), i.max(j));
        }
    });
    out
}

fn product(features: &Features, i: usize, j: usize) -> f32 {
    match features {
        Features::Dense(dense) => {
            let row = |i: usize| &dense.values()[i * dense.cols()..][..dense.cols()];
            row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum()
        }
        Features::Sparse(sparse) => {
            let row = |i: usize| {
                let range = sparse.offsets()[i]..sparse.offsets()[i + 1];
                (&sparse.columns()[range.clone()], &sparse.values()[range])
            };
            let ((a, x), (b, y)) = (row(i), row(j));
            let (mut p, mut q, mut sum) = (0, 0, 0.0);
            while p < a.len() && q < b.len() {
                match a[p].cmp(&b[q]) {
                    std::cmp::Ordering::Less => p += 1,
                    std::cmp::Ordering::Greater => q += 1,
                    std::cmp::Ordering::Equal => {
                        sum += x[p] * y[q];
                        (p, q) = (p + 1, q + 1);
                    }
                }
            }
            sum
        }
    }
}
