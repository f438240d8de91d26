//! Log-loss: the mean cross-entropy in nats, from logits in `f64`. Finite for all finite logits.
//!
//! - Classes: 1 / n · Σ_i (ln Σ_c e^(l_ic) − l_iy) over the nodes that have a class y.
//! - Many labels: 1 / (n L) · Σ_i Σ_c (ln(1 + e^(l_ic)) − y_ic l_ic).

use std::ops::Range;

use edgepace_graph::{Labels, Threads, UNLABELLED};

use super::{Logits, mean};
use crate::outputs::peak;
use crate::real::Real;

pub(super) fn log_loss<T: Real>(labels: &Labels, nodes: &[u32], logits: Logits<'_, T>) -> Option<f64> {
    mean(losses(labels, nodes, logits).into_iter())
}

/// The same, on several threads.
pub(super) fn log_loss_on<T: Real>(
    threads: &Threads,
    labels: &Labels,
    nodes: &[u32],
    logits: Logits<'_, T>,
) -> Option<f64> {
    let of_piece = |piece: Range<usize>| losses(labels, &nodes[piece], logits);
    mean(threads.map_pieces(nodes.len(), PIECE, of_piece).into_iter().flatten())
}

/// Nodes that one thread takes at a time.
const PIECE: usize = 256;

/// The loss of each labelled node, and of many labels of each of them.
fn losses<T: Real>(labels: &Labels, nodes: &[u32], logits: Logits<'_, T>) -> Vec<f64> {
    let ids = nodes.iter().map(|&node| node as usize);
    match labels {
        Labels::Classes(classes) => {
            let of = classes.of();
            let labelled = ids.filter(|&node| of[node] != UNLABELLED);
            labelled.map(|node| cross_entropy(logits.of(node), of[node] as usize)).collect()
        }
        Labels::Many(many) => {
            let width = many.width();
            let of_node = |node: usize| {
                let truth = &many.values()[node * width..][..width];
                truth
                    .iter()
                    .zip(logits.of(node))
                    .map(|(&y, &logit)| binary_cross_entropy(logit.into(), y == 1))
            };
            ids.flat_map(of_node).collect()
        }
    }
}

/// ln Σ_c e^(l_c) − l_y = (peak − l_y) + ln Σ_c e^(l_c − peak): neither term is negative and no power overflows.
fn cross_entropy<T: Real>(row: &[T], class: usize) -> f64 {
    let peak = peak(row);
    let total: f64 = row.iter().map(|&logit| libm::exp(logit.into() - peak)).sum();
    peak - row[class].into() + libm::log(total)
}

/// ln(1 + e^−x), where x is the logit of the true answer: max(−x, 0) + ln(1 + e^−|x|).
fn binary_cross_entropy(logit: f64, truth: bool) -> f64 {
    let x = if truth { logit } else { -logit };
    // Unlike `f64::max` a comparison keeps NaN, so that a diverged model does not look healthy.
    let wrong = if x >= 0.0 { 0.0 } else { -x };
    wrong + libm::log1p(libm::exp(-x.abs()))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::LN_2;

    use edgepace_graph::{Classes, ManyLabels};

    use super::*;

    #[test]
    fn several_threads_give_the_same_bits() {
        let nodes: Vec<u32> = (0..1000).collect();
        let values: Vec<f32> = (0..3000).map(|at| (at * 37 % 101) as f32 / 9.0).collect();
        let of = nodes.iter().map(|node| if node % 7 == 0 { UNLABELLED } else { node % 3 }).collect();
        let many = ManyLabels::new(1000, 3, (0..3000_u32).map(|at| (at * 5 % 2) as u8).collect()).unwrap();
        for labels in [Labels::from(Classes::new(3, of).unwrap()), many.into()] {
            let logits = Logits::new(&values, 3);
            let alone = log_loss(&labels, &nodes, logits).unwrap();
            let together = log_loss_on(&Threads::new(3).unwrap(), &labels, &nodes, logits).unwrap();
            assert_eq!(alone.to_bits(), together.to_bits());
        }
    }

    #[test]
    fn a_model_that_knows_nothing_loses_the_logarithm_of_the_number_of_answers() {
        let labels = Classes::new(4, vec![3, 0, UNLABELLED]).unwrap().into();
        let score = log_loss(&labels, &[0, 1, 2], Logits::new(&[0.0_f32; 12], 4)).unwrap();
        assert!((score - 2.0 * LN_2).abs() < 1e-15, "{score}");
        let labels = ManyLabels::new(1, 3, vec![0, 1, 1]).unwrap().into();
        let score = log_loss(&labels, &[0], Logits::new(&[0.0_f32; 3], 3)).unwrap();
        assert!((score - LN_2).abs() < 1e-15, "{score}");
    }

    #[test]
    fn the_surest_logits_neither_overflow_nor_vanish() {
        let labels = Classes::new(2, vec![0, 1]).unwrap().into();
        let sure = [f32::MAX, f32::MIN];
        let values = [sure, sure].concat();
        let logits = Logits::new(&values, 2);
        assert_eq!(log_loss(&labels, &[0], logits), Some(0.0));
        assert_eq!(log_loss(&labels, &[1], logits), Some(2.0 * f64::from(f32::MAX)));
        let labels = ManyLabels::new(2, 1, vec![1, 0]).unwrap().into();
        let logits = Logits::new(&[-1000.0_f32, -40.0], 1);
        assert_eq!(log_loss(&labels, &[0], logits), Some(1000.0));
        assert_eq!(log_loss(&labels, &[1], logits), Some(libm::exp(-40.0)), "ln(1 + t) is t for a small t");
    }

    #[test]
    fn a_model_that_diverged_has_no_number() {
        let classes = Classes::new(2, vec![0]).unwrap().into();
        let many = ManyLabels::new(1, 2, vec![0, 1]).unwrap().into();
        for labels in [classes, many] {
            assert!(log_loss(&labels, &[0], Logits::new(&[0.0, f32::NAN], 2)).unwrap().is_nan());
        }
    }

    #[test]
    fn without_labelled_nodes_there_is_none() {
        let labels = Classes::new(2, vec![UNLABELLED]).unwrap().into();
        assert_eq!(log_loss(&labels, &[0], Logits::new(&[0.0_f32; 2], 2)), None);
        assert_eq!(log_loss(&labels, &[], Logits::new(&[0.0_f32; 2], 2)), None);
    }
}
