//! Sums over the rows of a matrix: the gradient of a bias.

use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// Into how many fixed pieces the rows are cut at most.
const PIECES: usize = 16;

/// Into how many pieces so many rows are cut at most.
pub(crate) fn most_pieces(rows: usize) -> usize {
    rows.min(PIECES)
}

/// out_c = Σ_i matrix[i, c]. Rows are cut into fixed pieces whose sums are added in order.
pub(crate) fn column_sums<T: Real>(
    threads: &Threads,
    matrix: &[T],
    width: usize,
    partial: &mut Vec<T>,
    out: &mut [T],
) {
    out.fill(T::ZERO);
    if width == 0 || matrix.is_empty() {
        return;
    }
    let _span = threads.span(KernelKind::Loss, matrix.len(), std::mem::size_of_val(matrix));
    let rows = matrix.len() / width;
    let piece_rows = rows.div_ceil(PIECES);
    let pieces = rows.div_ceil(piece_rows);
    partial.clear();
    partial.resize(pieces * width, T::ZERO);
    threads.rows(partial, width, 1, |piece, sums| {
        let rows = piece * piece_rows..((piece + 1) * piece_rows).min(rows);
        with_simd(
            #[inline(always)]
            || {
                let rows = &matrix[rows.start * width..rows.end * width];
                let mut at = 0;
                while at + 16 <= width {
                    tile::<T, 16>(rows, width, at, sums);
                    at += 16;
                }
                while at + 8 <= width {
                    tile::<T, 8>(rows, width, at, sums);
                    at += 8;
                }
                while at < width {
                    tile::<T, 1>(rows, width, at, sums);
                    at += 1;
                }
            },
        );
    });
    for sums in partial.chunks_exact(width) {
        for (out, &sum) in out.iter_mut().zip(sums) {
            *out += sum;
        }
    }
}

/// The sums of W columns from `at`, in registers.
#[inline(always)]
fn tile<T: Real, const W: usize>(rows: &[T], width: usize, at: usize, sums: &mut [T]) {
    let mut sum = [T::ZERO; W];
    for row in rows.chunks_exact(width) {
        let row: &[T; W] = row[at..][..W].try_into().expect("a slice of W numbers");
        for c in 0..W {
            sum[c] += row[c];
        }
    }
    sums[at..at + W].copy_from_slice(&sum);
}
