//! NeuralSparse (Zheng et al., «Robust Graph Representation Learning via Neural Sparsification», ICML 2020): each node keeps
//! k neighbours, sampled without replacement from softmax_v(z_uv), where z_uv = MLP(x_u, x_v) is learned with the model.
//!
//! In training the sample is relaxed by Gumbel-softmax (see `sample`) at temperature τ = max(τ_min, exp(−r · epoch)), its
//! weights are the edge weights of the model, and the gradient of the loss by them goes on to the network. Evaluation is on
//! the most probable subgraph, the k neighbours of highest score, or on the average of several samples.
//!
//! Each node chooses for itself, so an undirected edge can be kept in one direction alone.

mod sample;

use std::sync::Arc;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_nn::{EdgeNetwork, Extra, StructureId, Threads};
use serde::{Deserialize, Serialize};

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::event::Listener;
use crate::method::edge_scores::{Network, average_twins, check_loss, check_network, check_scores, in_range};
use crate::method::{EdgeReport, EvaluatedOn, Kept, Method, Setting, Update};
use crate::session::Session;

use sample::Sampler;

/// Which subgraph counts when the model is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Evaluation {
    /// The most probable one: the k neighbours of highest score.
    Top,
    /// The share of samples in which an edge is kept.
    Average,
}

/// Settings of NeuralSparse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Settings {
    pub(super) k: usize,
    pub(super) straight_through: bool,
    pub(super) temperature_rate: f64,
    pub(super) temperature_floor: f64,
    pub(super) evaluation: Evaluation,
    pub(super) samples: u32,
    pub(super) network_hidden: usize,
    pub(super) network_lr: f64,
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

pub(super) const SETTINGS: &[Setting] = &[
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
        (-self.temperature_rate * f64::from(epoch)).exp().max(self.temperature_floor)
    }
}

pub(super) fn make(config: &RunConfig, seed: u64) -> Result<Box<dyn Method>, TrainError> {
    let settings: Settings = config.settings_over(&Settings::default())?;
    settings.check()?;
    Ok(Box::new(NeuralSparse { settings, seed, state: None }))
}

struct NeuralSparse {
    settings: Settings,
    seed: u64,
    /// Made at the start.
    state: Option<State>,
}

struct State {
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

impl Method for NeuralSparse {
    fn start(&mut self, session: &mut Session<'_>, _: &mut dyn Listener) -> Result<(), TrainError> {
        let graph = &session.graph;
        let settings = Network { hidden: self.settings.network_hidden, lr: self.settings.network_lr };
        let edges = graph.edges();
        let mut state = State {
            network: settings.make(graph, session.features.cols(), (self.seed, 0))?,
            sampler: Sampler::new(Arc::clone(graph), self.settings.k),
            training: session.model.add_structure(Arc::clone(graph))?,
            evaluated: session.model.add_structure(Arc::clone(graph))?,
            scores: Vec::new(),
            weights: vec![0.0; edges],
            kept: vec![0.0; edges],
            d_scores: vec![0.0; edges],
            threads: session.model.threads().clone(),
        };
        state.score(0, session)?;
        self.state = Some(state);
        Ok(())
    }

    fn before(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<Option<Update>, TrainError> {
        let Some(state) = &mut self.state else { return Ok(None) };
        let State { sampler, scores, weights, threads, .. } = state;
        let stream = Stream::new(self.seed, Purpose::EdgeSamples, epoch);
        sampler.perturb(threads, scores, Some((stream, 0)));
        sampler.relax(threads, self.settings.temperature(epoch));
        if self.settings.straight_through {
            sampler.hard(threads, weights);
        } else {
            sampler.relaxed(threads, weights);
        }
        session.model.on(state.training).set_edge_weights(weights)?;
        Ok((epoch == 0).then(|| Update { edges: state.sampler.sampled(), objective: None }))
    }

    fn step(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<f64, TrainError> {
        let Some(state) = &mut self.state else { return session.step(StructureId::FIRST, epoch) };
        let (loss, _) = state.gradients(epoch, session)?;
        state.network.step(&state.threads);
        session.apply()?;
        Ok(loss)
    }

    fn after(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<(), TrainError> {
        let Some(state) = &mut self.state else { return Ok(()) };
        // The scores after this step are also those that the next one samples from.
        state.score(epoch, session)?;
        let State { sampler, scores, weights, kept, threads, .. } = state;
        match self.settings.evaluation {
            Evaluation::Top => {
                sampler.perturb(threads, scores, None);
                sampler.hard(threads, kept);
            }
            Evaluation::Average => {
                let stream = Stream::new(self.seed, Purpose::EdgeSamples, epoch);
                let share = 1.0 / self.settings.samples as f32;
                kept.fill(0.0);
                // Sample 0 is the one that was trained on.
                for sample in 1..=self.settings.samples {
                    sampler.perturb(threads, scores, Some((stream, sample)));
                    sampler.hard(threads, weights);
                    kept.iter_mut().zip(&*weights).for_each(|(kept, &weight)| *kept += share * weight);
                }
            }
        }
        session.model.on(state.evaluated).set_edge_weights(kept)?;
        Ok(())
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        let structure = self.state.as_ref().map_or(StructureId::FIRST, |state| state.evaluated);
        vec![EvaluatedOn { structure: structure.into(), name: "sparsified" }]
    }

    fn kept(&self, _: EvaluatedOn) -> Kept {
        let weights = self.state.as_ref().map(|state| state.kept[..].into());
        Kept { weights, ..Kept::default() }
    }

    fn edges_in(&self, _: &Session<'_>) -> usize {
        self.state.as_ref().map_or(0, |state| state.sampler.sampled())
    }

    /// The relaxation at temperature 1 without noise, cut at 1: it orders the edges of a node by score, and is no probability.
    fn edges(&self) -> Option<EdgeReport> {
        let state = self.state.as_ref()?;
        let mut sampler = Sampler::new(Arc::clone(state.sampler.graph()), self.settings.k);
        let mut weights = vec![0.0; state.scores.len()];
        sampler.perturb(&state.threads, &state.scores, None);
        sampler.relax(&state.threads, 1.0);
        sampler.relaxed(&state.threads, &mut weights);
        average_twins(state.sampler.graph(), &mut weights);
        for weight in &mut weights {
            *weight = weight.min(1.0);
        }
        Some(EdgeReport::of_weights(&weights))
    }
}

impl State {
    fn score(&mut self, epoch: u32, session: &Session<'_>) -> Result<(), TrainError> {
        let scores = self.network.scores(&self.threads, session.model.inputs())?;
        check_scores(scores, epoch)?;
        self.scores.clear();
        self.scores.extend_from_slice(scores);
        Ok(())
    }

    /// The loss on the sample, and its gradient by the network's parameters; that by the model's is in the model.
    fn gradients(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<(f64, &[f32]), TrainError> {
        let model = session.model.on(self.training);
        let extra = Extra { edges: true, inputs: false };
        let loss = model.gradients(&session.task, Some(epoch), extra)?;
        check_loss(loss, epoch)?;
        self.sampler.gradient(&self.threads, model.edge_gradients(), &mut self.d_scores);
        let gradient = self.network.gradient(&self.threads, model.inputs(), &self.d_scores)?;
        Ok((loss, gradient))
    }
}

#[cfg(test)]
mod tests;
