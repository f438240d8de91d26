//! Dense products of tall matrices (a row per node), for methods that factorise what they learn.

use crate::kernels::dense::{Output, Panels, exact_transposed_matmul, matmul};
use crate::kernels::finish::Finish;
use crate::real::Real;
use crate::threads::Threads;

/// The right-hand side of a product, in the order in which the kernel reads it. Kept by a caller, it is packed again
/// without allocating.
#[derive(Default)]
pub struct Packed<T>(Panels<T>);

impl<T: Real> Packed<T> {
    /// Packs the row-major `matrix`, `depth` × `columns`.
    ///
    /// # Panics
    /// When `matrix` is of another size.
    pub fn pack(&mut self, matrix: &[T], depth: usize, columns: usize) -> &Self {
        assert_eq!(matrix.len(), depth * columns, "depth × columns");
        self.0.pack(matrix, depth, columns);
        self
    }

    /// Packs the transpose of the row-major `matrix`, `columns` × `depth`.
    ///
    /// # Panics
    /// When `matrix` is of another size.
    pub fn pack_transposed(&mut self, matrix: &[T], depth: usize, columns: usize) -> &Self {
        assert_eq!(matrix.len(), depth * columns, "depth × columns");
        self.0.pack_transposed(matrix, depth, columns);
        self
    }
}

/// out = a · b, row-major: `a` rows × depth, `b` depth × columns, `out` rows × columns.
///
/// Each element is summed over the depth in order, by one thread.
///
/// # Panics
/// When `a` and `out` have not the same number of rows.
pub fn tall_product<T: Real>(threads: &Threads, a: &[T], b: &Packed<T>, out: &mut [T]) {
    let (depth, columns) = b.0.shape();
    assert_eq!(a.len() * columns, out.len() * depth, "as many rows out as in");
    matmul(threads, a, &b.0, out, Output::Set, Finish::Keep);
}

/// out = aᵀ · b in `f64`: `a` rows × k, `b` rows × n, `out` k × n, all row-major.
///
/// Products of `f32` are exact in `f64`, so the sum has 29 bits more than its terms: enough to orthonormalise through it.
/// Rows are cut into fixed pieces whose sums are added in order, so any number of threads gives the same bits.
///
/// # Panics
/// When `a`, `b` or `out` is of another size.
pub fn gram(threads: &Threads, a: &[f32], b: &[f32], (k, n): (usize, usize), out: &mut [f64]) {
    assert!(out.len() == k * n && a.len() * n == b.len() * k, "k × n out of as many rows");
    exact_transposed_matmul(threads, a, b, (k, n), out);
}
