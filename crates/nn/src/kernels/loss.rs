//! Fused losses: from logits to each node's loss and its gradient in one pass over a row, in place.

use edgepace_graph::Labels;

use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// Rows that one thread takes at a time.
const ROWS: usize = 256;

/// Losses of nodes with weight ω_i > 0, and the gradient of Σ ω_i loss_i by the logits in their place; 0 for other nodes.
///
/// - Classes: loss_i = ln Σ_c e^(l_ic) − l_iy, gradient ω_i (softmax(l_i) − onehot(y)).
/// - Many labels: loss_i = mean over labels of ln(1 + e^l) − y l, gradient ω_i (σ(l) − y) / labels.
/// - Smoothed by ε, a label counts 1 − ε and every class ε/C; among many labels, y becomes (1 − ε) y + ε/2.
///
/// Shape of `logits`: nodes × `stride`, of which the first `labels.width()` columns count; the others get gradient 0.
/// Nothing overflows for any finite logit.
pub(crate) fn node_losses<T: Real>(
    threads: &Threads,
    labels: &Labels,
    (weights, smoothing): (&[T], f64),
    (logits, stride): (&mut [T], usize),
    losses: &mut [T],
) {
    let smoothing = T::of(smoothing);
    let width = labels.width();
    let bytes = 2 * std::mem::size_of_val(logits) + 2 * std::mem::size_of_val(losses);
    let _span = threads.span(KernelKind::Loss, 10 * losses.len() * width, bytes);
    threads.rows_of_two((logits, stride), (losses, 1), ROWS, |first, logits, losses| {
        with_simd(
            #[inline(always)]
            || {
                for (r, (row, loss)) in logits.chunks_exact_mut(stride).zip(losses).enumerate() {
                    let node = first + r;
                    let weight = weights[node];
                    if weight == T::ZERO {
                        row.fill(T::ZERO);
                        *loss = T::ZERO;
                        continue;
                    }
                    let (row, padding) = row.split_at_mut(width);
                    padding.fill(T::ZERO);
                    *loss = match labels {
                        Labels::Classes(classes) => {
                            cross_entropy(row, classes.of()[node] as usize, weight, smoothing)
                        }
                        Labels::Many(many) => binary_cross_entropy(
                            row,
                            &many.values()[node * width..][..width],
                            weight,
                            smoothing,
                        ),
                    };
                }
            },
        );
    });
}

#[inline(always)]
fn cross_entropy<T: Real>(row: &mut [T], label: usize, weight: T, smoothing: T) -> T {
    let peak = row.iter().fold(T::MIN, |peak, &l| peak.max(l));
    let mut own = row[label];
    let even = smoothing / T::of(row.len() as f64);
    if smoothing > T::ZERO {
        let sum = row.iter().fold(T::ZERO, |sum, &l| sum + l);
        own = (T::ONE - smoothing) * own + even * sum;
    }
    for l in &mut *row {
        *l = (*l - peak).exp();
    }
    let total = row.iter().fold(T::ZERO, |sum, &e| sum + e);
    let scale = weight / total;
    for e in &mut *row {
        *e *= scale;
    }
    if smoothing > T::ZERO {
        for e in &mut *row {
            *e -= weight * even;
        }
    }
    row[label] -= weight * (T::ONE - smoothing);
    total.ln() + peak - own
}

#[inline(always)]
fn binary_cross_entropy<T: Real>(row: &mut [T], truth: &[u8], weight: T, smoothing: T) -> T {
    let share = T::ONE / T::of(row.len() as f64);
    let (certain, even) = (T::ONE - smoothing, smoothing * T::of(0.5));
    let mut loss = T::ZERO;
    for (place, &y) in row.iter_mut().zip(truth) {
        let (l, y) = (*place, T::of(f64::from(y)) * certain + even);
        // With t = e^−|l|: ln(1 + e^l) = max(l, 0) + ln(1 + t), and σ(l) = 1 / (1 + t) or t / (1 + t).
        let t = (if l > T::ZERO { -l } else { l }).exp();
        let sigmoid = if l > T::ZERO { T::ONE } else { t } / (T::ONE + t);
        *place = (sigmoid - y) * (weight * share);
        loss += l.max(T::ZERO) - y * l + (T::ONE + t).ln();
    }
    loss * share
}
