//! One run: it advances epoch by epoch, can be saved, resumed and finished.

use std::sync::Arc;
use std::time::Instant;

use edgepace_graph::{Dataset, Split};
use edgepace_nn::Threads;

use crate::choose::{Chooser, Member, Trial};
use crate::config::RunConfig;
use crate::error::TrainError;
use crate::event::{Event, Listener, Phase};
use crate::fit::{Curve, Fitted, Terms, Training};
use crate::learner::Start;
use crate::material::{Judge, Material};
use crate::memory::peak_bytes;
use crate::record::{DataRecord, RECORD_SCHEMA, RunRecord, RunResult};
use crate::scoring::{all_scores, reported};
use crate::shelf::Shelf;
use crate::snapshot::{EdgeReport, Snapshot};
use crate::spec::{Course, NUMERICS, RunSpec};
use crate::state::State;

/// A run in progress, between two epochs. The same spec gives the same bits on any number of threads, however often it was
/// saved and resumed.
///
/// Several trainings make one run where a method has to choose: they come one after the other, and the best on validation
/// is kept. A warm start is the snapshot of plain training with the same settings; it is taken from the shelf, or trained
/// first and put there.
///
/// Defined at the edges: a graph without edges or of one node trains as an edge-free model; isolated nodes keep their own
/// features; a class that is missing from the training nodes is never rewarded and so hardly ever predicted; without
/// validation nodes the last epoch counts.
pub struct Run {
    spec: RunSpec,
    material: Arc<Material>,
    threads: Threads,
    shelf: Arc<Shelf>,
    chooser: Chooser,
    /// What is trained now, or waits for its warm start.
    member: Option<Member>,
    training: Option<Training>,
    best: Option<BestTraining>,
    /// The id and the parameters of the latest warm start, which the next training may need too.
    warm_start: Option<(String, Arc<[f32]>)>,
    /// The warm start, where nothing better is there yet.
    fallback: Option<BestTraining>,
    /// The edge report of the best that has one, with its validation score.
    report: Option<(Option<f64>, EdgeReport)>,
    events: Vec<Event>,
    epochs_done: u64,
    seconds: f64,
    warm_start_seconds: f64,
}

/// The best training so far.
struct BestTraining {
    label: String,
    config: RunConfig,
    snapshot: Snapshot,
    edges: Option<EdgeReport>,
    curve: Curve,
    edges_history: Vec<(u32, usize)>,
}

/// A run that is over.
pub struct Finished {
    /// What was measured, and how.
    pub record: RunRecord,
    /// What was kept, at its epoch of best validation.
    pub snapshot: Snapshot,
    /// What is known of each edge, where the method tells.
    pub edges: Option<EdgeReport>,
}

impl Run {
    /// A run that begins.
    ///
    /// # Errors
    /// A spec of other data, or one that cannot run.
    pub fn start(
        spec: RunSpec,
        material: &Arc<Material>,
        shelf: &Arc<Shelf>,
        threads: &Threads,
    ) -> Result<Self, TrainError> {
        spec.check_data(material)?;
        Ok(Self {
            chooser: Chooser::new(&spec, material)?,
            spec,
            material: Arc::clone(material),
            threads: threads.clone(),
            shelf: Arc::clone(shelf),
            member: None,
            training: None,
            best: None,
            warm_start: None,
            fallback: None,
            report: None,
            events: Vec::new(),
            epochs_done: 0,
            seconds: 0.0,
            warm_start_seconds: 0.0,
        })
    }

    /// What runs.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Epochs that are done, and about how many are left; fewer where patience runs out.
    pub fn progress(&self) -> (u64, u64) {
        let epochs = u64::from(self.spec.config().epochs);
        let (begun, expected) = self.chooser.counts();
        let of_training = self.training.as_ref().map_or(0, |training| u64::from(training.left()));
        let waits = self.member.is_some()
            && self.training.as_ref().is_none_or(|training| training.phase() == Phase::WarmStart);
        let begins = begun == 0 && self.wants_warm_start();
        let more = (expected.saturating_sub(begun) + usize::from(waits) + usize::from(begins)) as u64;
        (self.epochs_done, of_training + epochs * more)
    }

    /// Whether plain training comes first, as far as that can be known before the run begins.
    fn wants_warm_start(&self) -> bool {
        match self.spec.course() {
            Course::One(recipe) => recipe.wants_warm_start(),
            _ => false,
        }
    }

