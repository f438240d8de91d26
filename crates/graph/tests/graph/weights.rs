use std::sync::Arc;

use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, GraphError, Labels, MAX_EDGE_WEIGHT, Names, Threads,
    WeightedGraph, check_weights,
};

use crate::edge_lists::empty_graphs;

fn two_edges() -> Graph {
    Graph::undirected(2, &[0], &[1]).unwrap()
}

#[test]
fn weights_of_either_width_are_accepted_from_zero_to_the_limit() {
    assert_eq!(check_weights(&two_edges(), &[0.0_f32, MAX_EDGE_WEIGHT as f32]), Ok(()));
    assert_eq!(check_weights(&two_edges(), &[-0.0_f64, MAX_EDGE_WEIGHT]), Ok(()));
    for graph in empty_graphs() {
        assert_eq!(check_weights::<f32>(&graph, &[]), Ok(()));
    }
}

#[test]
fn there_must_be_one_weight_per_edge() {
    let error = check_weights(&two_edges(), &[1.0_f32]).unwrap_err();
    let rule = "one weight per directed edge, in the order of ids";
    assert_eq!(error, GraphError::Length { field: "weights", found: 1, expected: 2, rule });
    assert_eq!(
        error.to_string(),
        "`weights` has 1 entries, expected 2: pass one weight per directed edge, in the order of ids"
    );
}

#[test]
fn a_negative_or_too_large_weight_is_refused_with_its_edge() {
    for value in [-0.5, MAX_EDGE_WEIGHT.next_up(), f64::MAX, f64::INFINITY, f64::NEG_INFINITY] {
        let error = check_weights(&two_edges(), &[1.0, value]).unwrap_err();
        assert_eq!(error, GraphError::BadWeight { position: 1, value });
    }
    assert_eq!(
        check_weights(&two_edges(), &[-0.5_f32, 1.0]).unwrap_err().to_string(),
        "`weights`[0] is -0.5, expected an edge weight from 0 (removes the edge) to 1e9: \
         sums of larger ones overflow, so divide all weights by a constant"
    );
}

#[test]
fn a_weight_that_is_not_a_number_is_refused_with_its_edge() {
    let error = check_weights(&two_edges(), &[1.0_f32, f32::NAN]).unwrap_err();
    assert!(matches!(error, GraphError::BadWeight { position: 1, value } if value.is_nan()));
    assert_eq!(
        error.to_string(),
        "`weights`[1] is NaN, expected an edge weight from 0 (removes the edge) to 1e9: \
         sums of larger ones overflow, so divide all weights by a constant"
    );
}

/// The words of the error name the limit as a literal.
#[test]
fn the_error_names_the_limit() {
    let error = check_weights(&two_edges(), &[f32::MAX, 1.0]).unwrap_err().to_string();
    assert!(error.contains(&format!("to {MAX_EDGE_WEIGHT:e}:")), "{error}");
}

fn dataset() -> Dataset {
    // By target, then source: 1 → 0, 0 → 1, 2 → 1, 1 → 2.
    let graph = Graph::undirected(3, &[0, 1], &[1, 2]).unwrap();
    let features = Features::from(DenseFeatures::new(3, 1, vec![0.0; 3]).unwrap());
    let labels = Labels::from(Classes::new(2, vec![0, 1, 0]).unwrap());
    Dataset::new("path", graph, features, labels, vec![]).unwrap()
}

fn weighted(weights: [f32; 4]) -> Result<Dataset, GraphError> {
    dataset()
        .with_edge_column("other", vec![1.0, 2.0, 3.0, 4.0])?
        .with_edge_column(Dataset::WEIGHT, weights.to_vec())
}

#[test]
fn the_checksum_covers_weights_unless_all_are_one() {
    let plain = dataset().checksum();
    assert_eq!(weighted([1.0; 4]).unwrap().checksum(), plain);
    let two = weighted([2.0; 4]).unwrap();
    let other = weighted([2.0, 2.0, 2.0, 3.0]).unwrap();
    assert!(two.checksum() != plain && other.checksum() != plain && two.checksum() != other.checksum());
    assert_eq!((two.weights(), dataset().weights()), (Some(&[2.0; 4][..]), None));
}

