//! Features in a file of their own, and features for nodes that have none.

use std::io::{Read, Seek};
use std::path::Path;

use edgepace_graph::{DenseFeatures, Features, Graph, SparseFeatures};

use crate::DataError;
use crate::error::{Place, format_error, graph_error};
use crate::readers::npz::{self, Npz};

/// Rows that a matrix without columns may have per byte of its file: nothing else accounts for them.
const EMPTY_ROWS_PER_BYTE: u64 = 1;

/// The features in an npy or npz file: one matrix, or a sparse matrix as `scipy.sparse.save_npz` writes it. They are taken
/// as they are: dense stays dense, and stored zeros of a CSR matrix stay stored.
pub(crate) fn features_from_file(file: &Path) -> Result<Features, DataError> {
    let size = std::fs::metadata(file).map_err(crate::error::io_error("read", file))?.len();
    features_of(&mut Npz::open(file)?, size)
}

fn features_of<R: Read + Seek>(npz: &mut Npz<R>, size: u64) -> Result<Features, DataError> {
    if ["format", "shape", "data"].iter().all(|key| npz.has(key)) {
        let format = npz.strings("format", &[])?;
        let by_rows = format.is_some_and(|format| format.get(0) == "csr");
        return if by_rows { sparse(npz, "", size) } else { npz::features_of(npz) };
    }
    let names = npz.names();
    let [key] = &names[..] else {
        let found = format!("{} arrays", names.len());
        return Err(format_error(npz.file(), Place::Whole, "one array, or a sparse matrix of SciPy", found)
            .with_help("save the features alone, as numpy.save or scipy.sparse.save_npz do"));
    };
    dense(npz, key, size)
}

/// The dense matrix of that name.
pub(crate) fn dense<R: Read + Seek>(npz: &mut Npz<R>, key: &str, size: u64) -> Result<Features, DataError> {
    let shape = npz.shape(key)?;
    if let [rows, 0] = shape[..] {
        check_rows(npz, key, rows, size.saturating_mul(EMPTY_ROWS_PER_BYTE))?;
    }
    let matrix = npz.floats(key, &[None, None])?;
    let file = npz.file();
    DenseFeatures::new(matrix.shape[0], matrix.shape[1], matrix.values)
        .map(Features::from)
        .map_err(graph_error(file))
}

/// The sparse matrix `{prefix}shape`, `{prefix}indptr`, `{prefix}indices`, `{prefix}data`, by rows.
pub(crate) fn sparse<R: Read + Seek>(
    npz: &mut Npz<R>,
    prefix: &str,
    size: u64,
) -> Result<Features, DataError> {
    let key = |name: &str| format!("{prefix}{name}");
    let shape = npz.counts(&key("shape"), &[Some(2)])?.values;
    check_rows(npz, &key("shape"), shape[0], size.saturating_mul(1032))?;
    let offsets = npz.counts(&key("indptr"), &[shape[0].checked_add(1)])?.values;
    let columns = npz.ids(&key("indices"), &[None])?.values;
    let values = npz.floats(&key("data"), &[None])?.values;
    let file = npz.file();
    SparseFeatures::new(shape[0], shape[1], offsets, columns, values)
        .map(Features::from)
        .map_err(graph_error(file))
}

fn check_rows<R: Read + Seek>(npz: &Npz<R>, key: &str, rows: usize, limit: u64) -> Result<(), DataError> {
    if rows as u64 <= limit {
        return Ok(());
    }
    Err(npz.wrong(key, "as many rows as the size of the file can account for", rows.to_string()))
}

/// The features of nodes that have none: no columns. What a run learns from instead is its own choice.
pub(crate) fn no_features(graph: &Graph) -> Result<Features, DataError> {
    Ok(DenseFeatures::new(graph.nodes(), 0, Vec::new())?.into())
}
