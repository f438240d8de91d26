//! One undirected edge, one decision.

use edgepace_graph::Graph;

/// The edges about which decisions are made: an undirected edge (an edge and its twin) is one pair; in a graph without
/// twins every edge is a pair of its own.
///
/// Pairs are in the order of the smaller edge id of each.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// Target and source of the edge with the smaller id.
    ends: Vec<[u32; 2]>,
    /// The pair of each edge, by edge id.
    pair_of: Vec<u32>,
    /// Directed edges per pair: 2 or 1.
    edges_per_pair: usize,
}

impl Pairs {
    /// The pairs of a graph. O(nodes + edges).
    pub fn new(graph: &Graph) -> Pairs {
        let edges_per_pair = if graph.twins().is_some() { 2 } else { 1 };
        let mut ends = Vec::with_capacity(graph.edges() / edges_per_pair);
        let mut pair_of: Vec<u32> = Vec::with_capacity(graph.edges());
        for target in 0..graph.nodes() {
            for edge in graph.in_edges(target) {
                let twin = graph.twins().map_or(edge, |twins| twins[edge] as usize);
                if twin < edge {
                    pair_of.push(pair_of[twin]);
                } else {
                    pair_of.push(ends.len() as u32);
                    ends.push([target as u32, graph.sources()[edge]]);
                }
            }
        }
        Pairs { ends, pair_of, edges_per_pair }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The two nodes of each pair: target and source of its edge with the smaller id.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// The pair of each edge, by edge id.
    pub fn pair_of(&self) -> &[u32] {
        &self.pair_of
    }

    /// Directed edges of each pair: 2 in a graph with twins, 1 in one without.
    pub fn edges_per_pair(&self) -> usize {
        self.edges_per_pair
    }
}
