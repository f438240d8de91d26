//! Curricula over training nodes: easy ones first, harder ones at a pace. Edges stay as they are.
//!
//! A pre-trained model measures how hard each training node is, once; then a model starts anew and trains, in each epoch,
//! on as many of the easiest training nodes as the pace says. Nodes of equal difficulty keep their order in the split.
//!
//! **`clnode`** (Wei, Gong, Zhan, Du, Luo, Hu: CLNode: Curriculum Learning for Node Classification, WSDM 2023).
//! D(u) = D_local(u) + α · D_global(u). D_local is the entropy of the classes in the neighbourhood N(u) ∪ {u}, where a neighbour
//! counts as much as its edge weighs, and u itself 1; D_global =
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

use edgepace_graph::{Labels, WeightedGraph};
use edgepace_nn::{StructureId, Task};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start, StructureChange, WarmStart};
use crate::material::Material;
use crate::network::{Method, Network, NetworkLearner};
use crate::setting::Setting;
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
pub(crate) const CLNODE_SETTINGS: &[Setting] = &[
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
pub(crate) const NODE_SETTINGS: &[Setting] = &[Setting {
    name: "full_at",
    meaning: "share of the epochs after which all training nodes are in, in (0, 1]",
    search: &["0.25", "0.5", "0.75", "1"],
}];

fn refuse<T>(field: &'static str, found: f64, expected: &'static str) -> Result<T, TrainError> {
    Err(TrainError::refused(field, found, expected))
}

fn check_full_at(full_at: f64) -> Result<(), TrainError> {
    if full_at > 0.0 && full_at <= 1.0 { Ok(()) } else { refuse("full_at", full_at, "in (0, 1]") }
}

pub(crate) fn clnode_defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&ClnodeConfig::default())
}

pub(crate) fn node_defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&NodeConfig::default())
}

/// `clnode` with the settings of a run.
pub(crate) fn clnode(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    let settings: ClnodeConfig = config.settings_over(&ClnodeConfig::default())?;
    settings.check()?;
    let table = to_table(&settings)?;
    let ClnodeConfig { alpha, pace: growth, start_share, full_at } = settings;
    let pace = Pace { growth, start_share, full_at };
    Ok(Arc::new(NodeCurriculum { settings: table, measure: Measure::Clnode { alpha }, pace }))
}

/// `node-linear` with the settings of a run.
pub(crate) fn linear(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    by_loss(config, Growth::Linear)
}

/// `node-root` with the settings of a run.
pub(crate) fn root(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    by_loss(config, Growth::Root)
}

fn by_loss(config: &RunConfig, growth: Growth) -> Result<Arc<dyn Recipe>, TrainError> {
    let settings: NodeConfig = config.settings_over(&NodeConfig::default())?;
    check_full_at(settings.full_at)?;
    let pace = Pace { growth, start_share: 0.0, full_at: settings.full_at };
    Ok(Arc::new(NodeCurriculum { settings: to_table(&settings)?, measure: Measure::Loss, pace }))
}

/// A curriculum over training nodes, whatever its name.
#[derive(Debug)]
struct NodeCurriculum {
    settings: Table,
    measure: Measure,
    pace: Pace,
}

impl Recipe for NodeCurriculum {
    fn settings(&self) -> Result<Table, TrainError> {
        Ok(self.settings.clone())
    }

    fn wants_warm_start(&self) -> Option<WarmStart> {
        Some(WarmStart::Plain)
    }

    /// The embeddings that nodes are ordered by.
    fn extra_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        material.footprint(config).embeddings()
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        let warm_start = &start.warm_start()?.parameters;
        NetworkLearner::boxed(start, |network| Nodes::new(self.measure, self.pace, warm_start, network))
    }
}

/// What makes a node hard.
#[derive(Clone, Copy, Debug)]
enum Measure {
    Clnode { alpha: f64 },
    Loss,
}

/// What a pre-trained model makes of the graph.
struct Seen<'a> {
    graph: &'a WeightedGraph,
    /// Of training and validation nodes.
    labels: &'a Labels,
    train: &'a [u32],
    /// Nodes × outputs.
    logits: &'a [f32],
    /// The most probable class of each node.
    predictions: &'a [u32],
    /// Nodes × units.
    embeddings: &'a [f32],
    units: usize,
}

