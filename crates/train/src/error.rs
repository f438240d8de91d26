use std::borrow::Cow;
use std::fmt::Display;
use std::path::PathBuf;

use edgepace_curriculum::CurriculumError;
use edgepace_graph::{GraphError, Refusal};
use edgepace_nn::{NnError, with_simd};
use thiserror::Error;

/// Why a run could not be done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A setting is unknown, of the wrong type, or out of its range. Found before the first epoch.
    #[error(transparent)]
    Refused(#[from] Refusal),

    /// Settings that cannot be read: wrong type, unknown name.
    #[error("setting `{field}`: {reason}")]
    Settings {
        /// The setting, or the part that holds it.
        field: String,
        /// What is wrong and what is legal.
        reason: String,
    },

    /// A saved run that is damaged, or belongs to another one.
    #[error("the saved run does not fit: `{part}` {reason}")]
    State {
        /// Which part of it.
        part: String,
        /// What is wrong with it.
        reason: String,
    },

    /// A file that cannot be read or written.
    #[error("{action} {}: {cause}", .path.display())]
    File {
        /// What was to be done, as «cannot write».
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said, or what is wrong with the file.
        cause: String,
    },

    /// A number that a method computes is not finite, and so cannot be used.
    #[error("the {what} cannot be found, because numbers that they come from are not finite")]
    NotFinite {
        /// What was to be computed.
        what: &'static str,
    },

    /// Training diverged: a number that all later ones come from is not finite.
    #[error("{what} not finite in epoch {epoch}: training diverges, try a smaller {rates}")]
    Diverged {
        /// What it is, as «the loss is».
        what: &'static str,
        /// The epoch, from 0.
        epoch: u32,
        /// The settings that may be too large.
        rates: &'static str,
    },

    /// The method needs more memory than there is. Found before anything is made.
    #[error(
        "method {method} needs {}{} on {nodes} nodes, and {} are free: use {}{instead}",
        readable(*.needed), at_once(*.runs), readable(*.available), fewer(*.runs_that_fit)
    )]
    Memory {
        /// The method.
        method: String,
        /// The nodes of the graph.
        nodes: usize,
        /// Runs at once.
        runs: usize,
        /// As many as there is memory for.
        runs_that_fit: usize,
        /// The bytes that they need.
        needed: u64,
        /// The bytes that the process may still take.
        available: u64,
        /// What to use instead.
        instead: &'static str,
    },

    /// The model refuses.
    #[error(transparent)]
    Model(#[from] NnError),

    /// The curriculum refuses.
    #[error(transparent)]
    Curriculum(#[from] CurriculumError),

    /// Graph, features, labels or split do not fit.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl TrainError {
    /// A refusal of a setting or an input: what it is called, what was found, and what is legal.
    pub(crate) fn refused(
        field: impl Into<Cow<'static, str>>,
        found: impl Display,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Refusal::new(field, found, expected).into()
    }
}

fn fewer(runs: usize) -> String {
    if runs > 0 { format!("at most {runs} at once, or ") } else { String::new() }
}

fn at_once(runs: usize) -> String {
    if runs > 1 { format!(" for {runs} runs at once") } else { String::new() }
}

/// Refuses numbers of an epoch that are not finite. `what` they are is said as in «the loss is», and `rates` are the settings that
/// may be too large.
pub(crate) fn check_finite(
    values: &[f32],
    what: &'static str,
    epoch: u32,
    rates: &'static str,
) -> Result<(), TrainError> {
    // No end at the first that is not, so that several are looked at together.
    let finite = with_simd(
        #[inline(always)]
        || values.iter().fold(true, |finite, value| finite & value.is_finite()),
    );
    if finite { Ok(()) } else { Err(TrainError::Diverged { what, epoch, rates }) }
}

fn readable(bytes: u64) -> String {
    match bytes {
        u64::MAX => "more than any machine has".to_owned(),
        1_000_000_000.. => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
