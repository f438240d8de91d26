use edgepace_graph::Graph;
use proptest::prelude::*;

use crate::edge_lists::{edge_lists, edges_of, empty_graphs, graphs};

proptest! {
    #[test]
    fn the_in_edges_of_a_node_are_the_ids_of_the_edges_that_point_at_it(graph in graphs()) {
        let targets = graph.targets();
        for node in 0..graph.nodes() {
            let expected: Vec<usize> =
                (0..graph.edges()).filter(|&edge| targets[edge] as usize == node).collect();
            prop_assert_eq!(graph.in_edges(node).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn an_edge_is_found_by_its_ends_exactly_when_it_exists(graph in graphs()) {
        let edges = edges_of(&graph);
        // One node more than there are: its edges do not exist either.
        for target in 0..=graph.nodes() as u32 {
            for source in 0..=graph.nodes() as u32 {
                let expected = edges.iter().position(|&edge| edge == (target, source));
                prop_assert_eq!(graph.edge_id(source, target).map(|id| id as usize), expected);
            }
        }
    }

    #[test]
    fn there_are_twins_exactly_when_every_edge_has_its_reverse(graph in graphs()) {
        let edges = edges_of(&graph);
        let symmetric = edges.iter().all(|&(target, source)| edges.contains(&(source, target)));
        prop_assert_eq!(graph.twins().is_some(), symmetric);
    }

    #[test]
    fn a_twin_has_its_ends_swapped_and_its_own_twin_is_the_edge_itself(list in edge_lists()) {
        let graph = list.undirected();
        let (edges, twins) = (edges_of(&graph), graph.twins().unwrap());
        prop_assert_eq!(twins.len(), graph.edges());
        for (edge, &(target, source)) in edges.iter().enumerate() {
            let twin = twins[edge] as usize;
            prop_assert_eq!(edges[twin], (source, target));
            prop_assert_eq!(twins[twin] as usize, edge);
        }
    }

    #[test]
    fn one_missing_reverse_anywhere_takes_all_twins_away(list in edge_lists(), pick in any::<prop::sample::Index>()) {
        let graph = list.undirected();
        prop_assume!(graph.edges() > 0);
        let missing = pick.index(graph.edges());
        let mut edges = edges_of(&graph);
        edges.remove(missing);
        let (targets, sources): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
        let incomplete = Graph::from_edges(graph.nodes(), &sources, &targets).unwrap();
        prop_assert_eq!(incomplete.twins(), None);
    }

    #[test]
    fn the_transpose_lists_the_same_edges_by_source_then_target_with_their_ids(graph in graphs()) {
        let mut expected: Vec<(u32, u32, u32)> =
            (0..).zip(edges_of(&graph)).map(|(edge, (target, source))| (source, target, edge)).collect();
        expected.sort_unstable();
        let transpose = graph.transpose();
        prop_assert_eq!(transpose.offsets.len(), graph.nodes() + 1);
        let mut found = Vec::new();
        for source in 0..graph.nodes() {
            for place in transpose.offsets[source]..transpose.offsets[source + 1] {
                found.push((source as u32, transpose.targets[place], transpose.edges[place]));
            }
        }
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_directed_cycle_has_as_many_in_edges_as_out_edges_everywhere_and_still_no_twins() {
    let graph = Graph::from_edges(3, &[0, 1, 2], &[1, 2, 0]).unwrap();
    assert_eq!(graph.twins(), None);
}

#[test]
fn graphs_without_edges_are_symmetric_and_answer_every_question() {
    for graph in empty_graphs() {
        assert_eq!(graph.twins(), Some(&[][..]));
        assert!(graph.targets().is_empty() && graph.sources().is_empty());
        assert_eq!(graph.edge_id(0, 0), None);
        assert_eq!(graph.edge_id(u32::MAX, u32::MAX), None);
        let transpose = graph.transpose();
        assert_eq!(transpose.offsets, graph.offsets());
        assert!(transpose.targets.is_empty() && transpose.edges.is_empty());
        assert!((0..graph.nodes()).all(|node| graph.in_edges(node).is_empty()));
    }
}
