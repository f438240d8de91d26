//! Several runs that make one: candidates are trained in turn, the best on validation is kept.
//!
//! A method names its candidates, the simplest first; among equals the earlier one counts.

use edgepace_graph::{Dataset, Split};
use edgepace_nn::Threads;
use toml::Value;

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::event::{Event, Listener};
use crate::method::{self, EdgeReport, MethodInfo, Setting};
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

/// Tries the method's presets, unless the config names one, then the values that its settings name as worth trying, one setting after
/// the other, each with the best of what was tried before. What the config sets itself is not touched. Without validation nodes the
/// defaults run alone.
pub(crate) fn search(
    dataset: &Dataset,
    split: &Split,
    config: &RunConfig,
    seed: u64,
    threads: &Threads,
    listener: &mut dyn Listener,
) -> Result<Trained, TrainError> {
    let method = method::find(&config.method)?;
    let config = RunConfig { search: false, ..config.clone() };
    let rounds = if split.validation().is_empty() { Vec::new() } else { rounds(method, &config) };
    let tries = |base: &RunConfig, rounds: &[Round]| -> Result<usize, TrainError> {
        rounds.iter().try_fold(0, |sum, round| Ok(sum + round.others(method, base)?.len()))
    };
    let of = 1 + tries(&config, &rounds)?;
    let mut choice = Choice::new(of, (dataset, split, seed, threads), listener);
    let mut going_on = choice.consider(method.name, changes(&config), config.clone())?;
    for (number, round) in rounds.iter().enumerate() {
        let base = choice.best.as_ref().map_or_else(|| config.clone(), |best| best.config.clone());
        // Presets differ in what is left to try.
        choice.of = choice.number + tries(&base, &rounds[number..])?;
        for config in round.others(method, &base)? {
            going_on = going_on && choice.consider(method.name, changes(&config), config)?;
        }
    }
    choice.made()
}

/// Whether a search with this config has anything to try.
pub(crate) fn searchable(config: &RunConfig) -> Result<bool, TrainError> {
    let method = method::find(&config.method)?;
    let others =
        rounds(method, config).into_iter().map(|round| Ok(!round.others(method, config)?.is_empty()));
    Ok(others.collect::<Result<Vec<bool>, TrainError>>()?.contains(&true))
}

/// What the config leaves open.
fn rounds(method: &MethodInfo, config: &RunConfig) -> Vec<Round> {
    let open = method.settings.iter().filter(|setting| !config.settings.contains_key(setting.name));
    config.preset.is_none().then_some(Round::Presets).into_iter().chain(open.map(Round::Values)).collect()
}

/// What a search varies at a time.
enum Round {
    Presets,
    Values(&'static Setting),
}

impl Round {
    /// What there is to try instead of `base`: all that the method takes.
    fn others(&self, method: &MethodInfo, base: &RunConfig) -> Result<Vec<RunConfig>, TrainError> {
        let mut others: Vec<RunConfig> = match self {
            Round::Presets => {
                let with = |&preset: &&str| RunConfig { preset: Some(preset.into()), ..base.clone() };
                method.presets.iter().skip(1).map(with).collect()
            }
            Round::Values(setting) => {
                let defaults = (method.defaults)(base)?;
                let differs = |value: &Value| defaults.get(setting.name).is_none_or(|one| !same(one, value));
                let with = |value| {
                    let mut config = base.clone();
                    config.settings.insert(setting.name.to_owned(), value);
                    config
                };
                setting.trials().filter(differs).map(with).collect()
            }
        };
        others.retain(|config| candidates(config).is_none() && method::make(config, 0).is_ok());
        Ok(others)
    }
}

/// The preset and the settings of a config, as `--set` takes them; where it has none, that it has the defaults.
fn changes(config: &RunConfig) -> String {
    let settings = config.settings.iter().map(|(name, value)| match value {
        Value::String(word) => format!("{name}={word}"),
        value => format!("{name}={value}"),
    });
    let preset = config.preset.iter().map(|preset| format!("preset={preset}"));
    let changes: Vec<String> = preset.chain(settings).collect();
    if changes.is_empty() { "the defaults".to_owned() } else { changes.join(" ") }
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
