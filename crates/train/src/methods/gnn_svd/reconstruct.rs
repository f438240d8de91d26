//! The largest entries of U·diag(σ)·Vᵀ as a weighted graph, without ever holding the dense product.
//!
//! The product is made in tiles that stay in a core's cache, twice: once, over all rows or an even sample of them, into a
//! histogram that tells where the cut lies, and once to collect what is above it. Memory is that of the factors and of
//! the kept entries; 2·n²·k flops, half of that where the matrix is symmetric.

use edgepace_graph::Graph;
use edgepace_nn::{Packed, Threads, tall_product};

use crate::error::TrainError;
use crate::linalg::Svd;

/// Which entries are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Keep {
    /// So many of the largest, both directions counted; entries that tie with the last are kept too.
    pub(super) entries: usize,
    /// Only those above this, at least 0.
    pub(super) above: f32,
    /// The matrix is symmetric up to rounding: entries above the diagonal stand for both.
    pub(super) symmetric: bool,
}

impl Keep {
    /// Entries that are collected: where the matrix is symmetric, those above the diagonal.
    fn wanted(self) -> usize {
        if self.symmetric { self.entries.div_ceil(2) } else { self.entries }
    }
}

/// Rows and columns of a tile: 96 × 512 `f32` fit a second-level cache.
const TILE_ROWS: usize = 96;
const TILE_COLUMNS: usize = 512;
/// The histogram is made from so many entries at most; beyond it from an even sample of rows.
const SAMPLED: usize = 1 << 28;
/// Where the cut is an estimate, so many times the wanted entries are collected first.
const MARGIN: f64 = 1.25;
/// Buckets of the histogram: the upper 16 bits of a positive `f32`, so a bucket is 2⁻⁷ wide relative to its value.
const BUCKETS: usize = 1 << 15;

/// The factors, ready for tiles: row i of `left` is σ·u_i, and the columns of the product are cut and packed.
struct Factors {
    left: Vec<f32>,
    right: Vec<Packed<f32>>,
    rows: usize,
    rank: usize,
    /// A tile is one thread's work.
    alone: Threads,
}

impl Factors {
    fn new(svd: Svd, rows: usize) -> Result<Self, TrainError> {
        let rank = svd.rank();
        let mut left = svd.left;
        for row in left.chunks_exact_mut(rank.max(1)) {
            row.iter_mut().zip(&svd.values).for_each(|(x, sigma)| *x *= sigma);
        }
        let right = svd.right.chunks(TILE_COLUMNS * rank.max(1)).map(|columns| {
            let mut packed = Packed::default();
            packed.pack_transposed(columns, rank, columns.len() / rank);
            packed
        });
        Ok(Self { right: right.collect(), left, rows, rank, alone: Threads::new(1)? })
    }

    /// Calls `visit(row within left, first column, entries)` for the rows of `left` by tiles, a row's columns in order
    /// of tiles. Tiles that end before column `from` are left out.
    fn tiles(&self, left: &[f32], from: usize, mut visit: impl FnMut(usize, usize, &[f32])) {
        let rows = left.len() / self.rank;
        let mut tile = vec![0.0; rows * TILE_COLUMNS];
        for (number, right) in self.right.iter().enumerate().skip(from / TILE_COLUMNS) {
            let first = number * TILE_COLUMNS;
            let columns = TILE_COLUMNS.min(self.rows - first);
            let tile = &mut tile[..rows * columns];
            tall_product(&self.alone, left, right, tile);
            for (row, entries) in tile.chunks_exact(columns).enumerate() {
                visit(row, first, entries);
            }
        }
    }
}

/// The graph of the kept entries, entry (i, j) as the edge j → i, and their values by edge id. The same bits for any
/// number of threads. The diagonal is not kept.
pub(super) fn reconstruct(
    threads: &Threads,
    svd: Svd,
    nodes: usize,
    keep: Keep,
) -> Result<(Graph, Vec<f32>), TrainError> {
    reconstruct_from(threads, svd, nodes, keep, SAMPLED)
}

/// The same from a histogram of `sampled` entries at most.
fn reconstruct_from(
    threads: &Threads,
    svd: Svd,
    nodes: usize,
    keep: Keep,
    sampled: usize,
) -> Result<(Graph, Vec<f32>), TrainError> {
    if svd.rank() == 0 || keep.entries == 0 || svd.values[0] == 0.0 {
        return Ok((Graph::from_edges(nodes, &[], &[])?, Vec::new()));
    }
    let factors = Factors::new(svd, nodes)?;
    let histogram = Histogram::new(threads, &factors, keep.above, sampled);
    let mut margin = if histogram.share < 1.0 { MARGIN } else { 1.0 };
    let mut blocks;
    loop {
        let cut = histogram.cut(margin * keep.entries as f64, keep.above);
        blocks = collect(threads, &factors, keep, cut);
        let found: usize = blocks.iter().map(|block| block.entries.len()).sum();
        if found >= keep.wanted() || cut <= keep.above {
            break;
        }
        // Rows with many large entries were in the sample, such as that of a hub.
        margin *= (MARGIN * keep.wanted() as f64 / found.max(1) as f64).max(2.0);
    }
    drop(factors);
    trim(&mut blocks, keep);
    into_graph(threads, nodes, &blocks, keep.symmetric)
}

