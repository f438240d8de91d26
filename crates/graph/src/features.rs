use std::sync::Arc;

use crate::error::{check_length, check_node_count};
use crate::{Buffer, GraphError};

/// A matrix of which at most this share is not 0 is computed with faster as a sparse one (at a third, in less than half the time).
const SPARSE_SHARE: f64 = 0.5;

/// What is known of each node: one row of numbers per node.
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// Every value is stored.
    Dense(DenseFeatures),
    /// Only listed values are stored, the others are 0.
    Sparse(SparseFeatures),
}

/// A row-major matrix of finite numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseFeatures {
    rows: usize,
    cols: usize,
    values: Buffer<f32>,
}

/// A compressed sparse row (CSR) matrix of finite numbers, columns strictly ascending within each row.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseFeatures {
    rows: usize,
    cols: usize,
    offsets: Buffer<usize>,
    columns: Buffer<u32>,
    values: Buffer<f32>,
}

impl Features {
    /// Number of rows, one per node.
    pub fn rows(&self) -> usize {
        match self {
            Features::Dense(dense) => dense.rows,
            Features::Sparse(sparse) => sparse.rows,
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Features::Dense(dense) => dense.cols,
            Features::Sparse(sparse) => sparse.cols,
        }
    }

    /// The values will not be read for some time: those of a mapped file leave memory until they are.
    pub fn release_memory(&self) {
        match self {
            Features::Dense(dense) => dense.values.release_memory(),
            Features::Sparse(sparse) => {
                sparse.columns.release_memory();
                sparse.values.release_memory();
            }
        }
    }

    /// Whether few enough numbers are not 0 to be stored sparse: at most half of the matrix, if it has any columns.
    pub fn is_sparse(non_zero: usize, rows: usize, cols: usize) -> bool {
        cols > 0 && non_zero as f64 <= SPARSE_SHARE * (rows as f64 * cols as f64)
    }

    /// The same numbers, stored as their values say: without stored zeros where at most half is not 0, and dense otherwise. Equal
    /// numbers come out equal, however they came in; what is stored so already is shared.
    #[must_use]
    pub fn compact(features: &Arc<Features>) -> Arc<Features> {
        let (rows, cols) = (features.rows(), features.cols());
        let non_zero = features.non_zero();
        let sparse = Features::is_sparse(non_zero, rows, cols);
        match &**features {
            Features::Dense(dense) if sparse => Arc::new(dense.to_sparse(non_zero).into()),
            Features::Sparse(own) if !sparse => Arc::new(own.to_dense().into()),
            Features::Sparse(own) if own.values.len() > non_zero => {
                Arc::new(own.without_zeros(non_zero).into())
            }
            _ => Arc::clone(features),
        }
    }

    /// How many numbers are not 0. A 0 that a sparse matrix stores explicitly does not count. O(stored values).
    pub fn non_zero(&self) -> usize {
        let values = match self {
            Features::Dense(dense) => dense.values(),
            Features::Sparse(sparse) => sparse.values(),
        };
        values.iter().filter(|&&value| value != 0.0).count()
    }

    /// Share of the matrix that is not 0, between 0 and 1; 0 for a matrix without entries.
    ///
    /// A 0 that a sparse matrix stores explicitly does not count. O(stored values).
    pub fn density(&self) -> f64 {
        let non_zero = self.non_zero();
        if non_zero == 0 { 0.0 } else { non_zero as f64 / (self.rows() as f64 * self.cols() as f64) }
    }
}

impl From<DenseFeatures> for Features {
    fn from(dense: DenseFeatures) -> Features {
        Features::Dense(dense)
    }
}

impl From<SparseFeatures> for Features {
    fn from(sparse: SparseFeatures) -> Features {
        Features::Sparse(sparse)
    }
}

