//! NeuralSparse (Zheng et al., «Robust Graph Representation Learning via Neural Sparsification», ICML 2020): each node keeps
//! k neighbours, sampled without replacement from softmax_v(z_uv), where z_uv = MLP(x_u, x_v) is learned with the model.
//!
//! In training the sample is relaxed by Gumbel-softmax (see `sample`) at temperature τ = max(τ_min, exp(−r · epoch)), its
//! weights are the edge weights of the model, and the gradient of the loss by them goes on to the network. Evaluation is on
//! the most probable subgraph, the k neighbours of highest score, or on the average of several samples.
//!
//! Each node chooses for itself, so an undirected edge can be kept in one direction alone. What edges weigh by themselves
//! multiplies the sample; which are likely is for the network to learn.

mod sample;

use std::sync::Arc;

use edgepace_graph::bytes::{array, total};
use edgepace_graph::random::{Purpose, Stream};
use edgepace_nn::{EdgeNetwork, Extra, StructureId, Threads, edge_network_bytes};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start, StructureChange};
use crate::material::Material;
use crate::methods::edge_scores::{
    EdgeNetworkConfig, STEP_SIZES, average_twins, check_loss, check_network, check_scores, in_range,
    restore_network, save_network,
};
use crate::network::{EvaluatedOn, Method, Network, NetworkLearner};
use crate::setting::Setting;
use crate::snapshot::{EdgeReport, SavedStructure};
use crate::state::State;

use sample::Sampler;

/// Which subgraph counts when the model is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Evaluation {
    /// The most probable one: the k neighbours of highest score.
    Top,
    /// The share of samples in which an edge is kept.
    Average,
}

/// Settings of NeuralSparse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    k: usize,
    straight_through: bool,
    temperature_rate: f64,
    temperature_floor: f64,
    evaluation: Evaluation,
    samples: u32,
    network_hidden: usize,
    network_lr: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            k: 15,
            straight_through: false,
            temperature_rate: 0.02,
            temperature_floor: 0.05,
            evaluation: Evaluation::Top,
            samples: 8,
            network_hidden: 32,
            network_lr: 0.01,
        }
    }
}

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "k",
        meaning: "neighbours that each node keeps, 1 to 1000",
        search: &["5", "10", "15", "30"],
    },
    Setting::fixed(
        "straight_through",
        "true: train on the sample itself, with the gradient of its relaxation; false: on the relaxation",
    ),
    Setting {
        name: "temperature_rate",
        meaning: "r of the temperature max(floor, exp(−r · epoch)), 0 to 1000",
        search: &["0.01", "0.02", "0.05"],
    },
    Setting::fixed("temperature_floor", "the lowest temperature, 0.01 to 10"),
    Setting::fixed(
        "evaluation",
        "`top`: the most probable subgraph; `average`: the share of samples that keep an edge",
    ),
    Setting::fixed("samples", "samples of evaluation `average`, 1 to 1000"),
    Setting::fixed("network_hidden", "hidden units of the edge network, a multiple of 16 up to 1024"),
    Setting {
        name: "network_lr",
        meaning: "step size of the edge network's Adam, 1e-9 to 1000",
        search: &["0.001", "0.01"],
    },
];

impl Settings {
    fn check(&self) -> Result<(), TrainError> {
        in_range("k", self.k as f64, 1.0, 1000.0)?;
        in_range("temperature_rate", self.temperature_rate, 0.0, 1e3)?;
        in_range("temperature_floor", self.temperature_floor, 0.01, 10.0)?;
        in_range("samples", f64::from(self.samples), 1.0, 1000.0)?;
        check_network(self.network_hidden, self.network_lr)
    }

    fn temperature(&self, epoch: u32) -> f64 {
        libm::exp(-self.temperature_rate * f64::from(epoch)).max(self.temperature_floor)
    }
}

/// The method with the settings of a run.
pub(crate) fn recipe(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    let settings: Settings = config.settings_over(&Settings::default())?;
    settings.check()?;
    Ok(Arc::new(settings))
}

/// Numbers per edge: scores, weights, those that are evaluated and saved, a gradient; at the end weights and their report.
const OWN_PER_EDGE: usize = 9;

impl Recipe for Settings {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(self)
    }

    /// The edge network, the sampler, two structures, the gradient by edge weights; at the end a second sampler for the
    /// report.
    fn extra_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let graph = material.graph();
        let (nodes, edges) = (graph.nodes(), graph.edges());
        let footprint = material.footprint(config);
        let extent = footprint.extent();
        let rounds: usize = (0..nodes)
            .map(|node| graph.in_edges(node).len())
            .filter(|&degree| degree > self.k)
            .fold(0, |sum, degree| sum.saturating_add(degree.saturating_mul(self.k + 1)));
        let sampler = total([
            array::<usize>(&[(nodes + 1).next_power_of_two()]),
            array::<f32>(&[edges]),
            array::<f32>(&[rounds]),
        ]);
        total([
            edge_network_bytes(extent, extent.columns, extent.stored.is_some(), self.network_hidden),
            sampler.saturating_mul(2),
            footprint.structure(edges, extent.symmetric).saturating_mul(2),
            // Twins are sampled apart.
            if extent.symmetric { array::<f32>(&[2, edges]) } else { 0 },
            footprint.edge_gradient(edges),
            footprint.propagated_inputs(),
            array::<f32>(&[OWN_PER_EDGE, edges]),
        ])
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        NetworkLearner::boxed(start, |network| NeuralSparse::new(self, start.seed, network))
    }
}

