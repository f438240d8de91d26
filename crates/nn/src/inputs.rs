//! What a layer reads: the dataset's features, dense or sparse, or the hidden units of the layer before.

use std::sync::Arc;

use edgepace_graph::{Features, SparseFeatures};

use crate::dropout::Dropout;
use crate::kernels::dense::{Output, Panels, matmul, transposed_matmul};
use crate::kernels::finish::Finish;
use crate::kernels::spmm::{Csr, Start, spmm};
use crate::memory::ensure;
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// Features as the model computes with them, shared with whoever else holds them; sparse ones also transposed, for the
/// gradient of the first weights.
#[derive(Debug)]
pub(crate) struct Inputs<T> {
    features: Arc<Features>,
    values: Numbers<T>,
    transposed: Option<(SparseFeatures, Numbers<T>)>,
    dropped: Dropped<T>,
}

/// The values with some of them dropped and the others scaled, as they are stored; of sparse features also transposed.
#[derive(Debug, Default)]
struct Dropped<T> {
    values: Vec<T>,
    transposed: Vec<T>,
    /// The epoch that they belong to.
    epoch: Option<u32>,
}

/// The values of features as numbers of `T`: a copy only where that is not their own type.
#[derive(Debug)]
struct Numbers<T>(Vec<T>);

impl<T: Real> Numbers<T> {
    fn new(values: &[f32]) -> Self {
        let converted = || values.iter().map(|&x| T::from(x)).collect();
        Self(T::same(values).map_or_else(converted, |_| Vec::new()))
    }

    fn of<'a>(&'a self, values: &'a [f32]) -> &'a [T] {
        T::same(values).unwrap_or(&self.0)
    }

    fn csr<'a>(&'a self, sparse: &'a SparseFeatures) -> Csr<'a, T> {
        Csr {
            offsets: sparse.offsets(),
            columns: sparse.columns(),
            values: self.of(sparse.values()),
            only: None,
        }
    }
}

impl<T: Real> Inputs<T> {
    pub(crate) fn new(features: Arc<Features>) -> Self {
        let (values, transposed) = match &*features {
            Features::Dense(dense) => (Numbers::new(dense.values()), None),
            Features::Sparse(sparse) => {
                let transposed = sparse.transpose();
                let values = Numbers::new(transposed.values());
                (Numbers::new(sparse.values()), Some((transposed, values)))
            }
        };
        Self { features, values, transposed, dropped: Dropped::default() }
    }

    /// Drops values for an epoch; [`Inputs::view_in`] then shows them.
    pub(crate) fn drop_values(&mut self, threads: &Threads, epoch: u32, dropout: Dropout) {
        let dropped = &mut self.dropped;
        if dropped.epoch == Some(epoch) {
            return;
        }
        match &*self.features {
            Features::Dense(dense) => {
                let (values, columns) = (self.values.of(dense.values()), dense.cols());
                let out = ensure(&mut dropped.values, values.len());
                threads.rows(out, columns, DROPPED_ROWS, |first, out| {
                    with_simd(
                        #[inline(always)]
                        || {
                            for (i, out) in out.chunks_exact_mut(columns).enumerate() {
                                let (row, values) = (first + i, &values[(first + i) * columns..]);
                                for (column, (out, &value)) in out.iter_mut().zip(values).enumerate() {
                                    *out = kept(dropout, (row as u32, column as u32), value);
                                }
                            }
                        },
                    );
                });
            }
            Features::Sparse(sparse) => {
                drop_sparse(threads, dropout, self.values.csr(sparse), by_row, &mut dropped.values);
                if let Some((transposed, values)) = &self.transposed {
                    drop_sparse(threads, dropout, values.csr(transposed), by_column, &mut dropped.transposed);
                }
            }
        }
        dropped.epoch = Some(epoch);
    }

