//! What a run trains next, given how well went what it trained so far. Choices are made on validation alone.

use serde::{Deserialize, Serialize};

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::material::Material;
use crate::registry::{self, MethodInfo};
use crate::search::{Round, changes, rounds, trials};
use crate::search_kind::Search;
use crate::space::{self, Space};
use crate::spec::{Course, RunSpec};

/// One training of a run.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// What events call it.
    pub(crate) name: &'static str,
    /// What the record says when it was chosen.
    pub(crate) label: String,
    pub(crate) spec: RunSpec,
}

/// How well a training went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What was trained, as the record says it when it is chosen.
    pub label: String,
    /// Its best validation score as choices compare it, higher being better; none without validation nodes.
    pub validation: Option<f64>,
    /// What it was chosen by, higher being better, where that is another score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Its epochs, without those of a warm start; 0 in records of earlier versions.
    #[serde(default)]
    pub epochs: u32,
    /// Its wall time, without that of a warm start.
    #[serde(default)]
    pub seconds: f64,
}

impl Trial {
    /// What choices compare.
    fn compared(&self) -> Option<f64> {
        self.score.or(self.validation)
    }
}

/// Names what to train until nothing is left.
pub(crate) struct Chooser {
    course: Course<RunSpec>,
    /// The spec of the whole run.
    whole: RunSpec,
    /// What to train next, in reverse.
    waiting: Vec<(Member, RunConfig)>,
    /// What was handed out last.
    current: Option<RunConfig>,
    search: Option<Plan>,
    trials: Vec<Trial>,
    /// The settings of the best so far, as far as they were set.
    best: Option<(Option<f64>, RunConfig)>,
    /// How many there will be, as far as it can be known.
    expected: usize,
}

/// What is tried after what waits.
struct Plan {
    method: &'static MethodInfo,
    next: Next,
}

enum Next {
    /// One setting after the other.
    Rounds(std::vec::IntoIter<Round>),
    /// The best third of these, for three times as many epochs, so many times.
    Halving { configs: Vec<RunConfig>, scores: Vec<Option<f64>>, rounds_to_come: u32 },
}

impl Chooser {
    pub(crate) fn new(spec: &RunSpec, material: &Material) -> Result<Self, TrainError> {
        let mut chooser = Self {
            course: spec.course().clone(),
            whole: spec.clone(),
            waiting: Vec::new(),
            current: None,
            search: None,
            trials: Vec::new(),
            best: None,
            expected: 1,
        };
        let alone = material.split().validation().is_empty();
        match spec.course() {
            Course::One(_) => {
                let member = Member { name: "", label: String::new(), spec: spec.clone() };
                chooser.waiting.push((member, spec.config().clone()));
            }
            Course::Best { candidates, alone: the_one } => {
                let chosen = candidates.iter().enumerate().filter(|(number, _)| !alone || number == the_one);
                for (_, (label, spec)) in chosen {
                    let member = Member { name: label, label: (*label).to_owned(), spec: spec.clone() };
                    chooser.waiting.push((member, spec.config().clone()));
                }
                chooser.waiting.reverse();
                chooser.expected = chooser.waiting.len();
            }
            Course::Pool { experts, .. } => {
                for (label, spec) in experts.iter().rev() {
                    let member = Member { name: label, label: (*label).to_owned(), spec: spec.clone() };
                    chooser.waiting.push((member, spec.config().clone()));
                }
                chooser.expected = chooser.waiting.len();
            }
            Course::Search => {
                let method = registry::find(&spec.config().method)?;
                let kind = spec.config().search;
                let config = RunConfig { search: Search::Off, ..spec.config().clone() };
                if kind == Search::Settings || alone {
                    let rounds = if alone { Vec::new() } else { rounds(method, &config) };
                    chooser.expected = 1 + trials(method, &rounds, &config)?;
                    chooser.wait_for(method, vec![config])?;
                    chooser.search = Some(Plan { method, next: Next::Rounds(rounds.into_iter()) });
                    return Ok(chooser);
                }
                let configs = Space::of(kind, method, &config).first(kind, method, spec.seed())?;
                chooser.expected = configs.len();
                let halves = matches!(kind, Search::Halving(_));
                let rounds_to_come = if halves { space::rounds(configs.len()) } else { 0 };
                let mut next = configs.len();
                for _ in 0..rounds_to_come {
                    next = space::survivors(next);
                    chooser.expected += next;
                }
                let first = configs.iter().map(|config| space::shortened(config, rounds_to_come));
                chooser.wait_for(method, first.collect())?;
                let next = Next::Halving { configs, scores: Vec::new(), rounds_to_come };
                chooser.search = Some(Plan { method, next });
            }
        }
        Ok(chooser)
    }