/// The order follows from the warm start, and how many nodes are in from the epoch: there is nothing to save.
struct Nodes {
    pace: Pace,
    /// The training nodes, the easiest first.
    order: Vec<u32>,
    /// How many of them are in.
    count: usize,
}

impl Nodes {
    fn new(
        measure: Measure,
        pace: Pace,
        warm_start: &[f32],
        network: &mut Network,
    ) -> Result<Self, TrainError> {
        network.model.set_parameter_values(warm_start)?;
        let model = network.model.on(StructureId::FIRST);
        let evaluation = model.evaluate();
        let logits = evaluation.all_logits().into_owned();
        let predictions = evaluation.predictions().to_vec();
        let units = model.config().hidden;
        let seen = Seen {
            graph: &network.weighted,
            labels: &network.labels,
            train: &network.train,
            logits: &logits,
            predictions: &predictions,
            embeddings: model.embeddings(None),
            units,
        };
        let difficulty = match measure {
            Measure::Clnode { alpha } => difficulty::clnode(&seen, alpha),
            Measure::Loss => difficulty::loss(&seen),
        };
        let order = easiest_first(&network.train, &difficulty);
        network.restart()?;
        Ok(Self { pace, order, count: 0 })
    }
}

impl Method for Nodes {
    fn before(&mut self, epoch: u32, network: &mut Network) -> Result<Option<StructureChange>, TrainError> {
        let count = self.pace.count(epoch, network.epochs, self.order.len());
        if count != self.count && !self.order.is_empty() {
            self.count = count;
            network.task = Task::new(Arc::clone(&network.labels), &self.order[..count])?;
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
    use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Split};
    use edgepace_nn::Threads;

    use super::*;

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

    fn network() -> Network {
        let (dataset, split) = ring();
        let (material, _) = Material::new(&dataset, &split).unwrap();
        let config = RunConfig { epochs: 8, hidden: Some(4), ..RunConfig::default() };
        let threads = Threads::new(1).unwrap();
        let (material, config, threads) = (&material, &config, &threads);
        Network::new(&Start { material, config, seed: 0, threads, warm_start: None }).unwrap()
    }

    #[test]
    fn the_pace_selects_exactly_the_stated_number_of_nodes_the_easiest_first() {
        let mut network = network();
        let warm_start = network.model.parameter_values().to_vec();
        let pace = Pace { growth: Growth::Linear, start_share: 0.0, full_at: 1.0 };
        let mut method = Nodes::new(Measure::Loss, pace, &warm_start, &mut network).unwrap();
        assert_eq!(method.order.len(), 8);
        for (epoch, expected) in [1, 1, 2, 3, 4, 5, 6, 7].into_iter().enumerate() {
            method.before(epoch as u32, &mut network).unwrap();
            method.step(epoch as u32, &mut network).unwrap();
            // Only nodes of the task have a loss.
            let losses = network.model.node_losses();
            let trained: Vec<u32> = (0..12).filter(|&node| losses[node as usize] != 0.0).collect();
            let mut easiest = method.order[..expected].to_vec();
            easiest.sort_unstable();
            assert_eq!(trained, easiest, "epoch {epoch}");
        }
    }

    #[test]
    fn the_model_starts_anew_after_the_warm_start() {
        let mut network = network();
        let fresh = network.model.parameter_values().to_vec();
        let warm_start = vec![0.5; fresh.len()];
        let pace = Pace { growth: Growth::Geometric, start_share: 0.5, full_at: 1.0 };
        Nodes::new(Measure::Clnode { alpha: 1.0 }, pace, &warm_start, &mut network).unwrap();
        assert_eq!(network.model.parameter_values(), fresh);
    }

    #[test]
    fn nodes_are_ordered_by_difficulty_and_equals_keep_their_order() {
        assert_eq!(easiest_first(&[7, 3, 9, 1], &[0.5, 0.1, 0.5, 0.0]), [1, 3, 7, 9]);
    }
}
