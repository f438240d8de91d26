//! Opening a store: one that is damaged, newer or not a store says so, and nothing is changed in it.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use edgepace_graph::files;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::Store;
use crate::error::LabError;

/// The form of the store; goes up when its tables change.
const SCHEMA: i64 = 1;
/// What a store says it is, among SQLite files: `edge` in ASCII.
const APPLICATION: i64 = 0x6564_6765;
/// How long a process waits for another that writes.
const PATIENCE: Duration = Duration::from_mins(1);

const TABLES: &str = "
CREATE TABLE runs (
  id TEXT PRIMARY KEY NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
  dataset TEXT NOT NULL,
  noise TEXT NOT NULL,
  split TEXT NOT NULL,
  backbone TEXT NOT NULL,
  method TEXT NOT NULL,
  preset TEXT,
  seed TEXT NOT NULL,
  metric TEXT NOT NULL,
  test REAL,
  validation REAL,
  epochs INTEGER NOT NULL,
  seconds REAL NOT NULL,
  created INTEGER NOT NULL,
  program TEXT NOT NULL,
  numerics INTEGER NOT NULL,
  nodes INTEGER NOT NULL,
  edges INTEGER NOT NULL,
  work REAL NOT NULL,
  chosen TEXT,
  error TEXT,
  config TEXT NOT NULL,
  record TEXT
);
CREATE TABLE labels (
  experiment TEXT NOT NULL,
  graph TEXT NOT NULL,
  noise TEXT NOT NULL,
  split TEXT NOT NULL,
  backbone TEXT NOT NULL,
  method TEXT NOT NULL,
  config TEXT NOT NULL,
  seed TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (experiment, graph, noise, split, backbone, method, config, seed)
) WITHOUT ROWID;
CREATE INDEX labels_by_id ON labels (id);
";

