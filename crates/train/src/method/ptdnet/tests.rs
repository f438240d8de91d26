//! The networks learn from the gradient of the whole loss.

use super::*;
use crate::event::Silent;
use crate::method::edge_scores::differences::{Case, EPOCH, assert_descent, assert_slope};

const SEED: u64 = 1;
/// Updates of the singular vectors after which they have settled.
const UPDATES: usize = 40;

/// The whole loss, and the gradient by the parameters of a layer's network, when they have these values. The other layer's
/// gates stay.
fn at(
    state: &mut State,
    settings: &Settings,
    session: &mut Session<'_>,
    number: usize,
    values: &[f32],
) -> (f64, Vec<f32>) {
    let layer = &mut state.layers[number];
    layer.network.set_parameter_values(values).unwrap();
    if number == 0 {
        layer.score(&state.threads, EPOCH, session.model.inputs()).unwrap();
    }
    for _ in 0..UPDATES {
        state.sample(number, settings, (SEED, EPOCH), session).unwrap();
    }
    let mut terms = 0.0;
    for layer in &state.layers {
        let mut open = vec![0.0; layer.weights.len()];
        layer.gates.open(&state.threads, &mut open);
        let mean = open.iter().map(|&p| f64::from(p)).sum::<f64>() / open.len() as f64;
        let share = layer.low_rank.as_ref().unwrap().share();
        terms += settings.sparsity * mean + settings.low_rank * f64::from(share);
    }
    let (task, gradients) = state.gradients(settings, EPOCH, session).unwrap();
    (task + terms, gradients[number].to_vec())
}

#[test]
fn each_network_learns_from_the_slope_of_the_whole_loss() {
    let case = Case::new();
    let mut session = case.session();
    let settings = Settings { rank: 2, rank_period: 1, initial_odds: 0.0, ..Settings::default() };
    let mut method = PtdNet { settings: settings.clone(), seed: SEED, state: None };
    method.start(&mut session, &mut Silent).unwrap();
    method.before(EPOCH, &mut session).unwrap();
    let state = method.state.as_mut().unwrap();
    let before = [0, 1].map(|number| state.layers[number].network.parameter_values().to_vec());
    let gradients = [0, 1].map(|number| {
        let mut at = |values: &[f32]| at(state, &settings, &mut session, number, values);
        let (_, gradient) = at(&before[number]);
        assert_slope(&before[number], &gradient, |values| at(values).0);
        at(&before[number]).1
    });
    method.step(EPOCH, &mut session).unwrap();
    let state = method.state.as_ref().unwrap();
    for number in 0..2 {
        let after = state.layers[number].network.parameter_values();
        assert_descent(&before[number], after, &gradients[number]);
    }
}
