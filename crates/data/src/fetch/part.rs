//! A file on its way: the bytes so far in `NAME.part`, and beside it, in `NAME.part.from`, where they came from, so that
//! a later try can go on.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use edgepace_graph::files;
use sha2::{Digest, Sha256};

use crate::DataError;
use crate::error::io_error;

const BUFFER: usize = 1 << 16;

/// The bytes of a file so far.
pub(super) struct Part {
    path: PathBuf,
    from: PathBuf,
    file: File,
    hash: Sha256,
    len: u64,
}

impl Part {
    /// What an earlier run left, or an empty file.
    pub(super) fn open(target: &Path) -> Result<Part, DataError> {
        let (path, from) = (beside(target, ".part"), beside(target, ".part.from"));
        // A link in its place would make us write elsewhere.
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            fs::remove_file(&path).map_err(io_error("remove", &path))?;
        }
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(io_error("open", &path))?;
        let mut part = Part { path, from, file, hash: Sha256::new(), len: 0 };
        let mut buffer = vec![0; BUFFER];
        loop {
            match part.file.read(&mut buffer) {
                Ok(0) => return Ok(part),
                Ok(read) => {
                    part.hash.update(&buffer[..read]);
                    part.len += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error("read", &part.path)(error)),
            }
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// What recognises the version that the bytes belong to, if they came from `url`.
    pub(super) fn validator(&self, url: &str) -> Option<String> {
        let text = fs::read_to_string(&self.from).ok()?;
        let (from, validator) = text.trim_end().split_once('\n')?;
        (from == url && !validator.is_empty()).then(|| validator.to_owned())
    }

    /// Remembers where the bytes come from.
    pub(super) fn set_source(&self, url: &str, validator: Option<&str>) -> Result<(), DataError> {
        let text = format!("{url}\n{}\n", validator.unwrap_or(""));
        fs::write(&self.from, text).map_err(io_error("write", &self.from))
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.file.write_all(bytes).map_err(io_error("write", &self.path))?;
        self.hash.update(bytes);
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Starts from nothing.
    pub(super) fn clear(&mut self) -> Result<(), DataError> {
        self.file.set_len(0).map_err(io_error("empty", &self.path))?;
        (self.hash, self.len) = (Sha256::new(), 0);
        Ok(())
    }

    pub(super) fn sha256(&self) -> String {
        hex(&self.hash.clone().finalize())
    }

    /// Puts the whole file in its place, in one step.
    pub(super) fn finish(self, target: &Path) -> Result<(), DataError> {
        self.file.sync_all().map_err(io_error("write", &self.path))?;
        drop(self.file);
        fs::rename(&self.path, target).map_err(io_error("put in its place", target))?;
        remove_quietly(&self.from);
        files::sync_folder_of(target)?;
        Ok(())
    }

    /// Leaves nothing behind.
    pub(super) fn discard(self) {
        drop(self.file);
        remove_quietly(&self.path);
        remove_quietly(&self.from);
    }
}

/// The SHA-256 of a file.
pub(super) fn sha256_of(path: &Path) -> Result<String, DataError> {
    let mut file = File::open(path).map_err(io_error("open", path))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; BUFFER]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(read) => hash.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io_error("read", path)(error)),
        }
    }
}

fn beside(target: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(target);
    name.push(ending);
    PathBuf::from(name)
}

fn remove_quietly(path: &Path) {
    // What is not removed now is overwritten or ignored by the next run.
    let _ = fs::remove_file(path);
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