    /// Trains one more epoch. Returns what happened, or nothing when the run is over.
    ///
    /// # Errors
    /// Training diverges, or something that it is made of refuses. What was the best until then can still be
    /// [finished](Run::finish).
    pub fn advance(&mut self) -> Result<Option<&[Event]>, TrainError> {
        self.events.clear();
        let threads = self.threads.clone();
        let goes_on = threads.run(|| self.one_epoch())?;
        Ok(goes_on.then_some(&self.events))
    }

    fn one_epoch(&mut self) -> Result<bool, TrainError> {
        if self.training.is_none() {
            let Some(training) = self.next_training()? else { return Ok(false) };
            self.training = Some(training);
        }
        let Some(training) = &mut self.training else { return Ok(false) };
        training.advance(&mut self.events)?;
        if training.phase() == Phase::Training {
            // From now on there is something of its own.
            self.fallback = None;
        }
        self.epochs_done += 1;
        if training.is_over() {
            self.end_training()?;
        }
        Ok(true)
    }

    /// What comes next: the member that waited for its warm start, or another one, or its warm start.
    fn next_training(&mut self) -> Result<Option<Training>, TrainError> {
        let member = if let Some(member) = self.member.take() {
            member
        } else {
            let Some(member) = self.chooser.next()? else { return Ok(None) };
            if self.chooser.chooses() {
                let (number, of) = self.chooser.counts();
                self.events.push(Event::Candidate { name: member.name, number: number - 1, of });
            }
            member
        };
        let training = self.begin(&member)?;
        self.member = Some(member);
        Ok(Some(training))
    }

    fn begin(&mut self, member: &Member) -> Result<Training, TrainError> {
        let Course::One(recipe) = member.spec.course() else {
            let expected = "one that has nothing left to choose";
            return Err(TrainError::refused("candidate", &member.label[..], expected));
        };
        if !recipe.wants_warm_start() {
            return self.training_of(&member.spec, Phase::Training, None);
        }
        let vanilla = member.spec.vanilla()?;
        match self.shelf.get(vanilla.id()) {
            Some(parameters) => {
                self.warm_start = Some((vanilla.id().to_owned(), Arc::clone(&parameters)));
                self.training_of(&member.spec, Phase::Training, Some(&parameters))
            }
            None => self.training_of(&vanilla, Phase::WarmStart, None),
        }
    }

    fn training_of(
        &self,
        spec: &RunSpec,
        phase: Phase,
        warm_start: Option<&[f32]>,
    ) -> Result<Training, TrainError> {
        let begin = Instant::now();
        let Course::One(recipe) = spec.course() else {
            return Err(TrainError::refused("method", &spec.config().method[..], "one that trains"));
        };
        let (material, config, threads) = (&self.material, spec.config(), &self.threads);
        let learner = recipe.start(&Start { material, config, seed: spec.seed(), threads, warm_start })?;
        let edges_at_first = material.graph().edges();
        let (epochs, patience, metric) = (config.epochs, config.patience, spec.metric());
        let terms = Terms { phase, epochs, patience, metric, edges_at_first };
        Ok(Training::new(learner, terms, begin.elapsed().as_secs_f64()))
    }

    /// Takes up what the training that is over, or stopped, left behind.
    fn end_training(&mut self) -> Result<(), TrainError> {
        let (Some(training), Some(member)) = (self.training.take(), self.member.take()) else {
            return Ok(());
        };
        let phase = training.phase();
        let Some(fitted) = training.fitted() else { return Ok(()) };
        if phase == Phase::WarmStart {
            self.warm_start_seconds += fitted.seconds;
            let vanilla = member.spec.vanilla()?;
            let kept = BestTraining::new("vanilla".to_owned(), &vanilla, fitted);
            self.put_on_shelf(vanilla.id(), &kept.snapshot);
            self.fallback = Some(kept);
            self.member = Some(member);
            return Ok(());
        }
        self.seconds += fitted.seconds;
        let validation = fitted.best.validation;
        let kept = BestTraining::new(member.label, &member.spec, fitted);
        if member.spec.config().method == "vanilla" {
            self.put_on_shelf(member.spec.id(), &kept.snapshot);
        }
        if let Some(edges) = &kept.edges
            && self.chooser.chooses()
            && self.report.as_ref().is_none_or(|(best, _)| validation > *best)
        {
            self.report = Some((validation, edges.clone()));
        }
        if self.chooser.tell(&kept.label, validation) {
            self.best = Some(kept);
        }
        Ok(())
    }

