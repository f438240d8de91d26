//! Weighted mean, minimum, maximum and standard deviation over the in-edges of each node, and their gradients.
//!
//! An edge counts when its weight is positive; s = Σ w are the `degrees`. Weights only ever appear as w / s, which is at
//! most 1 however small they are. Mean μ = Σ w v / s, variance Σ w (v − μ)² / s in two passes (no cancellation),
//! std = √variance. Variances of at most [`FLAT`] give std 0 and no gradient, because √ has no slope at 0. A node
//! without such an edge gets zeros.

use crate::kernels::spmm::Csr;
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// A variance up to this counts as none.
const FLAT: f64 = 1e-5;
/// How many statistics there are; in a row they stand one after another: mean, minimum, maximum, std.
pub(crate) const STATISTICS: usize = 4;

/// The four statistics of the rows of `dense` that the in-edges of each node lead from.
///
/// Shapes: `dense` nodes × `width`, `out` nodes × (4 · width). Cost: two gathers of a row per edge.
pub(crate) fn segment_statistics<T: Real>(
    threads: &Threads,
    (edges, degrees): (Csr<'_, T>, &[T]),
    dense: &[T],
    width: usize,
    out: &mut [T],
) {
    if width == 0 {
        return;
    }
    let (entries, row) = (edges.values.len(), width * size_of::<T>());
    let bytes = 2 * entries * row + std::mem::size_of_val(out);
    let _span = threads.span(KernelKind::Segment, 8 * entries * width, bytes);
    threads.nodes(
        edges.offsets,
        |i| i * STATISTICS * width,
        out,
        |nodes, out| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, out) in nodes.zip(out.chunks_exact_mut(STATISTICS * width)) {
                        if !edges.makes(i) {
                            continue;
                        }
                        if degrees[i] == T::ZERO {
                            out.fill(T::ZERO);
                            continue;
                        }
                        in_tiles!(width, |at| statistics_tile::<T, W>(
                            (edges, degrees[i]),
                            i,
                            (dense, width),
                            at,
                            out
                        ));
                    }
                },
            );
        },
    );
}

/// W columns of a node's statistics, from column `at`, in registers.
#[inline(always)]
fn statistics_tile<T: Real, const W: usize>(
    (edges, degree): (Csr<'_, T>, T),
    i: usize,
    (dense, width): (&[T], usize),
    at: usize,
    out: &mut [T],
) {
    let (mut mean, mut low, mut high) = ([T::ZERO; W], [T::MAX; W], [T::MIN; W]);
    for (_, weight, row) in neighbours(edges, i, dense, width) {
        let (share, row) = (weight / degree, tile::<T, W>(row, at));
        for c in 0..W {
            mean[c] = share.mul_add(row[c], mean[c]);
            low[c] = low[c].min(row[c]);
            high[c] = high[c].max(row[c]);
        }
    }
    let mut std = [T::ZERO; W];
    for (_, weight, row) in neighbours(edges, i, dense, width) {
        let (share, row) = (weight / degree, tile::<T, W>(row, at));
        for c in 0..W {
            let off = row[c] - mean[c];
            std[c] = (share * off).mul_add(off, std[c]);
        }
    }
    let flat = T::of(FLAT);
    for c in 0..W {
        std[c] = if std[c] > flat { std[c].sqrt() } else { T::ZERO };
    }
    for (part, values) in [mean, low, high, std].iter().enumerate() {
        out[part * width + at..][..W].copy_from_slice(values);
    }
}

/// Runs a statement for tiles of 16, 8 and single columns: inside, `W` is the tile's width.
macro_rules! in_tiles {
    ($width:expr, |$at:ident| $body:expr) => {{
        let mut $at = 0;
        while $at + 16 <= $width {
            const W: usize = 16;
            $body;
            $at += W;
        }
        while $at + 8 <= $width {
            const W: usize = 8;
            $body;
            $at += W;
        }
        while $at < $width {
            const W: usize = 1;
            $body;
            $at += W;
        }
    }};
}
use in_tiles;

#[inline(always)]
fn tile<T, const W: usize>(row: &[T], at: usize) -> &[T; W] {
    row[at..].first_chunk().expect("tiles lie inside their row")
}

/// The in-edges of a node that count: the nodes they lead from, their weights, and those nodes' rows.
#[inline(always)]
fn neighbours<'a, T: Real>(
    edges: Csr<'a, T>,
    i: usize,
    dense: &'a [T],
    width: usize,
) -> impl Iterator<Item = (usize, T, &'a [T])> {
    let range = edges.offsets[i]..edges.offsets[i + 1];
    let (columns, weights) = (&edges.columns[range.clone()], &edges.values[range]);
    columns
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight > T::ZERO)
        .map(move |(&j, &weight)| (j as usize, weight, &dense[j as usize * width..][..width]))
}

