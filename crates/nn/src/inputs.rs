//! What a layer reads: the dataset's features, dense or sparse, or the hidden units of the layer before.

use edgepace_graph::Features;

use crate::kernels::dense::{Output, Panels, matmul, transposed_matmul};
use crate::kernels::finish::Finish;
use crate::kernels::spmm::{Csr, Start, spmm};
use crate::memory::zeros;
use crate::meter::Kernel;
use crate::real::Real;
use crate::threads::Threads;

/// Features as the model computes with them; sparse ones also transposed, for the gradient of the first weights.
#[derive(Debug)]
pub(crate) enum Inputs<T> {
    Dense { rows: usize, columns: usize, values: Vec<T> },
    Sparse { rows: usize, columns: usize, by_row: OwnedCsr<T>, by_column: OwnedCsr<T> },
}

#[derive(Debug)]
pub(crate) struct OwnedCsr<T> {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> OwnedCsr<T> {
    fn new(sparse: &edgepace_graph::SparseFeatures) -> Self {
        Self {
            offsets: sparse.offsets().to_vec(),
            columns: sparse.columns().to_vec(),
            values: sparse.values().iter().map(|&x| T::from(x)).collect(),
        }
    }

    fn view(&self) -> Csr<'_, T> {
        Csr { offsets: &self.offsets, columns: &self.columns, values: &self.values }
    }
}

impl<T: Real> Inputs<T> {
    pub(crate) fn new(features: &Features) -> Self {
        let (rows, columns) = (features.rows(), features.cols());
        match features {
            Features::Dense(dense) => {
                let mut values = zeros(rows * columns);
                for (value, &x) in values.iter_mut().zip(dense.values()) {
                    *value = T::from(x);
                }
                Self::Dense { rows, columns, values }
            }
            Features::Sparse(sparse) => Self::Sparse {
                rows,
                columns,
                by_row: OwnedCsr::new(sparse),
                by_column: OwnedCsr::new(&sparse.transpose()),
            },
        }
    }

    pub(crate) fn columns(&self) -> usize {
        match self {
            Self::Dense { columns, .. } | Self::Sparse { columns, .. } => *columns,
        }
    }

    pub(crate) fn view(&self) -> Input<'_, T> {
        match self {
            Self::Dense { rows, columns, values } => {
                Input { matrix: Matrix::Dense(values), rows: *rows, columns: *columns, constant: true }
            }
            Self::Sparse { rows, columns, by_row, by_column } => Input {
                matrix: Matrix::Sparse { by_row: by_row.view(), by_column: by_column.view() },
                rows: *rows,
                columns: *columns,
                constant: true,
            },
        }
    }
}

/// What a layer reads of each node, X: a view of a model's features or of dense rows, cheap to copy.
#[derive(Clone, Copy)]
pub struct Input<'a, T> {
    pub(crate) matrix: Matrix<'a, T>,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Whether it is the same at every call, so that products with it may be kept.
    pub(crate) constant: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Matrix<'a, T> {
    Dense(&'a [T]),
    Sparse { by_row: Csr<'a, T>, by_column: Csr<'a, T> },
}

/// Buffers that products need, grown once and then reused.
#[derive(Default)]
pub(crate) struct Scratch<T> {
    pub(crate) panels: Panels<T>,
    pub(crate) partial: Vec<T>,
}

impl<'a, T: Real> Input<'a, T> {
    /// Dense rows, one after another; they may change from call to call.
    ///
    /// # Panics
    /// When there are not `rows · columns` numbers.
    pub fn dense(values: &'a [T], rows: usize, columns: usize) -> Self {
        assert_eq!(values.len(), rows * columns, "rows · columns numbers");
        Self::hidden(values, rows, columns)
    }

    pub(crate) fn hidden(units: &'a [T], rows: usize, columns: usize) -> Self {
        Self { matrix: Matrix::Dense(units), rows, columns, constant: false }
    }

    /// out = finish(X · weight); `weight` is columns × `width`.
    pub(crate) fn times(
        &self,
        threads: &Threads,
        scratch: &mut Scratch<T>,
        (weight, width): (&[T], usize),
        out: &mut [T],
        finish: Finish<'_, T>,
    ) {
        match self.matrix {
            Matrix::Dense(values) => {
                scratch.panels.pack(weight, self.columns, width);
                matmul(threads, values, &scratch.panels, out, Output::Set, finish);
            }
            Matrix::Sparse { by_row, .. } => {
                spmm(threads, Kernel::Features, by_row, (weight, width), Start::Zero, out, finish);
            }
        }
    }

    /// out = Xᵀ · gradient; `gradient` is rows × `width`, `out` columns × `width`.
    pub(crate) fn transposed_times(
        &self,
        threads: &Threads,
        scratch: &mut Scratch<T>,
        (gradient, width): (&[T], usize),
        out: &mut [T],
    ) {
        match self.matrix {
            Matrix::Dense(values) => {
                transposed_matmul(
                    threads,
                    values,
                    gradient,
                    (self.columns, width),
                    &mut scratch.partial,
                    out,
                );
            }
            Matrix::Sparse { by_column, .. } => {
                spmm(threads, Kernel::Features, by_column, (gradient, width), Start::Zero, out, Finish::Keep);
            }
        }
    }
}
