//! Dense products of tall matrices (a row per node) with small ones (parameters).
//!
//! A GNN has two shapes: (nodes × k) · (k × n) forward, and (nodes × k)ᵀ · (nodes × n) for gradients. General
//! libraries allocate their packing buffers on every call and cannot finish a row (bias, ReLU, dropout) while
//! it is in the cache, so these two are written here: a register tile, blocks that fit the first and second
//! cache, and nothing else.

use edgepace_graph::bytes::array;

use std::ops::Range;

use crate::kernels::finish::Finish;
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// Rows and columns of the register tile: 6 × 16 `f32` fill 12 of the 16 AVX2 registers.
const TILE_ROWS: usize = 6;
const TILE_COLUMNS: usize = 16;
/// Columns of the tile for narrow products.
const NARROW: usize = 8;
/// Depth of a block of the small matrix: 256 × 16 `f32` are 16 kB, half of a first-level cache.
const DEPTH: usize = 256;
/// Numbers of the tall matrix that are multiplied with all panels while they are in the first-level cache: 16 kB of
/// `f32`, its other half.
const BLOCK: usize = 4096;
/// Rows that one thread takes at a time at most.
const BLOCK_ROWS: usize = 16 * TILE_ROWS;

/// What a product does with its output.
#[derive(Clone, Copy)]
pub(crate) enum Output<'a, T> {
    /// out = a · b
    Set,
    /// out += a · b
    Add,
    /// out_i += scale_i · (a · b)_i
    AddScaled(&'a [T]),
}

/// A small matrix, packed into column panels that the register tile reads in order: panels of 16 columns, then of
/// 8, the last one filled up with zeros.
#[derive(Debug, Default)]
pub(crate) struct Panels<T> {
    values: Vec<T>,
    depth: usize,
    columns: usize,
}

impl<T: Real> Panels<T> {
    /// Packs the row-major `matrix` (`depth` × `columns`).
    pub(crate) fn pack(&mut self, matrix: &[T], depth: usize, columns: usize) {
        self.fill(depth, columns, |row, column| matrix[row * columns + column]);
    }

    /// Packs the transpose of the row-major `matrix` (`columns` × `depth`).
    pub(crate) fn pack_transposed(&mut self, matrix: &[T], depth: usize, columns: usize) {
        self.fill(depth, columns, |row, column| matrix[column * depth + row]);
    }

    /// Packs the row-major `matrix` with row i scaled by `scale[i]`; its depth is the number of scales.
    pub(crate) fn pack_scaled(&mut self, matrix: &[T], scale: &[T], columns: usize) {
        self.fill(scale.len(), columns, |row, column| scale[row] * matrix[row * columns + column]);
    }

    /// Depth and columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.depth, self.columns)
    }

    #[inline(always)]
    fn fill(&mut self, depth: usize, columns: usize, value: impl Fn(usize, usize) -> T) {
        (self.depth, self.columns) = (depth, columns);
        self.values.clear();
        self.values.resize(columns.next_multiple_of(NARROW) * depth, T::ZERO);
        let mut rest = &mut self.values[..];
        let mut column = 0;
        while column < columns {
            let width = panel_width(columns - column);
            let used = width.min(columns - column);
            let (panel, others) = rest.split_at_mut(width * depth);
            for (row, packed) in panel.chunks_exact_mut(width).enumerate() {
                for (c, packed) in packed[..used].iter_mut().enumerate() {
                    *packed = value(row, column + c);
                }
            }
            rest = others;
            column += width;
        }
    }
}

/// The bytes of a packed `depth` × `columns` matrix of `f32`.
pub(crate) fn packed_bytes(depth: usize, columns: usize) -> u64 {
    array::<f32>(&[columns.div_ceil(NARROW), NARROW, depth])
}

fn panel_width(columns_left: usize) -> usize {
    if columns_left > NARROW { TILE_COLUMNS } else { NARROW }
}

