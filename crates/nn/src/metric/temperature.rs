//! Temperature scaling (Guo et al., 2017): one number T by which all logits are divided, so that probabilities are as sure
//! as they are right. Which class is the most probable stays as it is.
//!
//! T makes the mean confidence of labelled nodes what their accuracy is. With β = 1/T, the mean of max_c p_ic(β) rises with
//! β, from that of a guess to 1, so halving an interval finds it. Accuracy is that of n nodes as if one more had been seen
//! whose label is anything: (right + 1/classes) / (n + 1). Without it a few nodes that are all right would ask for certainty.
//!
//! The usual T, which minimises the log-loss, is drawn to be unsure by a few nodes that are surely wrong. Of the ways that
//! `bench/calibration_choice.py` compares on validation nodes, this one has the least calibration error.

use edgepace_graph::Labels;

use super::Logits;
use super::counts::says_yes;
use crate::outputs::{argmax, sigmoid, softmax};
use crate::real::Real;

/// ln β is looked for in [−WIDEST, WIDEST]: temperatures from 1/100 to 100.
const WIDEST: f64 = 4.605_170_185_988_091;
/// Halvings of that interval: eight digits.
const HALVINGS: usize = 30;

/// The temperature at which `nodes` are as sure as they are right, in [1/100, 100]; 1 where it makes no difference. `None`
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
    let accuracy = accuracy(labels, &labelled, logits);
    let sure = |log_beta: f64| confidence(labels, &labelled, logits, libm::exp(log_beta));
    let (mut low, mut high) = (-WIDEST, WIDEST);
    if sure(low) >= sure(high) {
        return Some(1.0);
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if sure(middle) < accuracy {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(libm::exp(-f64::midpoint(low, high)))
}

/// The share of right answers, one more node with any label among them. Of many labels each is an answer, yes or no.
fn accuracy<T: Real>(labels: &Labels, nodes: &[usize], logits: Logits<'_, T>) -> f64 {
    let right = |&node: &usize| -> f64 {
        let row = logits.of(node);
        match labels {
            Labels::Classes(classes) => f64::from(u8::from(argmax(row) == classes.of()[node] as usize)),
            Labels::Many(many) => {
                let truth = &many.values()[node * many.width()..][..many.width()];
                let right =
                    row.iter().zip(truth).filter(|(logit, truth)| says_yes(**logit) == (**truth == 1));
                right.count() as f64 / row.len() as f64
            }
        }
    };
    let by_chance = match labels {
        Labels::Classes(_) => 1.0 / logits.outputs() as f64,
        Labels::Many(_) => 0.5,
    };
    (nodes.iter().map(right).sum::<f64>() + by_chance) / (nodes.len() as f64 + 1.0)
}

/// The mean probability of the answers when logits are multiplied by β.
fn confidence<T: Real>(labels: &Labels, nodes: &[usize], logits: Logits<'_, T>, beta: f64) -> f64 {
    let mut scaled = Vec::with_capacity(logits.outputs());
    let of_node = |&node: &usize| -> f64 {
        scaled.clear();
        scaled.extend(logits.of(node).iter().map(|&logit| {
            let logit: f64 = logit.into();
            beta * logit
        }));
        match labels {
            Labels::Classes(_) => softmax(&scaled).fold(0.0, f64::max),
            Labels::Many(_) => {
                scaled.iter().map(|&logit| sigmoid(logit.abs())).sum::<f64>() / scaled.len() as f64
            }
        }
    };
    nodes.iter().map(of_node).sum::<f64>() / nodes.len() as f64
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, ManyLabels, UNLABELLED};

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

    /// Of 200 nodes 180 are right, of all degrees of confidence, and 20 are wrong and as sure as the surest: log-loss would
    /// ask for less confidence than accuracy.
    #[test]
    fn a_few_that_are_surely_wrong_do_not_make_all_others_unsure() {
        let labels: Labels =
            Classes::new(2, (0..200).map(|node| u32::from(node < 20)).collect()).expect("classes").into();
        let nodes: Vec<u32> = (0..200).collect();
        let logit = |node: u16| if node < 20 { 9.0 } else { 0.05 * f32::from(node) };
        let values: Vec<f32> = (0..200).flat_map(|node| [logit(node), 0.0]).collect();
        let t = fit_temperature(&labels, &nodes, Logits::new(&values, 2)).expect("nodes");
        let sure = |row: &[f32]| softmax(&[f64::from(row[0]) / t, 0.0]).next().expect("a class");
        let mean = values.chunks_exact(2).map(sure).sum::<f64>() / 200.0;
        assert!((mean - 180.5 / 201.0).abs() < 1e-6, "{mean}");
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
