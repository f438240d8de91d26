//! Spectral tools on matrices that are only known by their products.

mod eigen;
mod lanczos;
mod orthonormal;
mod svd;

use edgepace_nn::{EdgeMatrix, Threads};

pub(crate) use eigen::leading_eigenpairs;
pub(crate) use lanczos::{LanczosConfig, lanczos_svd};
pub use svd::{Svd, SvdConfig, truncated_svd};

/// A square matrix, known by its products with tall ones: sparse, dense, low-rank, or a sum of such.
pub trait Operator: Sync {
    /// How many rows, and columns, it has.
    fn rows(&self) -> usize;

    /// out = M · x; both rows × `width`, row-major. The same bits for any number of threads.
    fn apply(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]);

    /// out = Mᵀ · x, otherwise as [`Operator::apply`].
    fn apply_transposed(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]);
}

impl Operator for EdgeMatrix<f32> {
    fn rows(&self) -> usize {
        self.graph().nodes()
    }

    fn apply(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]) {
        self.multiply(threads, x, width, out);
    }

    fn apply_transposed(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]) {
        self.multiply_transposed(threads, x, width, out);
    }
}
