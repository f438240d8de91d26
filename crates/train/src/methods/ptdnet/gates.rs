//! Hard concrete gates (Louizos, Welling and Kingma, ICLR 2018), one per undirected edge.
//!
//! With log-odds a and u uniform in (0, 1): s = σ((ln u − ln(1 − u) + a) / τ), stretched to s̄ = s (ζ − γ) + γ and cut to
//! z = min(1, max(0, s̄)). A gate is open with P(z > 0) = σ(a − τ ln(−γ / ζ)). Without noise z = min(1, max(0, σ(a) (ζ − γ) + γ)).
//! The log-odds of an undirected edge are the mean of the scores of its two directions, which so are gated alike.

use std::sync::Arc;

use edgepace_graph::Graph;
use edgepace_graph::random::Stream;
use edgepace_nn::{Real, Threads, with_simd};

/// γ and ζ: the interval to which (0, 1) is stretched.
pub(super) const STRETCH: [f64; 2] = [-0.1, 1.1];
/// Edges that one thread takes at a time.
const BLOCK: usize = 4096;

/// The gates of one layer, with every buffer that they need.
pub(super) struct Gates<T> {
    graph: Arc<Graph>,
    /// Log-odds a of each edge.
    odds: Vec<T>,
    /// ln u − ln(1 − u) of each edge; of both directions the one with the lower id counts.
    noise: Vec<T>,
    /// s of each edge.
    soft: Vec<T>,
    /// The gradient by the log-odds of each edge.
    by_odds: Vec<T>,
    temperature: f64,
}

impl<T: Real> Gates<T> {
    pub(super) fn new(graph: Arc<Graph>) -> Self {
        let zeros = vec![T::ZERO; graph.edges()];
        let [odds, noise, soft] = [zeros.clone(), zeros.clone(), zeros.clone()];
        Self { graph, odds, noise, soft, by_odds: zeros, temperature: 1.0 }
    }

    /// Takes over the scores of all edges.
    pub(super) fn set_scores(&mut self, threads: &Threads, scores: &[T]) {
        let twins = self.graph.twins();
        let half = T::of(0.5);
        threads.rows(&mut self.odds, 1, BLOCK, |first, odds| {
            for (e, odds) in (first..).zip(odds) {
                let twin = twins.map_or(e, |twins| twins[e] as usize);
                *odds = half * (scores[e] + scores[twin]);
            }
        });
    }

    /// Gates with the noise of a stream at a temperature.
    pub(super) fn sample(&mut self, threads: &Threads, stream: Stream, temperature: f64, gates: &mut [T]) {
        self.temperature = temperature;
        let twins = self.graph.twins();
        let pair = |e: usize| twins.map_or(e, |twins| e.min(twins[e] as usize));
        threads.rows(&mut self.noise, 1, BLOCK, |first, noise| {
            // Both directions share the noise of the lower id; four ids in a row share a block of words.
            let mut block = (usize::MAX, [0; 4]);
            for (e, noise) in (first..).zip(&mut *noise) {
                if pair(e) == e && block.0 != e / 4 {
                    block = (e / 4, stream.block(e as u64 / 4));
                }
                *noise = uniform(block.1[e % 4]);
            }
            with_simd(
                #[inline(always)]
                || {
                    for noise in noise {
                        *noise = noise.quick_ln() - (T::ONE - *noise).quick_ln();
                    }
                },
            );
        });
        let (odds, noise, sharpness) = (&self.odds, &self.noise, T::of(1.0 / temperature));
        threads.rows(&mut self.soft, 1, BLOCK, |first, soft| {
            for (e, soft) in (first..).zip(&mut *soft) {
                *soft = (odds[e] + noise[pair(e)]) * sharpness;
            }
            with_simd(
                #[inline(always)]
                || {
                    for soft in soft {
                        *soft = sigmoid(*soft);
                    }
                },
            );
        });
        let soft = &self.soft;
        threads.rows(gates, 1, BLOCK, |first, gates| {
            with_simd(
                #[inline(always)]
                || {
                    for (gate, &soft) in gates.iter_mut().zip(&soft[first..]) {
                        *gate = cut(soft);
                    }
                },
            );
        });
    }

    /// Gates without noise.
    pub(super) fn expected(&self, threads: &Threads, gates: &mut [T]) {
        threads.rows(gates, 1, BLOCK, |first, gates| {
            with_simd(
                #[inline(always)]
                || {
                    for (gate, &odds) in gates.iter_mut().zip(&self.odds[first..]) {
                        *gate = cut(sigmoid(odds));
                    }
                },
            );
        });
    }

    /// P(z > 0) of each edge at the latest temperature.
    pub(super) fn open(&self, threads: &Threads, open: &mut [T]) {
        let shift = T::of(self.shift());
        threads.rows(open, 1, BLOCK, |first, open| {
            with_simd(
                #[inline(always)]
                || {
                    for (open, &odds) in open.iter_mut().zip(&self.odds[first..]) {
                        *open = sigmoid(odds + shift);
                    }
                },
            );
        });
    }

    /// The gradient by scores of a loss plus `share` · Σ_e P(z_e > 0), given the loss's by the latest sample of gates.
    pub(super) fn gradient(&mut self, threads: &Threads, d_gates: &[T], share: f64, d_scores: &mut [T]) {
        let (shift, share, half) = (T::of(self.shift()), T::of(share), T::of(0.5));
        let sharpness = T::of(1.0 / self.temperature);
        let (odds, soft) = (&self.odds, &self.soft);
        threads.rows(&mut self.by_odds, 1, BLOCK, |first, by_odds| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, by_odds) in by_odds.iter_mut().enumerate() {
                        let e = first + i;
                        let open = sigmoid(odds[e] + shift);
                        *by_odds =
                            d_gates[e] * cut_slope(soft[e]) * sharpness + share * open * (T::ONE - open);
                    }
                },
            );
        });
        let (twins, by_odds) = (self.graph.twins(), &self.by_odds);
        threads.rows(d_scores, 1, BLOCK, |first, d_scores| {
            for (e, d) in (first..).zip(d_scores) {
                let twin = twins.map_or(e, |twins| twins[e] as usize);
                *d = half * (by_odds[e] + by_odds[twin]);
            }
        });
    }

    /// −τ ln(−γ / ζ).
    fn shift(&self) -> f64 {
        let [low, high] = STRETCH;
        -self.temperature * libm::log(-low / high)
    }
}

/// A number in (0, 1), exact in `f32`: 23 bits and a half.
#[inline(always)]
fn uniform<T: Real>(word: u32) -> T {
    T::of((f64::from(word >> 9) + 0.5) / 8_388_608.0)
}

#[inline(always)]
fn sigmoid<T: Real>(x: T) -> T {
    T::ONE / (T::ONE + (-x).exp())
}

#[inline(always)]
fn stretched<T: Real>(s: T) -> T {
    let [low, high] = STRETCH;
    s * T::of(high - low) + T::of(low)
}

#[inline(always)]
fn cut<T: Real>(s: T) -> T {
    stretched(s).max(T::ZERO).min(T::ONE)
}

/// The slope of `cut(σ(x))` by x; 0 where it is cut.
#[inline(always)]
fn cut_slope<T: Real>(s: T) -> T {
    let [low, high] = STRETCH;
    let value = stretched(s);
    if value > T::ZERO && value < T::ONE { T::of(high - low) * s * (T::ONE - s) } else { T::ZERO }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test may compare with the system's library")]
mod tests;
