//! Where graphs come from: readers, downloads, import, generator, noise, splits.

mod cache;
#[allow(dead_code, reason = "its users come next")]
mod error;
pub mod fetch;
#[doc(hidden)]
pub mod fuzz;
pub mod registry;

pub use cache::{Cache, DATA_VARIABLE};
pub use error::{DataError, Place};
