//! Runs that are over, in one SQLite file: a complete record for each id, found by what it is of.
//!
//! ```text
//! FILE.sqlite        a row for each run, and what experiments call it
//! FILE.sqlite.d/ID/  while it runs: its checkpoint. Then, where asked for, edges.csv, model.safetensors, history.jsonl
//! ```
//!
//! Any number of processes may read while others write. A run that a process works on is locked by a file in its folder, and
//! free again when the process ends, however it ends.

mod filter;
mod label;
mod open;
mod row;
mod transfer;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use edgepace_graph::files::{self, FileError};
use edgepace_train::RunRecord;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use crate::error::LabError;
use crate::folder::SeedFolder;
use crate::lock::{Lock, Taken};

pub use filter::{Filter, Order};
pub use label::Label;
pub(crate) use row::Asked;
pub use row::{RunRow, Status};
pub use transfer::Imported;

/// The lock of a run that is worked on, in its folder.
const LOCK: &str = ".lock";

/// How often a folder may come and go while it is taken.
const ATTEMPTS: usize = 1000;

/// Whether an error comes of a folder that is made or removed at the same time.
fn is_passing(error: &FileError) -> bool {
    matches!(error.source.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists)
}

/// A file of runs.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// A run that this process alone works on, until it is dropped.
pub(crate) struct Claim {
    pub(crate) folder: SeedFolder,
    lock: Option<Lock>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        drop(self.lock.take());
        // One that has files in it stays.
        let _ = std::fs::remove_dir(self.folder.path());
    }
}

impl Store {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the files of a run are, if it has any.
    pub fn folder_of(&self, id: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".d");
        PathBuf::from(name).join(id)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, action: &'static str) -> impl Fn(rusqlite::Error) -> LabError + '_ {
        move |error| open::said(&self.path, action, &error)
    }

    /// All runs, without their records, in the order in which they were stored.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn rows(&self) -> Result<Vec<RunRow>, LabError> {
        let connection = self.lock();
        let failed = self.failed("read");
        let mut statement = connection
            .prepare_cached(&format!("SELECT {} FROM runs ORDER BY rowid", row::COLUMNS))
            .map_err(&failed)?;
        let rows = statement.query_map([], RunRow::read).map_err(&failed)?;
        rows.collect::<Result<_, _>>().map_err(&failed)
    }

    /// The run with that id.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn row(&self, id: &str) -> Result<Option<RunRow>, LabError> {
        let connection = self.lock();
        let failed = self.failed("read");
        let mut statement = connection
            .prepare_cached(&format!("SELECT {} FROM runs WHERE id = ?1", row::COLUMNS))
            .map_err(&failed)?;
        statement.query_row([id], RunRow::read).optional().map_err(&failed)
    }

    /// The complete record of a run; none where there is no such run, or where it failed.
    ///
    /// # Errors
    /// A store that cannot be read, or a record of another version.
    pub fn record(&self, id: &str) -> Result<Option<RunRecord>, LabError> {
        let text: Option<Option<String>> = {
            let connection = self.lock();
            let failed = self.failed("read");
            let mut statement =
                connection.prepare_cached("SELECT record FROM runs WHERE id = ?1").map_err(&failed)?;
            statement.query_row([id], |row| row.get(0)).optional().map_err(&failed)?
        };
        let record = text.flatten().map(|text| RunRecord::parse(&text)).transpose();
        record.map_err(|error| LabError::Store {
            path: self.path.clone(),
            action: "read",
            reason: format!("run {id}: {error}"),
        })
    }

    /// The settings that a run was asked for, as JSON.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn config(&self, id: &str) -> Result<Option<serde_json::Value>, LabError> {
        let connection = self.lock();
        let failed = self.failed("read");
        let mut statement =
            connection.prepare_cached("SELECT config FROM runs WHERE id = ?1").map_err(&failed)?;
        let text: Option<String> = statement.query_row([id], |row| row.get(0)).optional().map_err(&failed)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Keeps a run that is over, and what it is called, whole or not at all; one that failed before may be over now.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn put(
        &self,
        row: &RunRow,
        config: &serde_json::Value,
        record: Option<&RunRecord>,
        labels: &[Label],
    ) -> Result<(), LabError> {
        let record = record.map(serde_json::to_string).transpose().map_err(|error| LabError::Store {
            path: self.path.clone(),
            action: "write to",
            reason: format!("run {}: {error}", row.id),
        })?;
        let failed = self.failed("write to");
        let mut connection = self.lock();
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        row.write(&transaction, &config.to_string(), record.as_deref()).map_err(&failed)?;
        label::write(&transaction, labels).map_err(&failed)?;
        transaction.commit().map_err(&failed)
    }

    /// Removes runs and their files; what experiments call them goes too. Returns how many there were.
    ///
    /// # Errors
    /// A store that cannot be written, or a run that a process works on.
    pub fn remove(&self, ids: &[String]) -> Result<usize, LabError> {
        let mut claims = Vec::new();
        for id in ids {
            match self.claim(id)? {
                Ok(claim) => claims.push(claim),
                Err(owner) => return Err(LabError::Busy { folder: self.folder_of(id), owner }),
            }
        }
        let failed = self.failed("write to");
        let mut removed = 0;
        {
            let mut connection = self.lock();
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
            for id in ids {
                removed +=
                    transaction.execute("DELETE FROM runs WHERE id = ?1", params![id]).map_err(&failed)?;
                transaction.execute("DELETE FROM labels WHERE id = ?1", params![id]).map_err(&failed)?;
            }
            transaction.commit().map_err(&failed)?;
        }
        for claim in &claims {
            claim.folder.remove_files()?;
        }
        Ok(removed)
    }

    /// Takes a run for this process, or says who has it. Its folder is there from then on.
    pub(crate) fn claim(&self, id: &str) -> Result<Result<Claim, String>, LabError> {
        let folder = self.folder_of(id);
        let mut attempts = 0;
        loop {
            attempts += 1;
            match files::create_folder(&folder) {
                // Another process makes or removes it just now.
                Err(error) if attempts < ATTEMPTS && is_passing(&error) => continue,
                made => made?,
            }
            match Lock::take(&folder.join(LOCK)) {
                Ok(Taken::Held(lock)) => {
                    return Ok(Ok(Claim { folder: SeedFolder::at(&folder), lock: Some(lock) }));
                }
                Ok(Taken::By(owner)) => return Ok(Err(owner)),
                // Who had it before has removed the folder just now.
                Err(_) if attempts < ATTEMPTS && !folder.exists() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
