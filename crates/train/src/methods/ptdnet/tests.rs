//! The networks learn from the gradient of the whole loss.

use super::*;
use crate::methods::edge_scores::differences::{Case, EPOCH, assert_descent, assert_slope};

const SEED: u64 = 1;
/// Updates of the singular vectors after which they have settled.
const UPDATES: usize = 40;

/// The whole loss, and the gradient by the parameters of a layer's network, when they have these values. The other layer's
/// gates stay.
fn at(method: &mut PtdNet, network: &mut Network, number: usize, values: &[f32]) -> (f64, Vec<f32>) {
    let layer = &mut method.layers[number];
    layer.network.set_parameter_values(values).unwrap();
    if number == 0 {
        layer.score(&method.threads, EPOCH, network.model.inputs()).unwrap();
    }
    for _ in 0..UPDATES {
        method.sample(number, EPOCH, network).unwrap();
    }
    let mut terms = 0.0;
    for layer in &method.layers {
        let mut open = vec![0.0; layer.weights.len()];
        layer.gates.open(&method.threads, &mut open);
        let mean = open.iter().map(|&p| f64::from(p)).sum::<f64>() / open.len() as f64;
        let share = layer.low_rank.as_ref().unwrap().share();
        terms += method.settings.sparsity * mean + method.settings.low_rank * f64::from(share);
    }
    let (task, gradients) = method.gradients(EPOCH, network).unwrap();
    (task + terms, gradients[number].to_vec())
}

#[test]
fn each_network_learns_from_the_slope_of_the_whole_loss() {
    let case = Case::new();
    let mut network = case.network();
    let settings = Settings { rank: 2, rank_period: 1, initial_odds: 0.0, ..Settings::default() };
    let mut method = PtdNet::new(&settings, SEED, &mut network).unwrap();
    method.before(EPOCH, &mut network).unwrap();
    let before = [0, 1].map(|number| method.layers[number].network.parameter_values().to_vec());
    let gradients = [0, 1].map(|number| {
        let mut at = |values: &[f32]| at(&mut method, &mut network, number, values);
        let (_, gradient) = at(&before[number]);
        assert_slope(&before[number], &gradient, |values| at(values).0);
        at(&before[number]).1
    });
    method.step(EPOCH, &mut network).unwrap();
    for number in 0..2 {
        let after = method.layers[number].network.parameter_values();
        assert_descent(&before[number], after, &gradients[number]);
    }
}
