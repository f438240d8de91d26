//! Belief propagation on an edge-free model: no network of its own. What the features say of each node is told along the
//! edges, by how often two classes are linked.
//!
//! With the edge-free model's log-probabilities, the unaries are u_i = ln p_i / T, T being the temperature that validation asks
//! for (1 without validation nodes); a training node has its label and nothing else. Neighbours exchange messages
//! m_ij ← ½·m_ij + ½·s·ln(q_i Ψ) with q_i ∝ exp(u_i + Σ_{k≠j} m_ki) in a fixed number of sweeps; the belief of a node is
//! exp(u_i + Σ_k m_ki), normalised. The compatibility Ψ is estimated from the graph (`compatibility.rs`), first with what the
//! features say and then, after each fifth of the sweeps, with what is believed. The strength s is chosen on validation by
//! log-loss: it is 1 where messages are independent of each other, and less where loops tell the same thing twice.
//!
//! An edge that weighs w says ln(w·(q_i Ψ) + 1 − w): with probability w it is a real one. Weight 0 is no edge, and what is
//! above 1 counts as 1. Messages go both ways along every edge, whatever its direction, and once along two that are opposite.
//!
//! Pearl: Probabilistic Reasoning in Intelligent Systems, 1988. Yedidia, Freeman, Weiss: Understanding Belief Propagation and
//! its Generalizations, 2003. Gatterbauer, Günnemann, Koutra, Faloutsos: Linearized and Single-Pass Belief Propagation, VLDB
//! 2015. Jia, Benson: A Unifying Generative Model for Graph Learning Algorithms, 2021.

mod compatibility;

use std::sync::Arc;

use edgepace_graph::bytes::{array, graph as graph_bytes, total};
use edgepace_graph::{Classes, Graph, Labels, WeightedGraph};
use edgepace_nn::{Beliefs, Logits, Metric, Threads, softmax};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::candidates::{Candidate, Candidates};
use crate::config::{RunConfig, to_table};
use crate::error::{TrainError, check_finite};
use crate::learner::{Epoch, Evaluated, Learner, Recipe, Start, WarmStart};
use crate::material::Material;
use crate::scoring::{comparable, temperature};
use crate::setting::Setting;
use crate::snapshot::{EdgeReport, SavedBeliefs, SavedStructure, Snapshot};
use crate::state::State;

use compatibility::{compatibility, indifferent};

/// Settings of `belief`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct BeliefConfig {
    /// How much of what an edge says counts, in [0, 1]; unset: chosen on validation.
    strength: Option<f64>,
    /// How often every message is sent.
    sweeps: u32,
}

impl Default for BeliefConfig {
    fn default() -> Self {
        Self { strength: None, sweeps: 15 }
    }
}

/// What can be set.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::fixed(
        "strength",
        "how much of what an edge says counts, in [0, 1]; unset: the best of 0.5 and 1 by log-loss on validation",
    ),
    Setting::fixed("sweeps", "how often every message is sent, at least 1"),
];

/// The strengths that are chosen among.
const STRENGTHS: [(&str, f64); 2] = [("strength 0.5", 0.5), ("strength 1", 1.0)];

/// The place in [`STRENGTHS`] of the one that is taken where there is nothing to choose by: the careful one.
const USUAL: usize = 0;

/// How much of a message is new in each sweep; less than all of it, because messages in loops can swing.
const FRESH: f64 = 0.5;

/// How often the compatibility is estimated, the first time with what the features say.
const ESTIMATES: u32 = 5;

/// Numbers of each edge while edges are reported: its ratio, and the report of three.
const REPORTED: usize = 4;

/// The least logarithm of a probability that is kept.
pub(crate) const FLOOR: f32 = -69.0;

pub(crate) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&BeliefConfig::default())
}

/// Every strength, unless one is set.
pub(crate) fn candidates(config: &RunConfig) -> Option<Candidates> {
    if config.settings.contains_key("strength") {
        return None;
    }
    let candidate = |(label, strength)| {
        let mut config = config.clone();
        config.settings.insert("strength".into(), Value::Float(strength));
        Candidate { label, config }
    };
    Some(Candidates { list: STRENGTHS.into_iter().map(candidate).collect(), alone: USUAL })
}

