//! Two answers to the same validation nodes: how far they differ, and how far chance alone makes them differ.

use edgepace_graph::{Classes, Labels};
use edgepace_nn::{Logits, Metric, argmax};

use crate::material::Material;
use crate::snapshot::Snapshot;

/// Successes, and as many failures, that are added before a share is taken for a probability (Agresti and Coull, 1998): of four
/// right answers to four questions one cannot tell that there are no wrong ones.
const ADDED: f64 = 2.0;

/// The standard error of the share `right` of `nodes` answers.
pub(crate) fn standard_error(share: f64, nodes: usize) -> f64 {
    let all = nodes as f64 + 2.0 * ADDED;
    let likely = (share * nodes as f64 + ADDED) / all;
    (likely * (1.0 - likely) / all).sqrt()
}

/// Plain training beside what a method made of it, on validation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Comparison {
    /// How much better plain training validates, as choices compare it.
    pub(crate) lead: f64,
    /// The standard error of the lead: nodes that both get right, or both wrong, do not count. None where the metric is not
    /// the share of right answers.
    standard_error: Option<f64>,
}

impl Comparison {
    /// None without validation nodes.
    pub(crate) fn new(
        material: &Material,
        metric: Metric,
        plain: &Snapshot,
        method: &Snapshot,
    ) -> Option<Self> {
        let lead = plain.validation? - method.validation?;
        let standard_error = match &**material.labels() {
            Labels::Classes(classes) if metric == Metric::Accuracy => {
                Some(paired_error(classes, material.split().validation(), [&plain.logits, &method.logits]))
            }
            _ => None,
        };
        Some(Self { lead, standard_error })
    }

    /// By the share of right answers, whatever the metric of the run is. None without validation nodes, and where nodes have many
    /// labels.
    pub(crate) fn of_answers(material: &Material, plain: &Snapshot, other: &Snapshot) -> Option<Self> {
        let nodes = material.split().validation();
        let labels = &**material.labels();
        let Labels::Classes(classes) = labels else { return None };
        let right = |snapshot: &Snapshot| {
            Metric::Accuracy.score(labels, nodes, Logits::new(&snapshot.logits, classes.width()))
        };
        let lead = right(plain)? - right(other)?;
        let standard_error = Some(paired_error(classes, nodes, [&plain.logits, &other.logits]));
        Some(Self { lead, standard_error })
    }

    /// Whether plain training is what to keep. The method must validate better by more than one standard error: of two that
    /// validation cannot tell apart the simpler one counts, and that is also the one that had half as many chances to be
    /// lucky, being evaluated once in an epoch where the method is evaluated twice.
    pub(crate) fn keeps_plain(&self) -> bool {
        !self.is_beaten_by(1.0)
    }

    /// Whether the method is better by more than so many standard errors.
    pub(crate) fn is_beaten_by(&self, errors: f64) -> bool {
        self.lead < -errors * self.standard_error.unwrap_or(0.0)
    }

    /// Whether plain training is better by more than one standard error.
    pub(crate) fn is_certain(&self) -> bool {
        self.lead > self.standard_error.unwrap_or(0.0)
    }
}

/// The standard error of the difference of two shares of right answers to the same nodes.
fn paired_error(classes: &Classes, nodes: &[u32], logits: [&[f32]; 2]) -> f64 {
    let width = classes.width();
    let right =
        |logits: &[f32], node: usize| argmax(&logits[node * width..][..width]) as u32 == classes.of()[node];
    let (mut first, mut second) = (0.0, 0.0);
    for node in nodes.iter().map(|&node| node as usize) {
        match logits.map(|logits| right(logits, node)) {
            [true, false] => first += 1.0,
            [false, true] => second += 1.0,
            _ => {}
        }
    }
    let all = nodes.len() as f64;
    let mean: f64 = (first - second) / all;
    ((first + second) / all - mean * mean).max(0.0).sqrt() / all.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_few_answers_is_never_certain() {
        assert!(standard_error(1.0, 4) > 0.15);
        let usual = (0.8_f64 * 0.2 / 1000.0).sqrt();
        assert!((standard_error(0.8, 1000) - usual).abs() < 1e-4);
    }

    #[test]
    fn a_lead_within_one_standard_error_goes_to_plain_training() {
        let of = |lead, standard_error| Comparison { lead, standard_error };
        assert!(of(-0.01, Some(0.02)).keeps_plain() && !of(-0.01, Some(0.02)).is_certain());
        assert!(!of(-0.03, Some(0.02)).keeps_plain());
        assert!(of(0.03, Some(0.02)).keeps_plain() && of(0.03, Some(0.02)).is_certain());
        assert!(of(0.0, Some(0.0)).keeps_plain() && of(0.0, None).keeps_plain());
        assert!(!of(-1e-9, None).keeps_plain(), "without a standard error the better one counts");
        assert!(of(-0.03, Some(0.02)).is_beaten_by(1.0) && !of(-0.03, Some(0.02)).is_beaten_by(2.0));
    }

    #[test]
    fn nodes_that_both_get_right_or_wrong_do_not_count_as_chance() {
        let classes = Classes::new(2, vec![0, 0, 0, 0]).unwrap();
        let (right, wrong) = ([1.0, 0.0], [0.0, 1.0]);
        let of = |rows: [[f32; 2]; 4]| rows.concat();
        let one = of([right, right, wrong, wrong]);
        assert_eq!(paired_error(&classes, &[0, 1, 2, 3], [&one, &one]), 0.0);
        let other = of([wrong, right, right, wrong]);
        // One each way among four: variance 2/4 of a difference in {-1, 0, 1} with mean 0.
        let expected = (0.5_f64 / 4.0).sqrt();
        assert!((paired_error(&classes, &[0, 1, 2, 3], [&one, &other]) - expected).abs() < 1e-12);
    }
}