/// What an edge's source needs to know about its target, made once per node by [`spread`]: six rows of `width`
/// numbers.
pub(crate) const SPREAD: usize = 6;

/// Prepares the gradient by the gathered rows. With gradients m, n, x, d of mean, minimum, maximum and std, the row v
/// of an edge with weight w receives
/// w / s · (m + d (v − μ) / std) + \[v = min\] n / ties + \[v = max\] x / ties,
/// so `out` holds for each target: m − d μ / std, d / std, min, n / ties, max, x / ties. Equal extremes share their
/// gradient, as in PyTorch.
///
/// Shapes: `statistics` and `gradient` nodes × (4 · width), `out` nodes × (6 · width).
pub(crate) fn spread<T: Real>(
    threads: &Threads,
    edges: Csr<'_, T>,
    dense: &[T],
    width: usize,
    (statistics, gradient): (&[T], &[T]),
    out: &mut [T],
) {
    if width == 0 {
        return;
    }
    let (entries, row) = (edges.values.len(), width * size_of::<T>());
    let bytes = entries * row + 2 * std::mem::size_of_val(gradient) + std::mem::size_of_val(out);
    let _span = threads.span(KernelKind::Segment, 2 * entries * width, bytes);
    threads.nodes(
        edges.offsets,
        |i| i * SPREAD * width,
        out,
        |nodes, out| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, out) in nodes.zip(out.chunks_exact_mut(SPREAD * width)) {
                        let statistics = &statistics[i * STATISTICS * width..][..STATISTICS * width];
                        let gradient = &gradient[i * STATISTICS * width..][..STATISTICS * width];
                        if neighbours(edges, i, dense, width).next().is_none() {
                            out.fill(T::ZERO);
                            continue;
                        }
                        let parts = (statistics, gradient);
                        in_tiles!(width, |at| spread_tile::<T, W>(edges, i, (dense, width), at, parts, out));
                    }
                },
            );
        },
    );
}

/// W columns of what the sources of a node's edges need to know, from column `at`.
#[inline(always)]
fn spread_tile<T: Real, const W: usize>(
    edges: Csr<'_, T>,
    i: usize,
    (dense, width): (&[T], usize),
    at: usize,
    (statistics, gradient): (&[T], &[T]),
    out: &mut [T],
) {
    // The extremes are found again rather than read: what was added to the statistics and taken off again left
    // them rounded, and equal to no row.
    let (mut low, mut high) = ([T::MAX; W], [T::MIN; W]);
    let (mut low_ties, mut high_ties) = ([T::ZERO; W], [T::ZERO; W]);
    for (_, _, row) in neighbours(edges, i, dense, width) {
        let row = tile::<T, W>(row, at);
        for c in 0..W {
            let kept = if row[c] < low[c] { T::ZERO } else { low_ties[c] };
            low[c] = low[c].min(row[c]);
            low_ties[c] = if row[c] == low[c] { kept + T::ONE } else { kept };
            let kept = if row[c] > high[c] { T::ZERO } else { high_ties[c] };
            high[c] = high[c].max(row[c]);
            high_ties[c] = if row[c] == high[c] { kept + T::ONE } else { kept };
        }
    }
    let [mean, _, _, std] = quarters(statistics, width).map(|part| tile::<T, W>(part, at));
    let [d_mean, d_low, d_high, d_std] = quarters(gradient, width).map(|part| tile::<T, W>(part, at));
    let (mut constant, mut slope) = ([T::ZERO; W], [T::ZERO; W]);
    for c in 0..W {
        low_ties[c] = d_low[c] / low_ties[c];
        high_ties[c] = d_high[c] / high_ties[c];
        slope[c] = if std[c] > T::ZERO { d_std[c] / std[c] } else { T::ZERO };
        constant[c] = d_mean[c] - slope[c] * mean[c];
    }
    for (part, values) in [constant, slope, low, low_ties, high, high_ties].iter().enumerate() {
        out[part * width + at..][..W].copy_from_slice(values);
    }
}

