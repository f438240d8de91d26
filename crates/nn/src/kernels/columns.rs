//! Sums over the rows of a matrix: the gradient of a bias.

use crate::meter::Kernel;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// Rows that are summed before the sums are added up, in order.
const PIECES: usize = 16;

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
    let _span = threads.span(Kernel::Loss, matrix.len(), std::mem::size_of_val(matrix));
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
                for row in matrix[rows.start * width..rows.end * width].chunks_exact(width) {
                    for (sum, &x) in sums.iter_mut().zip(row) {
                        *sum += x;
                    }
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
