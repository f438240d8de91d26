//! Edge weights near the end of single precision: what a model takes it computes with as well as double precision does, and
//! what it could not it refuses. One test per backbone.

use std::sync::Arc;

use edgepace_graph::{Classes, DenseFeatures, Graph, GraphError, Labels, MAX_EDGE_WEIGHT};
use edgepace_nn::{Backbone, Extra, Model, ModelConfig, NnError, Real, Task};

use crate::shared::Draws;
use crate::support::{logits, one_thread, owned, wide};

/// Leaves of a star: the hub sums this many weights.
const LEAVES: u32 = 2000;
const COLUMNS: usize = 4;

fn model<T: Real>(backbone: Backbone) -> (Model<T>, Task<T>) {
    let nodes = LEAVES as usize + 1;
    let graph =
        Graph::undirected(nodes, &vec![0; LEAVES as usize], &(1..=LEAVES).collect::<Vec<_>>()).unwrap();
    let mut draws = Draws::new(7);
    let values = (0..nodes * COLUMNS).map(|_| draws.signed() as f32).collect();
    let features = DenseFeatures::new(nodes, COLUMNS, values).unwrap().into();
    let labels: Labels = Classes::new(2, (0..=LEAVES).map(|node| node % 2).collect()).unwrap().into();
    let task = Task::new(Arc::new(labels), &[0, 1, 2, 3]).unwrap();
    let config = ModelConfig { hidden: 8, ..ModelConfig::new(backbone) };
    (Model::new(Arc::new(graph), Arc::new(features), 2, config, 3, &one_thread()).unwrap(), task)
}

/// Whatever weight is taken, single precision says what double precision does, with finite gradients.
fn assert_taken_or_refused(backbone: Backbone) {
    let (mut single, task) = model::<f32>(backbone);
    let (mut double, _) = model::<f64>(backbone);
    for (name, values) in owned(single.parameters()) {
        double.set_parameter(&name, &values).unwrap();
    }
    let edges = single.graph().edges();
    for weight in [1.0, 1e6, MAX_EDGE_WEIGHT as f32, 1e18, 1e30, f32::MAX] {
        let claim = format!("{backbone:?} with weight {weight:e}");
        // Half as much on every third edge: a sum that overflowed would make all the same.
        let weights: Vec<f32> = (0..edges).map(|e| if e % 3 == 1 { weight / 2.0 } else { weight }).collect();
        if f64::from(weight) > MAX_EDGE_WEIGHT {
            let refused = single.set_edge_weights(&weights);
            let expected = GraphError::BadWeight { position: 0, value: weight.into() };
            assert!(
                matches!(&refused, Err(NnError::Graph(error)) if *error == expected),
                "{claim}: {refused:?}"
            );
            continue;
        }
        single.set_edge_weights(&weights).unwrap();
        double.set_edge_weights(&wide(&weights)).unwrap();
        let (found, exact) = (wide(&logits(&mut single)), logits(&mut double));
        let largest = exact.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        for (found, exact) in found.iter().zip(&exact) {
            assert!((found - exact).abs() <= 1e-4 * largest, "{claim}: {found} instead of {exact}");
        }
        let loss = single.gradients(&task, None, Extra { edges: true, inputs: true }).unwrap();
        assert!(loss.is_finite(), "{claim}: loss {loss}");
        let by_parameters = owned(single.parameter_gradients());
        let gradients = by_parameters.iter().flat_map(|(_, values)| values.iter().copied());
        let others = single.edge_gradients().iter().chain(single.input_gradients()).map(|&g| f64::from(g));
        assert!(gradients.chain(others).all(f64::is_finite), "{claim}: a gradient is not finite");
    }
}

#[test]
fn gcn_takes_no_weight_that_it_cannot_sum() {
    assert_taken_or_refused(Backbone::Gcn);
}

#[test]
fn gin_takes_no_weight_that_it_cannot_sum() {
    assert_taken_or_refused(Backbone::Gin);
}

#[test]
fn sage_takes_no_weight_that_it_cannot_sum() {
    assert_taken_or_refused(Backbone::Sage);
}

#[test]
fn pna_takes_no_weight_that_it_cannot_sum() {
    assert_taken_or_refused(Backbone::Pna);
}

#[test]
fn mlp_takes_no_weight_that_others_cannot_sum() {
    assert_taken_or_refused(Backbone::Mlp);
}