impl DenseFeatures {
    /// A matrix of `rows` × `cols` values, row after row.
    ///
    /// # Errors
    /// A wrong number of values, a value that is NaN or infinite, or more rows or columns than `u32` ids.
    pub fn new(rows: usize, cols: usize, values: Vec<f32>) -> Result<DenseFeatures, GraphError> {
        check_shape(rows, cols)?;
        check_length(
            "values",
            values.len(),
            rows.saturating_mul(cols),
            "rows × columns values, row after row",
        )?;
        if let Some(position) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = (position / cols, position % cols);
            return Err(GraphError::FeatureNotFinite { position, row, column, value: values[position] });
        }
        Ok(DenseFeatures { rows, cols, values: values.into() })
    }

    /// A matrix whose values were taken from a correct one, as a file of our own keeps them: O(1), nothing is read. The
    /// caller vouches that they are finite.
    ///
    /// # Errors
    /// A wrong number of values.
    pub fn trusted(
        rows: usize,
        cols: usize,
        values: impl Into<Buffer<f32>>,
    ) -> Result<DenseFeatures, GraphError> {
        let values = values.into();
        let expected = rows.saturating_mul(cols);
        check_length("values", values.len(), expected, "rows × columns values, row after row")?;
        Ok(DenseFeatures { rows, cols, values })
    }

    /// Number of rows, one per node.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The numbers that are not 0, of which there are so many.
    fn to_sparse(&self, non_zero: usize) -> SparseFeatures {
        let mut offsets = Vec::with_capacity(self.rows + 1);
        let (mut columns, mut values) = (Vec::with_capacity(non_zero), Vec::with_capacity(non_zero));
        offsets.push(0);
        for row in self.values.chunks_exact(self.cols) {
            for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                columns.push(column as u32);
                values.push(value);
            }
            offsets.push(values.len());
        }
        let (rows, cols) = (self.rows, self.cols);
        SparseFeatures { rows, cols, offsets: offsets.into(), columns: columns.into(), values: values.into() }
    }

    /// The values alone, to be changed and checked again by [`DenseFeatures::new`].
    pub fn into_values(self) -> Vec<f32> {
        self.values.into_vec()
    }
}

impl SparseFeatures {
    /// A matrix of `rows` × `cols` whose row `r` has `values[p]` in column `columns[p]` for the positions
    /// `offsets[r]..offsets[r + 1]`, and 0 elsewhere.
    ///
    /// # Errors
    /// Wrong lengths, offsets that do not start at 0 or that decrease, a column out of range or not above the
    /// one before it, a value that is NaN or infinite, or more rows or columns than `u32` ids.
    pub fn new(
        rows: usize,
        cols: usize,
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f32>,
    ) -> Result<SparseFeatures, GraphError> {
        check_shape(rows, cols)?;
        check_offsets(rows, &offsets)?;
        let stored = offsets[rows];
        check_length("columns", columns.len(), stored, "one column per stored value (the last offset)")?;
        check_length("values", values.len(), stored, "one value per column (the last offset)")?;
        for row in 0..rows {
            check_columns(row, cols, offsets[row], &columns[offsets[row]..offsets[row + 1]])?;
        }
        if let Some(position) = values.iter().position(|value| !value.is_finite()) {
            let row = offsets.partition_point(|&start| start <= position) - 1;
            let column = columns[position] as usize;
            return Err(GraphError::FeatureNotFinite { position, row, column, value: values[position] });
        }
        Ok(SparseFeatures {
            rows,
            cols,
            offsets: offsets.into(),
            columns: columns.into(),
            values: values.into(),
        })
    }

    /// A matrix whose parts were taken from a correct one, as a file of our own keeps them: O(1), nothing is read. The
    /// caller vouches for the rest.
    ///
    /// # Errors
    /// Wrong lengths.
    pub fn trusted(
        rows: usize,
        cols: usize,
        offsets: impl Into<Buffer<usize>>,
        columns: impl Into<Buffer<u32>>,
        values: impl Into<Buffer<f32>>,
    ) -> Result<SparseFeatures, GraphError> {
        let (offsets, columns, values) = (offsets.into(), columns.into(), values.into());
        check_length("offsets", offsets.len(), rows + 1, "one offset per row and a last one for the end")?;
        check_length("values", values.len(), columns.len(), "one value per column")?;
        Ok(SparseFeatures { rows, cols, offsets, columns, values })
    }

