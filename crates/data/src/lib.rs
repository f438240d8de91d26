//! Where graphs come from: readers, downloads, import, generator, noise, splits.

#![allow(
    clippy::result_large_err,
    reason = "an error names file, place, expected, found and help; it is rare"
)]

mod cache;
mod draw;
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

pub use cache::{Cache, DATA_VARIABLE};
pub use error::{DataError, Place};
pub use generate::{Generator, generate};
pub use noise::Noise;
pub use splits::SplitRule;
