//! What can go wrong with many runs, in terms that a caller can act on.

use std::path::PathBuf;

use edgepace_data::DataError;
use edgepace_graph::files::FileError;
use edgepace_train::TrainError;
use thiserror::Error;

/// Why runs could not be done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LabError {
    /// A run refuses or fails.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Training diverged; what was the best until then is kept.
    #[error("seed {seed}: {cause}{}", kept_in(.kept.as_ref()))]
    Diverged {
        /// The seed of the run.
        seed: u64,
        /// What diverged, when, and what to lower.
        cause: TrainError,
        /// Where the model of the best epoch before is.
        kept: Option<PathBuf>,
    },
    /// The dataset refuses.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A plan that cannot be read.
    #[error("{}{}{}: {reason}", .path.display(), at_line(*.line), of_field(.field.as_ref()))]
    Plan {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: Option<usize>,
        /// The field, as `run.epochs`.
        field: Option<String>,
        /// What is wrong with it, and what is legal.
        reason: String,
    },
    /// A folder that has a run in it already.
    #[error("{} has a run in it", .folder.display())]
    Used {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder that another process works on.
    #[error("{} is in use: {owner}", .folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
        /// Who has it.
        owner: String,
    },
    /// A folder without a run.
    #[error("{} has no run in it: {reason}", .folder.display())]
    NoRun {
        /// The folder.
        folder: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// A seed whose run is not in a folder of runs, or not over.
    #[error("{} has no run of seed {seed} that is over: there are {}", .folder.display(), listed(.over))]
    NoSeed {
        /// The folder.
        folder: PathBuf,
        /// The seed that was asked for.
        seed: u64,
        /// Those that are over.
        over: Vec<u64>,
    },
    /// A report that cannot be made.
    #[error("no report: {reason}")]
    Report {
        /// What is wrong.
        reason: String,
    },
    /// A run that broke off.
    #[error("{reason}")]
    Failed {
        /// Why.
        reason: String,
    },
    /// A store that cannot be read or written.
    #[error("cannot {action} the store {}: {reason}", .path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What was tried, as in "read".
        action: &'static str,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A record of a run with other data, settings or arithmetic.
    #[error("{} is of the run {found}, expected {expected}: data, settings or version have changed", .path.display())]
    OtherRun {
        /// The record.
        path: PathBuf,
        /// The id of the run that it is of.
        found: String,
        /// The id of the run that was asked for.
        expected: String,
    },
}

fn listed(seeds: &[u64]) -> String {
    match seeds {
        [] => "none".to_owned(),
        seeds => seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn at_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

fn of_field(field: Option<&String>) -> String {
    field.map_or_else(String::new, |field| format!(", field `{field}`"))
}

fn kept_in(folder: Option<&PathBuf>) -> String {
    folder.map_or_else(String::new, |folder| {
        format!("; the model of the best epoch until then is in {}", folder.display())
    })
}