#[inline(always)]
fn quarters<T>(row: &[T], width: usize) -> [&[T]; STATISTICS] {
    let (a, rest) = row.split_at(width);
    let (b, rest) = rest.split_at(width);
    let (c, d) = rest.split_at(width);
    [a, b, c, d]
}

/// The gradient by the gathered rows: each node j adds up what its out-edges' targets hold for it in `spread`.
///
/// `out_edges` are the edges by source, `degrees` those of their targets. Shapes: `dense` and `out` nodes × `width`,
/// `spread` nodes × (6 · width).
pub(crate) fn gather_spread<T: Real>(
    threads: &Threads,
    (out_edges, degrees): (Csr<'_, T>, &[T]),
    dense: &[T],
    width: usize,
    spread: &[T],
    out: &mut [T],
) {
    if width == 0 {
        return;
    }
    let (entries, row) = (out_edges.values.len(), width * size_of::<T>());
    let bytes = entries * SPREAD * row + 2 * std::mem::size_of_val(out);
    let _span = threads.span(KernelKind::Segment, 8 * entries * width, bytes);
    threads.nodes(
        out_edges.offsets,
        |j| j * width,
        out,
        |nodes, out| {
            with_simd(
                #[inline(always)]
                || {
                    for (j, out) in nodes.zip(out.chunks_exact_mut(width)) {
                        let v = &dense[j * width..][..width];
                        in_tiles!(width, |at| gather_tile::<T, W>(
                            (out_edges, degrees),
                            j,
                            (spread, width),
                            at,
                            v,
                            out
                        ));
                    }
                },
            );
        },
    );
}

/// W columns of what a node's out-edges hold for it, from column `at`.
#[inline(always)]
fn gather_tile<T: Real, const W: usize>(
    (out_edges, degrees): (Csr<'_, T>, &[T]),
    j: usize,
    (spread, width): (&[T], usize),
    at: usize,
    v: &[T],
    out: &mut [T],
) {
    let v = tile::<T, W>(v, at);
    let mut sum = [T::ZERO; W];
    for (target, weight, row) in neighbours(out_edges, j, spread, SPREAD * width) {
        let share = weight / degrees[target];
        let part = |part: usize| tile::<T, W>(row, part * width + at);
        let (constant, slope, low, low_share, high, high_share) =
            (part(0), part(1), part(2), part(3), part(4), part(5));
        for c in 0..W {
            let smooth = share * slope[c].mul_add(v[c], constant[c]);
            let at_low = if v[c] == low[c] { low_share[c] } else { T::ZERO };
            let at_high = if v[c] == high[c] { high_share[c] } else { T::ZERO };
            sum[c] += smooth + (at_low + at_high);
        }
    }
    out[at..at + W].copy_from_slice(&sum);
}

/// The gradient by the weights through mean and std: out_e += Σ_c m_c (v_c − μ_c) / s + d_c ((v_c − μ_c)² − std_c²) /
/// (2 s std_c). Minimum and maximum do not move with a positive weight.
pub(crate) fn weight_gradient<T: Real>(
    threads: &Threads,
    edges: Csr<'_, T>,
    dense: &[T],
    width: usize,
    (statistics, gradient): (&[T], &[T]),
    out: &mut [T],
) {
    let half = T::of(0.5);
    threads.nodes(
        edges.offsets,
        |i| edges.offsets[i],
        out,
        |nodes, out| {
            let first = edges.offsets[nodes.start];
            for i in nodes {
                let [mean, _, _, std] =
                    quarters(&statistics[i * STATISTICS * width..][..STATISTICS * width], width);
                let [d_mean, _, _, d_std] =
                    quarters(&gradient[i * STATISTICS * width..][..STATISTICS * width], width);
                let range = edges.offsets[i]..edges.offsets[i + 1];
                let total: T = edges.values[range.clone()].iter().copied().sum();
                if total == T::ZERO {
                    continue;
                }
                for e in range {
                    let v = &dense[edges.columns[e] as usize * width..][..width];
                    let mut sum = T::ZERO;
                    for c in 0..width {
                        let off = v[c] - mean[c];
                        sum += d_mean[c] * off;
                        if std[c] > T::ZERO {
                            sum += d_std[c] * half * (off * off - std[c] * std[c]) / std[c];
                        }
                    }
                    out[e - first] += sum / total;
                }
            }
        },
    );
}
