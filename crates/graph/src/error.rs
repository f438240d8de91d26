use thiserror::Error;

use crate::scatter::MANY;
use crate::{Refusal, Threads};

/// What was wrong with an input, where, and what to do about it.
///
/// Positions count from 0 and refer to the slice that the caller passed, before any sorting.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A slice has the wrong number of entries.
    #[error("`{field}` has {found} entries, expected {expected}: pass {rule}")]
    Length {
        /// The slice.
        field: &'static str,
        /// Its number of entries.
        found: usize,
        /// The number that it should have.
        expected: usize,
        /// Where the expected number comes from, as in "one target per source".
        rule: &'static str,
    },

    /// A count is beyond what a `u32` id can name.
    #[error(
        "{found} {field} are too many, the limit is {limit}: ids are 32 bits wide, use a smaller part of the graph"
    )]
    TooMany {
        /// What there are too many of.
        field: &'static str,
        /// How many there are.
        found: usize,
        /// The largest count that works.
        limit: usize,
    },

    /// A node id is not below the number of nodes.
    #[error(
        "`{field}`[{position}] is node {value}, but there are {nodes} nodes: \
         ids count from 0 and must be below the number of nodes"
    )]
    NodeOutOfRange {
        /// The slice that holds the id.
        field: &'static str,
        /// Position in that slice.
        position: usize,
        /// The id.
        value: u32,
        /// The number of nodes.
        nodes: usize,
    },

    /// The first offset of a compressed matrix is not 0.
    #[error("`offsets`[0] is {value}, expected 0: the first row starts at the first entry")]
    OffsetsStart {
        /// The first offset.
        value: usize,
    },

    /// The offsets of a compressed matrix go down.
    #[error(
        "`offsets`[{position}] is {value}, below {previous} before it: \
         offsets are running totals and must never decrease"
    )]
    OffsetsDecrease {
        /// Position in `offsets`.
        position: usize,
        /// The offset there.
        value: usize,
        /// The offset before it.
        previous: usize,
    },

    /// The last offset is not the number of entries.
    #[error("`offsets` end at {value}, but there are {entries} entries: the last offset is their number")]
    OffsetsEnd {
        /// The last offset.
        value: usize,
        /// The number of entries.
        entries: usize,
    },

    /// A graph that was taken on trust has an edge from a node to itself.
    #[error(
        "`sources`[{position}] is node {value}, to which the edge leads: graphs have no edges of that kind"
    )]
    SelfLoop {
        /// The edge id.
        position: usize,
        /// The node.
        value: u32,
    },

    /// The sources of a node's edges are not strictly ascending in a graph that was taken on trust.
    #[error(
        "`sources`[{position}] (an edge to node {target}) is {value}, not above {previous} before it: \
         the sources of a node's edges ascend, and none is there twice"
    )]
    SourcesNotAscending {
        /// The edge id.
        position: usize,
        /// The node that the edge leads to.
        target: usize,
        /// The source.
        value: u32,
        /// The source before it.
        previous: u32,
    },

    /// An edge's twin is not its reverse in a graph that was taken on trust.
    #[error("`twins`[{position}] is edge {value}, which is not the reverse of edge {position}")]
    WrongTwin {
        /// The edge id.
        position: usize,
        /// What is said to be its reverse.
        value: u32,
    },

    /// A graph that was taken on trust says that it is directed, and has the reverse of every edge.
    #[error("there are no `twins`, but every edge has its reverse: the graph is undirected and must say so")]
    TwinsMissing,

    /// A value of an edge column is NaN or infinite.
    #[error("edge column `{column}`[{position}] is {value}: replace it by a finite number")]
    EdgeValueNotFinite {
        /// The column.
        column: String,
        /// Position in that column.
        position: usize,
        /// The value.
        value: f32,
    },

    /// Two edge columns have the same name.
    #[error("two edge columns are named `{value}`: give each its own name")]
    RepeatedColumn {
        /// Their name.
        value: String,
    },

    /// A name that was taken on trust is not text.
    #[error("entry {position} of the {field} {what}")]
    BadName {
        /// Whose names: `node names`, `class names`.
        field: &'static str,
        /// Which of them.
        position: usize,
        /// What is wrong with it.
        what: &'static str,
    },

    /// A column of a sparse matrix is not below the number of columns.
    #[error(
        "`columns`[{position}] (row {row}) is {value}, but there are {cols} columns: \
         columns count from 0 and must be below that number"
    )]
    ColumnOutOfRange {
        /// Position in `columns`.
        position: usize,
        /// The row it belongs to.
        row: usize,
        /// The column.
        value: u32,
        /// The number of columns.
        cols: usize,
    },

    /// The columns of one sparse row are not strictly ascending.
    #[error(
        "`columns`[{position}] (row {row}) is {value}, not above {previous} before it: \
         sort the columns of each row and join repeated ones"
    )]
    ColumnsNotAscending {
        /// Position in `columns`.
        position: usize,
        /// The row it belongs to.
        row: usize,
        /// The column.
        value: u32,
        /// The column before it in the same row.
        previous: u32,
    },

    /// A feature is NaN or infinite.
    #[error(
        "feature `values`[{position}] (row {row}, column {column}) is {value}: \
         replace missing or infinite features by finite numbers"
    )]
    FeatureNotFinite {
        /// Position in `values`.
        position: usize,
        /// The node it belongs to.
        row: usize,
        /// The feature's column.
        column: usize,
        /// The value.
        value: f32,
    },

    /// An edge weight is NaN, negative or above [`MAX_EDGE_WEIGHT`](crate::MAX_EDGE_WEIGHT).
    #[error(
        "`weights`[{position}] is {value}, expected an edge weight from 0 (removes the edge) to 1e9: \
         sums of larger ones overflow, so divide all weights by a constant"
    )]
    BadWeight {
        /// The edge id.
        position: usize,
        /// The weight.
        value: f64,
    },

    /// The weight of an edge of a dataset is NaN, negative or above [`MAX_EDGE_WEIGHT`](crate::MAX_EDGE_WEIGHT).
    #[error(
        "the weight of the edge from `{source_node}` to `{target_node}` is {value}, expected a number from 0 (no edge) to 1e9: \
         correct or remove it; weights that are all too large can be divided by a constant"
    )]
    EdgeWeight {
        /// The source of the edge, by name where it has one.
        source_node: String,
        /// The target of the edge, by name where it has one.
        target_node: String,
        /// The weight.
        value: f32,
    },

    /// A file of our own has an edge of weight 0, which is none.
    #[error(
        "edge column `weight`[{position}] is 0, and an edge of weight 0 is not there: import the graph again"
    )]
    Weightless {
        /// The edge id.
        position: usize,
    },

    /// A class is not below the number of classes.
    #[error(
        "class of node {position} is {value}, but there are {classes} classes: \
         classes count from 0; mark a node without a class as `UNLABELLED`"
    )]
    ClassOutOfRange {
        /// The node.
        position: usize,
        /// The class.
        value: u32,
        /// The number of classes.
        classes: usize,
    },

    /// One of many binary labels is neither 0 nor 1.
    #[error("label `values`[{position}] (node {node}, label {label}) is {value}: binary labels are 0 or 1")]
    LabelNotBinary {
        /// Position in `values`.
        position: usize,
        /// The node it belongs to.
        node: usize,
        /// Which of the node's labels.
        label: usize,
        /// The value.
        value: u8,
    },

    /// A split has no training nodes.
    #[error("split `{split}` has no training nodes: put at least one labelled node in `train`")]
    EmptyTrainingSet {
        /// The split's name.
        split: String,
    },

    /// A node appears twice in one set of a split.
    #[error(
        "split `{split}`: `{field}`[{position}] repeats node {value}: list each node once, repeats would count double"
    )]
    RepeatedNode {
        /// The split's name.
        split: String,
        /// The set: `train`, `validation` or `test`.
        field: &'static str,
        /// Position of the repeat in that set.
        position: usize,
        /// The node.
        value: u32,
    },

    /// The nodes of a set are not ascending in a split that was taken on trust.
    #[error(
        "split `{split}`: `{field}`[{position}] is node {value}, below {previous} before it: sort the nodes"
    )]
    SplitNotAscending {
        /// The split's name.
        split: String,
        /// The set: `train`, `validation` or `test`.
        field: &'static str,
        /// Position in that set.
        position: usize,
        /// The node.
        value: u32,
        /// The node before it.
        previous: u32,
    },

    /// The hash of a split that was taken on trust is not that of its sets.
    #[error("split `{split}` says that its hash is {found}, but that of its sets is {expected}")]
    SplitHash {
        /// The split's name.
        split: String,
        /// What it says.
        found: String,
        /// What it is.
        expected: String,
    },

    /// A node is in two sets of a split.
    #[error(
        "split `{split}`: `{field}`[{position}] is node {value}, which is also in `{other}`: \
         keep it in one of the two, or scores are measured on what was learned from"
    )]
    OverlappingSets {
        /// The split's name.
        split: String,
        /// The set in which the second occurrence was found.
        field: &'static str,
        /// Position in that set.
        position: usize,
        /// The node.
        value: u32,
        /// The set that already holds the node.
        other: &'static str,
    },

    /// A part of a dataset is for another number of nodes than its graph.
    #[error(
        "{field} cover {found} nodes, but the graph has {expected}: \
         check that both were read from the same dataset"
    )]
    NodeCount {
        /// The part: `features`, `labels`.
        field: &'static str,
        /// The number of nodes it covers.
        found: usize,
        /// The number of nodes of the graph.
        expected: usize,
    },

    /// A split of a dataset was made for another number of nodes than its graph has.
    #[error(
        "split `{split}` was made for {found} nodes, but the graph has {expected}: make the split for this dataset"
    )]
    SplitNodeCount {
        /// The split's name.
        split: String,
        /// The number of nodes it was made for.
        found: usize,
        /// The number of nodes of the graph.
        expected: usize,
    },

    /// A split of a dataset holds a node without a class.
    #[error("split `{split}`: node {value} of `{field}` has no class: take it out of the split or label it")]
    UnlabelledNode {
        /// The split's name.
        split: String,
        /// The set: `train`, `validation` or `test`.
        field: &'static str,
        /// The node.
        value: u32,
    },

    /// Two splits of a dataset have the same name.
    #[error("splits {first} and {position} are both named `{value}`: give each split its own name")]
    RepeatedSplitName {
        /// Position of the first of the two.
        first: usize,
        /// Position of the second.
        position: usize,
        /// Their name.
        value: String,
    },

    /// A setting is out of its range.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// The largest number of nodes: ids stay below `u32::MAX`, which marks "none".
