//! Messages of belief propagation, in the logarithmic domain, and what both ends of an edge say of each other.
//!
//! Edge e leads from node i to node j, and t is its twin. With the sums b_i = u_i + Σ m over the in-edges of i, what i
//! believes without j is q ∝ exp(b_i − m_t), and the message is m_e ← (1 − δ)·m_e + δ·s·ln(τ_e·(qΨ) + 1 − τ_e). It is the
//! logarithm of a likelihood ratio, which is bounded by the entries of Ψ: nothing has to be normalised.
//!
//! Every message is written by one call, from sums and messages of the sweep before: the order of edges and the number of
//! threads do not matter. Rows are made in batches and in tiles (`rows.rs`), every number as if it were made alone.

mod rows;

use std::ops::Range;

use edgepace_graph::Graph;

use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

use rows::{BATCH, Cavities, Padded, TOGETHER, load, tile};

/// Where messages are sent, and what is known of their edges.
#[derive(Clone, Copy)]
pub(crate) struct Ways<'a> {
    pub(crate) graph: &'a Graph,
    /// The source of each edge.
    pub(crate) sources: &'a [u32],
    /// The twin of each edge.
    pub(crate) twins: &'a [u32],
    /// How far each edge is trusted, in [0, 1]; none: wholly.
    pub(crate) trust: Option<&'a [f32]>,
}

impl Ways<'_> {
    /// The source of an edge, and the edge's twin: what the one believes without the other is what it says.
    #[inline(always)]
    fn source_and_twin(&self, edge: usize) -> (usize, usize) {
        (self.sources[edge] as usize, self.twins[edge] as usize)
    }
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

/// Numbers of a tile where it holds all classes, and where it does not.
const NARROW: usize = 8;
const WIDE: usize = 16;

/// `sums` = `unaries` plus all messages into each node, in the order of edge ids.
pub(crate) fn sum_messages<T: Real>(
    threads: &Threads,
    of: (&Graph, usize),
    from: (&[T], &[T]),
    sums: &mut [T],
) {
    if of.1 <= NARROW {
        sum_tiles::<T, NARROW>(threads, of, from, sums);
    } else {
        sum_tiles::<T, WIDE>(threads, of, from, sums);
    }
}

