//! The folder that runs leave their files in. It has one owner at a time, and says what was asked for, so that what was
//! killed can go on.
//!
//! ```text
//! config.toml      what was asked for, complete: a plan
//! result.json      what came out, once every run is over
//! seed-3/          history.jsonl, checkpoint.safetensors while it runs, then edges.csv, model.safetensors and, last,
//!                  record.json
//! ```

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use edgepace_graph::files::{self, FileError};
use edgepace_train::{RunRecord, RunSpec};
use serde::Serialize;

use crate::error::LabError;
use crate::lock::{Lock, Taken};
use crate::plan::{Plan, PlanFile};

const CONFIG: &str = "config.toml";
const RESULT: &str = "result.json";
const LOCK: &str = ".lock";
const SEED: &str = "seed-";
const CHECKPOINT: &str = "checkpoint.safetensors";
const HISTORY: &str = "history.jsonl";
const MODEL: &str = "model.safetensors";
const EDGES: &str = "edges.csv";
const RECORD: &str = "record.json";
/// What a run leaves for its seed.
const OF_SEED: [&str; 5] = [CHECKPOINT, HISTORY, MODEL, EDGES, RECORD];

/// What a plan begins with.
const HEAD: &str = concat!(
    "# What edgepace ",
    env!("CARGO_PKG_VERSION"),
    " was asked for. `edgepace train --config config.toml` does it again.\n"
);

/// A folder of runs, held by this process until it is dropped.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    _lock: Lock,
}

impl RunFolder {
    /// Whether a folder has anything of a run in it.
    pub fn is_used(folder: &Path) -> bool {
        let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let ours = |name: &str| [CONFIG, RESULT].contains(&name) || name.starts_with(SEED);
        fs::read_dir(folder).is_ok_and(|all| all.flatten().any(|entry| ours(&name(&entry))))
    }

    /// Takes a folder for runs that begin; it is made if it is not there. `overwrite` replaces the runs in it: what they left
    /// is removed first and what is asked for now is written last, so that a folder never tells of one run and holds
    /// another.
    ///
    /// # Errors
    /// A folder that has a run in it, that another process works on, or that cannot be written.
    pub fn create(folder: &Path, plan: &Plan, overwrite: bool) -> Result<Self, LabError> {
        files::create_folder(folder)?;
        let own = Self::lock(folder)?;
        if Self::is_used(folder) {
            if !overwrite {
                return Err(LabError::Used { folder: folder.to_owned() });
            }
            own.remove_runs()?;
        }
        own.sweep()?;
        own.write_plan(plan)?;
        Ok(own)
    }

    /// Takes a folder whose runs are to go on, and says what was asked for.
    ///
    /// # Errors
    /// A folder without a run, or one that another process works on.
    pub fn open(folder: &Path) -> Result<(Self, Plan), LabError> {
        if !folder.join(CONFIG).exists() {
            let reason = format!("there is no {CONFIG}");
            return Err(LabError::NoRun { folder: folder.to_owned(), reason });
        }
        let own = Self::lock(folder)?;
        let plan = Self::plan_of(folder)?;
        own.sweep()?;
        Ok((own, plan))
    }

    /// Whether a path is such a folder.
    pub fn is_one(path: &Path) -> bool {
        path.join(CONFIG).is_file()
    }

