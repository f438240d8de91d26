//! Beliefs about the class of each node, which neighbours tell each other (loopy belief propagation: Pearl, 1988; Yedidia,
//! Freeman and Weiss, 2003).
//!
//! The model: node i has class c with the weight exp(u_i(c)), and an edge whose ends have the classes c and d is Ψ(c, d)
//! times as likely as one between two nodes at random. On a tree the beliefs are the exact posteriors after as many sweeps
//! as the tree is long; on other graphs they are those of the Bethe approximation. An edge of trust τ is a real one with
//! probability τ, and says nothing otherwise: its factor is τΨ + 1 − τ. Trust 0 is exactly no edge.

use std::ops::Range;
use std::sync::Arc;

use edgepace_graph::{Graph, Refusal, WeightedGraph};

use crate::error::NnError;
use crate::kernels::belief::{Compatibility, Step, Ways, count_pairs, likelihood_ratios, send, sum_messages};
use crate::outputs::peak;
use crate::real::Real;
use crate::threads::Threads;

/// Nodes whose probabilities one thread makes at a time.
const ROWS: usize = 1024;
/// Numbers of messages whose changes one thread sums at a time.
const PIECE: usize = 1 << 16;

/// Beliefs of all nodes, and the messages that they are made of.
///
/// Everything has the same bits on any number of threads. Memory: two messages per edge, two rows per node.
#[derive(Clone, Debug)]
pub struct Beliefs<T> {
    graph: Arc<Graph>,
    trust: Option<Arc<[f32]>>,
    classes: usize,
    unaries: Vec<T>,
    /// Unaries and messages, added up.
    sums: Vec<T>,
    messages: Vec<T>,
    /// The messages of the sweep before: room for those of the next.
    spare: Vec<T>,
}

impl<T: Real> Beliefs<T> {
    /// The unary of a class that a node cannot have.
    pub const IMPOSSIBLE: f64 = -1e30;

    /// Before the first message. `unaries` are nodes × classes; what an edge weighs is its trust, and at most 1.
    ///
    /// # Errors
    /// A graph that has edges without a twin, or unaries of another size.
    pub fn new(graph: &WeightedGraph, classes: usize, unaries: Vec<T>) -> Result<Self, NnError> {
        let trust = graph.weights().map(|weights| weights.iter().map(|&weight| weight.min(1.0)).collect());
        let graph = Arc::clone(graph.graph());
        if graph.edges() > 0 && graph.twins().is_none() {
            return Err(
                Refusal::new("graph", "a directed one", "one with both directions of every edge").into()
            );
        }
        let expected = graph.nodes() * classes;
        if unaries.len() != expected || classes == 0 {
            let expected = format!("{expected}: one for each node and class");
            return Err(Refusal::new("unaries", unaries.len(), expected).into());
        }
        let messages = vec![T::ZERO; graph.edges() * classes];
        let (sums, spare) = (unaries.clone(), messages.clone());
        Ok(Self { graph, trust, classes, unaries, sums, messages, spare })
    }

    fn ways(&self) -> Ways<'_> {
        let twins = self.graph.twins().unwrap_or_default();
        Ways { graph: &self.graph, sources: self.graph.sources(), twins, trust: self.trust.as_deref() }
    }

    /// Sends every message once. `compatibility` is Ψ, classes × classes, symmetric and positive; `strength` multiplies
    /// what an edge says, and `fresh` in (0, 1] is how much of a message is new.
    pub fn sweep(&mut self, threads: &Threads, compatibility: &[T], strength: f64, fresh: f64) {
        let by = Compatibility { classes: self.classes, values: compatibility };
        let step = Step { strength: T::of(strength), fresh: T::of(fresh) };
        let mut next = std::mem::take(&mut self.spare);
        send(threads, self.ways(), by, step, (&self.sums, &self.messages), &mut next);
        self.spare = std::mem::replace(&mut self.messages, next);
        self.add_up(threads);
    }

    fn add_up(&mut self, threads: &Threads) {
        let (graph, from) = ((&*self.graph, self.classes), (&self.unaries[..], &self.messages[..]));
        sum_messages(threads, graph, from, &mut self.sums);
    }

    /// The undirected edges by the classes of their ends, as far as they are known: classes × classes, symmetric, each edge
    /// half in one place and half in its mirror.
    pub fn expected_edges(&self, threads: &Threads, compatibility: &[T]) -> Vec<f64> {
        let by = Compatibility { classes: self.classes, values: compatibility };
        let counts = count_pairs(threads, self.ways(), by, (&self.sums, &self.messages));
        let mirror = |at: usize| at % self.classes * self.classes + at / self.classes;
        (0..counts.len()).map(|at| 0.5 * (counts[at] + counts[mirror(at)])).collect()
    }

    /// For each edge, by its id, how much likelier its ends are linked than two nodes at random. No edge vouches for itself:
    /// each end is what it is believed to be without the other.
    pub fn likelihood_ratios(&self, threads: &Threads, compatibility: &[T]) -> Vec<f32> {
        let by = Compatibility { classes: self.classes, values: compatibility };
        let mut ratios = vec![0.0; self.graph.edges()];
        likelihood_ratios(threads, self.ways(), by, (&self.sums, &self.messages), &mut ratios);
        ratios
    }

    /// What is believed of each node as logits, nodes × classes: up to a constant for each node, the logarithm of the
    /// probability of each class.
    pub fn logits(&self) -> &[T] {
        &self.sums
    }

    /// The logarithm of the probability of each class, nodes × classes, at least `floor`.
    pub fn log_probabilities(&self, threads: &Threads, floor: f32, out: &mut Vec<f32>) {
        out.clear();
        out.resize(self.sums.len(), 0.0);
        let classes = self.classes;
        threads.rows(out, classes, ROWS, |first, out| {
            let rows = self.sums[first * classes..].chunks_exact(classes);
            for (out, row) in out.chunks_exact_mut(classes).zip(rows) {
                let peak = peak(row);
                let total: f64 = row.iter().map(|&sum| libm::exp(sum.into() - peak)).sum();
                let log_total = peak + libm::log(total);
                for (out, &sum) in out.iter_mut().zip(row) {
                    *out = ((sum.into() - log_total) as f32).max(floor);
                }
            }
        });
    }

    /// The mean change of a number of a message in the latest sweep: 0 where nothing moves any more.
    pub fn moved(&self, threads: &Threads) -> f64 {
        let of_piece = |piece: Range<usize>| -> f64 {
            let pairs = self.messages[piece.clone()].iter().zip(&self.spare[piece]);
            pairs.map(|(&new, &old)| (new.into() - old.into()).abs()).sum()
        };
        let sum: f64 = threads.map_pieces(self.messages.len(), PIECE, of_piece).into_iter().sum();
        sum / self.messages.len().max(1) as f64
    }

    /// The graph, which has both directions of every edge.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The messages as they are, edges × classes: with the unaries all that there is to know.
    pub fn messages(&self) -> &[T] {
        &self.messages
    }

    /// Goes on from these messages.
    ///
    /// # Errors
    /// They are not as many as there are.
    pub fn set_messages(&mut self, threads: &Threads, messages: &[T]) -> Result<(), NnError> {
        if messages.len() != self.messages.len() {
            let expected = self.messages.len().to_string();
            return Err(Refusal::new("messages", messages.len(), expected).into());
        }
        self.messages.copy_from_slice(messages);
        self.add_up(threads);
        Ok(())
    }
}
