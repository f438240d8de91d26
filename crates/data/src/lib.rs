//! Where graphs come from: readers, downloads, import, generator, noise, splits.

mod cache;
mod draw;
mod atomic;
#[allow(dead_code, reason = "its users come next")]
mod error;
pub mod fetch;
#[doc(hidden)]
pub mod fuzz;
pub mod generate;
pub mod noise;
mod pairs;
#[allow(dead_code, reason = "its users come next")]
mod readers;
pub mod registry;
mod spec;
pub mod splits;
#[allow(dead_code, reason = "its users come next")]
mod readers;
pub mod native;

#[cfg(test)]
#[path = "../tests/data/files.rs"]
mod files;
#[cfg(test)]
#[path = "../tests/data/npz_files.rs"]
mod npz_files;

pub use cache::{Cache, DATA_VARIABLE};
pub use error::{DataError, Place};
pub use generate::{Generator, generate};
pub use noise::Noise;
pub use splits::SplitRule;
pub use native::Native;
