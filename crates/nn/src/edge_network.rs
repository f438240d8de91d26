//! A small network that scores edges, for methods that learn which of them to keep.
//!
//! score_e = v · ReLU(x_i W_a + x_j W_b + b) + c for an edge e from j to i: a perceptron of one hidden layer on [x_i ‖ x_j].
//! The first layer is a product per node, X · [W_a | W_b], so an edge costs one row and O(hidden). It has its own
//! parameters and its own optimiser, and exact gradients by its parameters.

use std::sync::Arc;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Graph, Refusal, Transpose};

use crate::adam::{Adam, AdamConfig};
use crate::error::NnError;
use crate::inputs::{Input, Scratch};
use crate::kernels::finish::Finish;
use crate::kernels::sddmm::halve;
use crate::memory::{ensure, zeros};
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// Into how many fixed pieces nodes are cut for sums over all edges: a function of the graph alone.
const PIECES: usize = 64;
/// Units are taken in groups of so many; the number of hidden units is a multiple of it.
const LANES: usize = 16;

/// The network on one graph, with every buffer that it needs.
pub struct EdgeNetwork<T> {
    graph: Arc<Graph>,
    /// Out-edges of a graph that is not symmetric.
    transpose: Option<Transpose>,
    columns: usize,
    hidden: usize,
    /// [W_a | W_b] (columns × 2 hidden), b, v (hidden each), c.
    values: Vec<T>,
    gradient: Vec<T>,
    adam: Adam<T>,
    /// X · [W_a | W_b], with b in the first half.
    products: Vec<T>,
    d_products: Vec<T>,
    scores: Vec<T>,
    /// Of each piece of nodes: the gradients by b, v and c.
    partial: Vec<T>,
    scratch: Scratch<T>,
}

