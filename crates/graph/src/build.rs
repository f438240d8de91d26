//! From lists of edges to a [`Graph`].

use std::ops::Range;

use crate::error::{check_edge_count, check_ids, check_length, check_node_count};
use crate::scatter::{Cut, MANY, by_bucket, cut_at_mut};
use crate::{Dropped, Graph, GraphError, Threads};

impl Graph {
    /// The graph of the directed edges `sources[i] → targets[i]`.
    ///
    /// Self-loops and repeated edges are dropped and counted (see [`Graph::dropped`]).
    ///
    /// Cost: a counting sort by target, O(nodes + edges), and a sort within each row, on the calling thread; for a million
    /// edges or more [`Graph::from_edges_on`] is faster. Beside the graph itself (see [`Graph`]) it needs 4 bytes per node
    /// and 3 per edge.
    ///
    /// # Errors
    /// Unequal lengths, an id that is not below `nodes`, more than `u32::MAX - 1` nodes or `u32::MAX` edges.
    pub fn from_edges(nodes: usize, sources: &[u32], targets: &[u32]) -> Result<Graph, GraphError> {
        Graph::from_edges_on(&Threads::one(), nodes, sources, targets)
    }

    /// As [`Graph::from_edges`], on several threads, which share the work from a million edges on and do not change the
    /// result.
    ///
    /// # Errors
    /// As [`Graph::from_edges`].
    pub fn from_edges_on(
        threads: &Threads,
        nodes: usize,
        sources: &[u32],
        targets: &[u32],
    ) -> Result<Graph, GraphError> {
        let edges = EdgeList::directed(threads, nodes, sources, targets)?;
        let by_target = |range| edges.part(range).map(|(_, source, target)| (target, source));
        let (offsets, sources) = sort_by_target(threads, nodes, edges.len(), by_target, |source| source);
        let dropped = edges.dropped(threads, sources.len());
        Ok(Graph::from_sorted_rows(threads, offsets, sources, dropped))
    }

    /// The graph that has every pair `a[i]`, `b[i]` as an edge in both directions.
    ///
    /// Self-loops and pairs that repeat an earlier one, in either direction, are dropped and counted as pairs.
    /// A list that already holds both directions of every edge therefore gives the right graph, and reports
    /// half of its entries as duplicates. Cost as for [`Graph::from_edges`] with twice the number of pairs.
    ///
    /// # Errors
    /// Unequal lengths, an id that is not below `nodes`, more than `u32::MAX - 1` nodes or `u32::MAX` edges.
    pub fn undirected(nodes: usize, a: &[u32], b: &[u32]) -> Result<Graph, GraphError> {
        Graph::undirected_on(&Threads::one(), nodes, a, b)
    }

    /// As [`Graph::undirected`], on several threads, which share the work from a million pairs on and do not change the
    /// result.
    ///
    /// # Errors
    /// As [`Graph::undirected`].
    pub fn undirected_on(threads: &Threads, nodes: usize, a: &[u32], b: &[u32]) -> Result<Graph, GraphError> {
        let pairs = EdgeList::undirected(threads, nodes, a, b)?;
        let both_ways = |range: Range<usize>| {
            let forward = pairs.part(range.clone()).map(|(_, a, b)| (b, a));
            forward.chain(pairs.part(range).map(|(_, a, b)| (a, b)))
        };
        let (offsets, sources) = sort_by_target(threads, nodes, pairs.len(), both_ways, |source| source);
        let dropped = pairs.dropped(threads, sources.len() / 2);
        Ok(Graph::from_sorted_rows(threads, offsets, sources, dropped))
    }
}

/// Two slices of equal length that list edges, as the caller gave them, with their ids checked.
#[derive(Clone, Copy)]
pub(crate) struct EdgeList<'a> {
    sources: &'a [u32],
    targets: &'a [u32],
}