/// out = finish(a · b), or added to what `out` holds, row by row.
///
/// Shapes: `a` rows × depth, `b` depth × columns, `out` rows × columns. Each element is summed over the depth
/// in order, by one thread.
pub(crate) fn matmul<T: Real>(
    threads: &Threads,
    a: &[T],
    b: &Panels<T>,
    out: &mut [T],
    output: Output<'_, T>,
    finish: Finish<'_, T>,
) {
    let rows = out.len() / b.columns.max(1);
    let bytes = rows * (b.depth + b.columns) * size_of::<T>();
    let _span = threads.span(KernelKind::Dense, 2 * rows * b.depth * b.columns, bytes);
    let block = (BLOCK / b.depth.clamp(1, DEPTH) / TILE_ROWS * TILE_ROWS).clamp(TILE_ROWS, BLOCK_ROWS);
    threads.rows(out, b.columns, block, |first, out| {
        let rows = out.len() / b.columns;
        let a = &a[first * b.depth..][..rows * b.depth];
        with_simd(
            #[inline(always)]
            || {
                if b.depth == 0 && matches!(output, Output::Set) {
                    out.fill(T::ZERO);
                }
                let mut from = 0;
                while from < b.depth {
                    let depths = from..b.depth.min(from + DEPTH);
                    match output {
                        Output::Set if from == 0 => panels(a, b, depths.clone(), out, |_, _, sum| sum),
                        Output::Set | Output::Add => {
                            panels(a, b, depths.clone(), out, |_, old, sum| old + sum);
                        }
                        Output::AddScaled(scale) => {
                            let scale = &scale[first..];
                            panels(a, b, depths.clone(), out, |row, old, sum| scale[row].mul_add(sum, old));
                        }
                    }
                    from = depths.end;
                }
                for (i, row) in out.chunks_exact_mut(b.columns).enumerate() {
                    finish.apply(first + i, row);
                }
            },
        );
    });
}

/// All panels over a range of depths; `join(row, old, sum)` is what an element becomes.
#[inline(always)]
fn panels<T: Real>(
    a: &[T],
    b: &Panels<T>,
    depths: Range<usize>,
    out: &mut [T],
    join: impl Fn(usize, T, T) -> T + Copy,
) {
    let mut column = 0;
    while column < b.columns {
        let left = b.columns - column;
        let values = &b.values[column * b.depth..];
        if panel_width(left) == TILE_COLUMNS && left >= TILE_COLUMNS {
            panel::<T, TILE_COLUMNS>(a, b, (values, depths.clone()), column, out, join);
            column += TILE_COLUMNS;
        } else if panel_width(left) == NARROW && left >= NARROW {
            panel::<T, NARROW>(a, b, (values, depths.clone()), column, out, join);
            column += NARROW;
        } else if panel_width(left) == TILE_COLUMNS {
            last_panel::<T, TILE_COLUMNS>(a, b, (values, depths.clone()), column, out, join);
            return;
        } else {
            last_panel::<T, NARROW>(a, b, (values, depths.clone()), column, out, join);
            return;
        }
    }
}

/// A panel of W columns.
#[inline(always)]
fn panel<T: Real, const W: usize>(
    a: &[T],
    b: &Panels<T>,
    (values, depths): (&[T], Range<usize>),
    column: usize,
    out: &mut [T],
    join: impl Fn(usize, T, T) -> T + Copy,
) {
    let values = &values[..W * b.depth].as_chunks::<W>().0[depths.clone()];
    let rows = out.len() / b.columns;
    let mut row = 0;
    while row + TILE_ROWS <= rows {
        let sums = tile::<T, TILE_ROWS, W>(&a[row * b.depth + depths.start..], b.depth, values);
        for r in 0..TILE_ROWS {
            let out =
                out[(row + r) * b.columns + column..].first_chunk_mut::<W>().expect("W columns are left");
            for c in 0..W {
                out[c] = join(row + r, out[c], sums[r][c]);
            }
        }
        row += TILE_ROWS;
    }
    while row < rows {
        let [sums] = tile::<T, 1, W>(&a[row * b.depth + depths.start..], b.depth, values);
        let out = out[row * b.columns + column..].first_chunk_mut::<W>().expect("W columns are left");
        for c in 0..W {
            out[c] = join(row, out[c], sums[c]);
        }
        row += 1;
    }
}

/// The last panel, of which the output has fewer than W columns. Apart from the others, because reading sums at a
/// variable index keeps them out of the registers.
#[inline(always)]
fn last_panel<T: Real, const W: usize>(
    a: &[T],
    b: &Panels<T>,
    (values, depths): (&[T], Range<usize>),
    column: usize,
    out: &mut [T],
    join: impl Fn(usize, T, T) -> T + Copy,
) {
    let values = &values[..W * b.depth].as_chunks::<W>().0[depths.clone()];
    for (row, out) in out.chunks_exact_mut(b.columns).enumerate() {
        let [sums] = tile::<T, 1, W>(&a[row * b.depth + depths.start..], b.depth, values);
        for (out, sum) in out[column..].iter_mut().zip(sums) {
            *out = join(row, *out, sum);
        }
    }
}