impl<T: Real> EdgeNetwork<T> {
    /// A network for nodes with `columns` numbers each, its parameters drawn from stream `index` of the seed; two networks
    /// of one run take different ones. W by Glorot's rule, v by Kaiming's, biases 0.
    ///
    /// # Errors
    /// `hidden` is not a multiple of 16, or a setting of the optimiser is out of its range.
    pub fn new(
        graph: Arc<Graph>,
        columns: usize,
        hidden: usize,
        adam: AdamConfig,
        (seed, index): (u64, u32),
    ) -> Result<Self, NnError> {
        if hidden == 0 || !hidden.is_multiple_of(LANES) {
            let expected = "a multiple of 16, at least 16";
            return Err(Refusal::new("hidden units", hidden, expected).into());
        }
        let stream = Stream::new(seed, Purpose::EdgeNetwork, index);
        let first = columns * 2 * hidden;
        let mut values = zeros(first + 2 * hidden + 1);
        let mut draw = |range: std::ops::Range<usize>, bound: f64| {
            for i in range {
                values[i] = T::of(bound * (2.0 * stream.uniform(i as u64) - 1.0));
            }
        };
        draw(0..first, (6.0 / (2 * columns + hidden) as f64).sqrt());
        draw(first + hidden..first + 2 * hidden, 1.0 / (hidden as f64).sqrt());
        Ok(Self {
            transpose: graph.twins().is_none().then(|| graph.transpose()),
            graph,
            columns,
            hidden,
            gradient: zeros(values.len()),
            adam: Adam::new(adam, values.len())?,
            values,
            products: Vec::new(),
            d_products: Vec::new(),
            scores: Vec::new(),
            partial: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// All parameters: [W_a | W_b] row by row, b, v, c.
    pub fn parameter_values(&self) -> &[T] {
        &self.values
    }

    /// Replaces all parameters.
    ///
    /// # Errors
    /// Another number of values.
    pub fn set_parameter_values(&mut self, values: &[T]) -> Result<(), NnError> {
        let (found, expected) = (values.len(), self.values.len());
        if found != expected {
            let reason = "all parameters of the network";
            return Err(Refusal::size("parameters", found, expected, reason).into());
        }
        self.values.copy_from_slice(values);
        Ok(())
    }

    /// Its optimiser.
    pub fn optimiser(&self) -> &Adam<T> {
        &self.adam
    }

    /// Its optimiser, to bring back what it remembered.
    pub fn optimiser_mut(&mut self) -> &mut Adam<T> {
        &mut self.adam
    }

    /// Adds to c, and so to the score of every edge.
    pub fn add_to_scores(&mut self, by: T) {
        if let Some(c) = self.values.last_mut() {
            *c += by;
        }
    }

    /// The score of each edge, by edge id, given the numbers of each node. Cost: a product with X, and one row per edge.
    ///
    /// # Errors
    /// Not one row per node, or another number of columns.
    pub fn scores(&mut self, threads: &Threads, input: Input<'_, T>) -> Result<&[T], NnError> {
        self.fits(input)?;
        let (nodes, h) = (self.graph.nodes(), self.hidden);
        let Parts { weight, bias, last, constant } = parts(&self.values, self.columns, h);
        let products = ensure(&mut self.products, nodes * 2 * h);
        input.times(threads, &mut self.scratch, (weight, 2 * h), products, Finish::Keep);
        threads.rows(products, 2 * h, 1024, |_, rows| {
            for row in rows.chunks_exact_mut(2 * h) {
                row.iter_mut().zip(bias).for_each(|(x, &b)| *x += b);
            }
        });
        let (products, graph) = (&*products, &self.graph);
        let scores = ensure(&mut self.scores, graph.edges());
        let (offsets, sources) = (graph.offsets(), graph.sources());
        let bytes = scores.len() * h * size_of::<T>();
        let _span = threads.span(KernelKind::EdgeGradient, 3 * scores.len() * h, bytes);
        threads.nodes(
            offsets,
            |i| offsets[i],
            scores,
            |nodes, scores| {
                let first = offsets[nodes.start];
                with_simd(
                    #[inline(always)]
                    || {
                        for i in nodes {
                            let own = &products[i * 2 * h..][..h];
                            for e in offsets[i]..offsets[i + 1] {
                                let other = &products[sources[e] as usize * 2 * h + h..][..h];
                                scores[e - first] = relu_dot(own, other, last) + constant;
                            }
                        }
                    },
                );
            },
        );
        Ok(scores)
    }

    /// The gradient of a loss by all parameters, given that by the scores. Belongs to the latest [`EdgeNetwork::scores`],
    /// which must have had the same input.
    ///
    /// # Errors
    /// Not one number per edge, or another input.
    pub fn gradient(
        &mut self,
        threads: &Threads,
        input: Input<'_, T>,
        d_scores: &[T],
    ) -> Result<&[T], NnError> {
        self.fits(input)?;
        let (found, expected) = (d_scores.len(), self.graph.edges());
        if found != expected {
            let reason = "one per edge";
            return Err(Refusal::size("gradient by scores", found, expected, reason).into());
        }
        let (nodes, h) = (self.graph.nodes(), self.hidden);
        let Parts { last, .. } = parts(&self.values, self.columns, h);
        let piece_nodes = nodes.div_ceil(PIECES).max(1);
        let partial = ensure(&mut self.partial, nodes.div_ceil(piece_nodes) * (2 * h + 1));
        let d_products = ensure(&mut self.d_products, nodes * 2 * h);
        let pass = Backward {
            offsets: self.graph.offsets(),
            sources: self.graph.sources(),
            twins: self.graph.twins(),
            transpose: self.transpose.as_ref(),
            products: &self.products[..nodes * 2 * h],
            d_scores,
            last,
        };
        let bytes = 2 * d_scores.len() * h * size_of::<T>();
        let span = threads.span(KernelKind::EdgeGradient, 8 * d_scores.len() * h, bytes);
        let width = 2 * h * piece_nodes;
        threads.rows_of_two((d_products, width), (&mut *partial, 2 * h + 1), 1, |piece, rows, sums| {
            sums.fill(T::ZERO);
            with_simd(
                #[inline(always)]
                || {
                    for (i, row) in rows.chunks_exact_mut(2 * h).enumerate() {
                        pass.node(piece * piece_nodes + i, row, sums);
                    }
                },
            );
        });
        drop(span);
        let (d_weight, d_rest) = self.gradient.split_at_mut(self.columns * 2 * h);
        input.transposed_times(threads, &mut self.scratch, (d_products, 2 * h), d_weight);
        d_rest.fill(T::ZERO);
        for sums in partial.chunks_exact(2 * h + 1) {
            d_rest.iter_mut().zip(sums).for_each(|(total, &sum)| *total += sum);
        }
        Ok(&self.gradient)
    }

    /// One optimiser step along the latest gradient.
    pub fn step(&mut self, threads: &Threads) {
        self.adam.step(threads, &mut self.values, &self.gradient);
    }

    fn fits(&self, input: Input<'_, T>) -> Result<(), NnError> {
        let refuse = |found, expected, reason| {
            Err(Refusal::size("input of the edge network", found, expected, reason).into())
        };
        if input.rows != self.graph.nodes() {
            return refuse(input.rows, self.graph.nodes(), "one row per node");
        }
        if input.columns != self.columns {
            return refuse(input.columns, self.columns, "the columns that the network was made for");
        }
        Ok(())
    }
}

struct Parts<'a, T> {
    weight: &'a [T],
    bias: &'a [T],
    last: &'a [T],
    constant: T,
}

fn parts<T: Real>(values: &[T], columns: usize, hidden: usize) -> Parts<'_, T> {
    let (weight, rest) = values.split_at(columns * 2 * hidden);
    let (bias, rest) = rest.split_at(hidden);
    let (last, constant) = rest.split_at(hidden);
    Parts { weight, bias, last, constant: constant[0] }
}

/// Σ_u last_u · max(0, a_u + b_u) in 16 interleaved sums; lengths are multiples of 16.
#[inline(always)]
fn relu_dot<T: Real>(a: &[T], b: &[T], last: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let tiles =
        a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0).zip(last.as_chunks::<LANES>().0);
    for ((a, b), last) in tiles {
        for l in 0..LANES {
            lanes[l] = (a[l] + b[l]).max(T::ZERO).mul_add(last[l], lanes[l]);
        }
    }
    halve(lanes)
}