impl Store {
    /// Opens a store to write to; one that is not there is made.
    ///
    /// # Errors
    /// A file that cannot be written, is damaged, is no store, or is one of a newer version.
    pub fn open(path: &Path) -> Result<Self, LabError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let is_new = !path.exists();
        let store = Self::connect(path, flags)?;
        // Another process may be making it just now.
        if is_new || store.is_empty()? {
            store.create().inspect_err(|_| {
                // Nobody has written to what could not be made.
                if is_new {
                    let _ = std::fs::remove_file(path);
                }
            })?;
        }
        store.check()?;
        {
            let connection = store.lock();
            let failed = |error| said(path, "write to", &error);
            if connection.is_readonly("main").map_err(failed)? {
                let reason = "it may only be read".to_owned();
                return Err(LabError::Store { path: path.to_owned(), action: "write to", reason });
            }
            // Readers go on while one writes. FULL: what is stored survives a power cut, at a few milliseconds a run.
            connection
                .execute_batch(
                    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
                )
                .map_err(failed)?;
        }
        Ok(store)
    }

    /// Opens a store to read, also while others write to it.
    ///
    /// # Errors
    /// A file that is not there, cannot be read, is damaged, is no store, or is one of a newer version.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        if !path.exists() {
            let reason = "there is no such file".to_owned();
            return Err(LabError::Store { path: path.to_owned(), action: "read", reason });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let opened = Self::connect(path, flags).and_then(|store| store.check().map(|()| store));
        // Where nothing can be written, SQLite can make no file for its readers to agree by: there is nobody to agree with.
        let has_journal = Path::new(&format!("{}-wal", path.display())).exists();
        if opened.is_err() && !has_journal && files::check_writable(path).is_err() {
            let escaped =
                path.display().to_string().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
            let uri = format!("file:{escaped}?immutable=1");
            let mut store = Self::connect(Path::new(&uri), flags | OpenFlags::SQLITE_OPEN_URI)?;
            path.clone_into(&mut store.path);
            store.check()?;
            return Ok(store);
        }
        opened
    }

    /// A store that is kept nowhere, and empty.
    ///
    /// # Errors
    /// No memory.
    pub fn in_memory() -> Result<Self, LabError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let store = Self::connect(Path::new(":memory:"), flags)?;
        store.create()?;
        Ok(store)
    }

    /// A store that is kept nowhere, and empty; what runs leave on their way is where that of the store `path` is.
    ///
    /// # Errors
    /// No memory.
    pub fn in_memory_beside(path: &Path) -> Result<Self, LabError> {
        let mut store = Self::in_memory()?;
        path.clone_into(&mut store.path);
        Ok(store)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, LabError> {
        let failed = |error| said(path, "open", &error);
        let connection =
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    /// Whether it is a file without anything in it, which SQLite takes for a new one.
    fn is_empty(&self) -> Result<bool, LabError> {
        let failed = |error| said(&self.path, "read", &error);
        let count = "SELECT count(*) FROM sqlite_master";
        let tables: i64 = self.lock().query_row(count, [], |row| row.get(0)).map_err(failed)?;
        let application: i64 =
            self.lock().pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
        Ok(tables == 0 && application == 0)
    }

    /// Makes the tables, unless another process was faster.
    fn create(&self) -> Result<(), LabError> {
        let failed = |error| said(&self.path, "create", &error);
        let connection = self.lock();
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let version: i64 =
            connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
        if version == 0 {
            connection.execute_batch(TABLES).map_err(failed)?;
            connection.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
            connection.pragma_update(None, "user_version", SCHEMA).map_err(failed)?;
        }
        connection.execute_batch("COMMIT").map_err(failed)
    }

    /// Refuses what is damaged, no store, or newer.
    fn check(&self) -> Result<(), LabError> {
        let refuse =
            |reason: String| Err(LabError::Store { path: self.path.clone(), action: "read", reason });
        let failed = |error| said(&self.path, "read", &error);
        let connection = self.lock();
        let number = |name: &str| -> Result<i64, LabError> {
            connection.pragma_query_value(None, name, |row| row.get(0)).map_err(failed)
        };
        let (application, version) = (number("application_id")?, number("user_version")?);
        if application != APPLICATION {
            return refuse("it is no store of edgepace, but another SQLite file".to_owned());
        }
        if version != SCHEMA {
            return refuse(format!(
                "it has form {version}, and this program knows {SCHEMA}: use the edgepace that wrote it, or export the runs with \
                 that one and import them here"
            ));
        }
        let answer: String =
            connection.pragma_query_value(None, "quick_check", |row| row.get(0)).map_err(failed)?;
        if answer != "ok" {
            return refuse(format!(
                "it is damaged: {answer}; what can be read of it: `sqlite3 FILE .recover`"
            ));
        }
        Ok(())
    }
}

const NO_SPACE: &str = "No space left on the disk";
/// What a small file beside the store needs: a page of SQLite and of most file systems, twice.
const ROOM: usize = 8192;

/// Whether there is no room for a small file beside the store.
fn is_full(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let try_it = || tempfile::tempfile_in(folder)?.write_all(&[1; ROOM]);
    try_it().is_err_and(|error| error.kind() == ErrorKind::StorageFull)
}

/// What SQLite says, with the file and what to do.
pub(super) fn said(path: &Path, action: &'static str, error: &rusqlite::Error) -> LabError {
    let reason = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "it is no store of edgepace, or damaged".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => {
            format!("it is damaged ({error}); what can be read of it: `sqlite3 FILE .recover`")
        }
        Some(ErrorCode::DiskFull) => NO_SPACE.to_owned(),
        // A journal that finds no room is only called an error.
        Some(ErrorCode::SystemIoFailure) if is_full(path) => NO_SPACE.to_owned(),
        Some(ErrorCode::ReadOnly) => format!("it may only be read ({error})"),
        Some(ErrorCode::DatabaseBusy) => "another process keeps writing to it".to_owned(),
        _ => error.to_string(),
    };
    LabError::Store { path: path.to_owned(), action, reason }
}
