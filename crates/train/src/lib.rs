//! One run: the methods, the loop, what it measures and what it leaves behind.
mod audit;
mod auto;
mod config;
mod error;
mod event;
mod fit;
mod linalg;
mod memory;
mod method;
mod prepare;
mod run;
mod session;

pub use audit::{Audit, Detection};
pub use config::RunConfig;
pub use error::TrainError;
pub use event::{Event, Listener, Phase, Silent};
pub use fit::Best;
pub use linalg::{Operator, Svd, SvdConfig, truncated_svd};
pub use memory::{available_bytes, peak_bytes};
pub use method::{
    EdgeReport, EvaluatedOn, Kept, METHODS, Method, MethodInfo, Setting, Update, check_memory,
    find as find_method,
};
pub use prepare::Preparation;
pub use run::{RunResult, Trained, run};
pub use session::Session;
