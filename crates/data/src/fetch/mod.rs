//! Downloads: from the registry's mirrors into the cache, checked, resumable, and whole or not at all.

mod download;
mod http;
mod part;
mod remembered;
pub(crate) mod unpack;

use std::env;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use http::Timeouts;

use crate::DataError;
use crate::cache::Cache;
use crate::error::io_error;
use crate::registry::{RemoteFile, Set, Unpack};
use download::{Expected, Job};
use http::Client;
use remembered::Remembered;

/// The environment variable that names a mirror of one's own.
pub const MIRROR_VARIABLE: &str = "EDGEPACE_MIRROR";

/// How to download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Only look into the cache.
    pub offline: bool,
    /// A mirror that is tried first: an address below which files lie as in the cache. It may be plain http.
    pub mirror: Option<String>,
    /// What is never exceeded, whatever a server or an archive says.
    pub limits: Limits,
    /// How long to wait for a server.
    pub timeouts: Timeouts,
    /// How often a mirror is asked again after a failure that may pass.
    pub retries: u32,
    /// How long to wait before that; twice as long each time.
    pub pause: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            offline: false,
            mirror: None,
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            retries: 2,
            pause: Duration::from_millis(500),
        }
    }
}

impl Options {
    /// The defaults, with the mirror that `$EDGEPACE_MIRROR` names.
    pub fn from_env() -> Options {
        let mirror = env::var(MIRROR_VARIABLE).ok().filter(|mirror| !mirror.trim().is_empty());
        Options { mirror, ..Options::default() }
    }
}

/// What a download never exceeds. A file's own limits in the registry hold as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file.
    pub download: u64,
    /// Bytes of all files in an archive.
    pub unpacked: u64,
    /// Files and folders in an archive.
    pub entries: u64,
    /// Unpacked bytes for each byte of an archive.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { download: 4 << 30, unpacked: 16 << 30, entries: 10_000, ratio: 200 }
    }
}

/// How far a download is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The file, by its path in the cache.
    pub file: &'a str,
    /// What is being done with it.
    pub stage: Stage,
    /// Bytes so far, with those of earlier runs.
    pub done: u64,
    /// Bytes in all, if that is known.
    pub total: Option<u64>,
    /// Bytes that an earlier try had brought.
    pub resumed_from: u64,
    /// The address; empty while waiting or unpacking.
    pub mirror: &'a str,
}

/// What is being done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Another process downloads the same dataset: it goes first.
    Waiting,
    /// It comes in.
    Downloading,
    /// It is unpacked.
    Unpacking,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Files that were there already.
    pub present: usize,
    /// Files that were downloaded.
    pub fetched: Vec<Fetched>,
}

/// A file that was downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it is: the file, or the folder that was unpacked.
    pub path: PathBuf,
    /// The address that it came from.
    pub mirror: String,
    /// Its size as downloaded.
    pub bytes: u64,
    /// How many of them an earlier try had brought.
    pub resumed_from: u64,
    /// Its SHA-256 as downloaded.
    pub sha256: String,
}