    fn put_on_shelf(&mut self, id: &str, snapshot: &Snapshot) {
        let parameters: Arc<[f32]> = snapshot.parameters[..].into();
        self.shelf.put(id, Arc::clone(&parameters));
        self.warm_start = Some((id.to_owned(), parameters));
    }

    /// Ends the run with what it has and lets the judge see it. `stopped` says why it ends before its time, if it does.
    ///
    /// # Errors
    /// Nothing has been trained yet.
    pub fn finish(mut self, judge: &Judge, stopped: Option<&str>) -> Result<Finished, TrainError> {
        self.end_training()?;
        let Some(mut kept) = self.best.take().or_else(|| self.fallback.take()) else {
            return Err(TrainError::refused("epochs", "0 done", "at least 1"));
        };
        if kept.edges.is_none() {
            kept.edges = self.report.take().map(|(_, edges)| edges);
        }
        let chooses = self.chooser.chooses();
        let (mut seconds, mut warm_start_seconds) = (self.seconds, self.warm_start_seconds);
        if chooses {
            (seconds, warm_start_seconds) = (seconds + warm_start_seconds, 0.0);
        }
        let split = self.material.split();
        let metric = self.spec.metric();
        let snapshot = &kept.snapshot;
        let metrics = all_scores(&self.material, judge, &snapshot.logits);
        let result = RunResult {
            id: self.spec.id().to_owned(),
            seed: self.spec.seed(),
            split: split.name().to_owned(),
            split_hash: split.hash().to_owned(),
            test: metrics.get(metric.name()).and_then(|scores| scores.test),
            validation: snapshot.validation.map(|score| reported(metric, score)),
            best_epoch: snapshot.epoch,
            evaluated_on: snapshot.evaluated_on.clone(),
            chosen: chooses.then(|| kept.label.clone()),
            stopped: stopped.map(ToOwned::to_owned),
            epochs: kept.curve.loss.len() as u32,
            seconds,
            warm_start_seconds,
            peak_bytes: peak_bytes(),
            edges_history: kept.edges_history,
            metric: metric.name().to_owned(),
            metrics,
        };
        let graph = self.material.graph();
        let record = RunRecord {
            schema: RECORD_SCHEMA,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            numerics: NUMERICS,
            data: DataRecord {
                name: self.material.name().to_owned(),
                noise: self.material.noise().to_owned(),
                checksum: self.material.checksum().to_owned(),
                nodes: graph.nodes(),
                edges: graph.edges(),
            },
            config: kept.config,
            result,
            history: kept.curve,
            trials: if chooses { self.chooser.trials().to_vec() } else { Vec::new() },
        };
        Ok(Finished { record, snapshot: kept.snapshot, edges: kept.edges })
    }

