//! CSR × dense: the propagation along edges, and the product of sparse features with a weight matrix.

use crate::kernels::finish::Finish;
use crate::meter::Kernel;
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
/// Shapes: `dense` columns × `width`, `out` rows × `width`. Cost: 2 · entries · width flops; one row of `dense`
/// is gathered per entry. Each output row is summed by one thread.
pub(crate) fn spmm<T: Real>(
    threads: &Threads,
    kernel: Kernel,
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
    let far = std::mem::size_of_val(dense) > OWN_CACHE;
    threads.nodes(
        matrix.offsets,
        |i| i * width,
        out,
        |rows, out| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, y) in rows.zip(out.chunks_exact_mut(width)) {
                        match start {
                            Start::Zero => y.fill(T::ZERO),
                            Start::Output => {}
                            Start::Diagonal { coefficients, rows } => {
                                for (y, &r) in y.iter_mut().zip(&rows[i * width..][..width]) {
                                    *y = coefficients[i] * r;
                                }
                            }
                        }
                        let entries = matrix.offsets[i]..matrix.offsets[i + 1];
                        if far {
                            add_row::<T, true>(matrix, entries, dense, width, y);
                        } else {
                            add_row::<T, false>(matrix, entries, dense, width, y);
                        }
                        finish.apply(i, y);
                    }
                },
            );
        },
    );
}

/// y += Σ_e v_e · dense[column_e], in column tiles that fit the vector registers.
#[inline(always)]
fn add_row<T: Real, const FAR: bool>(
    matrix: Csr<'_, T>,
    entries: std::ops::Range<usize>,
    dense: &[T],
    width: usize,
    y: &mut [T],
) {
    let columns = &matrix.columns[entries.start..];
    let values = &matrix.values[entries.clone()];
    let mut at = 0;
    macro_rules! tile {
        ($w:literal) => {
            add_tile::<T, $w, FAR>(columns, values, dense, width, at, y)
        };
    }
    while at + 64 <= width {
        tile!(64);
        at += 64;
    }
    match (width - at) / 8 {
        0 => {}
        1 => tile!(8),
        2 => tile!(16),
        3 => tile!(24),
        4 => tile!(32),
        5 => tile!(40),
        6 => tile!(48),
        _ => tile!(56),
    }
    at += (width - at) / 8 * 8;
    if at < width {
        for (&column, &value) in columns.iter().zip(values) {
            let row = &dense[column as usize * width..][..width];
            for (y, &x) in y[at..].iter_mut().zip(&row[at..]) {
                *y = value.mul_add(x, *y);
            }
        }
    }
}

/// `columns` reaches past this row's entries to the end of the matrix, so that prefetching runs ahead into the
/// next rows; `values` are this row's.
#[inline(always)]
fn add_tile<T: Real, const W: usize, const FAR: bool>(
    columns: &[u32],
    values: &[T],
    dense: &[T],
    width: usize,
    at: usize,
    y: &mut [T],
) {
    let y: &mut [T; W] = (&mut y[at..at + W]).try_into().expect("a slice of W numbers");
    let mut sum = *y;
    for (e, (&column, &value)) in columns.iter().zip(values).enumerate() {
        if FAR && let Some(&next) = columns.get(e + AHEAD / (W * size_of::<T>())) {
            prefetch(&dense[next as usize * width + at..][..W]);
        }
        let row: &[T; W] =
            dense[column as usize * width + at..][..W].try_into().expect("a slice of W numbers");
        for c in 0..W {
            sum[c] = value.mul_add(row[c], sum[c]);
        }
    }
    *y = sum;
}
