//! Every reader as a function of bytes, for `fuzz/` and `tests/hostile.rs`. Not part of the public interface.

use std::path::Path;

use crate::DataError;
use crate::import::delimited::{Delimited, read_edges_from_bytes};

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
pub const TARGETS: &[Target] = &[
    // A byte of gzip can stand for a thousand bytes of text, and four of those for an edge.
    Target { name: "delimited", read: delimited, expansion: 16_000 },
];

/// Small blocks, so that lines fall across them.
fn delimited(bytes: &[u8]) -> Result<(), DataError> {
    read_edges_from_bytes(Path::new("fuzz"), bytes, 64, &Delimited::default(), None).map(drop)
}
