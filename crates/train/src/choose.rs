//! What a run trains next, given how well went what it trained so far. Choices are made on validation alone.

use serde::{Deserialize, Serialize};

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::material::Material;
use crate::registry::{self, MethodInfo};
use crate::search::{Round, changes, rounds, trials};
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
    search: Option<Search>,
    trials: Vec<Trial>,
    /// The settings of the best so far, as far as they were set.
    best: Option<(Option<f64>, RunConfig)>,
    /// How many there will be, as far as it can be known.
    expected: usize,
}

struct Search {
    method: &'static MethodInfo,
    rounds: std::vec::IntoIter<Round>,
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
            Course::Search => {
                let method = registry::find(&spec.config().method)?;
                let config = RunConfig { search: false, ..spec.config().clone() };
                let rounds = if alone { Vec::new() } else { rounds(method, &config) };
                chooser.expected = 1 + trials(method, &rounds, &config)?;
                chooser.wait_for(method, vec![config])?;
                chooser.search = Some(Search { method, rounds: rounds.into_iter() });
            }
        }
        Ok(chooser)
    }

    fn wait_for(&mut self, method: &MethodInfo, configs: Vec<RunConfig>) -> Result<(), TrainError> {
        for config in configs.into_iter().rev() {
            let spec = self.whole.sibling(config.clone())?;
            self.waiting.push((Member { name: method.name, label: changes(&config), spec }, config));
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

    /// What was trained, in turn.
    pub(crate) fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// What to train next. What was handed out before must have been [told](Chooser::tell) of.
    pub(crate) fn next(&mut self) -> Result<Option<Member>, TrainError> {
        while self.waiting.is_empty() {
            let Some(search) = &mut self.search else { return Ok(None) };
            let Some(round) = search.rounds.next() else { return Ok(None) };
            let (method, left) = (search.method, search.rounds.as_slice());
            let Some((_, base)) = self.best.clone() else { return Ok(None) };
            let others = round.others(method, &base)?;
            // Presets differ in what is left to try.
            self.expected = self.trials.len() + others.len() + trials(method, left, &base)?;
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
        let is_best = self.best.as_ref().is_none_or(|(best, _)| compared > *best);
        if let Some(config) = self.current.take()
            && is_best
        {
            self.best = Some((compared, config));
        }
        is_best
    }
}
