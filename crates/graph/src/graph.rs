use std::ops::Range;

use crate::error::check_length;
use crate::scatter::{Cut, by_bucket, cut_at_mut};
use crate::{Buffer, GraphError, Threads};

/// An immutable directed graph whose edges have stable ids.
///
/// Edges are stored once, sorted by target and then by source: a compressed sparse row (CSR) structure over
/// in-edges. The id of an edge is its position in that order. There are no self-loops and no repeated edges
/// (backbones add their own self-loops where they want one).
///
/// Memory: 4 bytes per edge, 8 per node, and 4 more per edge when the graph is symmetric (see [`Graph::twins`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// `nodes + 1` entries; the in-edges of node `t` are the ids `offsets[t]..offsets[t + 1]`.
    pub(crate) offsets: Buffer<usize>,
    /// The source of each edge, strictly ascending within a row.
    pub(crate) sources: Buffer<u32>,
    /// The id of each edge's reverse, when every edge has one.
    pub(crate) twins: Option<Buffer<u32>>,
    pub(crate) dropped: Dropped,
}

/// What the input of a [`Graph`] held and the graph does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Edges (for [`Graph::undirected`]: pairs, in either direction) that repeat an earlier one.
    pub duplicates: usize,
    /// Edges from a node to itself, repeated or not.
    pub loops: usize,
    /// Edges (pairs, where both directions are gone) whose weight is 0.
    pub weightless: usize,
    /// Those duplicates whose weight is another than that of the first, which counts.
    pub conflicting: usize,
}

/// The same edges as a [`Graph`], seen from their sources: a CSR structure over out-edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transpose {
    /// `nodes + 1` entries; the out-edges of node `s` are at positions `offsets[s]..offsets[s + 1]`.
    pub offsets: Vec<usize>,
    /// The target of each out-edge, strictly ascending within a row.
    pub targets: Vec<u32>,
    /// The id of each out-edge in the graph.
    pub edges: Vec<u32>,
}

impl Graph {
    /// Joins rows that are already sorted and free of loops and repeats, and finds the twins.
    pub(crate) fn from_sorted_rows(
        threads: &Threads,
        offsets: Vec<usize>,
        sources: Vec<u32>,
        dropped: Dropped,
    ) -> Graph {
        let twins = find_twins(threads, &offsets, &sources).map(Buffer::from);
        Graph { offsets: offsets.into(), sources: sources.into(), twins, dropped }
    }

