//! Where graphs come from: readers, downloads, import, generator, noise, splits.

mod atomic;
#[allow(dead_code, reason = "its users come next")]
mod error;
#[doc(hidden)]
pub mod fuzz;
pub mod native;

pub use error::{DataError, Place};
pub use native::Native;
