//! One run from its beginning, or from its checkpoint, to its end. Written once, for run folders and stores.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgepace_data::native::check_unchanged;
use edgepace_graph::Threads;
use edgepace_train::{
    Audit, EdgeTable, Event, Finished, Run, RunSpec, Shelf, TableFormat, TrainError, read_checkpoint,
    write_checkpoint,
};

use crate::error::LabError;
use crate::folder::SeedFolder;
use crate::history::HistoryFile;
use crate::plan::RunData;

/// Checkpoints take at most this share of the time of a run, unless one is asked for after each epoch.
const CHECKPOINT_SHARE: f64 = 0.01;

/// Which files a run leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepFiles {
    /// What was learned about each edge: `edges.csv`.
    pub edges: bool,
    /// What predicts: `model.safetensors`.
    pub models: bool,
    /// What happened in each epoch: `history.jsonl`.
    pub history: bool,
}

impl KeepFiles {
    /// All of them.
    pub const ALL: Self = Self { edges: true, models: true, history: true };
}

/// How a run is done; none of it changes what comes out.
pub(crate) struct Work<'a> {
    pub(crate) threads: &'a Threads,
    /// Warm starts that are there already.
    pub(crate) shelf: Arc<Shelf>,
    /// Where files go; none: nowhere, and nothing is saved.
    pub(crate) folder: Option<&'a SeedFolder>,
    /// Which files stay.
    pub(crate) keep: KeepFiles,
    /// Whether the record is one of the files, the last one.
    pub(crate) writes_record: bool,
    /// How often it is saved, 0 being after each epoch; none: never. Only with a folder.
    pub(crate) checkpoint: Option<Duration>,
    /// When it is to end with what it has.
    pub(crate) deadline: Option<Instant>,
    /// Whether it is to be saved and left. Only with a folder.
    pub(crate) stop: &'a dyn Fn() -> bool,
    /// Told that it goes on from a checkpoint; what happened until then is in this file.
    pub(crate) goes_on: &'a dyn Fn(&Path),
    /// Told what happened, how many epochs are behind it and about how many are to come.
    pub(crate) on: &'a dyn Fn(&[Event], u64, u64),
}

