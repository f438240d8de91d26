//! What a model tells the curriculum.

use edgepace_graph::{Refusal, Threads};

use crate::CurriculumError;

/// One row of `width` numbers per node, row after row.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// All numbers.
    pub values: &'a [f32],
    /// Numbers per node.
    pub width: usize,
}

impl<'a> Rows<'a> {
    /// Rows of `width` numbers.
    pub fn new(values: &'a [f32], width: usize) -> Self {
        Self { values, width }
    }

    /// The row of a node.
    #[inline(always)]
    pub(crate) fn row(&self, node: usize) -> &'a [f32] {
        &self.values[node * self.width..(node + 1) * self.width]
    }

    /// Refuses a wrong size.
    pub(crate) fn check_size(&self, field: &'static str, nodes: usize) -> Result<(), CurriculumError> {
        let expected = nodes.saturating_mul(self.width);
        if self.values.len() == expected {
            return Ok(());
        }
        Err(Refusal::size(field, self.values.len(), expected, "nodes × width numbers").into())
    }

    /// Refuses a wrong size and numbers that are not finite (or, for probabilities, not in [0, 1]).
    pub(crate) fn check(
        &self,
        threads: &Threads,
        field: &'static str,
        nodes: usize,
        probabilities: bool,
    ) -> Result<(), CurriculumError> {
        self.check_size(field, nodes)?;
        let legal = |value: f32| {
            if probabilities { (0.0..=1.0).contains(&value) } else { value.is_finite() }
        };
        // Without an early way out inside a piece the loop is vectorised.
        let whole = |piece: &[f32]| piece.iter().fold(true, |so_far, &value| so_far & legal(value));
        if threads.all_pieces(self.values.len(), |piece| whole(&self.values[piece])) {
            return Ok(());
        }
        let position = self.values.iter().position(|&value| !legal(value)).unwrap_or(0);
        Err(CurriculumError::Value {
            field,
            node: position / self.width,
            column: position % self.width,
            value: f64::from(self.values[position]),
            expected: if probabilities { "a number between 0 and 1" } else { "a finite number" },
        })
    }
}

/// What the model says about the classes of each node.
#[derive(Debug, Clone, Copy)]
pub enum Outputs<'a> {
    /// One of several classes: logits, of which p is the softmax.
    ClassLogits(Rows<'a>),
    /// One of several classes: p itself, each row summing to 1.
    ClassProbabilities(Rows<'a>),
    /// Many binary labels: logits, of which each p is the sigmoid. Two nodes agree by the mean over labels of
    /// p_i p_j + (1 − p_i)(1 − p_j).
    LabelLogits(Rows<'a>),
}

impl<'a> Outputs<'a> {
    pub(crate) fn rows(&self) -> Rows<'a> {
        match *self {
            Outputs::ClassLogits(rows) | Outputs::ClassProbabilities(rows) | Outputs::LabelLogits(rows) => {
                rows
            }
        }
    }

    pub(crate) fn check(&self, threads: &Threads, nodes: usize) -> Result<(), CurriculumError> {
        let probabilities = matches!(self, Outputs::ClassProbabilities(_));
        let field = if probabilities { "probabilities" } else { "logits" };
        self.rows().check(threads, field, nodes, probabilities)
    }
}

/// What the curriculum learns from: what a model made of the nodes, in evaluation mode.
///
/// Only what the kernel reads has to be there, and only that is read: embeddings for `inner` and `cosine`, outputs for
/// `posterior` and `evidence`, trust for `trust`, nothing for the random order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Feedback<'a> {
    /// The embeddings z.
    pub embeddings: Option<Rows<'a>>,
    /// Logits or probabilities.
    pub outputs: Option<Outputs<'a>>,
    /// The probability that each pair is genuine.
    pub trust: Option<&'a [f32]>,
    /// Training nodes and the loss of each. Without it the confidence ρ stays what it was: 1 before the first losses.
    pub losses: Option<(&'a [u32], &'a [f32])>,
}

impl<'a> Feedback<'a> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With embeddings of `width` numbers per node.
    #[must_use]
    pub fn embeddings(self, values: &'a [f32], width: usize) -> Self {
        Self { embeddings: Some(Rows::new(values, width)), ..self }
    }

    /// With logits of `classes` exclusive classes.
    #[must_use]
    pub fn logits(self, values: &'a [f32], classes: usize) -> Self {
        Self { outputs: Some(Outputs::ClassLogits(Rows::new(values, classes))), ..self }
    }

    /// With probabilities of `classes` exclusive classes.
    #[must_use]
    pub fn probabilities(self, values: &'a [f32], classes: usize) -> Self {
        Self { outputs: Some(Outputs::ClassProbabilities(Rows::new(values, classes))), ..self }
    }

    /// With logits of `labels` binary labels.
    #[must_use]
    pub fn label_logits(self, values: &'a [f32], labels: usize) -> Self {
        Self { outputs: Some(Outputs::LabelLogits(Rows::new(values, labels))), ..self }
    }

    /// With the probability that each pair is genuine, in the order of [`Pairs`](crate::Pairs); see [`trust`](crate::trust()).
    #[must_use]
    pub fn trust(self, genuine: &'a [f32]) -> Self {
        Self { trust: Some(genuine), ..self }
    }

    /// With the loss of each training node.
    #[must_use]
    pub fn losses(self, nodes: &'a [u32], values: &'a [f32]) -> Self {
        Self { losses: Some((nodes, values)), ..self }
    }
}