/// The method with the settings of a run.
pub(crate) fn recipe(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    Ok(Arc::new(Belief::of(config)?))
}

#[derive(Debug)]
struct Belief {
    strength: f64,
    sweeps: u32,
}

impl Belief {
    fn of(config: &RunConfig) -> Result<Self, TrainError> {
        let BeliefConfig { strength, sweeps } = config.settings_over(&BeliefConfig::default())?;
        let strength = strength.unwrap_or(STRENGTHS[USUAL].1);
        if !(0.0..=1.0).contains(&strength) {
            return Err(TrainError::refused("strength", strength, "in [0, 1]"));
        }
        if sweeps == 0 {
            return Err(TrainError::refused("sweeps", sweeps, "at least 1"));
        }
        Ok(Self { strength, sweeps })
    }
}

impl Recipe for Belief {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(&BeliefConfig { strength: Some(self.strength), sweeps: self.sweeps })
    }

    fn wants_warm_start(&self) -> Option<WarmStart> {
        Some(WarmStart::EdgeFree)
    }

    fn epochs(&self) -> Option<u32> {
        Some(self.sweeps)
    }

    fn chosen_by(&self) -> Option<Metric> {
        Some(Metric::LogLoss)
    }

    fn is_network(&self) -> bool {
        false
    }

    fn check_material(&self, material: &Material) -> Result<(), TrainError> {
        check_labels(material, "method belief", "train a network, as with method vanilla")
    }

    /// Unaries, sums, and two messages per edge; a ratio and a report of each edge at the end; the graph with both directions
    /// where that is another one.
    fn extra_bytes(&self, material: &Material, _config: &RunConfig) -> u64 {
        bytes(material)
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        let &Start { material, config, threads, .. } = start;
        let metric = config.metric.unwrap_or(Metric::Accuracy);
        let logits = &start.warm_start()?.logits;
        Ok(Box::new(Propagation::new(self, (material, metric), logits, threads)?))
    }
}

/// Refuses what `reader` cannot tell along edges, and says what to use `instead`.
pub(crate) fn check_labels(material: &Material, reader: &str, instead: &str) -> Result<(), TrainError> {
    match **material.labels() {
        Labels::Classes(_) => Ok(()),
        Labels::Many(_) => {
            let expected = format!("one class per node for {reader}: {instead}");
            Err(TrainError::refused("labels", "many per node", expected))
        }
    }
}

/// Unaries, sums, and two messages per edge; a ratio and a report of each edge at the end; the graph with both directions
/// where that is another one.
pub(crate) fn bytes(material: &Material) -> u64 {
    total([message_bytes(material), array::<f32>(&[REPORTED, material.graph().edges()])])
}

/// The same without what is reported of edges.
pub(crate) fn message_bytes(material: &Material) -> u64 {
    let graph = material.graph();
    let (nodes, classes) = (graph.nodes(), material.labels().width());
    let (edges, own) = if graph.twins().is_some() {
        (graph.edges(), 0)
    } else {
        let edges = 2 * graph.edges();
        (edges, graph_bytes(nodes, edges, true))
    };
    total([own, array::<f32>(&[2, nodes, classes]), array::<f32>(&[2, edges, classes])])
}

/// For each edge of a material how much likelier its ends are linked than two nodes at random, as messages tell that begin with
/// what an edge-free model says of each node.
///
/// # Errors
/// Nodes of many labels, or logits of another graph.
pub(crate) fn likelihood_ratios(
    material: &Arc<Material>,
    logits: &[f32],
    threads: &Threads,
) -> Result<Vec<f32>, TrainError> {
    let recipe = Belief { strength: 1.0, sweeps: BeliefConfig::default().sweeps };
    let mut propagation = Propagation::new(&recipe, (material, Metric::Accuracy), logits, threads)?;
    for sweep in 0..recipe.sweeps {
        propagation.sweep(sweep);
    }
    Ok(propagation.ratios(|ratio| ratio))
}

