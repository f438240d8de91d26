//! Does the runs of an experiment, several at a time, and keeps each in a store as soon as it is over.
//!
//! Runs of the same graph, noise, split and seed are a [group](groups): they share the dataset, prepared features and warm
//! starts, and one worker does them in turn as long as there are other groups for the others. Seeds are outermost, so that a
//! sweep that is stopped half-way has half of the seeds of everything.

mod estimate;
mod groups;
mod one;
mod part;
mod queue;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use edgepace_graph::{Dataset, Threads};
use edgepace_train::TrainError;
use serde::Serialize;

use crate::error::LabError;
use crate::experiment::{Cell, Experiment};
use crate::store::{Label, Store};
use crate::work::KeepFiles;
use estimate::Estimates;
use groups::{Datasets, Group};
use one::Attempt;
pub use part::Part;
use queue::Queue;

/// How often whoever watches is told of progress within runs.
const TOLD_EVERY: Duration = Duration::from_millis(200);
/// How often a worker looks whether a run that another process works on is over.
const LOOKED_EVERY: Duration = Duration::from_millis(100);

/// Brings datasets by name: from the registry, a generator or a file.
pub trait Load: Sync {
    /// The dataset of that name, or why it cannot be had.
    ///
    /// # Errors
    /// Why it cannot be had.
    fn load(&self, threads: &Threads, name: &str) -> Result<Dataset, String>;
}

/// What is told of a sweep in progress.
pub trait WatchRuns: Sync {
    /// How far it is.
    fn progress(&self, progress: &SweepProgress);
    /// A run is over, or was before.
    fn over(&self, cell: &Cell, run: &CellRun);
}

impl WatchRuns for crate::sweep::Unwatched {
    fn progress(&self, _: &SweepProgress) {}
    fn over(&self, _: &Cell, _: &CellRun) {}
}

/// How far a sweep is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SweepProgress {
    /// All runs.
    pub runs: usize,
    /// Those that are over, were so before, or failed.
    pub over: usize,
    /// Those that failed.
    pub failed: usize,
    /// The share of the work that is done.
    pub share: f64,
    /// About how long the rest will take; none before anything is known.
    pub seconds_left: Option<f64>,
}

/// How runs are done; none of it changes what comes out.
#[derive(Clone, Copy)]
pub struct RunnerOptions<'a> {
    /// Runs at the same time.
    pub jobs: usize,
    /// Threads of each run; none: 1 where there are several jobs, else all cores. Runs that need so much memory that not all
    /// jobs fit are done alone, with the threads of all jobs.
    pub threads: Option<usize>,
    /// The memory that may be used, in bytes; none: what the system has.
    pub memory: Option<u64>,
    /// How often a run is saved, 0 being after each epoch.
    pub checkpoint: Duration,
    /// Whether runs that failed are tried again.
    pub retry: bool,
    /// Which files of a run stay beside the store.
    pub keep: KeepFiles,
    /// Turns true when all runs are to be saved and left.
    pub stop: &'a AtomicBool,
    /// Who is told.
    pub watch: &'a dyn WatchRuns,
    /// Who brings datasets.
    pub load: &'a dyn Load,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It is over, and in the store.
    Done,
    /// It was in the store before.
    Before,
    /// It failed now or before: why.
    Failed(String),
    /// Its data cannot be had: why.
    NoData(String),
    /// It was saved and left, or not begun, because the sweep was told to stop.
    Left,
}

impl Ended {
    /// As machines read it: a word, and why where there is something to say.
    pub fn told(self) -> (&'static str, Option<String>) {
        match self {
            Ended::Done => ("done", None),
            Ended::Before => ("before", None),
            Ended::Failed(error) => ("failed", Some(error)),
            Ended::NoData(error) => ("no data", Some(error)),
            Ended::Left => ("left", None),
        }
    }
}

/// A run of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRun {
    /// Which cell of the experiment, from 0.
    pub cell: usize,
    /// The seed.
    pub seed: u64,
    /// What the store knows it by; none where it was not begun, or its data refuses it.
    pub id: Option<String>,
    /// What became of it.
    pub ended: Ended,
}

