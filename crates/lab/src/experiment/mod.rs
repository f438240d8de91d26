//! A grid of runs as a TOML file: graphs × noise × splits × backbones × methods × configs × seeds.
//!
//! ```toml
//! about = "What edges are worth on synthetic graphs"
//! seeds = "0..10"
//! backbones = ["gcn", "gin"]
//! noise = ["", "fake=0.5"]
//! [run]
//! epochs = 150
//! [[graphs]]
//! name = "synthetic 0.1"
//! dataset = "synthetic:homophily=0.1"
//! [[methods]]
//! name = "RCL"
//! method = "rcl"
//! settings = { keep = "method" }
//! [[limits]]
//! method = "RCL"
//! backbone = "gin"
//! seeds = "0..3"
//! ```

mod cells;
mod limits;
mod schema;
mod text;

use std::path::{Path, PathBuf};

use edgepace_data::{Noise, SplitRule};
use edgepace_nn::Backbone;
use edgepace_train::RunConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::error::LabError;
use crate::seeds::Seeds;
use crate::toml_text::{self, Step};

pub use cells::Cell;
pub use limits::{Limit, OneOrMany};
pub use schema::{option_reference, schema};
pub use text::AsText;

/// An experiment as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Experiment of edgepace")]
pub struct ExperimentFile {
    /// What the store calls it; unset: the name of the file.
    #[serde(default)]
    pub name: String,
    /// What it is for, in one line.
    #[serde(default)]
    pub about: String,
    /// One run of each cell per seed: `"0..10"` for 0 to 9, `"0,2,7"`, or a list. Noise, split and the graph of a generator
    /// follow the seed unless they name their own.
    #[serde(default = "seed_zero")]
    #[schemars(schema_with = "schema::seeds")]
    pub seeds: Seeds,
    /// The convolutions: `gcn`, `gin`, `sage`, `pna` or `mlp`.
    #[serde(default = "gcn_alone")]
    pub backbones: Vec<AsText<BackboneName>>,
    /// What is added to the graph, as `"fake=0.5"`; `""`: nothing.
    #[serde(default = "no_noise")]
    pub noise: Vec<AsText<Noise>>,
    /// How nodes are split, as `"public"` or `"fraction:0.5:0.25"`; unset: each dataset's usual way.
    #[serde(default)]
    pub splits: Vec<AsText<SplitRule>>,
    /// Settings of all runs.
    #[serde(default)]
    #[schemars(schema_with = "schema::run")]
    pub run: RunConfig,
    /// What to learn from.
    pub graphs: Vec<GraphEntry>,
    /// What to train.
    pub methods: Vec<MethodEntry>,
    /// Named groups of settings, each with every method; unset: none.
    #[serde(default)]
    pub configs: Vec<ConfigEntry>,
    /// Exceptions: cells that have fewer seeds or none. The first that fits counts.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// Each run trains its own warm start, so that the seconds of a run are all that it takes. Otherwise runs of the same data
    /// and seed share it.
    #[serde(default)]
    pub own_warm_starts: bool,
    /// Where it was read from, for errors to point at.
    #[serde(skip)]
    pub(crate) source: Option<(PathBuf, String)>,
}

/// A graph of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphEntry {
    /// What tables call it; unset: the dataset.
    #[serde(default)]
    pub name: String,
    /// A name of the registry, a generator as `synthetic:homophily=0.3`, or a graph file.
    pub dataset: String,
    /// How its nodes are split, in place of `splits`.
    #[serde(default)]
    pub split: Option<AsText<SplitRule>>,
    /// Settings of its runs, over those of `run`.
    #[serde(default)]
    #[schemars(schema_with = "schema::settings")]
    pub settings: Table,
}

/// A method of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodEntry {
    /// What tables call it; unset: the method, and its preset if it names one.
    #[serde(default)]
    pub name: String,
    /// A method that `edgepace methods` lists.
    pub method: String,
    /// A named set of the method's settings; unset: its first, but edgepace for rcl on the paper's ground.
    #[serde(default)]
    pub preset: Option<String>,
    /// Settings of the run or of the method, over those of the graph.
    #[serde(default)]
    #[schemars(schema_with = "schema::settings")]
    pub settings: Table,
}

/// A named group of settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigEntry {
    /// What tables call it.
    pub name: String,
    /// Settings of the run or of the method, over all others.
    #[schemars(schema_with = "schema::settings")]
    pub settings: Table,
}

/// A backbone by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackboneName(pub Backbone);

fn seed_zero() -> Seeds {
    Seeds::one(0)
}

fn gcn_alone() -> Vec<AsText<BackboneName>> {
    vec![AsText(BackboneName(Backbone::Gcn))]
}

fn no_noise() -> Vec<AsText<Noise>> {
    vec![AsText(Noise::default())]
}

/// An experiment whose every run was checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What the store calls it.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// What to run, in the order of graphs, noise, splits, backbones, methods and configs.
    pub cells: Vec<Cell>,
    /// Whether each run trains its own warm start.
    pub own_warm_starts: bool,
}

impl ExperimentFile {
    /// Reads an experiment; `path` is what errors call it, and its stem the name unless it has one.
    ///
    /// # Errors
    /// Not TOML, an unknown field, or a value that it cannot have, with line and field.
    pub fn parse(path: &Path, text: &str) -> Result<Self, LabError> {
        let mut file: Self = toml_text::read(path, text)?;
        if file.name.is_empty() {
            file.name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        }
        file.source = Some((path.to_owned(), text.to_owned()));
        for key in ["backbone", "method", "preset"] {
            let table = toml_text::table(path, text)?;
            if toml_text::has(table.get_ref(), &["run", key]) {
                let list = if key == "backbone" { "backbones" } else { "methods" };
                return Err(file.wrong(
                    &[Step::Key("run"), Step::Key(key)],
                    &format!("run.{key}"),
                    format!("an experiment names it in `{list}`"),
                ));
            }
        }
        Ok(file)
    }

    /// An error at a part of the file.
    fn wrong(&self, way: &[Step<'_>], field: &str, reason: String) -> LabError {
        let (path, line) = match &self.source {
            Some((path, text)) => (path.clone(), toml_text::line_of(text, way)),
            None => (PathBuf::from(format!("experiment {}", self.name)), None),
        };
        LabError::Plan { path, line, field: Some(field.to_owned()), reason }
    }
}

impl Experiment {
    /// Reads and checks an experiment; see [`ExperimentFile`].
    ///
    /// # Errors
    /// As [`ExperimentFile::parse`] and [`ExperimentFile::check`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, LabError> {
        ExperimentFile::parse(path, text)?.check()
    }

    /// How many runs it has, those that are limited or skipped not counted.
    pub fn runs(&self) -> usize {
        self.cells.iter().map(|cell| cell.seeds.len()).sum()
    }

    /// The same with other seeds; what is limited keeps those of its limit that are among them.
    #[must_use]
    pub fn with_seeds(mut self, seeds: &Seeds) -> Self {
        for cell in &mut self.cells {
            if cell.limited {
                cell.seeds.retain(|seed| seeds.as_slice().contains(seed));
            } else {
                cell.seeds = seeds.as_slice().to_vec();
            }
        }
        self
    }
}
