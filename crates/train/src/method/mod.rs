//! The methods: what decides which edges and nodes a model learns from.

mod edge_scores;
mod gnn_svd;
mod neural_sparse;
mod nodes;
mod pro_gnn;
mod prune;
mod ptdnet;
mod rcl;
mod vanilla;

use std::sync::Arc;

use edgepace_graph::{Dataset, Features, Graph};
use edgepace_nn::{Backbone, Layers, StructureId};
use serde::Serialize;
use toml::{Table, Value};

use crate::choose::Candidates;
use crate::config::{RunConfig, literal, to_table};
use crate::error::TrainError;
use crate::event::Listener;
use crate::memory::available_bytes;
use crate::prepare::Preparation;
use crate::session::Session;

pub(crate) use vanilla::Vanilla;

use rcl::AUTO;

/// A structure to evaluate on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluatedOn {
    /// Which of the model's structures, in each of its layers.
    pub structure: Layers,
    /// Its name in results, as `full` or `weighted`.
    pub name: &'static str,
}

/// A structure as it was when the model was evaluated on it: what a saved model needs to answer the same again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// A graph of the method's own; none: the dataset's.
    pub graph: Option<Arc<Graph>>,
    /// The weights of its edges; none: 1 everywhere.
    pub weights: Option<Arc<[f32]>>,
    /// The weights in the second layer, where they are others than in the first.
    pub second: Option<Arc<[f32]>>,
    /// A weight for every pair of nodes, nodes × nodes, in place of a graph. The loop fills it in.
    pub matrix: Option<Vec<f32>>,
}

impl Kept {
    /// The same with its matrix, if it has one, as a graph of the pairs that have a weight.
    ///
    /// # Errors
    /// More pairs than a graph can number.
    pub fn as_edges(&self, nodes: usize) -> Result<Kept, TrainError> {
        let Some(matrix) = &self.matrix else { return Ok(self.clone()) };
        let entries = || matrix.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        let sources: Vec<u32> = entries().map(|(at, _)| (at % nodes) as u32).collect();
        let targets: Vec<u32> = entries().map(|(at, _)| (at / nodes) as u32).collect();
        // Entries come by target and then by source: the order of edge ids.
        let graph = Graph::from_edges(nodes, &sources, &targets)?;
        let weights = entries().map(|(_, &weight)| weight).collect();
        Ok(Kept { graph: Some(Arc::new(graph)), weights: Some(weights), ..Kept::default() })
    }
}

/// Something that proposes a structure (and node weights) for the next epoch and learns from how training goes.
///
/// The loop calls `start` once, then for each epoch `before`, `step`, `after`, and evaluates on what `evaluated_on` names.
pub trait Method: Send {
    /// Makes what it needs before the first epoch.
    ///
    /// # Errors
    /// What it needs cannot be made.
    fn start(&mut self, _session: &mut Session<'_>, _listener: &mut dyn Listener) -> Result<(), TrainError> {
        Ok(())
    }

    /// Sets structure and weights for the training step of `epoch`. Returns whether something changed.
    ///
    /// # Errors
    /// The model refuses them.
    fn before(&mut self, _epoch: u32, _session: &mut Session<'_>) -> Result<Option<Update>, TrainError> {
        Ok(None)
    }

    /// The training step; returns the loss.
    ///
    /// # Errors
    /// The model refuses.
    fn step(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<f64, TrainError> {
        session.step(StructureId::FIRST, epoch)
    }

    /// Sets the structures that are evaluated, now that the step is done.
    ///
    /// # Errors
    /// The model refuses them.
    fn after(&mut self, _epoch: u32, _session: &mut Session<'_>) -> Result<(), TrainError> {
        Ok(())
    }

    /// The structures to evaluate on; the best on validation counts, the first one among equals.
    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        vec![EvaluatedOn { structure: StructureId::FIRST.into(), name: "full" }]
    }

    /// One of them as it is now. Asked for when it was the best so far.
    fn kept(&self, _on: EvaluatedOn) -> Kept {
        Kept::default()
    }

    /// Directed edges in the training structure.
    fn edges_in(&self, session: &Session<'_>) -> usize {
        session.graph.edges()
    }

    /// What it knows about each edge when training is over.
    fn edges(&self) -> Option<EdgeReport> {
        None
    }
}

