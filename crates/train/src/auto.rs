//! `auto`: several candidates are trained, the best on validation is kept.
//!
//! The order is that of simplicity, and among equals the earlier one counts: no edges, all edges, then the presets of the
//! curriculum. So the user never does worse than plain training, with or without edges, by more than chance. The vanilla
//! candidate is the warm start of those after it. Settings are those of the curriculum's presets. Without validation nodes
//! nothing can be chosen, and the default preset runs alone.

use edgepace_graph::{Dataset, Split};
use edgepace_nn::{Backbone, Threads};

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::event::{Event, Listener};
use crate::method::EdgeReport;
use crate::run::{Trained, run_one};

/// The preset's name.
pub(crate) const AUTO: &str = "auto";

/// Label, method and preset, the simplest first.
const CANDIDATES: [(&str, &str, Option<&str>); 5] = [
    ("mlp", "mlp", None),
    ("vanilla", "vanilla", None),
    ("rcl cosine", "rcl", Some("cosine")),
    ("rcl posterior", "rcl", Some("posterior")),
    ("rcl edgepace", "rcl", Some("edgepace")),
];

/// One of several runs that make one.
pub(crate) struct Candidate {
    pub(crate) label: &'static str,
    pub(crate) config: RunConfig,
}

/// The candidates of a config that asks for `auto`; none for any other.
pub(crate) fn candidates(config: &RunConfig) -> Option<Vec<Candidate>> {
    if config.method != "rcl" || config.preset.as_deref() != Some(AUTO) {
        return None;
    }
    let candidate = |(label, method, preset): (&'static str, &str, Option<&str>)| {
        let mut config =
            RunConfig { method: method.into(), preset: preset.map(Into::into), ..config.clone() };
        if method == "mlp" {
            config.backbone = Backbone::Mlp;
        }
        if method != "rcl" {
            config.settings.clear();
        }
        Candidate { label, config }
    };
    Some(CANDIDATES.into_iter().map(candidate).collect())
}

/// Trains the candidates in turn and keeps the best on validation. Where the best has no edge report, that of the best
/// curriculum goes with it.
pub(crate) fn run(
    dataset: &Dataset,
    split: &Split,
    mut candidates: Vec<Candidate>,
    seed: u64,
    threads: &Threads,
    listener: &mut dyn Listener,
) -> Result<Trained, TrainError> {
    if split.validation().is_empty() {
        candidates = candidates.split_off(candidates.len().saturating_sub(1));
    }
    let of = candidates.len();
    let mut best: Option<Trained> = None;
    let mut report: Option<(Option<f64>, EdgeReport)> = None;
    let (mut pretrained, mut seconds, mut stopped) = (None, 0.0, false);
    for (number, Candidate { label, config }) in candidates.into_iter().enumerate() {
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
        field: "preset".into(),
        found: format!("`{AUTO}`"),
        expected: "at least one candidate".into(),
    })?;
    if best.edges.is_none() {
        best.edges = report.map(|(_, edges)| edges);
    }
    best.result.seconds = seconds;
    best.result.warm_start_seconds = 0.0;
    Ok(best)
}
