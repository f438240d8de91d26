//! Curricula over training nodes: easy ones first, harder ones at a pace. Edges stay as they are.
//!
//! A pre-trained model measures how hard each training node is, once; then a model starts anew and trains, in each epoch,
//! on as many of the easiest training nodes as the pace says. Nodes of equal difficulty keep their order in the split.
//!
//! **`clnode`** (Wei, Gong, Zhan, Du, Luo, Hu: CLNode: Curriculum Learning for Node Classification, WSDM 2023).
//! D(u) = D_local(u) + α · D_global(u). D_local is the entropy of the classes in the neighbourhood N(u) ∪ {u}; D_global =
//! 1 − exp(h_u · p_y) / max_c exp(h_u · p_c) for the class y of u and the mean representations p_c of the classes. Classes
//! are true ones at training nodes and pseudo-labels of the pre-trained model elsewhere. The share of nodes grows from λ₀
//! at epoch 0 to 1 at epoch T: λ₀ + (1 − λ₀) t/T, √(λ₀² + (1 − λ₀²) t/T), or λ₀^(1 − t/T).
//!
//! **`node-linear`**, **`node-root`** (Bengio, Louradour, Collobert, Weston: Curriculum Learning, ICML 2009, as the RCL
//! paper sets it up). Difficulty is the loss of the pre-trained model; the nodes in are t/T · |V| or √(t/T) · |V|, one at
//! least.

mod difficulty;
mod pace;

use std::sync::Arc;

use edgepace_graph::{Graph, Labels};
use edgepace_nn::{StructureId, Task};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::event::Listener;
use crate::method::{Method, Setting, Update};
use crate::session::Session;
use pace::{Growth, Pace};

/// Settings of `clnode`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ClnodeConfig {
    /// α, the weight of the difficulty by representations beside the one by labels; at least 0.
    alpha: f64,
    /// How the share of nodes grows.
    pace: Growth,
    /// λ₀, the share of training nodes at the start, in (0, 1].
    start_share: f64,
    /// T as a share of the epochs: from then on all nodes are in; in (0, 1].
    full_at: f64,
}

impl Default for ClnodeConfig {
    fn default() -> Self {
        Self { alpha: 1.0, pace: Growth::Geometric, start_share: 0.75, full_at: 0.25 }
    }
}

impl ClnodeConfig {
    fn check(&self) -> Result<(), TrainError> {
        if !(self.alpha >= 0.0 && self.alpha.is_finite()) {
            return refuse("alpha", self.alpha, "a finite number, at least 0");
        }
        if !(self.start_share > 0.0 && self.start_share <= 1.0) {
            return refuse("start_share", self.start_share, "in (0, 1]");
        }
        check_full_at(self.full_at)
    }
}

/// What can be set for `clnode`.
pub(super) const CLNODE_SETTINGS: &[Setting] = &[
    Setting {
        name: "alpha",
        meaning: "weight of the difficulty by representations beside the one by labels, at least 0",
        search: &["0.5", "1", "2"],
    },
    Setting {
        name: "pace",
        meaning: "how the share of nodes grows: linear, root or geometric",
        search: &["linear", "root", "geometric"],
    },
    Setting {
        name: "start_share",
        meaning: "share of the training nodes at the start, in (0, 1]",
        search: &["0.25", "0.5", "0.75"],
    },
    Setting {
        name: "full_at",
        meaning: "share of the epochs after which all training nodes are in, in (0, 1]",
        search: &["0.25", "0.5", "0.75", "1"],
    },
];

/// Settings of `node-linear` and `node-root`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NodeConfig {
    /// T as a share of the epochs, in (0, 1].
    full_at: f64,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self { full_at: 1.0 }
    }
}

/// What can be set for `node-linear` and `node-root`.
pub(super) const NODE_SETTINGS: &[Setting] = &[Setting {
    name: "full_at",
    meaning: "share of the epochs after which all training nodes are in, in (0, 1]",
    search: &["0.25", "0.5", "0.75", "1"],
}];

fn refuse<T>(field: &str, found: f64, expected: &str) -> Result<T, TrainError> {
    Err(TrainError::Config { field: field.into(), found: found.to_string(), expected: expected.into() })
}

fn check_full_at(full_at: f64) -> Result<(), TrainError> {
    if full_at > 0.0 && full_at <= 1.0 { Ok(()) } else { refuse("full_at", full_at, "in (0, 1]") }
}

pub(super) fn clnode_defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&ClnodeConfig::default())
}

pub(super) fn node_defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&NodeConfig::default())
}

pub(super) fn make_clnode(config: &RunConfig, _: u64) -> Result<Box<dyn Method>, TrainError> {
    let settings: ClnodeConfig = config.settings_over(&ClnodeConfig::default())?;
    settings.check()?;
    let ClnodeConfig { alpha, pace: growth, start_share, full_at } = settings;
    Ok(Box::new(Nodes::new(Measure::Clnode { alpha }, Pace { growth, start_share, full_at })))
}

pub(super) fn make_linear(config: &RunConfig, _: u64) -> Result<Box<dyn Method>, TrainError> {
    by_loss(config, Growth::Linear)
}

pub(super) fn make_root(config: &RunConfig, _: u64) -> Result<Box<dyn Method>, TrainError> {
    by_loss(config, Growth::Root)
}

fn by_loss(config: &RunConfig, growth: Growth) -> Result<Box<dyn Method>, TrainError> {
    let NodeConfig { full_at } = config.settings_over(&NodeConfig::default())?;
    check_full_at(full_at)?;
    Ok(Box::new(Nodes::new(Measure::Loss, Pace { growth, start_share: 0.0, full_at })))
}

