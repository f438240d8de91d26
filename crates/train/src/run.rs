//! One run: it advances epoch by epoch, can be saved, resumed and finished.

mod finish;
mod pooling;

use std::sync::Arc;
use std::time::Instant;

use edgepace_graph::{Dataset, Split};
use edgepace_nn::{Logits, Threads};

use crate::choose::{Chooser, Member, Trial};
use crate::compare::Comparison;
use crate::config::RunConfig;
use crate::error::TrainError;
use crate::event::{Event, Listener, Phase};
use crate::fit::{Terms, Training};
use crate::learner::{Recipe, Start, WarmStart};
use crate::material::Material;
use crate::pool::PooledExpert;
use crate::record::RunRecord;
use crate::scoring::comparable;
use crate::shelf::Shelf;
use crate::snapshot::{EdgeReport, Snapshot};
use crate::spec::{Course, RunSpec};
use crate::state::State;
use crate::trained::Trained;

/// A run in progress, between two epochs. The same spec gives the same bits on any number of threads, however often it was
/// saved and resumed.
///
/// Several trainings make one run where a method has to choose: they come one after the other, and the best on validation
/// is kept. What a method starts from, and plain training that it is compared with, are taken from the shelf, or trained first
/// and put there. Plain training is kept where it validates as well as what the method made, unless the settings say otherwise
/// ([`Keep`](crate::Keep)).
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
    best: Option<Trained>,
    /// Every expert that is trained, where they answer together.
    experts: Vec<Trained>,
    /// The latest warm starts with their ids: the next training may need them too, and the first may turn out to be the best.
    warm_starts: Vec<(String, Arc<Trained>)>,
    /// Warm starts of the training at hand that come after the one that is trained now.
    warm_starts_to_come: usize,
    /// What the best so far is compared with.
    best_warm_start: Option<(String, Arc<Trained>)>,
    /// The edge report of the best that has one, with its validation score.
    report: Option<(Option<f64>, EdgeReport)>,
    events: Vec<Event>,
    epochs_done: u64,
    seconds: f64,
    warm_start_seconds: f64,
}

/// Standard errors by which plain training on the paper's ground must validate better than on the run's own: one for chance, and
/// one because its epoch is that of the best score on these very nodes.
const BY_FAR: f64 = 2.0;

/// What a checkpoint calls the warm starts, in turn.
const WARM_STARTS: [&str; 3] = ["warm_start", "second_warm_start", "third_warm_start"];

