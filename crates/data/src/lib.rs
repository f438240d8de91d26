//! Where graphs come from: readers, downloads, import, generator, noise, splits.

#![allow(clippy::result_large_err, reason = "an error ends the reading of a file; its size does not matter")]

mod atomic;
#[allow(dead_code, reason = "its users come next")]
mod error;
pub mod export;
#[doc(hidden)]
pub mod fuzz;
pub mod import;
pub mod native;
#[allow(dead_code, reason = "its users come next")]
mod readers;

pub use error::{DataError, Place};
pub use native::Native;
