//! Loops over pairs, edges or nodes, one number of output at a time.
//!
//! Each number has one writer and pieces never depend on the number of threads, so results are the same bits on 1, 2 or 8
//! threads. None of the loops has fused operations: the instruction set changes the speed and never the result.

use edgepace_graph::{Threads, with_simd};

/// Entries of a piece: small enough to balance hubs, large enough to be worth handing over.
pub(crate) const PIECE: usize = 2048;

/// Number of pieces of `len` entries.
pub(crate) fn pieces(len: usize) -> usize {
    len.div_ceil(PIECE)
}

/// Sets `out[i] = value(i, out[i])`.
pub(crate) fn each<T: Send + Copy>(threads: &Threads, out: &mut [T], value: impl Fn(usize, T) -> T + Sync) {
    let value = &value;
    threads.rows(out, 1, PIECE, |first, piece| {
        with_simd(
            #[inline(always)]
            move || {
                for (i, entry) in piece.iter_mut().enumerate() {
                    *entry = value(first + i, *entry);
                }
            },
        );
    });
}

/// Entries whose rows are asked for together.
const BATCH: usize = 8;
/// Numbers in a line of the cache.
const LINE: usize = 16;

/// Sets `out[i] = value(i)` where `value(i)` reads rows that lie anywhere in memory: `rows_of(i)`.
///
/// One number of every line of the rows of a batch is read first, so that their ways through the caches overlap.
pub(crate) fn each_gathered<'a, const ROWS: usize>(
    threads: &Threads,
    out: &mut [f32],
    rows_of: impl Fn(usize) -> [&'a [f32]; ROWS] + Sync,
    value: impl Fn(usize) -> f32 + Sync,
) {
    let (rows_of, value) = (&rows_of, &value);
    threads.rows(out, 1, PIECE, |first: usize, piece: &mut [f32]| {
        with_simd(
            #[inline(always)]
            move || {
                for (number, batch) in piece.chunks_mut(BATCH).enumerate() {
                    let first = first + number * BATCH;
                    let mut touched = 0.0;
                    for i in 0..batch.len() {
                        for row in rows_of(first + i) {
                            touched += row.iter().step_by(LINE).sum::<f32>();
                        }
                    }
                    std::hint::black_box(touched);
                    for (i, entry) in batch.iter_mut().enumerate() {
                        *entry = value(first + i);
                    }
                }
            },
        );
    });
}

/// Like [`each`], and each piece adds up a partial result, to be folded in order afterwards.
///
/// `partial` has [`pieces`] entries; `value` may add to the one of its piece, which starts at its default.
pub(crate) fn each_with_partial<T: Send + Copy, P: Send + Default>(
    threads: &Threads,
    out: &mut [T],
    partial: &mut [P],
    value: impl Fn(usize, T, &mut P) -> T + Sync,
) {
    threads.rows_of_two((out, PIECE), (partial, 1), 1, |number, piece, partial| {
        partial[0] = P::default();
        for (i, entry) in piece.iter_mut().enumerate() {
            *entry = value(number * PIECE + i, *entry, &mut partial[0]);
        }
    });
}