/// What a sweep would do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SweepForecast {
    /// All runs.
    pub runs: usize,
    /// Those that are in the store.
    pub done: usize,
    /// Those that failed before.
    pub failed: usize,
    /// Those whose data cannot be had.
    pub no_data: usize,
    /// About how long those that are left would take with all jobs, from what runs in the store took, or else from sizes.
    pub seconds: f64,
}

/// Where the time of the workers went, in seconds, all workers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// In runs, from their first epoch to their score.
    pub runs: f64,
    /// With data: reading or generating graphs, noise, splits, features.
    pub data: f64,
    /// With all else: looking up, claiming, storing, telling, waiting for the last run of another worker.
    pub other: f64,
}

/// An experiment on its way into a store.
pub struct Runner<'a> {
    experiment: &'a Experiment,
    store: &'a Store,
    options: RunnerOptions<'a>,
    /// Threads of each run.
    threads: usize,
    groups: Vec<Group>,
    datasets: Datasets<'a>,
    estimates: Mutex<Estimates>,
    /// As it adds up: `other` is the whole.
    spent: Mutex<Spent>,
    /// What the store calls runs of this experiment already.
    labels: BTreeSet<Label>,
    /// Turns true with the first error that concerns all runs, as a full disk.
    halted: AtomicBool,
}

