//! The gradient of a propagation by its values: a dot product per edge (sampled dense–dense product).

use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// out_e += a_i · b_j for every entry e = (i, j) of a CSR pattern.
///
/// Shapes: `a` rows × `width`, `b` columns × `width`, `out` one number per entry.
/// Cost: 2 · entries · width flops, one row of `b` gathered per entry.
pub(crate) fn sddmm<T: Real>(
    threads: &Threads,
    (offsets, columns): (&[usize], &[u32]),
    (a, b, width): (&[T], &[T], usize),
    out: &mut [T],
) {
    let entry = width * size_of::<T>() + size_of::<u32>() + 2 * size_of::<T>();
    let bytes = out.len() * entry + std::mem::size_of_val(a);
    let _span = threads.span(KernelKind::EdgeGradient, 2 * out.len() * width, bytes);
    threads.nodes(
        offsets,
        |i| offsets[i],
        out,
        |rows, out| {
            let first = offsets[rows.start];
            with_simd(
                #[inline(always)]
                || {
                    for i in rows {
                        let a = &a[i * width..][..width];
                        for e in offsets[i]..offsets[i + 1] {
                            let b = &b[columns[e] as usize * width..][..width];
                            out[e - first] += dot(a, b);
                        }
                    }
                },
            );
        },
    );
}

/// out_i += a_i · b_i for every row.
pub(crate) fn row_dots<T: Real>(threads: &Threads, (a, b, width): (&[T], &[T], usize), out: &mut [T]) {
    threads.rows(out, 1, 1024, |first, out| {
        with_simd(
            #[inline(always)]
            || {
                for (i, out) in out.iter_mut().enumerate() {
                    let at = (first + i) * width;
                    *out += dot(&a[at..][..width], &b[at..][..width]);
                }
            },
        );
    });
}

/// Interleaved partial sums of a reduction.
const LANES: usize = 16;

/// a · b in 16 interleaved partial sums, folded by halves: the same order on every machine.
#[inline(always)]
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (a_tiles, a_rest) = a.as_chunks::<LANES>();
    let (b_tiles, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_tiles.iter().zip(b_tiles) {
        for l in 0..LANES {
            lanes[l] = a[l].mul_add(b[l], lanes[l]);
        }
    }
    for (l, (&a, &b)) in a_rest.iter().zip(b_rest).enumerate() {
        lanes[l] = a.mul_add(b, lanes[l]);
    }
    halve(lanes)
}

#[inline(always)]
pub(crate) fn halve<T: Real>(mut lanes: [T; LANES]) -> T {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] += lanes[l + half];
        }
        half /= 2;
    }
    lanes[0]
}
