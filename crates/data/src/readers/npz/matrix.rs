//! Matrices of features: dense arrays, and sparse matrices as SciPy's `save_npz` and the gnn-benchmark files keep them.

use std::io::{Read, Seek};
use std::path::Path;

use edgepace_graph::{Features, SparseFeatures};

use super::super::parts::{RowBuilder, compact};
use super::{DEFLATE_LIMIT, Npz};
use crate::DataError;
use crate::error::excerpt;
use crate::error::{Place, format_error, graph_error};

/// The pattern of a compressed sparse matrix: the entries of line `i` (a row, or a column) are at the positions
/// `offsets[i]..offsets[i + 1]` of `indices`. In range, but in any order and perhaps repeated.
pub(crate) struct Compressed {
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
}

impl Compressed {
    /// Reads `{prefix}indptr` and `{prefix}indices` of a matrix with that many lines, each index below `width`.
    pub(crate) fn read<R: Read + Seek>(
        npz: &mut Npz<R>,
        prefix: &str,
        lines: usize,
        width: usize,
    ) -> Result<Compressed, DataError> {
        let (pointers, indices) = (format!("{prefix}indptr"), format!("{prefix}indices"));
        let offsets = npz.counts(&pointers, &[lines.checked_add(1)])?.values;
        let indices = npz.ids_below(&indices, &[None], width, "columns")?.values;
        let running = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if !running || offsets.first() != Some(&0) || offsets.last() != Some(&indices.len()) {
            let expected = format!("running totals from 0 to {}, the number of indices", indices.len());
            return Err(npz.wrong(&pointers, expected, "other numbers"));
        }
        Ok(Compressed { offsets, indices })
    }

    /// The line of each entry.
    pub(crate) fn lines(&self) -> Vec<u32> {
        let mut lines = Vec::with_capacity(self.indices.len());
        for (line, pair) in (0..).zip(self.offsets.windows(2)) {
            lines.resize(pair[1], line);
        }
        lines
    }

    /// The matrix with these values, each changed by `map`: rows sorted, repeated entries added up (as SciPy reads them)
    /// before that, zeros left out.
    pub(crate) fn features(
        &self,
        file: &Path,
        cols: usize,
        values: &[f32],
        map: impl Fn(f32) -> f32,
    ) -> Result<SparseFeatures, DataError> {
        let mut builder = RowBuilder::default();
        let mut row: Vec<(u32, f32)> = Vec::new();
        for pair in self.offsets.windows(2) {
            let entries = pair[0]..pair[1];
            row.clear();
            row.extend(self.indices[entries.clone()].iter().copied().zip(values[entries].iter().copied()));
            if !row.is_sorted_by(|a, b| a.0 < b.0) {
                row.sort_by_key(|&(column, _)| column);
                row.dedup_by(|next, kept| {
                    let same = next.0 == kept.0;
                    kept.1 += if same { next.1 } else { 0.0 };
                    same
                });
            }
            builder.push(row.iter().map(|&(column, value)| (column, map(value))));
        }
        builder.finish(cols).map_err(graph_error(file))
    }

    /// The pattern and values of the triples `(rows[i], columns[i], values[i])`, of which the rows are below `count`.
    pub(crate) fn from_triples(
        count: usize,
        rows: &[u32],
        columns: &[u32],
        values: &[f32],
    ) -> (Compressed, Vec<f32>) {
        let mut offsets = vec![0; count + 1];
        for &row in rows {
            offsets[row as usize + 1] += 1;
        }
        for row in 0..count {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let (mut indices, mut sorted) = (vec![0; rows.len()], vec![0.0; rows.len()]);
        for ((&row, &column), &value) in rows.iter().zip(columns).zip(values) {
            let place = &mut next[row as usize];
            (indices[*place], sorted[*place]) = (column, value);
            *place += 1;
        }
        (Compressed { offsets, indices }, sorted)
    }
}

/// The features in a file: an npy file with a matrix, an npz file with one matrix, or a sparse matrix as
/// `scipy.sparse.save_npz` writes it (CSR, CSC or COO). Dense ones with few values are stored sparse.
pub(crate) fn features_of<R: Read + Seek>(npz: &mut Npz<R>) -> Result<Features, DataError> {
    if ["format", "shape", "data"].iter().all(|key| npz.has(key)) {
        return scipy(npz).map(Features::from);
    }
    let names = npz.names();
    let [key] = &names[..] else {
        let some: Vec<String> = names.iter().take(8).map(|name| excerpt(name.as_bytes())).collect();
        let found = format!("{} arrays ({})", names.len(), some.join(", "));
        return Err(format_error(npz.file(), Place::Whole, "one array, or a sparse matrix of SciPy", found)
            .with_help("save the features alone, as numpy.save or scipy.sparse.save_npz do"));
    };
    // Without columns there are no bytes that would account for the rows.
    let shape = npz.shape(key)?;
    check_rows(npz, key, shape.first().copied().unwrap_or(0))?;
    let matrix = npz.floats(key, &[None, None])?;
    compact(matrix.shape[0], matrix.shape[1], matrix.values).map_err(graph_error(npz.file()))
}

fn scipy<R: Read + Seek>(npz: &mut Npz<R>) -> Result<SparseFeatures, DataError> {
    let format = npz.strings("format", &[])?;
    let format = format.as_ref().map_or("", |format| format.get(0));
    let shape = npz.counts("shape", &[Some(2)])?.values;
    let (rows, cols) = (shape[0], shape[1]);
    check_rows(npz, "shape", rows)?;
    let values = npz.floats("data", &[None])?.values;
    let entries: super::Dims<'_> = &[Some(values.len())];
    let (pattern, values) = match format {
        "csr" => (Compressed::read(npz, "", rows, cols)?, values),
        "csc" => {
            let by_column = Compressed::read(npz, "", cols, rows)?;
            npz.shape("indices").and_then(|shape| same_length(npz, shape[0], values.len()))?;
            Compressed::from_triples(rows, &by_column.indices, &by_column.lines(), &values)
        }
        "coo" => {
            let row = npz.ids_below("row", entries, rows, "rows")?.values;
            let column = npz.ids_below("col", entries, cols, "columns")?.values;
            Compressed::from_triples(rows, &row, &column, &values)
        }
        other => {
            return Err(npz
                .wrong("format", "`csr`, `csc` or `coo`", excerpt(other.as_bytes()))
                .with_help("save it with scipy.sparse.save_npz(file, matrix.tocsr())"));
        }
    };
    same_length(npz, pattern.indices.len(), values.len())?;
    pattern.features(npz.file(), cols, &values, |value| value)
}

fn same_length<R: Read + Seek>(npz: &Npz<R>, indices: usize, values: usize) -> Result<(), DataError> {
    if indices == values {
        return Ok(());
    }
    Err(npz.wrong("data", format!("{indices} values, one per index"), values.to_string()))
}

/// Rows without entries cost nothing in a file, but memory: as much as a packed file of this size may need.
fn check_rows<R: Read + Seek>(npz: &Npz<R>, key: &str, rows: usize) -> Result<(), DataError> {
    let limit = npz.size.saturating_mul(DEFLATE_LIMIT) / size_of::<usize>() as u64;
    if rows as u64 <= limit {
        return Ok(());
    }
    Err(npz.wrong(key, format!("at most {limit} rows in a file of this size"), rows.to_string()))
}