    /// All that is needed to go on from here later, to the same bits.
    ///
    /// # Errors
    /// A value that cannot be written.
    pub fn save(&self) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_value("trials", &self.chooser.trials())?;
        state.put_value("epochs_done", &self.epochs_done)?;
        state.put_value("seconds", &self.seconds)?;
        state.put_value("warm_start_seconds", &self.warm_start_seconds)?;
        let phase = self.training.as_ref().map(Training::phase);
        state.put_value("begun", &self.member.is_some())?;
        state.put_value("phase", &phase)?;
        if let Some(training) = &self.training {
            state.put_part("training", training.save()?);
        }
        if let Some((id, parameters)) = &self.warm_start {
            state.put_value("warm_start_id", id)?;
            state.put_floats("warm_start", parameters);
        }
        for (name, kept) in [("best", &self.best), ("fallback", &self.fallback)] {
            if let Some(kept) = kept {
                state.put_part(name, kept.save()?);
            }
        }
        if let Some((validation, report)) = &self.report {
            let mut part = report.save();
            part.put_value("validation", validation)?;
            state.put_part("report", part);
        }
        Ok(state)
    }

    /// Goes on from what [`Run::save`] kept of a run with the same spec.
    ///
    /// # Errors
    /// A state that is damaged or of another run.
    pub fn resume(
        spec: RunSpec,
        material: &Arc<Material>,
        shelf: &Arc<Shelf>,
        threads: &Threads,
        state: &State,
    ) -> Result<Self, TrainError> {
        let mut run = Self::start(spec, material, shelf, threads)?;
        threads.run(|| run.restore(state))?;
        Ok(run)
    }

    fn restore(&mut self, state: &State) -> Result<(), TrainError> {
        let nodes = self.material.graph().nodes();
        // What was chosen next followed from what went before, and does so again.
        for trial in state.value::<Vec<Trial>>("trials")? {
            let member = self.chooser.next()?;
            if member.is_none_or(|member| member.label != trial.label) {
                let reason = format!("names `{}`, which this run does not train", trial.label);
                return Err(TrainError::State { part: "trials".into(), reason });
            }
            self.chooser.tell(&trial.label, trial.validation);
        }
        self.epochs_done = state.value("epochs_done")?;
        self.seconds = state.value("seconds")?;
        self.warm_start_seconds = state.value("warm_start_seconds")?;
        let kept = |name: &str| {
            let part = state.part(name);
            part.has("parameters").then(|| BestTraining::restore(&part, nodes)).transpose()
        };
        self.best = kept("best")?;
        self.fallback = kept("fallback")?;
        let report = state.part("report");
        if report.has("difficulty") {
            self.report = Some((report.value("validation")?, EdgeReport::restore(&report)?));
        }
        if state.has("warm_start") {
            let (id, parameters) = (state.value::<String>("warm_start_id")?, state.all_floats("warm_start")?);
            self.shelf.put(&id, parameters.into());
            self.warm_start = Some((id, parameters.into()));
        }
        if !state.value::<bool>("begun")? {
            return Ok(());
        }
        let Some(member) = self.chooser.next()? else {
            let reason = "has begun what this run does not train".to_owned();
            return Err(TrainError::State { part: "begun".into(), reason });
        };
        if let Some(phase) = state.value::<Option<Phase>>("phase")? {
            let mut training = self.begin(&member)?;
            if training.phase() != phase {
                let reason = "lacks the warm start of the training that it is in".to_owned();
                return Err(TrainError::State { part: "phase".into(), reason });
            }
            training.restore(&state.part("training"), nodes)?;
            self.training = Some(training);
        }
        self.member = Some(member);
        Ok(())
    }
}

impl BestTraining {
    fn new(label: String, spec: &RunSpec, fitted: Fitted) -> Self {
        let Fitted { best, edges, curve, edges_history, .. } = fitted;
        let (config, snapshot) = (spec.config().clone(), best);
        Self { label, config, snapshot, edges, curve, edges_history }
    }

    fn save(&self) -> Result<State, TrainError> {
        let mut state = self.snapshot.save()?;
        state.put_value("label", &self.label)?;
        state.put_value("config", &self.config)?;
        state.put_value("curve", &self.curve)?;
        state.put_value("edges_history", &self.edges_history)?;
        if let Some(edges) = &self.edges {
            state.put_part("edges", edges.save());
        }
        Ok(state)
    }

    fn restore(state: &State, nodes: usize) -> Result<Self, TrainError> {
        let edges = state.part("edges");
        Ok(Self {
            label: state.value("label")?,
            config: state.value("config")?,
            snapshot: Snapshot::restore(state, nodes)?,
            edges: edges.has("difficulty").then(|| EdgeReport::restore(&edges)).transpose()?,
            curve: state.value("curve")?,
            edges_history: state.value("edges_history")?,
        })
    }
}

/// Does one run from beginning to end. `listener` is told of each event and says whether to go on; a run that is told to
/// stop ends with what it has.
///
/// # Errors
/// A config that cannot run; labels, features or split that do not fit; training that diverges.
pub fn train(
    dataset: &Dataset,
    split: &Split,
    config: &RunConfig,
    seed: u64,
    threads: &Threads,
    listener: &mut dyn Listener,
) -> Result<Finished, TrainError> {
    let config = config.check()?;
    let (material, judge) = Material::new(dataset, split)?;
    let spec = config.spec(&material, seed)?;
    let mut run = Run::start(spec, &material, &Shelf::new(), threads)?;
    let mut stopped = None;
    while let Some(events) = run.advance()? {
        let mut goes_on = true;
        for event in events {
            goes_on &= listener.on(event);
        }
        if !goes_on {
            stopped = Some("by the listener");
            break;
        }
    }
    run.finish(&judge, stopped)
}
