//! Where graphs come from: readers, downloads, import, generator, noise, splits.

mod cache;
mod draw;
mod error;
pub mod export;
pub mod fetch;
#[doc(hidden)]
pub mod fuzz;
pub mod generate;
pub mod import;
mod load;
pub mod native;
pub mod noise;
mod pairs;
mod readers;
pub mod registry;
mod spec;
pub mod splits;

#[cfg(test)]
#[path = "../tests/data/npz_files.rs"]
mod npz_files;
#[cfg(test)]
#[path = "../tests/data/pickles.rs"]
mod pickles;

pub use cache::{Cache, DATA_VARIABLE};
pub use error::{DataError, Place};
pub use generate::{Generator, generate};
pub use load::{Source, load};
pub use native::Native;
pub use noise::Noise;
pub use splits::SplitRule;
