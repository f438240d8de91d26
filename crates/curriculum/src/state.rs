//! A curriculum's memory, to be saved and restored.

use serde::{Deserialize, Serialize};

use crate::kernel::Difficulty;
use crate::{CurriculumConfig, CurriculumError, EvidenceFit, MaskForm, Steps, UpdateRecord};

/// All that a [`Curriculum`](crate::Curriculum) remembers from one update to the next. What follows from graph, features,
/// config and seed is not in it.
///
/// Restored and continued, a curriculum gives the same bits. A text format has to keep all digits (`serde_json`: its
/// feature `float_roundtrip`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The settings that it belongs to.
    pub config: CurriculumConfig,
    /// The number of epochs that it belongs to.
    pub epochs: usize,
    /// The seed that it belongs to.
    pub seed: u64,
    /// λ of the next update, for the pace `lambda`.
    pub lambda: f64,
    /// 1 − κ of each pair, averaged.
    pub gaps: Vec<f32>,
    /// R of each pair.
    pub residuals: Vec<f32>,
    /// S of each pair.
    pub mask: Vec<f32>,
    /// Adam's steps of each pair; empty but for the mask `adam`.
    #[serde(default)]
    pub steps: Vec<Steps>,
    /// Whether each pair is in.
    pub selected: Vec<bool>,
    /// t(e) of each pair.
    pub times_in: Vec<u32>,
    /// First epoch of each pair.
    pub first_epoch: Vec<u32>,
    /// ρ of each node.
    pub confidence: Vec<f32>,
    /// What the evidence kernel found last, where its next fit begins; `None` for other kernels and before the first update.
    pub evidence: Option<EvidenceFit>,
    /// Each update in turn.
    pub updates: Vec<UpdateRecord>,
}

impl State {
    /// Refuses a state of another curriculum, or a damaged one.
    pub(crate) fn check(
        &self,
        config: &CurriculumConfig,
        (epochs, seed): (usize, u64),
        (pairs, nodes): (usize, usize),
    ) -> Result<(), CurriculumError> {
        let refuse = |field, reason| Err(CurriculumError::State { field, reason });
        if self.config != *config {
            return refuse("config", "is another one");
        }
        if (self.epochs, self.seed) != (epochs, seed) {
            return refuse("epochs or seed", "is another one");
        }
        let lengths = [
            ("gaps", self.gaps.len(), pairs),
            ("residuals", self.residuals.len(), pairs),
            ("mask", self.mask.len(), pairs),
            ("steps", self.steps.len(), if config.mask == MaskForm::Adam { pairs } else { 0 }),
            ("selected", self.selected.len(), pairs),
            ("times_in", self.times_in.len(), pairs),
            ("first_epoch", self.first_epoch.len(), pairs),
            ("confidence", self.confidence.len(), nodes),
        ];
        for (field, found, expected) in lengths {
            if found != expected {
                return refuse(field, "has another length: it is of another graph");
            }
        }
        let units = [
            ("gaps", &self.gaps),
            ("residuals", &self.residuals),
            ("mask", &self.mask),
            ("confidence", &self.confidence),
        ];
        for (field, values) in units {
            if !values.iter().all(|value| (0.0..=1.0).contains(value)) {
                return refuse(field, "holds a number that is not between 0 and 1");
            }
        }
        if !self.steps.iter().all(|s| (0.0..=1.0).contains(&s.mask) && s.mean.is_finite() && s.square >= 0.0)
        {
            return refuse("steps", "holds a number that Adam's steps cannot lead to");
        }
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            return refuse("lambda", "is not a finite number, at least 0");
        }
        let fitted = Difficulty::fits(config) && !self.updates.is_empty();
        if self.evidence.is_some() != fitted {
            return refuse("evidence", "is there without a fit, or is missing after one");
        }
        if self.evidence.is_some_and(|fit| !fit.coefficients().iter().all(|weight| weight.is_finite())) {
            return refuse("evidence", "holds a weight that is not a finite number");
        }
        if self.times_in.iter().any(|&times| times as usize > self.updates.len()) {
            return refuse("times_in", "counts more updates than there were");
        }
        Ok(())
    }
}
