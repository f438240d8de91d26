//! The runs of an experiment, cell by cell, as a store has them.

use std::collections::BTreeMap;

use crate::error::LabError;
use crate::experiment::{Cell, Experiment};
use crate::runner::{CellRun, Ended};
use crate::store::{RunRow, Status, Store};

/// What of a run a table shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// The test score at the epoch of best validation.
    #[default]
    Test,
    /// The best validation score.
    Validation,
    /// Wall time.
    Seconds,
}

impl Measure {
    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        self != Self::Seconds
    }

    fn of(self, row: &RunRow) -> Option<f64> {
        match self {
            Self::Test => row.test,
            Self::Validation => row.validation,
            Self::Seconds => Some(row.seconds),
        }
    }
}

/// One run of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedValue {
    /// The seed.
    pub seed: u64,
    /// The id of the run.
    pub id: String,
    /// What it measured.
    pub value: f64,
}

/// What the runs of a cell came to.
#[derive(Clone, Debug, PartialEq)]
pub struct CellResult {
    /// What the table calls the graph, its noise included.
    pub dataset: String,
    /// The convolution.
    pub backbone: String,
    /// What the table calls the method, its config included.
    pub method: String,
    /// The runs that are over.
    pub runs: Vec<SeedValue>,
    /// How many there should be.
    pub asked: usize,
    /// Why some are missing, if they are.
    pub missing: Option<String>,
}

/// What the runs of an experiment came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// What the store calls the experiment.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// What was measured.
    pub measure: Measure,
    /// In the order of the experiment's cells.
    pub cells: Vec<CellResult>,
}

impl Results {
    /// What runs came to that were just done or looked up.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn of_runs(
        experiment: &Experiment,
        runs: &[CellRun],
        store: &Store,
        measure: Measure,
    ) -> Result<Self, LabError> {
        let mut results = Self::empty(experiment, measure);
        for run in runs {
            let cell = &mut results.cells[run.cell];
            match (&run.ended, &run.id) {
                (Ended::Done | Ended::Before, Some(id)) => cell.take(store.row(id)?, run.seed, measure),
                (Ended::Failed(reason) | Ended::NoData(reason), _) => {
                    cell.missing.get_or_insert_with(|| reason.clone());
                }
                _ => {
                    cell.missing.get_or_insert_with(|| "not run yet".to_owned());
                }
            }
        }
        Ok(results)
    }

    /// What the store has of an experiment, by what earlier sweeps called their runs. Nothing is run.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn of_store(experiment: &Experiment, store: &Store, measure: Measure) -> Result<Self, LabError> {
        let mut results = Self::empty(experiment, measure);
        let mut ids = BTreeMap::new();
        for label in store.labels(Some(&experiment.name))? {
            let cell = [label.graph, label.noise, label.split, label.backbone, label.method, label.config];
            ids.insert((cell, label.seed), label.id);
        }
        for (cell, result) in experiment.cells.iter().zip(&mut results.cells) {
            let names = names(cell);
            for &seed in &cell.seeds {
                let row = match ids.get(&(names.clone(), seed)) {
                    Some(id) => store.row(id)?,
                    None => None,
                };
                match row {
                    Some(row) if row.status == Status::Failed => {
                        result.missing.get_or_insert_with(|| row.error.clone().unwrap_or_default());
                    }
                    None => {
                        result.missing.get_or_insert_with(|| "not in the store".to_owned());
                    }
                    row => result.take(row, seed, measure),
                }
            }
        }
        Ok(results)
    }

    fn empty(experiment: &Experiment, measure: Measure) -> Self {
        let noisy = experiment.cells.iter().any(|cell| !cell.noise.is_none());
        let split = experiment.cells.iter().any(|cell| cell.split != experiment.cells[0].split);
        let cells = experiment.cells.iter().map(|cell| CellResult {
            dataset: dataset_label(cell, noisy, split),
            backbone: cell.backbone.name().to_owned(),
            method: if cell.config.is_empty() {
                cell.method.clone()
            } else {
                format!("{}, {}", cell.method, cell.config)
            },
            runs: Vec::new(),
            asked: cell.seeds.len(),
            missing: cell.skipped.clone(),
        });
        Self {
            name: experiment.name.clone(),
            about: experiment.about.clone(),
            measure,
            cells: cells.collect(),
        }
    }
}

impl CellResult {
    fn take(&mut self, row: Option<RunRow>, seed: u64, measure: Measure) {
        match row.and_then(|row| Some((row.id.clone(), measure.of(&row)?))) {
            Some((id, value)) => self.runs.push(SeedValue { seed, id, value }),
            None => {
                self.missing.get_or_insert_with(|| "the run measured nothing".to_owned());
            }
        }
    }
}

/// What labels of a store call a cell.
fn names(cell: &Cell) -> [String; 6] {
    [
        cell.graph.clone(),
        cell.noise.to_string(),
        cell.split.as_ref().map_or_else(String::new, ToString::to_string),
        cell.backbone.name().to_owned(),
        cell.method.clone(),
        cell.config.clone(),
    ]
}

/// `Cora+30%` for three fake edges beside ten of its own; other noise is named in full.
fn dataset_label(cell: &Cell, noisy: bool, split: bool) -> String {
    let mut label = cell.graph.clone();
    if noisy {
        let noise = cell.noise.to_string();
        let share = if noise.is_empty() {
            Some(0.0)
        } else {
            noise.strip_prefix("fake=").and_then(|n| n.parse().ok())
        };
        match share {
            Some(share) => label.push_str(&format!("+{:.0}%", 100.0_f64 * share)),
            None => label.push_str(&format!(" {noise}")),
        }
    }
    if let Some(rule) = cell.split.as_ref().filter(|_| split) {
        label.push_str(&format!(" {rule}"));
    }
    label
}
