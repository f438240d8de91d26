//! Parts of a dataset that several layouts have in common.

use std::path::Path;

use edgepace_graph::{Classes, DenseFeatures, Features, GraphError, SparseFeatures, Split, UNLABELLED};

use crate::DataError;
use crate::error::{Place, format_error};

/// Dense features with a smaller share of values that are not 0 are stored sparse: below it a sparse row is smaller (8
/// bytes per value against 4 per column), and products with it are faster.
pub(crate) const SPARSE_BELOW: f64 = 0.25;

/// One class per node; their number is one more than the largest.
///
/// More classes than nodes is a damaged file, and would make a model of any size.
pub(crate) fn classes(file: &Path, part: &str, of: Vec<u32>) -> Result<Classes, DataError> {
    if let Some(node) = of.iter().position(|&class| class != UNLABELLED && class as usize >= of.len()) {
        let place = Place::Entry(part.to_owned(), node as u64);
        let expected = format!("a class below the number of nodes, {}", of.len());
        return Err(format_error(file, place, expected, of[node].to_string()));
    }
    let classes = of.iter().filter(|&&class| class != UNLABELLED).max().map_or(0, |&last| last as usize + 1);
    Classes::new(classes, of).map_err(crate::error::graph_error(file))
}

/// The split whose sets hold the nodes at which a mask is true.
pub(crate) fn masked_split(name: String, nodes: usize, masks: [&[bool]; 3]) -> Result<Split, GraphError> {
    let [train, validation, test] = masks.map(|mask| {
        (0..).zip(mask).filter(|(_, inside)| **inside).map(|(node, _)| node).collect::<Vec<u32>>()
    });
    Split::new(name, nodes, train, validation, test)
}

/// A dense matrix as it is best stored: sparse below [`SPARSE_BELOW`].
pub(crate) fn compact(rows: usize, cols: usize, values: Vec<f32>) -> Result<Features, GraphError> {
    let dense = DenseFeatures::new(rows, cols, values)?;
    let features = Features::Dense(dense);
    if features.density() >= SPARSE_BELOW || cols == 0 {
        return Ok(features);
    }
    let Features::Dense(dense) = features else { return Ok(features) };
    let mut builder = RowBuilder::default();
    for row in dense.values().chunks_exact(cols) {
        builder.push((0..).zip(row.iter().copied()));
    }
    builder.finish(cols).map(Features::from)
}

/// Sparse rows, one after the other.
pub(crate) struct RowBuilder {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Default for RowBuilder {
    fn default() -> RowBuilder {
        RowBuilder { offsets: vec![0], columns: Vec::new(), values: Vec::new() }
    }
}

impl RowBuilder {
    /// Adds a row from its columns, ascending, and values; zeros are left out.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = (u32, f32)>) {
        for (column, value) in row {
            if value != 0.0 {
                self.columns.push(column);
                self.values.push(value);
            }
        }
        self.offsets.push(self.columns.len());
    }

    /// The matrix of all rows.
    pub(crate) fn finish(self, cols: usize) -> Result<SparseFeatures, GraphError> {
        SparseFeatures::new(self.offsets.len() - 1, cols, self.offsets, self.columns, self.values)
    }
}