    /// A graph whose parts were taken from a correct [`Graph`], as a file of our own keeps them: O(1), nothing is read.
    ///
    /// The caller vouches for the order of the edges and for the twins. Parts that no correct graph has make wrong
    /// answers or panics later on, never undefined behaviour.
    ///
    /// # Errors
    /// No offsets at all, or another number of twins than of edges.
    pub fn trusted(
        offsets: impl Into<Buffer<usize>>,
        sources: impl Into<Buffer<u32>>,
        twins: Option<Buffer<u32>>,
        dropped: Dropped,
    ) -> Result<Graph, GraphError> {
        let (offsets, sources) = (offsets.into(), sources.into());
        check_length("offsets", offsets.len(), offsets.len().max(1), "one offset per node and a last one")?;
        if let Some(twins) = &twins {
            check_length("twins", twins.len(), sources.len(), "one twin per edge")?;
        }
        Ok(Graph { offsets, sources, twins, dropped })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of directed edges: an undirected edge counts twice.
    pub fn edges(&self) -> usize {
        self.sources.len()
    }

    /// Where the in-edges of each node start: `nodes + 1` running totals, from 0 to the number of edges.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The source of each edge, by edge id.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// The ids of the edges that point at `node`.
    ///
    /// # Panics
    /// If `node` is not below the number of nodes.
    pub fn in_edges(&self, node: usize) -> Range<usize> {
        self.offsets[node]..self.offsets[node + 1]
    }

    /// The target of each edge, by edge id. Computed at each call, O(nodes + edges).
    pub fn targets(&self) -> Vec<u32> {
        let mut targets = Vec::with_capacity(self.edges());
        for node in 0..self.nodes() {
            targets.resize(self.offsets[node + 1], node as u32);
        }
        targets
    }

    /// The id of each edge's reverse, by edge id; `Some` exactly when every edge has its reverse.
    ///
    /// A graph without edges is symmetric: its twins are `Some` and empty.
    pub fn twins(&self) -> Option<&[u32]> {
        self.twins.as_deref()
    }

    /// The id of the edge from `source` to `target`, if the graph has it. O(log in-degree of the target).
    pub fn edge_id(&self, source: u32, target: u32) -> Option<u32> {
        let target = target as usize;
        if target >= self.nodes() {
            return None;
        }
        let row = self.in_edges(target);
        let within = self.sources[row.clone()].binary_search(&source).ok()?;
        Some((row.start + within) as u32)
    }

    /// What the input held and this graph does not: repeated edges and self-loops.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The edges by source instead of by target, each with its id here. O(nodes + edges).
    pub fn transpose(&self) -> Transpose {
        if let Some(twins) = &self.twins {
            // In a symmetric graph the out-neighbours of a node are its in-neighbours.
            return Transpose {
                offsets: self.offsets.to_vec(),
                targets: self.sources.to_vec(),
                edges: twins.to_vec(),
            };
        }
        let mut offsets = vec![0; self.nodes() + 1];
        for &source in &self.sources[..] {
            offsets[source as usize + 1] += 1;
        }
        for node in 0..self.nodes() {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0; self.edges()];
        let mut edges = vec![0; self.edges()];
        for target in 0..self.nodes() {
            for edge in self.in_edges(target) {
                let place = &mut next[self.sources[edge] as usize];
                targets[*place] = target as u32;
                edges[*place] = edge as u32;
                *place += 1;
            }
        }
        Transpose { offsets, targets, edges }
    }
}

/// Pairs each edge with its reverse, or finds that one has none.
///
/// Targets are visited in ascending order and each row is sorted by source. So the edges t → s that are asked
/// of row s come in the very order in which row s holds them, and one cursor per node replaces any search:
/// the first cursor that does not point at its reverse proves that the graph is not symmetric.
/// O(nodes + edges), 4 bytes per edge for the result and 4 per node for the cursors.
///
/// Many edges are first put into buckets by source, so that the cursors that are asked stay in the cache.
pub(crate) fn find_twins(threads: &Threads, offsets: &[usize], sources: &[u32]) -> Option<Vec<u32>> {
    match Cut::of(sources.len(), offsets.len() - 1) {
        None => find_twins_plainly(offsets, sources),
        Some(cut) => find_twins_by_bucket(threads, cut, offsets, sources),
    }
}

fn find_twins_plainly(offsets: &[usize], sources: &[u32]) -> Option<Vec<u32>> {
    let nodes = offsets.len() - 1;
    let mut cursors: Vec<u32> = offsets[..nodes].iter().map(|&start| start as u32).collect();
    let mut twins = Vec::with_capacity(sources.len());
    for target in 0..nodes {
        for &source in &sources[offsets[target]..offsets[target + 1]] {
            let source = source as usize;
            let reverse = cursors[source] as usize;
            if reverse >= offsets[source + 1] || sources[reverse] as usize != target {
                return None;
            }
            twins.push(reverse as u32);
            cursors[source] += 1;
        }
    }
    Some(twins)
}

fn find_twins_by_bucket(threads: &Threads, cut: Cut, offsets: &[usize], sources: &[u32]) -> Option<Vec<u32>> {
    let nodes = offsets.len() - 1;
    let by_source = |edges: Range<usize>| {
        let mut target = offsets.partition_point(|&start| start <= edges.start).saturating_sub(1);
        edges.map(move |edge| {
            while offsets[target + 1] <= edge {
                target += 1;
            }
            (sources[edge], (edge as u32, target as u32))
        })
    };
    let mut cursors: Vec<u32> = offsets[..nodes].iter().map(|&start| start as u32).collect();
    let mut twins = vec![0; sources.len()];
    let ends = |first: usize| (offsets[first], offsets[nodes.min(first + cut.nodes())]);
    let sizes = (0..nodes).step_by(cut.nodes()).map(|first| ends(first).1 - ends(first).0);
    let mut buckets: Vec<_> = cursors.chunks_mut(cut.nodes()).zip(cut_at_mut(&mut twins, sizes)).collect();
    let check =
        |first: usize, edges: &[(u32, (u32, u32))], (cursors, twins): &mut (&mut [u32], &mut [u32])| {
            edges.iter().all(|&(source, (edge, target))| {
                let cursor = &mut cursors[source as usize - first];
                let reverse = *cursor as usize;
                let paired = reverse < offsets[source as usize + 1] && sources[reverse] == target;
                if paired {
                    twins[reverse - offsets[first]] = edge;
                    *cursor += 1;
                }
                paired
            })
        };
    let paired = by_bucket(threads, cut, sources.len(), by_source, &mut buckets, check);
    paired.then_some(twins)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn twins_found_by_bucket_are_those_found_plainly(
            nodes in 1_usize..30,
            pairs in prop::collection::vec((0_u32..30, 0_u32..30), 0..80),
            symmetric in any::<bool>(),
            (shift, piece, pieces) in (0_u32..6, 1_usize..30, 1_usize..4),
        ) {
            let (a, b): (Vec<u32>, Vec<u32>) =
                pairs.iter().map(|&(a, b)| (a % nodes as u32, b % nodes as u32)).unzip();
            let graph = if symmetric { Graph::undirected(nodes, &a, &b) } else { Graph::from_edges(nodes, &a, &b) };
            let graph = graph.unwrap();
            let plain = find_twins_plainly(graph.offsets(), graph.sources());
            let cut = Cut { shift, piece, pieces };
            for threads in [Threads::one(), Threads::new(2).unwrap()] {
                let found = find_twins_by_bucket(&threads, cut, graph.offsets(), graph.sources());
                prop_assert_eq!(&found, &plain);
            }
        }
    }
}