/// A change of the training structure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// Directed edges in it from now on.
    pub edges: usize,
    /// The joint objective of Algorithm 1, L_GNN + β Σ S R + g(S; λ) + γ/2 ‖S − S_prev‖², before and after the step on the mask.
    pub objective: Option<[f64; 2]>,
}

/// What a curriculum says about each edge, by edge id; both directions of an undirected edge agree.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeReport {
    /// R_e of the last update: 0 easy, 1 hard.
    pub difficulty: Vec<f32>,
    /// The epoch from which on it was first trained on; `u32::MAX`: never.
    pub first_epoch: Vec<u32>,
    /// Its weight at the end.
    pub weight: Vec<f32>,
}

impl EdgeReport {
    /// That of a method that learns weights in [0, 1]: what is left out is hard.
    pub(crate) fn of_weights(weights: &[f32]) -> Self {
        EdgeReport {
            difficulty: weights.iter().map(|weight| 1.0 - weight).collect(),
            first_epoch: vec![0; weights.len()],
            weight: weights.to_vec(),
        }
    }
}

/// Makes a method with the settings of a run and its seed.
type Make = fn(&RunConfig, u64) -> Result<Box<dyn Method>, TrainError>;

/// A setting of a method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// What `--set` calls it.
    pub name: &'static str,
    /// What it means and which values are legal.
    pub meaning: &'static str,
    /// Values worth trying, as `--set` takes them, the choice being made on validation; empty where a search is not worth its time.
    pub search: &'static [&'static str],
}

impl Setting {
    /// One that is not worth a search.
    const fn fixed(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, search: &[] }
    }

    /// The values worth trying.
    pub fn trials(&self) -> impl Iterator<Item = Value> {
        self.search.iter().map(|text| literal(text))
    }
}

/// The settings of a config's method where the config sets none, as TOML has them.
type Defaults = fn(&RunConfig) -> Result<Table, TrainError>;

/// What a run of a method needs beside what plain training does.
#[derive(Clone, Copy, Debug)]
struct Memory {
    bytes: fn(&Dataset, &RunConfig) -> u64,
    /// What to use where there is less.
    instead: &'static str,
}

/// What a method chooses among on validation, if the config leaves it the choice.
type Choice = fn(&RunConfig) -> Option<Candidates>;

/// A method by name.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MethodInfo {
    /// What `--method` calls it.
    pub name: &'static str,
    /// The backbones that it works with.
    pub backbones: &'static [&'static str],
    /// One line on what it does.
    pub summary: &'static str,
    /// The names of its presets, the default first.
    pub presets: &'static [&'static str],
    /// Whether it says of each edge how far it trusts it, so that an audit can take that up.
    pub orders_edges: bool,
    /// Its settings.
    pub settings: &'static [Setting],
    #[serde(skip)]
    pub(crate) defaults: Defaults,
    #[serde(skip)]
    memory: Option<Memory>,
    #[serde(skip)]
    pub(crate) candidates: Option<Choice>,
    #[serde(skip)]
    make: Make,
}

impl MethodInfo {
    /// The default of each setting; one that is unset by default is not in it.
    ///
    /// # Errors
    /// A default that TOML cannot write.
    pub fn defaults(&self) -> Result<Table, TrainError> {
        (self.defaults)(&RunConfig { method: self.name.into(), ..RunConfig::default() })
    }
}

const EVERY_BACKBONE: &[&str] = &["gcn", "gin", "sage", "pna", "mlp"];
const GRAPH_BACKBONES: &[&str] = &["gcn", "gin", "sage", "pna"];

/// Plain training: what every other entry says is where it differs.
const PLAIN: MethodInfo = MethodInfo {
    name: "vanilla",
    backbones: EVERY_BACKBONE,
    summary: "plain training on all edges",
    presets: &[],
    orders_edges: false,
    settings: &[],
    defaults: |_| Ok(Table::new()),
    memory: None,
    candidates: None,
    make: |_, _| Ok(Box::new(Vanilla)),
};

/// The curriculum over edges, and the same without one of its parts.
const fn curriculum(name: &'static str, summary: &'static str) -> MethodInfo {
    MethodInfo {
        name,
        backbones: GRAPH_BACKBONES,
        summary,
        presets: rcl::SINGLE_PRESETS,
        orders_edges: true,
        settings: rcl::SETTINGS,
        defaults: rcl::defaults,
        make: rcl::make,
        ..PLAIN
    }
}

