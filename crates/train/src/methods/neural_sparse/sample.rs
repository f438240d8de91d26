//! k neighbours of each node without replacement, and a relaxation of that choice which has a gradient.
//!
//! With Gumbel noise g on the scores z of a node's edges, the k largest of z + g are a sample of k neighbours without
//! replacement from softmax(z) (Gumbel-top-k: Yellott, 1977). The relaxation draws them one after the other by
//! Gumbel-softmax, each round with what the earlier ones left (Xie and Ermon, IJCAI 2019):
//! α¹ = z + g, pʲ = softmax(αʲ / τ), αʲ⁺¹ = αʲ + ln(1 − pʲ), and the weight of an edge is Σ_j pʲ. For τ → 0 it is the
//! sample itself, as long as the scores of a node lie within 80 of each other. At larger τ an edge that was likely drawn is
//! not wholly taken out, and its weight can exceed 1. A node with at most k neighbours keeps them all, with weight 1 and no
//! gradient.

use std::sync::Arc;

use edgepace_graph::Graph;
use edgepace_graph::random::Stream;
use edgepace_nn::{Real, Threads, with_simd};

/// 1 − p is at least this, so that an edge that is surely drawn has a finite logarithm: −87, below the scores of its rivals.
const FLOOR: f64 = f32::MIN_POSITIVE as f64;
/// Positions of a stream that a sample may read: more than any graph has edges.
const SAMPLE: u64 = 1 << 40;

/// A sampler on one graph, with every buffer that it needs.
pub(super) struct Sampler<T> {
    graph: Arc<Graph>,
    k: usize,
    /// Where the rounds of each node begin: k + 1 numbers per edge of a node that has to choose.
    starts: Vec<usize>,
    /// z + g.
    perturbed: Vec<T>,
    /// Of each node that has to choose: p¹ of its edges, p² of them, …, and last α.
    rounds: Vec<T>,
    temperature: T,
}

/// Noise: a stream and which of its samples.
pub(super) type Noise = (Stream, u32);

impl<T: Real> Sampler<T> {
    pub(super) fn new(graph: Arc<Graph>, k: usize) -> Self {
        let mut starts = vec![0];
        let mut total = 0;
        for node in 0..graph.nodes() {
            let degree = graph.in_edges(node).len();
            total += if degree > k { degree * (k + 1) } else { 0 };
            starts.push(total);
        }
        let perturbed = vec![T::ZERO; graph.edges()];
        Self { graph, k, starts, perturbed, rounds: Vec::new(), temperature: T::ONE }
    }

    pub(super) fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Directed edges that a sample has.
    pub(super) fn sampled(&self) -> usize {
        (0..self.graph.nodes()).map(|node| self.graph.in_edges(node).len().min(self.k)).sum()
    }

    /// Adds noise to the scores of nodes that have to choose; none leaves them as they are, and the sample is the most
    /// probable one.
    pub(super) fn perturb(&mut self, threads: &Threads, scores: &[T], noise: Option<Noise>) {
        let offsets = self.graph.offsets();
        threads.nodes(
            offsets,
            |i| offsets[i],
            &mut self.perturbed,
            |nodes, perturbed| {
                let first = offsets[nodes.start];
                perturbed.copy_from_slice(&scores[first..][..perturbed.len()]);
                let Some((stream, sample)) = noise else { return };
                for i in nodes.filter(|&i| offsets[i + 1] - offsets[i] > self.k) {
                    // A block of the stream has the noise of four edges.
                    let mut edge = offsets[i];
                    while edge < offsets[i + 1] {
                        let block = stream.block(SAMPLE * u64::from(sample) + edge as u64 / 4);
                        let end = offsets[i + 1].min((edge / 4 + 1) * 4);
                        for e in edge..end {
                            perturbed[e - first] += gumbel(block[e % 4]);
                        }
                        edge = end;
                    }
                }
            },
        );
    }

