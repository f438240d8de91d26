//! What can go wrong, in terms that a caller can act on.

use thiserror::Error;

/// Why a curriculum could not be made, fed or restored.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CurriculumError {
    /// A setting is out of its range, or two settings contradict each other.
    #[error("{field} is {found}, but must be {expected}")]
    Config {
        /// The name of the setting.
        field: &'static str,
        /// What was given.
        found: String,
        /// What is legal.
        expected: &'static str,
    },
    /// Two things that belong together differ in size.
    #[error("{field}: the size is {found}, but must be {expected} ({reason})")]
    Size {
        /// Which input.
        field: &'static str,
        /// Its size.
        found: usize,
        /// The size that fits.
        expected: usize,
        /// What it has to fit to.
        reason: &'static str,
    },
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
    #[error("{field}: node {node} has {value} in column {column}, but must have {expected}")]
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
    #[error("{field}[{position}] is {value}, but the graph has {nodes} nodes")]
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