/// What makes a node hard.
#[derive(Clone, Copy, Debug)]
enum Measure {
    Clnode { alpha: f64 },
    Loss,
}

/// What a pre-trained model makes of the graph.
struct Seen<'a> {
    graph: &'a Graph,
    known: &'a Labels,
    train: &'a [u32],
    /// Nodes × outputs.
    logits: &'a [f32],
    /// The most probable class of each node.
    predictions: &'a [u32],
    /// Nodes × units.
    embeddings: &'a [f32],
    units: usize,
}

struct Nodes {
    measure: Measure,
    pace: Pace,
    /// The training nodes, the easiest first; made at the start.
    order: Vec<u32>,
    /// How many of them are in.
    count: usize,
}

impl Nodes {
    fn new(measure: Measure, pace: Pace) -> Self {
        Self { measure, pace, order: Vec::new(), count: 0 }
    }
}

impl Method for Nodes {
    fn start(&mut self, session: &mut Session<'_>, listener: &mut dyn Listener) -> Result<(), TrainError> {
        let pretrained = session.warm_start(listener)?;
        session.model.set_parameter_values(&pretrained)?;
        let model = session.model.on(StructureId::FIRST);
        let evaluation = model.evaluate();
        let logits = evaluation.all_logits().into_owned();
        let predictions = evaluation.predictions().to_vec();
        let units = model.config().hidden;
        let seen = Seen {
            graph: &session.graph,
            known: &session.known,
            train: session.train,
            logits: &logits,
            predictions: &predictions,
            embeddings: model.embeddings(None),
            units,
        };
        let difficulty = match self.measure {
            Measure::Clnode { alpha } => difficulty::clnode(&seen, alpha),
            Measure::Loss => difficulty::loss(&seen),
        };
        self.order = easiest_first(session.train, &difficulty);
        session.restart()
    }

    fn before(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<Option<Update>, TrainError> {
        let count = self.pace.count(epoch, session.config.epochs, self.order.len());
        if count != self.count && !self.order.is_empty() {
            self.count = count;
            session.task = Task::new(Arc::clone(&session.known), &self.order[..count])?;
        }
        // The structure is the same in every epoch.
        Ok(None)
    }
}

/// The nodes by difficulty; of equal ones the earlier first.
fn easiest_first(nodes: &[u32], difficulty: &[f64]) -> Vec<u32> {
    let mut places: Vec<usize> = (0..nodes.len()).collect();
    places.sort_by(|&a, &b| difficulty[a].total_cmp(&difficulty[b]));
    places.into_iter().map(|place| nodes[place]).collect()
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Split};
    use edgepace_nn::Threads;

    use super::*;
    use crate::event::Silent;

    /// A ring of 12 nodes in two classes, 8 of them to train on.
    fn ring() -> (Dataset, Split) {
        let (a, b): (Vec<u32>, Vec<u32>) = (0..12).map(|node| (node, (node + 1) % 12)).unzip();
        let graph = Graph::undirected(12, &a, &b).unwrap();
        let values = (0..24).map(|i| ((i * 37) % 11) as f32 - 5.0).collect();
        let features = Features::from(DenseFeatures::new(12, 2, values).unwrap());
        let labels =
            Labels::from(Classes::new(2, (0..12).map(|node| u32::from(node > 5)).collect()).unwrap());
        let train = vec![0, 2, 3, 5, 6, 8, 9, 11];
        let split = Split::new("ring", 12, train, vec![1, 7], vec![4, 10]).unwrap();
        (Dataset::new("ring", graph, features, labels, vec![split.clone()]).unwrap(), split)
    }

    #[test]
    fn the_pace_selects_exactly_the_stated_number_of_nodes_the_easiest_first() {
        let (dataset, split) = ring();
        let config = RunConfig { epochs: 8, hidden: 4, method: "node-linear".into(), ..RunConfig::default() };
        let threads = Threads::new(1).unwrap();
        let mut session = Session::new(&dataset, &split, &config, 0, &threads).unwrap();
        let pace = Pace { growth: Growth::Linear, start_share: 0.0, full_at: 1.0 };
        let mut method = Nodes::new(Measure::Loss, pace);
        method.start(&mut session, &mut Silent).unwrap();
        assert_eq!(method.order.len(), 8);
        for (epoch, expected) in [1, 1, 2, 3, 4, 5, 6, 7].into_iter().enumerate() {
            method.before(epoch as u32, &mut session).unwrap();
            method.step(epoch as u32, &mut session).unwrap();
            // Only nodes of the task have a loss.
            let losses = session.model.node_losses();
            let trained: Vec<u32> = (0..12).filter(|&node| losses[node as usize] != 0.0).collect();
            let mut easiest = method.order[..expected].to_vec();
            easiest.sort_unstable();
            assert_eq!(trained, easiest, "epoch {epoch}");
        }
    }

    #[test]
    fn the_model_starts_anew_after_the_warm_start() {
        let (dataset, split) = ring();
        let config = RunConfig { epochs: 8, hidden: 4, method: "clnode".into(), ..RunConfig::default() };
        let threads = Threads::new(1).unwrap();
        let mut session = Session::new(&dataset, &split, &config, 0, &threads).unwrap();
        let fresh = session.model.parameter_values().to_vec();
        make_clnode(&config, 0).unwrap().start(&mut session, &mut Silent).unwrap();
        assert_eq!(session.model.parameter_values(), fresh);
    }

    #[test]
    fn nodes_are_ordered_by_difficulty_and_equals_keep_their_order() {
        assert_eq!(easiest_first(&[7, 3, 9, 1], &[0.5, 0.1, 0.5, 0.0]), [1, 3, 7, 9]);
    }
}
