//! What can go wrong, in terms that a caller can act on.

use edgepace_graph::{GraphError, Refusal};
use thiserror::Error;

/// Why a model could not be built or fed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NnError {
    /// The graph, features, labels, split or weights are not valid.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A setting is out of its range, or two things that belong together differ in size.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A number that must be finite is not, or one that must not be negative is.
    #[error("`{field}`[{position}] is {value}, expected {expected}")]
    Value {
        /// Which input.
        field: &'static str,
        /// Where in it.
        position: usize,
        /// What stands there.
        value: f64,
        /// What is legal.
        expected: &'static str,
    },
    /// A training node has no label.
    #[error("training node {node} has no label: take it out of the training set or label it")]
    Unlabelled {
        /// The node.
        node: usize,
    },
    /// No node has a positive weight.
    #[error("the training set is empty: give at least one labelled node a positive weight")]
    EmptyTrainingSet,
}