/// What the backward pass reads. The parts of the graph are at hand, because a call in the loop over edges would cost
/// more than the sums.
struct Backward<'a, T> {
    offsets: &'a [usize],
    sources: &'a [u32],
    twins: Option<&'a [u32]>,
    transpose: Option<&'a Transpose>,
    products: &'a [T],
    d_scores: &'a [T],
    last: &'a [T],
}

impl<T: Real> Backward<'_, T> {
    /// The gradient by a node's products: its in-edges for the first half, its out-edges for the second. Adds what its
    /// in-edges give to the gradients by b, v and c. Sixteen units at a time, whose sums stay in registers.
    #[inline(always)]
    fn node(&self, i: usize, row: &mut [T], sums: &mut [T]) {
        let h = self.last.len();
        let (d_own, d_other) = row.split_at_mut(h);
        let (d_bias, rest) = sums.split_at_mut(h);
        let (d_last, d_constant) = rest.split_at_mut(h);
        let d_scores = &self.d_scores[self.offsets[i]..self.offsets[i + 1]];
        d_constant[0] = d_scores.iter().fold(d_constant[0], |total, &d| total + d);
        for at in (0..h).step_by(LANES) {
            let mut tile = Tile {
                a: *self.lanes(i, at),
                b: *self.lanes(i, h + at),
                last: *lanes(self.last, at),
                d_own: [T::ZERO; LANES],
                d_other: [T::ZERO; LANES],
                d_last: *lanes(d_last, at),
            };
            self.tile(i, at, &mut tile);
            d_own[at..at + LANES].copy_from_slice(&tile.d_own);
            d_other[at..at + LANES].copy_from_slice(&tile.d_other);
            d_last[at..at + LANES].copy_from_slice(&tile.d_last);
        }
        d_bias.iter_mut().zip(&*d_own).for_each(|(total, &d)| *total += d);
    }

    #[inline(always)]
    fn tile(&self, i: usize, at: usize, tile: &mut Tile<T>) {
        let h = self.last.len();
        let in_edges = self.offsets[i]..self.offsets[i + 1];
        if let Some(twins) = self.twins {
            for e in in_edges {
                let other = self.sources[e] as usize;
                tile.in_edge(self.d_scores[e], self.lanes(other, h + at));
                tile.out_edge(self.d_scores[twins[e] as usize], self.lanes(other, at));
            }
            return;
        }
        for e in in_edges {
            let other = self.sources[e] as usize;
            tile.in_edge(self.d_scores[e], self.lanes(other, h + at));
        }
        if let Some(transpose) = self.transpose {
            for place in transpose.offsets[i]..transpose.offsets[i + 1] {
                let other = transpose.targets[place] as usize;
                let d = self.d_scores[transpose.edges[place] as usize];
                tile.out_edge(d, self.lanes(other, at));
            }
        }
    }

    #[inline(always)]
    fn lanes(&self, node: usize, at: usize) -> &[T; LANES] {
        lanes(self.products, node * 2 * self.last.len() + at)
    }
}

#[inline(always)]
fn lanes<T>(values: &[T], at: usize) -> &[T; LANES] {
    &values[at..].as_chunks::<LANES>().0[0]
}

/// Sixteen units of a node: its own halves of their sums, v, and the gradients that its edges add up.
struct Tile<T> {
    a: [T; LANES],
    b: [T; LANES],
    last: [T; LANES],
    d_own: [T; LANES],
    d_other: [T; LANES],
    d_last: [T; LANES],
}

impl<T: Real> Tile<T> {
    /// An edge with gradient d by its score: adds d · v where the unit is on, and its unit times d to the gradient by v.
    #[inline(always)]
    fn in_edge(&mut self, d: T, b: &[T; LANES]) {
        for l in 0..LANES {
            let unit = self.a[l] + b[l];
            self.d_own[l] += if unit > T::ZERO { d * self.last[l] } else { T::ZERO };
            self.d_last[l] = unit.max(T::ZERO).mul_add(d, self.d_last[l]);
        }
    }

    #[inline(always)]
    fn out_edge(&mut self, d: T, a: &[T; LANES]) {
        for l in 0..LANES {
            self.d_other[l] += if a[l] + self.b[l] > T::ZERO { d * self.last[l] } else { T::ZERO };
        }
    }
}
