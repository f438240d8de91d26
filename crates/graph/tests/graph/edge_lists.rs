//! Random edge lists, and the plain set that a graph of them must equal.

use std::collections::BTreeSet;

use edgepace_graph::Graph;
use proptest::prelude::*;

/// Edges as a caller might list them: unsorted, with loops and repeats.
#[derive(Debug, Clone)]
pub(crate) struct EdgeList {
    pub(crate) nodes: usize,
    pub(crate) sources: Vec<u32>,
    pub(crate) targets: Vec<u32>,
}

impl EdgeList {
    pub(crate) fn directed(&self) -> Graph {
        Graph::from_edges(self.nodes, &self.sources, &self.targets).unwrap()
    }

    pub(crate) fn undirected(&self) -> Graph {
        Graph::undirected(self.nodes, &self.sources, &self.targets).unwrap()
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.sources.iter().copied().zip(self.targets.iter().copied())
    }

    /// The distinct edges without loops as (target, source), in the order of edge ids.
    pub(crate) fn directed_set(&self) -> BTreeSet<(u32, u32)> {
        self.pairs().filter(|(source, target)| source != target).map(|(s, t)| (t, s)).collect()
    }

    /// The same with every edge in both directions.
    pub(crate) fn undirected_set(&self) -> BTreeSet<(u32, u32)> {
        self.directed_set().into_iter().flat_map(|(t, s)| [(t, s), (s, t)]).collect()
    }

    pub(crate) fn loops(&self) -> usize {
        self.pairs().filter(|(source, target)| source == target).count()
    }
}

/// Few nodes and up to several edges per pair of nodes, so that loops, repeats and twins are common.
pub(crate) fn edge_lists() -> impl Strategy<Value = EdgeList> {
    (1_usize..12).prop_flat_map(|nodes| {
        let id = 0..nodes as u32;
        prop::collection::vec((id.clone(), id), 0..60).prop_map(move |edges| {
            let (sources, targets) = edges.into_iter().unzip();
            EdgeList { nodes, sources, targets }
        })
    })
}

/// A graph that is directed or undirected with equal chance.
pub(crate) fn graphs() -> impl Strategy<Value = Graph> {
    (edge_lists(), any::<bool>())
        .prop_map(|(list, undirected)| if undirected { list.undirected() } else { list.directed() })
}

/// The edges of a graph as (target, source), in the order of edge ids.
pub(crate) fn edges_of(graph: &Graph) -> Vec<(u32, u32)> {
    graph.targets().into_iter().zip(graph.sources().iter().copied()).collect()
}

/// Graphs without edges, with and without nodes.
pub(crate) fn empty_graphs() -> [Graph; 2] {
    [0, 3].map(|nodes| Graph::from_edges(nodes, &[], &[]).unwrap())
}
