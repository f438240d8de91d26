//! The runs of a plan, several at a time, each saved now and then.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use edgepace_graph::{Dataset, Threads};
use edgepace_train::{CheckedConfig, Event, Finished, Run, RunConfig, RunRecord, Shelf, TrainError};

use crate::error::LabError;
use crate::folder::RunFolder;
use crate::plan::{Plan, RunData};
use crate::work::{KeepFiles, Work};

/// What is told of runs in progress.
pub trait Watch: Sync {
    /// A run goes on from a checkpoint, or was over before; what happened until then is in this file, one JSON object per
    /// line.
    fn goes_on(&self, _seed: u64, _history: &Path) {}
    /// A run did something; `done` epochs are behind it and about `left` to come.
    fn on(&self, seed: u64, events: &[Event], done: u64, left: u64);
    /// A run is over.
    fn over(&self, seed: u64);
}

/// Tells all of them.
impl Watch for Vec<&dyn Watch> {
    fn goes_on(&self, seed: u64, history: &Path) {
        self.iter().for_each(|watch| watch.goes_on(seed, history));
    }

    fn on(&self, seed: u64, events: &[Event], done: u64, left: u64) {
        self.iter().for_each(|watch| watch.on(seed, events, done, left));
    }

    fn over(&self, seed: u64) {
        self.iter().for_each(|watch| watch.over(seed));
    }
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn on(&self, _: u64, _: &[Event], _: u64, _: u64) {}
    fn over(&self, _: u64) {}
}

/// How runs are done; none of it changes what comes out.
pub struct Options<'a> {
    /// Runs at the same time.
    pub jobs: usize,
    /// Threads of each run.
    pub threads: usize,
    /// Where files go; none: nowhere.
    pub folder: Option<&'a RunFolder>,
    /// How often a run is saved, 0 being after each epoch; none: never. Only with a folder.
    pub checkpoint: Option<Duration>,
    /// When all runs are to end with what they have.
    pub deadline: Option<Instant>,
    /// Turns true when all runs are to be saved and left.
    pub stop: &'a AtomicBool,
    /// The memory that may be used, in bytes; none: what the system has.
    pub memory: Option<u64>,
    /// Who is told.
    pub watch: &'a dyn Watch,
}

/// What became of a run.
pub enum Outcome<R> {
    /// It is over.
    Done(R),
    /// It was over before.
    Before(Box<RunRecord>),
    /// It was saved and left, to go on later.
    Left,
}

/// A run that is over, with what it ran on.
pub struct FinishedRun {
    /// What it ran on.
    pub data: RunData,
    /// What it left behind.
    pub finished: Finished,
}

/// What a run would do and cost.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// The name of the split.
    pub split: String,
    /// Nodes to train on, to validate and to test.
    pub sizes: [usize; 3],
    /// The settings, complete but for what a run that chooses leaves open.
    pub config: RunConfig,
    /// The memory that it needs beside the dataset, estimated from sizes.
    pub bytes: u64,
    /// How long it would take; none where there is too little memory to try.
    pub seconds: Option<f64>,
    /// Epochs that it would take, those of what it chooses among and of a warm start included.
    pub epochs: u64,
    /// Those that were tried.
    pub timed_epochs: u64,
    /// How long these took, all that comes before the first included.
    pub timed_seconds: f64,
}

/// A plan with its dataset, ready to run.
pub struct Sweep {
    plan: Plan,
    config: CheckedConfig,
    dataset: Dataset,
}