#[test]
fn an_edge_of_weight_zero_leaves_the_graph_and_every_column_follows() {
    let both_ways = weighted([0.0, 0.0, 2.0, 2.0]).unwrap();
    assert_eq!(both_ways.graph().edges(), 2);
    assert!(both_ways.graph().twins().is_some());
    assert_eq!(both_ways.edge_column("other"), Some(&[3.0, 4.0][..]));
    assert_eq!(both_ways.edge_column(Dataset::WEIGHT), Some(&[2.0, 2.0][..]));
    assert_eq!(both_ways.graph().dropped().weightless, 1, "a pair counts once");
    let one_way = weighted([0.0, 5.0, -0.0, 2.0]).unwrap();
    assert_eq!((one_way.graph().edges(), one_way.graph().twins().is_some()), (2, false));
    assert_eq!(one_way.edge_column("other"), Some(&[2.0, 4.0][..]));
    assert_eq!(one_way.graph().dropped().weightless, 2);
}

#[test]
fn what_is_no_weight_is_refused_with_the_ends_of_its_edge() {
    for (bad, shown) in [
        (-1.0, "-1"),
        (f32::NAN, "NaN"),
        (f32::INFINITY, "inf"),
        (f32::NEG_INFINITY, "-inf"),
        (1.1e9, "1100000000"),
    ] {
        let error = weighted([1.0, 1.0, bad, 1.0]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("the weight of the edge from `2` to `1` is {shown},")), "{error}");
        assert!(dataset().with_edge_column("other", vec![bad; 4]).is_ok(), "other columns hold any number");
    }
    let named = dataset().with_node_names(Names::new(["ann", "bob", "cem"])).unwrap();
    let error = named.with_edge_column(Dataset::WEIGHT, vec![1.0, 1.0, 1.0, -2.0]).unwrap_err().to_string();
    assert!(error.contains("from `bob` to `cem` is -2"), "{error}");
}

#[test]
fn both_directions_of_an_undirected_form_weigh_as_the_heavier_one_does() {
    let directed = Arc::new(Graph::from_edges(3, &[0, 1, 2], &[1, 0, 1]).unwrap());
    // 1 → 0, 0 → 1, 2 → 1.
    let weighted = WeightedGraph::new(Arc::clone(&directed), vec![0.5, 2.0, 3.0]).unwrap();
    let both = weighted.undirected(&Threads::one()).unwrap();
    assert_eq!(**both.graph(), Graph::undirected(3, &[0, 1, 2], &[1, 0, 1]).unwrap());
    assert_eq!(both.weights().unwrap()[..], [2.0, 2.0, 3.0, 3.0]);
    assert!(!both.is_uneven());
    let uneven = WeightedGraph::new(Arc::clone(both.graph()), vec![1.0, 2.0, 3.0, 3.0]).unwrap();
    assert!(uneven.is_uneven());
    assert_eq!(uneven.undirected(&Threads::one()).unwrap().weights().unwrap()[..], [2.0, 2.0, 3.0, 3.0]);
    let plain = WeightedGraph::<f32>::from(directed).undirected(&Threads::one()).unwrap();
    assert!(plain.weights().is_none() && plain.graph().edges() == 4);
}

#[test]
fn repeats_with_another_weight_are_counted() {
    let (a, b, weights) = ([0, 1, 1, 2, 0], [1, 0, 2, 1, 0], [1.0, 2.0, 3.0, 3.0, 9.0]);
    let mut traced = Graph::undirected_traced(3, &a, &b).unwrap();
    let carried = traced.carry(&weights).unwrap();
    assert_eq!(carried, [1.0, 1.0, 3.0, 3.0]);
    traced.count_conflicts((&a, &b), &weights, &carried);
    let dropped = traced.graph().dropped();
    assert_eq!((dropped.duplicates, dropped.conflicting, dropped.loops), (2, 1, 1));
}
