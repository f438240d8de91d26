use std::collections::BTreeMap;

use edgepace_graph::{DROPPED, Dropped, Graph, GraphError};
use proptest::prelude::*;

use crate::edge_lists::{edge_lists, edges_of, empty_graphs};

proptest! {
    #[test]
    fn a_traced_graph_knows_which_edge_the_first_of_equal_input_edges_became(list in edge_lists()) {
        let traced = Graph::from_edges_traced(list.nodes, &list.sources, &list.targets).unwrap();
        prop_assert_eq!(traced.graph(), &list.directed());
        let mut first = BTreeMap::new();
        for (input, (source, target)) in list.pairs().enumerate() {
            let is_first = source != target && *first.entry((source, target)).or_insert(input) == input;
            let expected = if is_first { traced.graph().edge_id(source, target).unwrap() } else { DROPPED };
            prop_assert_eq!(traced.edge_of_input()[input], expected);
        }
        let inputs: Vec<usize> = (0..list.sources.len()).collect();
        let expected: Vec<usize> = edges_of(traced.graph()).iter().map(|&(t, s)| first[&(s, t)]).collect();
        prop_assert_eq!(traced.carry(&inputs).unwrap(), expected);
    }

    #[test]
    fn a_value_of_an_undirected_pair_is_carried_to_both_directions(list in edge_lists()) {
        let traced = Graph::undirected_traced(list.nodes, &list.sources, &list.targets).unwrap();
        prop_assert_eq!(traced.graph(), &list.undirected());
        let mut first = BTreeMap::new();
        for (input, (a, b)) in list.pairs().enumerate() {
            let is_first = a != b && *first.entry((a.min(b), a.max(b))).or_insert(input) == input;
            let expected = if is_first { traced.graph().edge_id(a, b).unwrap() } else { DROPPED };
            prop_assert_eq!(traced.edge_of_input()[input], expected);
        }
        let inputs: Vec<usize> = (0..list.sources.len()).collect();
        let expected: Vec<usize> =
            edges_of(traced.graph()).iter().map(|&(t, s)| first[&(s.min(t), s.max(t))]).collect();
        prop_assert_eq!(traced.carry(&inputs).unwrap(), expected);
    }
}

#[test]
fn the_two_directions_of_a_directed_pair_keep_values_of_their_own() {
    let traced = Graph::from_edges_traced(2, &[0, 1], &[1, 0]).unwrap();
    assert_eq!(traced.edge_of_input(), [1, 0]);
    assert_eq!(traced.carry(&["0 to 1", "1 to 0"]), Ok(vec!["1 to 0", "0 to 1"]));
    assert_eq!(traced.into_graph().twins(), Some(&[1, 0][..]));
}

#[test]
fn a_graph_of_loops_alone_has_no_edges_and_carries_no_values() {
    let traced = Graph::undirected_traced(2, &[0, 1, 1], &[0, 1, 1]).unwrap();
    assert_eq!(traced.graph().dropped(), Dropped { duplicates: 0, loops: 3, ..Dropped::default() });
    assert_eq!(traced.edge_of_input(), [DROPPED; 3]);
    assert_eq!(traced.carry(&[1, 2, 3]), Ok(vec![]));
}

#[test]
fn tracing_no_edges_gives_the_empty_graph_and_carries_nothing() {
    for graph in empty_graphs() {
        let nodes = graph.nodes();
        for traced in [Graph::from_edges_traced(nodes, &[], &[]), Graph::undirected_traced(nodes, &[], &[])] {
            let traced = traced.unwrap();
            assert!(traced.edge_of_input().is_empty());
            assert_eq!(traced.carry::<f32>(&[]), Ok(vec![]));
            assert_eq!(traced.into_graph(), graph);
        }
    }
}

#[test]
fn tracing_refuses_what_plain_construction_refuses() {
    let (sources, targets) = ([0, 9], [1, 0]);
    assert_eq!(
        Graph::from_edges_traced(2, &sources, &targets).unwrap_err(),
        Graph::from_edges(2, &sources, &targets).unwrap_err()
    );
    assert_eq!(
        Graph::undirected_traced(2, &sources, &targets[..1]).unwrap_err(),
        Graph::undirected(2, &sources, &targets[..1]).unwrap_err()
    );
}

#[test]
fn values_to_carry_must_be_one_per_input_edge_dropped_ones_included() {
    let traced = Graph::from_edges_traced(2, &[0, 0, 1], &[1, 1, 1]).unwrap();
    let error = traced.carry(&[1.0]).unwrap_err();
    assert_eq!(
        error,
        GraphError::Length { field: "values", found: 1, expected: 3, rule: "one value per input edge" }
    );
    assert_eq!(error.to_string(), "`values` has 1 entries, expected 3: pass one value per input edge");
}
