//! The eigenvalues of largest size of a symmetric operator and their vectors: block subspace iteration, then the
//! Rayleigh–Ritz step, which finds the best pairs that the space holds. Unlike singular vectors they keep the sign of the
//! eigenvalue, so that what is made of them is symmetric to the bit.

use edgepace_nn::{Packed, Threads, gram, tall_product};
use faer::{Mat, Side};

use crate::error::TrainError;
use crate::linalg::orthonormal::Orthonormaliser;
use crate::linalg::svd::first_block;
use crate::linalg::{Operator, SvdConfig};

/// M ≈ U·diag(λ)·Uᵀ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Eigenpairs {
    /// Eigenvalues, the largest by size first.
    pub(crate) values: Vec<f32>,
    /// U, rows × values, row-major, with orthonormal columns.
    pub(crate) vectors: Vec<f32>,
}

/// The leading eigenpairs of a symmetric `operator`, which is only asked for [`Operator::apply`]. The same bits for any
/// number of threads.
///
/// `start`, the vectors of an operator that was nearly the same, stands in for the first columns of the random block.
/// Cost: `iterations` + 1 products.
///
/// # Errors
/// The operator or `start` holds numbers that are not finite.
pub(crate) fn leading_eigenpairs(
    threads: &Threads,
    operator: &dyn Operator,
    config: SvdConfig,
    start: Option<&[f32]>,
) -> Result<Eigenpairs, TrainError> {
    let rows = operator.rows();
    let rank = config.rank.min(rows);
    if rank == 0 {
        return Ok(Eigenpairs { values: Vec::new(), vectors: Vec::new() });
    }
    let width = (rank + config.oversampling).next_multiple_of(8).min(rows);
    let mut orthonormal = Orthonormaliser::default();
    let mut q = first_block(threads, rows, width, config.seed, start);
    let mut product = vec![0.0; rows * width];
    for _ in 0..config.iterations.max(1) {
        operator.apply(threads, &q, width, &mut product);
        orthonormal.factorise(threads, &mut product, width);
        std::mem::swap(&mut q, &mut product);
    }
    product.resize(rows * width, 0.0);
    operator.apply(threads, &q, width, &mut product);
    let mut small = vec![0.0; width * width];
    gram(threads, &q, &product, (width, width), &mut small);
    let failed = TrainError::NotFinite { what: "eigenvalues" };
    if small.iter().any(|x| !x.is_finite()) {
        return Err(failed);
    }
    let small = Mat::from_fn(width, width, |i, j| f64::midpoint(small[i * width + j], small[j * width + i]));
    let Ok(pairs) = small.self_adjoint_eigen(Side::Lower) else { return Err(failed) };
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&a, &b| pairs.S()[b].abs().total_cmp(&pairs.S()[a].abs()));
    order.truncate(rank);
    let turn: Vec<f32> =
        (0..width * rank).map(|at| pairs.U()[(at / rank, order[at % rank])] as f32).collect();
    let mut vectors = vec![0.0; rows * rank];
    tall_product(threads, &q, Packed::default().pack(&turn, width, rank), &mut vectors);
    Ok(Eigenpairs { values: order.iter().map(|&p| pairs.S()[p] as f32).collect(), vectors })
}
