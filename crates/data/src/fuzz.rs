//! Every reader as a function of bytes, for `fuzz/` and `tests/hostile.rs`. Not part of the public interface.

use std::path::Path;

use crate::{DataError, Native, import};

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
    Target { name: "native", read: native, expansion: 32 },
    #[cfg(feature = "parquet")]
    // 1032 cells per byte, 4 bytes per cell, 3 times while a vector grows.
    Target { name: "parquet", read: parquet, expansion: 12 * 1032 },
    Target { name: "graphml", read: graphml, expansion: 64 },
    Target { name: "edge_list", read: edge_list, expansion: 64 },
    Target { name: "arrays", read: arrays, expansion: 16 * 1032 },
];

/// The name that errors give to bytes that came from no file.
const INPUT: &str = "input";

fn native(bytes: &[u8]) -> Result<(), DataError> {
    let native = Native::from_bytes(Path::new(INPUT), bytes)?;
    native.verify()?;
    native.dataset()?.checksum();
    Ok(())
}

#[cfg(feature = "parquet")]
fn parquet(bytes: &[u8]) -> Result<(), DataError> {
    import::read_parquet(Path::new(INPUT), bytes)
}

fn graphml(bytes: &[u8]) -> Result<(), DataError> {
    import::read_graphml(Path::new(INPUT), bytes)
}

fn edge_list(bytes: &[u8]) -> Result<(), DataError> {
    import::read_edge_list(Path::new(INPUT), bytes)
}

fn arrays(bytes: &[u8]) -> Result<(), DataError> {
    import::read_arrays(Path::new(INPUT), bytes).map(drop)
}
