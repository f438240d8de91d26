//! ROC-AUC: the probability that a random node with a class or label scores above a random one without it.
//!
//! - Classes: one class against the rest, ranked by the softmax probability p_c; the mean over the classes that some of the
//!   nodes have and some have not. Ranked in fact by the odds p_c / (1 − p_c) = e^(l_c) / Σ_(k ≠ c) e^(l_k): the same order,
//!   but near 1 they keep apart what a probability rounds together. For two classes it is the usual binary ROC-AUC. A node
//!   without a class takes no part.
//! - Many labels: ranked by the logit; the mean over the labels that some of the nodes have and some have not.

use edgepace_graph::{Labels, UNLABELLED};

use super::{Logits, mean};
use crate::outputs::peak;
use crate::real::Real;

/// The probability that a random positive scores above a random negative, ties counting half (Mann–Whitney). Sorts
/// its input. `None` unless there are both.
pub fn roc_auc(scored: &mut [(f64, bool)]) -> Option<f64> {
    scored.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let positives = scored.iter().filter(|(_, positive)| *positive).count() as f64;
    let negatives = scored.len() as f64 - positives;
    let mut wins = 0.0;
    let mut below = 0.0;
    for tied in scored.chunk_by(|a, b| a.0 == b.0) {
        let hits = tied.iter().filter(|(_, positive)| *positive).count() as f64;
        let misses = tied.len() as f64 - hits;
        wins += hits * (below + 0.5 * misses);
        below += misses;
    }
    (positives > 0.0 && negatives > 0.0).then(|| wins / (positives * negatives))
}

pub(super) fn mean_roc_auc<T: Real>(labels: &Labels, nodes: &[u32], logits: Logits<'_, T>) -> Option<f64> {
    let width = logits.outputs();
    let mut scored = Vec::with_capacity(nodes.len());
    match labels {
        Labels::Classes(classes) => {
            let of = classes.of();
            let labelled: Vec<usize> =
                nodes.iter().map(|&node| node as usize).filter(|&node| of[node] != UNLABELLED).collect();
            let odds = odds(logits, &labelled);
            mean((0..width).filter_map(|class| {
                scored.clear();
                let truth = labelled.iter().map(|&node| of[node] as usize == class);
                scored.extend(odds.iter().skip(class).step_by(width).copied().zip(truth));
                roc_auc(&mut scored)
            }))
        }
        Labels::Many(many) => mean((0..width).filter_map(|label| {
            scored.clear();
            scored.extend(nodes.iter().map(|&node| {
                let node = node as usize;
                (logits.of(node)[label].into(), many.values()[node * width + label] == 1)
            }));
            roc_auc(&mut scored)
        })),
    }
}

/// Of each of `nodes` the odds of each class against all others.
fn odds<T: Real>(logits: Logits<'_, T>, nodes: &[usize]) -> Vec<f64> {
    let mut odds = Vec::with_capacity(nodes.len() * logits.outputs());
    let mut powers = Vec::with_capacity(logits.outputs());
    for &node in nodes {
        let row = logits.of(node);
        let peak = peak(row);
        powers.clear();
        powers.extend(row.iter().map(|&logit| libm::exp(logit.into() - peak)));
        odds.extend(powers.iter().enumerate().map(|(class, power)| {
            let others = powers[..class].iter().chain(&powers[class + 1..]);
            power / others.sum::<f64>()
        }));
    }
    odds
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, ManyLabels};

    use super::*;

    #[test]
    fn one_for_the_right_order_zero_for_its_reverse_and_a_half_for_none() {
        let auc = |scores: [f64; 4]| {
            roc_auc(&mut scores.into_iter().zip([false, false, true, true]).collect::<Vec<_>>())
        };
        assert_eq!(auc([0.1, 0.2, 0.3, 0.4]), Some(1.0));
        assert_eq!(auc([0.4, 0.3, 0.2, 0.1]), Some(0.0));
        assert_eq!(auc([0.7; 4]), Some(0.5));
        // By hand: 0.3 beats 0.1 and ties 0.3, 0.2 beats 0.1 only: 2.5 of 4 pairs.
        assert_eq!(auc([0.1, 0.3, 0.3, 0.2]), Some(0.625));
        assert_eq!(auc([-0.0, 0.0, 0.0, -0.0]), Some(0.5));
    }

    #[test]
    fn both_answers_are_needed() {
        assert_eq!(roc_auc(&mut []), None);
        assert_eq!(roc_auc(&mut [(0.5, true), (0.1, true)]), None);
        assert_eq!(roc_auc(&mut [(0.5, false)]), None);
    }

    #[test]
    fn of_two_classes_it_is_the_binary_one_even_where_probabilities_round_to_one() {
        let truth = [0, 1, 0, 1, 1, 0_u32];
        let gaps = [50.0_f32, 51.0, 52.0, -3.0, 700.0, -60.0];
        let labels = Classes::new(2, truth.to_vec()).unwrap().into();
        let values: Vec<f32> = gaps.iter().flat_map(|&gap| [1.0 - gap / 2.0, 1.0 + gap / 2.0]).collect();
        let mut by_gap: Vec<(f64, bool)> =
            gaps.iter().zip(truth).map(|(&gap, class)| (gap.into(), class == 1)).collect();
        let expected = roc_auc(&mut by_gap);
        assert_eq!(mean_roc_auc(&labels, &[0, 1, 2, 3, 4, 5], Logits::new(&values, 2)), expected);
        assert_eq!(
            expected,
            Some(6.0 / 9.0),
            "by hand: 51 beats 50 and −60, −3 beats −60, 700 beats all three"
        );
    }

    #[test]
    fn a_class_that_no_node_or_every_node_has_does_not_count() {
        let labels = Classes::new(3, vec![0, 0, 1, UNLABELLED]).unwrap().into();
        let values = [1.0_f32, 0.0, 3.0, 0.5, 0.0, -3.0, 0.0, 1.0, 0.0, 9.0, 9.0, 9.0];
        let logits = Logits::new(&values, 3);
        assert_eq!(mean_roc_auc(&labels, &[0, 1], logits), None, "class 0 fills these");
        assert_eq!(mean_roc_auc(&labels, &[], logits), None);
        // By hand: p_0 ranks node 1, then 2 above 0; p_1 ranks node 2 above both: (1 / 2 + 1) / 2.
        assert_eq!(mean_roc_auc(&labels, &[0, 1, 2], logits), Some(0.75));
        assert_eq!(mean_roc_auc(&labels, &[0, 1, 2, 3], logits), Some(0.75), "a node without a class");
    }

    /// By hand: label 0 ranks 3.5 of 4 pairs right; every node has label 1.
    #[test]
    fn of_many_labels_those_with_both_answers_count() {
        let labels = ManyLabels::new(4, 2, vec![1, 1, 1, 1, 0, 1, 0, 1]).unwrap().into();
        let logits = Logits::new(&[2.0_f32, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0], 2);
        assert_eq!(mean_roc_auc(&labels, &[0, 1, 2, 3], logits), Some(0.875));
        assert_eq!(mean_roc_auc(&labels, &[0, 1], logits), None);
    }
}