    /// What was asked for in a folder, which is only looked at.
    ///
    /// # Errors
    /// A folder without a run.
    pub fn plan_of(folder: &Path) -> Result<Plan, LabError> {
        let no_run = |reason: String| LabError::NoRun { folder: folder.to_owned(), reason };
        let path = folder.join(CONFIG);
        let text = fs::read_to_string(&path).map_err(|error| no_run(format!("{CONFIG}: {error}")))?;
        PlanFile::parse(&path, &text)?.into_plan().map_err(|reason| no_run(format!("{CONFIG}: {reason}")))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Gives it up if no run has left a file: what was asked for is removed, and the folder too if nothing else is in it.
    pub fn discard_unbegun(self) {
        let folder = self.folder.clone();
        // A folder of a seed that has a file in it is not removed, and what stays is no more than it was.
        let seeds = self.seed_folders().unwrap_or_default();
        if seeds.iter().filter(|seed| fs::remove_dir(seed).is_err()).count() > 0 {
            return;
        }
        let _ = fs::remove_file(folder.join(CONFIG));
        drop(self);
        let _ = fs::remove_dir(&folder);
    }

    fn lock(folder: &Path) -> Result<Self, LabError> {
        match Lock::take(&folder.join(LOCK))? {
            Taken::Held(lock) => Ok(Self { folder: folder.to_owned(), _lock: lock }),
            Taken::By(owner) => Err(LabError::Busy { folder: folder.to_owned(), owner }),
        }
    }

    /// Removes what killed processes left unfinished.
    fn sweep(&self) -> Result<(), LabError> {
        for seed in self.seed_folders()? {
            files::sweep(&seed)?;
        }
        files::sweep(&self.folder)?;
        Ok(())
    }

    /// Removes what earlier runs left, what they were asked for first: a folder without it has no run to go on with.
    fn remove_runs(&self) -> Result<(), LabError> {
        remove(&self.folder.join(CONFIG))?;
        files::sync_folder_of(&self.folder.join(CONFIG))?;
        remove(&self.folder.join(RESULT))?;
        for seed in self.seed_folders()? {
            files::sweep(&seed)?;
            for name in OF_SEED {
                remove(&seed.join(name))?;
            }
            // One with files of somebody else's stays.
            let _ = fs::remove_dir(seed);
        }
        Ok(())
    }

    fn seed_folders(&self) -> Result<Vec<PathBuf>, LabError> {
        let failed = |source| FileError { action: "list", path: self.folder.clone(), source };
        let mut folders = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let number = entry.file_name().to_string_lossy().strip_prefix(SEED).map(str::parse::<u64>);
            if matches!(number, Some(Ok(_))) && entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
        Ok(folders)
    }

    fn write_plan(&self, plan: &Plan) -> Result<(), LabError> {
        let path = self.folder.join(CONFIG);
        let text = PlanFile::from(plan.resolved()?).to_toml().map_err(|error| FileError {
            action: "write",
            path: path.clone(),
            source: std::io::Error::other(error),
        })?;
        Ok(files::write(&path, format!("{HEAD}{text}").as_bytes())?)
    }

    /// Writes what came out of all runs.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_result(&self, result: &impl Serialize) -> Result<(), LabError> {
        write_json(&self.folder.join(RESULT), result)
    }

    /// The folder of one run, which is made if it is not there.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn seed(&self, seed: u64) -> Result<SeedFolder, LabError> {
        let own = SeedFolder::of(&self.folder, seed);
        files::create_folder(&own.folder)?;
        Ok(own)
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| FileError {
        action: "write",
        path: path.to_owned(),
        source: error.into(),
    })?;
    bytes.push(b'\n');
    Ok(files::write(path, &bytes)?)
}

fn remove(path: &Path) -> Result<(), LabError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(FileError { action: "remove", path: path.to_owned(), source: error }.into())
        }
        _ => Ok(()),
    }
}

/// Where one run leaves its files.
#[derive(Clone, Debug)]
pub struct SeedFolder {
    folder: PathBuf,
}

impl SeedFolder {
    /// Whether a path is the folder of a run that is over.
    pub fn is_one(path: &Path) -> bool {
        path.join(RECORD).is_file()
    }

    /// That of a seed in a folder of runs.
    pub(crate) fn of(runs: &Path, seed: u64) -> Self {
        Self { folder: runs.join(format!("{SEED}{seed}")) }
    }

    /// A folder that is there.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The checkpoint of a run that is not over.
    pub fn checkpoint(&self) -> PathBuf {
        self.folder.join(CHECKPOINT)
    }

    /// The model of a run that is over.
    pub fn model(&self) -> PathBuf {
        self.folder.join(MODEL)
    }

    /// The table of edges of a run that is over.
    pub fn edges(&self) -> PathBuf {
        self.folder.join(EDGES)
    }

    /// What happened in each epoch so far.
    pub fn history(&self) -> PathBuf {
        self.folder.join(HISTORY)
    }

    /// The record of a run, if it is over.
    ///
    /// # Errors
    /// A record that is damaged, or of another run.
    pub fn record(&self, spec: &RunSpec) -> Result<Option<RunRecord>, LabError> {
        let Some(record) = self.finished_record()? else { return Ok(None) };
        if record.result.stopped.is_some() {
            return Ok(None);
        }
        let path = self.folder.join(RECORD);
        if record.result.id != spec.id() {
            let (found, expected) = (record.result.id, spec.id().to_owned());
            return Err(LabError::OtherRun { path, found, expected });
        }
        Ok(Some(record))
    }

    /// The record, if there is one: of a run that is over, or that ended before its time with what it had.
    ///
    /// # Errors
    /// A record that is damaged.
    pub(crate) fn finished_record(&self) -> Result<Option<RunRecord>, LabError> {
        let path = self.folder.join(RECORD);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(RunRecord::parse(&text)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(FileError { action: "read", path, source }.into()),
        }
    }

    /// Writes the record: from then on the run is over.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_record(&self, record: &RunRecord) -> Result<(), LabError> {
        write_json(&self.folder.join(RECORD), record)
    }

    /// Removes all files of the run.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub(crate) fn remove_files(&self) -> Result<(), LabError> {
        files::sweep(&self.folder)?;
        OF_SEED.iter().try_for_each(|name| remove(&self.folder.join(name)))
    }

    /// Removes the checkpoint of a run that is over.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub fn remove_checkpoint(&self) -> Result<(), LabError> {
        remove(&self.checkpoint())
    }
}
