//! The SHA-256 of files whose right one nobody published: that of the first download, which later ones are held to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use edgepace_graph::files;

use crate::DataError;
use crate::cache::Cache;
use crate::error::io_error;

const NAME: &str = "SHA256SUMS.local";

/// The file `SHA256SUMS.local` in the cache: lines of a SHA-256, two spaces and a path, as `sha256sum` writes them.
pub(super) struct Remembered {
    path: PathBuf,
}

impl Remembered {
    pub(super) fn of(cache: &Cache) -> Remembered {
        Remembered { path: cache.root().join(NAME) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn find(&self, file: &str) -> Result<Option<String>, DataError> {
        let text = self.read()?;
        let entry = text.lines().filter_map(|line| line.split_once("  ")).find(|(_, path)| *path == file);
        Ok(entry.map(|(sha256, _)| sha256.to_lowercase()))
    }

    /// Remembers a file, unless it is there already.
    pub(super) fn add(&self, cache: &Cache, file: &str, sha256: &str) -> Result<(), DataError> {
        let _lock = super::lock(cache, NAME, &mut || ())?;
        if self.find(file)?.is_some() {
            return Ok(());
        }
        let mut text = self.read()?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text = format!("{text}{sha256}  {file}\n");
        files::sweep(cache.root())?;
        files::write(&self.path, text.as_bytes())?;
        Ok(())
    }

    fn read(&self) -> Result<String, DataError> {
        match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            result => result.map_err(io_error("read", &self.path)),
        }
    }
}
