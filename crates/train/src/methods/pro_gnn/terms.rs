//! The weights of the objective's terms, and what one entry of S does in a step.

use edgepace_nn::Real;

use crate::error::{TrainError, check_finite};
use crate::material::Material;

/// The weights of the terms, and the step size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Terms<T> {
    /// Step size of S.
    pub(super) rate: T,
    /// γ.
    pub(super) gnn: T,
    /// δ.
    pub(super) distance: T,
    /// α.
    pub(super) l1: T,
    /// λ.
    pub(super) smoothness: T,
}

impl<T: Real> Terms<T> {
    /// An entry `s` after a step along the gradient of the smooth terms. `a` is the graph's entry; the gradients of L_GNN and
    /// of the smoothness are those by a symmetric matrix: the mean of both entries of a pair.
    #[inline(always)]
    pub(super) fn moved(&self, s: T, a: T, gnn: T, smoothness: T) -> T {
        s - self.rate * self.slope(s, a, gnn, smoothness)
    }

    /// The gradient of the smooth terms.
    #[inline(always)]
    pub(super) fn slope(&self, s: T, a: T, gnn: T, smoothness: T) -> T {
        let pull = (self.distance + self.distance) * (s - a);
        self.gnn * gnn + pull + self.smoothness * smoothness
    }

    /// The proximal step of α ‖S‖₁ on entries that are not negative, and the clamp.
    #[inline(always)]
    pub(super) fn shrunk(&self, s: T) -> T {
        (s - self.rate * self.l1).max(T::ZERO).min(T::ONE)
    }
}

/// Refuses a weight that is negative or not finite.
pub(super) fn check_weights(weights: &[(&'static str, f64)]) -> Result<(), TrainError> {
    match weights.iter().find(|(_, weight)| !(*weight >= 0.0 && weight.is_finite())) {
        None => Ok(()),
        Some((field, weight)) => Err(TrainError::refused(*field, weight, "a finite number, at least 0")),
    }
}

/// Refuses a graph with an edge that weighs more than an entry of S can.
pub(super) fn check_material(material: &Material, method: &'static str) -> Result<(), TrainError> {
    let weights = material.weighted_graph().weights();
    match weights.and_then(|weights| weights.iter().find(|&&weight| weight > 1.0)) {
        None => Ok(()),
        Some(weight) => {
            let expected = format!(
                "none above 1 for method {method}, whose learned graph has entries from 0 to 1: divide all by the largest"
            );
            Err(TrainError::refused("edge weight", weight, expected))
        }
    }
}

/// The step sizes that can make training diverge.
pub(super) const STEP_SIZES: &str = "`lr` or `structure_lr`";

/// Refuses a loss that is not finite, from which S would become so.
pub(super) fn check_loss(loss: f64, epoch: u32) -> Result<(), TrainError> {
    check_finite(&[loss as f32], "the loss is", epoch, STEP_SIZES)
}

/// Refuses a count of 0, or one that no run reaches.
pub(super) fn check_counts(counts: &[(&'static str, usize)]) -> Result<(), TrainError> {
    match counts.iter().find(|(_, count)| !(1..=1_000_000).contains(count)) {
        None => Ok(()),
        Some((field, count)) => Err(TrainError::refused(*field, count, "between 1 and 1000000")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms<f64> = Terms { rate: 0.1, gnn: 1.0, distance: 1.0, l1: 0.5, smoothness: 1.0 };

    #[test]
    fn the_shrunk_entry_minimises_its_proximal_objective_on_the_interval() {
        for s in [-0.3, 0.0, 0.02, 0.04, 0.3, 0.99, 1.04, 1.2] {
            let objective = |x: f64| 0.5 * (x - s) * (x - s) + TERMS.rate * TERMS.l1 * x;
            let best = TERMS.shrunk(s);
            for step in 0..=1000 {
                let other = f64::from(step) / 1000.0;
                assert!(objective(best) <= objective(other) + 1e-15, "{s}: {other} is better than {best}");
            }
        }
    }
}
