//! Where graphs come from: readers, downloads, import, generator, noise, splits.

#[allow(dead_code, reason = "its users come next")]
mod error;
#[doc(hidden)]
pub mod fuzz;
#[allow(dead_code, reason = "its users come next")]
#[doc(hidden)]
pub mod import;

pub use error::{DataError, Place};
