use std::sync::Arc;

use crate::error::check_length;
use crate::{Graph, GraphError, Threads};

/// The largest edge weight that is taken.
///
/// In single precision sums then stay finite however many edges a node has: GIN, whose sums are not divided by anything,
/// multiplies those of two layers, at most (10⁹ · 2³² edges)² ≈ 1.8 · 10³⁷ times its input, and numbers end at 3.4 · 10³⁸.
/// The other backbones divide by sums of weights, which end at 10⁹ · 2³².
pub const MAX_EDGE_WEIGHT: f64 = 1e9;

/// Whether it is an edge weight: a number from 0 to [`MAX_EDGE_WEIGHT`].
pub fn is_weight(value: impl Into<f64>) -> bool {
    (0.0..=MAX_EDGE_WEIGHT).contains(&value.into())
}

/// Checks edge weights: one per edge id, each from 0 to [`MAX_EDGE_WEIGHT`]. Weight 0 means "the edge is not there".
///
/// # Errors
/// A wrong number of weights, or the first weight that is NaN, negative or too large.
pub fn check_weights<T: Copy + Into<f64>>(graph: &Graph, weights: &[T]) -> Result<(), GraphError> {
    check_length(
        "weights",
        weights.len(),
        graph.edges(),
        "one weight per directed edge, in the order of ids",
    )?;
    match weights.iter().position(|&weight| !is_weight(weight)) {
        None => Ok(()),
        Some(position) => Err(GraphError::BadWeight { position, value: weights[position].into() }),
    }
}

/// A graph and what each of its edges weighs by itself, which is 1 unless its source says otherwise. Whatever decides on
/// edges multiplies these weights. Shared: a clone costs no memory.
#[derive(Debug, Clone)]
pub struct WeightedGraph<T = f32> {
    graph: Arc<Graph>,
    weights: Option<Arc<[T]>>,
}

impl<T> From<Arc<Graph>> for WeightedGraph<T> {
    fn from(graph: Arc<Graph>) -> Self {
        Self { graph, weights: None }
    }
}

impl<T: Copy + Into<f64>> WeightedGraph<T> {
    /// A graph with one weight per edge id.
    ///
    /// # Errors
    /// As [`check_weights`].
    pub fn new(graph: Arc<Graph>, weights: impl Into<Arc<[T]>>) -> Result<Self, GraphError> {
        let weights = weights.into();
        check_weights(&graph, &weights)?;
        // Weights of 1 say nothing: the same graph without them.
        let plain = weights.iter().all(|&weight| weight.into() == 1.0);
        Ok(Self { graph, weights: (!plain).then_some(weights) })
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The weight of each edge, by edge id; none: 1 everywhere.
    pub fn weights(&self) -> Option<&Arc<[T]>> {
        self.weights.as_ref()
    }

    /// Whether the two directions of an edge weigh differently somewhere.
    pub fn is_uneven(&self) -> bool {
        let (Some(weights), Some(twins)) = (&self.weights, self.graph.twins()) else { return false };
        let value = |edge: usize| -> f64 { weights[edge].into() };
        (0..weights.len()).any(|edge| value(edge) != value(twins[edge] as usize))
    }
}

impl WeightedGraph {
    /// The same with both directions of every edge, which weigh the same: where they do not here, as much as the heavier.
    ///
    /// # Errors
    /// More edges than ids when there are twice as many.
    pub fn undirected(&self, threads: &Threads) -> Result<Self, GraphError> {
        let graph = &self.graph;
        if graph.twins().is_some() && !self.is_uneven() {
            return Ok(self.clone());
        }
        let both = if graph.twins().is_some() {
            Arc::clone(graph)
        } else {
            Arc::new(Graph::undirected_on(threads, graph.nodes(), graph.sources(), &graph.targets())?)
        };
        let Some(weights) = &self.weights else { return Ok(both.into()) };
        let weight = |source: u32, target: u32| {
            graph.edge_id(source, target).map_or(0.0, |edge| weights[edge as usize])
        };
        let heavier = both.sources().iter().zip(both.targets());
        let heavier = heavier.map(|(&a, b)| weight(a, b).max(weight(b, a))).collect();
        Ok(Self { graph: both, weights: Some(heavier) })
    }
}
