//! `cosine`, of the authors' code: κ = (1 + cos(z_i, z_j)) / 2. A zero embedding has cosine 0 with all others: κ = ½.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use edgepace_graph::{Threads, with_simd};

use crate::CurriculumError;
use crate::each::PIECE;
use crate::feedback::Rows;
use crate::math::dot;

/// 1 / |z_i| of each node, 0 for zero embeddings.
#[derive(Debug, Default)]
pub(crate) struct InverseNorms(Vec<f64>);

impl InverseNorms {
    /// Takes the norms of embeddings, and refuses these as [`Rows::check`] does: the square of a norm is finite where all
    /// numbers are, so they need not be read twice.
    pub(crate) fn refresh(
        &mut self,
        threads: &Threads,
        embeddings: Rows<'_>,
        nodes: usize,
    ) -> Result<(), CurriculumError> {
        embeddings.check_size("embeddings", nodes)?;
        self.0.resize(nodes, 0.0);
        let finite = AtomicBool::new(true);
        let see = &finite;
        threads.rows(&mut self.0, 1, PIECE, |first: usize, piece: &mut [f64]| {
            with_simd(
                #[inline(always)]
                move || {
                    for (i, inverse) in piece.iter_mut().enumerate() {
                        let z = embeddings.row(first + i);
                        let square = dot(z, z);
                        if !square.is_finite() {
                            see.store(false, Relaxed);
                        }
                        *inverse = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
                    }
                },
            );
        });
        if finite.into_inner() { Ok(()) } else { embeddings.check(threads, "embeddings", nodes, false) }
    }

    #[inline(always)]
    fn cosine(&self, i: usize, j: usize, product: f64) -> f64 {
        product * self.0[i] * self.0[j]
    }

    /// 1 − κ = (1 − cos) / 2, of z_i · z_j.
    #[inline(always)]
    pub(crate) fn gap(&self, i: usize, j: usize, product: f64) -> f64 {
        (0.5 - 0.5 * self.cosine(i, j, product)).clamp(0.0, 1.0)
    }

    /// Adds `factor` · ∂R/∂z_i to `out`: ∂R/∂z_i = −(1 − κ) ∂cos/∂z_i, and
    /// ∂cos/∂z_i = z_j / (|z_i| |z_j|) − cos · z_i / |z_i|², taken as 0 where an embedding is zero.
    #[inline(always)]
    pub(crate) fn add_gradient(&self, factor: f64, z: Rows<'_>, i: usize, j: usize, out: &mut [f32]) {
        let cosine = self.cosine(i, j, dot(z.row(i), z.row(j)));
        let slope = -factor * (0.5 - 0.5 * cosine);
        let (other, own) = (slope * self.0[i] * self.0[j], slope * cosine * self.0[i] * self.0[i]);
        for (out, (&zi, &zj)) in out.iter_mut().zip(z.row(i).iter().zip(z.row(j))) {
            *out += (other * f64::from(zj) - own * f64::from(zi)) as f32;
        }
    }
}