impl<'a> EdgeList<'a> {
    pub(crate) fn directed(
        threads: &Threads,
        nodes: usize,
        sources: &'a [u32],
        targets: &'a [u32],
    ) -> Result<EdgeList<'a>, GraphError> {
        check_node_count("nodes", nodes)?;
        check_length("targets", targets.len(), sources.len(), "one target per source")?;
        check_edge_count(sources.len())?;
        check_ids(threads, "sources", sources, nodes)?;
        check_ids(threads, "targets", targets, nodes)?;
        Ok(EdgeList { sources, targets })
    }

    pub(crate) fn undirected(
        threads: &Threads,
        nodes: usize,
        a: &'a [u32],
        b: &'a [u32],
    ) -> Result<EdgeList<'a>, GraphError> {
        check_node_count("nodes", nodes)?;
        check_length("b", b.len(), a.len(), "two ends per pair")?;
        check_edge_count(a.len().saturating_mul(2))?;
        check_ids(threads, "a", a, nodes)?;
        check_ids(threads, "b", b, nodes)?;
        Ok(EdgeList { sources: a, targets: b })
    }

    /// Number of entries, loops and repeats included.
    pub(crate) fn len(self) -> usize {
        self.sources.len()
    }

    /// The entries of a range that are not loops: position, source, target.
    pub(crate) fn part(self, range: Range<usize>) -> impl Iterator<Item = (u32, u32, u32)> + 'a {
        let inputs = range.start as u32..;
        let edges = self.sources[range.clone()].iter().zip(&self.targets[range]).zip(inputs);
        edges.map(|((&source, &target), input)| (input, source, target)).filter(|(_, s, t)| s != t)
    }

    /// Tells loops from repeats among the entries that were not kept.
    pub(crate) fn dropped(self, threads: &Threads, kept: usize) -> Dropped {
        let loops_of = |piece: Range<usize>| {
            let ends = self.sources[piece.clone()].iter().zip(&self.targets[piece]);
            ends.filter(|(source, target)| source == target).count()
        };
        let loops = threads.map_pieces(self.len(), MANY, loops_of).into_iter().sum();
        Dropped { duplicates: self.len() - loops - kept, loops, ..Dropped::default() }
    }
}

/// Sorts edges by target, and within a target by their entry, of which only the first per source is kept.
///
/// `edges` gives those of a range of the inputs: a target, which must be below `nodes`, and an entry. `source_of` tells an
/// entry's source and must never decrease as entries grow. Returns the offsets and the kept entries. The offsets serve
/// first as counts, then as write cursors and only then as offsets, and repeats are squeezed out in place.
pub(crate) fn sort_by_target<Entry, Edges>(
    threads: &Threads,
    nodes: usize,
    inputs: usize,
    edges: impl Fn(Range<usize>) -> Edges + Sync,
    source_of: impl Fn(Entry) -> u32 + Sync,
) -> (Vec<usize>, Vec<Entry>)
where
    Entry: Copy + Ord + Default + Send + Sync,
    Edges: Iterator<Item = (u32, Entry)>,
{
    sort_cut(threads, Cut::of(inputs, nodes), nodes, inputs, edges, source_of)
}

/// The same, cut for many threads or, without a cut, the plain way.
fn sort_cut<Entry, Edges>(
    threads: &Threads,
    cut: Option<Cut>,
    nodes: usize,
    inputs: usize,
    edges: impl Fn(Range<usize>) -> Edges + Sync,
    source_of: impl Fn(Entry) -> u32 + Sync,
) -> (Vec<usize>, Vec<Entry>)
where
    Entry: Copy + Ord + Default + Send + Sync,
    Edges: Iterator<Item = (u32, Entry)>,
{
    let mut offsets = vec![0; nodes + 1];
    match cut {
        None => edges(0..inputs).for_each(|(target, _)| offsets[target as usize] += 1),
        Some(cut) => count(threads, cut, inputs, &edges, &mut offsets[..nodes]),
    }
    let mut total = 0;
    for offset in &mut offsets {
        let count = std::mem::replace(offset, total);
        total += count;
    }

    let mut entries = vec![Entry::default(); total];
    let mut rows = Rows::cut(cut.map_or(nodes, Cut::nodes), &mut offsets, &mut entries);
    match cut {
        None => {
            for all in &mut rows {
                edges(0..inputs).for_each(|(target, entry)| all.put(target, entry));
            }
        }
        Some(cut) => {
            by_bucket(threads, cut, inputs, &edges, &mut rows, |first, items, rows| {
                for &(target, entry) in items {
                    rows.put(target - first as u32, entry);
                }
                true
            });
        }
    }
    let mut sizes = vec![(0, 0); rows.len()];
    threads.rows_of_two((&mut rows, 1), (&mut sizes, 1), 1, |_, rows, size| {
        size[0] = rows[0].squeeze(&source_of);
    });
    drop(rows);

    let (mut start, mut kept) = (0, 0);
    for (bucket, (size, left)) in sizes.into_iter().enumerate() {
        if kept < start {
            entries.copy_within(start..start + left, kept);
        }
        let first = bucket * cut.map_or(nodes, Cut::nodes);
        let last = nodes.min(first + cut.map_or(nodes, Cut::nodes));
        offsets[first..last].iter_mut().for_each(|offset| *offset += kept);
        start += size;
        kept += left;
    }
    offsets[nodes] = kept;
    entries.truncate(kept);
    entries.shrink_to_fit();
    (offsets, entries)
}

