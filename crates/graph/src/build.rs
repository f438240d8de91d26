//! From lists of edges to a [`Graph`].

use crate::error::{check_edge_count, check_ids, check_length, check_node_count};
use crate::{Dropped, Graph, GraphError};

impl Graph {
    /// The graph of the directed edges `sources[i] → targets[i]`.
    ///
    /// Self-loops and repeated edges are dropped and counted (see [`Graph::dropped`]).
    ///
    /// Cost: a counting sort by target, O(nodes + edges), and a sort within each row. Beside the graph itself
    /// (see [`Graph`]) it needs 4 bytes per node, so 79 million edges peak at about 0.7 GB plus the input.
    ///
    /// # Errors
    /// Unequal lengths, an id that is not below `nodes`, more than `u32::MAX - 1` nodes or `u32::MAX` edges.
    pub fn from_edges(nodes: usize, sources: &[u32], targets: &[u32]) -> Result<Graph, GraphError> {
        let edges = EdgeList::directed(nodes, sources, targets)?;
        let by_target = edges.iter().map(|(_, source, target)| (source, target));
        let (offsets, sources) = sort_by_target(nodes, by_target, |source| source);
        let dropped = edges.dropped(sources.len());
        Ok(Graph::from_sorted_rows(offsets, sources, dropped))
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
        let pairs = EdgeList::undirected(nodes, a, b)?;
        let forward = pairs.iter().map(|(_, a, b)| (a, b));
        let backward = pairs.iter().map(|(_, a, b)| (b, a));
        let (offsets, sources) = sort_by_target(nodes, forward.chain(backward), |source| source);
        let dropped = pairs.dropped(sources.len() / 2);
        Ok(Graph::from_sorted_rows(offsets, sources, dropped))
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
        nodes: usize,
        sources: &'a [u32],
        targets: &'a [u32],
    ) -> Result<EdgeList<'a>, GraphError> {
        check_node_count("nodes", nodes)?;
        check_length("targets", targets.len(), sources.len(), "one target per source")?;
        check_edge_count(sources.len())?;
        check_ids("sources", sources, nodes)?;
        check_ids("targets", targets, nodes)?;
        Ok(EdgeList { sources, targets })
    }

    pub(crate) fn undirected(nodes: usize, a: &'a [u32], b: &'a [u32]) -> Result<EdgeList<'a>, GraphError> {
        check_node_count("nodes", nodes)?;
        check_length("b", b.len(), a.len(), "two ends per pair")?;
        check_edge_count(a.len().saturating_mul(2))?;
        check_ids("a", a, nodes)?;
        check_ids("b", b, nodes)?;
        Ok(EdgeList { sources: a, targets: b })
    }

    /// Number of entries, loops and repeats included.
    pub(crate) fn len(self) -> usize {
        self.sources.len()
    }

    /// The entries that are not loops: position, source, target.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u32, u32, u32)> + Clone + 'a {
        let edges = self.sources.iter().zip(self.targets).zip(0..);
        edges.map(|((&source, &target), input)| (input, source, target)).filter(|(_, s, t)| s != t)
    }

    /// Tells loops from repeats among the entries that were not kept.
    pub(crate) fn dropped(self, kept: usize) -> Dropped {
        let loops = self.len() - self.iter().count();
        Dropped { duplicates: self.len() - loops - kept, loops }
    }
}

/// Sorts edges by target, and within a target by their entry, of which only the first per source is kept.
///
/// `edges` gives an entry and a target, which must be below `nodes`; `source_of` tells an entry's source and
/// must never decrease as entries grow. Returns the offsets and the kept entries. The offsets serve first as
/// counts, then as write cursors and only then as offsets, and repeats are squeezed out in place: nothing
/// else is allocated.
pub(crate) fn sort_by_target<Entry: Copy + Ord + Default>(
    nodes: usize,
    edges: impl Iterator<Item = (Entry, u32)> + Clone,
    source_of: impl Fn(Entry) -> u32,
) -> (Vec<usize>, Vec<Entry>) {
    let mut offsets = vec![0; nodes + 1];
    edges.clone().for_each(|(_, target)| offsets[target as usize] += 1);
    let mut total = 0;
    for offset in &mut offsets {
        let count = std::mem::replace(offset, total);
        total += count;
    }

    let mut entries = vec![Entry::default(); total];
    edges.for_each(|(entry, target)| {
        let cursor = &mut offsets[target as usize];
        entries[*cursor] = entry;
        *cursor += 1;
    });

    // Each cursor now stands at the end of its row.
    let (mut start, mut kept) = (0, 0);
    for offset in &mut offsets[..nodes] {
        let end = std::mem::replace(offset, kept);
        entries[start..end].sort_unstable();
        let row = kept;
        for position in start..end {
            let entry = entries[position];
            if kept == row || source_of(entries[kept - 1]) != source_of(entry) {
                entries[kept] = entry;
                kept += 1;
            }
        }
        start = end;
    }
    offsets[nodes] = kept;
    entries.truncate(kept);
    entries.shrink_to_fit();
    (offsets, entries)
}
