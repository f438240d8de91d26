//! Expected calibration error (Guo et al., 2017): how far a model's confidence is from how often it is right.
//!
//! Answers fall into bins of equal width by their confidence, bin m of M holding those in ((m − 1) / M, m / M]:
//! ECE = Σ_m |B_m| / n · |accuracy(B_m) − mean confidence(B_m)|, in [0, 1], and 0 is best.

use edgepace_graph::{Labels, UNLABELLED};

use super::Logits;
use super::counts::says_yes;
use crate::outputs::{argmax, sigmoid, softmax};
use crate::real::Real;

/// The number of bins that Guo et al. use.
pub const CALIBRATION_BINS: usize = 15;

/// Answers of about the same confidence.
#[derive(Clone, Copy, Default)]
struct Bin {
    right: usize,
    confidence: f64,
}

/// The expected calibration error of `nodes`, usually in [`CALIBRATION_BINS`] bins. `None` without labelled nodes or
/// bins.
///
/// - Classes: an answer is a node's largest softmax probability. A node without a class takes no part.
/// - Many labels: an answer is a node's label, yes or no, with the larger of both probabilities.
///
/// # Panics
/// As [`Metric::score`](crate::Metric::score) does.
pub fn expected_calibration_error<T: Real>(
    labels: &Labels,
    nodes: &[u32],
    logits: Logits<'_, T>,
    bins: usize,
) -> Option<f64> {
    let mut found = vec![Bin::default(); bins];
    let last = bins.checked_sub(1)?;
    let mut answers = 0_usize;
    let mut answer = |confidence: f64, right: bool| {
        let bin = ((confidence * bins as f64).ceil() as usize).saturating_sub(1).min(last);
        found[bin].right += usize::from(right);
        found[bin].confidence += confidence;
        answers += 1;
    };
    for node in nodes.iter().map(|&node| node as usize) {
        let row = logits.of(node);
        match labels {
            Labels::Classes(classes) => {
                let (class, predicted) = (classes.of()[node], argmax(row));
                if class != UNLABELLED {
                    let confidence = softmax(row).nth(predicted).unwrap_or(f64::NAN);
                    answer(confidence, class as usize == predicted);
                }
            }
            Labels::Many(many) => {
                let truth = &many.values()[node * many.width()..][..many.width()];
                for (&truth, &logit) in truth.iter().zip(row) {
                    let yes = says_yes(logit);
                    answer(sigmoid(if yes { logit } else { -logit }), yes == (truth == 1));
                }
            }
        }
    }
    // |B| / n · |right / |B| − confidence / |B|| = |right − confidence| / n.
    let gap: f64 = found.iter().map(|bin| (bin.right as f64 - bin.confidence).abs()).sum();
    (answers > 0).then(|| gap / answers as f64)
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, ManyLabels};

    use super::*;

    /// Two logits that give the first class this probability.
    fn sure(probability: f64) -> [f64; 2] {
        [libm::log(probability / (1.0 - probability)), 0.0]
    }

    /// By hand: of four answers with confidence 0.75 three are right.
    #[test]
    fn a_model_that_is_as_often_right_as_it_says_has_no_error() {
        let labels = Classes::new(2, vec![0, 0, 0, 1]).unwrap().into();
        let values = [sure(0.75); 4].concat();
        let error = expected_calibration_error(&labels, &[0, 1, 2, 3], Logits::new(&values, 2), 15).unwrap();
        assert!(error < 1e-12, "{error}");
    }

    /// By hand: two answers of 0.9, both wrong, and two of 0.6, both right. In bins: (2 · 0.9 + 2 · 0.4) / 4. In one bin
    /// together: |0.75 − 0.5|.
    #[test]
    fn errors_of_different_bins_do_not_cancel() {
        let labels = Classes::new(2, vec![1, 1, 0, 0, UNLABELLED]).unwrap().into();
        let values = [sure(0.9), sure(0.9), sure(0.6), sure(0.6), sure(0.6)].concat();
        let error =
            |bins| expected_calibration_error(&labels, &[0, 1, 2, 3, 4], Logits::new(&values, 2), bins);
        assert!((error(CALIBRATION_BINS).unwrap() - 0.65).abs() < 1e-12);
        assert!((error(1).unwrap() - 0.25).abs() < 1e-12);
        assert_eq!(error(0), None);
    }

    /// By hand: a yes of 0.8 that is right, a no of 0.8 that is wrong: together |1 − 1.6| / 2.
    #[test]
    fn of_many_labels_each_yes_or_no_is_an_answer() {
        let labels = ManyLabels::new(1, 2, vec![1, 1]).unwrap().into();
        let logit = sure(0.8)[0];
        let values = [logit, -logit];
        let error = expected_calibration_error(&labels, &[0], Logits::new(&values, 2), 15).unwrap();
        assert!((error - 0.3).abs() < 1e-12, "{error}");
    }

    #[test]
    fn without_labelled_nodes_there_is_none() {
        let labels = Classes::new(2, vec![UNLABELLED]).unwrap().into();
        let logits = Logits::new(&[0.0_f32, 0.0], 2);
        assert_eq!(expected_calibration_error(&labels, &[0], logits, 15), None);
        assert_eq!(expected_calibration_error(&labels, &[], logits, 15), None);
    }
}
