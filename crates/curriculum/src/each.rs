//! Loops over pairs, edges or nodes, one number of output at a time.
//!
//! Each number has one writer and pieces never depend on the number of threads, so results are the same bits on 1, 2 or 8
//! threads. None of the loops has fused operations: the instruction set changes the speed and never the result.

use std::ops::Range;

use edgepace_graph::simd::{prefetch, with_simd};
use edgepace_graph::{Columns, Threads};

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
/// Bytes of rows that may be expected to stay in the cache that cores share.
const BLOCK: usize = 12 << 20;
/// With more blocks than this a row of a first end is read again too often.
const MOST_BLOCKS: usize = 8;

/// Sets `out[pair] = value(i, j, z_i · z_j)`, where i and j are the ends of the pair. `value` must be `#[inline(always)]`.
///
/// Rows of first ends come one after the other, those of second ends lie anywhere. So pairs are taken by blocks of second ends
/// where that keeps these in the cache, and their rows are asked for some pairs ahead.
pub(crate) fn each_product(
    threads: &Threads,
    out: &mut [f32],
    z: Rows<'_>,
    ends: &[[u32; 2]],
    value: impl Fn(usize, usize, f64) -> f32 + Sync,
) {
    let blocks = std::mem::size_of_val(z.values).div_ceil(BLOCK);
    let blocks = if blocks <= MOST_BLOCKS { blocks.max(1) } else { 1 };
    let nodes = z.values.len().checked_div(z.width).unwrap_or(0);
    for block in 0..blocks {
        let start = |block: usize| (block * nodes / blocks) as u32;
        let end = if block + 1 < blocks { start(block + 1) } else { u32::MAX };
        products(threads, out, z, ends, start(block)..end, &value);
    }
}

/// [`each_product`] of the pairs whose second end is in `block`.
fn products(
    threads: &Threads,
    out: &mut [f32],
    z: Rows<'_>,
    ends: &[[u32; 2]],
    block: Range<u32>,
    value: &(impl Fn(usize, usize, f64) -> f32 + Sync),
) {
    let Range { start, end } = block;
    threads.rows(out, 1, PIECE, |first: usize, piece: &mut [f32]| {
        with_simd(
            #[inline(always)]
            move || {
                let ends = &ends[first..first + piece.len()];
                // Without a branch, which could not be foretold.
                let (mut places, mut count) = ([0_u16; PIECE], 0);
                for (place, &[_, j]) in ends.iter().enumerate() {
                    places[count] = place as u16;
                    count += usize::from(start <= j && j < end);
                }
                let places = &places[..count];
                let ask = |place: u16| prefetch(z.row(ends[usize::from(place)][1] as usize));
                places.iter().take(AHEAD).for_each(|&place| ask(place));
                for (at, &place) in places.iter().enumerate() {
                    if let Some(&coming) = places.get(at + AHEAD) {
                        ask(coming);
                    }
                    let [i, j] = ends[usize::from(place)].map(|node| node as usize);
                    piece[usize::from(place)] = value(i, j, dot(z.row(i), z.row(j)));
                }
            },
        );
    });
}

/// Calls `fill(first_entry, columns, partial)` on each piece of several columns at once. Each piece adds up a partial result, which
/// starts at its default, to be folded in order afterwards; `partial` has [`pieces`] entries.
pub(crate) fn each_piece<C: Columns, P: Send + Default>(
    threads: &Threads,
    columns: C,
    partial: &mut [P],
    fill: impl Fn(usize, C, &mut P) + Sync,
) {
    let fill = &fill;
    threads.columns((columns, PerPiece(partial)), PIECE, |first: usize, (columns, PerPiece(partial))| {
        partial[0] = P::default();
        with_simd(
            #[inline(always)]
            move || fill(first, columns, &mut partial[0]),
        );
    });
}

/// A column with one entry for each piece of the others.
struct PerPiece<'a, P>(&'a mut [P]);

impl<P: Send> Columns for PerPiece<'_, P> {
    fn entries(&self) -> usize {
        self.0.len() * PIECE
    }

    fn cut(self, at: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at_mut(at / PIECE);
        (PerPiece(left), PerPiece(right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_by_blocks_of_second_ends_are_those_of_all_pairs_at_once() {
        const NODES: usize = 300;
        const WIDTH: usize = 19;
        let values: Vec<f32> = (0..NODES * WIDTH).map(|at| (at * 37 % 101) as f32 / 7.0 - 7.0).collect();
        let z = Rows::new(&values, WIDTH);
        let pairs = (0..3 * PIECE + 5).map(|pair| [pair / 21, pair * 7919 % NODES]);
        let ends: Vec<[u32; 2]> = pairs.map(|ends| ends.map(|node| node as u32)).collect();
        let value = |i: usize, j: usize, product: f64| (product + (i * NODES + j) as f64) as f32;
        let each = ends.iter().map(|ends| ends.map(|node| node as usize));
        let expected: Vec<f32> = each.map(|[i, j]| value(i, j, dot(z.row(i), z.row(j)))).collect();
        let threads = Threads::new(2).unwrap();
        let mut at_once = vec![0.0; ends.len()];
        each_product(&threads, &mut at_once, z, &ends, value);
        assert_eq!(at_once, expected);
        let mut by_blocks = vec![0.0; ends.len()];
        for block in [200..u32::MAX, 0..1, 1..150, 150..200] {
            products(&threads, &mut by_blocks, z, &ends, block, &value);
        }
        assert_eq!(by_blocks, expected);
    }
}
