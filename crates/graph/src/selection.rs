use crate::{Dropped, Graph, Threads};

/// A selection of a graph's edges as a smaller graph of its own, with the way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// All nodes of the parent and the selected edges, in the parent's order.
    pub graph: Graph,
    /// The parent's id of each edge here, ascending.
    pub edge_of: Vec<u32>,
}

impl Graph {
    /// Compacts the edges whose id `keep` accepts; it is asked once per edge, in the order of ids.
    ///
    /// The result has twins exactly when the selection holds the reverse of each of its edges.
    /// O(nodes + edges): rows stay sorted, so that nothing is sorted again. On the calling thread.
    pub fn select(&self, keep: impl FnMut(usize) -> bool) -> Compacted {
        self.select_on(&Threads::one(), keep)
    }

    /// As [`Graph::select`]; the threads look for the twins of a million edges or more. `keep` is asked by the calling
    /// thread alone.
    pub fn select_on(&self, threads: &Threads, mut keep: impl FnMut(usize) -> bool) -> Compacted {
        let mut offsets = Vec::with_capacity(self.nodes() + 1);
        let mut edge_of = Vec::new();
        offsets.push(0);
        for node in 0..self.nodes() {
            edge_of.extend(self.in_edges(node).filter(|&edge| keep(edge)).map(|edge| edge as u32));
            offsets.push(edge_of.len());
        }
        let sources = edge_of.iter().map(|&edge| self.sources[edge as usize]).collect();
        let graph = Graph::from_sorted_rows(threads, offsets, sources, Dropped::default());
        Compacted { graph, edge_of }
    }

    /// The graph of the edges whose weight is not 0, and the id here of each of its edges. What it does not hold is counted in
    /// [`Dropped::weightless`], a pair that is gone both ways once.
    pub fn without_weightless(&self, weights: &[f32]) -> (Graph, Vec<u32>) {
        let Compacted { mut graph, edge_of } = self.select(|edge| weights[edge] != 0.0);
        let per_pair = if self.twins.is_some() && graph.twins.is_some() { 2 } else { 1 };
        let gone = (self.edges() - graph.edges()) / per_pair;
        graph.dropped = Dropped { weightless: self.dropped.weightless + gone, ..self.dropped };
        (graph, edge_of)
    }
}
