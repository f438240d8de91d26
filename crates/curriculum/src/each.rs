//! Loops over pairs, edges or nodes, one number of output at a time.
//!
//! Each number has one writer and pieces never depend on the number of threads, so results are the same bits on 1, 2 or 8
//! threads. None of the loops has fused operations: the instruction set changes the speed and never the result.

use edgepace_graph::Threads;
use edgepace_graph::simd::{prefetch, with_simd};

use crate::feedback::Rows;
use crate::math::dot;

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

/// How many pairs ahead a row is asked for: a core waits for no more lines at a time than those of about ten rows.
const AHEAD: usize = 10;

/// Sets `out[pair] = value(i, j, z_i · z_j)`, where i and j are the ends of the pair.
///
/// Rows of first ends come one after the other, those of second ends lie anywhere: they are asked for some pairs ahead, so that
/// their ways through the caches overlap. `value` must be `#[inline(always)]`.
pub(crate) fn each_product(
    threads: &Threads,
    out: &mut [f32],
    z: Rows<'_>,
    ends: &[[u32; 2]],
    value: impl Fn(usize, usize, f64) -> f32 + Sync,
) {
    let value = &value;
    threads.rows(out, 1, PIECE, |first: usize, piece: &mut [f32]| {
        with_simd(
            #[inline(always)]
            move || {
                let ends = &ends[first..];
                for (at, entry) in piece.iter_mut().enumerate() {
                    if let Some(&[_, coming]) = ends.get(at + AHEAD) {
                        prefetch(z.row(coming as usize));
                    }
                    let [i, j] = ends[at].map(|node| node as usize);
                    *entry = value(i, j, dot(z.row(i), z.row(j)));
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
