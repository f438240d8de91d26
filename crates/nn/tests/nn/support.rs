//! Small problems to train on, and what every test asks of a model.

use std::sync::Arc;

use edgepace_graph::{Classes, DenseFeatures, Features, Graph, Labels, ManyLabels, SparseFeatures};
use edgepace_nn::{Backbone, Model, ModelConfig, Parameter, Real, Task, Threads};

use crate::shared::{Draws, Shape};

/// Features are multiples of this, so that small steps from them are exact in `f32`.
const GRID: f64 = 1.0 / 64.0;

/// A graph with edge weights, features, labels and training nodes with weights.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) graph: Arc<Graph>,
    pub(crate) weights: Vec<f64>,
    pub(crate) columns: usize,
    /// Nodes × columns, half of them 0.
    pub(crate) features: Vec<f32>,
    pub(crate) labels: Arc<Labels>,
    /// 0 for nodes that are not trained on.
    pub(crate) node_weights: Vec<f64>,
}

/// What kind of labels a problem has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Classes,
    Many,
}

/// Classes or labels of a problem.
pub(crate) const OUTPUTS: usize = 3;

impl Problem {
    /// 14 nodes with 5 features.
    pub(crate) fn small(seed: u64, shape: Shape, kind: Kind) -> Self {
        let mut draws = Draws::new(seed);
        let graph = shape.graph(14, 24, &mut draws);
        let weights = shape.weights(&graph, &mut draws);
        Self::on(graph, weights, 5, kind, &mut draws)
    }

    /// Random features, labels and training nodes for a graph.
    pub(crate) fn on(graph: Graph, weights: Vec<f64>, columns: usize, kind: Kind, draws: &mut Draws) -> Self {
        let nodes = graph.nodes();
        let features =
            (0..nodes * columns).map(|i| if i % 2 == 0 { 0.0 } else { grid(2.0 * draws.signed()) }).collect();
        let labels = match kind {
            Kind::Classes => {
                let of = (0..nodes).map(|_| draws.below(OUTPUTS) as u32).collect();
                Classes::new(OUTPUTS, of).unwrap().into()
            }
            Kind::Many => {
                let values = (0..nodes * OUTPUTS).map(|_| draws.below(2) as u8).collect();
                ManyLabels::new(nodes, OUTPUTS, values).unwrap().into()
            }
        };
        let node_weights = (0..nodes).map(|i| if i % 3 == 2 { 0.0 } else { 0.1 + draws.unit() }).collect();
        Self { graph: Arc::new(graph), weights, columns, features, labels: Arc::new(labels), node_weights }
    }

    pub(crate) fn dense(&self) -> Features {
        DenseFeatures::new(self.graph.nodes(), self.columns, self.features.clone()).unwrap().into()
    }

    /// The same features, stored sparse.
    pub(crate) fn sparse(&self) -> Features {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for node in 0..self.graph.nodes() {
            let row = &self.features[node * self.columns..][..self.columns];
            for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                columns.push(column as u32);
                values.push(value);
            }
            offsets.push(values.len());
        }
        SparseFeatures::new(self.graph.nodes(), self.columns, offsets, columns, values).unwrap().into()
    }

    pub(crate) fn task<T: Real>(&self) -> Task<T> {
        let weights = self.node_weights.iter().map(|&w| T::of(w)).collect();
        Task::weighted(Arc::clone(&self.labels), weights).unwrap()
    }

    /// A model with the problem's edge weights.
    pub(crate) fn model<T: Real>(
        &self,
        features: &Features,
        config: &ModelConfig,
        threads: &Threads,
    ) -> Model<T> {
        let graph = Arc::clone(&self.graph);
        let mut model =
            Model::new(graph, Arc::new(features.clone()), OUTPUTS, config.clone(), 7, threads).unwrap();
        model.set_edge_weights(&real(&self.weights)).unwrap();
        model
    }
}

/// The nearest number on the grid of features.
fn grid(value: f64) -> f32 {
    ((value / GRID).round() * GRID) as f32
}

pub(crate) fn real<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| T::of(x)).collect()
}

/// Back to `f64`.
pub(crate) fn wide<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|&x| x.into()).collect()
}

pub(crate) fn one_thread() -> Threads {
    Threads::new(1).unwrap()
}

/// A backbone with few hidden units.
pub(crate) fn small_config(backbone: Backbone) -> ModelConfig {
    ModelConfig { hidden: 6, ..ModelConfig::new(backbone) }
}

/// Names and values, detached from the model.
pub(crate) fn owned<'a, T: Real>(
    parameters: impl Iterator<Item = Parameter<'a, T>>,
) -> Vec<(String, Vec<f64>)> {
    parameters.map(|p| (p.name.to_string(), wide(p.values))).collect()
}

/// Gives every parameter a random value, biases too: a unit that sums nothing must not sit on the kink of its ReLU.
pub(crate) fn randomise<T: Real>(model: &mut Model<T>, seed: u64) {
    let mut draws = Draws::new(seed);
    for (name, values) in owned(model.parameters()) {
        model.set_parameter(&name, &real(&draws.vector(values.len()))).unwrap();
    }
}

/// All logits of an evaluation, node after node.
pub(crate) fn logits<T: Real>(model: &mut Model<T>) -> Vec<T> {
    let nodes = model.graph().nodes();
    let evaluation = model.evaluate();
    (0..nodes).flat_map(|node| evaluation.logits(node).iter().copied()).collect()
}
