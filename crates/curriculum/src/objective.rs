//! The part of the joint objective of Algorithm 1 that the mask S decides.

use serde::{Deserialize, Serialize};

use crate::config::{CurriculumConfig, MaskForm};

/// β Σ S R + g(S; λ) + γ/2 ‖S − S_prev‖², each sum over directed edges as in the paper (an undirected edge counts twice).
///
/// The loss of the model is for the caller to add.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// β Σ S R.
    pub residual: f64,
    /// g(S; λ): λ ‖S − A‖², or −λ Σ S for the linear forms.
    pub structure: f64,
    /// γ/2 ‖S − S_prev‖².
    pub proximal: f64,
}

impl Objective {
    /// The sum of the three parts.
    pub fn total(&self) -> f64 {
        self.residual + self.structure + self.proximal
    }

    /// Adds one edge with mask `s`.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        config: &CurriculumConfig,
        lambda: f64,
        residual: f32,
        previous: f32,
        s: f32,
    ) {
        let (s, previous) = (f64::from(s), f64::from(previous));
        self.residual += config.beta * s * f64::from(residual);
        self.structure += match config.mask {
            MaskForm::Quadratic => lambda * (1.0 - s) * (1.0 - s),
            MaskForm::Linear | MaskForm::Adam => -lambda * s,
        };
        self.proximal += config.gamma / 2.0 * (s - previous) * (s - previous);
    }

    pub(crate) fn plus(self, other: &Objective, times: f64) -> Objective {
        Objective {
            residual: self.residual + times * other.residual,
            structure: self.structure + times * other.structure,
            proximal: self.proximal + times * other.proximal,
        }
    }
}
