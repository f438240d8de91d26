//! The largest singular values of an operator and their vectors: randomised block subspace iteration (Halko, Martinsson,
//! Tropp, 2011).
//!
//! From a random block Z, repeat Q = orth(M·Z), Z = orth(Mᵀ·Q): the spaces turn towards the leading singular vectors, the
//! error in direction r shrinking by (σ_last / σ_r)² each time, σ_last the first beyond the block. At the end M ≈ Q·Bᵀ
//! with B = Mᵀ·Q = P·R, and the SVD of the small Rᵀ gives that of M.

use edgepace_graph::random::{Purpose, Stream};
use edgepace_nn::{Packed, Threads, tall_product};
use faer::Mat;

use crate::error::TrainError;
use crate::linalg::Operator;
use crate::linalg::orthonormal::Orthonormaliser;

/// How many singular values, and how precisely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SvdConfig {
    /// Singular values that are wanted; never more than the operator has rows.
    pub rank: usize,
    /// Further columns of the block, which make the wanted ones more precise. The block is rounded up to a multiple of 8.
    pub oversampling: usize,
    /// Products with M and Mᵀ each, at least 1.
    pub iterations: usize,
    /// Of the random block at the start.
    pub seed: u64,
}

/// M ≈ U·diag(σ)·Vᵀ.
#[derive(Clone, Debug, PartialEq)]
pub struct Svd {
    /// Singular values, the largest first; as many as were asked for and the operator has rows.
    pub values: Vec<f32>,
    /// U, rows × values, row-major. Its columns are orthonormal; a column whose singular value is 0 is 0.
    pub left: Vec<f32>,
    /// V, likewise.
    pub right: Vec<f32>,
}

impl Svd {
    /// How many singular values there are.
    pub fn rank(&self) -> usize {
        self.values.len()
    }
}

/// Singular values below this share of the largest are rounding, and count as 0.
const NOTHING: f64 = 1e-6;

/// The leading singular values and vectors of `operator`. The same bits for any number of threads.
///
/// `start`, the V of an operator that was nearly the same (rows × any number of columns, row-major), stands in for the
/// first columns of the random block; 1 or 2 iterations then do.
///
/// Cost for a block of m columns: `iterations` products with M and with Mᵀ, and about 12·rows·m² flops each; memory:
/// 4 blocks of rows × m numbers.
///
/// # Errors
/// The operator or `start` holds numbers that are not finite.
pub fn truncated_svd(
    threads: &Threads,
    operator: &dyn Operator,
    config: SvdConfig,
    start: Option<&[f32]>,
) -> Result<Svd, TrainError> {
    let rows = operator.rows();
    let rank = config.rank.min(rows);
    if rank == 0 {
        return Ok(Svd { values: Vec::new(), left: Vec::new(), right: Vec::new() });
    }
    let width = (rank + config.oversampling).next_multiple_of(8).min(rows);
    let mut orthonormal = Orthonormaliser::default();
    let mut p = first_block(threads, rows, width, config.seed, start);
    let mut q = vec![0.0; rows * width];
    let mut r = Vec::new();
    for _ in 0..config.iterations.max(1) {
        operator.apply(threads, &p, width, &mut q);
        orthonormal.factorise(threads, &mut q, width);
        operator.apply_transposed(threads, &q, width, &mut p);
        r = orthonormal.factorise(threads, &mut p, width);
    }
    if r.iter().any(|x| !x.is_finite()) || q.iter().any(|x| !x.is_finite()) {
        return Err(TrainError::NotFinite { what: "singular values" });
    }
    // M ≈ Q·Bᵀ = Q·Rᵀ·Pᵀ.
    let small = Mat::from_fn(width, width, |i, j| r[j * width + i]);
    let small = small.svd().map_err(|_| TrainError::NotFinite { what: "singular values" })?;
    let largest = small.S()[0];
    let kept = |c: usize| largest > 0.0 && small.S()[c] > NOTHING * largest;
    let values = (0..rank).map(|c| if kept(c) { small.S()[c] as f32 } else { 0.0 }).collect();
    let rotated = |block: &[f32], rotation: &dyn Fn(usize, usize) -> f64| {
        let turn: Vec<f32> = (0..width * rank)
            .map(|at| (at / rank, at % rank))
            .map(|(i, c)| if kept(c) { rotation(i, c) as f32 } else { 0.0 })
            .collect();
        let mut out = vec![0.0; rows * rank];
        tall_product(threads, block, Packed::default().pack(&turn, width, rank), &mut out);
        out
    };
    let left = rotated(&q, &|i, c| small.U()[(i, c)]);
    let right = rotated(&p, &|i, c| small.V()[(i, c)]);
    Ok(Svd { values, left, right })
}

/// `start` in the first columns, uniform random numbers in the others. A column of `start` that is 0 is one that was not found,
/// and would stay 0 in every product: it is random too.
pub(super) fn first_block(
    threads: &Threads,
    rows: usize,
    width: usize,
    seed: u64,
    start: Option<&[f32]>,
) -> Vec<f32> {
    let stream = Stream::new(seed, Purpose::Spectrum, 0);
    let mut block = vec![0.0; rows * width];
    let start = start.unwrap_or_default();
    let known = start.len() / rows;
    let mut found = vec![false; known];
    for row in start.chunks(known.max(1)) {
        found.iter_mut().zip(row).for_each(|(found, &x)| *found |= x != 0.0);
    }
    // Columns of V have length 1; random ones of about that length beside them keep the block well scaled.
    let scale = (3.0 / rows as f64).sqrt() / f64::from(1_u32 << 31);
    threads.rows(&mut block, width, 256, |first, block| {
        for (i, row) in block.chunks_exact_mut(width).enumerate() {
            let row_number = first + i;
            let blocks = width.div_ceil(4);
            for (b, four) in row.chunks_mut(4).enumerate() {
                let words = stream.block((row_number * blocks + b) as u64);
                for (x, word) in four.iter_mut().zip(words) {
                    *x = (f64::from(word.cast_signed()) * scale) as f32;
                }
            }
            let known_row = &start[row_number * known..][..known];
            for ((x, &known), &found) in row.iter_mut().zip(known_row).zip(&found) {
                if found {
                    *x = known;
                }
            }
        }
    });
    block
}
