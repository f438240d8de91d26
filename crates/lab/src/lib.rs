//! Many runs: plans, run folders that are safe to kill, statistics.

mod error;
mod folder;
mod history;
mod plan;
pub mod statistics;
mod sweep;

pub use error::LabError;
pub use folder::{RunFolder, SeedFolder};
pub use plan::{DataSource, Plan, RunData, with_noise};
pub use sweep::{FinishedRun, Options, Outcome, Sweep, Unwatched, Watch};
