//! Engines that do the runs of a sweep on other machines. This program has none of its own: whoever calls it as a library may
//! bring one, as the Python package does.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use edgepace_lab::CellRun;

/// A sweep that an engine is to do.
#[derive(Clone, Debug)]
pub struct EngineSweep<'a> {
    /// The experiment file, and what it says.
    pub plan: &'a Path,
    /// What it says.
    pub text: &'a str,
    /// The store that keeps the runs.
    pub store: &'a Path,
    /// Seeds in place of those of the file.
    pub seeds: Option<String>,
    /// The folder of datasets, if it was named.
    pub data: Option<PathBuf>,
    /// Whether the network is not to be used for datasets.
    pub offline: bool,
    /// Whether runs that failed are tried again.
    pub retry: bool,
    /// Threads of each run.
    pub threads: usize,
    /// How often a run is saved.
    pub checkpoint: Duration,
    /// Where the cluster is, if it was said.
    pub address: Option<String>,
}

/// Why an engine has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// It was told to stop; what is over is in the store.
    Stopped,
    /// What went wrong.
    Failed(String),
}

/// Does the runs of a sweep and keeps them in its store; the answer has each of them.
pub type Engine = dyn Fn(&EngineSweep<'_>) -> Result<Vec<CellRun>, EngineError> + Send + Sync;

static RAY: OnceLock<Box<Engine>> = OnceLock::new();

/// From now on `--engine ray` means this; the first one counts.
pub(crate) fn bring(ray: Box<Engine>) {
    // A second one is not needed: the program is called once.
    let _ = RAY.set(ray);
}

/// What `--engine ray` means, if anything.
pub(crate) fn ray() -> Option<&'static Engine> {
    RAY.get().map(|engine| &**engine)
}
