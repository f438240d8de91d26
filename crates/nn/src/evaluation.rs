//! What a model says of every node, and how good that is.

use std::borrow::Cow;

use edgepace_graph::{GraphError, Labels, Refusal};

use crate::error::NnError;
use crate::metric::accuracy::share_right;
use crate::metric::{Logits, Metric};
use crate::outputs::argmax;
use crate::real::Real;
use crate::threads::Threads;

/// Logits of all nodes and the class with the largest one.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a, T> {
    pub(crate) logits: Logits<'a, T>,
    pub(crate) predictions: &'a [u32],
}

impl<'a, T: Real> Evaluation<'a, T> {
    /// The logits of a node, one per class or label.
    ///
    /// # Panics
    /// When there is no such node, as indexing does.
    pub fn logits(&self, node: usize) -> &'a [T] {
        self.logits.of(node)
    }

    /// The logits of all nodes where they lie.
    pub fn view(&self) -> Logits<'a, T> {
        self.logits
    }

    /// The logits of all nodes, one row after another; copied only where there is something between the rows.
    pub fn all_logits(&self) -> Cow<'a, [T]> {
        if self.logits.stride == self.logits.outputs {
            return Cow::Borrowed(self.logits.values);
        }
        let mut logits = Vec::new();
        self.copy_logits(&mut logits);
        Cow::Owned(logits)
    }

    /// The same in place of what `out` held.
    pub fn copy_logits(&self, out: &mut Vec<T>) {
        out.clear();
        out.reserve_exact(self.predictions.len() * self.logits.outputs);
        for node in 0..self.predictions.len() {
            out.extend_from_slice(self.logits(node));
        }
    }

    /// The class with the largest logit of every node; the first one among equals.
    pub fn predictions(&self) -> &'a [u32] {
        self.predictions
    }

    /// The score of `nodes`; `None` where [`Metric::score`] gives none.
    ///
    /// # Errors
    /// A node is out of range, or the labels are for another graph or model.
    pub fn score(&self, metric: Metric, labels: &Labels, nodes: &[u32]) -> Result<Option<f64>, NnError> {
        check_fit(self.logits, self.predictions.len(), labels, nodes)?;
        Ok(match (metric, labels) {
            // What is predicted is known already.
            (Metric::Accuracy, Labels::Classes(classes)) => {
                share_right(classes, nodes, |node| self.predictions[node])
            }
            _ => metric.score(labels, nodes, self.logits),
        })
    }
}

/// Refuses labels that are not for these logits of `all` nodes, and nodes that are not among them.
pub(crate) fn check_fit<T: Real>(
    logits: Logits<'_, T>,
    all: usize,
    labels: &Labels,
    nodes: &[u32],
) -> Result<(), NnError> {
    let refuse = |found, expected, reason| Err(Refusal::size("labels", found, expected, reason).into());
    if labels.nodes() != all {
        return refuse(labels.nodes(), all, "one per node of the graph");
    }
    if labels.width() != logits.outputs() {
        return refuse(labels.width(), logits.outputs(), "the outputs of the model");
    }
    match nodes.iter().position(|&node| node as usize >= all) {
        None => Ok(()),
        Some(position) => {
            let value = nodes[position];
            Err(GraphError::NodeOutOfRange { field: "nodes", position, value, nodes: all }.into())
        }
    }
}

/// The place of the largest logit of each row.
pub(crate) fn predict<T: Real>(threads: &Threads, logits: Logits<'_, T>, predictions: &mut [u32]) {
    threads.rows(predictions, 1, 1024, |first, predictions| {
        for (i, prediction) in predictions.iter_mut().enumerate() {
            *prediction = argmax(logits.of(first + i)) as u32;
        }
    });
}
