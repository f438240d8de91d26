//! From an experiment to its cells: every combination, checked.

use edgepace_data::{Noise, Source, SplitRule};
use edgepace_graph::Refusal;
use edgepace_nn::Backbone;
use edgepace_train::{CheckedConfig, RUN_SETTINGS, RunConfig, TrainError, find_method};
use toml::{Table, Value};

use super::limits::{self, CellNames};
use super::{BackboneName, ConfigEntry, Experiment, ExperimentFile, GraphEntry, MethodEntry};
use crate::error::LabError;
use crate::toml_text::Step;

/// A combination of an experiment: one run per seed.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What tables call the graph.
    pub graph: String,
    /// What brings it: a name of the registry, a generator, or a file.
    pub dataset: String,
    /// What is added to it.
    pub noise: Noise,
    /// How it is split; none: the dataset's usual way.
    pub split: Option<SplitRule>,
    /// The convolution.
    pub backbone: Backbone,
    /// What tables call the method.
    pub method: String,
    /// What tables call the config; empty without.
    pub config: String,
    /// The settings, checked.
    pub run: CheckedConfig,
    /// One run each.
    pub seeds: Vec<u64>,
    /// Whether an exception says which seeds.
    pub limited: bool,
    /// Why it has no runs, if an exception leaves it out.
    pub skipped: Option<String>,
}

impl MethodEntry {
    /// What tables call it.
    pub fn label(&self) -> String {
        match (&self.name[..], &self.preset) {
            ("", Some(preset)) => format!("{} {preset}", self.method),
            ("", None) => self.method.clone(),
            (name, _) => name.to_owned(),
        }
    }
}

impl GraphEntry {
    /// What tables call it.
    pub fn label(&self) -> String {
        if self.name.is_empty() { self.dataset.clone() } else { self.name.clone() }
    }
}

impl ExperimentFile {
    /// Every combination, its settings checked. No data is read.
    ///
    /// # Errors
    /// What no run can do, with line and field.
    pub fn check(&self) -> Result<Experiment, LabError> {
        self.check_lists()?;
        limits::check(self)?;
        let plain = ConfigEntry::default();
        let configs: Vec<(Option<usize>, &ConfigEntry)> = if self.configs.is_empty() {
            vec![(None, &plain)]
        } else {
            self.configs.iter().enumerate().map(|(number, config)| (Some(number), config)).collect()
        };
        let mut cells = Vec::new();
        for (graph_number, graph) in self.graphs.iter().enumerate() {
            let splits: Vec<Option<&SplitRule>> = match (&graph.split, &self.splits[..]) {
                (Some(own), _) => vec![Some(&own.0)],
                (None, []) => vec![None],
                (None, several) => several.iter().map(|split| Some(&split.0)).collect(),
            };
            for noise in &self.noise {
                for split in &splits {
                    for backbone in &self.backbones {
                        for (method_number, method) in self.methods.iter().enumerate() {
                            for (config_number, config) in &configs {
                                cells.push(self.cell(
                                    (graph_number, graph),
                                    noise.0,
                                    *split,
                                    backbone.0,
                                    (method_number, method),
                                    (*config_number, config),
                                )?);
                            }
                        }
                    }
                }
            }
        }
        Ok(Experiment {
            name: self.name.clone(),
            about: self.about.clone(),
            cells,
            own_warm_starts: self.own_warm_starts,
        })
    }

    fn cell(
        &self,
        (graph_number, graph): (usize, &GraphEntry),
        noise: Noise,
        split: Option<&SplitRule>,
        BackboneName(backbone): BackboneName,
        (method_number, method): (usize, &MethodEntry),
        (config_number, config): (Option<usize>, &ConfigEntry),
    ) -> Result<Cell, LabError> {
        let (graph_label, method_label) = (graph.label(), method.label());
        let (noise_text, split_text) =
            (noise.to_string(), split.map_or_else(String::new, ToString::to_string));
        let names = CellNames {
            graph: [&graph_label, &graph.dataset],
            noise: &noise_text,
            split: &split_text,
            backbone: backbone.name(),
            method: [&method_label, &method.method],
            config: &config.name,
        };
        let limit = self.limits.iter().find(|limit| limit.fits(&names));
        let skipped = limit.and_then(|limit| limit.skip.clone());
        let seeds = match (&skipped, limit.and_then(|limit| limit.seeds.as_ref())) {
            (Some(_), _) => Vec::new(),
            (None, limited) => limited.unwrap_or(&self.seeds).as_slice().to_vec(),
        };
        let mut run = RunConfig {
            backbone,
            method: method.method.clone(),
            preset: method.preset.clone(),
            ..self.run.clone()
        };
        let groups = [
            ("graphs", Some(graph_number), &graph.settings),
            ("methods", Some(method_number), &method.settings),
            ("configs", config_number, &config.settings),
        ];
        for (list, number, settings) in groups {
            for (key, value) in settings {
                set(&mut run, key, value).map_err(|error| {
                    let number = number.unwrap_or_default();
                    let way = [Step::Key(list), Step::Item(number), Step::Key("settings"), Step::Key(key)];
                    self.wrong(&way, &format!("{list}[{number}].settings.{key}"), said(&error))
                })?;
            }
        }
        // What is left out need not be possible.
        let checked = match run.check() {
            Err(_) if skipped.is_some() => {
                RunConfig { method: "vanilla".into(), ..RunConfig::default() }.check()?
            }
            checked => checked.map_err(|error| self.refused(&error, method_number, &groups))?,
        };
        Ok(Cell {
            graph: graph_label,
            dataset: graph.dataset.clone(),
            noise,
            split: split.cloned(),
            backbone,
            method: method_label,
            config: config.name.clone(),
            run: checked,
            seeds,
            limited: limit.is_some(),
            skipped,
        })
    }

