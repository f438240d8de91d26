//! What a method chooses among on validation, or pools.

use crate::config::RunConfig;

/// One of several trainings that make a run.
pub(crate) struct Candidate {
    /// What the record says when it was chosen.
    pub(crate) label: &'static str,
    pub(crate) config: RunConfig,
}

/// What is chosen among.
pub(crate) struct Candidates {
    /// At least one, the simplest first; among equals the earlier one counts.
    pub(crate) list: Vec<Candidate>,
    /// Which of them is trained alone where there are no validation nodes to choose by.
    pub(crate) alone: usize,
}

/// What is pooled.
pub(crate) struct Experts {
    /// At least one, the simplest first.
    pub(crate) list: Vec<Candidate>,
    /// Whether one of them is kept in place of the pool.
    pub(crate) pick: bool,
}
