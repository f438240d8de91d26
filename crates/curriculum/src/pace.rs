//! The pace: how the age parameter λ grows.

use edgepace_graph::Threads;

use crate::config::{CurriculumConfig, MaskForm, Pace};
use crate::each::each;
use crate::mask::threshold;

/// The share of edges that the paces `quantile`, `linear` and `root` let in at epoch t; `None` for the other paces.
pub(crate) fn share(config: &CurriculumConfig, epoch: usize, epochs: usize) -> Option<f64> {
    let t = epoch as f64 / epochs.max(1) as f64;
    let share = match config.pace {
        Pace::Quantile => config.start_share + (1.0 - config.start_share) * t / config.full_at,
        Pace::Linear => t,
        Pace::Root => t.sqrt(),
        Pace::Lambda | Pace::Official => return None,
    };
    Some(share.clamp(0.0, 1.0))
}

/// λ of the authors' code: base / (full_at · T + 1 − t), and base from t = full_at · T on.
pub(crate) fn official(config: &CurriculumConfig, epoch: usize, epochs: usize) -> f64 {
    let left = (config.full_at * epochs as f64 - epoch as f64).max(0.0);
    config.official_base / (left + 1.0)
}

/// With this λ every edge is in: no residual is above 1 and no mask below 0.
pub(crate) fn enough(config: &CurriculumConfig) -> f64 {
    // A step above, because a threshold is rounded to single precision, and Adam wants more than equality.
    let bound = (config.beta + config.gamma / 2.0) * (1.0 + 1e-6);
    if config.mask == MaskForm::Adam { bound * (1.0 + 1e-3) } else { bound }
}

/// λ of the first update and the step μ of the pace `lambda`.
///
/// Where they are not set, λ grows in equal steps from μ to [`enough`] at the first update not before full_at · T.
pub(crate) fn lambda_steps(config: &CurriculumConfig, epochs: usize) -> (f64, f64) {
    let updates = (config.full_at * epochs as f64 / config.period as f64 - 1e-9).ceil().max(0.0);
    let step = config.lambda_step.unwrap_or_else(|| match config.lambda_start {
        Some(start) => ((enough(config) - start) / updates.max(1.0)).max(f64::MIN_POSITIVE),
        None => enough(config) / (updates + 1.0),
    });
    (config.lambda_start.unwrap_or(step), step)
}

/// The least λ with which `share` of all edges, rounded up, are in. Edges of equal threshold come in together.
///
/// O(edges): the k-th smallest threshold is selected, not sorted for. `scratch` has one entry per edge.
pub(crate) fn lambda_of_share(
    threads: &Threads,
    config: &CurriculumConfig,
    share: f64,
    residuals: &[f32],
    previous: &[f32],
    scratch: &mut [f32],
) -> f64 {
    let count = ((share * residuals.len() as f64 - 1e-9).ceil().max(0.0) as usize).min(residuals.len());
    if count == 0 {
        return 0.0;
    }
    each(threads, scratch, |pair, _| threshold(config, residuals[pair], previous[pair]));
    let (_, &mut least, _) = scratch.select_nth_unstable_by(count - 1, f32::total_cmp);
    // λ = 0 would select nothing, but edges without any residual are meant to be in.
    f64::from(least).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::is_in;

    fn config(pace: Pace) -> CurriculumConfig {
        CurriculumConfig { pace, ..CurriculumConfig::default() }
    }

    #[test]
    fn shares_are_those_of_the_formulas() {
        let quantile = CurriculumConfig { start_share: 0.1, ..config(Pace::Quantile) };
        assert_eq!(share(&quantile, 0, 150), Some(0.1));
        assert!((share(&quantile, 50, 150).unwrap() - 0.55).abs() < 1e-12);
        assert_eq!(share(&quantile, 100, 150), Some(1.0));
        assert_eq!(share(&quantile, 149, 150), Some(1.0));
        assert_eq!(share(&config(Pace::Linear), 75, 150), Some(0.5));
        assert_eq!(share(&config(Pace::Root), 36, 144), Some(0.5));
        assert_eq!(share(&config(Pace::Lambda), 75, 150), None);
    }

    #[test]
    fn the_authors_lambda_is_hyperbolic_and_then_constant() {
        let config = config(Pace::Official);
        assert!((official(&config, 0, 150) - 1.0 / 101.0).abs() < 1e-12);
        assert!((official(&config, 90, 150) - 1.0 / 11.0).abs() < 1e-12);
        assert_eq!(official(&config, 100, 150), 1.0);
        assert_eq!(official(&config, 140, 150), 1.0);
    }

    #[test]
    fn the_knob_sets_when_every_edge_is_in() {
        let at = |knob| CurriculumConfig::full_at_of_knob(knob).unwrap();
        assert_eq!(at(1.0), 1.0);
        assert!((at(3.0) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(at(5.0), 0.5);
        assert!(CurriculumConfig::full_at_of_knob(0.5).is_err());
        assert!(CurriculumConfig::full_at_of_knob(f64::NAN).is_err());
    }

    #[test]
    fn steps_reach_enough_at_the_update_that_full_at_asks_for() {
        let config = CurriculumConfig { gamma: 0.5, beta: 2.0, ..config(Pace::Lambda) };
        // 100 of 150 epochs, every 20: the updates 0 to 4 are before, update 5 is at epoch 100.
        let (start, step) = lambda_steps(&config, 150);
        assert!((start + 5.0 * step - enough(&config)).abs() < 1e-9);
        assert_eq!(start, step);
        let set = CurriculumConfig { lambda_start: Some(0.25), lambda_step: Some(0.5), ..config };
        assert_eq!(lambda_steps(&set, 150), (0.25, 0.5));
    }

    #[test]
    fn the_quantile_lets_in_the_stated_number_of_easiest_edges() {
        let residuals: Vec<f32> = (0..1000).map(|i| ((i * 387) % 1000) as f32 / 1000.0).collect();
        let mut scratch = vec![0.0; 1000];
        for gamma in [0.0, 0.3] {
            for beta in [1.0, 0.37] {
                let config = CurriculumConfig { beta, gamma, ..config(Pace::Quantile) };
                // Thresholds above 0, or else λ ≥ 0 lets in more.
                let previous: Vec<f32> = (0..1000).map(|i| if i % 3 == 0 { 0.4 } else { 0.1 }).collect();
                for (share, count) in [(0.0, 0), (0.0005, 1), (0.25, 250), (0.5, 500), (1.0, 1000)] {
                    let threads = Threads::one();
                    let lambda =
                        lambda_of_share(&threads, &config, share, &residuals, &previous, &mut scratch);
                    let selected = residuals
                        .iter()
                        .zip(&previous)
                        .filter(|&(&r, &s)| is_in(&config, lambda, r, s))
                        .count();
                    if gamma == 0.0 || count > 0 {
                        // With γ > 0 thresholds may tie.
                        assert!(selected >= count && selected <= count + 2, "{share}: {selected}");
                    }
                    if gamma == 0.0 {
                        assert_eq!(selected, count);
                    }
                }
            }
        }
    }

    #[test]
    fn edges_of_equal_difficulty_come_in_together() {
        let config = config(Pace::Quantile);
        let residuals = [0.25, 0.25, 0.25, 0.9];
        let lambda = lambda_of_share(&Threads::one(), &config, 0.25, &residuals, &[0.0; 4], &mut [0.0; 4]);
        assert_eq!(residuals.iter().filter(|&&r| is_in(&config, lambda, r, 0.0)).count(), 3);
    }
}
