//! The folder that runs leave their files in. It has one owner at a time, and says what was asked for, so that what was
//! killed can go on.
//!
//! ```text
//! run.json         what was asked for
//! config.toml      the settings
//! result.json      what came out, once every run is over
//! seed-3/          history.jsonl, checkpoint.safetensors while it runs, then edges.csv, model.safetensors and, last,
//!                  record.json
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use edgepace_graph::files::{self, FileError};
use edgepace_train::{RunRecord, RunSpec};
use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::plan::Plan;

const MANIFEST: &str = "run.json";
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

/// The form of the manifest; goes up when its fields change their meaning.
const SCHEMA: u32 = 1;

/// What was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Manifest {
    schema: u32,
    /// The version of the program that began.
    program: String,
    plan: Plan,
    /// Whether the files of an earlier run are gone.
    swept: bool,
}

impl Manifest {
    fn read(folder: &Path) -> Result<Self, LabError> {
        let wrong = |reason: String| Self::missing(folder, format!("{MANIFEST}: {reason}"));
        let text = fs::read_to_string(folder.join(MANIFEST)).map_err(|error| wrong(error.to_string()))?;
        let manifest: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if manifest.schema != SCHEMA {
            return Err(wrong(format!("it has schema {}, expected {SCHEMA}", manifest.schema)));
        }
        Ok(manifest)
    }

    fn missing(folder: &Path, reason: String) -> LabError {
        LabError::NoRun { folder: folder.to_owned(), reason }
    }
}

/// A folder of runs, held by this process until it is dropped.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    lock: Option<File>,
}

impl RunFolder {
    /// Takes a folder for runs that begin; it is made if it is not there. `overwrite` replaces the runs in it.
    ///
    /// # Errors
    /// A folder that has a run in it, that another process works on, or that cannot be written.
    pub fn create(folder: &Path, plan: &Plan, overwrite: bool) -> Result<Self, LabError> {
        files::create_folder(folder)?;
        let used = || {
            let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            let ours = |name: &str| [MANIFEST, CONFIG, RESULT].contains(&name) || name.starts_with(SEED);
            fs::read_dir(folder).is_ok_and(|all| all.flatten().any(|entry| ours(&name(&entry))))
        };
        let own = Self::lock(folder)?;
        let replaces = used();
        if replaces && !overwrite {
            return Err(LabError::Used { folder: folder.to_owned() });
        }
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let plan = &plan.absolute().map_err(|source| FileError {
            action: "find",
            path: folder.to_owned(),
            source,
        })?;
        let mut manifest = Manifest { schema: SCHEMA, program, plan: plan.clone(), swept: !replaces };
        own.write_manifest(&manifest)?;
        own.sweep(&mut manifest)?;
        own.write_config(plan)?;
        Ok(own)
    }

    /// Takes a folder whose runs are to go on, and says what was asked for.
    ///
    /// # Errors
    /// A folder without a run, or one that another process works on.
    pub fn open(folder: &Path) -> Result<(Self, Plan), LabError> {
        if !Self::is_one(folder) {
            return Err(Manifest::missing(folder, format!("there is no {MANIFEST}")));
        }
        let own = Self::lock(folder)?;
        let mut manifest = Manifest::read(folder)?;
        own.sweep(&mut manifest)?;
        own.write_config(&manifest.plan)?;
        Ok((own, manifest.plan))
    }

    /// Whether a path is such a folder.
    pub fn is_one(path: &Path) -> bool {
        path.join(MANIFEST).is_file()
    }

    /// What was asked for in a folder, which is only looked at.
    ///
    /// # Errors
    /// A folder without a run.
    pub fn plan_of(folder: &Path) -> Result<Plan, LabError> {
        Ok(Manifest::read(folder)?.plan)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Gives it up before anything ran: what was asked for is removed, and the folder too if nothing else is in it.
    pub fn discard(self) {
        let folder = self.folder.clone();
        for name in [MANIFEST, CONFIG] {
            // What stays is no more than it was.
            let _ = fs::remove_file(folder.join(name));
        }
        drop(self);
        let _ = fs::remove_dir(&folder);
    }

    fn lock(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join(LOCK);
        let failed = |source| FileError { action: "lock", path: path.clone(), source };
        loop {
            let mut options = OpenOptions::new();
            let mut file =
                options.read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
            if file.try_lock().is_err() {
                let mut owner = String::new();
                // Who has it may not have said so yet.
                let _ = file.read_to_string(&mut owner);
                let owner = if owner.is_empty() { "another process".to_owned() } else { owner };
                return Err(LabError::Busy { folder: folder.to_owned(), owner });
            }
            // Whoever had it before may have removed it in the meantime.
            if !is_same(&file, &path) {
                continue;
            }
            let command: Vec<String> = std::env::args().collect();
            let owner = format!("process {} runs `{}`", std::process::id(), command.join(" "));
            file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
            file.write_all(owner.as_bytes()).map_err(failed)?;
            return Ok(Self { folder: folder.to_owned(), lock: Some(file) });
        }
    }

    /// Removes what an earlier run left, unless that is done, and what killed processes left unfinished.
    fn sweep(&self, manifest: &mut Manifest) -> Result<(), LabError> {
        let seeds = self.seed_folders()?;
        for seed in &seeds {
            files::sweep(seed)?;
        }
        files::sweep(&self.folder)?;
        if manifest.swept {
            return Ok(());
        }
        remove(&self.folder.join(RESULT))?;
        remove(&self.folder.join(CONFIG))?;
        for seed in &seeds {
            for name in OF_SEED {
                remove(&seed.join(name))?;
            }
            // One with files of somebody else's stays.
            let _ = fs::remove_dir(seed);
        }
        manifest.swept = true;
        self.write_manifest(manifest)
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

    fn write_manifest(&self, manifest: &Manifest) -> Result<(), LabError> {
        write_json(&self.folder.join(MANIFEST), manifest)
    }

    fn write_config(&self, plan: &Plan) -> Result<(), LabError> {
        let path = self.folder.join(CONFIG);
        let text = toml::to_string(&plan.config).map_err(|error| FileError {
            action: "write",
            path: path.clone(),
            source: std::io::Error::other(error),
        })?;
        Ok(files::write(&path, text.as_bytes())?)
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

impl Drop for RunFolder {
    fn drop(&mut self) {
        // Removed before it is given free, so that nobody else's is removed.
        if let Some(lock) = self.lock.take() {
            let _ = fs::remove_file(self.folder.join(LOCK));
            drop(lock);
        }
    }
}

/// Whether a file is the one of that name.
#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let of = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(file), Ok(path)) => of(file) == of(path),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> bool {
    path.exists()
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
    pub(crate) fn at(folder: &Path) -> Self {
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

    /// Removes the checkpoint of a run that is over.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub fn remove_checkpoint(&self) -> Result<(), LabError> {
        remove(&self.checkpoint())
    }
}
