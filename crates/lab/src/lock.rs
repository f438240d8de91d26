//! A file that one process holds at a time. The system lets go of it with the process, however that ends.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use edgepace_graph::files::FileError;

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: Option<File>,
}

/// What became of an attempt to take a lock.
pub(crate) enum Taken {
    /// It is held now.
    Held(Lock),
    /// Another has it: who that is.
    By(String),
}

impl Lock {
    /// Takes it, unless another has it.
    pub(crate) fn take(path: &Path) -> Result<Taken, FileError> {
        let failed = |source| FileError { action: "lock", path: path.to_owned(), source };
        loop {
            let mut options = OpenOptions::new();
            let mut file =
                options.read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
            if file.try_lock().is_err() {
                let mut owner = String::new();
                // Who has it may not have said so yet.
                let _ = file.read_to_string(&mut owner);
                return Ok(Taken::By(if owner.is_empty() { "another process".to_owned() } else { owner }));
            }
            // Whoever had it before may have removed it in the meantime.
            if !is_same(&file, path) {
                continue;
            }
            let command: Vec<String> = std::env::args().collect();
            let owner = format!("process {} runs `{}`", std::process::id(), command.join(" "));
            file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
            file.write_all(owner.as_bytes()).map_err(failed)?;
            return Ok(Taken::Held(Self { path: path.to_owned(), file: Some(file) }));
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed before it is given free, so that nobody else's is removed.
        if let Some(file) = self.file.take() {
            let _ = fs::remove_file(&self.path);
            drop(file);
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