    /// The rounds of the relaxation at a temperature, for the noise of the latest call of `perturb`.
    pub(super) fn relax(&mut self, threads: &Threads, temperature: f64) {
        self.temperature = T::of(temperature);
        let total = self.starts[self.graph.nodes()];
        self.rounds.resize(total, T::ZERO);
        let (starts, offsets) = (&self.starts, self.graph.offsets());
        let (k, perturbed, sharpness) = (self.k, &self.perturbed, T::ONE / self.temperature);
        threads.nodes(
            starts,
            |i| starts[i],
            &mut self.rounds,
            |nodes, rounds| {
                let first = starts[nodes.start];
                with_simd(
                    #[inline(always)]
                    || {
                        for i in nodes {
                            if starts[i] < starts[i + 1] {
                                let rounds = &mut rounds[starts[i] - first..starts[i + 1] - first];
                                relax_row(&perturbed[offsets[i]..offsets[i + 1]], k, sharpness, rounds);
                            }
                        }
                    },
                );
            },
        );
    }

    /// The relaxed weights, Σ_j pʲ.
    pub(super) fn relaxed(&self, threads: &Threads, weights: &mut [T]) {
        self.rows(threads, weights, |i, weights| {
            let degree = weights.len();
            weights.fill(T::ZERO);
            for p in self.rounds[self.starts[i]..][..degree * self.k].chunks_exact(degree) {
                weights.iter_mut().zip(p).for_each(|(w, &p)| *w += p);
            }
        });
    }

    /// The sample itself: 1 for the k largest of each node, the first among equals, and 0 for the others.
    pub(super) fn hard(&self, threads: &Threads, weights: &mut [T]) {
        let offsets = self.graph.offsets();
        self.rows(threads, weights, |i, weights| {
            let perturbed = &self.perturbed[offsets[i]..offsets[i + 1]];
            let mut order: Vec<u32> = (0..weights.len() as u32).collect();
            let key = |at: u32| -> f64 { perturbed[at as usize].into() };
            order.select_nth_unstable_by(self.k, |&a, &b| key(b).total_cmp(&key(a)).then(a.cmp(&b)));
            weights.fill(T::ZERO);
            for &at in &order[..self.k] {
                weights[at as usize] = T::ONE;
            }
        });
    }

    /// The gradient by scores, given that by the relaxed weights. Belongs to the latest `relax`.
    pub(super) fn gradient(&self, threads: &Threads, d_weights: &[T], d_scores: &mut [T]) {
        let offsets = self.graph.offsets();
        let sharpness = T::ONE / self.temperature;
        threads.nodes(
            offsets,
            |i| offsets[i],
            d_scores,
            |nodes, d_scores| {
                let first = offsets[nodes.start];
                with_simd(
                    #[inline(always)]
                    || {
                        for i in nodes {
                            let row = offsets[i]..offsets[i + 1];
                            let d_scores = &mut d_scores[row.start - first..row.end - first];
                            d_scores.fill(T::ZERO);
                            if row.len() > self.k {
                                let rounds = &self.rounds[self.starts[i]..][..row.len() * self.k];
                                gradient_row(rounds, sharpness, &d_weights[row], d_scores);
                            }
                        }
                    },
                );
            },
        );
    }

    /// Calls `fill` on the edges of each node that has to choose; all others get weight 1.
    fn rows(&self, threads: &Threads, weights: &mut [T], fill: impl Fn(usize, &mut [T]) + Sync) {
        let offsets = self.graph.offsets();
        threads.nodes(
            offsets,
            |i| offsets[i],
            weights,
            |nodes, weights| {
                let first = offsets[nodes.start];
                for i in nodes {
                    let weights = &mut weights[offsets[i] - first..offsets[i + 1] - first];
                    if weights.len() > self.k { fill(i, weights) } else { weights.fill(T::ONE) }
                }
            },
        );
    }
}

/// −ln(−ln u) with u = (word + ½) / 2³².
#[inline(always)]
fn gumbel<T: Real>(word: u32) -> T {
    let u = (f64::from(word) + 0.5) / 4_294_967_296.0;
    // u next to 1 must not round to it: the logarithm is taken in f64.
    T::of(-libm::log(-libm::log(u)))
}

/// Interleaved partial results of a reduction, so that no addition waits for the one before.
const LANES: usize = 16;

#[inline(always)]
fn highest<T: Real>(values: &[T]) -> T {
    let (tiles, rest) = values.as_chunks::<LANES>();
    let mut lanes = [T::MIN; LANES];
    for tile in tiles {
        for l in 0..LANES {
            lanes[l] = lanes[l].max(tile[l]);
        }
    }
    lanes.iter().chain(rest).fold(T::MIN, |highest, &x| highest.max(x))
}

