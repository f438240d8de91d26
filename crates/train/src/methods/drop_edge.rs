//! `DropEdge` (Rong, Huang, Xu, Huang: `DropEdge`: Towards Deep Graph Convolutional Networks on Node Classification, ICLR 2020):
//! random edges are left out of each training step, others each time.
//!
//! In epoch t the undirected edge e is left out when u(seed, t, e) < p, where u is uniform in [0, 1) and a pure function of
//! its arguments, so that neither threads nor earlier epochs can change it. Both directions are one decision. The graph
//! that remains is normalised anew; evaluation is on all edges. The rate p is chosen on validation.

use std::sync::Arc;

use edgepace_curriculum::Pairs;
use edgepace_graph::bytes::{array, total};
use edgepace_graph::random::{Purpose, Stream};
use edgepace_nn::{StructureId, Threads};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::candidates::{Candidate, Candidates};
use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start, StructureChange};
use crate::material::Material;
use crate::network::{Method, Network, NetworkLearner};
use crate::setting::Setting;

/// Settings of `drop-edge`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DropEdgeConfig {
    /// The probability that an edge is left out of an epoch, in [0, 1]; unset: chosen on validation.
    rate: Option<f64>,
}

/// What can be set.
pub(crate) const SETTINGS: &[Setting] = &[Setting {
    name: "rate",
    meaning: "probability that an edge is left out of an epoch, in [0, 1]; unset: the best on validation of 0.1, …, 0.7",
    search: &["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"],
}];

/// The rates that are chosen among.
const RATES: [(&str, f64); 7] = [
    ("rate 0.1", 0.1),
    ("rate 0.2", 0.2),
    ("rate 0.3", 0.3),
    ("rate 0.4", 0.4),
    ("rate 0.5", 0.5),
    ("rate 0.6", 0.6),
    ("rate 0.7", 0.7),
];

/// The place in [`RATES`] of the one that is taken where there is nothing to choose by.
const USUAL: usize = 2;

pub(crate) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&DropEdgeConfig::default())
}

/// Every rate, unless one is set.
pub(crate) fn candidates(config: &RunConfig) -> Option<Candidates> {
    if config.settings.contains_key("rate") {
        return None;
    }
    let candidate = |(label, rate)| {
        let mut config = config.clone();
        config.settings.insert("rate".into(), Value::Float(rate));
        Candidate { label, config }
    };
    Some(Candidates { list: RATES.into_iter().map(candidate).collect(), alone: USUAL })
}

/// The method with the settings of a run.
pub(crate) fn recipe(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    let DropEdgeConfig { rate } = config.settings_over(&DropEdgeConfig::default())?;
    let rate = rate.unwrap_or(RATES[USUAL].1);
    if !(0.0..=1.0).contains(&rate) {
        return Err(TrainError::refused("rate", rate, "in [0, 1]"));
    }
    Ok(Arc::new(DropEdge { rate }))
}

#[derive(Debug)]
struct DropEdge {
    rate: f64,
}

impl Recipe for DropEdge {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(&DropEdgeConfig { rate: Some(self.rate) })
    }

    /// A second structure with what it keeps of propagated features, the pair and the weight of each edge.
    fn extra_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let edges = material.graph().edges();
        let footprint = material.footprint(config);
        total([
            footprint.structure(edges, footprint.extent().symmetric),
            footprint.propagated_inputs(),
            array::<u32>(&[edges]),
            array::<f32>(&[edges]),
        ])
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        NetworkLearner::boxed(start, |network| {
            let pair_of = Pairs::new(&network.graph).pair_of().to_vec();
            Ok(Dropping {
                rate: self.rate,
                seed: start.seed,
                training: network.model.add_structure(network.weighted.clone())?,
                weights: vec![1.0; pair_of.len()],
                pair_of,
                edges: network.graph.edges(),
            })
        })
    }
}

/// What an epoch leaves out follows from seed and epoch: there is nothing to save.
struct Dropping {
    rate: f64,
    seed: u64,
    training: StructureId,
    /// The undirected edge that each edge belongs to.
    pair_of: Vec<u32>,
    /// 1 for the edges of this epoch, 0 for the others.
    weights: Vec<f32>,
    edges: usize,
}

impl Method for Dropping {
    fn before(&mut self, epoch: u32, network: &mut Network) -> Result<Option<StructureChange>, TrainError> {
        let stream = Stream::new(self.seed, Purpose::DroppedEdges, epoch);
        draw(network.model.threads(), &self.pair_of, &stream, self.rate, &mut self.weights);
        self.edges = self.weights.iter().filter(|&&weight| weight > 0.0).count();
        network.model.on(self.training).set_edge_weights(&self.weights)?;
        Ok(Some(StructureChange { edges: self.edges, objective: None }))
    }

    fn step(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        network.train_on(self.training, epoch)
    }

    fn edges_in(&self, _: &Network) -> usize {
        self.edges
    }
}

/// Edges that one thread draws at a time.
const BLOCK: usize = 1 << 14;

/// 0 for the edges that an epoch leaves out, 1 for the others.
fn draw(threads: &Threads, pair_of: &[u32], stream: &Stream, rate: f64, weights: &mut [f32]) {
    threads.rows(weights, 1, BLOCK, |first, weights| {
        for (weight, &pair) in weights.iter_mut().zip(&pair_of[first..]) {
            *weight = if stream.uniform(u64::from(pair)) < rate { 0.0 } else { 1.0 };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(threads: usize, seed: u64, epoch: u32, rate: f64) -> Vec<f32> {
        // Each pair twice, as in an undirected graph.
        let pair_of: Vec<u32> = (0..100_000).map(|edge| edge % 50_000).collect();
        let mut weights = vec![0.5; pair_of.len()];
        let stream = Stream::new(seed, Purpose::DroppedEdges, epoch);
        draw(&Threads::new(threads).unwrap(), &pair_of, &stream, rate, &mut weights);
        weights
    }

    #[test]
    fn each_epoch_leaves_out_the_stated_share_of_edges_within_chance() {
        for rate in [0.1, 0.3, 0.7] {
            for epoch in 0..5 {
                let kept = drawn(1, 7, epoch, rate)[..50_000].iter().filter(|&&weight| weight == 1.0).count();
                let (expected, n) = (50_000.0 * (1.0 - rate), 50_000.0);
                let sd = f64::sqrt(n * rate * (1.0 - rate));
                assert!((kept as f64 - expected).abs() < 4.5 * sd, "{rate} {epoch}: {kept}");
            }
        }
        assert!(drawn(1, 7, 0, 0.0).iter().all(|&weight| weight == 1.0));
        assert!(drawn(1, 7, 0, 1.0).iter().all(|&weight| weight == 0.0));
    }

    #[test]
    fn epochs_and_seeds_draw_independently_of_each_other() {
        let base = drawn(1, 7, 3, 0.5);
        for (seed, epoch) in [(7, 4), (8, 3)] {
            let other = drawn(1, seed, epoch, 0.5);
            let agree = base[..50_000].iter().zip(&other).filter(|(a, b)| a == b).count();
            // Of two fair coins half the throws agree; 4.5 standard deviations are 503.
            assert!(agree.abs_diff(25_000) < 503, "{agree} of 50000 agree");
        }
    }

    #[test]
    fn both_directions_are_one_decision_on_any_number_of_threads() {
        let one = drawn(1, 7, 3, 0.4);
        assert_eq!(one[..50_000], one[50_000..]);
        for threads in [2, 5] {
            assert_eq!(one, drawn(threads, 7, 3, 0.4));
        }
    }
}
