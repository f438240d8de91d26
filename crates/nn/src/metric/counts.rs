//! How often each class or label occurs, is predicted, and both: all that accuracy, F1 and recall are made of.

use edgepace_graph::{Labels, UNLABELLED};

use super::Logits;
use crate::outputs::argmax;
use crate::real::Real;

/// Of one class or label.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    /// Nodes that have it.
    pub(super) actual: usize,
    /// Nodes that are predicted to have it.
    pub(super) predicted: usize,
    /// Nodes that have it and are predicted to.
    pub(super) both: usize,
}

impl Counts {
    /// Nodes among `nodes` that neither have it nor are predicted to.
    pub(super) fn neither(self, nodes: usize) -> usize {
        nodes + self.both - self.actual - self.predicted
    }
}

/// Whether a label is predicted: its logit is above 0, its probability above one half.
pub(super) fn says_yes<T: Real>(logit: T) -> bool {
    logit > T::ZERO
}

/// The counts of each class or label among `nodes`. A node without a class counts as predicted only.
pub(super) fn counts<T: Real>(labels: &Labels, nodes: &[u32], logits: Logits<'_, T>) -> Vec<Counts> {
    let mut counts = vec![Counts::default(); logits.outputs()];
    for node in nodes.iter().map(|&node| node as usize) {
        let row = logits.of(node);
        match labels {
            Labels::Classes(classes) => {
                let (class, predicted) = (classes.of()[node], argmax(row));
                counts[predicted].predicted += 1;
                if class != UNLABELLED {
                    let class = class as usize;
                    counts[class].actual += 1;
                    counts[class].both += usize::from(class == predicted);
                }
            }
            Labels::Many(many) => {
                let truth = &many.values()[node * many.width()..][..many.width()];
                for ((counts, &truth), &logit) in counts.iter_mut().zip(truth).zip(row) {
                    let (actual, predicted) = (truth == 1, says_yes(logit));
                    counts.actual += usize::from(actual);
                    counts.predicted += usize::from(predicted);
                    counts.both += usize::from(actual && predicted);
                }
            }
        }
    }
    counts
}