    /// Says which line a refused setting comes from.
    fn refused(
        &self,
        error: &TrainError,
        method: usize,
        groups: &[(&'static str, Option<usize>, &Table)],
    ) -> LabError {
        let field = match error {
            TrainError::Refused(Refusal { field, .. }) => field.to_string(),
            TrainError::Settings { field, .. } => field.clone(),
            _ => String::new(),
        };
        let has = |table: &Table| table.keys().any(|key| key.replace('-', "_") == field);
        if let Some((list, number, table)) = groups.iter().rev().find(|(_, _, table)| has(table)) {
            let number = number.unwrap_or_default();
            let key = table.keys().find(|key| key.replace('-', "_") == field).map_or("", |key| &key[..]);
            let way = [Step::Key(list), Step::Item(number), Step::Key("settings"), Step::Key(key)];
            return self.wrong(&way, &format!("{list}[{number}].settings.{key}"), said(error));
        }
        match &field[..] {
            "method" | "preset" => {
                let way = [Step::Key("methods"), Step::Item(method), Step::Key(&field)];
                self.wrong(&way, &format!("methods[{method}].{field}"), said(error))
            }
            "backbone" => {
                let way = [Step::Key("methods"), Step::Item(method)];
                let reason = format!("{}; leave it out by a limit with `skip`", said(error));
                self.wrong(&way, &format!("methods[{method}]"), reason)
            }
            _ => {
                let way = [Step::Key("run"), Step::Key(&field)];
                self.wrong(&way, &format!("run.{field}"), said(error))
            }
        }
    }

    /// Refuses lists that are empty or have the same name twice, and names that mean nothing.
    fn check_lists(&self) -> Result<(), LabError> {
        let graphs: Vec<String> = self.graphs.iter().map(GraphEntry::label).collect();
        let methods: Vec<String> = self.methods.iter().map(MethodEntry::label).collect();
        let configs: Vec<String> = self.configs.iter().map(|config| config.name.clone()).collect();
        let backbones: Vec<String> = self.backbones.iter().map(|backbone| backbone.0.to_string()).collect();
        let noise: Vec<String> = self.noise.iter().map(|noise| noise.0.to_string()).collect();
        let splits: Vec<String> = self.splits.iter().map(|split| split.0.to_string()).collect();
        for (field, names, may_be_empty) in [
            ("graphs", graphs, false),
            ("methods", methods, false),
            ("configs", configs, true),
            ("backbones", backbones, false),
            ("noise", noise, false),
            ("splits", splits, true),
        ] {
            if names.is_empty() && !may_be_empty {
                return Err(self.wrong(&[Step::Key(field)], field, "is empty, expected at least one".into()));
            }
            for (number, name) in names.iter().enumerate() {
                if names[..number].contains(name) {
                    let way = [Step::Key(field), Step::Item(number)];
                    let reason = format!("`{name}` is there twice: give each its own name");
                    return Err(self.wrong(&way, &format!("{field}[{number}]"), reason));
                }
            }
        }
        for (number, graph) in self.graphs.iter().enumerate() {
            if let Err(error) = Source::parse(&graph.dataset) {
                let way = [Step::Key("graphs"), Step::Item(number), Step::Key("dataset")];
                return Err(self.wrong(&way, &format!("graphs[{number}].dataset"), error.to_string()));
            }
        }
        for (number, method) in self.methods.iter().enumerate() {
            if let Err(error) = find_method(&method.method) {
                let way = [Step::Key("methods"), Step::Item(number), Step::Key("method")];
                return Err(self.wrong(&way, &format!("methods[{number}].method"), said(&error)));
            }
        }
        Ok(())
    }
}

/// Changes one setting, as `--set` does.
fn set(run: &mut RunConfig, key: &str, value: &Value) -> Result<(), TrainError> {
    let name = key.replace('-', "_");
    if RUN_SETTINGS.iter().any(|setting| setting.name == name) {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        return run.set(key, &text);
    }
    run.settings.insert(name, value.clone());
    Ok(())
}

/// What is wrong, without the name of the field, which the error says already.
fn said(error: &TrainError) -> String {
    match error {
        TrainError::Refused(Refusal { found, expected, .. }) => format!("is {found}, expected {expected}"),
        TrainError::Settings { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}