/// Several sums over the places of three lists, each with its own term.
#[inline(always)]
fn totals<T: Real, const N: usize>([x, y, z]: [&[T]; 3], terms: impl Fn(T, T, T) -> [T; N]) -> [T; N] {
    let (x_tiles, x_rest) = x.as_chunks::<LANES>();
    let (y_tiles, y_rest) = y.as_chunks::<LANES>();
    let (z_tiles, z_rest) = z.as_chunks::<LANES>();
    let mut lanes = [[T::ZERO; LANES]; N];
    for ((x, y), z) in x_tiles.iter().zip(y_tiles).zip(z_tiles) {
        for l in 0..LANES {
            let terms = terms(x[l], y[l], z[l]);
            for n in 0..N {
                lanes[n][l] += terms[n];
            }
        }
    }
    let mut sums = lanes.map(|lanes| lanes.into_iter().sum::<T>());
    for ((&x, &y), &z) in x_rest.iter().zip(y_rest).zip(z_rest) {
        let terms = terms(x, y, z);
        for n in 0..N {
            sums[n] += terms[n];
        }
    }
    sums
}

/// Whether an edge has more than half of a round. Its 1 − p is then the sum of the other p: a difference would have few
/// digits left, or none.
#[inline(always)]
fn leads<T: Real>(p: T) -> bool {
    p > T::of(0.5)
}

#[inline(always)]
fn relax_row<T: Real>(perturbed: &[T], k: usize, sharpness: T, rounds: &mut [T]) {
    let degree = perturbed.len();
    let (rounds, alpha) = rounds.split_at_mut(degree * k);
    alpha.copy_from_slice(perturbed);
    for p in rounds.chunks_exact_mut(degree) {
        let highest = highest(alpha);
        for (p, &a) in p.iter_mut().zip(&*alpha) {
            *p = ((a - highest) * sharpness).exp();
        }
        // One that leads is the only 1 among these powers.
        let [total, others] = totals([p, p, p], |p, _, _| [p, if p < T::ONE { p } else { T::ZERO }]);
        let scale = T::ONE / total;
        let left = (others * scale).max(T::of(FLOOR));
        for (p, a) in p.iter_mut().zip(&mut *alpha) {
            *p *= scale;
            *a += if leads(*p) { left } else { T::ONE - *p }.quick_ln();
        }
    }
}

/// From the last round to the first, with a = ∂/∂αʲ⁺¹ (0 after the last): ∂/∂pʲ = ∂/∂w − a / (1 − pʲ), and
/// ∂/∂αʲ = a + pʲ (∂/∂pʲ − Σ pʲ ∂/∂pʲ) / τ. What stays in `d_scores` is ∂/∂α¹, the gradient by the scores.
///
/// Of an edge that leads, a / (1 − p) can overflow. It stays out of ∂/∂p, and its part in ∂/∂α is added apart: −p a for that
/// edge, and for the others p a by their share of 1 − p. At its floor 1 − p depends on no score, and has no part.
#[inline(always)]
fn gradient_row<T: Real>(rounds: &[T], sharpness: T, d_weights: &[T], d_scores: &mut [T]) {
    let floor = T::of(FLOOR);
    let by_share = |p: T, w: T, a: T| if leads(p) { w } else { w - a / (T::ONE - p) };
    for p in rounds.chunks_exact(d_weights.len()).rev() {
        let [mean, left, leader] = totals([p, d_weights, d_scores], |p, w, a| {
            let [other, leader] = if leads(p) { [T::ZERO, p * a] } else { [p, T::ZERO] };
            [p * by_share(p, w, a), other, leader]
        });
        let (leader, inverse) = if left > floor { (leader, T::ONE / left) } else { (T::ZERO, T::ZERO) };
        for ((&p, &w), a) in p.iter().zip(d_weights).zip(&mut *d_scores) {
            let apart = if leads(p) { -leader } else { p * inverse * leader };
            *a += sharpness * (p * (by_share(p, w, *a) - mean) + apart);
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test may compare with the system's library")]
mod tests;
