//! Many runs: plans, experiments, run folders and stores that are safe to kill, statistics.
//!
//! An [`Experiment`] is a grid of runs, read from TOML. A [`Runner`] does them, several at a time, and keeps each in a
//! [`Store`] as soon as it is over; what the store has is not run again.
//!
//! A [`Plan`] says what to run on what, with which seeds. A [`Sweep`] does it, several runs at a time. With a [`RunFolder`]
//! each run leaves its files there and is saved now and then, so that what was killed goes on where it was, to the same
//! bits.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use edgepace_data::{Noise, generate};
//! use edgepace_graph::Threads;
//! use edgepace_lab::{DataSource, FinishedRun, LabError, Options, Outcome, Plan, Sweep, Unwatched, statistics};
//! use edgepace_train::RunConfig;
//!
//! let plan = Plan {
//!     data: DataSource::Name("synthetic:homophily=0.7,nodes=200,edges=800,seed=0".to_owned()),
//!     noise: Noise::default(),
//!     split: Some("fraction:0.5:0.25".parse()?),
//!     config: RunConfig { epochs: 20, ..RunConfig::default() },
//!     seeds: vec![0, 1, 2],
//! };
//! let config = plan.config.check()?;
//! let name = plan.first_name().expect("data that has a name");
//! let dataset = generate(&Threads::new(1)?, &name)?.expect("the name of a generator");
//!
//! let options = Options {
//!     jobs: 2,
//!     threads: 1,
//!     folder: None,
//!     checkpoint: None,
//!     deadline: None,
//!     stop: &AtomicBool::new(false),
//!     memory: None,
//!     watch: &Unwatched,
//! };
//! let test = |run: FinishedRun| Ok::<_, LabError>(run.finished.record.result.test);
//! let outcomes = Sweep::new(plan, config, dataset).each(&options, test)?;
//! let scores: Vec<Option<f64>> = outcomes
//!     .into_iter()
//!     .map(|outcome| match outcome {
//!         Outcome::Done(test) => test,
//!         Outcome::Before(record) => record.result.test,
//!         Outcome::Left => None,
//!     })
//!     .collect();
//! assert_eq!(scores.len(), 3);
//! assert!(statistics::mean(&scores).is_some_and(|mean| mean > 50.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod experiment;
pub mod figure;
mod finished;
mod folder;
mod history;
mod limit;
mod lock;
mod plan;
pub mod report;
pub mod reproduce;
mod runner;
mod seeds;
pub mod statistics;
mod store;
mod sweep;
pub mod tables;
mod tensorboard;
mod toml_text;
mod work;

pub use error::LabError;
pub use experiment::{
    AsText, BackboneName, Cell, ConfigEntry, Experiment, ExperimentFile, GraphEntry, Limit, MethodEntry,
    OneOrMany, option_reference, schema,
};
pub use finished::{FinishedRuns, FinishedSeed, TrainingData, as_trained, source_of};
pub use folder::{RunFolder, SeedFolder};
pub use limit::{Limits, SeedLimit};
pub use plan::{DataSource, Plan, PlanFile, RunData, with_noise};
pub use runner::{
    CellRun, Ended, Load, Part, Runner, RunnerOptions, Spent, SweepForecast, SweepProgress, WatchRuns,
};
pub use seeds::Seeds;
pub use store::{Filter, Imported, Label, Order, RunRow, Status, Store};
pub use sweep::{FinishedRun, Forecast, Options, Outcome, Sweep, Unwatched, Watch};
pub use tensorboard::TensorBoard;
pub use work::KeepFiles;
