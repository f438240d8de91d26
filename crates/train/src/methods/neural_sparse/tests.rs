//! The network learns from the gradient of the loss.

use super::*;
use crate::methods::edge_scores::differences::{Case, EPOCH, assert_descent, assert_slope};

/// The loss and its gradient by the network's parameters when they have these values.
fn at(method: &mut NeuralSparse, network: &mut Network, values: &[f32]) -> (f64, Vec<f32>) {
    method.network.set_parameter_values(values).unwrap();
    method.score(EPOCH, network).unwrap();
    method.before(EPOCH, network).unwrap();
    let (loss, gradient) = method.gradients(EPOCH, network).unwrap();
    (loss, gradient.to_vec())
}

#[test]
fn the_network_learns_from_the_slope_of_the_loss() {
    let case = Case::new();
    let mut network = case.network();
    let settings = Settings { k: 3, ..Settings::default() };
    let mut method = NeuralSparse::new(&settings, 1, &mut network).unwrap();
    let before = method.network.parameter_values().to_vec();
    let (_, gradient) = at(&mut method, &mut network, &before);
    assert_slope(&before, &gradient, |values| at(&mut method, &mut network, values).0);
    at(&mut method, &mut network, &before);
    method.step(EPOCH, &mut network).unwrap();
    assert_descent(&before, method.network.parameter_values(), &gradient);
}
