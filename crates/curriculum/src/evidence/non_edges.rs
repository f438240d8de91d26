//! Degree-matched random non-edges: the ends of edges, shuffled, without those that are edges.

use edgepace_graph::Graph;
use edgepace_graph::random::{Purpose, Stream};

/// At most `most` pairs of different nodes between which there is no edge.
///
/// In a graph with twins all ends of edges are shuffled and taken two by two, so that a node comes up as often as it has
/// neighbours; in a graph without, targets and sources are shuffled apart, and a pair is (target, source). Pairs that are
/// edges or loops are dropped, so there may be fewer, and in a complete graph there are none. O(nodes + edges).
pub(crate) fn non_edges(graph: &Graph, most: usize, seed: u64) -> Vec<[u32; 2]> {
    let symmetric = graph.twins().is_some();
    let drawn = if symmetric {
        let ends = sample(graph.sources().to_vec(), 2 * most, Stream::new(seed, Purpose::NonEdges, 0));
        ends.as_chunks::<2>().0.to_vec()
    } else {
        let targets = sample(graph.targets(), most, Stream::new(seed, Purpose::NonEdges, 0));
        let sources = sample(graph.sources().to_vec(), most, Stream::new(seed, Purpose::NonEdges, 1));
        targets.into_iter().zip(sources).map(|(target, source)| [target, source]).collect()
    };
    let is_non_edge =
        |&[target, source]: &[u32; 2]| target != source && graph.edge_id(source, target).is_none();
    drawn.into_iter().filter(is_non_edge).collect()
}

/// The first `most` places of a random order (Fisher–Yates, stopped there).
fn sample(mut values: Vec<u32>, most: usize, stream: Stream) -> Vec<u32> {
    let len = values.len();
    let most = most.min(len);
    for place in 0..most {
        let other = place + stream.below(place as u64, (len - place) as u64) as usize;
        values.swap(place, other);
    }
    values.truncate(most);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring_with_hub(nodes: u32) -> Graph {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for node in 1..nodes {
            a.extend([node, node]);
            b.extend([node % (nodes - 1) + 1, if node % 4 == 0 { 0 } else { node / 2 + 1 }]);
        }
        Graph::undirected(nodes as usize, &a, &b).unwrap()
    }

    #[test]
    fn non_edges_are_no_edges_and_follow_the_seed() {
        let graph = ring_with_hub(400);
        let found = non_edges(&graph, graph.edges() / 2, 7);
        assert!(found.len() > graph.edges() / 4, "{} of {}", found.len(), graph.edges() / 2);
        for &[i, j] in &found {
            assert!(i != j && graph.edge_id(i, j).is_none() && graph.edge_id(j, i).is_none());
        }
        assert_eq!(found, non_edges(&graph, graph.edges() / 2, 7));
        assert_ne!(found, non_edges(&graph, graph.edges() / 2, 8));
        assert!(non_edges(&graph, 10, 7).len() <= 10);
    }

    #[test]
    fn nodes_come_up_about_as_often_as_they_have_neighbours() {
        // Half of the nodes have 12 neighbours, half have 4.
        let nodes = 2000_u32;
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for node in 0..nodes {
            for hop in [2, 4, 6, 8, 10, 12].into_iter().take(if node % 2 == 0 { 6 } else { 2 }) {
                a.push(node);
                b.push((node + hop) % nodes);
            }
        }
        let graph = Graph::undirected(nodes as usize, &a, &b).unwrap();
        let found = non_edges(&graph, graph.edges() / 2, 1);
        let even = found.iter().flatten().filter(|&&node| node % 2 == 0).count() as f64;
        let share = even / (2 * found.len()) as f64;
        assert!((share - 0.75).abs() < 0.01, "{share}");
    }

    #[test]
    fn a_complete_graph_and_an_empty_one_have_none() {
        let complete = Graph::undirected(3, &[0, 1, 2], &[1, 2, 0]).unwrap();
        assert!(non_edges(&complete, 3, 0).is_empty());
        let empty = Graph::undirected(3, &[], &[]).unwrap();
        assert!(non_edges(&empty, 3, 0).is_empty());
    }

    #[test]
    fn directed_non_edges_keep_their_direction() {
        // All edges go from even to odd nodes.
        let (sources, targets): (Vec<u32>, Vec<u32>) =
            (0..300).map(|i| (i * 14 % 100, i * 6 % 100 + 1)).unzip();
        let graph = Graph::from_edges(101, &sources, &targets).unwrap();
        let found = non_edges(&graph, graph.edges(), 2);
        assert!(!found.is_empty());
        assert!(found.iter().all(|&[target, source]| target % 2 == 1 && source % 2 == 0));
    }
}
