//! What makes the probabilities of one expert say how often it is right: a temperature, and the share of nodes at which it is as
//! good as guessing, both fitted to validation.

use edgepace_graph::Labels;
use serde::{Deserialize, Serialize};

/// No log-probability is below it: an expert that is certain can be outvoted.
const LEAST: f64 = -30.0;
/// Temperatures that are tried are powers of √2, so many on either side of 1. They need not be finer: weights do the same.
const TEMPERATURES: i32 = 6;
/// Shares of guesses that are tried.
const GUESSES: [f64; 9] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4];
/// How much lower the log-loss, summed over the validation nodes, must become for a temperature to be 2 or ½; 0.4 times that
/// for each tenth of guesses.
const CAUTION: f64 = 2.0;

/// What makes an expert's probabilities p say how often it is right: (1 − guesses) · p^sharpness / Z + guesses / answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// One over its temperature.
    pub sharpness: f64,
    /// The share of nodes at which it is as good as guessing.
    pub guesses: f64,
}

/// What there is to say of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// One of so many classes.
    OneOf(usize),
    /// Yes or no to each of many labels.
    YesOrNo,
}

impl Answers {
    pub(crate) fn of(labels: &Labels) -> Self {
        match labels {
            Labels::Classes(classes) => Self::OneOf(classes.width()),
            Labels::Many(_) => Self::YesOrNo,
        }
    }
}

impl Calibration {
    /// The one of least log-loss on these nodes, as far as they can tell ([`CAUTION`]); without any, none that changes anything.
    pub(crate) fn fit(labels: &Labels, nodes: &[u32], logits: &[f32]) -> Self {
        let mut best = Self { sharpness: 1.0, guesses: 0.0 };
        let mut least = f64::INFINITY;
        for step in -TEMPERATURES..=TEMPERATURES {
            let octaves = f64::from(step) / 2.0;
            let sharpness = libm::pow(2.0, octaves);
            let (right, answers) = probabilities_of_truth(labels, nodes, logits, sharpness);
            if right.is_empty() {
                break;
            }
            for guesses in GUESSES {
                let one = Self { sharpness, guesses };
                let loss: f64 = right.iter().map(|&right| -one.with_guesses(right, answers)).sum();
                let loss = loss + CAUTION * (octaves * octaves + 4.0 * guesses);
                if loss < least {
                    (best, least) = (one, loss);
                }
            }
        }
        best
    }

    /// The logarithm of a probability that is a guess at times.
    fn with_guesses(self, probability: f64, answers: usize) -> f64 {
        libm::log((1.0 - self.guesses) * probability + self.guesses / answers as f64).max(LEAST)
    }

    /// Log-probabilities of classes; of many labels their logits, whose pool is again that of log-probabilities.
    pub(crate) fn log_probabilities(self, answers: Answers, logits: &[f32]) -> Vec<f64> {
        let mut scaled: Vec<f64> = logits.iter().map(|&logit| f64::from(logit) * self.sharpness).collect();
        match answers {
            Answers::OneOf(classes) => {
                let classes = classes.max(1);
                for row in scaled.chunks_exact_mut(classes) {
                    let total = log_sum(row);
                    for logit in row {
                        *logit = self.with_guesses(libm::exp(*logit - total), classes);
                    }
                }
            }
            Answers::YesOrNo => {
                for logit in &mut scaled {
                    let [yes, no] = [*logit, -*logit].map(|logit| self.with_guesses(sigmoid(logit), 2));
                    *logit = yes - no;
                }
            }
        }
        scaled
    }
}

/// The probability of each right answer on these nodes, and how many answers there are to choose from.
fn probabilities_of_truth(
    labels: &Labels,
    nodes: &[u32],
    logits: &[f32],
    sharpness: f64,
) -> (Vec<f64>, usize) {
    let width = labels.width();
    let ids = nodes.iter().map(|&node| node as usize);
    match labels {
        Labels::Classes(classes) => {
            let mut row = vec![0.0; width];
            let of_node = |node: usize| {
                for (scaled, &logit) in row.iter_mut().zip(&logits[node * width..][..width]) {
                    *scaled = f64::from(logit) * sharpness;
                }
                libm::exp(row[classes.of()[node] as usize] - log_sum(&row))
            };
            (ids.map(of_node).collect(), width)
        }
        Labels::Many(many) => {
            let of_answer = |at: usize| {
                let logit = f64::from(logits[at]) * sharpness;
                sigmoid(if many.values()[at] == 1 { logit } else { -logit })
            };
            (ids.flat_map(|node| node * width..(node + 1) * width).map(of_answer).collect(), 2)
        }
    }
}

fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-logit))
}

/// The logarithm of the sum of the exponentials.
pub(crate) fn log_sum(row: &[f64]) -> f64 {
    let peak = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    peak + libm::log(row.iter().map(|&value| libm::exp(value - peak)).sum())
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, ManyLabels};

    use super::*;

    #[test]
    fn an_expert_that_is_certain_and_wrong_for_some_is_said_to_guess() {
        // Certain of a hundred nodes of two classes, and wrong at ten of them.
        let of: Vec<u32> = (0..100).map(|node| node % 2).collect();
        let labels = Labels::Classes(Classes::new(2, of.clone()).unwrap());
        let mut logits: Vec<f32> =
            of.iter().flat_map(|&c| if c == 0 { [9.0, 0.0] } else { [0.0, 9.0] }).collect();
        for node in (0..100).step_by(10) {
            logits.swap(2 * node, 2 * node + 1);
        }
        let nodes: Vec<u32> = (0..100).collect();
        let fitted = Calibration::fit(&labels, &nodes, &logits);
        assert_eq!(fitted.guesses, 0.2, "{fitted:?}");
        let said = fitted.log_probabilities(Answers::of(&labels), &logits);
        for row in said.chunks_exact(2) {
            assert!((libm::exp(row[0]) + libm::exp(row[1]) - 1.0).abs() < 1e-9, "{row:?}");
        }
        // Nobody says anything about an expert without nodes to judge it by.
        assert_eq!(Calibration::fit(&labels, &[], &logits), Calibration { sharpness: 1.0, guesses: 0.0 });
    }

    #[test]
    fn a_label_of_many_is_calibrated_as_a_choice_between_two() {
        let truth = [1_u8, 0, 1, 1, 0, 1].repeat(20);
        let many = Labels::Many(ManyLabels::new(120, 1, truth.clone()).unwrap());
        let classes =
            Labels::Classes(Classes::new(2, truth.iter().map(|&y| u32::from(y)).collect()).unwrap());
        let logits = [4.0_f32, -6.0, 3.0, -5.0, -2.0, 7.0].repeat(20);
        let rows: Vec<f32> = logits.iter().flat_map(|&logit| [0.0, logit]).collect();
        let nodes: Vec<u32> = (0..120).collect();
        let calibration = Calibration::fit(&many, &nodes, &logits);
        assert_eq!(calibration, Calibration::fit(&classes, &nodes, &rows));
        assert!(calibration.guesses > 0.0, "{calibration:?}");
        let pairs = calibration.log_probabilities(Answers::of(&classes), &rows);
        for (logit, pair) in
            calibration.log_probabilities(Answers::of(&many), &logits).iter().zip(pairs.chunks_exact(2))
        {
            assert!((logit - (pair[1] - pair[0])).abs() < 1e-9);
        }
    }
}
