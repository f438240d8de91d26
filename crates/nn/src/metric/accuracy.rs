//! Accuracy: the share of right answers.
//!
//! - Classes: |{i : argmax l_i = y_i}| / n. A node without a class counts as wrong.
//! - Many labels: 1 / L · Σ_c |{i : (l_ic > 0) = y_ic}| / n.

use edgepace_graph::{Classes, Labels};

use super::Logits;
use super::counts::says_yes;
use crate::outputs::argmax;
use crate::real::Real;

pub(super) fn accuracy<T: Real>(labels: &Labels, nodes: &[u32], logits: Logits<'_, T>) -> Option<f64> {
    match labels {
        Labels::Classes(classes) => share_right(classes, nodes, |node| argmax(logits.of(node)) as u32),
        Labels::Many(many) => {
            let width = many.width();
            let right_of = |node: usize| {
                let truth = &many.values()[node * width..][..width];
                truth.iter().zip(logits.of(node)).filter(|&(&y, &logit)| (y == 1) == says_yes(logit)).count()
            };
            // Every label has all nodes, so the mean over labels is the share of all answers.
            let right: usize = nodes.iter().map(|&node| right_of(node as usize)).sum();
            let answers = nodes.len() * width;
            (answers > 0).then(|| right as f64 / answers as f64)
        }
    }
}

/// The share of nodes whose class is the predicted one.
pub(crate) fn share_right(classes: &Classes, nodes: &[u32], predicted: impl Fn(usize) -> u32) -> Option<f64> {
    let of = classes.of();
    let right = nodes.iter().filter(|&&node| predicted(node as usize) == of[node as usize]).count();
    (!nodes.is_empty()).then(|| right as f64 / nodes.len() as f64)
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{ManyLabels, UNLABELLED};

    use super::*;

    #[test]
    fn a_node_without_a_class_is_never_predicted_right() {
        let labels = Classes::new(2, vec![0, UNLABELLED, 1]).unwrap().into();
        let logits = Logits::new(&[1.0_f32, 0.0, 1.0, 0.0, 1.0, 0.0], 2);
        assert_eq!(accuracy(&labels, &[0, 1], logits), Some(0.5));
        assert_eq!(accuracy(&labels, &[0], logits), Some(1.0));
        assert_eq!(accuracy(&labels, &[1, 2], logits), Some(0.0));
        assert_eq!(accuracy(&labels, &[], logits), None);
    }

    /// By hand: the first label is right on both nodes, the second on none; a logit of 0 says no.
    #[test]
    fn of_many_labels_each_is_right_or_wrong_by_itself() {
        let labels = ManyLabels::new(2, 2, vec![1, 1, 0, 0]).unwrap().into();
        let logits = Logits::new(&[0.5_f32, 0.0, 0.0, 0.1], 2);
        assert_eq!(accuracy(&labels, &[0, 1], logits), Some(0.5));
        assert_eq!(accuracy(&labels, &[], logits), None);
    }
}
