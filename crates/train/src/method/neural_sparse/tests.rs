//! The network learns from the gradient of the loss.

use super::*;
use crate::event::Silent;
use crate::method::edge_scores::differences::{Case, EPOCH, assert_descent, assert_slope};

/// The loss and its gradient by the network's parameters when they have these values.
fn at(method: &mut NeuralSparse, session: &mut Session<'_>, values: &[f32]) -> (f64, Vec<f32>) {
    let state = method.state.as_mut().unwrap();
    state.network.set_parameter_values(values).unwrap();
    state.score(EPOCH, session).unwrap();
    method.before(EPOCH, session).unwrap();
    let (loss, gradient) = method.state.as_mut().unwrap().gradients(EPOCH, session).unwrap();
    (loss, gradient.to_vec())
}

#[test]
fn the_network_learns_from_the_slope_of_the_loss() {
    let case = Case::new();
    let mut session = case.session();
    let settings = Settings { k: 3, ..Settings::default() };
    let mut method = NeuralSparse { settings, seed: 1, state: None };
    method.start(&mut session, &mut Silent).unwrap();
    let before = method.state.as_ref().unwrap().network.parameter_values().to_vec();
    let (_, gradient) = at(&mut method, &mut session, &before);
    assert_slope(&before, &gradient, |values| at(&mut method, &mut session, values).0);
    at(&mut method, &mut session, &before);
    method.step(EPOCH, &mut session).unwrap();
    assert_descent(&before, method.state.as_ref().unwrap().network.parameter_values(), &gradient);
}
