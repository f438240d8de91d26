//! From lists of edges to a [`Graph`].

use crate::error::{check_edge_count, check_ids, check_length, check_node_count};
use crate::{Dropped, Graph, GraphError};

/// Marks an input edge that did not become an edge of the graph (see [`TracedGraph::edge_of_input`]).
pub const DROPPED: u32 = u32::MAX;

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
        let edges = EdgeList { sources, targets };
        edges.check(nodes, ["sources", "targets"], "one target per source", sources.len())?;
        let (offsets, sources, kept) = sort_by_target(nodes, edges.iter());
        Ok(Graph::from_sorted_rows(offsets, sources, edges.dropped(kept)))
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
        let pairs = EdgeList { sources: a, targets: b };
        pairs.check(nodes, ["a", "b"], "two ends per pair", a.len().saturating_mul(2))?;
        let both_ways = pairs.iter().chain(pairs.iter().map(|(source, target)| (target, source)));
        let (offsets, sources, kept) = sort_by_target(nodes, both_ways);
        Ok(Graph::from_sorted_rows(offsets, sources, pairs.dropped(kept / 2)))
    }

    /// As [`Graph::from_edges`], and keeps track of what became of each input edge, so that values given per
    /// input edge can follow: see [`TracedGraph::carry`].
    ///
    /// Cost: a binary search per edge, and 5 bytes per edge, on top of [`Graph::from_edges`].
    ///
    /// # Errors
    /// As [`Graph::from_edges`].
    pub fn from_edges_traced(
        nodes: usize,
        sources: &[u32],
        targets: &[u32],
    ) -> Result<TracedGraph, GraphError> {
        let graph = Graph::from_edges(nodes, sources, targets)?;
        Ok(TracedGraph::trace(graph, sources, targets, false))
    }

    /// As [`Graph::undirected`], and keeps track of what became of each input pair, so that values given per
    /// pair can follow to both directions: see [`TracedGraph::carry`].
    ///
    /// # Errors
    /// As [`Graph::undirected`].
    pub fn undirected_traced(nodes: usize, a: &[u32], b: &[u32]) -> Result<TracedGraph, GraphError> {
        let graph = Graph::undirected(nodes, a, b)?;
        Ok(TracedGraph::trace(graph, a, b, true))
    }
}

/// A graph together with the edge id that each edge of its input became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedGraph {
    graph: Graph,
    edge_of_input: Vec<u32>,
    /// Whether each input entry stands for both directions.
    both_ways: bool,
}

impl TracedGraph {
    fn trace(graph: Graph, sources: &[u32], targets: &[u32], both_ways: bool) -> TracedGraph {
        let mut taken = vec![false; graph.edges()];
        let mut first_claim = |source: u32, target: u32| {
            let edge = graph.edge_id(source, target)?;
            if std::mem::replace(&mut taken[edge as usize], true) {
                return None;
            }
            if both_ways && let Some(twins) = graph.twins() {
                taken[twins[edge as usize] as usize] = true;
            }
            Some(edge)
        };
        let edge_of_input = sources
            .iter()
            .zip(targets)
            .map(|(&source, &target)| first_claim(source, target).unwrap_or(DROPPED))
            .collect();
        TracedGraph { graph, edge_of_input, both_ways }
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// For each input edge its id in the graph, or [`DROPPED`] for a self-loop or a repeat (the first of
    /// several equal edges is the one that is kept). For an undirected graph it is the id of `a[i] → b[i]`.
    pub fn edge_of_input(&self) -> &[u32] {
        &self.edge_of_input
    }

    /// Values given per input edge, as values per edge id. Of several equal edges the first one's value counts;
    /// in an undirected graph both directions get the pair's value.
    ///
    /// # Errors
    /// When there is not exactly one value per input edge.
    pub fn carry<T: Copy>(&self, values: &[T]) -> Result<Vec<T>, GraphError> {
        check_length("values", values.len(), self.edge_of_input.len(), "one value per input edge")?;
        let Some(&filler) = values.first() else { return Ok(Vec::new()) };
        // Every edge came from some input edge, so that no filler is left.
        let mut carried = vec![filler; self.graph.edges()];
        let twins = self.graph.twins().filter(|_| self.both_ways);
        for (&edge, &value) in self.edge_of_input.iter().zip(values).filter(|&(&edge, _)| edge != DROPPED) {
            carried[edge as usize] = value;
            if let Some(twins) = twins {
                carried[twins[edge as usize] as usize] = value;
            }
        }
        Ok(carried)
    }

    /// The graph alone.
    pub fn into_graph(self) -> Graph {
        self.graph
    }
}

/// Two slices of equal length that list edges, as the caller gave them.
#[derive(Clone, Copy)]
struct EdgeList<'a> {
    sources: &'a [u32],
    targets: &'a [u32],
}

impl<'a> EdgeList<'a> {
    fn check(
        self,
        nodes: usize,
        fields: [&'static str; 2],
        rule: &'static str,
        directed_edges: usize,
    ) -> Result<(), GraphError> {
        check_node_count("nodes", nodes)?;
        check_length(fields[1], self.targets.len(), self.sources.len(), rule)?;
        check_edge_count(directed_edges)?;
        check_ids(fields[0], self.sources, nodes)?;
        check_ids(fields[1], self.targets, nodes)
    }

    fn iter(self) -> impl Iterator<Item = (u32, u32)> + Clone + 'a {
        self.sources.iter().copied().zip(self.targets.iter().copied())
    }

    /// Tells loops from repeats among the entries that were not kept.
    fn dropped(self, kept: usize) -> Dropped {
        let loops = self.iter().filter(|(source, target)| source == target).count();
        Dropped { duplicates: self.sources.len() - loops - kept, loops }
    }
}

/// Sorts edges by target and then source, without loops and repeats; ids must be below `nodes`.
///
/// Returns the offsets, the sources and the number of edges kept. The offsets serve first as counts, then as
/// write cursors and only then as offsets, and repeats are squeezed out in place: nothing else is allocated.
fn sort_by_target(
    nodes: usize,
    edges: impl Iterator<Item = (u32, u32)> + Clone,
) -> (Vec<usize>, Vec<u32>, usize) {
    let edges = edges.filter(|(source, target)| source != target);
    let mut offsets = vec![0; nodes + 1];
    edges.clone().for_each(|(_, target)| offsets[target as usize] += 1);
    let mut total = 0;
    for entry in &mut offsets {
        let count = std::mem::replace(entry, total);
        total += count;
    }

    let mut sources = vec![0; total];
    edges.for_each(|(source, target)| {
        let cursor = &mut offsets[target as usize];
        sources[*cursor] = source;
        *cursor += 1;
    });

    // Each cursor now stands at the end of its row.
    let (mut start, mut kept) = (0, 0);
    for offset in &mut offsets[..nodes] {
        let end = std::mem::replace(offset, kept);
        sources[start..end].sort_unstable();
        let row = kept;
        for position in start..end {
            let source = sources[position];
            if kept == row || sources[kept - 1] != source {
                sources[kept] = source;
                kept += 1;
            }
        }
        start = end;
    }
    offsets[nodes] = kept;
    sources.truncate(kept);
    sources.shrink_to_fit();
    (offsets, sources, kept)
}
