//! Every reader as a function of bytes, for `fuzz/` and `tests/hostile.rs`. Not part of the public interface.

use std::io::Cursor;
use std::path::Path;

use crate::DataError;
use crate::error::io_error;
use crate::fetch::{Limits, unpack};

/// A reader that takes whatever bytes it is given.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is also that of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Reads, and throws away what was read.
    pub read: fn(&[u8]) -> Result<(), DataError>,
    /// How many bytes of memory it may need per byte of input, at most: a few, or a thousand where the format is
    /// compressed.
    pub expansion: usize,
}

/// All readers.
pub const TARGETS: &[Target] = &[Target { name: "unpack", read: unpack, expansion: 64 }];

fn unpack(bytes: &[u8]) -> Result<(), DataError> {
    let folder = tempfile::tempdir().map_err(io_error("create", Path::new("a temporary folder")))?;
    let limits = Limits { unpacked: 1 << 20, entries: 100, ..Limits::default() };
    unpack::extract(Cursor::new(bytes), bytes.len() as u64, Path::new("fuzz.zip"), folder.path(), &limits)
}