/// How many entries there are of each size.
struct Histogram {
    counts: Vec<u64>,
    /// The share of rows that was counted.
    share: f64,
}

impl Histogram {
    /// Of the entries above `above` in all rows, or in an even sample of them.
    fn new(threads: &Threads, factors: &Factors, above: f32, sampled: usize) -> Self {
        let sampled = (sampled / factors.rows).clamp(1, factors.rows);
        let row_of = |sample: usize| sample * factors.rows / sampled;
        let mut parts = vec![Vec::<u32>::new(); sampled.div_ceil(TILE_ROWS)];
        threads.rows(&mut parts, 1, 1, |block, parts| {
            let samples = block * TILE_ROWS..sampled.min((block + 1) * TILE_ROWS);
            let left: Vec<f32> = samples
                .clone()
                .flat_map(|sample| &factors.left[row_of(sample) * factors.rank..][..factors.rank])
                .copied()
                .collect();
            let mut counts = vec![0_u32; BUCKETS];
            factors.tiles(&left, 0, |row, first, entries| {
                let diagonal = row_of(samples.start + row);
                for (c, &x) in entries.iter().enumerate() {
                    if x > above && first + c != diagonal {
                        counts[bucket(x)] += 1;
                    }
                }
            });
            parts[0] = counts;
        });
        let mut counts = vec![0; BUCKETS];
        for part in &parts {
            counts.iter_mut().zip(part).for_each(|(count, &part)| *count += u64::from(part));
        }
        Self { counts, share: sampled as f64 / factors.rows as f64 }
    }

    /// The largest value that so many entries exceed by this count, at least `above`.
    fn cut(&self, entries: f64, above: f32) -> f32 {
        let wanted = entries * self.share;
        let mut seen = 0.0;
        for bucket in (0..BUCKETS).rev() {
            seen += self.counts[bucket] as f64;
            if seen >= wanted {
                // A hair below the bucket, because its smallest value is in it.
                return above.max(f32::from_bits((bucket as u32) << 16).next_down());
            }
        }
        above
    }
}

fn bucket(x: f32) -> usize {
    (x.to_bits() >> 16) as usize
}

/// The kept entries of a block of rows.
#[derive(Clone, Default)]
struct Rows {
    /// Row, column and value, by row and then column.
    entries: Vec<(u32, u32, f32)>,
}

/// Every entry above `cut`; where the matrix is symmetric, only those above the diagonal.
fn collect(threads: &Threads, factors: &Factors, keep: Keep, cut: f32) -> Vec<Rows> {
    let mut blocks = vec![Rows::default(); factors.rows.div_ceil(TILE_ROWS)];
    threads.rows(&mut blocks, 1, 1, |block, out| {
        let start = block * TILE_ROWS;
        let end = factors.rows.min(start + TILE_ROWS);
        let entries = &mut out[0].entries;
        let from = if keep.symmetric { start } else { 0 };
        factors.tiles(&factors.left[start * factors.rank..end * factors.rank], from, |row, first, tile| {
            let row = start + row;
            for (part, values) in tile.chunks(16).enumerate() {
                // Hardly any entry is kept: look at 16 at once.
                if values.iter().filter(|&&x| x > cut).count() == 0 {
                    continue;
                }
                for (c, &x) in values.iter().enumerate() {
                    let column = first + 16 * part + c;
                    let counted = if keep.symmetric { column > row } else { column != row };
                    if x > cut && counted {
                        entries.push((row as u32, column as u32, x));
                    }
                }
            }
        });
        // Tiles come one after the other, each with all rows.
        entries.sort_unstable_by_key(|&(row, column, _)| (row, column));
        entries.shrink_to_fit();
    });
    blocks
}

/// Drops the smallest entries beyond those that are wanted.
fn trim(blocks: &mut [Rows], keep: Keep) {
    let wanted = keep.wanted();
    let mut values: Vec<f32> = blocks.iter().flat_map(|block| &block.entries).map(|&(_, _, x)| x).collect();
    if values.len() <= wanted {
        return;
    }
    let (_, &mut last, _) = values.select_nth_unstable_by(wanted - 1, |a, b| b.total_cmp(a));
    for block in blocks {
        block.entries.retain(|&(_, _, x)| x >= last);
    }
}

