//! Fused losses: from logits to each node's loss and its gradient in one pass over a row.

use edgepace_graph::Labels;

use crate::meter::Kernel;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// Rows that one thread takes at a time.
const ROWS: usize = 256;

/// Losses of nodes with weight ω_i > 0, and the gradient of Σ ω_i loss_i by the logits; 0 for other nodes.
///
/// - Classes: loss_i = ln Σ_c e^(l_ic) − l_iy, gradient ω_i (softmax(l_i) − onehot(y)).
/// - Many labels: loss_i = mean over labels of ln(1 + e^l) − y l, gradient ω_i (σ(l) − y) / labels.
///
/// Shapes: `logits` and `gradient` nodes × `stride`, of which the first `labels.width()` columns count; the others
/// get gradient 0. Nothing overflows for any finite logit.
pub(crate) fn node_losses<T: Real>(
    threads: &Threads,
    labels: &Labels,
    weights: &[T],
    (logits, stride): (&[T], usize),
    losses: &mut [T],
    gradient: &mut [T],
) {
    let width = labels.width();
    let bytes = 2 * std::mem::size_of_val(gradient) + 2 * std::mem::size_of_val(losses);
    let _span = threads.span(Kernel::Loss, 10 * losses.len() * width, bytes);
    threads.rows_of_two((gradient, stride), (losses, 1), ROWS, |first, gradient, losses| {
        with_simd(
            #[inline(always)]
            || {
                for (r, (d, loss)) in gradient.chunks_exact_mut(stride).zip(losses).enumerate() {
                    let node = first + r;
                    let weight = weights[node];
                    if weight == T::ZERO {
                        d.fill(T::ZERO);
                        *loss = T::ZERO;
                        continue;
                    }
                    let (d, padding) = d.split_at_mut(width);
                    padding.fill(T::ZERO);
                    let row = &logits[node * stride..][..width];
                    *loss = match labels {
                        Labels::Classes(classes) => {
                            cross_entropy(row, classes.of()[node] as usize, weight, d)
                        }
                        Labels::Many(many) => {
                            binary_cross_entropy(row, &many.values()[node * width..][..width], weight, d)
                        }
                    };
                }
            },
        );
    });
}

#[inline(always)]
fn cross_entropy<T: Real>(logits: &[T], label: usize, weight: T, d: &mut [T]) -> T {
    let peak = logits.iter().fold(T::MIN, |peak, &l| peak.max(l));
    for (d, &l) in d.iter_mut().zip(logits) {
        *d = (l - peak).exp();
    }
    let total = d.iter().fold(T::ZERO, |sum, &e| sum + e);
    let scale = weight / total;
    for d in &mut *d {
        *d *= scale;
    }
    d[label] -= weight;
    total.ln() + peak - logits[label]
}

#[inline(always)]
fn binary_cross_entropy<T: Real>(logits: &[T], truth: &[u8], weight: T, d: &mut [T]) -> T {
    let share = T::ONE / T::of(logits.len() as f64);
    let mut loss = T::ZERO;
    for ((d, &l), &y) in d.iter_mut().zip(logits).zip(truth) {
        let y = T::of(f64::from(y));
        // With t = e^−|l|: ln(1 + e^l) = max(l, 0) + ln(1 + t), and σ(l) = 1 / (1 + t) or t / (1 + t).
        let t = (if l > T::ZERO { -l } else { l }).exp();
        let sigmoid = if l > T::ZERO { T::ONE } else { t } / (T::ONE + t);
        *d = (sigmoid - y) * (weight * share);
        loss += l.max(T::ZERO) - y * l + (T::ONE + t).ln();
    }
    loss * share
}
