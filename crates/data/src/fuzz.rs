//! Every reader as a function of bytes, for `fuzz/` and `tests/hostile.rs`. Not part of the public interface.

use std::path::Path;

use crate::{DataError, Native};

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
pub const TARGETS: &[Target] = &[Target { name: "native", read: native, expansion: 32 }];

/// The name that errors give to bytes that came from no file.
const INPUT: &str = "input";

fn native(bytes: &[u8]) -> Result<(), DataError> {
    let native = Native::from_bytes(Path::new(INPUT), bytes)?;
    native.verify()?;
    native.dataset()?.checksum();
    Ok(())
}
