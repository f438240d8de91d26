//! What is left of a run when it is over: all that tables, statistics and reports need, written and read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::choose::Trial;
use crate::config::RunConfig;
use crate::error::TrainError;
use crate::features_from::UsedFeatures;
use crate::fit::Curve;
use crate::ground::Ground;
use crate::pool::Expert;
use crate::scoring::Scores;
use crate::warning::{Warning, with_messages};

/// The form of a [`RunRecord`]; goes up when its fields change their meaning.
pub const RECORD_SCHEMA: u32 = 1;

/// Everything about one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The form of the record: [`RECORD_SCHEMA`].
    pub schema: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The version of the arithmetic: same id, same bits.
    pub numerics: u32,
    /// What was learned from.
    pub data: DataRecord,
    /// The settings that bring back what was kept, complete.
    pub config: RunConfig,
    /// What was measured.
    pub result: RunResult,
    /// How the training of what was kept went, epoch by epoch.
    pub history: Curve,
    /// What was trained, in turn, where the run had to choose.
    pub trials: Vec<Trial>,
}

/// What a run learned from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRecord {
    /// The name of the dataset, without its noise.
    pub name: String,
    /// The noise with its seed; empty without.
    pub noise: String,
    /// SHA-256 of graph, features and labels, with the noise.
    pub checksum: String,
    /// Nodes of the graph.
    pub nodes: usize,
    /// Directed edges of the graph.
    pub edges: usize,
}

/// What a run measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The hash of all that determined the result.
    pub id: String,
    /// The seed.
    pub seed: u64,
    /// The name of the split and its hash.
    pub split: String,
    /// SHA-256 of the split.
    pub split_hash: String,
    /// How many nodes each part of the split has; none in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_sizes: Option<SplitSizes>,
    /// Test score at the epoch of best validation by the metric that validation is judged by, in percent but for log-loss.
    /// None without test nodes.
    pub test: Option<f64>,
    /// The best validation score.
    pub validation: Option<f64>,
    /// The standard error of a validation accuracy, in points: √(p (1 − p) / n) of its n nodes, two right and two wrong answers
    /// being added. None where validation is judged by something else.
    #[serde(default)]
    pub validation_se: Option<f64>,
    /// Which part of the run was kept.
    #[serde(default)]
    pub kept: Kept,
    /// The best validation score of plain training that the method is compared with, or of what it started from where there is no
    /// such; none without either.
    #[serde(default)]
    pub warm_start_validation: Option<f64>,
    /// The ground of that plain training where it is not the run's own: the better of two on validation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_ground: Option<Ground>,
    /// That of what the method made; none without a warm start.
    #[serde(default)]
    pub method_validation: Option<f64>,
    /// The epoch of the best validation score, from 0.
    pub best_epoch: u32,
    /// The structure that it was evaluated on, as `full` or `weighted`.
    pub evaluated_on: String,
    /// What the best of several candidates was, where the run had to choose.
    pub chosen: Option<String>,
    /// What it cost to choose; none where there was nothing to choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchCost>,
    /// The experts that answer together, where they do, the simplest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pool: Vec<Expert>,
    /// Why the run ended before its time, if it did; it can go on from its checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What it learned from; none in records of earlier versions.
    #[serde(default)]
    pub features: Option<UsedFeatures>,
    /// Epochs of the training that was kept.
    pub epochs: u32,
    /// Wall time of the method and its training, without the warm start.
    pub seconds: f64,
    /// Wall time of the warm start.
    pub warm_start_seconds: f64,
    /// The largest memory of the process so far, if the system tells.
    pub peak_bytes: Option<u64>,
    /// Directed edges in the training structure of the method, whatever was kept, at each change: epoch and number.
    pub edges_history: Vec<(u32, usize)>,
    /// What validation is judged by.
    pub metric: String,
    /// What logits are divided by so that probabilities are as sure as they are right, fitted to the validation nodes; none
    /// without such, where probabilities stay as the model gives them.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Every metric that fits the labels, `calibration-error`, and `calibration-error-calibrated`, which is that after the
    /// temperature: in percent but for log-loss, which is in nats.
    pub metrics: BTreeMap<String, Scores>,
    /// What one would want to know about the run; each with its message where it is written.
    #[serde(default, serialize_with = "with_messages")]
    pub warnings: Vec<Warning>,
}

/// What it cost to choose on validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchCost {
    /// Trainings.
    pub trials: usize,
    /// Their epochs, without those of warm starts.
    pub epochs: u64,
    /// Their wall time, without that of warm starts.
    pub seconds: f64,
}

impl SearchCost {
    pub(crate) fn of(trials: &[Trial]) -> Self {
        Self {
            trials: trials.len(),
            epochs: trials.iter().map(|trial| u64::from(trial.epochs)).sum(),
            seconds: trials.iter().map(|trial| trial.seconds).sum(),
        }
    }
}

/// Which part of a run was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kept {
    /// What the method made.
    #[default]
    #[serde(rename = "method")]
    Method,
    /// Its warm start: plain training, which validated as well or better.
    #[serde(rename = "warm start")]
    WarmStart,
}

/// How many nodes each part of a split has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitSizes {
    /// Training nodes.
    pub train: usize,
    /// Validation nodes.
    pub validation: usize,
    /// Test nodes.
    pub test: usize,
    /// Nodes of the graph whose labels are known.
    pub labelled: usize,
}

impl RunRecord {
    /// A record from JSON.
    ///
    /// # Errors
    /// Not a record, or one of another form.
    pub fn parse(text: &str) -> Result<Self, TrainError> {
        let wrong = |reason: String| TrainError::State { part: "record".into(), reason };
        let record: Self = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if record.schema != RECORD_SCHEMA {
            return Err(wrong(format!("has schema {}, expected {RECORD_SCHEMA}", record.schema)));
        }
        Ok(record)
    }
}
