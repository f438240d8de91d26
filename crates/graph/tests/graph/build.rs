use edgepace_graph::{Dropped, Graph, GraphError};
use proptest::prelude::*;

use crate::edge_lists::{edge_lists, edges_of};

proptest! {
    #[test]
    fn a_directed_graph_holds_the_distinct_edges_without_loops_by_target_then_source(list in edge_lists()) {
        let graph = list.directed();
        let expected = list.directed_set();
        prop_assert_eq!(graph.nodes(), list.nodes);
        prop_assert_eq!(graph.edges(), expected.len());
        prop_assert_eq!(edges_of(&graph), expected.iter().copied().collect::<Vec<_>>());
        let duplicates = list.sources.len() - list.loops() - expected.len();
        prop_assert_eq!(graph.dropped(), Dropped { duplicates, loops: list.loops(), ..Dropped::default() });
    }

    #[test]
    fn an_undirected_graph_holds_both_directions_of_every_pair_once(list in edge_lists()) {
        let graph = list.undirected();
        let expected = list.undirected_set();
        prop_assert_eq!(edges_of(&graph), expected.iter().copied().collect::<Vec<_>>());
        prop_assert!(graph.twins().is_some());
        let duplicates = list.sources.len() - list.loops() - expected.len() / 2;
        prop_assert_eq!(graph.dropped(), Dropped { duplicates, loops: list.loops(), ..Dropped::default() });
    }

    #[test]
    fn the_order_of_the_input_does_not_matter(list in edge_lists()) {
        let mut reversed = list.clone();
        reversed.sources.reverse();
        reversed.targets.reverse();
        prop_assert_eq!(list.directed(), reversed.directed());
        prop_assert_eq!(list.undirected(), reversed.undirected());
    }
}

#[test]
fn a_list_with_both_directions_gives_the_same_undirected_graph_and_reports_the_second_as_duplicates() {
    let once = Graph::undirected(3, &[0, 1], &[1, 2]).unwrap();
    let twice = Graph::undirected(3, &[0, 1, 1, 2], &[1, 0, 2, 1]).unwrap();
    assert_eq!(edges_of(&once), edges_of(&twice));
    assert_eq!(once.dropped(), Dropped { duplicates: 0, loops: 0, ..Dropped::default() });
    assert_eq!(twice.dropped(), Dropped { duplicates: 2, loops: 0, ..Dropped::default() });
}

#[test]
fn graphs_without_edges_can_be_built_with_and_without_nodes() {
    for nodes in [0, 3] {
        let directed = Graph::from_edges(nodes, &[], &[]).unwrap();
        assert_eq!((directed.nodes(), directed.edges()), (nodes, 0));
        assert_eq!(directed.offsets(), vec![0; nodes + 1]);
        assert_eq!(Graph::undirected(nodes, &[], &[]).as_ref(), Ok(&directed));
    }
}

#[test]
fn sources_and_targets_of_unequal_length_are_refused() {
    let error = Graph::from_edges(3, &[0, 1, 2], &[1, 2]).unwrap_err();
    assert_eq!(
        error,
        GraphError::Length { field: "targets", found: 2, expected: 3, rule: "one target per source" }
    );
    assert_eq!(error.to_string(), "`targets` has 2 entries, expected 3: pass one target per source");

    let error = Graph::undirected(3, &[0], &[1, 2]).unwrap_err();
    assert_eq!(error, GraphError::Length { field: "b", found: 2, expected: 1, rule: "two ends per pair" });
    assert_eq!(error.to_string(), "`b` has 2 entries, expected 1: pass two ends per pair");
}

#[test]
fn an_id_that_is_not_below_the_number_of_nodes_is_refused_where_it_stands() {
    let error = Graph::from_edges(3, &[0, 3], &[1, 2]).unwrap_err();
    assert_eq!(error, GraphError::NodeOutOfRange { field: "sources", position: 1, value: 3, nodes: 3 });
    assert_eq!(
        error.to_string(),
        "`sources`[1] is node 3, but there are 3 nodes: \
         ids count from 0 and must be below the number of nodes"
    );
    let out_of_range =
        |field, position, value, nodes| Err(GraphError::NodeOutOfRange { field, position, value, nodes });
    assert_eq!(Graph::from_edges(3, &[0, 1, 2], &[1, 2, u32::MAX]), out_of_range("targets", 2, u32::MAX, 3));
    assert_eq!(Graph::from_edges(0, &[0], &[0]), out_of_range("sources", 0, 0, 0));
    assert_eq!(Graph::undirected(2, &[5], &[0]), out_of_range("a", 0, 5, 2));
    assert_eq!(Graph::undirected(2, &[0], &[2]), out_of_range("b", 0, 2, 2));
}

#[test]
fn more_nodes_than_ids_are_refused() {
    let found = u32::MAX as usize;
    let error = Graph::from_edges(found, &[], &[]).unwrap_err();
    assert_eq!(error, GraphError::TooMany { field: "nodes", found, limit: found - 1 });
    assert_eq!(
        error.to_string(),
        "4294967295 nodes are too many, the limit is 4294967294: \
         ids are 32 bits wide, use a smaller part of the graph"
    );
    assert_eq!(Graph::undirected(found, &[], &[]), Err(error));
}
