//! Shares work without sharing results.
//!
//! Inside a rayon pool the pool's threads are used, outside of one everything runs on the calling thread: the caller
//! decides, and the global pool is never touched. Every piece of output has one writer and pieces never depend on
//! the number of threads, so results are the same bits on 1, 2 or 8 threads.

use rayon::prelude::*;

/// Entries of a piece: small enough to balance hubs, large enough to be worth handing over.
pub(crate) const PIECE: usize = 2048;

fn in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

/// Number of pieces of `len` entries.
pub(crate) fn pieces(len: usize) -> usize {
    len.div_ceil(PIECE)
}

/// Cuts `out`, rows of `width` numbers, into pieces of `rows` rows and calls `fill(first_row, piece)` on each.
pub(crate) fn rows<T: Send>(
    out: &mut [T],
    width: usize,
    rows: usize,
    fill: impl Fn(usize, &mut [T]) + Sync + Send,
) {
    let size = width * rows;
    if out.is_empty() {
        return;
    }
    if in_pool() && out.len() > size {
        out.par_chunks_mut(size).enumerate().for_each(|(i, piece)| fill(i * rows, piece));
    } else {
        out.chunks_mut(size).enumerate().for_each(|(i, piece)| fill(i * rows, piece));
    }
}

/// Sets `out[i] = value(i, out[i])`.
pub(crate) fn each<T: Send + Copy>(out: &mut [T], value: impl Fn(usize, T) -> T + Sync + Send) {
    let value = &value;
    rows(out, 1, PIECE, |first, piece| {
        vectorised(
            #[inline(always)]
            move || {
                for (i, entry) in piece.iter_mut().enumerate() {
                    *entry = value(first + i, *entry);
                }
            },
        );
    });
}

/// Runs a loop with the widest vectors of the machine. None of ours has fused operations: the instruction set changes the
/// speed and never the result.
#[inline(always)]
pub(crate) fn vectorised<R>(loops: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(loops)
}

/// Entries whose rows are asked for together.
const BATCH: usize = 8;
/// Numbers in a line of the cache.
const LINE: usize = 16;

/// Sets `out[i] = value(i)` where `value(i)` reads rows that lie anywhere in memory: `rows_of(i)`.
///
/// One number of every line of the rows of a batch is read first, so that their ways through the caches overlap.
pub(crate) fn each_gathered<'a, const ROWS: usize>(
    out: &mut [f32],
    rows_of: impl Fn(usize) -> [&'a [f32]; ROWS] + Sync + Send,
    value: impl Fn(usize) -> f32 + Sync + Send,
) {
    let (rows_of, value) = (&rows_of, &value);
    rows(out, 1, PIECE, |first: usize, piece: &mut [f32]| {
        vectorised(
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
    out: &mut [T],
    partial: &mut [P],
    value: impl Fn(usize, T, &mut P) -> T + Sync + Send,
) {
    let fill = |piece_number: usize, piece: &mut [T], partial: &mut P| {
        *partial = P::default();
        for (i, entry) in piece.iter_mut().enumerate() {
            *entry = value(piece_number * PIECE + i, *entry, partial);
        }
    };
    if in_pool() && out.len() > PIECE {
        out.par_chunks_mut(PIECE)
            .zip(partial.par_iter_mut())
            .enumerate()
            .for_each(|(i, (piece, partial))| fill(i, piece, partial));
    } else {
        out.chunks_mut(PIECE)
            .zip(partial)
            .enumerate()
            .for_each(|(i, (piece, partial))| fill(i, piece, partial));
    }
}

/// Whether `holds` for every value.
pub(crate) fn all(values: &[f32], holds: impl Fn(f32) -> bool + Sync + Send) -> bool {
    // Without an early way out inside a piece the loop is vectorised.
    let whole = |piece: &[f32]| piece.iter().fold(true, |so_far, &value| so_far & holds(value));
    if in_pool() { values.par_chunks(8 * PIECE).all(whole) } else { values.chunks(8 * PIECE).all(whole) }
}
