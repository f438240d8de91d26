//! What became of each edge, and of each update.

use serde::{Deserialize, Serialize};

use crate::Objective;

/// The first epoch of an edge that was never in.
pub const NEVER: u32 = u32::MAX;

/// What became of each pair (see [`Pairs`](crate::Pairs)): slices with one entry per pair.
#[derive(Debug, Clone, Copy)]
pub struct History<'a> {
    /// The epoch of the first update that let it in; [`NEVER`] if none did.
    pub first_epoch: &'a [u32],
    /// t(e): the number of updates that let it in.
    pub times_in: &'a [u32],
    /// R of the last update.
    pub residuals: &'a [f32],
    /// π of the last update, whether it is in or not.
    pub weights: &'a [f32],
    /// Each update in turn.
    pub updates: &'a [UpdateRecord],
}

/// One update.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UpdateRecord {
    /// The epoch it was made at.
    pub epoch: u32,
    /// λ of its mask.
    pub lambda: f64,
    /// Directed edges that are in after it.
    pub selected: usize,
    /// The objective with the new residuals and the old mask.
    pub before: Objective,
    /// The objective with the new mask: never above `before`, but for rounding (and for the authors' Adam steps, whose
    /// momentum may lead uphill).
    pub after: Objective,
}