/// Sees to it that every file of a dataset is in the cache. Those whose SHA-256 the registry knows are checked even if
/// they are there already; damaged ones are replaced.
///
/// # Errors
/// [`DataError::Download`] if no mirror has a file as it should be, or if it is missing and `offline` is set;
/// [`DataError::Format`] if an archive is refused; [`DataError::Io`] if the cache cannot be written.
pub fn get(
    set: &Set,
    cache: &Cache,
    options: &Options,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Outcome, DataError> {
    let mut missing = None;
    for file in set.files {
        if let Some(reason) = flaw(set, file, cache)? {
            missing = Some((file, reason));
            break;
        }
    }
    // A complete cache may be read-only: nothing is written before something is missing.
    let Some((first, reason)) = missing else {
        return Ok(Outcome { present: set.files.len(), fetched: Vec::new() });
    };
    if options.offline {
        let help = format!("fetch `{}` while online, or put the file there", set.name);
        let reason = format!("offline, and {reason}");
        return Err(DataError::Download { what: set.path_of(first), reason, help });
    }

    let _lock = lock(cache, set.name, &mut || {
        let file = set.path_of(first);
        let (done, total, resumed_from) = (0, None, 0);
        progress(Progress { file: &file, stage: Stage::Waiting, done, total, resumed_from, mirror: "" });
    })?;
    let client = Client::new(options.timeouts);
    let mut outcome = Outcome::default();
    for file in set.files {
        if flaw(set, file, cache)?.is_none() {
            outcome.present += 1;
        } else {
            outcome.fetched.push(fetch(set, file, cache, options, &client, progress)?);
        }
    }
    Ok(outcome)
}

/// What is wrong with a file in the cache, if anything is.
fn flaw(set: &Set, file: &RemoteFile, cache: &Cache) -> Result<Option<String>, DataError> {
    let path = cache.installed(set, file);
    if !path.exists() {
        return Ok(Some(format!("there is nothing at {}", path.display())));
    }
    if !cache.has_file(set, file) {
        return Ok(Some(format!("what is at {} has another size or kind", path.display())));
    }
    let Some(expected) = file.sha256.filter(|_| file.unpack.is_none()) else { return Ok(None) };
    let found = part::sha256_of(&path)?;
    let wrong = format!("{} has the SHA-256 {found}, expected {expected}", path.display());
    Ok((found != expected).then_some(wrong))
}

fn fetch(
    set: &Set,
    file: &RemoteFile,
    cache: &Cache,
    options: &Options,
    client: &Client,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Fetched, DataError> {
    let what = set.path_of(file);
    let target = cache.root().join(set.origin.folder).join(file.name);
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(io_error("create", folder))?;
    }
    let remembered = Remembered::of(cache);
    let expected = match file.sha256 {
        Some(sha256) => Some(Expected { sha256: sha256.to_owned(), remembered_in: None }),
        None => remembered
            .find(&what)?
            .map(|sha256| Expected { sha256, remembered_in: Some(remembered.path().to_owned()) }),
    };
    let own = options.mirror.iter().map(|base| (format!("{}/{what}", base.trim_end_matches('/')), true));
    let mirrors = own.chain(set.mirrors(file).into_iter().map(|url| (url, false))).collect();
    let job = Job { what: &what, file, target: &target, expected, mirrors };
    let mut fetched = download::download(&job, client, options, progress)?;
    if let Some(unpack) = &file.unpack {
        let (done, resumed_from) = (fetched.bytes, fetched.resumed_from);
        let total = Some(done);
        progress(Progress { file: &what, stage: Stage::Unpacking, done, total, resumed_from, mirror: "" });
        fetched.path = install(unpack, &target, &cache.installed(set, file), options)?;
    }
    if file.sha256.is_none() {
        remembered.add(cache, &what, &fetched.sha256)?;
    }
    Ok(fetched)
}

/// Unpacks an archive into its folder, and removes it.
fn install(unpack: &Unpack, archive: &Path, folder: &Path, options: &Options) -> Result<PathBuf, DataError> {
    let limits = Limits { unpacked: unpack.limit.min(options.limits.unpacked), ..options.limits };
    let result = unpack::unpack(archive, unpack.top, folder, &limits);
    // A refused archive is of no use to anyone. When the disk is full, it is: the next run need not download it again.
    if !matches!(result, Err(DataError::Io { .. })) {
        let _ = fs::remove_file(archive);
    }
    result.map(|()| folder.to_owned())
}

/// Holds a lock by that name until it is dropped, after any other process that holds it.
fn lock(cache: &Cache, name: &str, waiting: &mut dyn FnMut()) -> Result<File, DataError> {
    let folder = cache.root().join(".locks");
    fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
    let path = folder.join(name);
    let file = File::options().create(true).append(true).open(&path).map_err(io_error("open", &path))?;
    let result = match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            waiting();
            file.lock()
        }
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    match result {
        // Some network drives have no locks. Two downloads at once would then fail their checksum, not pass it.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(file),
        result => result.map_err(io_error("lock", &path)).map(|()| file),
    }
}