/// Adds to each node's count the edges that point at it.
fn count<Entry, Edges: Iterator<Item = (u32, Entry)>>(
    threads: &Threads,
    cut: Cut,
    inputs: usize,
    edges: &(impl Fn(Range<usize>) -> Edges + Sync),
    counts: &mut [usize],
) {
    let targets = |range| edges(range).map(|(target, _)| (target, ()));
    let mut counts: Vec<&mut [usize]> = counts.chunks_mut(cut.nodes()).collect();
    by_bucket(threads, cut, inputs, targets, &mut counts, |first, items, counts| {
        for &(target, ()) in items {
            counts[target as usize - first] += 1;
        }
        true
    });
}

/// The rows of neighbouring nodes.
struct Rows<'a, Entry> {
    /// Where each row starts among all entries; moves on as it is filled.
    cursors: &'a mut [usize],
    entries: &'a mut [Entry],
    /// Where `entries` start among all entries.
    start: usize,
}

impl<'a, Entry: Copy + Ord> Rows<'a, Entry> {
    /// All rows, cut after every `nodes` of them.
    fn cut(nodes: usize, offsets: &'a mut [usize], entries: &'a mut [Entry]) -> Vec<Rows<'a, Entry>> {
        let end = offsets.len() - 1;
        let starts: Vec<usize> = (0..end).step_by(nodes.max(1)).chain([end]).map(|at| offsets[at]).collect();
        let parts = cut_at_mut(entries, starts.windows(2).map(|ends| ends[1] - ends[0]));
        let cursors = offsets[..end].chunks_mut(nodes.max(1));
        let parts = cursors.zip(parts).zip(starts);
        parts.map(|((cursors, entries), start)| Rows { cursors, entries, start }).collect()
    }

    #[inline]
    fn put(&mut self, row: u32, entry: Entry) {
        let cursor = &mut self.cursors[row as usize];
        self.entries[*cursor - self.start] = entry;
        *cursor += 1;
    }

    /// Sorts full rows and squeezes out repeats: how many entries there were and how many are left. The cursors, each of
    /// which stands at the end of its row, become the rows' starts within these entries.
    fn squeeze(&mut self, source_of: impl Fn(Entry) -> u32) -> (usize, usize) {
        let entries = &mut *self.entries;
        let (mut from, mut kept) = (0, 0);
        for cursor in &mut *self.cursors {
            let end = std::mem::replace(cursor, kept) - self.start;
            entries[from..end].sort_unstable();
            let row = kept;
            for position in from..end {
                let entry = entries[position];
                if kept == row || source_of(entries[kept - 1]) != source_of(entry) {
                    entries[kept] = entry;
                    kept += 1;
                }
            }
            from = end;
        }
        (entries.len(), kept)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cut_for_threads_in_any_way_edges_sort_as_the_plain_way_does(
            nodes in 1_usize..40,
            ends in prop::collection::vec((0_u32..40, 0_u32..40), 0..200),
            (shift, piece, pieces) in (0_u32..7, 1_usize..50, 1_usize..4),
        ) {
            let edges: Vec<(u32, u64)> = ends
                .iter()
                .zip(0..)
                .map(|(&(a, b), input)| (a % nodes as u32, u64::from(b % nodes as u32) << 32 | input))
                .collect();
            let part = |range: Range<usize>| edges[range].iter().copied();
            let source_of = |entry: u64| (entry >> 32) as u32;
            let plain = sort_cut(&Threads::one(), None, nodes, edges.len(), part, source_of);
            let cut = Some(Cut { shift, piece, pieces });
            for threads in [Threads::one(), Threads::new(2).unwrap()] {
                prop_assert_eq!(&plain, &sort_cut(&threads, cut, nodes, edges.len(), part, source_of));
            }
        }
    }
}
