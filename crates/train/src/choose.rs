//! Several runs that make one: candidates are trained in turn, the best on validation is kept.
//!
//! A method names its candidates, the simplest first; among equals the earlier one counts.

use edgepace_graph::{Dataset, Split};
use edgepace_nn::Threads;

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::event::{Event, Listener};
use crate::method::{self, EdgeReport};
use crate::run::{Trained, run_one};

/// One of several runs that make one.
pub(crate) struct Candidate {
    /// What the result says when it was chosen.
    pub(crate) label: &'static str,
    pub(crate) config: RunConfig,
}

/// What is chosen among.
pub(crate) struct Candidates {
    /// At least one, the simplest first.
    pub(crate) list: Vec<Candidate>,
    /// Which of them runs alone where there are no validation nodes to choose by.
    pub(crate) alone: usize,
}

/// The candidates of a config whose method has to choose; none for any other.
pub(crate) fn candidates(config: &RunConfig) -> Option<Candidates> {
    let method = method::find(&config.method).ok()?;
    (method.candidates?)(config)
}

/// Trains the candidates in turn and keeps the best on validation. Where the best has no edge report, that of the best
/// of those that have one goes with it. A vanilla candidate is the warm start of those after it.
pub(crate) fn run(
    dataset: &Dataset,
    split: &Split,
    candidates: Candidates,
    seed: u64,
    threads: &Threads,
    listener: &mut dyn Listener,
) -> Result<Trained, TrainError> {
    let Candidates { mut list, alone } = candidates;
    if split.validation().is_empty() {
        list = list.into_iter().skip(alone).take(1).collect();
    }
    let of = list.len();
    let mut best: Option<Trained> = None;
    let mut report: Option<(Option<f64>, EdgeReport)> = None;
    let (mut pretrained, mut seconds, mut stopped) = (None, 0.0, false);
    for (number, Candidate { label, config }) in list.into_iter().enumerate() {
        stopped |= !listener.on(&Event::Candidate { name: label, number, of });
        if stopped && best.is_some() {
            break;
        }
        let is_vanilla = config.method == "vanilla";
        let mut watch = |event: &Event| {
            stopped |= !listener.on(event);
            !stopped
        };
        let mut trained = run_one(dataset, split, config, seed, threads, pretrained.clone(), &mut watch)?;
        trained.result.chosen = Some(label.to_owned());
        seconds += trained.result.seconds + trained.result.warm_start_seconds;
        if is_vanilla {
            pretrained = Some(trained.best.parameters.clone());
        }
        if let Some(edges) = &trained.edges
            && report.as_ref().is_none_or(|(validation, _)| trained.result.validation > *validation)
        {
            report = Some((trained.result.validation, edges.clone()));
        }
        if best.as_ref().is_none_or(|best| trained.result.validation > best.result.validation) {
            best = Some(trained);
        }
        if stopped {
            break;
        }
    }
    let mut best = best.ok_or_else(|| TrainError::Config {
        field: "method".into(),
        found: "one without candidates".into(),
        expected: "at least one to choose".into(),
    })?;
    if best.edges.is_none() {
        best.edges = report.map(|(_, edges)| edges);
    }
    best.result.seconds = seconds;
    best.result.warm_start_seconds = 0.0;
    Ok(best)
}
