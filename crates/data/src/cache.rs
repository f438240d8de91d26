//! Where downloaded datasets are kept.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::DataError;
use crate::error::request_error;
use crate::registry::{RemoteFile, Set};

/// The environment variable that names the folder.
pub const DATA_VARIABLE: &str = "EDGEPACE_DATA";

/// A folder of datasets, laid out as `planetoid/ind.cora.x`, `npz/…`, `ogb/ogbn_arxiv/…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// `$EDGEPACE_DATA`, or the folder `edgepace` in the platform's folder for caches.
    ///
    /// # Errors
    /// If the variable is not set and the user has no home folder.
    pub fn from_env() -> Result<Cache, DataError> {
        if let Some(root) = env::var_os(DATA_VARIABLE).filter(|root| !root.is_empty()) {
            return Ok(Cache::at(root));
        }
        let base = etcetera::choose_base_strategy().map_err(|error| {
            request_error(DATA_VARIABLE, "not set", "a folder")
                .with_help(format!("no home folder to keep datasets in ({error})"))
        })?;
        Ok(Cache::at(base.cache_dir().join("edgepace")))
    }

    /// That folder, which need not be there yet.
    pub fn at(root: impl Into<PathBuf>) -> Cache {
        Cache { root: root.into() }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What a reader opens for this dataset: its only file (or unpacked folder), or the folder that its files are in.
    pub fn path_of(&self, set: &Set) -> PathBuf {
        match set.files {
            [file] => self.installed(set, file),
            _ => self.root.join(set.origin.folder),
        }
    }

    /// Whether every file of the dataset is there, with the right size where that is known. Reads no content.
    pub fn has(&self, set: &Set) -> bool {
        set.files.iter().all(|file| self.has_file(set, file))
    }

    /// Where a file of the dataset is once it can be read: the file, or the folder that the archive becomes.
    pub fn installed(&self, set: &Set, file: &RemoteFile) -> PathBuf {
        self.root.join(set.origin.folder).join(file.installed())
    }

    pub(crate) fn has_file(&self, set: &Set, file: &RemoteFile) -> bool {
        let Ok(found) = fs::metadata(self.installed(set, file)) else { return false };
        if file.unpack.is_some() {
            return found.is_dir();
        }
        found.is_file() && file.bytes.is_none_or(|bytes| bytes == found.len())
    }
}
