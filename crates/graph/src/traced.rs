use std::ops::Range;

use crate::build::{EdgeList, sort_by_target};
use crate::error::check_length;
use crate::{Dropped, Graph, GraphError, Threads};

/// Marks an input edge that did not become an edge of the graph (see [`TracedGraph::edge_of_input`]).
pub const DROPPED: u32 = u32::MAX;

/// A graph together with the edge id that each edge of its input became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedGraph {
    graph: Graph,
    edge_of_input: Vec<u32>,
    /// Whether each input entry stands for both directions.
    both_ways: bool,
}

impl TracedGraph {
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

    /// Counts the repeats among the input edges, as they were given, whose weight is another than the one that counts, in
    /// [`Dropped::conflicting`]. `carried` is what [`TracedGraph::carry`] made of `weights`.
    pub fn count_conflicts(&mut self, ends: (&[u32], &[u32]), weights: &[f32], carried: &[f32]) {
        let given = ends.0.iter().zip(ends.1).zip(weights);
        let differs = |((&source, &target), &weight): ((&u32, &u32), &f32)| {
            let kept = self.graph.edge_id(source, target).map(|edge| carried[edge as usize]);
            kept.is_some_and(|kept| kept != weight)
        };
        let repeats = self.edge_of_input.iter().zip(given).filter(|(edge, _)| **edge == DROPPED);
        self.graph.dropped.conflicting = repeats.filter(|(_, given)| differs(*given)).count();
    }
}

impl Graph {
    /// As [`Graph::from_edges`], and keeps track of what became of each input edge, so that values given per
    /// input edge can follow: see [`TracedGraph::carry`].
    ///
    /// Cost: as [`Graph::from_edges`], with rows that are twice as wide while they are sorted. 79 million edges
    /// peak at about 1.3 GB plus the input.
    ///
    /// # Errors
    /// As [`Graph::from_edges`].
    pub fn from_edges_traced(
        nodes: usize,
        sources: &[u32],
        targets: &[u32],
    ) -> Result<TracedGraph, GraphError> {
        Graph::from_edges_traced_on(&Threads::one(), nodes, sources, targets)
    }

    /// As [`Graph::from_edges_traced`], on several threads, which do not change the result.
    ///
    /// # Errors
    /// As [`Graph::from_edges`].
    pub fn from_edges_traced_on(
        threads: &Threads,
        nodes: usize,
        sources: &[u32],
        targets: &[u32],
    ) -> Result<TracedGraph, GraphError> {
        let edges = EdgeList::directed(threads, nodes, sources, targets)?;
        let by_target =
            |range| edges.part(range).map(|(input, source, target)| (target, entry(source, input)));
        let (offsets, entries) = sort_by_target(threads, nodes, edges.len(), by_target, source_of);
        let mut edge_of_input = vec![DROPPED; edges.len()];
        for (&entry, edge) in entries.iter().zip(0..) {
            edge_of_input[tag_of(entry) as usize] = edge;
        }
        let dropped = edges.dropped(threads, entries.len());
        let graph = untagged(threads, offsets, entries, dropped);
        Ok(TracedGraph { graph, edge_of_input, both_ways: false })
    }

    /// As [`Graph::undirected`], and keeps track of what became of each input pair, so that values given per
    /// pair can follow to both directions: see [`TracedGraph::carry`].
    ///
    /// # Errors
    /// As [`Graph::undirected`].
    pub fn undirected_traced(nodes: usize, a: &[u32], b: &[u32]) -> Result<TracedGraph, GraphError> {
        Graph::undirected_traced_on(&Threads::one(), nodes, a, b)
    }

    /// As [`Graph::undirected_traced`], on several threads, which do not change the result.
    ///
    /// # Errors
    /// As [`Graph::undirected`].
    pub fn undirected_traced_on(
        threads: &Threads,
        nodes: usize,
        a: &[u32],
        b: &[u32],
    ) -> Result<TracedGraph, GraphError> {
        let pairs = EdgeList::undirected(threads, nodes, a, b)?;
        // Twice the input's position fits: the directed edges were counted. The lowest bit is the direction.
        let both_ways = |range: Range<usize>| {
            let forward = pairs.part(range.clone()).map(|(input, a, b)| (b, entry(a, 2 * input)));
            forward.chain(pairs.part(range).map(|(input, a, b)| (a, entry(b, 2 * input + 1))))
        };
        let (offsets, entries) = sort_by_target(threads, nodes, pairs.len(), both_ways, source_of);
        let mut edge_of_input = vec![DROPPED; pairs.len()];
        for (&entry, edge) in entries.iter().zip(0..) {
            let tag = tag_of(entry);
            if tag.is_multiple_of(2) {
                edge_of_input[tag as usize / 2] = edge;
            }
        }
        let dropped = pairs.dropped(threads, entries.len() / 2);
        let graph = untagged(threads, offsets, entries, dropped);
        Ok(TracedGraph { graph, edge_of_input, both_ways: true })
    }
}

/// A source with a tag that says which input it came from; entries sort by source, then by input.
fn entry(source: u32, tag: u32) -> u64 {
    u64::from(source) << 32 | u64::from(tag)
}

fn source_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

fn tag_of(entry: u64) -> u32 {
    entry as u32
}

/// Takes the entries by value, so that they are gone before the twins need memory.
fn untagged(threads: &Threads, offsets: Vec<usize>, entries: Vec<u64>, dropped: Dropped) -> Graph {
    let sources = entries.iter().map(|&entry| source_of(entry)).collect();
    drop(entries);
    Graph::from_sorted_rows(threads, offsets, sources, dropped)
}