    /// Number of rows, one per node.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Where each row starts: `rows + 1` running totals.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The column of each stored value.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The stored values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Every number, also those that are 0; for matrices of which a good share is stored.
    fn to_dense(&self) -> DenseFeatures {
        let (rows, cols) = (self.rows, self.cols);
        let mut values = vec![0.0; rows * cols];
        for row in 0..rows {
            for position in self.offsets[row]..self.offsets[row + 1] {
                values[row * cols + self.columns[position] as usize] = self.values[position];
            }
        }
        DenseFeatures { rows, cols, values: values.into() }
    }

    /// The same without the zeros that are stored; `non_zero` numbers are left.
    fn without_zeros(&self, non_zero: usize) -> SparseFeatures {
        let mut offsets = Vec::with_capacity(self.rows + 1);
        let (mut columns, mut values) = (Vec::with_capacity(non_zero), Vec::with_capacity(non_zero));
        offsets.push(0);
        for row in self.offsets.windows(2) {
            for position in (row[0]..row[1]).filter(|&position| self.values[position] != 0.0) {
                columns.push(self.columns[position]);
                values.push(self.values[position]);
            }
            offsets.push(values.len());
        }
        let (rows, cols) = (self.rows, self.cols);
        SparseFeatures { rows, cols, offsets: offsets.into(), columns: columns.into(), values: values.into() }
    }

    /// The matrix with rows and columns exchanged. O(rows + cols + stored values).
    #[must_use]
    pub fn transpose(&self) -> SparseFeatures {
        let mut offsets = vec![0; self.cols + 1];
        for &column in &self.columns[..] {
            offsets[column as usize + 1] += 1;
        }
        for column in 0..self.cols {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0; self.columns.len()];
        let mut values = vec![0.0; self.values.len()];
        // Rows are visited in ascending order, which leaves each transposed row sorted.
        for row in 0..self.rows {
            for position in self.offsets[row]..self.offsets[row + 1] {
                let place = &mut next[self.columns[position] as usize];
                columns[*place] = row as u32;
                values[*place] = self.values[position];
                *place += 1;
            }
        }
        SparseFeatures {
            rows: self.cols,
            cols: self.rows,
            offsets: offsets.into(),
            columns: columns.into(),
            values: values.into(),
        }
    }
}

/// Both sides must be nameable by `u32`, so that the transpose is valid too.
fn check_shape(rows: usize, cols: usize) -> Result<(), GraphError> {
    check_node_count("rows", rows)?;
    check_node_count("columns", cols)
}

fn check_offsets(rows: usize, offsets: &[usize]) -> Result<(), GraphError> {
    check_length("offsets", offsets.len(), rows + 1, "one offset per row and a last one for the end")?;
    if offsets[0] != 0 {
        return Err(GraphError::OffsetsStart { value: offsets[0] });
    }
    match offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        None => Ok(()),
        Some(before) => Err(GraphError::OffsetsDecrease {
            position: before + 1,
            value: offsets[before + 1],
            previous: offsets[before],
        }),
    }
}

pub(crate) fn check_columns(
    row: usize,
    cols: usize,
    start: usize,
    columns: &[u32],
) -> Result<(), GraphError> {
    for (within, &value) in columns.iter().enumerate() {
        let position = start + within;
        if value as usize >= cols {
            return Err(GraphError::ColumnOutOfRange { position, row, value, cols });
        }
        if within > 0 && value <= columns[within - 1] {
            let previous = columns[within - 1];
            return Err(GraphError::ColumnsNotAscending { position, row, value, previous });
        }
    }
    Ok(())
}