/// R rows of `a` (each `stride` after the last) times a panel, in registers.
#[inline(always)]
fn tile<T: Real, const R: usize, const W: usize>(a: &[T], stride: usize, panel: &[[T; W]]) -> [[T; W]; R] {
    let mut rows: [&[T]; R] = [&[]; R];
    for r in 0..R {
        rows[r] = &a[r * stride..][..panel.len()];
    }
    let mut sums = [[T::ZERO; W]; R];
    for (p, b) in panel.iter().enumerate() {
        // All bounds checks come before the arithmetic, which then is one block that vectorises.
        let mut x = [T::ZERO; R];
        for r in 0..R {
            x[r] = rows[r][p];
        }
        for r in 0..R {
            for c in 0..W {
                sums[r][c] = x[r].mul_add(b[c], sums[r][c]);
            }
        }
    }
    sums
}

/// Rows whose products are summed before they go to memory.
const DEPTH_ROWS: usize = 64;
/// The left matrix has so many columns that threads share those; below it they share the rows.
const WIDE: usize = 512;
/// Into how many fixed pieces the rows are cut at most.
const PIECES: usize = 16;
/// Rows that a piece has at least.
const PIECE_ROWS: usize = 256;

/// The bytes of `partial` in [`transposed_matmul`] of `f32`, and of the sums of columns that share it.
pub(crate) fn partial_bytes(rows: usize, k: usize, n: usize) -> u64 {
    let sums = array::<f32>(&[rows.min(PIECES), n]);
    if k >= WIDE { sums } else { sums.max(array::<f32>(&[(rows / PIECE_ROWS).clamp(1, PIECES), k, n])) }
}

/// out = aᵀ · g.
///
/// Shapes: `a` rows × k, `g` rows × n, `out` k × n. Wide `a`: each row of the output is summed by one thread over
/// all rows in order. Otherwise rows are cut into fixed pieces (a function of the shape alone), summed apart in
/// `partial` and added in order.
pub(crate) fn transposed_matmul<T: Real>(
    threads: &Threads,
    a: &[T],
    g: &[T],
    (k, n): (usize, usize),
    partial: &mut Vec<T>,
    out: &mut [T],
) {
    out.fill(T::ZERO);
    if k == 0 || n == 0 || a.is_empty() {
        return;
    }
    let rows = a.len() / k;
    let bytes = rows * (k + n) * size_of::<T>();
    let _span = threads.span(KernelKind::DenseTransposed, 2 * rows * k * n, bytes);
    if k >= WIDE {
        threads.rows(out, n, 8 * TILE_ROWS, |first, out| {
            with_simd(
                #[inline(always)]
                || outer_block(a, g, (k, n), 0..rows, first, out),
            );
        });
        return;
    }
    let pieces = (rows / PIECE_ROWS).clamp(1, PIECES);
    let piece_rows = rows.div_ceil(pieces);
    partial.clear();
    partial.resize(pieces * k * n, T::ZERO);
    threads.rows(partial, k * n, 1, |piece, partial| {
        let rows = (piece * piece_rows).min(rows)..((piece + 1) * piece_rows).min(rows);
        with_simd(
            #[inline(always)]
            || outer_block(a, g, (k, n), rows, 0, partial),
        );
    });
    for piece in partial.chunks_exact(k * n) {
        for (out, &p) in out.iter_mut().zip(piece) {
            *out += p;
        }
    }
}

