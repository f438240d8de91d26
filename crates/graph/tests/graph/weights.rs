use edgepace_graph::{Graph, GraphError, MAX_EDGE_WEIGHT, check_weights};

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
