//! `cosine`, of the authors' code: κ = (1 + cos(z_i, z_j)) / 2. A zero embedding has cosine 0 with all others: κ = ½.

use edgepace_graph::Threads;

use crate::each::PIECE;
use crate::feedback::Rows;
use crate::math::dot;

/// 1 / |z_i| of each node, 0 for zero embeddings.
#[derive(Debug, Default)]
pub(crate) struct InverseNorms(Vec<f64>);

impl InverseNorms {
    pub(crate) fn refresh(&mut self, threads: &Threads, embeddings: Rows<'_>, nodes: usize) {
        self.0.resize(nodes, 0.0);
        threads.rows(&mut self.0, 1, PIECE, |first, piece| {
            for (i, inverse) in piece.iter_mut().enumerate() {
                let z = embeddings.row(first + i);
                let square = dot(z, z);
                *inverse = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
            }
        });
    }

    #[inline(always)]
    fn cosine(&self, embeddings: Rows<'_>, i: usize, j: usize) -> f64 {
        dot(embeddings.row(i), embeddings.row(j)) * self.0[i] * self.0[j]
    }

    /// 1 − κ = (1 − cos) / 2.
    #[inline(always)]
    pub(crate) fn gap(&self, embeddings: Rows<'_>, i: usize, j: usize) -> f64 {
        (0.5 - 0.5 * self.cosine(embeddings, i, j)).clamp(0.0, 1.0)
    }

    /// Adds `factor` · ∂R/∂z_i to `out`: ∂R/∂z_i = −(1 − κ) ∂cos/∂z_i, and
    /// ∂cos/∂z_i = z_j / (|z_i| |z_j|) − cos · z_i / |z_i|², taken as 0 where an embedding is zero.
    #[inline(always)]
    pub(crate) fn add_gradient(&self, factor: f64, z: Rows<'_>, i: usize, j: usize, out: &mut [f32]) {
        let cosine = self.cosine(z, i, j);
        let slope = -factor * (0.5 - 0.5 * cosine);
        let (other, own) = (slope * self.0[i] * self.0[j], slope * cosine * self.0[i] * self.0[i]);
        for (out, (&zi, &zj)) in out.iter_mut().zip(z.row(i).iter().zip(z.row(j))) {
            *out += (other * f64::from(zj) - own * f64::from(zi)) as f32;
        }
    }
}
