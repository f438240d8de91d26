use std::collections::{BTreeSet, VecDeque};

use edgepace_graph::{Classes, DegreeStats, Dropped, Graph, GraphStats, UNLABELLED, edge_homophily};
use proptest::prelude::*;

use crate::edge_lists::{edges_of, empty_graphs, graphs};

/// Sizes of the weakly connected components, by breadth-first search.
fn component_sizes(graph: &Graph) -> Vec<usize> {
    let neighbours: BTreeSet<(u32, u32)> = edges_of(graph)
        .into_iter()
        .flat_map(|(target, source)| [(target, source), (source, target)])
        .collect();
    let mut seen = vec![false; graph.nodes()];
    let mut sizes = Vec::new();
    for start in 0..graph.nodes() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let (mut size, mut queue) = (0, VecDeque::from([start as u32]));
        while let Some(node) = queue.pop_front() {
            size += 1;
            for &(_, next) in neighbours.iter().filter(|&&(from, _)| from == node) {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    queue.push_back(next);
                }
            }
        }
        sizes.push(size);
    }
    sizes
}

proptest! {
    #[test]
    fn components_and_isolated_nodes_are_those_that_a_search_finds(graph in graphs()) {
        let stats = graph.stats();
        let sizes = component_sizes(&graph);
        prop_assert_eq!(stats.components, sizes.len());
        prop_assert_eq!(stats.largest_component, *sizes.iter().max().unwrap());
        let touched: BTreeSet<u32> = edges_of(&graph).into_iter().flat_map(|(t, s)| [t, s]).collect();
        prop_assert_eq!(stats.isolated, graph.nodes() - touched.len());
    }

    #[test]
    fn degrees_and_counts_are_those_of_the_edges(graph in graphs()) {
        let stats = graph.stats();
        let targets = graph.targets();
        let mut degrees: Vec<usize> = (0..graph.nodes() as u32)
            .map(|node| targets.iter().filter(|&&target| target == node).count())
            .collect();
        degrees.sort_unstable();
        prop_assert_eq!(stats.in_degree.min, degrees[0]);
        prop_assert_eq!(stats.in_degree.max, degrees[degrees.len() - 1]);
        let mean = degrees.iter().sum::<usize>() as f64 / degrees.len() as f64;
        prop_assert!((stats.in_degree.mean - mean).abs() < 1e-12);
        // As many nodes at or below the median as at or above it, and at least half each.
        let at_most = degrees.iter().filter(|&&degree| degree as f64 <= stats.in_degree.median).count();
        let at_least = degrees.iter().filter(|&&degree| degree as f64 >= stats.in_degree.median).count();
        prop_assert!(2 * at_most >= degrees.len() && 2 * at_least >= degrees.len());
        prop_assert_eq!((stats.nodes, stats.edges), (graph.nodes(), graph.edges()));
        prop_assert_eq!(stats.undirected, graph.twins().is_some());
        prop_assert_eq!(stats.dropped, graph.dropped());
    }

    #[test]
    fn homophily_is_the_share_of_labelled_edges_with_equal_ends(
        graph in graphs(),
        classes in prop::collection::vec(prop_oneof![4 => 0_u32..3, 1 => Just(UNLABELLED)], 12),
    ) {
        let classes = Classes::new(3, classes[..graph.nodes()].to_vec()).unwrap();
        let ends: Vec<(u32, u32)> = edges_of(&graph)
            .into_iter()
            .map(|(target, source)| (classes.of()[target as usize], classes.of()[source as usize]))
            .filter(|&(a, b)| a != UNLABELLED && b != UNLABELLED)
            .collect();
        let alike = ends.iter().filter(|(a, b)| a == b).count();
        let expected = (!ends.is_empty()).then(|| alike as f64 / ends.len() as f64);
        prop_assert_eq!(edge_homophily(&graph, &classes), expected);
    }
}

#[test]
fn a_small_graph_is_told_in_full() {
    // 0 → 1 → 2, 3 → 1, a node 4 on its own; with a loop and a repeated edge in the input.
    let graph = Graph::from_edges(5, &[0, 1, 3, 0, 4], &[1, 2, 1, 1, 4]).unwrap();
    assert_eq!(
        graph.stats(),
        GraphStats {
            nodes: 5,
            edges: 3,
            undirected: false,
            in_degree: DegreeStats { min: 0, median: 0.0, mean: 0.6, max: 2 },
            isolated: 1,
            components: 2,
            largest_component: 4,
            dropped: Dropped { duplicates: 1, loops: 1, ..Dropped::default() },
        }
    );
}

#[test]
fn the_median_of_an_even_number_of_degrees_is_the_mean_of_the_middle_two() {
    let graph = Graph::from_edges(4, &[0, 0, 1], &[2, 3, 3]).unwrap();
    assert_eq!(graph.stats().in_degree, DegreeStats { min: 0, median: 0.5, mean: 0.75, max: 2 });
}

#[test]
fn a_graph_without_edges_has_one_component_per_node_and_no_homophily() {
    for graph in empty_graphs() {
        let stats = graph.stats();
        assert_eq!(stats.in_degree, DegreeStats { min: 0, median: 0.0, mean: 0.0, max: 0 });
        assert_eq!((stats.isolated, stats.components), (graph.nodes(), graph.nodes()));
        assert_eq!(stats.largest_component, graph.nodes().min(1));
        let classes = Classes::new(1, vec![0; graph.nodes()]).unwrap();
        assert_eq!(edge_homophily(&graph, &classes), None);
    }
}

#[test]
fn nodes_beyond_the_classes_count_as_unlabelled() {
    let graph = Graph::undirected(3, &[0, 1], &[1, 2]).unwrap();
    let classes = Classes::new(1, vec![0, 0]).unwrap();
    assert_eq!(edge_homophily(&graph, &classes), Some(1.0));
}