impl Work<'_> {
    /// Trains until the run is over, or told to stop: then there is nothing. Its files are written before it is handed on; the
    /// checkpoint of a run that is over stays where the record is to be kept elsewhere.
    pub(crate) fn run(&self, spec: RunSpec, data: &RunData) -> Result<Option<Finished>, LabError> {
        let seed = spec.seed();
        let (mut run, bytes) = self.begin(spec, data)?;
        let mut history = self
            .folder
            .filter(|_| self.keep.history)
            .map(|folder| HistoryFile::open(&folder.history(), bytes))
            .transpose()?;
        if let Some(folder) = self.folder.filter(|_| history.is_some() && bytes > 0) {
            (self.goes_on)(&folder.history());
        }
        let mut saves = self.folder.map(|folder| Checkpoints::new(folder, self.checkpoint));
        let mut stopped = None;
        loop {
            match run.advance() {
                Ok(None) => break,
                Ok(Some(events)) => {
                    if let Some(history) = &mut history {
                        history.append(events)?;
                    }
                    let events = events.to_vec();
                    let (done, left) = run.progress();
                    (self.on)(&events, done, left);
                }
                Err(cause) => return Err(self.diverged(run, data, seed, cause)),
            }
            if let Some(saves) = &mut saves {
                let asked = (self.stop)();
                if asked || saves.due() {
                    saves.save(&run, history.as_mut())?;
                }
                if asked {
                    return Ok(None);
                }
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                stopped = Some("time limit");
                if let Some(saves) = &mut saves {
                    saves.save(&run, history.as_mut())?;
                }
                break;
            }
        }
        if let Some(history) = &mut history {
            history.sync()?;
        }
        // A graph that changed under the run makes a record that nobody can repeat.
        check_unchanged()?;
        let finished = run.finish(&data.judge, stopped)?;
        if let Some(folder) = self.folder {
            self.write(folder, data, &finished)?;
            if self.writes_record && stopped.is_none() {
                folder.remove_checkpoint()?;
            }
        }
        Ok(Some(finished))
    }

    /// The run at its beginning, or where it was saved, and how long its history was then.
    fn begin(&self, spec: RunSpec, data: &RunData) -> Result<(Run, u64), LabError> {
        let (material, shelf) = (&data.material, &self.shelf);
        // What was saved without its history cannot go on with one.
        let with_history = |folder: &&SeedFolder| !self.keep.history || folder.history().exists();
        let saved = self.folder.filter(with_history).map(SeedFolder::checkpoint).filter(|path| path.exists());
        let Some(path) = saved else {
            return Ok((Run::start(spec, material, shelf, self.threads)?, 0));
        };
        let (state, bytes) = read_checkpoint(&path, &spec)?;
        Ok((Run::resume(spec, material, shelf, self.threads, &state)?, bytes))
    }

    /// The files of a run that is over, the record last.
    fn write(&self, folder: &SeedFolder, data: &RunData, finished: &Finished) -> Result<(), LabError> {
        let dataset = &data.dataset;
        if let Some(report) = finished.edges.as_ref().filter(|_| self.keep.edges) {
            let audit = Audit::new(self.threads, dataset, report)?;
            let table = EdgeTable::new(dataset, report, &finished.snapshot.logits, &audit);
            table.write(&folder.edges(), TableFormat::Csv)?;
        }
        if self.keep.models {
            write_model(folder, data, finished)?;
        }
        if self.writes_record { folder.write_record(&finished.record) } else { Ok(()) }
    }

    /// The error of a run, whose best until then is kept where there is a folder for it.
    fn diverged(&self, run: Run, data: &RunData, seed: u64, cause: TrainError) -> LabError {
        if !matches!(cause, TrainError::Diverged { .. }) {
            return cause.into();
        }
        let keep = |folder: &SeedFolder| {
            let finished = run.finish(&data.judge, Some("training diverged")).ok()?;
            write_model(folder, data, &finished).ok()?;
            folder.write_record(&finished.record).ok()?;
            Some(folder.path().to_owned())
        };
        LabError::Diverged { seed, kept: self.folder.filter(|_| self.writes_record).and_then(keep), cause }
    }
}

/// The model, which knows where its data came from.
fn write_model(folder: &SeedFolder, data: &RunData, finished: &Finished) -> Result<(), LabError> {
    let source = serde_json::to_string(&data.source).ok();
    Ok(finished.write_model(&folder.model(), &data.dataset, source.as_deref())?)
}

/// When a run is saved.
struct Checkpoints<'a> {
    folder: &'a SeedFolder,
    interval: Option<Duration>,
    last: Instant,
    /// How long the latest one took.
    took: Duration,
}

impl<'a> Checkpoints<'a> {
    fn new(folder: &'a SeedFolder, interval: Option<Duration>) -> Self {
        Self { folder, interval, last: Instant::now(), took: Duration::ZERO }
    }

    fn due(&self) -> bool {
        let Some(interval) = self.interval else { return false };
        let affordable =
            if interval.is_zero() { Duration::ZERO } else { self.took.div_f64(CHECKPOINT_SHARE) };
        self.last.elapsed() >= interval.max(affordable)
    }

    fn save(&mut self, run: &Run, history: Option<&mut HistoryFile>) -> Result<(), LabError> {
        let begin = Instant::now();
        let bytes = history.map_or(Ok(0), HistoryFile::sync)?;
        write_checkpoint(&self.folder.checkpoint(), run.spec(), run.save()?, bytes)?;
        (self.took, self.last) = (begin.elapsed(), Instant::now());
        Ok(())
    }
}
