//! What can go wrong, in terms that a caller can act on.

use edgepace_graph::Refusal;
use thiserror::Error;

/// Why a curriculum could not be made, fed or restored.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CurriculumError {
    /// A setting is out of its range, two settings contradict each other, or two things that belong together differ in size.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The kernel reads something that the feedback does not hold.
    #[error(
        "the kernel `{kernel}` needs {field}, but the feedback has none: add them, or choose another kernel"
    )]
    Missing {
        /// What is missing.
        field: &'static str,
        /// The kernel that reads it.
        kernel: &'static str,
    },
    /// A number of a node is out of its range.
    #[error("`{field}`: node {node} has {value} in column {column}, expected {expected}")]
    Value {
        /// Which input.
        field: &'static str,
        /// The node.
        node: usize,
        /// The column of its row.
        column: usize,
        /// What stands there.
        value: f64,
        /// What is legal.
        expected: &'static str,
    },
    /// A node id that the graph does not have.
    #[error("`{field}`[{position}] is {value}, but the graph has {nodes} nodes")]
    NodeOutOfRange {
        /// Which input.
        field: &'static str,
        /// Where in it.
        position: usize,
        /// The id.
        value: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A saved state that belongs to another curriculum, or is damaged.
    #[error("the saved state does not fit: {field} {reason}")]
    State {
        /// Which part of it.
        field: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
}
