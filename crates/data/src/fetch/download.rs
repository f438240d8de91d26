//! One file: mirror after mirror, try after try, until its bytes are what they should be.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread;

use ureq::http::StatusCode;

use super::http::{Client, Failure, Reply, interrupted};
use super::part::Part;
use super::{Fetched, Options, Progress, Stage};
use crate::DataError;
use crate::registry::RemoteFile;

const BUFFER: usize = 1 << 16;
/// A try that brought this many new bytes does not count as one: a large file may come in many pieces.
const WORTHWHILE: u64 = 1 << 20;

/// What to download.
pub(super) struct Job<'a> {
    /// The file's path in the cache, for messages.
    pub(super) what: &'a str,
    pub(super) file: &'a RemoteFile,
    pub(super) target: &'a Path,
    pub(super) expected: Option<Expected>,
    /// Addresses, and whether they may be plain http.
    pub(super) mirrors: Vec<(String, bool)>,
}

/// The SHA-256 that a file must have.
pub(super) struct Expected {
    pub(super) sha256: String,
    /// Where it was noted, if it is that of an earlier download.
    pub(super) remembered_in: Option<PathBuf>,
}

/// Why a try ended without the whole file.
enum Stop {
    Server(Failure),
    /// This machine's fault, which no mirror mends.
    Here(DataError),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Server(failure)
    }
}

impl From<DataError> for Stop {
    fn from(error: DataError) -> Stop {
        Stop::Here(error)
    }
}

pub(super) fn download(
    job: &Job<'_>,
    client: &Client,
    options: &Options,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Fetched, DataError> {
    let mut part = Part::open(job.target)?;
    let limit = job.file.limit.min(options.limits.download);
    let (mut reasons, mut mismatch) = (Vec::new(), false);
    for (url, plain) in &job.mirrors {
        let (mut tries, mut farthest) = (0, part.len());
        loop {
            let result = attempt(job, &mut part, client, (url, *plain), limit, progress)
                .and_then(|resumed_from| verify(job, &mut part, resumed_from, &mut mismatch));
            let (reason, again) = match result {
                Ok((resumed_from, sha256)) => {
                    let bytes = part.len();
                    part.finish(job.target)?;
                    let (path, mirror) = (job.target.to_owned(), url.clone());
                    return Ok(Fetched { path, mirror, bytes, resumed_from, sha256 });
                }
                Err(Stop::Here(error)) => return Err(error),
                Err(Stop::Server(Failure::Again(reason))) => (reason, true),
                Err(Stop::Server(Failure::NextMirror(reason))) => (reason, false),
            };
            if part.len() >= farthest + WORTHWHILE {
                (farthest, tries) = (part.len(), 0);
            } else {
                tries += 1;
            }
            if !again || tries > options.retries {
                reasons.push(format!("{url}: {reason}"));
                break;
            }
            thread::sleep(options.pause * (1 << tries.saturating_sub(1).min(6)));
        }
    }
    if part.len() == 0 {
        part.discard();
    }
    Err(DataError::Download {
        what: job.what.to_owned(),
        reason: reasons.join("; "),
        help: help(job, mismatch),
    })
}

fn help(job: &Job<'_>, mismatch: bool) -> String {
    let remembered = job.expected.as_ref().and_then(|expected| expected.remembered_in.as_ref());
    let target = job.target.display();
    match remembered {
        Some(file) if mismatch => format!(
            "the first download had the expected SHA-256; if the file was changed for good, remove the line of {} from {} \
             and fetch again",
            job.what,
            file.display()
        ),
        _ if mismatch => format!("it was changed or damaged at the mirrors; put a good copy at {target}"),
        _ => format!(
            "see whether the network is up, name a mirror with {}, or put the file at {target}",
            super::MIRROR_VARIABLE
        ),
    }
}

/// Brings the part to its whole length. Returns how many bytes were there before.
fn attempt(
    job: &Job<'_>,
    part: &mut Part,
    client: &Client,
    (url, plain): (&str, bool),
    limit: u64,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<u64, Stop> {
    if part.len() > limit {
        part.clear()?;
    }
    let from = part.len();
    if from > 0 && job.file.bytes == Some(from) {
        return Ok(from);
    }
    // Bytes of another version can only be told apart by what the server says of its version, or by the checksum.
    let validator = part.validator(url);
    let resume =
        (from > 0 && (validator.is_some() || job.expected.is_some())).then_some((from, validator.as_deref()));
    let mut reply = client.get(url, resume, plain)?;
    if reply.status == StatusCode::RANGE_NOT_SATISFIABLE {
        if resume.is_some() && reply.total == Some(from) {
            return Ok(from);
        }
        part.clear()?;
        return Err(Failure::Again(format!("no bytes from {from} on")).into());
    }
    check_size(job, &reply, limit)?;
    let resumed_from = reply.from;
    if reply.status == StatusCode::OK {
        part.clear()?;
    } else if resume.is_none() || resumed_from != from {
        part.clear()?;
        return Err(
            Failure::Again(format!("bytes from {resumed_from} on, asked for those from {from} on")).into()
        );
    }
    part.set_source(url, reply.validator.as_deref())?;

    let total = reply.total.or(job.file.bytes);
    let mut buffer = vec![0; BUFFER];
    let mut body = reply.body.as_reader();
    loop {
        let done = part.len();
        progress(Progress {
            file: job.what,
            stage: Stage::Downloading,
            done,
            total,
            resumed_from,
            mirror: url,
        });
        let read = body.read(&mut buffer).map_err(|error| interrupted(&error))?;
        if read == 0 {
            break;
        }
        if done + read as u64 > limit {
            part.clear()?;
            return Err(
                Failure::NextMirror(format!("more than {limit} bytes, the most that is taken")).into()
            );
        }
        part.append(&buffer[..read])?;
    }
    match total {
        Some(total) if part.len() < total => {
            Err(Failure::Again(format!("ended after {} of {total} bytes", part.len())).into())
        }
        _ => Ok(resumed_from),
    }
}

/// Refuses before the first byte what a server itself calls too large, or of another size than the file's.
fn check_size(job: &Job<'_>, reply: &Reply, limit: u64) -> Result<(), Failure> {
    let Some(total) = reply.total else { return Ok(()) };
    if let Some(bytes) = job.file.bytes.filter(|bytes| *bytes != total) {
        return Err(Failure::NextMirror(format!("{total} bytes, expected {bytes}")));
    }
    if total > limit {
        return Err(Failure::NextMirror(format!("{total} bytes, at most {limit} are taken")));
    }
    Ok(())
}

/// Compares the whole file with the SHA-256 it must have. A file that differs is emptied.
fn verify(
    job: &Job<'_>,
    part: &mut Part,
    resumed_from: u64,
    mismatch: &mut bool,
) -> Result<(u64, String), Stop> {
    let found = part.sha256();
    let Some(expected) = job.expected.as_ref().filter(|expected| expected.sha256 != found) else {
        return Ok((resumed_from, found));
    };
    *mismatch = true;
    part.clear()?;
    let reason = format!("the SHA-256 is {found}, expected {}", expected.sha256);
    // The bytes of an earlier try may be to blame, not this mirror.
    Err(if resumed_from > 0 { Failure::Again(reason) } else { Failure::NextMirror(reason) }.into())
}