    /// As the first layer reads them: those of `epoch` where values are dropped in it.
    pub(crate) fn view_in(&self, epoch: Option<u32>) -> Input<'_, T> {
        let whole = self.view();
        if epoch.is_none() || self.dropped.epoch != epoch {
            return whole;
        }
        let Dropped { values, transposed, .. } = &self.dropped;
        let matrix = match whole.matrix {
            Matrix::Dense(_) => Matrix::Dense(values),
            Matrix::Sparse { by_row, by_column } => Matrix::Sparse {
                by_row: Csr { values, ..by_row },
                by_column: Csr { values: transposed, ..by_column },
            },
        };
        Input { matrix, constant: false, ..whole }
    }

    pub(crate) fn columns(&self) -> usize {
        self.features.cols()
    }

    pub(crate) fn view(&self) -> Input<'_, T> {
        let matrix = match (&*self.features, &self.transposed) {
            (Features::Sparse(sparse), Some((transposed, values))) => {
                Matrix::Sparse { by_row: self.values.csr(sparse), by_column: values.csr(transposed) }
            }
            (Features::Sparse(_), None) => unreachable!("sparse features are transposed at once"),
            (Features::Dense(dense), _) => Matrix::Dense(self.values.of(dense.values())),
        };
        Input { matrix, rows: self.features.rows(), columns: self.features.cols(), constant: true }
    }
}

/// Rows of features that one thread takes at a time when values are dropped.
const DROPPED_ROWS: usize = 64;

/// A value that stays is scaled, so that sums stay what they are on average. Scaled or not, there is no branch: nobody can
/// predict which one it would take.
#[inline(always)]
fn kept<T: Real>(dropout: Dropout, (row, column): (u32, u32), value: T) -> T {
    let scaled = value * T::of(dropout.scale);
    if dropout.keeps(row, column) { scaled } else { T::ZERO }
}

/// Row and column of the features for a place of theirs as they are.
#[inline(always)]
fn by_row(row: u32, column: u32) -> (u32, u32) {
    (row, column)
}

/// The same for a place of theirs transposed.
#[inline(always)]
fn by_column(row: u32, column: u32) -> (u32, u32) {
    (column, row)
}

/// The values of a sparse matrix with some of them dropped; `place` gives row and column of the features.
fn drop_sparse<T: Real>(
    threads: &Threads,
    dropout: Dropout,
    matrix: Csr<'_, T>,
    place: impl Fn(u32, u32) -> (u32, u32) + Sync,
    out: &mut Vec<T>,
) {
    let out = ensure(out, matrix.values.len());
    let offsets = matrix.offsets;
    threads.nodes(
        offsets,
        |row| offsets[row],
        out,
        |rows, out| {
            let start = offsets[rows.start];
            with_simd(
                #[inline(always)]
                || {
                    for row in rows {
                        let own = offsets[row]..offsets[row + 1];
                        let stored = matrix.columns[own.clone()].iter().zip(&matrix.values[own.clone()]);
                        let out = &mut out[own.start - start..own.end - start];
                        for (out, (&column, &value)) in out.iter_mut().zip(stored) {
                            *out = kept(dropout, place(row as u32, column), value);
                        }
                    }
                },
            );
        },
    );
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

    /// With the rows of [`Input::times`] that are wanted, all if `None`; sparse inputs then make no others.
    pub(crate) fn with_only(self, only: Option<&'a [bool]>) -> Self {
        let matrix = match self.matrix {
            Matrix::Sparse { by_row, by_column } => {
                Matrix::Sparse { by_row: Csr { only, ..by_row }, by_column }
            }
            dense @ Matrix::Dense(_) => dense,
        };
        Self { matrix, ..self }
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
                spmm(threads, KernelKind::Features, by_row, (weight, width), Start::Zero, out, finish);
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
                spmm(
                    threads,
                    KernelKind::Features,
                    by_column,
                    (gradient, width),
                    Start::Zero,
                    out,
                    Finish::Keep,
                );
            }
        }
    }
}
