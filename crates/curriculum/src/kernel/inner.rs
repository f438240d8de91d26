//! `inner`, the paper's: κ = σ(z_i · z_j). Zero embeddings give ½.

use crate::math::{dot, sigmoid};

/// 1 − κ = σ(−z_i · z_j), which keeps its precision where κ is near 1.
#[inline(always)]
pub(crate) fn gap(product: f64) -> f64 {
    sigmoid(-product)
}

/// Adds `factor` · ∂R/∂z_i to `out`: R = σ(−x)², x = z_i · z_j, so ∂R/∂z_i = −2 σ(−x)² σ(x) z_j.
#[inline(always)]
pub(crate) fn add_gradient(factor: f64, zi: &[f32], zj: &[f32], out: &mut [f32]) {
    let x = dot(zi, zj);
    let gap = gap(x);
    let slope = factor * -2.0 * gap * gap * sigmoid(x);
    for (out, &z) in out.iter_mut().zip(zj) {
        *out += (slope * f64::from(z)) as f32;
    }
}
