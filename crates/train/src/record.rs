//! What is left of a run when it is over: all that tables, statistics and reports need, written and read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::choose::Trial;
use crate::config::RunConfig;
use crate::error::TrainError;
use crate::fit::Curve;
use crate::scoring::Scores;

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
    /// The settings of what was kept, complete.
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
    /// Test score at the epoch of best validation by the metric that validation is judged by, in percent but for log-loss.
    /// None without test nodes.
    pub test: Option<f64>,
    /// The best validation score.
    pub validation: Option<f64>,
    /// The epoch of it, from 0.
    pub best_epoch: u32,
    /// The structure that it was evaluated on, as `full` or `weighted`.
    pub evaluated_on: String,
    /// What the best of several candidates was, where the run had to choose.
    pub chosen: Option<String>,
    /// Why the run ended before its time, if it did; it can go on from its checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Epochs of training, without the warm start.
    pub epochs: u32,
    /// Wall time of the method and its training, without the warm start.
    pub seconds: f64,
    /// Wall time of the warm start.
    pub warm_start_seconds: f64,
    /// The largest memory of the process so far, if the system tells.
    pub peak_bytes: Option<u64>,
    /// Directed edges in the training structure, at each change: epoch and number.
    pub edges_history: Vec<(u32, usize)>,
    /// What validation is judged by.
    pub metric: String,
    /// Every metric that fits the labels, and `calibration-error`: in percent but for log-loss, which is in nats.
    pub metrics: BTreeMap<String, Scores>,
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