/// out = aᵀ · g as [`transposed_matmul`], but summed in `f64`, in which the products of `f32` are exact.
pub(crate) fn exact_transposed_matmul(
    threads: &Threads,
    a: &[f32],
    g: &[f32],
    (k, n): (usize, usize),
    out: &mut [f64],
) {
    out.fill(0.0);
    if k == 0 || n == 0 || a.is_empty() {
        return;
    }
    let rows = a.len() / k;
    let bytes = rows * (k + n) * size_of::<f32>();
    let _span = threads.span(KernelKind::DenseTransposed, 2 * rows * k * n, bytes);
    let pieces = (rows / PIECE_ROWS).clamp(1, PIECES);
    let piece_rows = rows.div_ceil(pieces);
    let mut partial = vec![0.0; pieces * k * n];
    threads.rows(&mut partial, k * n, 1, |piece, partial| {
        let rows = (piece * piece_rows).min(rows)..((piece + 1) * piece_rows).min(rows);
        let (mut wide_a, mut wide_g) = (Vec::new(), Vec::new());
        with_simd(
            #[inline(always)]
            || {
                for from in rows.clone().step_by(DEPTH_ROWS) {
                    let to = rows.end.min(from + DEPTH_ROWS);
                    wide_a.clear();
                    wide_a.extend(a[from * k..to * k].iter().map(|&x| f64::from(x)));
                    wide_g.clear();
                    wide_g.extend(g[from * n..to * n].iter().map(|&x| f64::from(x)));
                    outer_block(&wide_a, &wide_g, (k, n), 0..to - from, 0, partial);
                }
            },
        );
    });
    for piece in partial.chunks_exact(k * n) {
        for (out, &p) in out.iter_mut().zip(piece) {
            *out += p;
        }
    }
}

/// out += Σ_i a_i[first..] ⊗ g_i over `rows`, for as many columns of `a` as `out` has rows.
#[inline(always)]
fn outer_block<T: Real>(
    a: &[T],
    g: &[T],
    (k, n): (usize, usize),
    rows: Range<usize>,
    first: usize,
    out: &mut [T],
) {
    let ks = out.len() / n;
    let mut from = rows.start;
    while from < rows.end {
        let to = rows.end.min(from + DEPTH_ROWS);
        let (a, g) = (&a[from * k..to * k], &g[from * n..to * n]);
        let mut row = 0;
        while row < ks {
            let tall = row + TILE_ROWS <= ks;
            let mut column = 0;
            while column < n {
                let place = (first, row, column);
                // Twice the bytes fill the registers with half as many columns.
                let width = match n - column {
                    16.. if size_of::<T>() == size_of::<f32>() => TILE_COLUMNS,
                    8.. => NARROW,
                    _ => 1,
                };
                match (tall, width) {
                    (true, TILE_COLUMNS) => {
                        outer_tile::<T, TILE_ROWS, TILE_COLUMNS>(a, g, (k, n), place, out);
                    }
                    (true, NARROW) => outer_tile::<T, TILE_ROWS, NARROW>(a, g, (k, n), place, out),
                    (true, _) => outer_tile::<T, TILE_ROWS, 1>(a, g, (k, n), place, out),
                    (false, TILE_COLUMNS) => outer_tile::<T, 1, TILE_COLUMNS>(a, g, (k, n), place, out),
                    (false, NARROW) => outer_tile::<T, 1, NARROW>(a, g, (k, n), place, out),
                    (false, _) => outer_tile::<T, 1, 1>(a, g, (k, n), place, out),
                }
                column += width;
            }
            row += if tall { TILE_ROWS } else { 1 };
        }
        from = to;
    }
}

#[inline(always)]
fn outer_tile<T: Real, const R: usize, const W: usize>(
    a: &[T],
    g: &[T],
    (k, n): (usize, usize),
    (first, row, column): (usize, usize, usize),
    out: &mut [T],
) {
    let mut sum = [[T::ZERO; W]; R];
    for (a, g) in a.chunks_exact(k).zip(g.chunks_exact(n)) {
        let a: &[T; R] = a[first + row..][..R].try_into().expect("a slice of R numbers");
        let g: &[T; W] = g[column..][..W].try_into().expect("a slice of W numbers");
        for r in 0..R {
            for c in 0..W {
                sum[r][c] = a[r].mul_add(g[c], sum[r][c]);
            }
        }
    }
    for r in 0..R {
        let out = out[(row + r) * n + column..].first_chunk_mut::<W>().expect("the tile lies inside");
        for c in 0..W {
            out[c] += sum[r][c];
        }
    }
}

/// out += a · b for small matrices of parameters: `a` rows × depth, `b` depth × columns. One thread.
pub(crate) fn small_matmul<T: Real>(a: &[T], b: &[T], (depth, columns): (usize, usize), out: &mut [T]) {
    with_simd(
        #[inline(always)]
        || {
            for (a, out) in a.chunks_exact(depth).zip(out.chunks_exact_mut(columns)) {
                for (&x, b) in a.iter().zip(b.chunks_exact(columns)) {
                    for (out, &b) in out.iter_mut().zip(b) {
                        *out = x.mul_add(b, *out);
                    }
                }
            }
        },
    );
}
