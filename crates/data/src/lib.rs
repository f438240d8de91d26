//! Where graphs come from: readers, downloads, import, generator, noise, splits.

mod draw;
#[allow(dead_code, reason = "its users come next")]
mod error;
#[doc(hidden)]
pub mod fuzz;
#[allow(dead_code, reason = "its users come next")]
mod readers;
pub mod generate;
pub mod noise;
mod pairs;
mod spec;
pub mod splits;

pub use error::{DataError, Place};
pub use generate::{Generator, generate};
pub use noise::Noise;
pub use splits::SplitRule;
