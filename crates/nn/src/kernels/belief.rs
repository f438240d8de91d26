//! Messages of belief propagation, in the logarithmic domain, and what both ends of an edge say of each other.
//!
//! Edge e leads from node i to node j, and t is its twin. With the sums b_i = u_i + Σ m over the in-edges of i, what i
//! believes without j is q ∝ exp(b_i − m_t), and the message is m_e ← (1 − δ)·m_e + δ·s·ln(τ_e·(qΨ) + 1 − τ_e). It is the
//! logarithm of a likelihood ratio, which is bounded by the entries of Ψ: nothing has to be normalised.
//!
//! Every message is written by one call, from sums and messages of the sweep before: the order of edges and the number of
//! threads do not matter.

use edgepace_graph::Graph;

use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// Where messages are sent, and what is known of their edges.
#[derive(Clone, Copy)]
pub(crate) struct Ways<'a> {
    pub(crate) graph: &'a Graph,
    /// The twin of each edge.
    pub(crate) twins: &'a [u32],
    /// How far each edge is trusted, in [0, 1]; none: wholly.
    pub(crate) trust: Option<&'a [f32]>,
}

/// Classes, and how likely each pair of them is linked: classes × classes, symmetric and positive.
#[derive(Clone, Copy)]
pub(crate) struct Compatibility<'a, T> {
    pub(crate) classes: usize,
    pub(crate) values: &'a [T],
}

/// How messages are made of what was believed before.
#[derive(Clone, Copy)]
pub(crate) struct Step<T> {
    /// s.
    pub(crate) strength: T,
    /// δ: how much of a message is new.
    pub(crate) fresh: T,
}

/// Nodes whose counts one thread sums at a time.
const BLOCK: usize = 2048;

/// `sums` = `unaries` plus all messages into each node, in the order of edge ids.
pub(crate) fn sum_messages<T: Real>(
    threads: &Threads,
    (graph, classes): (&Graph, usize),
    (unaries, messages): (&[T], &[T]),
    sums: &mut [T],
) {
    let bytes = std::mem::size_of_val(messages) + 2 * std::mem::size_of_val(sums);
    let _span = threads.span(KernelKind::Segment, messages.len(), bytes);
    threads.nodes(
        graph.offsets(),
        |i| i * classes,
        sums,
        |nodes, sums| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, sums) in nodes.zip(sums.chunks_exact_mut(classes)) {
                        sums.copy_from_slice(&unaries[i * classes..][..classes]);
                        let edges = graph.in_edges(i);
                        let rows = &messages[edges.start * classes..edges.end * classes];
                        for row in rows.chunks_exact(classes) {
                            sums.iter_mut().zip(row).for_each(|(sum, &m)| *sum += m);
                        }
                    }
                },
            );
        },
    );
}

/// All messages anew, into `next`.
///
/// Shapes: `sums` nodes × classes, `messages` and `next` edges × classes. Cost: edges × classes² multiply-adds, and as many
/// powers and logarithms as there are numbers in a message.
pub(crate) fn send<T: Real>(
    threads: &Threads,
    ways: Ways<'_>,
    by: Compatibility<'_, T>,
    step: Step<T>,
    (sums, messages): (&[T], &[T]),
    next: &mut [T],
) {
    let classes = by.classes;
    let (edges, row) = (ways.graph.edges(), classes * size_of::<T>());
    let _span = threads.span(KernelKind::Propagate, 2 * edges * classes * classes, 4 * edges * row);
    let offsets = ways.graph.offsets();
    threads.nodes(
        offsets,
        |i| offsets[i] * classes,
        next,
        |nodes, next| {
            // One pair of rows for a whole piece of the nodes.
            let mut scratch = vec![T::ZERO; 2 * classes];
            let (q, mixed) = scratch.split_at_mut(classes);
            with_simd(
                #[inline(always)]
                || {
                    let edges = offsets[nodes.start]..offsets[nodes.end];
                    for (edge, next) in edges.zip(next.chunks_exact_mut(classes)) {
                        let source = ways.graph.sources()[edge] as usize;
                        let twin = ways.twins[edge] as usize;
                        cavity(row_of(sums, source, classes), row_of(messages, twin, classes), q);
                        mix(q, by, mixed);
                        let trust = ways.trust.map(|trust| T::of(f64::from(trust[edge])));
                        let old = row_of(messages, edge, classes);
                        for ((next, &old), &ratio) in next.iter_mut().zip(old).zip(&*mixed) {
                            let ratio = trust.map_or(ratio, |t| t.mul_add(ratio, T::ONE - t));
                            *next = step.fresh.mul_add(step.strength.mul_add(ratio.quick_ln(), -old), old);
                        }
                    }
                },
            );
        },
    );
}