/// What messages at the usual strength say of each node, nodes × classes: the logarithms of their probabilities, beginning with
/// what an edge-free model says.
///
/// # Errors
/// Nodes of many labels, or logits of another graph.
pub(crate) fn log_probabilities(
    material: &Arc<Material>,
    logits: &[f32],
    threads: &Threads,
) -> Result<Vec<f32>, TrainError> {
    let recipe = Belief { strength: STRENGTHS[USUAL].1, sweeps: BeliefConfig::default().sweeps };
    let mut propagation = Propagation::new(&recipe, (material, Metric::Accuracy), logits, threads)?;
    for sweep in 0..recipe.sweeps {
        propagation.sweep(sweep);
    }
    let mut said = Vec::new();
    propagation.beliefs.log_probabilities(threads, FLOOR, &mut said);
    Ok(said)
}

/// What messages with the settings of a training say of nodes none of whose classes is known, nodes × classes: the logarithms of
/// their probabilities. `logits` are those of the edge-free model. The compatibility stays what the training made of it.
///
/// # Errors
/// Settings out of range; logits or a compatibility of another size.
pub(crate) fn log_probabilities_of_new(
    config: &RunConfig,
    saved: &SavedBeliefs,
    (graph, logits): (&WeightedGraph, &[f32]),
    threads: &Threads,
) -> Result<Vec<f32>, TrainError> {
    let Belief { strength, sweeps } = Belief::of(config)?;
    let SavedBeliefs { temperature, compatibility } = saved;
    let classes = compatibility.len().isqrt();
    let unaries = unaries(classes, logits, *temperature);
    let mut beliefs = Beliefs::new(&graph.undirected(threads)?, classes, unaries)?;
    for _ in 0..sweeps {
        beliefs.sweep(threads, compatibility, strength, FRESH);
    }
    let mut said = Vec::new();
    beliefs.log_probabilities(threads, FLOOR, &mut said);
    Ok(said)
}

/// What the features say of each node, nodes × classes.
fn unaries(classes: usize, logits: &[f32], temperature: f64) -> Vec<f32> {
    let mut scaled = Vec::with_capacity(classes);
    let mut unaries = Vec::with_capacity(logits.len());
    for row in logits.chunks_exact(classes.max(1)) {
        scaled.clear();
        scaled.extend(row.iter().map(|&logit| f64::from(logit) / temperature));
        unaries.extend(softmax(&scaled).map(|p| (libm::log(p) as f32).max(FLOOR)));
    }
    unaries
}

/// Makes the classes of training nodes all that is known of them.
fn clamp(unaries: &mut [f32], classes: &Classes, train: &[u32]) {
    let width = classes.width();
    for &node in train {
        let row = &mut unaries[node as usize * width..][..width];
        row.fill(Beliefs::<f32>::IMPOSSIBLE as f32);
        row[classes.of()[node as usize] as usize] = 0.0;
    }
}

/// Messages under way. An epoch is a sweep.
struct Propagation {
    material: Arc<Material>,
    threads: Threads,
    metric: Metric,
    strength: f64,
    sweeps: u32,
    beliefs: Beliefs<f32>,
    /// What the logits of the edge-free model were divided by.
    temperature: f64,
    compatibility: Vec<f32>,
}

impl Propagation {
    fn new(
        recipe: &Belief,
        (material, metric): (&Arc<Material>, Metric),
        logits: &[f32],
        threads: &Threads,
    ) -> Result<Self, TrainError> {
        let Labels::Classes(classes) = &**material.labels() else {
            return Err(TrainError::refused("labels", "many per node", "one class per node"));
        };
        let temperature = temperature(material, logits).unwrap_or(1.0);
        let mut unaries = unaries(classes.width(), logits, temperature);
        clamp(&mut unaries, classes, material.split().train());
        let graph = material.weighted_graph().undirected(threads)?;
        let beliefs = Beliefs::new(&graph, classes.width(), unaries)?;
        let first = indifferent(classes.width());
        let compatibility = compatibility(&beliefs.expected_edges(threads, &first), classes.width());
        let (material, threads) = (Arc::clone(material), threads.clone());
        let &Belief { strength, sweeps } = recipe;
        Ok(Self { material, threads, metric, strength, sweeps, beliefs, temperature, compatibility })
    }

