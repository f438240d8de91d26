//! Files that appear whole or not at all.
//!
//! A file is written beside its target under a name that begins with `.unfinished-`, brought to the disk and then given
//! its name. A reader sees the old file or the new one, never a part of either, and so does whoever comes back after a
//! power cut. What a killed process leaves behind is removed by the next that writes the same file, or by [`sweep`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

/// How the name of a file begins that is not whole yet.
const UNFINISHED: &str = ".unfinished-";
/// Bytes that are gathered before they go to the disk.
const BUFFER: usize = 1 << 20;

/// What could not be done to a file or folder, and what the system said.
#[derive(Debug, Error)]
#[error("cannot {action} {}", path.display())]
pub struct FileError {
    /// What was tried, as in "write".
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        Self::new(error.source.kind(), format!("{error}: {}", error.source))
    }
}

/// Names the file in what the system says about it.
fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |source| FileError { action, path, source }
}

/// Writes a file, which replaces one of that name. Its folder must be there.
///
/// # Errors
/// A file that cannot be written: no such folder, no permission, a full disk. A file that was there before stays.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, |file| file.write_all(bytes))
}

/// As [`write()`], with what `fill` writes. When `fill` fails, nothing is left behind.
///
/// # Errors
/// As [`write()`], or what `fill` returns.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<(), FileError> {
    // What a killed process left of this file goes with the next attempt; it is no matter if it cannot.
    let _ = sweep_named(folder_of(path), &unfinished_name(path));
    let put = || -> io::Result<()> {
        let unfinished = unfinished_beside(path)?;
        let mut buffered = BufWriter::with_capacity(BUFFER, unfinished.as_file());
        fill(&mut buffered)?;
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        unfinished.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    put().map_err(failed("write", path))?;
    sync_folder_of(path)
}

/// Checks that a file of that name could be written, to know it before long work. Nothing is left behind.
///
/// # Errors
/// No such folder, no permission to write to it, or a folder of that name.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    let tried = unfinished_beside(path).and_then(|_| match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Ok(()),
    });
    tried.map_err(failed("write", path))
}

/// Makes a folder and those above it, unless they are there.
///
/// # Errors
/// A folder that cannot be made.
pub fn create_folder(folder: &Path) -> Result<(), FileError> {
    fs::create_dir_all(folder).map_err(failed("create", folder))
}

/// Removes the unfinished files in a folder that no living process writes, and returns how many there were.
///
/// # Errors
/// A folder that cannot be listed, or a file that cannot be removed.
pub fn sweep(folder: &Path) -> Result<usize, FileError> {
    sweep_named(folder, UNFINISHED)
}

fn sweep_named(folder: &Path, prefix: &str) -> Result<usize, FileError> {
    let mut removed = 0;
    for entry in fs::read_dir(folder).map_err(failed("list", folder))? {
        let entry = entry.map_err(failed("list", folder))?;
        let named = entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes());
        if !named || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        // A file that cannot be opened or locked may be someone's: it stays.
        let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        match fs::remove_file(&path) {
            Ok(()) => removed += 1,
            // Its writer gave it its name in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed("remove", &path)(error)),
        }
    }
    Ok(removed)
}

/// Brings the names in the folder of a file to the disk: only then does a rename survive a power cut.
///
/// # Errors
/// A disk that fails. A file system that cannot do this for folders is none, nor is a folder that may not be read.
pub fn sync_folder_of(path: &Path) -> Result<(), FileError> {
    let folder = folder_of(path);
    // Elsewhere a folder cannot be opened as a file, and the system sees to it.
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            Err(failed("write", folder)(error))
        }
        _ => Ok(()),
    }
}

/// How the name of a file begins that becomes this one when it is whole.
fn unfinished_name(path: &Path) -> String {
    format!("{UNFINISHED}{}-", path.file_name().unwrap_or_default().to_string_lossy())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A new file in the folder of `path`, locked for as long as it is open, so that [`sweep`] knows that it is in use.
fn unfinished_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    let prefix = unfinished_name(path);
    builder.prefix(&prefix);
    loop {
        // Made by hand, because `tempfile_in` makes a file for its owner alone.
        let file = builder.make_in(folder, |path| File::create_new(path)).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                return io::Error::new(error.kind(), format!("there is no folder {}", folder.display()));
            }
            error
        })?;
        match file.as_file().lock() {
            // Some network drives have no locks. A sweep then cannot lock the file either, and leaves it.
            Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
            _ => {}
        }
        // A sweep may have come after the file was made and before it was locked.
        if file.path().exists() {
            return Ok(file);
        }
    }
}
