//! Several runs that make one: candidates are trained in turn, the best on validation is kept.
//!
//! A method names its candidates, the simplest first; among equals the earlier one counts.

use edgepace_graph::{Dataset, Split};
use edgepace_nn::Threads;
use toml::Value;

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::event::{Event, Listener};
use crate::method::{self, EdgeReport, Setting};
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
/// of those that have one goes with it. A vanilla candidate is the warm start of those after it; without one, the first warm start is.
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
    let mut choice = Choice::new(list.len(), (dataset, split, seed, threads), listener);
    for Candidate { label, config } in list {
        if !choice.consider(label, label.to_owned(), config)? {
            break;
        }
    }
    choice.made()
}

/// Tries the values that the method's settings name as worth trying, one setting after the other, each with the best values of
/// those before it. What the config sets itself is not touched. Without validation nodes the defaults run alone.
pub(crate) fn search(
    dataset: &Dataset,
    split: &Split,
    config: &RunConfig,
    seed: u64,
    threads: &Threads,
    listener: &mut dyn Listener,
) -> Result<Trained, TrainError> {
    let method = method::find(&config.method)?;
    let defaults = (method.defaults)(config)?;
    let open = |setting: &&Setting| !setting.search.is_empty() && !config.settings.contains_key(setting.name);
    let mut settings: Vec<&Setting> = method.settings.iter().filter(open).collect();
    if split.validation().is_empty() {
        settings.clear();
    }
    // What is the default already was tried first, and what the method refuses is not for it to try.
    let trials = |base: &RunConfig, setting: &Setting| -> Vec<RunConfig> {
        let default = defaults.get(setting.name);
        let others = setting.trials().filter(|value| default.is_none_or(|default| !same(value, default)));
        let configs = others.map(|value| {
            let mut config = base.clone();
            config.settings.insert(setting.name.to_owned(), value);
            config
        });
        configs.filter(|config| method::make(config, seed).is_ok()).collect()
    };
    let config = RunConfig { search: false, ..config.clone() };
    let of = 1 + settings.iter().map(|setting| trials(&config, setting).len()).sum::<usize>();
    let mut choice = Choice::new(of, (dataset, split, seed, threads), listener);
    let mut going_on = choice.consider(method.name, "the defaults".to_owned(), config.clone())?;
    for setting in settings {
        let base = choice.best.as_ref().map_or_else(|| config.clone(), |best| best.config.clone());
        for config in trials(&base, setting) {
            let label = config.settings.iter().map(|(name, value)| match value {
                Value::String(word) => format!("{name}={word}"),
                value => format!("{name}={value}"),
            });
            let label = label.collect::<Vec<_>>().join(" ");
            going_on = going_on && choice.consider(method.name, label, config)?;
        }
    }
    choice.made()
}

/// Whether two values mean the same; 1 is 1.0.
fn same(one: &Value, other: &Value) -> bool {
    let number =
        |value: &Value| value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64));
    one == other || number(one).is_some_and(|value| number(other) == Some(value))
}

/// The best so far.
struct Choice<'a> {
    of: usize,
    number: usize,
    material: (&'a Dataset, &'a Split, u64, &'a Threads),
    listener: &'a mut dyn Listener,
    best: Option<Trained>,
    /// The edge report of the best that has one, with its validation score.
    report: Option<(Option<f64>, EdgeReport)>,
    pretrained: Option<Vec<f32>>,
    seconds: f64,
}

impl<'a> Choice<'a> {
    fn new(
        of: usize,
        material: (&'a Dataset, &'a Split, u64, &'a Threads),
        listener: &'a mut dyn Listener,
    ) -> Self {
        Self { of, number: 0, material, listener, best: None, report: None, pretrained: None, seconds: 0.0 }
    }

    /// Trains one more and keeps it if it is better. Returns whether to go on.
    fn consider(&mut self, name: &'static str, label: String, config: RunConfig) -> Result<bool, TrainError> {
        let mut stopped = !self.listener.on(&Event::Candidate { name, number: self.number, of: self.of });
        self.number += 1;
        if stopped && self.best.is_some() {
            return Ok(false);
        }
        let is_vanilla = config.method == "vanilla";
        let mut watch = |event: &Event| {
            stopped |= !self.listener.on(event);
            !stopped
        };
        let (dataset, split, seed, threads) = self.material;
        let mut trained = run_one(dataset, split, config, seed, threads, &mut self.pretrained, &mut watch)?;
        trained.result.chosen = Some(label);
        self.seconds += trained.result.seconds + trained.result.warm_start_seconds;
        if is_vanilla {
            self.pretrained = Some(trained.best.parameters.clone());
        }
        if let Some(edges) = &trained.edges
            && self.report.as_ref().is_none_or(|(validation, _)| trained.result.validation > *validation)
        {
            self.report = Some((trained.result.validation, edges.clone()));
        }
        if self.best.as_ref().is_none_or(|best| trained.result.validation > best.result.validation) {
            self.best = Some(trained);
        }
        Ok(!stopped)
    }

    fn made(self) -> Result<Trained, TrainError> {
        let mut best = self.best.ok_or_else(|| TrainError::Config {
            field: "method".into(),
            found: "one without candidates".into(),
            expected: "at least one to choose".into(),
        })?;
        if best.edges.is_none() {
            best.edges = self.report.map(|(_, edges)| edges);
        }
        best.result.seconds = self.seconds;
        best.result.warm_start_seconds = 0.0;
        Ok(best)
    }
}