struct NeuralSparse {
    settings: Settings,
    seed: u64,
    network: EdgeNetwork<f32>,
    sampler: Sampler<f32>,
    training: StructureId,
    evaluated: StructureId,
    /// z of each edge, of the network as it is now.
    scores: Vec<f32>,
    weights: Vec<f32>,
    kept: Vec<f32>,
    d_scores: Vec<f32>,
    threads: Threads,
}

impl NeuralSparse {
    fn new(settings: &Settings, seed: u64, network: &mut Network) -> Result<Self, TrainError> {
        let graph = &network.graph;
        let config = EdgeNetworkConfig { hidden: settings.network_hidden, lr: settings.network_lr };
        let edges = graph.edges();
        let mut method = Self {
            network: config.make(graph, network.features.cols(), (seed, 0))?,
            sampler: Sampler::new(Arc::clone(graph), settings.k),
            training: network.model.add_structure(network.weighted.clone())?,
            evaluated: network.model.add_structure(network.weighted.clone())?,
            scores: Vec::new(),
            weights: vec![0.0; edges],
            kept: vec![0.0; edges],
            d_scores: vec![0.0; edges],
            threads: network.model.threads().clone(),
            settings: settings.clone(),
            seed,
        };
        method.score(0, network)?;
        Ok(method)
    }
}

impl Method for NeuralSparse {
    fn before(&mut self, epoch: u32, network: &mut Network) -> Result<Option<StructureChange>, TrainError> {
        let Self { settings, sampler, scores, weights, threads, .. } = self;
        let stream = Stream::new(self.seed, Purpose::EdgeSamples, epoch);
        sampler.perturb(threads, scores, Some((stream, 0)));
        sampler.relax(threads, settings.temperature(epoch));
        if settings.straight_through {
            sampler.hard(threads, weights);
        } else {
            sampler.relaxed(threads, weights);
        }
        network.model.on(self.training).set_edge_weights(weights)?;
        Ok((epoch == 0).then(|| StructureChange { edges: self.sampler.sampled(), objective: None }))
    }

    fn step(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        let (loss, _) = self.gradients(epoch, network)?;
        self.network.step(&self.threads);
        network.optimise()?;
        Ok(loss)
    }

    fn after(&mut self, epoch: u32, network: &mut Network) -> Result<(), TrainError> {
        // The scores after this step are also those that the next one samples from.
        self.score(epoch, network)?;
        let Self { settings, sampler, scores, weights, kept, threads, .. } = self;
        match settings.evaluation {
            Evaluation::Top => {
                sampler.perturb(threads, scores, None);
                sampler.hard(threads, kept);
            }
            Evaluation::Average => {
                let stream = Stream::new(self.seed, Purpose::EdgeSamples, epoch);
                let share = 1.0 / settings.samples as f32;
                kept.fill(0.0);
                // Sample 0 is the one that was trained on.
                for sample in 1..=settings.samples {
                    sampler.perturb(threads, scores, Some((stream, sample)));
                    sampler.hard(threads, weights);
                    kept.iter_mut().zip(&*weights).for_each(|(kept, &weight)| *kept += share * weight);
                }
            }
        }
        network.model.on(self.evaluated).set_edge_weights(kept)?;
        Ok(())
    }

    fn step_sizes(&self) -> &'static str {
        STEP_SIZES
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        vec![EvaluatedOn { structure: self.evaluated.into(), name: "sparsified" }]
    }

    fn saved_structure(&self, _: EvaluatedOn, network: &Network) -> SavedStructure {
        SavedStructure { weights: Some(network.products(&self.kept)), ..SavedStructure::default() }
    }

    fn edges_in(&self, _: &Network) -> usize {
        self.sampler.sampled()
    }

    /// The relaxation at temperature 1 without noise, cut at 1: it orders the edges of a node by score, and is no probability.
    fn edges(&self) -> Option<EdgeReport> {
        let mut sampler = Sampler::new(Arc::clone(self.sampler.graph()), self.settings.k);
        let mut weights = vec![0.0; self.scores.len()];
        sampler.perturb(&self.threads, &self.scores, None);
        sampler.relax(&self.threads, 1.0);
        sampler.relaxed(&self.threads, &mut weights);
        average_twins(self.sampler.graph(), &mut weights);
        for weight in &mut weights {
            *weight = weight.min(1.0);
        }
        Some(EdgeReport::of_weights(&weights))
    }

    fn save(&self, _: &Network) -> Result<State, TrainError> {
        save_network(&self.network)
    }

    fn restore(&mut self, state: &State, network: &mut Network) -> Result<(), TrainError> {
        restore_network(&mut self.network, state)?;
        self.score(0, network)
    }
}

impl NeuralSparse {
    fn score(&mut self, epoch: u32, network: &Network) -> Result<(), TrainError> {
        let scores = self.network.scores(&self.threads, network.model.inputs())?;
        check_scores(scores, epoch)?;
        self.scores.clear();
        self.scores.extend_from_slice(scores);
        Ok(())
    }

    /// The loss on the sample, and its gradient by the network's parameters; that by the model's is in the model.
    fn gradients(&mut self, epoch: u32, network: &mut Network) -> Result<(f64, &[f32]), TrainError> {
        let model = network.model.on(self.training);
        let extra = Extra { edges: true, inputs: false };
        let loss = model.gradients(&network.task, Some(epoch), extra)?;
        check_loss(loss, epoch)?;
        self.sampler.gradient(&self.threads, model.edge_gradients(), &mut self.d_scores);
        let gradient = self.network.gradient(&self.threads, model.inputs(), &self.d_scores)?;
        Ok((loss, gradient))
    }
}

#[cfg(test)]
mod tests;