/// Edges by the classes of their ends, as expected: Σ over pairs of twins of the posterior τ·Ψ∘(qᵢqⱼᵀ)/(τ·Z + 1 − τ) with
/// Z = qᵢΨqⱼ, where each end believes what it does without the other. Classes × classes; not symmetric, because each pair
/// is counted once.
pub(crate) fn count_pairs<T: Real>(
    threads: &Threads,
    ways: Ways<'_>,
    by: Compatibility<'_, T>,
    (sums, messages): (&[T], &[T]),
) -> Vec<f64> {
    let classes = by.classes;
    let (edges, row) = (ways.graph.edges(), classes * size_of::<T>());
    let _span = threads.span(KernelKind::EdgeGradient, 2 * edges * classes * classes, 2 * edges * row);
    let of_block = |nodes: std::ops::Range<usize>| {
        let mut counts = vec![0.0; classes * classes];
        let mut ends = Ends::new(classes);
        with_simd(
            #[inline(always)]
            || {
                for edge in ways.graph.offsets()[nodes.start]..ways.graph.offsets()[nodes.end] {
                    if ways.twins[edge] as usize <= edge {
                        continue;
                    }
                    let ratio = ends.look(ways, by, (sums, messages), edge);
                    let trust = ways.trust.map_or(1.0, |trust| f64::from(trust[edge]));
                    let share = trust / trust.mul_add(ratio, 1.0 - trust);
                    for (&q, counts) in ends.source.iter().zip(counts.chunks_exact_mut(classes)) {
                        let share = share * q.into();
                        for (count, &p) in counts.iter_mut().zip(&ends.target) {
                            *count = share.mul_add(p.into(), *count);
                        }
                    }
                }
            },
        );
        counts
    };
    let mut all = vec![0.0; classes * classes];
    for counts in threads.map_pieces(ways.graph.nodes(), BLOCK, of_block) {
        all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
    }
    all.iter_mut().zip(by.values).for_each(|(count, &value)| *count *= value.into());
    all
}

/// qᵢΨqⱼ of each edge, by edge id: how much likelier its ends are linked than two nodes at random, if each of them is what
/// it is believed to be without the other. Twins have the same.
pub(crate) fn likelihood_ratios<T: Real>(
    threads: &Threads,
    ways: Ways<'_>,
    by: Compatibility<'_, T>,
    (sums, messages): (&[T], &[T]),
    ratios: &mut [f32],
) {
    let classes = by.classes;
    let (edges, row) = (ways.graph.edges(), classes * size_of::<T>());
    let _span = threads.span(KernelKind::EdgeGradient, 2 * edges * classes * classes, 2 * edges * row);
    threads.rows(ratios, 1, BLOCK, |first, ratios| {
        let mut ends = Ends::new(classes);
        with_simd(
            #[inline(always)]
            || {
                for (edge, ratio) in (first..).zip(ratios) {
                    // Both directions see the same end first, and so round alike.
                    let edge = edge.min(ways.twins[edge] as usize);
                    *ratio = ends.look(ways, by, (sums, messages), edge) as f32;
                }
            },
        );
    });
}

/// What both ends of an edge believe without each other.
struct Ends<T> {
    source: Vec<T>,
    target: Vec<T>,
    mixed: Vec<T>,
}

impl<T: Real> Ends<T> {
    fn new(classes: usize) -> Self {
        let row = || vec![T::ZERO; classes];
        Self { source: row(), target: row(), mixed: row() }
    }

    /// Looks at an edge; returns qᵢΨqⱼ.
    #[inline(always)]
    fn look(
        &mut self,
        ways: Ways<'_>,
        by: Compatibility<'_, T>,
        (sums, messages): (&[T], &[T]),
        edge: usize,
    ) -> f64 {
        let classes = by.classes;
        let twin = ways.twins[edge] as usize;
        let [source, target] = [edge, twin].map(|edge| ways.graph.sources()[edge] as usize);
        cavity(row_of(sums, source, classes), row_of(messages, twin, classes), &mut self.source);
        cavity(row_of(sums, target, classes), row_of(messages, edge, classes), &mut self.target);
        mix(&self.source, by, &mut self.mixed);
        let mut ratio = 0.0_f64;
        for (&mixed, &q) in self.mixed.iter().zip(&self.target) {
            let (mixed, q): (f64, f64) = (mixed.into(), q.into());
            ratio = mixed.mul_add(q, ratio);
        }
        ratio
    }
}

#[inline(always)]
fn row_of<T>(values: &[T], row: usize, classes: usize) -> &[T] {
    &values[row * classes..][..classes]
}

/// q ∝ exp(sums − message), which adds up to 1.
#[inline(always)]
fn cavity<T: Real>(sums: &[T], message: &[T], q: &mut [T]) {
    let mut peak = T::MIN;
    for ((q, &sum), &message) in q.iter_mut().zip(sums).zip(message) {
        *q = sum - message;
        peak = peak.max(*q);
    }
    for q in &mut *q {
        *q = (*q - peak).exp();
    }
    let mut total = T::ZERO;
    for &q in &*q {
        total += q;
    }
    let share = T::ONE / total;
    for q in q {
        *q *= share;
    }
}

/// `mixed` = qΨ.
#[inline(always)]
fn mix<T: Real>(q: &[T], by: Compatibility<'_, T>, mixed: &mut [T]) {
    let classes = by.classes;
    let mut at = 0;
    while at + 16 <= classes {
        mix_tile::<T, 16>(q, by, at, mixed);
        at += 16;
    }
    while at + 8 <= classes {
        mix_tile::<T, 8>(q, by, at, mixed);
        at += 8;
    }
    while at < classes {
        mix_tile::<T, 1>(q, by, at, mixed);
        at += 1;
    }
}

/// W classes of qΨ, from class `at`, in registers.
#[inline(always)]
fn mix_tile<T: Real, const W: usize>(q: &[T], by: Compatibility<'_, T>, at: usize, mixed: &mut [T]) {
    let mut sums = [T::ZERO; W];
    for (&q, row) in q.iter().zip(by.values.chunks_exact(by.classes)) {
        let row = &row[at..at + W];
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum = q.mul_add(value, *sum);
        }
    }
    mixed[at..at + W].copy_from_slice(&sums);
}