impl Sweep {
    /// A plan whose settings were checked, with the dataset of its first run, without noise.
    pub fn new(plan: Plan, config: CheckedConfig, dataset: Dataset) -> Self {
        Self { plan, config, dataset }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The settings.
    pub fn config(&self) -> &CheckedConfig {
        &self.config
    }

    /// The name of what is trained on: as it was given where the graph follows the seeds.
    pub fn dataset_name(&self) -> &str {
        self.plan.unseeded().unwrap_or(self.dataset.name())
    }

    /// The dataset of the first run, without noise.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// What the first run would do and cost. It is begun and timed for so long at most, and nothing is kept of it.
    ///
    /// # Errors
    /// What a run refuses, but for too little memory.
    pub fn forecast(&self, threads: &Threads, most: Duration) -> Result<Forecast, LabError> {
        let seed = self.plan.seeds.first().copied().unwrap_or(0);
        let data = self.plan.data_of(threads, &self.dataset, seed)?;
        let spec = self.config.spec(&data.material, seed)?;
        let (config, bytes) = (spec.config().clone(), spec.needed_bytes(&data.material));
        let split = data.material.split();
        let sizes = [split.train().len(), split.validation().len(), split.test().len()];
        let split = split.name().to_owned();
        // What does not fit is told, not tried.
        if spec.check_memory(&data.material, 1, None).is_err() {
            let epochs = u64::from(config.epochs);
            let (seconds, timed_epochs, timed_seconds) = (None, 0, 0.0);
            return Ok(Forecast {
                split,
                sizes,
                config,
                bytes,
                seconds,
                epochs,
                timed_epochs,
                timed_seconds,
            });
        }
        let (begin, shelf) = (Instant::now(), Shelf::new());
        let mut run = Run::start(spec, &data.material, &shelf, threads)?;
        let started = begin.elapsed();
        while begin.elapsed() < most && run.advance()?.is_some() {}
        let (timed_seconds, (done, left)) = (begin.elapsed().as_secs_f64(), run.progress());
        let per_epoch = (timed_seconds - started.as_secs_f64()) / done.max(1) as f64;
        Ok(Forecast {
            split,
            sizes,
            config,
            bytes,
            seconds: Some(started.as_secs_f64() + per_epoch * (done + left) as f64),
            epochs: done + left,
            timed_epochs: done,
            timed_seconds,
        })
    }

    /// Does all runs and hands each to `finish` as soon as it is over. Answers are in the order of the seeds; after an error
    /// no further run is begun.
    ///
    /// # Errors
    /// The first error of a run or of `finish`, in the order of the seeds.
    pub fn each<R: Send, E: From<LabError> + Send>(
        &self,
        options: &Options<'_>,
        finish: impl Fn(FinishedRun) -> Result<R, E> + Sync,
    ) -> Result<Vec<Outcome<R>>, E> {
        let seeds = &self.plan.seeds;
        let next = AtomicUsize::new(0);
        let (sender, results) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..options.jobs.max(1) {
                let (sender, next, finish) = (sender.clone(), &next, &finish);
                scope.spawn(move || {
                    while let Some((place, &seed)) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, seeds.get(i)?)))
                    {
                        let result = self.one(seed, options, finish);
                        options.watch.over(seed);
                        if result.is_err() {
                            next.store(seeds.len(), Ordering::Relaxed);
                        }
                        // The receiver outlives every sender.
                        let _ = sender.send((place, result));
                    }
                });
            }
        });
        drop(sender);
        let mut results: Vec<(usize, Result<Outcome<R>, E>)> = results.into_iter().collect();
        results.sort_by_key(|(place, _)| *place);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn one<R, E: From<LabError>>(
        &self,
        seed: u64,
        options: &Options<'_>,
        finish: impl Fn(FinishedRun) -> Result<R, E>,
    ) -> Result<Outcome<R>, E> {
        if options.stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Left);
        }
        let threads =
            Threads::new(options.threads).map_err(|error| LabError::from(TrainError::from(error)))?;
        let data = self.plan.data_of(&threads, &self.dataset, seed)?;
        let spec = self.config.spec(&data.material, seed).map_err(LabError::from)?;
        let folder = options.folder.map(|folder| folder.seed(seed)).transpose()?;
        if let Some(folder) = &folder
            && let Some(record) = folder.record(&spec)?
        {
            folder.remove_checkpoint()?;
            options.watch.goes_on(seed, &folder.history());
            return Ok(Outcome::Before(Box::new(record)));
        }
        spec.check_memory(&data.material, options.jobs, options.memory).map_err(LabError::from)?;
        let work = Work {
            threads: &threads,
            shelf: Shelf::new(),
            folder: folder.as_ref(),
            keep: KeepFiles::ALL,
            writes_record: true,
            checkpoint: options.checkpoint,
            deadline: options.deadline,
            stop: &|| options.stop.load(Ordering::Relaxed),
            goes_on: &|history| options.watch.goes_on(seed, history),
            on: &|events, done, left| options.watch.on(seed, events, done, left),
        };
        match work.run(spec, &data)? {
            None => Ok(Outcome::Left),
            Some(finished) => finish(FinishedRun { data, finished }).map(Outcome::Done),
        }
    }
}
