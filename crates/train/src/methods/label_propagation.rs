//! Label propagation: no network and no features. The labels of the training nodes spread along the edges.
//!
//! With A the weights of the edges, both ways, d_i = Σ_j A_ij and S_ij = A_ij / √(d_i d_j), Y has a row for each node: 1 for the
//! class of a training node, 0 else. In each round F ← a·S·F + Y, beginning with F = Y; a is the `reach`. What a node has heard
//! is h_i = √max(d_i, 1)·(F − Y)_i: the labels around it, which count for less the farther away they are. Its answer is
//! p_i(c) = (h_i(c) + b·π_c) / (Σ_c h_i(c) + b), where π are the shares of the classes among the training nodes and b = 0.3: who
//! has heard little says what is common. F − Y is what is kept, which loses no digits beside the ones of Y.
//!
//! The number of rounds is that of least log-loss on validation. Weight 0 is no edge. Edges lead both ways, whatever their
//! direction; of two that are opposite and differ the heavier counts.
//!
//! Zhou, Bousquet, Lal, Weston, Schölkopf: Learning with Local and Global Consistency, NIPS 2003.

use std::ops::Range;
use std::sync::Arc;

use edgepace_graph::bytes::{array, graph as graph_bytes, total};
use edgepace_graph::{Classes, Labels, UNLABELLED, WeightedGraph};
use edgepace_nn::{Logits, Metric, Threads};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::{Epoch, Evaluated, Learner, Recipe, Start};
use crate::material::Material;
use crate::methods::belief::{FLOOR, check_labels};
use crate::scoring::comparable;
use crate::setting::Setting;
use crate::snapshot::{SavedStructure, Snapshot};
use crate::state::State;

/// Settings of `label-propagation`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LabelPropagationConfig {
    /// How much of what a node has heard it tells its neighbours, in [0, 1).
    reach: f64,
    /// Rounds at most.
    rounds: u32,
}

impl Default for LabelPropagationConfig {
    fn default() -> Self {
        Self { reach: 0.9, rounds: 15 }
    }
}

/// What can be set.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::fixed("reach", "how much of what a node has heard it tells its neighbours, in [0, 1)"),
    Setting::fixed(
        "rounds",
        "how often all nodes tell their neighbours, at least 1; the number of least log-loss on validation counts",
    ),
];

/// How much the shares of the classes count beside a label that is one edge away.
const PRIOR: f64 = 0.3;

/// Nodes that one thread has at a time.
const ROWS: usize = 1024;

pub(crate) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&LabelPropagationConfig::default())
}

/// The method with the settings of a run.
pub(crate) fn recipe(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    let LabelPropagationConfig { reach, rounds } = config.settings_over(&LabelPropagationConfig::default())?;
    if !(0.0..1.0).contains(&reach) {
        return Err(TrainError::refused("reach", reach, "in [0, 1)"));
    }
    if rounds == 0 {
        return Err(TrainError::refused("rounds", rounds, "at least 1"));
    }
    Ok(Arc::new(LabelPropagation { reach, rounds }))
}

#[derive(Debug)]
struct LabelPropagation {
    reach: f64,
    rounds: u32,
}

impl Recipe for LabelPropagation {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(&LabelPropagationConfig { reach: self.reach, rounds: self.rounds })
    }

    fn epochs(&self) -> Option<u32> {
        Some(self.rounds)
    }

    fn last_epoch_counts(&self) -> bool {
        false
    }

    fn chosen_by(&self) -> Option<Metric> {
        Some(Metric::LogLoss)
    }

    fn is_network(&self) -> bool {
        false
    }

    fn check_material(&self, material: &Material) -> Result<(), TrainError> {
        check_labels(material, "method label-propagation", "train a network, as with method vanilla")
    }

    /// What was heard, now and a round ago, and the answers; a class and two numbers of each node; the graph with both directions
    /// where that is another one.
    fn extra_bytes(&self, material: &Material, _config: &RunConfig) -> u64 {
        let graph = material.graph();
        let (nodes, classes) = (graph.nodes(), material.labels().width());
        let own = if graph.twins().is_some() { 0 } else { graph_bytes(nodes, 2 * graph.edges(), true) };
        let rows = array::<f32>(&[3, nodes, classes]);
        total([own, rows, array::<u32>(&[nodes]), array::<f64>(&[2, nodes])])
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        let &Start { material, config, threads, .. } = start;
        let Labels::Classes(classes) = &**material.labels() else {
            return Err(TrainError::refused("labels", "many per node", "one class per node"));
        };
        let graph = material.weighted_graph().undirected(threads)?;
        let told = Told::new(graph, classes, material.split().train(), threads);
        let numbers = told.graph.graph().nodes() * told.classes;
        Ok(Box::new(Propagation {
            material: Arc::clone(material),
            threads: threads.clone(),
            metric: config.metric.unwrap_or(Metric::Accuracy),
            reach: self.reach,
            told,
            heard: vec![0.0; numbers],
            before: vec![0.0; numbers],
            logits: Vec::new(),
        }))
    }
}

/// What does not change from round to round.
struct Told {
    /// With both directions of every edge.
    graph: WeightedGraph,
    classes: usize,
    /// The class of each training node, `UNLABELLED` for all others.
    labels: Vec<u32>,
    /// Of the classes among the training nodes.
    shares: Vec<f64>,
    /// √max(d, 1) of each node.
    roots: Vec<f64>,
    /// 1/√d of each node, 0 where d is 0.
    inverse_roots: Vec<f64>,
}

