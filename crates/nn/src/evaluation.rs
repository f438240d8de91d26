//! What a model says of every node, and how good that is: accuracy, macro-F1, ROC-AUC.

use std::borrow::Cow;

use edgepace_graph::{Classes, GraphError, ManyLabels, UNLABELLED};

use crate::error::NnError;
use crate::real::Real;
use crate::threads::Threads;

/// Logits of all nodes and the class with the largest one.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a, T> {
    pub(crate) logits: &'a [T],
    /// Numbers from one row of logits to the next.
    pub(crate) stride: usize,
    pub(crate) outputs: usize,
    pub(crate) predictions: &'a [u32],
}

impl<'a, T: Real> Evaluation<'a, T> {
    /// The logits of a node, one per class or label.
    ///
    /// # Panics
    /// When there is no such node, as indexing does.
    pub fn logits(&self, node: usize) -> &'a [T] {
        &self.logits[node * self.stride..][..self.outputs]
    }

    /// The logits of all nodes, one row after another; copied only where there is something between the rows.
    pub fn all_logits(&self) -> Cow<'a, [T]> {
        if self.stride == self.outputs {
            return Cow::Borrowed(self.logits);
        }
        let mut logits = Vec::new();
        self.copy_logits(&mut logits);
        Cow::Owned(logits)
    }

    /// The same in place of what `out` held.
    pub fn copy_logits(&self, out: &mut Vec<T>) {
        out.clear();
        out.reserve_exact(self.predictions.len() * self.outputs);
        for node in 0..self.predictions.len() {
            out.extend_from_slice(self.logits(node));
        }
    }

    /// The class with the largest logit of every node; the first one among equals.
    pub fn predictions(&self) -> &'a [u32] {
        self.predictions
    }

    /// Share of `nodes` whose class is predicted; a node without a label counts as wrong. `None` without nodes.
    ///
    /// # Errors
    /// A node is out of range, or `truth` is for another graph or model.
    pub fn accuracy(&self, truth: &Classes, nodes: &[u32]) -> Result<Option<f64>, NnError> {
        self.fits(truth.nodes(), truth.width(), nodes)?;
        let of = truth.of();
        let right = nodes.iter().filter(|&&i| self.predictions[i as usize] == of[i as usize]).count();
        Ok((!nodes.is_empty()).then(|| right as f64 / nodes.len() as f64))
    }

    /// Mean of the F1 scores of the classes that occur among `nodes`, in truth or prediction. `None` without nodes.
    ///
    /// # Errors
    /// A node is out of range, or `truth` is for another graph or model.
    pub fn macro_f1(&self, truth: &Classes, nodes: &[u32]) -> Result<Option<f64>, NnError> {
        self.fits(truth.nodes(), truth.width(), nodes)?;
        // Per class: nodes that have it, that are predicted to have it, and both.
        let mut counts = vec![[0_usize; 3]; self.outputs];
        for &i in nodes {
            let (class, predicted) = (truth.of()[i as usize], self.predictions[i as usize]);
            counts[predicted as usize][1] += 1;
            if class != UNLABELLED {
                counts[class as usize][0] += 1;
                counts[class as usize][2] += usize::from(class == predicted);
            }
        }
        // F1 = 2 · both / (actual + predicted).
        let scores: Vec<f64> = counts
            .iter()
            .filter(|[actual, predicted, _]| actual + predicted > 0)
            .map(|[actual, predicted, both]| 2.0 * *both as f64 / (actual + predicted) as f64)
            .collect();
        Ok((!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64))
    }

    /// ROC-AUC, averaged over the labels that some of `nodes` have and some have not. `None` without such a label.
    ///
    /// # Errors
    /// A node is out of range, or `truth` is for another graph or model.
    pub fn roc_auc(&self, truth: &ManyLabels, nodes: &[u32]) -> Result<Option<f64>, NnError> {
        self.fits(truth.nodes(), truth.width(), nodes)?;
        let width = truth.width();
        let mut scored = Vec::with_capacity(nodes.len());
        let mut total = (0.0, 0_usize);
        for label in 0..width {
            scored.clear();
            scored.extend(nodes.iter().map(|&i| {
                let score: f64 = self.logits(i as usize)[label].into();
                (score, truth.values()[i as usize * width + label] == 1)
            }));
            if let Some(auc) = roc_auc(&mut scored) {
                total = (total.0 + auc, total.1 + 1);
            }
        }
        Ok((total.1 > 0).then(|| total.0 / total.1 as f64))
    }

    fn fits(&self, labelled: usize, width: usize, nodes: &[u32]) -> Result<(), NnError> {
        let size = |found, expected, reason| NnError::Size { field: "labels", found, expected, reason };
        let all = self.predictions.len();
        if labelled != all {
            return Err(size(labelled, all, "one per node of the graph"));
        }
        if width != self.outputs {
            return Err(size(width, self.outputs, "the outputs of the model"));
        }
        match nodes.iter().position(|&node| node as usize >= all) {
            None => Ok(()),
            Some(position) => {
                let value = nodes[position];
                Err(GraphError::NodeOutOfRange { field: "nodes", position, value, nodes: all }.into())
            }
        }
    }
}

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

/// The column of the largest of the first `outputs` logits of each row, or of `only` those rows.
pub(crate) fn predict<T: Real>(
    threads: &Threads,
    (logits, stride): (&[T], usize),
    outputs: usize,
    only: Option<&[bool]>,
    predictions: &mut [u32],
) {
    threads.rows(predictions, 1, 1024, |first, predictions| {
        let rows = logits[first * stride..].chunks_exact(stride);
        for (i, (prediction, row)) in predictions.iter_mut().zip(rows).enumerate() {
            if only.is_some_and(|only| !only[first + i]) {
                continue;
            }
            let mut best = (0, row[0]);
            for (column, &logit) in row[..outputs].iter().enumerate().skip(1) {
                if logit > best.1 {
                    best = (column as u32, logit);
                }
            }
            *prediction = best.0;
        }
    });
}