    fn wait_for(&mut self, method: &MethodInfo, configs: Vec<RunConfig>) -> Result<(), TrainError> {
        for config in configs.into_iter().rev() {
            let spec = self.whole.sibling(config.clone())?;
            let label = match self.whole.config().search {
                Search::Settings => changes(&config),
                _ => format!("epochs={} lr={} {}", config.epochs, config.step_size(), changes(&config)),
            };
            self.waiting.push((Member { name: method.name, label, spec }, config));
        }
        Ok(())
    }

    /// Whether there is more than one to choose from, so that the record says what was chosen.
    pub(crate) fn chooses(&self) -> bool {
        !matches!(self.course, Course::One(_))
    }

    /// How many have been handed out, and how many there will be.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.trials.len() + usize::from(self.current.is_some()), self.expected)
    }

    /// What is known to come, the next first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &RunSpec> {
        self.waiting.iter().rev().map(|(member, _)| &member.spec)
    }

    /// About how many epochs there are in what is not known yet.
    pub(crate) fn epochs_unknown(&self) -> u64 {
        if let Some(Plan { next: Next::Halving { configs, rounds_to_come, .. }, .. }) = &self.search {
            // Every round is about as long as the first.
            let of_round =
                configs.iter().map(|config| u64::from(space::shortened(config, *rounds_to_come).epochs));
            return of_round.sum::<u64>() * u64::from(*rounds_to_come);
        }
        let (begun, expected) = self.counts();
        let unknown = expected.saturating_sub(begun + self.waiting.len());
        unknown as u64 * u64::from(self.whole.config().epochs)
    }

    /// What was trained, in turn.
    pub(crate) fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// What to train next. What was handed out before must have been [told](Chooser::tell) of.
    pub(crate) fn next(&mut self) -> Result<Option<Member>, TrainError> {
        while self.waiting.is_empty() {
            let Some(Plan { method, next }) = &mut self.search else { return Ok(None) };
            let method = *method;
            let others = match next {
                Next::Rounds(rounds) => {
                    let Some(round) = rounds.next() else { return Ok(None) };
                    let Some((_, base)) = self.best.clone() else { return Ok(None) };
                    let others = round.others(method, &base)?;
                    // Presets differ in what is left to try.
                    self.expected =
                        self.trials.len() + others.len() + trials(method, rounds.as_slice(), &base)?;
                    others
                }
                Next::Halving { rounds_to_come: 0, .. } => return Ok(None),
                Next::Halving { configs, scores, rounds_to_come } => {
                    *configs = best_of(configs, scores);
                    scores.clear();
                    *rounds_to_come -= 1;
                    // What had fewer epochs is not compared with what has more.
                    self.best = None;
                    configs.iter().map(|config| space::shortened(config, *rounds_to_come)).collect()
                }
            };
            self.wait_for(method, others)?;
        }
        let Some((member, config)) = self.waiting.pop() else { return Ok(None) };
        self.current = Some(config);
        Ok(Some(member))
    }

    /// How well the latest went. Returns whether it is the best so far; the first one among equals is.
    pub(crate) fn tell(&mut self, trial: Trial) -> bool {
        let compared = trial.compared();
        self.trials.push(trial);
        if let Some(Plan { next: Next::Halving { scores, .. }, .. }) = &mut self.search {
            scores.push(compared);
        }
        let is_best = self.best.as_ref().is_none_or(|(best, _)| compared > *best);
        if let Some(config) = self.current.take()
            && is_best
        {
            self.best = Some((compared, config));
        }
        is_best
    }
}

/// The best of these, in their order; among equals the earlier ones.
fn best_of(configs: &[RunConfig], scores: &[Option<f64>]) -> Vec<RunConfig> {
    let mut places: Vec<usize> = (0..configs.len().min(scores.len())).collect();
    places.sort_by(|&one, &other| {
        scores[other].partial_cmp(&scores[one]).unwrap_or(std::cmp::Ordering::Equal).then(one.cmp(&other))
    });
    places.truncate(space::survivors(configs.len()));
    places.sort_unstable();
    places.into_iter().map(|place| configs[place].clone()).collect()
}