impl Told {
    fn new(graph: WeightedGraph, classes: &Classes, train: &[u32], threads: &Threads) -> Self {
        let mut labels = vec![UNLABELLED; graph.graph().nodes()];
        let mut counts = vec![0_usize; classes.width()];
        for &node in train {
            let class = classes.of()[node as usize];
            labels[node as usize] = class;
            if let Some(count) = counts.get_mut(class as usize) {
                *count += 1;
            }
        }
        let labelled: usize = counts.iter().sum();
        let share = |&count: &usize| match labelled {
            0 => 1.0 / counts.len() as f64,
            _ => count as f64 / labelled as f64,
        };
        let shares = counts.iter().map(share).collect();
        let mut roots = vec![0.0; labels.len()];
        threads.rows(&mut roots, 1, ROWS, |first, roots| {
            for (node, root) in (first..).zip(roots) {
                let edges = graph.graph().in_edges(node);
                *root = edges.map(|edge| weight(&graph, edge)).sum::<f64>().sqrt();
            }
        });
        let inverse_roots = roots.iter().map(|&root| if root > 0.0 { 1.0 / root } else { 0.0 }).collect();
        for root in &mut roots {
            *root = root.max(1.0);
        }
        Self { graph, classes: classes.width(), labels, shares, roots, inverse_roots }
    }

    /// `heard` = a·S·(`before` + Y): what was heard before, and the labels.
    fn round(&self, threads: &Threads, reach: f64, before: &[f32], heard: &mut [f32]) {
        let (graph, classes) = (self.graph.graph(), self.classes);
        threads.rows(heard, classes, ROWS, |first, rows| {
            let mut sums = vec![0.0_f64; classes];
            for (node, row) in (first..).zip(rows.chunks_exact_mut(classes)) {
                sums.fill(0.0);
                for edge in graph.in_edges(node) {
                    let source = graph.sources()[edge] as usize;
                    let by = weight(&self.graph, edge) * self.inverse_roots[source];
                    let said = &before[source * classes..][..classes];
                    sums.iter_mut().zip(said).for_each(|(sum, &said)| *sum += by * f64::from(said));
                    if let Some(sum) = sums.get_mut(self.labels[source] as usize) {
                        *sum += by;
                    }
                }
                let by = reach * self.inverse_roots[node];
                row.iter_mut().zip(&sums).for_each(|(heard, sum)| *heard = (by * sum) as f32);
            }
        });
    }

    /// The logarithms of the probabilities that follow from what was heard, nodes × classes.
    fn answer(&self, threads: &Threads, heard: &[f32], logits: &mut Vec<f32>) {
        let classes = self.classes;
        logits.resize(heard.len(), 0.0);
        threads.rows(logits, classes, ROWS, |first, rows| {
            let heard = heard[first * classes..].chunks_exact(classes);
            for ((row, heard), root) in rows.chunks_exact_mut(classes).zip(heard).zip(&self.roots[first..]) {
                let labels = |heard: f32| root * f64::from(heard);
                let all = heard.iter().map(|&heard| labels(heard)).sum::<f64>() + PRIOR;
                for ((logit, &heard), share) in row.iter_mut().zip(heard).zip(&self.shares) {
                    // A class without training nodes may have probability 0.
                    let p = (labels(heard) + PRIOR * share) / all;
                    *logit = (libm::log(p) as f32).max(FLOOR);
                }
            }
        });
    }
}

fn weight(graph: &WeightedGraph, edge: usize) -> f64 {
    graph.weights().map_or(1.0, |weights| f64::from(weights[edge]))
}

/// Labels under way. An epoch is a round.
struct Propagation {
    material: Arc<Material>,
    threads: Threads,
    metric: Metric,
    reach: f64,
    told: Told,
    /// F − Y, nodes × classes.
    heard: Vec<f32>,
    /// The same a round ago.
    before: Vec<f32>,
    logits: Vec<f32>,
}

impl Propagation {
    /// The mean change of a number of what was heard in the latest round.
    fn moved(&self) -> f64 {
        let of_piece = |piece: Range<usize>| -> f64 {
            let pairs = self.heard[piece.clone()].iter().zip(&self.before[piece]);
            pairs.map(|(&new, &old)| (f64::from(new) - f64::from(old)).abs()).sum()
        };
        let block = ROWS * self.told.classes;
        let sum: f64 = self.threads.map_pieces(self.heard.len(), block, of_piece).into_iter().sum();
        sum / self.heard.len().max(1) as f64
    }

    fn validation(&self, metric: Metric) -> Option<f64> {
        let (labels, nodes) = (self.material.labels(), self.material.split().validation());
        let score = metric.score(labels, nodes, Logits::new(&self.logits, labels.width()));
        score.map(|score| comparable(metric, score))
    }
}

impl Learner for Propagation {
    /// The loss is the mean change of what was heard: how far the rounds are from where they lead.
    fn epoch(&mut self, epoch: u32) -> Result<Epoch, TrainError> {
        std::mem::swap(&mut self.heard, &mut self.before);
        self.told.round(&self.threads, self.reach, &self.before, &mut self.heard);
        self.told.answer(&self.threads, &self.heard, &mut self.logits);
        let (validation, criterion) = (self.validation(self.metric), self.validation(Metric::LogLoss));
        Ok(Epoch {
            loss: self.moved(),
            change: None,
            edges: self.material.graph().edges(),
            evaluations: vec![Evaluated { epoch, number: 0, on: "full", validation, criterion }],
        })
    }

    fn snapshot(&mut self, _evaluation: &Evaluated, into: &mut Snapshot) -> Result<(), TrainError> {
        into.logits.clone_from(&self.logits);
        into.parameters.clear();
        into.structure = SavedStructure::default();
        Ok(())
    }

    fn save(&self) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_floats("heard", &self.heard);
        Ok(state)
    }

    fn restore(&mut self, state: &State) -> Result<(), TrainError> {
        self.heard = state.floats("heard", self.heard.len())?.to_vec();
        Ok(())
    }
}
