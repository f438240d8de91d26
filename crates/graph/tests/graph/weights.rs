use edgepace_graph::{Graph, GraphError, check_weights};

use crate::edge_lists::empty_graphs;

fn two_edges() -> Graph {
    Graph::undirected(2, &[0], &[1]).unwrap()
}

#[test]
fn finite_weights_of_either_width_are_accepted_from_zero_up() {
    assert_eq!(check_weights(&two_edges(), &[0.0_f32, f32::MAX]), Ok(()));
    assert_eq!(check_weights(&two_edges(), &[-0.0_f64, 1e300]), Ok(()));
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
fn a_negative_or_infinite_weight_is_refused_with_its_edge() {
    for value in [-0.5, f64::INFINITY, f64::NEG_INFINITY] {
        let error = check_weights(&two_edges(), &[1.0, value]).unwrap_err();
        assert_eq!(error, GraphError::BadWeight { position: 1, value });
    }
    assert_eq!(
        check_weights(&two_edges(), &[-0.5_f32, 1.0]).unwrap_err().to_string(),
        "`weights`[0] is -0.5: edge weights must be finite and at least 0 (0 removes the edge)"
    );
}

#[test]
fn a_weight_that_is_not_a_number_is_refused_with_its_edge() {
    let error = check_weights(&two_edges(), &[1.0_f32, f32::NAN]).unwrap_err();
    assert!(matches!(error, GraphError::BadWeight { position: 1, value } if value.is_nan()));
    assert_eq!(
        error.to_string(),
        "`weights`[1] is NaN: edge weights must be finite and at least 0 (0 removes the edge)"
    );
}