impl<'a> Runner<'a> {
    /// Nothing is run or read yet but what runs in the store took.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn new(
        experiment: &'a Experiment,
        store: &'a Store,
        options: RunnerOptions<'a>,
    ) -> Result<Self, LabError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = options.threads.unwrap_or(if options.jobs > 1 { 1 } else { cores });
        let estimates = Estimates::new(&experiment.cells, &store.rows()?);
        Ok(Self {
            experiment,
            store,
            options,
            threads,
            groups: groups::of(experiment),
            datasets: Datasets::new(options.load),
            estimates: Mutex::new(estimates),
            spent: Mutex::default(),
            labels: store.labels(Some(&experiment.name))?.into_iter().collect(),
            halted: AtomicBool::new(false),
        })
    }

    /// Does all runs that are not in the store. The answer is in the order of cells, then seeds.
    ///
    /// # Errors
    /// What concerns all runs, as a full disk or a store that cannot be written; what fails in one run is in its answer, and in
    /// the store.
    pub fn run(&self) -> Result<Vec<CellRun>, LabError> {
        let all = self.groups.iter().enumerate();
        let queue = Queue::new(all.map(|(number, group)| (number, group.cells.clone())));
        let (mut runs, later) = self.work_off(queue, self.options.jobs, self.threads, false)?;
        let (alone, busy): (Vec<_>, Vec<_>) = later.into_iter().partition(|later| later.alone);
        // By now others may have finished what they were at; otherwise one waits for them.
        let (more, further) = self.work_off(Queue::of(&busy), self.options.jobs, self.threads, true)?;
        runs.extend(more);
        let alone: Vec<Later> = alone.into_iter().chain(further).collect();
        let (more, _) = self.work_off(Queue::of(&alone), 1, self.threads * self.options.jobs.max(1), true)?;
        runs.extend(more);
        runs.sort_by_key(|run| (run.cell, self.place(run)));
        Ok(runs)
    }

    fn place(&self, run: &CellRun) -> Option<usize> {
        self.experiment.cells[run.cell].seeds.iter().position(|&seed| seed == run.seed)
    }

    /// Works off a queue. Returns what is over or left, and what has to wait.
    fn work_off(
        &self,
        queue: Queue,
        jobs: usize,
        threads: usize,
        patient: bool,
    ) -> Result<(Vec<CellRun>, Vec<Later>), LabError> {
        let jobs = jobs.clamp(1, queue.len().max(1));
        let (runs, later, error) = (Mutex::default(), Mutex::default(), Mutex::new(None));
        let threads = Threads::new(threads).map_err(TrainError::from)?;
        let begin = Instant::now();
        std::thread::scope(|scope| {
            for worker in 0..jobs {
                // Each has threads of its own.
                let threads = Threads::new(threads.count()).unwrap_or_else(|_| Threads::one());
                let (queue, runs, later, error) = (&queue, &runs, &later, &error);
                scope.spawn(move || {
                    let mut at = None;
                    while let Some((number, cell)) = queue.next(&mut at) {
                        let group = &self.groups[number];
                        let attempt = self.attempt(worker, group, cell, &threads, jobs, patient);
                        match attempt {
                            Ok(Attempt::Over(run)) => {
                                self.tell(cell, &run);
                                push(runs, run);
                            }
                            Ok(Attempt::Alone) => push(later, Later { group: number, cell, alone: true }),
                            Ok(Attempt::Busy) => {
                                // The others of the group are probably next: do something else meanwhile.
                                for cell in queue.defer(number, cell) {
                                    push(later, Later { group: number, cell, alone: false });
                                }
                            }
                            Err(cause) => {
                                self.halted.store(true, Ordering::Relaxed);
                                let mut error = error.lock().unwrap_or_else(PoisonError::into_inner);
                                let _ = error.get_or_insert(cause);
                                break;
                            }
                        }
                        if queue.is_over(number) {
                            group.forget();
                        }
                    }
                });
            }
        });
        self.spend(|spent| spent.other += jobs as f64 * begin.elapsed().as_secs_f64());
        match error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok((
                runs.into_inner().unwrap_or_else(PoisonError::into_inner),
                later.into_inner().unwrap_or_else(PoisonError::into_inner),
            )),
        }
    }

    /// Whether all runs are to be saved and left.
    fn stops(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed) || self.halted.load(Ordering::Relaxed)
    }

    /// Where the time of the workers went so far.
    pub fn spent(&self) -> Spent {
        let Spent { runs, data, other } = *self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        Spent { runs, data, other: (other - runs - data).max(0.0) }
    }

    fn spend(&self, with: impl FnOnce(&mut Spent)) {
        with(&mut self.spent.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn estimates<R>(&self, with: impl FnOnce(&mut Estimates) -> R) -> R {
        with(&mut self.estimates.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, cell: usize, run: &CellRun) {
        self.options.watch.over(&self.experiment.cells[cell], run);
        let progress = self.estimates(|estimates| estimates.progress(self.options.jobs));
        self.options.watch.progress(&progress);
    }

    /// What would be done: every run is looked up in the store, for which all data is read.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn forecast(&self) -> Result<SweepForecast, LabError> {
        let runs = self.outlook()?;
        let count = |is: fn(&Ended) -> bool| runs.iter().filter(|run| is(&run.ended)).count();
        let jobs = self.options.jobs;
        Ok(SweepForecast {
            runs: runs.len(),
            done: count(|ended| *ended == Ended::Before),
            failed: count(|ended| matches!(ended, Ended::Failed(_))),
            no_data: count(|ended| matches!(ended, Ended::NoData(_))),
            seconds: self.estimates(|estimates| estimates.progress(jobs).seconds_left).unwrap_or(0.0),
        })
    }

    /// What would become of each run: [`Ended::Left`] is to be done. All data is read.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn outlook(&self) -> Result<Vec<CellRun>, LabError> {
        let all = self.groups.iter().enumerate();
        let queue = Queue::new(all.map(|(number, group)| (number, group.cells.clone())));
        let (runs, error) = (Mutex::default(), Mutex::new(None));
        std::thread::scope(|scope| {
            for _ in 0..self.options.jobs.clamp(1, queue.len().max(1)) {
                scope.spawn(|| {
                    let mut at = None;
                    while let Some((number, cell)) = queue.next(&mut at) {
                        match self.look(&self.groups[number], cell) {
                            Ok(run) => push(&runs, run),
                            Err(cause) => {
                                let mut error = error.lock().unwrap_or_else(PoisonError::into_inner);
                                let _ = error.get_or_insert(cause);
                                return;
                            }
                        }
                        if queue.is_over(number) {
                            self.groups[number].forget();
                        }
                    }
                });
            }
        });
        if let Some(error) = error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let mut runs: Vec<CellRun> = runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        runs.sort_by_key(|run| (run.cell, self.place(run)));
        Ok(runs)
    }
}

/// A run that has to wait.
struct Later {
    group: usize,
    cell: usize,
    /// Whether it waits for the machine to be free, and not for another process.
    alone: bool,
}

fn push<T>(list: &Mutex<Vec<T>>, item: T) {
    list.lock().unwrap_or_else(PoisonError::into_inner).push(item);
}
