//! CSR × dense: the propagation along edges, and the product of sparse features with a weight matrix.

use std::ops::Range;

use crate::kernels::finish::Finish;
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::{prefetch, with_simd};
use crate::threads::Threads;

/// A sparse matrix by rows.
#[derive(Clone, Copy)]
pub(crate) struct Csr<'a, T> {
    /// Row `i` holds the entries `offsets[i]..offsets[i + 1]`.
    pub(crate) offsets: &'a [usize],
    /// Column of each entry.
    pub(crate) columns: &'a [u32],
    /// Value of each entry.
    pub(crate) values: &'a [T],
    /// The rows of the product that are made, all if `None`; the others keep what they held.
    pub(crate) only: Option<&'a [bool]>,
}

impl<T> Csr<'_, T> {
    #[inline(always)]
    pub(crate) fn makes(&self, row: usize) -> bool {
        self.only.is_none_or(|only| only[row])
    }
}

/// What a row holds before its entries are added.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a, T> {
    /// Nothing.
    Zero,
    /// What the output holds already.
    Output,
    /// A diagonal term: row `i` begins as `coefficients[i] · rows[i]`, where `rows` has the output's shape.
    Diagonal { coefficients: &'a [T], rows: &'a [T] },
}

/// How far ahead of the sums rows are asked into the cache, in bytes of rows.
const AHEAD: usize = 3072;
/// A gathered matrix of more bytes than this does not live in a core's own cache, and prefetching pays.
const OWN_CACHE: usize = 256 * 1024;

/// out_i = finish(start_i + Σ_e v_e · dense[column_e]), the entries of a row in their stored order.
///
/// Shapes: `dense` columns × `width`, `out` rows × `width`. Cost, if all rows are made: 2 · entries · width flops; one row of `dense`
/// is gathered per entry. Each output row is summed by one thread.
pub(crate) fn spmm<T: Real>(
    threads: &Threads,
    kernel: KernelKind,
    matrix: Csr<'_, T>,
    (dense, width): (&[T], usize),
    start: Start<'_, T>,
    out: &mut [T],
    finish: Finish<'_, T>,
) {
    if width == 0 {
        return;
    }
    let entries = matrix.values.len();
    let row = width * size_of::<T>();
    let bytes = entries * (row + size_of::<u32>() + size_of::<T>())
        + std::mem::size_of_val(out)
        + std::mem::size_of_val(matrix.offsets);
    let _span = threads.span(kernel, 2 * entries * width, bytes);
    let product = Product { matrix, dense, width, start, finish };
    let far = std::mem::size_of_val(dense) > OWN_CACHE;
    threads.nodes(
        matrix.offsets,
        |i| i * width,
        out,
        |rows, out| {
            with_simd(
                #[inline(always)]
                || if far { product.rows::<true>(rows, out) } else { product.rows::<false>(rows, out) },
            );
        },
    );
}

/// What one call multiplies.
#[derive(Clone, Copy)]
struct Product<'a, T> {
    matrix: Csr<'a, T>,
    dense: &'a [T],
    width: usize,
    start: Start<'a, T>,
    finish: Finish<'a, T>,
}

impl<T: Real> Product<'_, T> {
    /// Rows that fit the vector registers are made in them from start to finish, with loops of a fixed length.
    #[inline(always)]
    fn rows<const FAR: bool>(&self, rows: Range<usize>, out: &mut [T]) {
        match self.width {
            8 => self.narrow_rows::<8, FAR>(rows, out),
            16 => self.narrow_rows::<16, FAR>(rows, out),
            24 => self.narrow_rows::<24, FAR>(rows, out),
            32 => self.narrow_rows::<32, FAR>(rows, out),
            40 => self.narrow_rows::<40, FAR>(rows, out),
            48 => self.narrow_rows::<48, FAR>(rows, out),
            56 => self.narrow_rows::<56, FAR>(rows, out),
            64 => self.narrow_rows::<64, FAR>(rows, out),
            _ => self.wide_rows::<FAR>(rows, out),
        }
    }

    #[inline(always)]
    fn narrow_rows<const W: usize, const FAR: bool>(&self, rows: Range<usize>, out: &mut [T]) {
        for (i, y) in rows.zip(out.as_chunks_mut::<W>().0).filter(|(i, _)| self.matrix.makes(*i)) {
            let mut sum = match self.start {
                Start::Zero => [T::ZERO; W],
                Start::Output => *y,
                Start::Diagonal { coefficients, rows } => {
                    let mut row = *tile::<T, W>(&rows[i * W..]);
                    for x in &mut row {
                        *x *= coefficients[i];
                    }
                    row
                }
            };
            self.add::<W, FAR>(i, 0, &mut sum);
            *y = sum;
            self.finish.apply(i, y);
        }
    }

    /// Rows of any width, in tiles of columns.
    #[inline(always)]
    fn wide_rows<const FAR: bool>(&self, rows: Range<usize>, out: &mut [T]) {
        let width = self.width;
        for (i, y) in rows.zip(out.chunks_exact_mut(width)).filter(|(i, _)| self.matrix.makes(*i)) {
            match self.start {
                Start::Zero => y.fill(T::ZERO),
                Start::Output => {}
                Start::Diagonal { coefficients, rows } => {
                    for (y, &r) in y.iter_mut().zip(&rows[i * width..][..width]) {
                        *y = coefficients[i] * r;
                    }
                }
            }
            let mut at = 0;
            while at + 64 <= width {
                self.add_tile::<64, FAR>(i, at, y);
                at += 64;
            }
            while at + 8 <= width {
                self.add_tile::<8, FAR>(i, at, y);
                at += 8;
            }
            while at + 2 <= width {
                self.add_tile::<2, FAR>(i, at, y);
                at += 2;
            }
            if at < width {
                self.add_tile::<1, FAR>(i, at, y);
            }
            self.finish.apply(i, y);
        }
    }

    #[inline(always)]
    fn add_tile<const W: usize, const FAR: bool>(&self, i: usize, at: usize, y: &mut [T]) {
        let mut sum = *tile::<T, W>(&y[at..]);
        self.add::<W, FAR>(i, at, &mut sum);
        y[at..at + W].copy_from_slice(&sum);
    }

    /// sum += Σ_e v_e · dense[column_e, at..at + W] over the entries of row i.
    #[inline(always)]
    fn add<const W: usize, const FAR: bool>(&self, i: usize, at: usize, sum: &mut [T; W]) {
        let entries = self.matrix.offsets[i]..self.matrix.offsets[i + 1];
        // To the end of the matrix, so that prefetching runs ahead into the next rows.
        let columns = &self.matrix.columns[entries.start..];
        for (e, (&column, &value)) in columns.iter().zip(&self.matrix.values[entries]).enumerate() {
            if FAR && let Some(&next) = columns.get(e + AHEAD / (W * size_of::<T>())) {
                prefetch(&self.dense[next as usize * self.width + at..][..W]);
            }
            let row = tile::<T, W>(&self.dense[column as usize * self.width + at..]);
            for c in 0..W {
                sum[c] = value.mul_add(row[c], sum[c]);
            }
        }
    }
}

#[inline(always)]
fn tile<T, const W: usize>(row: &[T]) -> &[T; W] {
    row.first_chunk().expect("rows are as wide as the product")
}