/// A run that is over.
pub struct Finished {
    /// What was measured, and how. Its settings bring the run back.
    pub record: RunRecord,
    /// The settings that what was kept was trained with: not those of the record where that is plain training.
    pub config: RunConfig,
    /// What was kept, at its epoch of best validation.
    pub snapshot: Snapshot,
    /// Where a pool was kept, the experts that answer for other nodes than those of the training. Empty otherwise, and where the
    /// features are of the training graph alone.
    pub experts: Vec<PooledExpert>,
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
            experts: Vec::new(),
            warm_starts: Vec::new(),
            warm_starts_to_come: 0,
            best_warm_start: None,
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
        let (begun, _) = self.chooser.counts();
        let of_training = self.training.as_ref().map_or(0, |training| u64::from(training.left()));
        let waits =
            |_: &&Member| self.training.as_ref().is_none_or(|training| training.phase() == Phase::WarmStart);
        let member = self.member.as_ref().filter(waits).map(|member| &member.spec);
        let known = member.into_iter().chain(self.chooser.waiting());
        let of_known: u64 = known.map(|spec| u64::from(epochs_of(spec))).sum();
        let first = self.chooser.waiting().next().filter(|_| begun == 0);
        let missing = |firsts: Vec<RunSpec>| firsts.len() - self.on_shelf(&firsts).len();
        let begins = first.map_or(0, |first| first.warm_starts().map_or(0, missing));
        let to_come = epochs * (begins + self.warm_starts_to_come) as u64;
        (self.epochs_done, of_training + of_known + self.chooser.epochs_unknown() + to_come)
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
        if !matches!(member.spec.course(), Course::One(_)) {
            let expected = "one that has nothing left to choose";
            return Err(TrainError::refused("candidate", &member.label[..], expected));
        }
        let firsts = member.spec.warm_starts()?;
        let there = self.on_shelf(&firsts);
        let missing = firsts.get(there.len());
        self.warm_starts_to_come = firsts.len().saturating_sub(there.len() + 1);
        if !there.is_empty() {
            self.warm_starts = there;
        }
        let (spec, phase) = missing.map_or((&member.spec, Phase::Training), |one| (one, Phase::WarmStart));
        let from = spec.starts_from()?.and_then(|first| self.shelf.get(first.id()));
        self.training_of(spec, phase, from.as_ref().map(|trained| &trained.snapshot))
    }

    /// Those of these trainings that are on the shelf, up to the first that is not.
    fn on_shelf(&self, specs: &[RunSpec]) -> Vec<(String, Arc<Trained>)> {
        specs.iter().map_while(|spec| Some((spec.id().to_owned(), self.shelf.get(spec.id())?))).collect()
    }

    fn training_of(
        &self,
        spec: &RunSpec,
        phase: Phase,
        warm_start: Option<&Snapshot>,
    ) -> Result<Training, TrainError> {
        let begin = Instant::now();
        let Course::One(recipe) = spec.course() else {
            return Err(TrainError::refused("method", &spec.config().method[..], "one that trains"));
        };
        let (material, config, threads) = (&self.material, spec.config(), &self.threads);
        let learner = recipe.start(&Start { material, config, seed: spec.seed(), threads, warm_start })?;
        let edges_at_first = material.graph().edges();
        let terms = Terms {
            phase,
            epochs: epochs_of(spec),
            patience: if recipe.epochs().is_some() { 0 } else { config.patience },
            last_counts: recipe.last_epoch_counts(),
            metric: spec.metric(),
            edges_at_first,
        };
        Ok(Training::new(learner, terms, begin.elapsed().as_secs_f64()))
    }

    /// Takes up what the training that is over, or stopped, left behind.
    fn end_training(&mut self) -> Result<(), TrainError> {
        let (Some(training), Some(member)) = (self.training.take(), self.member.take()) else {
            return Ok(());
        };
        let phase = training.phase();
        let Some(fitted) = training.fitted()? else { return Ok(()) };
        if phase == Phase::WarmStart {
            self.warm_start_seconds += fitted.seconds;
            let firsts = member.spec.warm_starts()?;
            if let Some(first) = firsts.get(self.on_shelf(&firsts).len()) {
                let label = first.config().method.clone();
                self.shelf.put(first.id(), Arc::new(Trained::new(label, first, fitted)));
            }
            self.warm_starts = self.on_shelf(&firsts);
            self.member = Some(member);
            return Ok(());
        }
        self.seconds += fitted.seconds;
        let validation = fitted.best.validation;
        let (epochs, seconds) = (fitted.curve.loss.len() as u32, fitted.seconds);
        let kept = Trained::new(member.label, &member.spec, fitted);
        match &member.spec.config().method[..] {
            "vanilla" => self.put_on_shelf(member.spec.id(), kept.clone()),
            "mlp" => self.shelf.put(member.spec.id(), Arc::new(kept.clone())),
            _ => {}
        }
        if let Some(edges) = &kept.edges
            && self.chooser.chooses()
            && self.report.as_ref().is_none_or(|(best, _)| validation > *best)
        {
            self.report = Some((validation, edges.clone()));
        }
        let score = self.score_of(&member.spec, &kept.snapshot);
        let trial = Trial { label: kept.label.clone(), validation, score, epochs, seconds };
        let is_best = self.chooser.tell(trial);
        if let Course::Pool { .. } = self.spec.course() {
            self.experts.push(kept);
        } else if is_best {
            self.best = Some(kept);
            self.best_warm_start = self.plain_to_keep();
        }
        Ok(())
    }

    /// The one of the latest warm starts that may be kept in place of what a method makes: of plain training on two grounds
    /// that of the run's own, which comes last, unless the other validates better by far.
    fn plain_to_keep(&self) -> Option<(String, Arc<Trained>)> {
        let plain = self.warm_starts.iter().filter(|(_, one)| one.config.method == WarmStart::Plain.method());
        let own_or_other = plain.reduce(|other, own| {
            let compared = Comparison::of_answers(&self.material, &own.1.snapshot, &other.1.snapshot);
            if compared.is_some_and(|compared| compared.is_beaten_by(BY_FAR)) { other } else { own }
        });
        own_or_other.or(self.warm_starts.first()).cloned()
    }

    /// What a training is chosen by, where that is not the metric of the run; none without validation nodes.
    fn score_of(&self, spec: &RunSpec, snapshot: &Snapshot) -> Option<f64> {
        let metric = recipe_of(spec)?.chosen_by()?;
        let (labels, nodes) = (self.material.labels(), self.material.split().validation());
        let score = metric.score(labels, nodes, Logits::new(&snapshot.logits, labels.width()));
        score.map(|score| comparable(metric, score))
    }

    fn put_on_shelf(&mut self, id: &str, plain: Trained) {
        let plain = Arc::new(plain);
        self.shelf.put(id, Arc::clone(&plain));
        self.warm_starts = vec![(id.to_owned(), plain)];
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
        for ((id, warm_start), name) in self.warm_starts.iter().zip(WARM_STARTS) {
            state.put_value(&format!("{name}_id"), id)?;
            state.put_part(name, warm_start.save()?);
        }
        let of_best = self.best_warm_start.as_ref();
        state.put_value("best_warm_start_id", &of_best.map(|(id, _)| id))?;
        // Mostly it is one of the latest.
        let other = of_best.filter(|(id, _)| self.warm_starts.iter().all(|(latest, _)| latest != id));
        for (name, kept) in
            [("best", self.best.as_ref()), ("best_warm_start", other.map(|(_, plain)| &**plain))]
        {
            if let Some(kept) = kept {
                state.put_part(name, kept.save()?);
            }
        }
        for (number, expert) in self.experts.iter().enumerate() {
            state.put_part(&format!("expert.{number}"), expert.save()?);
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
            self.chooser.tell(trial);
        }
        self.epochs_done = state.value("epochs_done")?;
        self.seconds = state.value("seconds")?;
        self.warm_start_seconds = state.value("warm_start_seconds")?;
        let kept = |name: &str| {
            let part = state.part(name);
            part.has("parameters").then(|| Trained::restore(&part, nodes)).transpose()
        };
        self.best = kept("best")?;
        if let Course::Pool { experts, .. } = self.spec.course() {
            for (number, (_, spec)) in experts.iter().take(self.chooser.trials().len()).enumerate() {
                let name = format!("expert.{number}");
                let missing = || TrainError::State { part: name.clone(), reason: "is not there".to_owned() };
                let expert = kept(&name)?.ok_or_else(missing)?;
                // One may be the warm start of another.
                self.shelf.put(spec.id(), Arc::new(expert.clone()));
                self.experts.push(expert);
            }
        }
        let report = state.part("report");
        if report.has("difficulty") {
            self.report = Some((report.value("validation")?, EdgeReport::restore(&report)?));
        }
        for name in WARM_STARTS {
            let Some(warm_start) = kept(name)? else { break };
            let (id, warm_start) = (state.value::<String>(&format!("{name}_id"))?, Arc::new(warm_start));
            self.shelf.put(&id, Arc::clone(&warm_start));
            self.warm_starts.push((id, warm_start));
        }
        // Checkpoints of earlier versions do not name it: they have one warm start at most.
        let latest = || self.warm_starts.first().map(|(id, _)| id.clone());
        let of_best = state.value::<Option<String>>("best_warm_start_id").unwrap_or_else(|_| latest());
        if let Some(id) = of_best {
            self.best_warm_start = self.warm_starts.iter().find(|(latest, _)| *latest == id).cloned();
            if let Some(plain) = kept("best_warm_start")? {
                let plain = Arc::new(plain);
                self.shelf.put(&id, Arc::clone(&plain));
                self.best_warm_start = Some((id, plain));
            }
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

/// The recipe of a spec that has nothing to choose.
fn recipe_of(spec: &RunSpec) -> Option<&dyn Recipe> {
    match spec.course() {
        Course::One(recipe) => Some(&**recipe),
        _ => None,
    }
}

/// The most epochs that a training takes.
fn epochs_of(spec: &RunSpec) -> u32 {
    recipe_of(spec).and_then(Recipe::epochs).unwrap_or(spec.config().epochs)
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
