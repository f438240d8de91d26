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
    /// ∂z/∂a of each edge.
    slopes: Vec<T>,
    /// (ln u − ln(1 − u)) of each edge.
    noise: Vec<T>,
    temperature: f64,
}

impl<T: Real> Gates<T> {
    pub(super) fn new(graph: Arc<Graph>) -> Self {
        let zeros = vec![T::ZERO; graph.edges()];
        Self { graph, odds: zeros.clone(), slopes: zeros.clone(), noise: zeros, temperature: 1.0 }
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
        threads.rows(&mut self.noise, 1, BLOCK, |first, noise| {
            for (e, noise) in (first..).zip(noise) {
                let pair = twins.map_or(e, |twins| e.min(twins[e] as usize));
                *noise = logistic(stream.block(pair as u64 / 4)[pair % 4]);
            }
        });
        let (odds, noise, sharpness) = (&self.odds, &self.noise, T::of(1.0 / temperature));
        threads.rows(gates, 1, BLOCK, |first, gates| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, gate) in gates.iter_mut().enumerate() {
                        *gate = cut(sigmoid((odds[first + i] + noise[first + i]) * sharpness));
                    }
                },
            );
        });
        threads.rows(&mut self.slopes, 1, BLOCK, |first, slopes| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, slope) in slopes.iter_mut().enumerate() {
                        *slope =
                            cut_slope(sigmoid((odds[first + i] + noise[first + i]) * sharpness)) * sharpness;
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
    pub(super) fn gradient(&self, threads: &Threads, d_gates: &[T], share: f64, d_scores: &mut [T]) {
        let (shift, share, half) = (T::of(self.shift()), T::of(share), T::of(0.5));
        let twins = self.graph.twins();
        let by_odds = |e: usize| {
            let open = sigmoid(self.odds[e] + shift);
            d_gates[e] * self.slopes[e] + share * open * (T::ONE - open)
        };
        threads.rows(d_scores, 1, BLOCK, |first, d_scores| {
            with_simd(
                #[inline(always)]
                || {
                    for (e, d) in (first..).zip(d_scores) {
                        let twin = twins.map_or(e, |twins| twins[e] as usize);
                        *d = half * (by_odds(e) + by_odds(twin));
                    }
                },
            );
        });
    }

    /// −τ ln(−γ / ζ).
    fn shift(&self) -> f64 {
        let [low, high] = STRETCH;
        -self.temperature * (-low / high).ln()
    }
}

/// ln u − ln(1 − u) with u = (word + ½) / 2³².
fn logistic<T: Real>(word: u32) -> T {
    let u = (f64::from(word) + 0.5) / 4_294_967_296.0;
    T::of((u / (1.0 - u)).ln())
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
mod tests;