    fn sweep(&mut self, sweep: u32) {
        if self.estimates_before(sweep) {
            let counts = self.beliefs.expected_edges(&self.threads, &self.compatibility);
            self.compatibility = compatibility(&counts, self.material.labels().width());
        }
        self.beliefs.sweep(&self.threads, &self.compatibility, self.strength, FRESH);
    }

    /// What `of` makes of the likelihood ratio of each edge.
    fn ratios(&self, of: impl Fn(f32) -> f32) -> Vec<f32> {
        let ratios = self.beliefs.likelihood_ratios(&self.threads, &self.compatibility);
        of_edges(self.material.graph(), self.beliefs.graph(), &ratios, of)
    }

    /// Whether the compatibility is estimated anew before a sweep.
    fn estimates_before(&self, sweep: u32) -> bool {
        (1..ESTIMATES).any(|estimate| sweep > 0 && sweep == self.sweeps * estimate / ESTIMATES)
    }
}

impl Learner for Propagation {
    /// The loss is the mean change of a message: how far the sweeps are from where they lead.
    fn epoch(&mut self, epoch: u32) -> Result<Epoch, TrainError> {
        self.sweep(epoch);
        let labels = self.material.labels();
        let rows = Logits::new(self.beliefs.logits(), labels.width());
        let score = self.metric.score(labels, self.material.split().validation(), rows);
        let validation = score.map(|score| comparable(self.metric, score));
        Ok(Epoch {
            loss: self.beliefs.moved(&self.threads),
            change: None,
            edges: self.material.graph().edges(),
            evaluations: vec![Evaluated { epoch, number: 0, on: "full", validation, criterion: validation }],
        })
    }

    fn snapshot(&mut self, evaluation: &Evaluated, into: &mut Snapshot) -> Result<(), TrainError> {
        check_finite(
            self.beliefs.logits(),
            "the beliefs are",
            evaluation.epoch,
            "`lr` of the edge-free model",
        )?;
        self.beliefs.log_probabilities(&self.threads, FLOOR, &mut into.logits);
        into.parameters.clear();
        into.structure = SavedStructure::default();
        let (temperature, compatibility) = (self.temperature, self.compatibility.clone());
        into.beliefs = Some(SavedBeliefs { temperature, compatibility });
        Ok(())
    }

    /// With r the likelihood ratio of an edge, its difficulty is 1/(1 + r): the probability that it is one at random, if every
    /// other edge were.
    fn edges(&self) -> Option<EdgeReport> {
        let difficulty = self.ratios(|r| 1.0 / (1.0 + r));
        let edges = difficulty.len();
        Some(EdgeReport { difficulty, first_epoch: vec![0; edges], weight: vec![1.0; edges] })
    }

    fn save(&self) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_floats("messages", self.beliefs.messages());
        state.put_floats("compatibility", &self.compatibility);
        Ok(state)
    }

    fn restore(&mut self, state: &State) -> Result<(), TrainError> {
        let messages = state.floats("messages", self.beliefs.messages().len())?;
        self.beliefs.set_messages(&self.threads, messages)?;
        self.compatibility = state.floats("compatibility", self.compatibility.len())?.to_vec();
        Ok(())
    }
}

/// For each edge of `graph` what `of` makes of the value of the same edge of `both`, which may have more.
fn of_edges(graph: &Graph, both: &Arc<Graph>, values: &[f32], of: impl Fn(f32) -> f32) -> Vec<f32> {
    if graph.edges() == both.edges() {
        return values.iter().map(|&value| of(value)).collect();
    }
    let ends = graph.sources().iter().zip(graph.targets());
    let value = |(&source, target)| both.edge_id(source, target).map_or(1.0, |edge| values[edge as usize]);
    ends.map(|ends| of(value(ends))).collect()
}