fn into_graph(
    threads: &Threads,
    nodes: usize,
    blocks: &[Rows],
    symmetric: bool,
) -> Result<(Graph, Vec<f32>), TrainError> {
    let entries = || blocks.iter().flat_map(|block| &block.entries);
    let rows: Vec<u32> = entries().map(|&(row, _, _)| row).collect();
    let columns: Vec<u32> = entries().map(|&(_, column, _)| column).collect();
    let mut values = entries().map(|&(_, _, x)| x);
    if !symmetric {
        let graph = Graph::from_edges_on(threads, nodes, &columns, &rows)?;
        return Ok((graph, values.collect()));
    }
    let graph = Graph::undirected_on(threads, nodes, &rows, &columns)?;
    let mut weights = vec![0.0; graph.edges()];
    for row in 0..nodes {
        let edges = graph.in_edges(row);
        let lower = graph.sources()[edges.clone()].partition_point(|&source| (source as usize) < row);
        // The columns beyond the diagonal are in this order in the graph, too.
        weights[edges.start + lower..edges.end].iter_mut().zip(&mut values).for_each(|(w, x)| *w = x);
    }
    for (edge, &twin) in graph.twins().unwrap_or_default().iter().enumerate() {
        if weights[edge] == 0.0 {
            weights[edge] = weights[twin as usize];
        }
    }
    Ok((graph, weights))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use edgepace_graph::random::{Purpose, Stream};
    use edgepace_nn::EdgeMatrix;
    use faer::Mat;

    use super::*;
    use crate::linalg::{LanczosConfig, lanczos_svd};
    use crate::methods::gnn_svd::GnnSvdConfig;

    const KEEP: Keep = Keep { entries: 1000, above: 0.0, symmetric: true };

    fn graph(nodes: u64, pairs: u64, symmetric: bool) -> Arc<Graph> {
        let stream = Stream::new(9, Purpose::Benchmark, 0);
        // Squared, so that low ids have many edges and the spectrum decays.
        let end = |at: u64| (stream.uniform(at).powi(2) * nodes as f64) as u32;
        let (a, b): (Vec<u32>, Vec<u32>) = (0..pairs).map(|i| (end(2 * i), end(2 * i + 1))).unzip();
        let make = if symmetric { Graph::undirected } else { Graph::from_edges };
        Arc::new(make(nodes as usize, &a, &b).unwrap())
    }

    fn svd(threads: &Threads, graph: &Arc<Graph>) -> Svd {
        let matrix = EdgeMatrix::new(threads, Arc::clone(graph), &vec![1.0; graph.edges()]).unwrap();
        let config = LanczosConfig { rank: 6, tolerance: 1e-5, seed: 0 };
        lanczos_svd(threads, &matrix, graph.twins().is_some(), config).unwrap()
    }

    /// Positive entries off the diagonal of the exact rank-6 matrix: value, target, source; the largest first.
    fn exact(graph: &Graph) -> Vec<(f64, u32, u32)> {
        let n = graph.nodes();
        let mut dense = Mat::<f64>::zeros(n, n);
        for (&source, target) in graph.sources().iter().zip(graph.targets()) {
            dense[(target as usize, source as usize)] = 1.0;
        }
        let svd = dense.svd().unwrap();
        let entry = |i: usize, j: usize| (0..6).map(|r| svd.U()[(i, r)] * svd.S()[r] * svd.V()[(j, r)]).sum();
        let mut entries: Vec<(f64, u32, u32)> =
            (0..n * n).map(|at| (entry(at / n, at % n), (at / n) as u32, (at % n) as u32)).collect();
        entries.retain(|&(x, i, j)| x > 0.0 && i != j);
        entries.sort_by(|a, b| b.0.total_cmp(&a.0));
        entries
    }

    #[test]
    fn the_kept_entries_are_the_largest_of_a_dense_reconstruction() {
        let threads = Threads::new(2).unwrap();
        for symmetric in [true, false] {
            let graph = graph(150, 700, symmetric);
            let exact = exact(&graph);
            let keep = Keep { symmetric, ..KEEP };
            let (kept, weights) = reconstruct(&threads, svd(&threads, &graph), 150, keep).unwrap();
            assert_eq!(kept.edges(), 1000);
            assert_eq!(kept.twins().is_some(), symmetric);
            let last = exact[999].0;
            for &(value, target, source) in &exact {
                match kept.edge_id(source, target) {
                    Some(edge) => assert!((f64::from(weights[edge as usize]) - value).abs() < 1e-3),
                    None => assert!(value < last + 1e-3, "{value} is missing"),
                }
            }
        }
    }

    #[test]
    fn both_directions_of_an_edge_have_the_same_weight() {
        let threads = Threads::new(1).unwrap();
        let (kept, weights) =
            reconstruct(&threads, svd(&threads, &graph(150, 700, true)), 150, KEEP).unwrap();
        for (edge, &twin) in kept.twins().unwrap().iter().enumerate() {
            assert_eq!(weights[edge], weights[twin as usize]);
        }
    }

    #[test]
    fn a_threshold_drops_what_is_not_above_it_and_a_large_density_keeps_every_positive_entry() {
        let threads = Threads::new(1).unwrap();
        let graph = graph(150, 700, true);
        let exact = exact(&graph);
        let all = Keep { entries: usize::MAX >> 8, ..KEEP };
        let (kept, weights) =
            reconstruct(&threads, svd(&threads, &graph), 150, Keep { above: 0.25, ..all }).unwrap();
        assert!(weights.iter().all(|&w| w > 0.25));
        assert!(kept.edges().abs_diff(exact.iter().filter(|entry| entry.0 > 0.25).count()) <= 4);
        let (kept, _) = reconstruct(&threads, svd(&threads, &graph), 150, all).unwrap();
        assert!(kept.edges().abs_diff(exact.len()) <= exact.len() / 100);
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_bit() {
        let graph = graph(1300, 5000, false);
        let keep = Keep { symmetric: false, ..KEEP };
        let made = [1, 2, 8].map(|count| {
            let threads = Threads::new(count).unwrap();
            reconstruct(&threads, svd(&threads, &graph), 1300, keep).unwrap()
        });
        assert!(made[0].1 == made[1].1 && made[0].1 == made[2].1);
        assert!(made[0].0.sources() == made[1].0.sources() && made[0].0.sources() == made[2].0.sources());
    }

    #[test]
    fn the_default_tolerance_keeps_the_edges_of_a_finer_one_where_singular_values_lie_close() {
        let threads = Threads::new(2).unwrap();
        let stream = Stream::new(3, Purpose::Benchmark, 0);
        let end = |at: u64| (stream.uniform(at) * 1500.0) as u32;
        let (a, b): (Vec<u32>, Vec<u32>) = (0..9000).map(|i| (end(2 * i), end(2 * i + 1))).unzip();
        let graph = Arc::new(Graph::undirected(1500, &a, &b).unwrap());
        let matrix = EdgeMatrix::new(&threads, Arc::clone(&graph), &vec![1.0; graph.edges()]).unwrap();
        let keep = Keep { entries: graph.edges(), ..KEEP };
        let [kept, finer] = [GnnSvdConfig::default().tolerance, 1e-5].map(|tolerance| {
            let config = LanczosConfig { rank: 100, tolerance, seed: 0 };
            let svd = lanczos_svd(&threads, &matrix, true, config).unwrap();
            reconstruct(&threads, svd, 1500, keep).unwrap().0
        });
        let ends =
            |graph: &Graph| graph.sources().iter().copied().zip(graph.targets()).collect::<BTreeSet<_>>();
        let (kept, finer) = (ends(&kept), ends(&finer));
        let jaccard = kept.intersection(&finer).count() as f64 / kept.union(&finer).count() as f64;
        assert!(jaccard > 0.98, "{jaccard}");
    }

    #[test]
    fn a_sample_with_a_hub_in_it_keeps_as_many_entries_as_all_rows() {
        let threads = Threads::new(2).unwrap();
        // Node 0, which every sample has, is joined to half of the others.
        let nodes = 4000_u32;
        let stream = Stream::new(5, Purpose::Benchmark, 0);
        let end = |at: u32| (stream.uniform(u64::from(at)) * f64::from(nodes)) as u32;
        let (a, b): (Vec<u32>, Vec<u32>) =
            (1..nodes).map(|i| if i % 2 == 0 { (0, i) } else { (end(2 * i), end(2 * i + 1)) }).unzip();
        let graph = Arc::new(Graph::undirected(nodes as usize, &a, &b).unwrap());
        let keep = Keep { entries: 3 * graph.edges(), ..KEEP };
        let kept = [SAMPLED, 40 * nodes as usize].map(|sampled| {
            let svd = svd(&threads, &graph);
            reconstruct_from(&threads, svd, nodes as usize, keep, sampled).unwrap()
        });
        assert!(kept[0].0.edges() >= keep.entries);
        assert!(kept[0].1 == kept[1].1 && kept[0].0.sources() == kept[1].0.sources());
    }

    #[test]
    fn a_graph_without_edges_stays_without() {
        let threads = Threads::new(1).unwrap();
        let empty = Arc::new(Graph::from_edges(20, &[], &[]).unwrap());
        let (kept, weights) = reconstruct(&threads, svd(&threads, &empty), 20, KEEP).unwrap();
        assert_eq!((kept.nodes(), kept.edges(), weights.len()), (20, 0, 0));
    }
}
