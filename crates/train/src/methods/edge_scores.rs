//! What the methods share that learn scores of edges: their network, checks of settings, means over both directions.

#[cfg(test)]
pub(super) mod differences;

use std::sync::Arc;

use edgepace_graph::Graph;
use edgepace_nn::{AdamConfig, EdgeNetwork};

use crate::error::{TrainError, check_finite};
use crate::network::{restore_adam, save_adam};
use crate::state::State;

/// Settings of an edge network.
#[derive(Clone, Copy)]
pub(super) struct EdgeNetworkConfig {
    pub(super) hidden: usize,
    pub(super) lr: f64,
}

impl EdgeNetworkConfig {
    /// The network number `index` under a seed, for nodes with so many columns.
    pub(super) fn make(
        self,
        graph: &Arc<Graph>,
        columns: usize,
        (seed, index): (u64, u32),
    ) -> Result<EdgeNetwork<f32>, TrainError> {
        let adam = AdamConfig { rate: self.lr, ..AdamConfig::default() };
        Ok(EdgeNetwork::new(Arc::clone(graph), columns, self.hidden, adam, (seed, index))?)
    }
}

/// What an edge network needs to go on from here.
pub(super) fn save_network(network: &EdgeNetwork<f32>) -> Result<State, TrainError> {
    let mut state = State::default();
    state.put_floats("parameters", network.parameter_values());
    state.put_part("optimiser", save_adam(network.optimiser())?);
    Ok(state)
}

/// Brings an edge network back to what [`save_network`] kept.
pub(super) fn restore_network(network: &mut EdgeNetwork<f32>, state: &State) -> Result<(), TrainError> {
    network.set_parameter_values(state.all_floats("parameters")?)?;
    restore_adam(network.optimiser_mut(), &state.part("optimiser"))
}

/// The step sizes that can make training diverge.
pub(super) const STEP_SIZES: &str = "`lr` or `network_lr`";

/// Refuses scores of edges that are not finite.
pub(super) fn check_scores(scores: &[f32], epoch: u32) -> Result<(), TrainError> {
    check_finite(scores, "the scores of edges are", epoch, STEP_SIZES)
}

/// Refuses a loss that is not finite.
pub(super) fn check_loss(loss: f64, epoch: u32) -> Result<(), TrainError> {
    check_finite(&[loss as f32], "the loss is", epoch, STEP_SIZES)
}

pub(super) fn check_network(hidden: usize, lr: f64) -> Result<(), TrainError> {
    if hidden == 0 || hidden > 1024 || !hidden.is_multiple_of(16) {
        let expected = "a multiple of 16 up to 1024";
        return Err(TrainError::refused("network_hidden", hidden, expected));
    }
    in_range("network_lr", lr, 1e-9, 1e3)
}

/// Refuses a number outside of [low, high].
pub(super) fn in_range(field: &'static str, found: f64, low: f64, high: f64) -> Result<(), TrainError> {
    if (low..=high).contains(&found) {
        return Ok(());
    }
    Err(TrainError::refused(field, found, format!("between {low} and {high}")))
}

/// Gives both directions of each undirected edge their mean.
pub(super) fn average_twins(graph: &Graph, values: &mut [f32]) {
    for (edge, &twin) in graph.twins().unwrap_or_default().iter().enumerate() {
        let twin = twin as usize;
        if edge < twin {
            let mean = f32::midpoint(values[edge], values[twin]);
            (values[edge], values[twin]) = (mean, mean);
        }
    }
}
