//! One run of an experiment: looked up, claimed, done, stored.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use edgepace_graph::{Features, Threads, files};
use edgepace_train::{Event, Finished, Run, RunSpec, Shelf, TrainError};

use super::groups::{Group, Shared};
use super::{CellRun, Ended, LOOKED_EVERY, Runner, TOLD_EVERY};
use crate::error::LabError;
use crate::experiment::{Cell, Experiment};
use crate::folder::SeedFolder;
use crate::store::{Asked, Label, RunRow, Status};
use crate::work::Work;

/// What became of an attempt to do a run.
pub(super) enum Attempt {
    /// It is over, or left.
    Over(CellRun),
    /// Another process is at it.
    Busy,
    /// It needs so much memory that it has to be alone.
    Alone,
}

impl Runner<'_> {
    /// Does a run, unless it is in the store. An error is one that concerns all runs.
    pub(super) fn attempt(
        &self,
        worker: usize,
        group: &Group,
        number: usize,
        threads: &Threads,
        jobs: usize,
        patient: bool,
    ) -> Result<Attempt, LabError> {
        let seed = group.seed;
        let over = |id: Option<String>, ended: Ended| {
            if ended != Ended::Left {
                let failed = matches!(ended, Ended::Failed(_) | Ended::NoData(_));
                self.estimates(|estimates| estimates.over(number, failed));
            }
            Ok(Attempt::Over(CellRun { cell: number, seed, id, ended }))
        };
        if self.stops() {
            return over(None, Ended::Left);
        }
        let cell = &self.experiment.cells[number];
        let begin = Instant::now();
        let shared = group.shared(&self.datasets, threads);
        self.spend(|spent| spent.data += begin.elapsed().as_secs_f64());
        let shared = match shared {
            Ok(shared) => shared,
            Err(reason) => return over(None, Ended::NoData(reason)),
        };
        let material = &shared.data.material;
        let spec = match cell.run.spec(material, seed) {
            Ok(spec) => spec,
            Err(error) => return over(None, Ended::Failed(error.to_string())),
        };
        let id = spec.id().to_owned();
        if let Some(ended) = self.stored(&id, cell, seed)? {
            return over(Some(id), ended);
        }
        let work = self.measure(number, &spec, &shared, threads)?;
        if jobs > 1 && spec.check_memory(material, jobs, self.options.memory).is_err() {
            return Ok(Attempt::Alone);
        }
        let claim = loop {
            match self.store.claim(&id)? {
                Ok(claim) => break claim,
                Err(_) if !patient => return Ok(Attempt::Busy),
                Err(_) if self.stops() => return over(Some(id), Ended::Left),
                Err(_) => std::thread::sleep(LOOKED_EVERY),
            }
        };
        // Who had it before may have finished it.
        if let Some(ended) = self.stored(&id, cell, seed)? {
            return over(Some(id), ended);
        }
        let asked = Asked {
            id: &id,
            dataset: &cell.dataset,
            noise: cell.noise.to_string(),
            split: cell.split.as_ref().map_or_else(String::new, ToString::to_string),
            config: &cell.run,
            metric: spec.metric().name(),
            seed,
            nodes: material.graph().nodes(),
            edges: material.graph().edges(),
            work,
        };
        let config = serde_json::to_value(spec.config()).unwrap_or_default();
        let fits = spec.check_memory(material, 1, self.options.memory);
        let done = fits.map_err(LabError::from).and_then(|()| {
            let work = || self.train(worker, number, spec, &shared, &claim.folder, threads);
            catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
                let reason = "the program itself made a mistake in it, which it wrote to standard error";
                Err(LabError::Failed { reason: reason.to_owned() })
            })
        });
        match done {
            Ok(None) => over(Some(id), Ended::Left),
            Ok(Some(finished)) => {
                let row = RunRow::done(&asked, &finished.record);
                self.store.put(&row, &config, Some(&finished.record), &[self.label(cell, seed, &id)])?;
                claim.folder.remove_checkpoint()?;
                self.estimates(|estimates| estimates.learn(&row));
                over(Some(id), Ended::Done)
            }
            Err(error) if concerns_all(&error) => Err(error),
            Err(error) => {
                let reason = error.to_string();
                let row = RunRow::failed(&asked, Some(reason.clone()));
                self.store.put(&row, &config, None, &[self.label(cell, seed, &id)])?;
                claim.folder.remove_files()?;
                over(Some(id), Ended::Failed(reason))
            }
        }
    }

    /// What the store says of a run; none where it is to be done.
    fn stored(&self, id: &str, cell: &Cell, seed: u64) -> Result<Option<Ended>, LabError> {
        let Some(row) = self.store.row(id)? else { return Ok(None) };
        let ended = match row.status {
            Status::Done => Ended::Before,
            Status::Failed if self.options.retry => return Ok(None),
            Status::Failed => Ended::Failed(row.error.unwrap_or_default()),
        };
        let label = self.label(cell, seed, id);
        if !self.labels.contains(&label) {
            self.store.put_labels(&[label])?;
        }
        // What a process left that was killed between storing and clearing up.
        let folder = SeedFolder::at(&self.store.folder_of(id));
        if folder.path().exists()
            && let Ok(claim) = self.store.claim(id)?
        {
            files::sweep(claim.folder.path())?;
            claim.folder.remove_checkpoint()?;
        }
        Ok(Some(ended))
    }

    fn label(&self, cell: &Cell, seed: u64, id: &str) -> Label {
        self.experiment.label(cell, seed, id)
    }

    /// How much work a run is, which estimates learn.
    fn measure(
        &self,
        cell: usize,
        spec: &RunSpec,
        shared: &Shared,
        threads: &Threads,
    ) -> Result<f64, LabError> {
        let material = &shared.data.material;
        // Nothing is trained yet: what it begins with is only named.
        let epochs = Run::start(spec.clone(), material, &Shelf::new(), threads)?.progress().1;
        let stored = match &**shared.data.dataset.features() {
            Features::Dense(dense) => dense.values().len(),
            Features::Sparse(sparse) => sparse.values().len(),
        };
        Ok(self
            .estimates(|estimates| estimates.measure(cell, material.graph(), stored, spec.config(), epochs)))
    }

    fn train(
        &self,
        worker: usize,
        cell: usize,
        spec: RunSpec,
        shared: &Shared,
        folder: &SeedFolder,
        threads: &Threads,
    ) -> Result<Option<Finished>, LabError> {
        // A checkpoint that cannot be read costs the time that it saved, and no more.
        if folder.checkpoint().exists()
            && edgepace_train::read_checkpoint(&folder.checkpoint(), &spec).is_err()
        {
            folder.remove_checkpoint()?;
        }
        let own_shelf = self.experiment.own_warm_starts || self.options.keep.history;
        let told = Mutex::new(Instant::now());
        let work = Work {
            threads,
            // A history has all epochs, those of the warm start included.
            shelf: if own_shelf { Shelf::new() } else { Arc::clone(&shared.shelf) },
            folder: Some(folder),
            keep: self.options.keep,
            writes_record: false,
            checkpoint: Some(self.options.checkpoint),
            deadline: None,
            stop: &|| self.stops(),
            goes_on: &|_| (),
            on: &|_: &[Event], done, left| {
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                if told.elapsed() >= TOLD_EVERY {
                    *told = Instant::now();
                    let share = done as f64 / (done + left).max(1) as f64;
                    let progress = self.estimates(|estimates| {
                        estimates.within(worker, cell, share);
                        estimates.progress(self.options.jobs)
                    });
                    self.options.watch.progress(&progress);
                }
            },
        };
        let begin = Instant::now();
        let finished = work.run(spec, &shared.data);
        self.spend(|spent| spent.runs += begin.elapsed().as_secs_f64());
        self.estimates(|estimates| estimates.left(worker));
        finished
    }

    /// What would become of a run, without doing it: it is left.
    pub(super) fn look(&self, group: &Group, number: usize) -> Result<CellRun, LabError> {
        let threads = Threads::one();
        let (cell, seed) = (&self.experiment.cells[number], group.seed);
        let over = |id: Option<String>, ended: Ended| {
            self.estimates(|estimates| estimates.over(number, false));
            Ok(CellRun { cell: number, seed, id, ended })
        };
        let shared = match group.shared(&self.datasets, &threads) {
            Ok(shared) => shared,
            Err(reason) => return over(None, Ended::NoData(reason)),
        };
        let spec = match cell.run.spec(&shared.data.material, seed) {
            Ok(spec) => spec,
            Err(error) => return over(None, Ended::Failed(error.to_string())),
        };
        self.measure(number, &spec, &shared, &threads)?;
        let id = Some(spec.id().to_owned());
        match self.store.row(spec.id())? {
            Some(row) if row.status == Status::Done => over(id, Ended::Before),
            Some(row) if !self.options.retry => over(id, Ended::Failed(row.error.unwrap_or_default())),
            _ => Ok(CellRun { cell: number, seed, id, ended: Ended::Left }),
        }
    }
}

impl Experiment {
    /// What it calls a run of one of its cells.
    pub fn label(&self, cell: &Cell, seed: u64, id: &str) -> Label {
        Label {
            experiment: self.name.clone(),
            graph: cell.graph.clone(),
            noise: cell.noise.to_string(),
            split: cell.split.as_ref().map_or_else(String::new, ToString::to_string),
            backbone: cell.backbone.name().to_owned(),
            method: cell.method.clone(),
            config: cell.config.clone(),
            seed,
            id: id.to_owned(),
        }
    }
}

/// Whether an error would meet every run: what cannot be written here cannot be written there.
fn concerns_all(error: &LabError) -> bool {
    matches!(error, LabError::File(_) | LabError::Store { .. } | LabError::Train(TrainError::File { .. }))
}
