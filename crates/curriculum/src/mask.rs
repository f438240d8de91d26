//! The mask S: which edges are in, and how far.
//!
//! Per edge, on [0, 1], with the age parameter λ and the mask S_prev of the update before:
//! - `quadratic`: β S R + λ (S − 1)² + γ/2 (S − S_prev)² is least at S = clamp((2λ − βR + γ S_prev) / (2λ + γ)).
//!   S ≥ ½ exactly when λ ≥ βR + γ (½ − S_prev), for γ = 0 when R ≤ λ/β.
//! - `linear`: β S R − λ S + γ/2 (S − S_prev)² is least at S = clamp(S_prev + (λ − βR)/γ), and for γ = 0 at 1 where
//!   βR ≤ λ and at 0 elsewhere. S ≥ ½ under the very same condition.
//! - `adam`: ten Adam steps of rate 0.1 on the linear form at each update, clamped after each. They start at zero and go on
//!   from where the last update left them, moments and all ([`Steps`]); in when S > ½.
//!
//! An edge is *in* when λ reaches its [`threshold`]. That is S ≥ ½ without the rounding of S.

use serde::{Deserialize, Serialize};

use crate::config::{CurriculumConfig, MaskForm};

/// The least λ with which an edge is in: βR + γ (½ − S_prev).
#[inline(always)]
pub(crate) fn threshold(config: &CurriculumConfig, residual: f32, previous: f32) -> f32 {
    (config.beta * f64::from(residual) + config.gamma * (0.5 - f64::from(previous))) as f32
}

/// Whether an edge is in; for the form `adam`, whether its steps lead there in the end.
#[inline(always)]
pub(crate) fn is_in(config: &CurriculumConfig, lambda: f64, residual: f32, previous: f32) -> bool {
    // λ = 0 is the empty structure, even for edges without any residual.
    lambda >= f64::from(threshold(config, residual, previous)) && lambda + config.gamma > 0.0
}

/// S of one edge.
#[inline(always)]
pub(crate) fn mask(config: &CurriculumConfig, lambda: f64, residual: f32, previous: f32) -> f32 {
    let (pull, previous) = (config.beta * f64::from(residual), f64::from(previous));
    let s = match config.mask {
        MaskForm::Quadratic => {
            let curvature = 2.0 * lambda + config.gamma;
            if curvature > 0.0 { (2.0 * lambda - pull + config.gamma * previous) / curvature } else { 0.0 }
        }
        MaskForm::Linear if config.gamma > 0.0 => previous + (lambda - pull) / config.gamma,
        MaskForm::Linear | MaskForm::Adam => f64::from(is_in(config, lambda, residual, 0.0)),
    };
    s.clamp(0.0, 1.0) as f32
}

/// The mask of an edge by the authors' steps, and Adam's memory of its gradient.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// S.
    pub mask: f32,
    /// The moving average of the gradient.
    pub mean: f32,
    /// The moving average of its square.
    pub square: f32,
}

impl Steps {
    /// Ten more clamped Adam steps of rate 0.1 under a constant gradient, after `updates` times ten of them.
    pub(crate) fn ten_more(self, gradient: f64, updates: usize) -> Steps {
        const STEPS: i32 = 10;
        const RATE: f64 = 0.1;
        const BETAS: (f64, f64) = (0.9, 0.999);
        const EPSILON: f64 = 1e-8;
        let (mut s, mut mean, mut square) =
            (f64::from(self.mask), f64::from(self.mean), f64::from(self.square));
        let before = i32::try_from(updates).unwrap_or(i32::MAX / STEPS - 1).saturating_mul(STEPS);
        let (mut power_1, mut power_2) = (BETAS.0.powi(before), BETAS.1.powi(before));
        for _ in 0..STEPS {
            mean = BETAS.0 * mean + (1.0 - BETAS.0) * gradient;
            square = BETAS.1 * square + (1.0 - BETAS.1) * gradient * gradient;
            power_1 *= BETAS.0;
            power_2 *= BETAS.1;
            let (mean_hat, square_hat) = (mean / (1.0 - power_1), square / (1.0 - power_2));
            s = (s - RATE * mean_hat / (square_hat.sqrt() + EPSILON)).clamp(0.0, 1.0);
        }
        Steps { mask: s as f32, mean: mean as f32, square: square as f32 }
    }

