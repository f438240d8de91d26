//! One run: dataset, split, config, seed → result.

use std::time::Instant;

use edgepace_graph::{Dataset, Labels, Split};
use edgepace_nn::{Threads, roc_auc};
use serde::Serialize;

use crate::choose;
use crate::config::RunConfig;
use crate::error::TrainError;
use crate::event::{Listener, Phase};
use crate::fit::{Best, fit};
use crate::memory::peak_bytes;
use crate::method::{self, EdgeReport};
use crate::session::Session;

/// What a run measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// The seed.
    pub seed: u64,
    /// The name of the split and its hash.
    pub split: String,
    /// SHA-256 of the split.
    pub split_hash: String,
    /// Test score at the epoch of best validation, in percent: accuracy, or ROC-AUC for many labels. None without test
    /// nodes.
    pub test: Option<f64>,
    /// The best validation score, in percent.
    pub validation: Option<f64>,
    /// The epoch of it, from 0.
    pub best_epoch: u32,
    /// The structure that it was evaluated on, as `full` or `weighted`.
    pub evaluated_on: String,
    /// What the best of several candidates was, where the method had to choose.
    pub chosen: Option<String>,
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
}

/// A finished run: its result, the model at its best, and what is known about each edge.
pub struct Trained {
    /// What was measured.
    pub result: RunResult,
    /// The model at the epoch of best validation.
    pub best: Best,
    /// What the method knows about each edge.
    pub edges: Option<EdgeReport>,
    /// The config as it was run.
    pub config: RunConfig,
}

/// Does one run. The same dataset, split, config and seed give the same bits on any number of threads.
///
/// Defined at the edges: a graph without edges or of one node trains as an edge-free model; isolated nodes keep their own
/// features; a class that is missing from the training nodes is never rewarded and so hardly ever predicted; without
/// validation nodes the last epoch counts.
///
/// # Errors
/// A config that cannot run or needs more memory than there is, found before the first epoch; labels, features or split that do not fit.
pub fn run(
    dataset: &Dataset,
    split: &Split,
    config: &RunConfig,
    seed: u64,
    threads: &Threads,
    listener: &mut dyn Listener,
) -> Result<Trained, TrainError> {
    let mut config = method::resolved(config);
    config.check()?;
    method::check_memory(dataset, &config, 1)?;
    config.features = method::preparation(&config, dataset.features());
    threads.run(|| match choose::candidates(&config) {
        None if config.search => choose::search(dataset, split, &config, seed, threads, listener),
        None => run_one(dataset, split, config, seed, threads, &mut None, listener),
        Some(candidates) => choose::run(dataset, split, candidates, seed, threads, listener),
    })
}

/// One run of one method. `pretrained` are the parameters of a vanilla model at its best epoch, where there is one already; those
/// of a warm start are left there for the next run.
pub(crate) fn run_one(
    dataset: &Dataset,
    split: &Split,
    config: RunConfig,
    seed: u64,
    threads: &Threads,
    pretrained: &mut Option<Vec<f32>>,
    listener: &mut dyn Listener,
) -> Result<Trained, TrainError> {
    let mut session = Session::new(dataset, split, &config, seed, threads)?;
    session.pretrained = pretrained.take();
    let mut method = method::make(&config, seed)?;
    let begin = Instant::now();
    method.start(&mut session, listener)?;
    let fitted = fit(&mut session, &mut *method, Phase::Training, listener)?;
    let warm_start_seconds = session.warm_start_seconds;
    let seconds = begin.elapsed().as_secs_f64() - warm_start_seconds;
    let percent = |score: Option<f64>| score.map(|score| 100.0 * score);
    let best = fitted.best;
    let result = RunResult {
        seed,
        split: split.name().to_owned(),
        split_hash: split.hash().to_owned(),
        test: percent(test_score(&best.logits, dataset.labels(), split.test())),
        validation: percent(best.validation),
        best_epoch: best.epoch,
        evaluated_on: best.evaluated_on.to_owned(),
        chosen: None,
        epochs: fitted.epochs,
        seconds,
        warm_start_seconds,
        peak_bytes: peak_bytes(),
        edges_history: fitted.edges_history,
    };
    *pretrained = session.pretrained.take();
    drop(session);
    let edges = method.edges();
    Ok(Trained { result, best, edges, config })
}

/// The score of the test nodes: the only place where their labels are read, after every choice is made.
fn test_score(logits: &[f32], labels: &Labels, nodes: &[u32]) -> Option<f64> {
    let width = labels.width();
    let row = |node: u32| &logits[node as usize * width..][..width];
    match labels {
        Labels::Classes(classes) => {
            let right =
                nodes.iter().filter(|&&node| class_of(row(node)) == classes.of()[node as usize]).count();
            (!nodes.is_empty()).then(|| right as f64 / nodes.len() as f64)
        }
        Labels::Many(many) => {
            let aucs = (0..width).filter_map(|label| {
                let mut scored: Vec<(f64, bool)> = nodes
                    .iter()
                    .map(|&node| {
                        (f64::from(row(node)[label]), many.values()[node as usize * width + label] == 1)
                    })
                    .collect();
                roc_auc(&mut scored)
            });
            let aucs: Vec<f64> = aucs.collect();
            (!aucs.is_empty()).then(|| aucs.iter().sum::<f64>() / aucs.len() as f64)
        }
    }
}

/// The class with the largest logit, the first one among equals.
pub(crate) fn class_of(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (class, &logit) in logits.iter().enumerate() {
        if logit > logits[best] {
            best = class;
        }
    }
    best as u32
}
