//! Temperature scaling (Guo et al., 2017): one number T by which all logits are divided, so that probabilities are as sure
//! as they are right. Which class is the most probable stays as it is.
//!
//! T minimises the log-loss of labelled nodes. In β = 1/T it is convex: L(β) = Σ_i ln Σ_c e^(β l_ic) − β Σ_c t_ic l_ic, so
//! its derivative Σ_i Σ_c (p_ic(β) − t_ic) l_ic rises, and halving an interval finds where it is 0. The targets t are the
//! labels of n nodes as if one more node had been seen whose label is anything: (n · label + uniform) / (n + 1). Without it
//! a few nodes that are all right would ask for certainty.

use edgepace_graph::{Labels, UNLABELLED};

use super::Logits;
use crate::outputs::{sigmoid, softmax};
use crate::real::Real;

/// ln β is looked for in [−WIDEST, WIDEST]: temperatures from 1/100 to 100.
const WIDEST: f64 = 4.605_170_185_988_091;
/// Halvings of that interval: eight digits.
const HALVINGS: usize = 30;

/// The temperature that makes the labels of `nodes` most probable, in [1/100, 100]; 1 where it makes no difference. `None`
/// without labelled nodes.
///
/// # Panics
/// As [`Metric::score`](crate::Metric::score) does.
pub fn fit_temperature<T: Real>(labels: &Labels, nodes: &[u32], logits: Logits<'_, T>) -> Option<f64> {
    let labelled: Vec<usize> =
        nodes.iter().map(|&node| node as usize).filter(|&node| labels.is_labelled(node)).collect();
    if labelled.is_empty() || labels.width() == 0 {
        return None;
    }
    let slope = |log_beta: f64| slope(labels, &labelled, logits, libm::exp(log_beta));
    let (mut low, mut high) = (-WIDEST, WIDEST);
    if slope(low) >= 0.0 && slope(high) <= 0.0 {
        return Some(1.0);
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if slope(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(libm::exp(-f64::midpoint(low, high)))
}

/// dL/dβ.
fn slope<T: Real>(labels: &Labels, nodes: &[usize], logits: Logits<'_, T>, beta: f64) -> f64 {
    let seen = nodes.len() as f64;
    let target = |yes: bool, answers: f64| (if yes { seen } else { 0.0 } + 1.0 / answers) / (seen + 1.0);
    let mut scaled = Vec::with_capacity(logits.outputs());
    let of_node = |&node: &usize| -> f64 {
        let row = logits.of(node);
        scaled.clear();
        scaled.extend(row.iter().map(|&logit| {
            let logit: f64 = logit.into();
            beta * logit
        }));
        match labels {
            Labels::Classes(classes) => {
                let class = classes.of()[node];
                debug_assert_ne!(class, UNLABELLED);
                let width = row.len() as f64;
                let terms = softmax(&scaled).zip(row).enumerate();
                terms.map(|(c, (p, &logit))| (p - target(c == class as usize, width)) * logit.into()).sum()
            }
            Labels::Many(many) => {
                let truth = &many.values()[node * many.width()..][..many.width()];
                let terms = scaled.iter().zip(row).zip(truth);
                terms
                    .map(|((&scaled, &logit), &y)| (sigmoid(scaled) - target(y == 1, 2.0)) * logit.into())
                    .sum()
            }
        }
    };
    nodes.iter().map(of_node).sum()
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, ManyLabels};

    use super::*;
    use crate::{CALIBRATION_BINS, expected_calibration_error};

    /// Of 1000 nodes with two logits ±l the first class is right 4 times in 5: ln 4 / 2l is their β, but for the node that
    /// is anything.
    #[test]
    fn logits_that_are_too_sure_or_not_sure_enough_get_the_odds_that_they_have() {
        let labels: Labels = Classes::new(2, (0..1000).map(|node| u32::from(node % 5 == 0)).collect())
            .expect("classes")
            .into();
        let nodes: Vec<u32> = (0..1000).collect();
        for l in [0.01_f32, 0.3, 7.0] {
            let values: Vec<f32> = (0..1000).flat_map(|_| [l, -l]).collect();
            let t = fit_temperature(&labels, &nodes, Logits::new(&values, 2)).expect("nodes");
            let p = (1000.0 * 0.8 + 0.5) / 1001.0;
            let expected = 2.0 * f64::from(l) / libm::log(p / (1.0 - p));
            assert!((t / expected - 1.0).abs() < 1e-6, "{t}, expected {expected}");
            let scaled: Vec<f64> = values.iter().map(|&v| f64::from(v) / t).collect();
            let error =
                expected_calibration_error(&labels, &nodes, Logits::new(&scaled, 2), CALIBRATION_BINS);
            assert!(error.is_some_and(|error| error < 1e-3), "{error:?}");
        }
    }

    #[test]
    fn a_few_nodes_that_are_all_right_ask_for_no_certainty() {
        let labels: Labels = Classes::new(3, vec![0, 1, 2]).expect("classes").into();
        let values = [1.0_f32, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let t = fit_temperature(&labels, &[0, 1, 2], Logits::new(&values, 3)).expect("nodes");
        let sure = softmax(&[1.0 / t, 0.0, 0.0]).next().expect("a class");
        assert!((sure - (3.0 + 1.0 / 3.0) / 4.0).abs() < 1e-6, "{sure}");
    }

    #[test]
    fn of_many_labels_all_share_one_temperature() {
        let labels: Labels = ManyLabels::new(2, 2, vec![1, 0, 1, 1]).expect("labels").into();
        let t = fit_temperature(&labels, &[0, 1], Logits::new(&[9.0_f32, -9.0, 9.0, -9.0], 2));
        // Three of four answers are right, and one more node half of the time.
        let p: f64 = (2.0 * 0.75 + 0.5) / 3.0;
        assert!((t.expect("nodes") / (9.0 / libm::log(p / (1.0 - p))) - 1.0).abs() < 1e-6, "{t:?}");
    }

    #[test]
    fn what_says_nothing_stays_and_without_labels_there_is_none() {
        let labels: Labels = Classes::new(2, vec![0, UNLABELLED]).expect("classes").into();
        let logits = Logits::new(&[0.0_f32; 4], 2);
        assert_eq!(fit_temperature(&labels, &[0], logits), Some(1.0));
        assert_eq!(fit_temperature(&labels, &[1], logits), None);
        assert_eq!(fit_temperature(&labels, &[], logits), None);
        // Wrong whatever the temperature: as unsure as can be.
        let wrong = fit_temperature(&labels, &[0], Logits::new(&[-5.0_f32, 5.0, 0.0, 0.0], 2));
        assert!(wrong.is_some_and(|t| t > 99.0), "{wrong:?}");
    }
}
