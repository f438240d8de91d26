//! `posterior`: κ = Σ_c p_i(c) p_j(c), the chance that both ends have the same class.

use edgepace_graph::{Threads, with_simd};

use crate::feedback::{Outputs, Rows};
use crate::math::{dot, exp, sigmoid};

/// Nodes per piece of work.
const NODES: usize = 256;

/// Rows of which the agreement of two nodes is the scaled product.
#[derive(Debug, Default)]
pub(crate) struct Posterior {
    rows: Vec<f32>,
    width: usize,
    scale: f64,
}

impl Posterior {
    /// Takes p from the model's outputs, which have been checked.
    pub(crate) fn refresh(&mut self, threads: &Threads, outputs: Outputs<'_>, nodes: usize) {
        let given = outputs.rows();
        (self.width, self.scale) = match outputs {
            Outputs::LabelLogits(_) => (2 * given.width, 1.0 / given.width.max(1) as f64),
            _ => (given.width, 1.0),
        };
        let width = self.width;
        self.rows.resize(nodes * width, 0.0);
        threads.rows(&mut self.rows, width, NODES, |first: usize, piece: &mut [f32]| {
            with_simd(
                #[inline(always)]
                move || {
                    for (i, p) in piece.chunks_exact_mut(width).enumerate() {
                        let values = given.row(first + i);
                        match outputs {
                            Outputs::ClassLogits(_) => softmax(values, p),
                            Outputs::ClassProbabilities(_) => p.copy_from_slice(values),
                            Outputs::LabelLogits(_) => {
                                let (yes, no) = p.split_at_mut(values.len());
                                for ((yes, no), &logit) in yes.iter_mut().zip(no).zip(values) {
                                    *yes = sigmoid(f64::from(logit)) as f32;
                                    *no = sigmoid(-f64::from(logit)) as f32;
                                }
                            }
                        }
                    }
                },
            );
        });
    }

    #[inline(always)]
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows::new(&self.rows, self.width)
    }

    /// κ, in [0, 1], of the product of two rows.
    #[inline(always)]
    pub(crate) fn agreement(&self, product: f64) -> f64 {
        (self.scale * product).clamp(0.0, 1.0)
    }

    /// Adds `factor` · ∂R/∂(logits of i) to `out`, for class logits:
    /// ∂R/∂l_i(c) = −2 (1 − κ) p_i(c) (p_j(c) − κ).
    #[inline(always)]
    pub(crate) fn add_gradient(&self, factor: f64, i: usize, j: usize, out: &mut [f32]) {
        let (pi, pj) = (self.rows().row(i), self.rows().row(j));
        let kappa = dot(pi, pj);
        let slope = factor * -2.0 * (1.0 - kappa).max(0.0);
        for (out, (&pi, &pj)) in out.iter_mut().zip(pi.iter().zip(pj)) {
            *out += (slope * f64::from(pi) * (f64::from(pj) - kappa)) as f32;
        }
    }
}

/// p(c) = e^l(c) / Σ e^l, after the largest logit is taken off.
#[inline(always)]
fn softmax(logits: &[f32], p: &mut [f32]) {
    let peak = logits.iter().fold(f32::NEG_INFINITY, |peak, &l| if l > peak { l } else { peak });
    let mut sum = 0.0;
    for (p, &l) in p.iter_mut().zip(logits) {
        *p = exp(f64::from(l) - f64::from(peak)) as f32;
    }
    for &p in &*p {
        sum += f64::from(p);
    }
    let inverse = 1.0 / sum;
    for p in p {
        *p = (f64::from(*p) * inverse) as f32;
    }
}
