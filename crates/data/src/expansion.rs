//! How much a packed file may unpack to: a few megabytes of zeros can become as many gigabytes.
//!
//! A file may unpack to [`DEFAULT`] times its size, and always to 256 MiB. Real tables and arrays pack to a tenth or a
//! thirtieth; deflate ends at 1032. Who trusts a file raises the limit, by [`set_max_expansion`] or by the environment
//! variable [`VARIABLE`]. It belongs to the process, as the memory does that it protects.

use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;

use crate::DataError;
use crate::error::{Place, format_error};

/// How many times its size a file may unpack to, unless told.
pub(crate) const DEFAULT: u64 = 100;
/// The environment variable that says so.
pub(crate) const VARIABLE: &str = "EDGEPACE_MAX_EXPANSION";
/// What every file may unpack to.
const ALWAYS: u64 = 256 << 20;

/// What was set; 0 when nothing was.
static TOLD: AtomicU64 = AtomicU64::new(0);

/// From now on files may unpack to this many times their size; 0 is the default again.
pub fn set_max_expansion(times: u64) {
    TOLD.store(times, Ordering::Relaxed);
}

fn times() -> u64 {
    match TOLD.load(Ordering::Relaxed) {
        0 => std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(DEFAULT),
        told => told,
    }
}

/// The most bytes that a file of `packed` bytes may unpack to.
pub(crate) fn limit(packed: u64) -> u64 {
    packed.saturating_mul(times()).max(ALWAYS)
}

/// The error about a file of which there is more than its limit.
pub(crate) fn refusal(file: &Path, place: Place, packed: u64) -> DataError {
    let expected = format!("at most {} bytes out of {packed} packed ones", limit(packed));
    let unread = match std::env::var(VARIABLE) {
        Ok(text) if text.trim().parse::<u64>().is_err() => {
            format!(" ({VARIABLE} is `{}`, which is no whole number)", text.escape_debug())
        }
        _ => String::new(),
    };
    let help = format!(
        "if you trust the file, let it unpack to more than {} times its size: `--max-expansion` of `edgepace data import`, \
         or {VARIABLE}{unread}",
        times()
    );
    format_error(file, place, expected, "more").with_help(help)
}

/// What comes out of a packed file, up to its limit.
pub(crate) struct Limited<R> {
    unpacked: R,
    packed: u64,
    left: u64,
}

impl<R> Limited<R> {
    /// `packed` is the size of the file.
    pub(crate) fn new(unpacked: R, packed: u64) -> Limited<R> {
        Limited { unpacked, packed, left: limit(packed) }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.unpacked.read(buffer)?;
        self.left =
            self.left.checked_sub(read as u64).ok_or_else(|| io::Error::other(Expanded(self.packed)))?;
        Ok(read)
    }
}

/// A file of so many bytes that unpacks to more than its limit: what [`Limited`] says, for [`told`] to translate.
#[derive(Debug, Error)]
#[error("{0} bytes unpack to more than the limit")]
struct Expanded(u64);

/// The error about a file that unpacks to too much, if that is what `error` says.
pub(crate) fn told(file: &Path, error: &io::Error) -> Option<DataError> {
    let expanded = error.get_ref()?.downcast_ref::<Expanded>()?;
    Some(refusal(file, Place::Whole, expanded.0))
}
