//! Where graphs come from: readers, downloads, import, generator, noise, splits.

#![allow(
    clippy::result_large_err,
    reason = "an error names file, place, expected, found and help; it is rare"
)]

#[allow(dead_code, reason = "its users come next")]
mod error;
#[doc(hidden)]
pub mod fuzz;
#[allow(dead_code, reason = "its users come next")]
mod readers;

#[cfg(test)]
#[path = "../tests/data/files.rs"]
mod files;
#[cfg(test)]
#[path = "../tests/data/npz_files.rs"]
mod npz_files;

pub use error::{DataError, Place};
