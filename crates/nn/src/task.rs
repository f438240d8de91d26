//! What a model is trained for: labels, and how much each node counts.

use std::sync::Arc;

use edgepace_graph::{GraphError, Labels, Refusal};

use crate::error::NnError;
use crate::real::Real;

/// Labels with training nodes and their weights; the loss is the weighted mean of the nodes' losses.
#[derive(Clone, Debug)]
pub struct Task<T> {
    labels: Arc<Labels>,
    /// ω_i / Σ ω; 0 for nodes that are not trained on.
    shares: Vec<T>,
    /// ε: how much of each label is spread evenly over all classes.
    smoothing: f64,
}

impl<T: Real> Task<T> {
    /// Trains on the nodes of `train`, each counting alike.
    ///
    /// # Errors
    /// `train` is empty, or one of its nodes is out of range or has no label.
    pub fn new(labels: Arc<Labels>, train: &[u32]) -> Result<Self, NnError> {
        let mut weights = vec![T::ZERO; labels.nodes()];
        for (position, &node) in train.iter().enumerate() {
            let weight = weights.get_mut(node as usize).ok_or(GraphError::NodeOutOfRange {
                field: "train",
                position,
                value: node,
                nodes: labels.nodes(),
            })?;
            *weight = T::ONE;
        }
        Self::weighted(labels, weights)
    }

    /// Trains on every node with a positive weight.
    ///
    /// # Errors
    /// Not one weight per node, one that is negative or not finite, one on a node without a label, or none above 0.
    pub fn weighted(labels: Arc<Labels>, weights: Vec<T>) -> Result<Self, NnError> {
        let mut task = Self { labels, shares: weights, smoothing: 0.0 };
        task.check()?;
        let total: f64 = task.shares.iter().map(|&w| Into::<f64>::into(w)).sum();
        for weight in &mut task.shares {
            *weight = T::of(Into::<f64>::into(*weight) / total);
        }
        Ok(task)
    }

    /// The same with labels of 1 − ε + ε/C for the class of a node and ε/C for the C − 1 others; where nodes have many labels,
    /// 1 − ε/2 for those that a node has and ε/2 for the others (Szegedy et al., 2016).
    ///
    /// # Errors
    /// ε is not in [0, 1).
    pub fn smoothed(self, smoothing: f64) -> Result<Self, NnError> {
        if !(0.0..1.0).contains(&smoothing) {
            return Err(Refusal::new("label_smoothing", smoothing, "in [0, 1)").into());
        }
        Ok(Self { smoothing, ..self })
    }

    /// ε of [`Task::smoothed`].
    pub(crate) fn smoothing(&self) -> f64 {
        self.smoothing
    }

    fn check(&self) -> Result<(), NnError> {
        let (found, expected) = (self.shares.len(), self.labels.nodes());
        if found != expected {
            return Err(Refusal::size("node weights", found, expected, "one per node").into());
        }
        let mut any = false;
        for (node, &weight) in self.shares.iter().enumerate() {
            let value: f64 = weight.into();
            if !(value >= 0.0 && value.is_finite()) {
                let expected = "a finite number, not negative";
                return Err(NnError::Value { field: "node weights", position: node, value, expected });
            }
            if value > 0.0 && !self.labels.is_labelled(node) {
                return Err(NnError::Unlabelled { node });
            }
            any |= value > 0.0;
        }
        if any { Ok(()) } else { Err(NnError::EmptyTrainingSet) }
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// ω_i / Σ ω of each node.
    pub(crate) fn shares(&self) -> &[T] {
        &self.shares
    }

    /// Σ share_i · loss_i, in `f64`.
    pub(crate) fn mean(&self, losses: &[T]) -> f64 {
        losses
            .iter()
            .zip(&self.shares)
            .map(|(&loss, &share)| Into::<f64>::into(loss) * Into::<f64>::into(share))
            .sum()
    }

    pub(crate) fn fits(&self, nodes: usize, outputs: usize) -> Result<(), NnError> {
        let refuse = |found, expected, reason| Err(Refusal::size("labels", found, expected, reason).into());
        if self.labels.nodes() != nodes {
            return refuse(self.labels.nodes(), nodes, "one per node of the graph");
        }
        if self.labels.width() != outputs {
            return refuse(self.labels.width(), outputs, "the outputs of the model");
        }
        Ok(())
    }
}
