//! The weights π_e = ψ_e ρ_i ρ_j, times κ_e to the power of the sharpness.
//!
//! ψ_e = t(e) / t: how often edge e was selected, of the updates so far. ρ_i = e^(−loss_i) / max over training nodes, for
//! training nodes; 1 elsewhere, because no other label is known.

use crate::CurriculumError;
use crate::math::exp;
use edgepace_graph::Refusal;

/// Refuses losses that do not fit their nodes, nodes that the graph does not have, and losses that are not finite.
pub(crate) fn check(train: &[u32], losses: &[f32], nodes: usize) -> Result<(), CurriculumError> {
    if train.len() != losses.len() {
        return Err(Refusal::size("losses", losses.len(), train.len(), "one loss per training node").into());
    }
    for (position, (&value, &loss)) in train.iter().zip(losses).enumerate() {
        if value as usize >= nodes {
            return Err(CurriculumError::NodeOutOfRange { field: "training nodes", position, value, nodes });
        }
        if !loss.is_finite() {
            return Err(CurriculumError::Value {
                field: "losses",
                node: value as usize,
                column: 0,
                value: f64::from(loss),
                expected: "a finite number",
            });
        }
    }
    Ok(())
}

/// Sets ρ of all nodes from the checked losses of the training nodes. Dividing by the largest e^−loss is
/// e^(least loss − loss), which cannot be 0 / 0.
pub(crate) fn confidence(train: &[u32], losses: &[f32], rho: &mut [f32]) {
    rho.fill(1.0);
    let least = losses.iter().fold(f64::INFINITY, |least, &loss| least.min(f64::from(loss)));
    for (&node, &loss) in train.iter().zip(losses) {
        rho[node as usize] = exp(least - f64::from(loss)) as f32;
    }
}

/// κ to the power of the sharpness; 1 where that is unset.
#[inline(always)]
pub(crate) fn sharpened(kappa: f64, sharpness: Option<f64>) -> f64 {
    match sharpness {
        None => 1.0,
        Some(1.0) => kappa,
        Some(sharpness) => libm::pow(kappa, sharpness),
    }
}

/// π of one edge.
#[inline(always)]
pub(crate) fn weight(psi: f64, rho: &[f32], [i, j]: [u32; 2]) -> f32 {
    (psi * f64::from(rho[i as usize]) * f64::from(rho[j as usize])) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_relative_to_the_surest_training_node_and_1_elsewhere() {
        let mut rho = vec![0.0; 4];
        let (ln2, ln8) = (std::f32::consts::LN_2, 3.0 * std::f32::consts::LN_2);
        confidence(&[2, 0], &[ln8, ln2], &mut rho);
        assert_eq!(rho[0], 1.0);
        assert!((rho[2] - 0.25).abs() < 1e-6);
        assert_eq!((rho[1], rho[3]), (1.0, 1.0));
        // π of the edge 0 - 2, selected in 3 of 4 updates.
        assert!((weight(0.75, &rho, [0, 2]) - 0.1875).abs() < 1e-6);
    }

    #[test]
    fn a_loss_that_is_far_too_large_makes_a_weight_of_0_and_never_nan() {
        let mut rho = vec![0.0; 2];
        confidence(&[0, 1], &[1e4, 3e4], &mut rho);
        assert_eq!(rho, [1.0, 0.0]);
    }

    #[test]
    fn wrong_losses_are_refused_with_their_node() {
        let error = check(&[0, 2], &[0.1, f32::NAN], 3).unwrap_err();
        assert!(matches!(error, CurriculumError::Value { node: 2, field: "losses", .. }), "{error}");
        let error = check(&[0, 3], &[0.1, 0.1], 3).unwrap_err();
        assert!(matches!(error, CurriculumError::NodeOutOfRange { position: 1, value: 3, .. }), "{error}");
        assert!(check(&[0], &[], 3).is_err());
    }
}
