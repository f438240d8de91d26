//! One training: a learner, epoch by epoch, and the best that it has been. Written once, for every method.

use std::time::Instant;

use edgepace_nn::Metric;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::event::{Event, Phase};
use crate::learner::Learner;
use crate::scoring::reported;
use crate::snapshot::{EdgeReport, Snapshot};
use crate::state::State;

/// How a training went, epoch by epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The training loss of each epoch, before its step.
    pub loss: Vec<f64>,
    /// The best validation score among the evaluations of each epoch, in percent but for log-loss; none without validation
    /// nodes.
    pub validation: Vec<Option<f64>>,
}

/// A training in progress.
pub(crate) struct Training {
    learner: Box<dyn Learner>,
    phase: Phase,
    epochs: u32,
    patience: u32,
    last_counts: bool,
    metric: Metric,
    /// Directed edges of the dataset's graph, which are in at first.
    edges_at_first: usize,
    best: Option<Snapshot>,
    /// What the best was chosen by.
    criterion: Option<f64>,
    curve: Curve,
    /// Directed edges in the training structure, at each change: epoch and number.
    edges_history: Vec<(u32, usize)>,
    seconds: f64,
}

/// What a training is told.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) phase: Phase,
    pub(crate) epochs: u32,
    pub(crate) patience: u32,
    /// Whether the last epoch counts, and not the best on validation.
    pub(crate) last_counts: bool,
    pub(crate) metric: Metric,
    pub(crate) edges_at_first: usize,
}

/// What a training left behind.
pub(crate) struct Fitted {
    pub(crate) best: Snapshot,
    pub(crate) edges: Option<EdgeReport>,
    pub(crate) curve: Curve,
    /// Directed edges in the training structure, at each change: epoch and number.
    pub(crate) edges_history: Vec<(u32, usize)>,
    pub(crate) seconds: f64,
}

impl Training {
    /// A training that begins; `seconds` went into starting the learner.
    pub(crate) fn new(learner: Box<dyn Learner>, terms: Terms, seconds: f64) -> Self {
        let Terms { phase, epochs, patience, last_counts, metric, edges_at_first } = terms;
        let (curve, edges_history) = (Curve::default(), Vec::new());
        Self {
            learner,
            phase,
            epochs,
            patience,
            last_counts,
            metric,
            edges_at_first,
            best: None,
            criterion: None,
            curve,
            edges_history,
            seconds,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Epochs that are left, unless patience runs out.
    pub(crate) fn left(&self) -> u32 {
        self.epochs.saturating_sub(self.done())
    }

    /// Epochs that are done.
    pub(crate) fn done(&self) -> u32 {
        self.curve.loss.len() as u32
    }

    /// Whether no epoch is left, or patience has run out.
    pub(crate) fn is_over(&self) -> bool {
        let done = self.done();
        let waited = self.best.as_ref().map_or(0, |best| done.saturating_sub(best.epoch + 1));
        done >= self.epochs || (self.patience > 0 && waited >= self.patience)
    }

    /// Trains one more epoch and says what happened.
    pub(crate) fn advance(&mut self, events: &mut Vec<Event>) -> Result<(), TrainError> {
        let begin = Instant::now();
        let (phase, epoch, epochs) = (self.phase, self.done(), self.epochs);
        let done = self.learner.epoch(epoch)?;
        let mut of_epoch = None;
        let mut kept = self.best.as_ref().filter(|_| !self.last_counts).map(|_| self.criterion);
        let mut better = None;
        for evaluation in &done.evaluations {
            of_epoch = largest(of_epoch, evaluation.validation);
            if kept.is_none_or(|kept| is_better(evaluation.criterion, kept)) {
                kept = Some(evaluation.criterion);
                better = Some(evaluation);
            }
        }
        if let Some(evaluation) = better {
            let mut first = None;
            let best = self.best.as_mut().unwrap_or_else(|| first.insert(Snapshot::default()));
            self.learner.snapshot(evaluation, best)?;
            (best.epoch, best.validation) = (epoch, evaluation.validation);
            self.criterion = evaluation.criterion;
            evaluation.on.clone_into(&mut best.evaluated_on);
            self.best = self.best.take().or(first);
        }
        if let Some(change) = done.change {
            self.edges_history.push((epoch, change.edges));
            events.push(Event::Update { epoch, edges: change.edges, objective: change.objective });
        }
        // A structure that is learned changes in the step itself.
        if done.edges != self.edges_history.last().map_or(self.edges_at_first, |&(_, edges)| edges) {
            self.edges_history.push((epoch, done.edges));
        }
        self.curve.loss.push(done.loss);
        let validation = of_epoch.map(|score| reported(self.metric, score));
        self.curve.validation.push(validation);
        let (loss, edges) = (done.loss, done.edges);
        events.push(Event::Epoch { phase, epoch, epochs, loss, validation, edges });
        self.seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// What it has so far; none before the first epoch.
    ///
    /// # Errors
    /// As [`Learner::complete`].
    pub(crate) fn fitted(self) -> Result<Option<Fitted>, TrainError> {
        let begin = Instant::now();
        let Self { mut learner, best, curve, edges_history, seconds, .. } = self;
        let Some(mut best) = best else { return Ok(None) };
        let edges = learner.edges();
        learner.complete(&mut best)?;
        let seconds = seconds + begin.elapsed().as_secs_f64();
        Ok(Some(Fitted { best, edges, curve, edges_history, seconds }))
    }

    pub(crate) fn save(&self) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_part("learner", self.learner.save()?);
        state.put_value("curve", &self.curve)?;
        state.put_value("edges_history", &self.edges_history)?;
        state.put_value("seconds", &self.seconds)?;
        if let Some(best) = &self.best {
            state.put_part("best", best.save()?);
            state.put_value("criterion", &self.criterion)?;
        }
        Ok(state)
    }

    /// Goes on from what [`Training::save`] kept.
    pub(crate) fn restore(&mut self, state: &State, nodes: usize) -> Result<(), TrainError> {
        self.curve = state.value("curve")?;
        self.edges_history = state.value("edges_history")?;
        self.seconds = state.value("seconds")?;
        if self.done() > 0 {
            self.learner.restore(&state.part("learner"))?;
            self.best = Some(Snapshot::restore(&state.part("best"), nodes)?);
            self.criterion = state.value("criterion")?;
        }
        Ok(())
    }
}

/// Whether a score replaces the best so far. Where there are none, the latest counts.
fn is_better(new: Option<f64>, best: Option<f64>) -> bool {
    match (new, best) {
        (Some(new), Some(best)) => new > best,
        (_, None) => true,
        (None, Some(_)) => false,
    }
}

fn largest(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}
