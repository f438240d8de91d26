use crate::error::check_length;
use crate::{Buffer, GraphError};

/// Marks a node whose class is not known (see [`Classes`]).
pub const UNLABELLED: u32 = u32::MAX;

/// What is to be learned about each node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// One class per node.
    Classes(Classes),
    /// Many yes-or-no labels per node.
    Many(ManyLabels),
}

/// One class per node, or [`UNLABELLED`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    classes: usize,
    of: Buffer<u32>,
}

/// Many binary labels per node, row-major, each 0 or 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManyLabels {
    nodes: usize,
    labels: usize,
    values: Buffer<u8>,
}

impl Labels {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        match self {
            Labels::Classes(classes) => classes.nodes(),
            Labels::Many(many) => many.nodes(),
        }
    }

    /// Number of outputs of a classifier: classes, or binary labels per node.
    pub fn width(&self) -> usize {
        match self {
            Labels::Classes(classes) => classes.width(),
            Labels::Many(many) => many.width(),
        }
    }

    /// Whether a node's labels are known: not those of an [`UNLABELLED`] node or of one beyond the last.
    pub fn is_labelled(&self, node: usize) -> bool {
        match self {
            Labels::Classes(classes) => classes.of.get(node).is_some_and(|&class| class != UNLABELLED),
            Labels::Many(many) => node < many.nodes,
        }
    }
}

impl From<Classes> for Labels {
    fn from(classes: Classes) -> Labels {
        Labels::Classes(classes)
    }
}

impl From<ManyLabels> for Labels {
    fn from(many: ManyLabels) -> Labels {
        Labels::Many(many)
    }
}

impl Classes {
    /// The class of each node, each below `classes` or [`UNLABELLED`].
    ///
    /// # Errors
    /// The first node whose class is out of range.
    pub fn new(classes: usize, of: Vec<u32>) -> Result<Classes, GraphError> {
        match of.iter().position(|&class| class != UNLABELLED && class as usize >= classes) {
            None => Ok(Classes { classes, of: of.into() }),
            Some(position) => Err(GraphError::ClassOutOfRange { position, value: of[position], classes }),
        }
    }

    /// Classes taken from correct ones, as a file of our own keeps them: O(1), nothing is read. The caller vouches that
    /// each is below `classes` or [`UNLABELLED`].
    pub fn trusted(classes: usize, of: impl Into<Buffer<u32>>) -> Classes {
        Classes { classes, of: of.into() }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.of.len()
    }

    /// Number of classes.
    pub fn width(&self) -> usize {
        self.classes
    }

    /// The class of each node, or [`UNLABELLED`].
    pub fn of(&self) -> &[u32] {
        &self.of
    }
}

impl ManyLabels {
    /// The labels of each node, node after node, each 0 or 1.
    ///
    /// # Errors
    /// A wrong number of values, or the first value that is neither 0 nor 1.
    pub fn new(nodes: usize, labels: usize, values: Vec<u8>) -> Result<ManyLabels, GraphError> {
        let expected = nodes.saturating_mul(labels);
        check_length("values", values.len(), expected, "nodes × labels values, node after node")?;
        match values.iter().position(|&value| value > 1) {
            None => Ok(ManyLabels { nodes, labels, values: values.into() }),
            Some(position) => Err(GraphError::LabelNotBinary {
                position,
                node: position / labels,
                label: position % labels,
                value: values[position],
            }),
        }
    }

    /// Labels taken from correct ones, as a file of our own keeps them: O(1), nothing is read. The caller vouches that
    /// each is 0 or 1.
    ///
    /// # Errors
    /// A wrong number of values.
    pub fn trusted(
        nodes: usize,
        labels: usize,
        values: impl Into<Buffer<u8>>,
    ) -> Result<ManyLabels, GraphError> {
        let values = values.into();
        let expected = nodes.saturating_mul(labels);
        check_length("values", values.len(), expected, "nodes × labels values, node after node")?;
        Ok(ManyLabels { nodes, labels, values })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of labels per node.
    pub fn width(&self) -> usize {
        self.labels
    }

    /// All labels, node after node.
    pub fn values(&self) -> &[u8] {
        &self.values
    }
}