    /// Whether the edge is in.
    pub(crate) fn is_in(self) -> bool {
        self.mask > 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(config: &CurriculumConfig, lambda: f64, r: f64, previous: f64, s: f64) -> f64 {
        let proximal = config.gamma / 2.0 * (s - previous).powi(2);
        let form = match config.mask {
            MaskForm::Quadratic => lambda * (s - 1.0).powi(2),
            _ => -lambda * s,
        };
        config.beta * s * r + form + proximal
    }

    fn cases(form: MaskForm) -> Vec<(CurriculumConfig, f64, f32, f32)> {
        let mut cases = Vec::new();
        for beta in [0.3, 1.0, 4.0] {
            for gamma in [0.0, 0.1, 2.0] {
                for lambda in [0.01, 0.2, 0.7, 3.0] {
                    for r in [0.0, 0.03, 0.26, 0.61, 1.0] {
                        for previous in [0.0, 0.4, 1.0] {
                            let config =
                                CurriculumConfig { mask: form, beta, gamma, ..CurriculumConfig::default() };
                            cases.push((config, lambda, r, previous));
                        }
                    }
                }
            }
        }
        cases
    }

    #[test]
    fn the_mask_is_where_a_dense_search_finds_the_minimum() {
        const GRID: usize = 10_000;
        for form in [MaskForm::Quadratic, MaskForm::Linear] {
            for (config, lambda, r, previous) in cases(form) {
                let value = |s: f64| objective(&config, lambda, f64::from(r), f64::from(previous), s);
                let ours = f64::from(mask(&config, lambda, r, previous));
                let best = (0..=GRID).map(|i| value(i as f64 / GRID as f64)).fold(f64::INFINITY, f64::min);
                assert!(value(ours) <= best + 1e-7, "{form:?} λ {lambda} R {r} S_prev {previous}: {ours}");
                assert!((0.0..=1.0).contains(&ours));
            }
        }
    }

    #[test]
    fn an_edge_is_in_exactly_when_its_mask_is_at_least_one_half() {
        for form in [MaskForm::Quadratic, MaskForm::Linear] {
            for (config, lambda, r, previous) in cases(form) {
                let s = mask(&config, lambda, r, previous);
                if (s - 0.5).abs() > 1e-6 {
                    assert_eq!(
                        is_in(&config, lambda, r, previous),
                        s >= 0.5,
                        "{form:?} λ {lambda} R {r}: {s}"
                    );
                }
                if config.gamma == 0.0 {
                    assert_eq!(
                        is_in(&config, lambda, r, previous),
                        f64::from((config.beta * f64::from(r)) as f32) <= lambda
                    );
                }
            }
        }
    }

    #[test]
    fn the_authors_first_adam_steps_select_where_the_residual_is_below_lambda() {
        for (config, lambda, r, _) in cases(MaskForm::Adam) {
            let config = CurriculumConfig { gamma: 0.0, ..config };
            let pull = config.beta * f64::from(r);
            let steps = Steps::default().ten_more(pull - lambda, 0);
            if (pull - lambda).abs() > 1e-6 {
                assert_eq!(steps.is_in(), pull < lambda, "{pull} {lambda} {steps:?}");
                assert_eq!(steps.is_in(), is_in(&config, lambda, r, 0.0));
            }
        }
        // Ten steps of 0.1 arrive at 1.
        assert!((Steps::default().ten_more(-0.3, 0).mask - 1.0).abs() < 1e-6);
        assert_eq!(Steps::default().ten_more(0.3, 0).mask, 0.0);
        assert_eq!(Steps::default().ten_more(0.0, 0).mask, 0.0);
    }

    #[test]
    fn the_authors_later_steps_lag_behind_by_their_momentum() {
        // Long out, with a gradient that was as large: one update is not enough to come in, the second one is.
        let out = (0..3).fold(Steps::default(), |steps, update| steps.ten_more(0.3, update));
        let first = out.ten_more(-0.3, 3);
        assert!(!first.is_in(), "{first:?}");
        assert!(first.ten_more(-0.3, 4).is_in());
        // A gradient that is far larger than those remembered is followed at once.
        assert!(out.ten_more(-30.0, 3).is_in());
    }

    #[test]
    fn lambda_zero_selects_nothing() {
        let config = CurriculumConfig::default();
        assert!(!is_in(&config, 0.0, 0.0, 0.0));
        assert_eq!(mask(&config, 0.0, 0.0, 0.0), 0.0);
        assert!(is_in(&config, f64::MIN_POSITIVE, 0.0, 0.0));
    }
}
