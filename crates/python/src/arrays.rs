//! NumPy arrays as slices, and back.

use std::sync::Arc;

use edgepace_graph::{Buffer, DenseFeatures, Features, Keeper, SparseFeatures, Threads};
use numpy::{
    Element, IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::fault::{Fault, Outcome};

/// The numbers of an array that lies in one piece.
pub(crate) fn slice<'a, T: Element>(name: &str, array: &'a PyReadonlyArray1<'_, T>) -> Outcome<&'a [T]> {
    array.as_slice().map_err(|_| Fault::new("GraphError", format!("`{name}` does not lie in one piece")))
}

/// The same of a matrix, row after row.
pub(crate) fn rows<'a, T: Element>(name: &str, array: &'a PyReadonlyArray2<'_, T>) -> Outcome<&'a [T]> {
    array.as_slice().map_err(|_| Fault::new("GraphError", format!("`{name}` does not lie in one piece")))
}

/// Ids as they are kept here; `name` is what an error calls them.
pub(crate) fn ids(threads: &Threads, name: &str, values: &[i64], below: usize) -> Outcome<Vec<u32>> {
    const PIECE: usize = 1 << 16;
    let limit = below as u64;
    if let Some(position) = (!threads.all_pieces(values.len(), |piece| {
        // Without an early way out the loop is vectorised; a negative number is a large one.
        piece.is_empty() || values[piece].iter().fold(0, |most, &value| (value as u64).max(most)) < limit
    }))
    .then(|| values.iter().position(|&value| value as u64 >= limit))
    .flatten()
    {
        let value = values[position];
        let message = format!(
            "`{name}`[{position}] is {value}, but there are {below} nodes: ids count from 0 and must be below the number of nodes"
        );
        return Err(Fault::new("GraphError", message));
    }
    let mut out = vec![0; values.len()];
    threads.rows(&mut out, 1, PIECE, |first, piece| {
        for (out, &value) in piece.iter_mut().zip(&values[first..]) {
            *out = value as u32;
        }
    });
    Ok(out)
}

/// A count or a place: there is no memory for one that is too large.
pub(crate) fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A matrix for Python, which owns it from now on.
pub(crate) fn matrix<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    columns: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let count = values.len().checked_div(columns).unwrap_or(0);
    values.into_pyarray(py).reshape([count, columns])
}

/// Numbers that an array of Python's keeps: they are used where they lie.
struct Shared {
    start: *const f32,
    length: usize,
    /// Keeps the numbers alive.
    _array: Py<PyAny>,
}

// SAFETY: the numbers are only read, and the array that owns them lives as long as this does and cannot be resized while it is
// referred to. Whoever writes to them in the meantime changes what is computed (which a run finds out at its end, by their
// checksum); any bits are a number.
#[allow(unsafe_code, reason = "see above")]
unsafe impl Send for Shared {}
#[allow(unsafe_code, reason = "see above")]
unsafe impl Sync for Shared {}

impl AsRef<[f32]> for Shared {
    fn as_ref(&self) -> &[f32] {
        // SAFETY: see above.
        #[allow(unsafe_code, reason = "see above")]
        unsafe {
            std::slice::from_raw_parts(self.start, self.length)
        }
    }
}

impl Keeper<f32> for Shared {}

/// Features that stay where Python has them.
pub(crate) fn dense(threads: &Threads, array: &PyReadonlyArray2<'_, f32>) -> Outcome<Features> {
    let values = rows("x", array)?;
    let shape = array.shape();
    let (count, columns) = (shape[0], shape[1]);
    let finite = threads.all_pieces(values.len(), |piece| {
        values[piece].iter().fold(true, |finite, value| finite & value.is_finite())
    });
    if !finite || values.is_empty() {
        // Names the number that is not finite.
        return Ok(DenseFeatures::new(count, columns, values.to_vec())?.into());
    }
    let owner: Py<PyAny> = array.as_any().clone().unbind();
    let shared = Shared { start: values.as_ptr(), length: values.len(), _array: owner };
    Ok(DenseFeatures::trusted(count, columns, Buffer::shared(Arc::new(shared)))?.into())
}

/// Features in compressed rows.
pub(crate) fn sparse(
    threads: &Threads,
    offsets: &[i64],
    columns: &[i64],
    values: &[f32],
    width: usize,
) -> Outcome<Features> {
    let wrong = |what: &str| Fault::new("GraphError", format!("`x` is no matrix of compressed rows: {what}"));
    let starts: Option<Vec<usize>> = offsets.iter().map(|&offset| usize::try_from(offset).ok()).collect();
    let starts = starts.ok_or_else(|| wrong("an offset is negative"))?;
    if starts.is_empty() {
        return Err(wrong("there are no offsets"));
    }
    if columns.iter().any(|&column| column < 0 || column as u64 >= width as u64) {
        return Err(wrong("a column is out of range"));
    }
    let columns = ids(threads, "x.indices", columns, width)?;
    Ok(SparseFeatures::new(starts.len() - 1, width, starts, columns, values.to_vec())?.into())
}

/// The threads that were asked for, or as many as the machine has cores.
pub(crate) fn budget(asked: Option<usize>) -> Outcome<Threads> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Threads::new(asked.unwrap_or_else(cores))?)
}
