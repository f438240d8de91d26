//! The methods: what decides which edges and nodes a model learns from.

mod edge_scores;
mod neural_sparse;
mod ptdnet;
mod rcl;
mod vanilla;

use std::sync::Arc;

use edgepace_graph::{Dataset, Features, Graph};
use edgepace_nn::{Backbone, Layers, StructureId};
use serde::Serialize;
use toml::Table;

use crate::auto::AUTO;
use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::event::Listener;
use crate::memory::available_bytes;
use crate::prepare::Preparation;
use crate::session::Session;

pub(crate) use vanilla::Vanilla;

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
    /// The objective of Algorithm 1 before and after the step on the mask.
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

/// Makes a method with the settings of a run and its seed.
type Make = fn(&RunConfig, u64) -> Result<Box<dyn Method>, TrainError>;

/// A setting of a method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// What `--set` calls it.
    pub name: &'static str,
    /// What it means and which values are legal.
    pub meaning: &'static str,
    /// Values worth trying, the choice being made on validation; empty where a search is not worth its time.
    pub search: &'static [f64],
}

/// The defaults of a method's settings, as TOML has them.
type Defaults = fn() -> Result<Table, TrainError>;

/// The bytes that a run of a method needs beside what plain training does.
type Memory = fn(&Dataset, &RunConfig) -> u64;

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
    /// Its settings.
    pub settings: &'static [Setting],
    #[serde(skip)]
    defaults: Defaults,
    #[serde(skip)]
    memory: Option<Memory>,
    #[serde(skip)]
    make: Make,
}

impl MethodInfo {
    /// The default of each setting; one that is unset by default is not in it.
    ///
    /// # Errors
    /// A default that TOML cannot write.
    pub fn defaults(&self) -> Result<Table, TrainError> {
        (self.defaults)()
    }
}

const GRAPH_BACKBONES: &[&str] = &["gcn", "gin", "sage", "pna"];

/// Every method.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: "vanilla",
        backbones: &["gcn", "gin", "sage", "pna", "mlp"],
        summary: "plain training on all edges",
        presets: &[],
        settings: &[],
        defaults: || Ok(Table::new()),
        memory: None,
        make: |_, _| Ok(Box::new(Vanilla)),
    },
    MethodInfo {
        name: "mlp",
        backbones: &["gcn", "gin", "sage", "pna", "mlp"],
        summary: "plain training without any edge: what the graph is worth",
        presets: &[],
        settings: &[],
        defaults: || Ok(Table::new()),
        memory: None,
        make: |_, _| Ok(Box::new(Vanilla)),
    },
    MethodInfo {
        name: "rcl",
        backbones: GRAPH_BACKBONES,
        summary: "Relational Curriculum Learning: well-expected edges first",
        presets: rcl::PRESETS,
        settings: rcl::SETTINGS,
        defaults: rcl::defaults,
        memory: None,
        make: rcl::make,
    },
    MethodInfo {
        name: "random",
        backbones: GRAPH_BACKBONES,
        summary: "edges in random order at the pace of rcl: what the order is worth",
        presets: rcl::SINGLE_PRESETS,
        settings: rcl::SETTINGS,
        defaults: rcl::defaults,
        memory: None,
        make: rcl::make_random,
    },
    MethodInfo {
        name: "neural-sparse",
        backbones: GRAPH_BACKBONES,
        summary: "NeuralSparse: each node keeps k neighbours, which a network learns to choose",
        presets: &[],
        settings: neural_sparse::SETTINGS,
        defaults: || to_table(&neural_sparse::Settings::default()),
        memory: None,
        make: neural_sparse::make,
    },
    MethodInfo {
        name: "ptdnet",
        backbones: GRAPH_BACKBONES,
        summary: "PTDNet: each layer learns gates on its edges, with few open and of low rank",
        presets: &[],
        settings: ptdnet::SETTINGS,
        defaults: || to_table(&ptdnet::Settings::default()),
        memory: None,
        make: ptdnet::make,
    },
    MethodInfo {
        name: AUTO,
        backbones: GRAPH_BACKBONES,
        summary: "the best on validation of mlp, vanilla and presets of rcl; the same as rcl with preset auto",
        presets: &[AUTO],
        settings: rcl::SETTINGS,
        defaults: rcl::defaults,
        memory: None,
        make: rcl::make,
    },
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

/// Refuses a run that needs more memory than there is, before anything is made for it.
///
/// # Errors
/// Says how much it needs, how much there is, and what to do instead.
pub fn check_memory(dataset: &Dataset, config: &RunConfig) -> Result<(), TrainError> {
    let method = find(&config.method)?;
    let Some(estimate) = method.memory else { return Ok(()) };
    let needed = estimate(dataset, config);
    match available_bytes() {
        Some(available) if needed > available => Err(TrainError::Memory {
            method: method.name.into(),
            nodes: dataset.graph().nodes(),
            needed,
            available,
            instead: format!("{}-sparse", method.name),
        }),
        _ => Ok(()),
    }
}

/// What is done to these features; never `auto`. The authors' code divides bags of words by their rows and leaves
/// measurements as they are, and so does its preset unless told otherwise.
pub(crate) fn preparation(config: &RunConfig, features: &Features) -> Preparation {
    let official = config.method == "rcl" && config.preset.as_deref() == Some("official");
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