fn sum_tiles<T: Real, const W: usize>(
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
                    let mut spare = [T::ZERO; W];
                    for (i, sums) in nodes.zip(sums.chunks_exact_mut(classes)) {
                        for (at, sums) in (0..).step_by(W).zip(sums.chunks_mut(W)) {
                            let mut all = *tile(unaries, i * classes + at, &mut spare);
                            for edge in graph.in_edges(i) {
                                let message = tile(messages, edge * classes + at, &mut spare);
                                for lane in 0..W {
                                    all[lane] += message[lane];
                                }
                            }
                            sums.copy_from_slice(&all[..sums.len()]);
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
    from: (&[T], &[T]),
    next: &mut [T],
) {
    if by.classes <= NARROW {
        send_tiles::<T, NARROW>(threads, ways, by, step, from, next);
    } else {
        send_tiles::<T, WIDE>(threads, ways, by, step, from, next);
    }
}

fn send_tiles<T: Real, const W: usize>(
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
    let by = Padded::<T, W>::new(by);
    let offsets = ways.graph.offsets();
    threads.nodes(
        offsets,
        |i| offsets[i] * classes,
        next,
        |nodes, next| {
            // Room for a batch, for a whole piece of the nodes.
            let mut q = Cavities::new(&by);
            let mut mixed = by.rows();
            with_simd(
                #[inline(always)]
                || {
                    let mut first = offsets[nodes.start];
                    for next in next.chunks_mut(BATCH * classes) {
                        let edges = first..first + next.len() / classes;
                        q.fill(
                            (sums, messages),
                            edges.len(),
                            #[inline(always)]
                            |row| ways.source_and_twin(edges.start + row),
                        );
                        let trust = ways.trust.map(|trust| &trust[edges.clone()]);
                        by.mix(&q.rows, edges.len(), trust, &mut mixed);
                        let old = &messages[edges.start * classes..edges.end * classes];
                        for ((next, &old), &ratio) in next.iter_mut().zip(old).zip(&mixed) {
                            *next = step.fresh.mul_add(step.strength.mul_add(ratio.quick_ln(), -old), old);
                        }
                        first = edges.end;
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
    from: (&[T], &[T]),
) -> Vec<f64> {
    if by.classes <= NARROW {
        count_tiles::<T, NARROW>(threads, ways, by, from)
    } else {
        count_tiles::<T, WIDE>(threads, ways, by, from)
    }
}

fn count_tiles<T: Real, const W: usize>(
    threads: &Threads,
    ways: Ways<'_>,
    by: Compatibility<'_, T>,
    from: (&[T], &[T]),
) -> Vec<f64> {
    let classes = by.classes;
    let (edges, row) = (ways.graph.edges(), classes * size_of::<T>());
    let _span = threads.span(KernelKind::EdgeGradient, 2 * edges * classes * classes, 2 * edges * row);
    let padded = Padded::<T, W>::new(by);
    let offsets = ways.graph.offsets();
    let of_block = |nodes: Range<usize>| {
        let mut counts = vec![[0.0; W]; padded.values.len()];
        let mut shares = vec![0.0; BATCH * classes];
        let mut ends = Ends::new(&padded);
        with_simd(
            #[inline(always)]
            || {
                let mut edges = offsets[nodes.start]..offsets[nodes.end];
                while ends.look(ways, from, &mut edges) {
                    ends.share_out(ways.trust, &mut shares);
                    let pairs = (&shares[..ends.edges.len() * classes], &ends.target.rows[..]);
                    let mut c = 0;
                    while c + TOGETHER <= classes {
                        add_products::<T, W, TOGETHER>(classes, c, pairs, &mut counts);
                        c += TOGETHER;
                    }
                    while c < classes {
                        add_products::<T, W, 1>(classes, c, pairs, &mut counts);
                        c += 1;
                    }
                }
            },
        );
        counts
    };
    let mut all = vec![0.0; classes * classes];
    for counts in threads.map_pieces(ways.graph.nodes(), BLOCK, of_block) {
        for (c, all) in all.chunks_exact_mut(classes).enumerate() {
            let counts = counts[c..].iter().step_by(classes).flatten();
            all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
        }
    }
    all.iter_mut().zip(by.values).for_each(|(count, &value)| *count *= value.into());
    all
}

/// Adds to R rows of counts, from class `first` on, the products of a batch of `shares` and `target`s, in the order of its rows.
#[inline(always)]
fn add_products<T: Real, const W: usize, const R: usize>(
    classes: usize,
    first: usize,
    (shares, target): (&[f64], &[T]),
    counts: &mut [[f64; W]],
) {
    for (tile, counts) in counts.chunks_exact_mut(classes).enumerate() {
        let mut sums: [[f64; W]; R] = std::array::from_fn(|r| counts[first + r]);
        for (row, shares) in shares.chunks_exact(classes).enumerate() {
            let target: [T; W] = load(target, row * classes + tile * W);
            for r in 0..R {
                for lane in 0..W {
                    sums[r][lane] = shares[first + r].mul_add(target[lane].into(), sums[r][lane]);
                }
            }
        }
        counts[first..first + R].copy_from_slice(&sums);
    }
}

/// qᵢΨqⱼ of each edge, by edge id: how much likelier its ends are linked than two nodes at random, if each of them is what
/// it is believed to be without the other. Twins have the same.
pub(crate) fn likelihood_ratios<T: Real>(
    threads: &Threads,
    ways: Ways<'_>,
    by: Compatibility<'_, T>,
    from: (&[T], &[T]),
    ratios: &mut [f32],
) {
    if by.classes <= NARROW {
        ratios_by_tiles::<T, NARROW>(threads, ways, by, from, ratios);
    } else {
        ratios_by_tiles::<T, WIDE>(threads, ways, by, from, ratios);
    }
}

fn ratios_by_tiles<T: Real, const W: usize>(
    threads: &Threads,
    ways: Ways<'_>,
    by: Compatibility<'_, T>,
    from: (&[T], &[T]),
    ratios: &mut [f32],
) {
    let classes = by.classes;
    let (edges, row) = (ways.graph.edges(), classes * size_of::<T>());
    let _span = threads.span(KernelKind::EdgeGradient, edges * classes * classes, edges * row);
    let by = Padded::<T, W>::new(by);
    threads.rows(ratios, 1, BLOCK, |first, ratios| {
        let mut ends = Ends::new(&by);
        with_simd(
            #[inline(always)]
            || {
                let mut edges = first..first + ratios.len();
                while ends.look(ways, from, &mut edges) {
                    for (&edge, &ratio) in ends.edges.iter().zip(&ends.ratios) {
                        ratios[edge - first] = ratio as f32;
                    }
                }
            },
        );
    });
    // Only the first of two twins was looked at: the second has its bits.
    for (edge, &twin) in ways.twins.iter().enumerate() {
        if (twin as usize) < edge {
            ratios[edge] = ratios[twin as usize];
        }
    }
}

/// What both ends of edges believe without each other, for a batch of edges of which each is the first of two twins.
struct Ends<'a, T, const W: usize> {
    by: &'a Padded<T, W>,
    edges: Vec<usize>,
    source: Cavities<T, W>,
    target: Cavities<T, W>,
    mixed: Vec<T>,
    /// qᵢΨqⱼ.
    ratios: Vec<f64>,
}

impl<'a, T: Real, const W: usize> Ends<'a, T, W> {
    fn new(by: &'a Padded<T, W>) -> Self {
        let (edges, ratios) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        Self { by, edges, source: Cavities::new(by), target: Cavities::new(by), mixed: by.rows(), ratios }
    }

    /// Looks at the next batch of the edges; returns whether there is one.
    #[inline(always)]
    fn look(&mut self, ways: Ways<'_>, from: (&[T], &[T]), edges: &mut Range<usize>) -> bool {
        let classes = self.by.classes;
        self.edges.clear();
        self.edges.extend(edges.filter(|&edge| (edge as u32) < ways.twins[edge]).take(BATCH));
        self.ratios.clear();
        self.source.fill(
            from,
            self.edges.len(),
            #[inline(always)]
            |row| ways.source_and_twin(self.edges[row]),
        );
        self.target.fill(
            from,
            self.edges.len(),
            #[inline(always)]
            |row| ways.source_and_twin(ways.twins[self.edges[row]] as usize),
        );
        self.by.mix(&self.source.rows, self.edges.len(), None, &mut self.mixed);
        for row in 0..self.edges.len() {
            let [mixed, target] =
                [&self.mixed, &self.target.rows].map(|rows| &rows[row * classes..][..classes]);
            let mut ratio = 0.0_f64;
            for (&mixed, &q) in mixed.iter().zip(target) {
                let (mixed, q): (f64, f64) = (mixed.into(), q.into());
                ratio = mixed.mul_add(q, ratio);
            }
            self.ratios.push(ratio);
        }
        !self.edges.is_empty()
    }

    /// `shares` = τ·qᵢ/(τ·Z + 1 − τ), a row for each edge.
    #[inline(always)]
    fn share_out(&self, trust: Option<&[f32]>, shares: &mut [f64]) {
        let classes = self.by.classes;
        for (row, (&edge, &ratio)) in self.edges.iter().zip(&self.ratios).enumerate() {
            let trust = trust.map_or(1.0, |trust| f64::from(trust[edge]));
            let share = trust / trust.mul_add(ratio, 1.0 - trust);
            let [start, end] = [row, row + 1].map(|row| row * classes);
            let source = &self.source.rows[start..end];
            shares[start..end].iter_mut().zip(source).for_each(|(shares, &q)| *shares = share * q.into());
        }
    }
}
