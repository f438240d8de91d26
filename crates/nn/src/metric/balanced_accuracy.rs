//! Balanced accuracy: the mean recall of the classes, so that each counts alike however many nodes it has.
//!
//! - Classes: the mean over the classes that some of the nodes have of |have c and are predicted to| / |have c|. A node
//!   without a class takes no part.
//! - Many labels: 1 / L · Σ_c b_c, where b_c is the balanced accuracy of the two classes "has label c" and "has it not",
//!   told apart by a logit above 0.

use edgepace_graph::Labels;

use super::counts::counts;
use super::{Logits, mean};
use crate::real::Real;

pub(super) fn balanced_accuracy<T: Real>(
    labels: &Labels,
    nodes: &[u32],
    logits: Logits<'_, T>,
) -> Option<f64> {
    let counts = counts(labels, nodes, logits);
    match labels {
        Labels::Classes(_) => mean_recall(counts.into_iter().map(|of| (of.both, of.actual))),
        Labels::Many(_) => mean(counts.into_iter().filter_map(|of| {
            let no = (of.neither(nodes.len()), nodes.len() - of.actual);
            mean_recall([(of.both, of.actual), no].into_iter())
        })),
    }
}

/// The mean of right / actual over the classes that occur.
fn mean_recall(classes: impl Iterator<Item = (usize, usize)>) -> Option<f64> {
    mean(classes.filter(|&(_, actual)| actual > 0).map(|(right, actual)| right as f64 / actual as f64))
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, ManyLabels, UNLABELLED};

    use super::*;

    /// By hand: of class 0 three of three are found, of class 1 none of one, class 2 is only predicted. Accuracy is 3 / 4.
    #[test]
    fn a_rare_class_counts_as_much_as_a_common_one() {
        let labels = Classes::new(3, vec![0, 0, 0, 1, UNLABELLED]).unwrap().into();
        let rows = [[1.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];
        let values = rows.concat();
        let score = |nodes: &[u32]| balanced_accuracy(&labels, nodes, Logits::new(&values, 3));
        assert_eq!(score(&[0, 1, 2, 3]), Some(0.5));
        assert_eq!(score(&[0, 1, 2, 3, 4]), Some(0.5), "a node without a class takes no part");
        assert_eq!(score(&[4]), None);
        assert_eq!(score(&[]), None);
    }

    /// By hand: label 0 has recall 1 of yes and 1 / 2 of no; label 1 is no everywhere and found so once of three times.
    #[test]
    fn of_many_labels_yes_and_no_count_alike() {
        let labels = ManyLabels::new(3, 2, vec![1, 0, 0, 0, 0, 0]).unwrap().into();
        let logits = Logits::new(&[2.0_f32, 1.0, 0.5, 1.0, -0.5, 0.0], 2);
        assert_eq!(balanced_accuracy(&labels, &[0, 1, 2], logits), Some(f64::midpoint(0.75, 1.0 / 3.0)));
    }
}
