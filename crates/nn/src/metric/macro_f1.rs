//! Macro-F1: the mean F1 score of the classes or labels that occur among the nodes, in truth or prediction.
//!
//! F1_c = 2 · |have c and are predicted to| / (|have c| + |are predicted to|), where a class is predicted by the largest
//! logit and each of many labels by a logit above 0. Rare classes count as much as common ones. A node without a class
//! lowers the score of the class that it is predicted to have.

use edgepace_graph::Labels;

use super::counts::counts;
use super::{Logits, mean};
use crate::real::Real;

pub(super) fn macro_f1<T: Real>(labels: &Labels, nodes: &[u32], logits: Logits<'_, T>) -> Option<f64> {
    let counts = counts(labels, nodes, logits);
    let occurring = counts.into_iter().filter(|of| of.actual + of.predicted > 0);
    mean(occurring.map(|of| 2.0 * of.both as f64 / (of.actual + of.predicted) as f64))
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, ManyLabels, UNLABELLED};

    use super::*;

    /// By hand: class 0 has one node, found (F1 = 1); class 1 has one, called 2 (F1 = 0); class 2 has none (F1 = 0); class
    /// 3 does not occur.
    #[test]
    fn a_class_that_is_only_predicted_counts_and_one_that_does_not_occur_does_not() {
        let labels = Classes::new(4, vec![0, 1]).unwrap().into();
        let logits = Logits::new(&[1.0_f32, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], 4);
        assert_eq!(macro_f1(&labels, &[0, 1], logits), Some(1.0 / 3.0));
        assert_eq!(macro_f1(&labels, &[], logits), None);
    }

    /// By hand: one right among two predictions of class 0: 2 · 1 / (1 + 2).
    #[test]
    fn a_node_without_a_class_lowers_the_score_of_the_predicted_one() {
        let labels = Classes::new(2, vec![0, UNLABELLED]).unwrap().into();
        let logits = Logits::new(&[1.0_f32, 0.0, 1.0, 0.0], 2);
        assert_eq!(macro_f1(&labels, &[0, 1], logits), Some(2.0 / 3.0));
    }

    /// By hand: label 0 is had by both and predicted of one (F1 = 2 / 3), label 1 occurs nowhere.
    #[test]
    fn of_many_labels_those_that_occur_count() {
        let labels = ManyLabels::new(2, 2, vec![1, 0, 1, 0]).unwrap().into();
        let logits = Logits::new(&[0.5_f32, -1.0, -0.5, 0.0], 2);
        assert_eq!(macro_f1(&labels, &[0, 1], logits), Some(2.0 / 3.0));
    }
}