const NODE_LIMIT: usize = u32::MAX as usize - 1;
/// The largest number of edges: ids stay below `u32::MAX`, which marks "none".
const EDGE_LIMIT: usize = u32::MAX as usize;

pub(crate) fn check_length(
    field: &'static str,
    found: usize,
    expected: usize,
    rule: &'static str,
) -> Result<(), GraphError> {
    if found == expected { Ok(()) } else { Err(GraphError::Length { field, found, expected, rule }) }
}

pub(crate) fn check_node_count(field: &'static str, found: usize) -> Result<(), GraphError> {
    check_limit(field, found, NODE_LIMIT)
}

pub(crate) fn check_edge_count(found: usize) -> Result<(), GraphError> {
    check_limit("edges", found, EDGE_LIMIT)
}

fn check_limit(field: &'static str, found: usize, limit: usize) -> Result<(), GraphError> {
    if found <= limit { Ok(()) } else { Err(GraphError::TooMany { field, found, limit }) }
}

pub(crate) fn check_ids(
    threads: &Threads,
    field: &'static str,
    ids: &[u32],
    nodes: usize,
) -> Result<(), GraphError> {
    let first_bad = |ids: &[u32]| ids.iter().position(|&id| id as usize >= nodes);
    if ids.len() >= MANY && threads.all_pieces(ids.len(), |piece| first_bad(&ids[piece]).is_none()) {
        return Ok(());
    }
    match first_bad(ids) {
        None => Ok(()),
        Some(position) => Err(GraphError::NodeOutOfRange { field, position, value: ids[position], nodes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_edges_as_ids_below_the_marker_are_allowed_and_not_one_more() {
        let limit = u32::MAX as usize;
        assert_eq!(check_edge_count(limit), Ok(()));
        let error = check_edge_count(limit + 1).unwrap_err();
        assert_eq!(error, GraphError::TooMany { field: "edges", found: limit + 1, limit });
        assert_eq!(
            error.to_string(),
            "4294967296 edges are too many, the limit is 4294967295: \
             ids are 32 bits wide, use a smaller part of the graph"
        );
    }
}
