//! What happened in a run, written line by line as it happens.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use edgepace_graph::files::FileError;
use edgepace_train::Event;

use crate::error::LabError;

/// A file of events, one JSON object per line.
pub(crate) struct HistoryFile {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
}

impl HistoryFile {
    /// Goes on after the first `bytes` of it; what comes later is forgotten, because it will happen again.
    pub(crate) fn open(path: &Path, bytes: u64) -> Result<Self, LabError> {
        let failed = |source| FileError { action: "write", path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(false).open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?.len();
        if found < bytes {
            let cause =
                format!("it has {found} bytes, expected at least {bytes}: it is not that of the checkpoint");
            return Err(failed(std::io::Error::other(cause)).into());
        }
        file.set_len(bytes).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), bytes })
    }

    pub(crate) fn append(&mut self, events: &[Event]) -> Result<(), LabError> {
        for event in events {
            let mut line = serde_json::to_vec(event).map_err(|error| self.failed(error.into()))?;
            line.push(b'\n');
            self.file.write_all(&line).map_err(|error| self.failed(error))?;
            self.bytes += line.len() as u64;
        }
        self.file.flush().map_err(|error| self.failed(error))
    }

    /// Brings all of it to the disk; returns how long it is.
    pub(crate) fn sync(&mut self) -> Result<u64, LabError> {
        self.file
            .flush()
            .and_then(|()| self.file.get_ref().sync_data())
            .map_err(|error| self.failed(error))?;
        Ok(self.bytes)
    }

    fn failed(&self, source: std::io::Error) -> LabError {
        FileError { action: "write", path: self.path.clone(), source }.into()
    }
}
