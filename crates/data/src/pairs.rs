//! Edges as sorted 64-bit keys, the form in which they are drawn, compared and merged.
//!
//! A key holds the target in its upper half and the source in its lower one: ascending keys are the order of edge ids. An
//! undirected pair is the key of its edge from the lower node to the higher.

use edgepace_graph::{Dropped, Graph, GraphError};

/// The key of the edge from `source` to `target`.
pub(crate) fn key(source: u32, target: u32) -> u64 {
    u64::from(target) << 32 | u64::from(source)
}

/// The key of the pair of `a` and `b`, or nothing for a loop.
pub(crate) fn pair(a: u32, b: u32) -> Option<u64> {
    (a != b).then(|| key(a.min(b), a.max(b)))
}

/// Source and target of the edge of that key.
pub(crate) fn ends(key: u64) -> (u32, u32) {
    (key as u32, (key >> 32) as u32)
}

/// How many pairs `items` have.
pub(crate) fn pairs_of(items: usize) -> u64 {
    let items = items as u64;
    items * items.saturating_sub(1) / 2
}

/// The ids of the edges from a lower node to a higher one, ascending: in a symmetric graph, one per pair and in the order
/// of their keys.
pub(crate) fn forward_edges(graph: &Graph) -> impl Iterator<Item = usize> {
    let is_forward = move |target: usize| move |edge: &usize| (graph.sources()[*edge] as usize) < target;
    (0..graph.nodes()).flat_map(move |target| graph.in_edges(target).filter(is_forward(target)))
}

/// The symmetric graph of pairs, whose keys are ascending and name nodes below `nodes`.
///
/// Keys come by their higher node. So a node gets its lower neighbours, ascending, before it gets any higher one, and these
/// come ascending too: one cursor per node puts every edge and its twin in place, without a sort. 8 bytes per edge.
pub(crate) fn undirected(nodes: usize, keys: &[u64], dropped: Dropped) -> Result<Graph, GraphError> {
    let mut offsets = vec![0_usize; nodes + 1];
    for &key in keys {
        let (low, high) = ends(key);
        offsets[low as usize + 1] += 1;
        offsets[high as usize + 1] += 1;
    }
    for node in 0..nodes {
        offsets[node + 1] += offsets[node];
    }
    let mut next: Vec<u32> = offsets[..nodes].iter().map(|&start| start as u32).collect();
    let (mut sources, mut twins) = (vec![0; 2 * keys.len()], vec![0; 2 * keys.len()]);
    for &key in keys {
        let (low, high) = ends(key);
        let (at_low, at_high) = (next[low as usize], next[high as usize]);
        next[low as usize] += 1;
        next[high as usize] += 1;
        (sources[at_low as usize], twins[at_low as usize]) = (high, at_high);
        (sources[at_high as usize], twins[at_high as usize]) = (low, at_low);
    }
    Graph::trusted(offsets, sources, Some(twins.into()), dropped)
}

#[cfg(test)]
mod tests {
    use edgepace_graph::random::{Purpose, Stream};

    use super::*;

    #[test]
    fn the_graph_of_keys_is_the_graph_of_lists() {
        for seed in 0..50 {
            let stream = Stream::new(seed, Purpose::GeneratedEdges, 0);
            let nodes = 1 + stream.below(0, 30) as u32;
            let draw = |position: u64| {
                pair(
                    stream.below(2 * position, nodes.into()) as u32,
                    stream.below(2 * position + 1, nodes.into()) as u32,
                )
            };
            let mut keys: Vec<u64> = (1..100).filter_map(draw).collect();
            keys.sort_unstable();
            keys.dedup();
            let (a, b): (Vec<u32>, Vec<u32>) = keys.iter().map(|&key| ends(key)).unzip();
            let graph = undirected(nodes as usize, &keys, Dropped::default()).unwrap();
            assert_eq!(graph, Graph::undirected(nodes as usize, &a, &b).unwrap());
            let targets = graph.targets();
            let back = forward_edges(&graph).map(|edge| key(graph.sources()[edge], targets[edge]));
            assert_eq!(back.collect::<Vec<_>>(), keys);
        }
    }
}