/// A curriculum over training nodes.
const fn node_curriculum(
    name: &'static str,
    summary: &'static str,
    (settings, defaults): (&'static [Setting], Defaults),
    make: Make,
) -> MethodInfo {
    MethodInfo { name, summary, settings, defaults, make, ..PLAIN }
}

/// A method that learns a structure or makes one of its own.
const fn structure_learning(
    name: &'static str,
    summary: &'static str,
    settings: (&'static [Setting], Defaults),
    make: Make,
) -> MethodInfo {
    let method = node_curriculum(name, summary, settings, make);
    MethodInfo { backbones: GRAPH_BACKBONES, orders_edges: true, ..method }
}

/// Plain training on the edges that look best.
const fn pruning(name: &'static str, summary: &'static str, make: Make) -> MethodInfo {
    let settings = (prune::SETTINGS, prune::defaults as Defaults);
    MethodInfo { candidates: Some(prune::candidates), ..structure_learning(name, summary, settings, make) }
}

/// Every method.
pub const METHODS: &[MethodInfo] = &[
    PLAIN,
    MethodInfo { name: "mlp", summary: "plain training without any edge", ..PLAIN },
    MethodInfo {
        presets: rcl::PRESETS,
        candidates: Some(rcl::candidates),
        ..curriculum("rcl", "Relational Curriculum Learning: well-expected edges first")
    },
    MethodInfo {
        presets: &[AUTO],
        candidates: Some(rcl::candidates),
        ..curriculum(AUTO, "the best on validation of mlp, vanilla and presets of rcl")
    },
    MethodInfo {
        orders_edges: false,
        memory: Some(Memory { bytes: gnn_svd::memory, instead: "a smaller `rank` or `density`" }),
        ..structure_learning(
            "gnn-svd",
            "plain training on a low-rank reconstruction of the graph",
            (gnn_svd::SETTINGS, gnn_svd::defaults),
            gnn_svd::make,
        )
    },
    MethodInfo {
        backbones: &["gcn", "gin", "sage"],
        memory: Some(Memory { bytes: pro_gnn::dense_memory, instead: "`--method pro-gnn-sparse`" }),
        ..structure_learning(
            "pro-gnn",
            "Pro-GNN: a sparse, low-rank, smooth matrix of all pairs",
            (pro_gnn::DENSE_SETTINGS, pro_gnn::dense_defaults),
            pro_gnn::make_dense,
        )
    },
    MethodInfo {
        memory: Some(Memory { bytes: pro_gnn::sparse_memory, instead: "fewer `neighbours`" }),
        ..structure_learning(
            "pro-gnn-sparse",
            "Pro-GNN on the edges and neighbours by features",
            (pro_gnn::SPARSE_SETTINGS, pro_gnn::sparse_defaults),
            pro_gnn::make_sparse,
        )
    },
    structure_learning(
        "neural-sparse",
        "NeuralSparse: each node learns which k neighbours to keep",
        (neural_sparse::SETTINGS, |_| to_table(&neural_sparse::Settings::default())),
        neural_sparse::make,
    ),
    structure_learning(
        "ptdnet",
        "PTDNet: each layer learns gates on its edges",
        (ptdnet::SETTINGS, |_| to_table(&ptdnet::Settings::default())),
        ptdnet::make,
    ),
    node_curriculum(
        "clnode",
        "CLNode: training nodes with clear neighbourhoods first",
        (nodes::CLNODE_SETTINGS, nodes::clnode_defaults),
        nodes::make_clnode,
    ),
    node_curriculum(
        "node-linear",
        "training nodes of small loss first, their number grows with t",
        (nodes::NODE_SETTINGS, nodes::node_defaults),
        nodes::make_linear,
    ),
    node_curriculum(
        "node-root",
        "training nodes of small loss first, their number grows with √t",
        (nodes::NODE_SETTINGS, nodes::node_defaults),
        nodes::make_root,
    ),
    pruning("prune-features", "plain training without edges of dissimilar ends", prune::make_features),
    pruning("prune-overlap", "plain training without edges of few common neighbours", prune::make_overlap),
    curriculum("curriculum-linear", "rcl whose edges grow with t"),
    curriculum("curriculum-root", "rcl whose edges grow with √t"),
    curriculum("random", "rcl with edges in random order"),
    curriculum("random-linear", "random order, edges grow with t"),
    curriculum("random-root", "random order, edges grow with √t"),
    curriculum("rcl-no-appearance", "rcl without ψ, how often an edge was in"),
    curriculum("rcl-no-confidence", "rcl without ρ, how sure a node is"),
    curriculum("rcl-no-pretrain", "rcl from isolated nodes, without a warm start"),
];

/// The method of that name.
///
/// # Errors
/// There is none; the legal names are listed.
pub fn find(name: &str) -> Result<&'static MethodInfo, TrainError> {
    METHODS.iter().find(|method| method.name == name).ok_or_else(|| TrainError::Config {
        field: "method".into(),
        found: format!("`{name}`"),
        expected: METHODS.iter().map(|method| method.name).collect::<Vec<_>>().join(", "),
    })
}

/// The method that a config asks for, its settings checked.
pub(crate) fn make(config: &RunConfig, seed: u64) -> Result<Box<dyn Method>, TrainError> {
    let method = find(&config.method)?;
    let refuse = |field: &str, found: &str, expected: String| {
        Err(TrainError::Config { field: field.into(), found: format!("`{found}`"), expected })
    };
    if !method.backbones.contains(&config.backbone.name()) {
        let expected = format!("{} for method {}", method.backbones.join(", "), method.name);
        return refuse("backbone", config.backbone.name(), expected);
    }
    if let Some(preset) = &config.preset
        && !method.presets.contains(&&preset[..])
    {
        let expected = match method.presets {
            [] => format!("none: method {} has no presets", method.name),
            presets => presets.join(", "),
        };
        return refuse("preset", preset, expected);
    }
    if method.settings.is_empty()
        && let Some(key) = config.settings.keys().next()
    {
        return refuse("settings", key, format!("none: method {} has no settings", method.name));
    }
    (method.make)(config, seed)
}

/// The bytes that a run needs beside what plain training does; none where that is little.
///
/// # Errors
/// There is no such method.
pub fn memory_estimate(dataset: &Dataset, config: &RunConfig) -> Result<Option<u64>, TrainError> {
    Ok(find(&config.method)?.memory.map(|memory| (memory.bytes)(dataset, config)))
}

/// Refuses so many runs at once that need more memory than there is, before anything is made for them.
///
/// # Errors
/// Says how much they need, how much there is, and what to do instead.
pub fn check_memory(dataset: &Dataset, config: &RunConfig, runs: usize) -> Result<(), TrainError> {
    let method = find(&config.method)?;
    let Some(memory) = method.memory else { return Ok(()) };
    let of_one = (memory.bytes)(dataset, config);
    let needed = of_one.saturating_mul(runs as u64);
    match available_bytes() {
        Some(available) if needed > available => Err(TrainError::Memory {
            method: method.name.into(),
            nodes: dataset.graph().nodes(),
            runs,
            needed,
            available,
            instead: match available / of_one {
                0 => memory.instead.into(),
                jobs => format!("`--jobs {jobs}`, or {}", memory.instead),
            },
        }),
        _ => Ok(()),
    }
}

/// What is done to these features; never `auto`. The authors' code divides bags of words by their rows and leaves
/// measurements as they are, and so does its preset unless told otherwise.
pub(crate) fn preparation(config: &RunConfig, features: &Features) -> Preparation {
    let official = config.preset.as_deref() == Some("official");
    match (config.features, features) {
        (Preparation::Auto, Features::Dense(_)) if official => Preparation::None,
        (Preparation::Auto, Features::Sparse(_)) if official => Preparation::Rows,
        (chosen, features) => chosen.resolve(features),
    }
}

/// The config as the method means it: the edge-free control has a backbone of its own, `auto` is a preset of the curriculum.
pub(crate) fn resolved(config: &RunConfig) -> RunConfig {
    if config.method == AUTO && config.preset.as_deref().is_none_or(|preset| preset == AUTO) {
        return RunConfig { method: "rcl".into(), preset: Some(AUTO.into()), ..config.clone() };
    }
    let backbone = if config.method == "mlp" { Backbone::Mlp } else { config.backbone };
    RunConfig { backbone, ..config.clone() }
}
