//! PTDNet (Luo et al., «Learning to Drop: Robust Graph Neural Network via Topological Denoising», WSDM 2021): each layer l
//! has a network that scores edges by the representations of their ends, a_e = MLP_l(h_i, h_j), and hard concrete gates z_e
//! with log-odds a_e (see `gates`) as edge weights. The loss is that of the task, plus
//! β₁ Σ_l mean_e P(z_e > 0) + β₂ Σ_l ‖A_l‖_* / ‖A‖_*, where A_l is the gated adjacency matrix (see `low_rank`).
//!
//! The first network reads the features, the second one the hidden units of the first layer, through which no gradient
//! goes back. Evaluation is with the gates that have no noise. What edges weigh by themselves multiplies the gates, in the model
//! and in A_l.

mod gates;
mod low_rank;

use std::sync::Arc;

use edgepace_graph::bytes::{array, total};
use edgepace_graph::random::{Purpose, Stream};
use edgepace_nn::{
    EdgeNetwork, Extra, Input, Layers, StructureId, Threads, edge_matrix_bytes, edge_network_bytes,
};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start, StructureChange};
use crate::material::Material;
use crate::methods::edge_scores::{
    EdgeNetworkConfig, STEP_SIZES, check_loss, check_network, check_scores, in_range, restore_network,
    save_network,
};
use crate::network::{EvaluatedOn, Method, Network, NetworkLearner};
use crate::setting::Setting;
use crate::snapshot::{EdgeReport, SavedStructure};
use crate::state::State;

use gates::Gates;
use low_rank::LowRank;

/// Settings of PTDNet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    sparsity: f64,
    low_rank: f64,
    rank: usize,
    rank_period: u32,
    temperature: f64,
    final_temperature: f64,
    initial_odds: f64,
    network_hidden: usize,
    network_lr: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sparsity: 0.03,
            low_rank: 0.01,
            rank: 8,
            rank_period: 10,
            temperature: 2.0,
            final_temperature: 0.66,
            initial_odds: 2.0,
            network_hidden: 16,
            network_lr: 0.01,
        }
    }
}

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "sparsity",
        meaning: "β₁, the weight of the share of open gates in the loss, 0 to 1000000",
        search: &["0", "0.01", "0.03", "0.1"],
    },
    Setting {
        name: "low_rank",
        meaning: "β₂, the weight of the nuclear norm in the loss, as a share of the ungated graph's, 0 to 1000000",
        search: &["0", "0.01", "0.1"],
    },
    Setting::fixed("rank", "singular values of the nuclear norm, 1 to 256"),
    Setting::fixed("rank_period", "epochs for which singular vectors are kept, 1 to 1000000"),
    Setting::fixed("temperature", "of the gates in the first epoch, 0.05 to 10"),
    Setting::fixed("final_temperature", "of the gates in the last epoch, 0.05 to 10"),
    Setting {
        name: "initial_odds",
        meaning: "log-odds of a gate before anything is learned, −10 to 10",
        search: &["0", "2"],
    },
    Setting::fixed("network_hidden", "hidden units of each edge network, a multiple of 16 up to 1024"),
    Setting {
        name: "network_lr",
        meaning: "step size of the edge networks' Adam, 1e-9 to 1000",
        search: &["0.001", "0.01"],
    },
];

impl Settings {
    fn check(&self) -> Result<(), TrainError> {
        in_range("sparsity", self.sparsity, 0.0, 1e6)?;
        in_range("low_rank", self.low_rank, 0.0, 1e6)?;
        in_range("rank", self.rank as f64, 1.0, 256.0)?;
        in_range("rank_period", f64::from(self.rank_period), 1.0, 1e6)?;
        in_range("temperature", self.temperature, 0.05, 10.0)?;
        in_range("final_temperature", self.final_temperature, 0.05, 10.0)?;
        in_range("initial_odds", self.initial_odds, -10.0, 10.0)?;
        check_network(self.network_hidden, self.network_lr)
    }

    /// From the first to the final temperature in equal ratios.
    fn temperature(&self, epoch: u32, epochs: u32) -> f64 {
        let progress = f64::from(epoch) / f64::from(epochs.saturating_sub(1).max(1));
        self.temperature * libm::pow(self.final_temperature / self.temperature, progress)
    }
}

/// The method with the settings of a run.
pub(crate) fn recipe(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    let settings: Settings = config.settings_over(&Settings::default())?;
    settings.check()?;
    Ok(Arc::new(settings))
}

/// Numbers per edge of a layer: four of its gates, gates in training and evaluation, those that are saved, two gradients.
const OWN_PER_EDGE: usize = 9;
/// Numbers per edge at the end: how likely each gate is open, and the report.
const REPORTED_PER_EDGE: usize = 5;

impl Recipe for Settings {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(self)
    }

    /// Of each layer the edge network, gates, two structures and the gradient by edge weights, and singular vectors where the
    /// rank has a weight.
    fn extra_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let graph = material.graph();
        let (nodes, edges) = (graph.nodes(), graph.edges());
        let footprint = material.footprint(config);
        let extent = footprint.extent();
        let low_rank = if self.low_rank > 0.0 {
            total([
                edge_matrix_bytes(nodes, edges, extent.symmetric),
                array::<f32>(&[edges]),
                array::<f32>(&[2, nodes, self.rank]),
            ])
        } else {
            0
        };
        let of_layer = total([
            low_rank,
            footprint.structure(edges, extent.symmetric).saturating_mul(2),
            array::<f32>(&[edges, OWN_PER_EDGE]),
        ]);
        total([
            of_layer.saturating_mul(2),
            edge_network_bytes(extent, extent.columns, extent.stored.is_some(), self.network_hidden),
            edge_network_bytes(extent, config.units(), false, self.network_hidden),
            footprint.edge_gradient(edges),
            array::<f32>(&[edges]),
            footprint.propagated_inputs(),
            array::<f32>(&[edges, REPORTED_PER_EDGE]),
        ])
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        NetworkLearner::boxed(start, |network| PtdNet::new(self, start.seed, network))
    }
}

struct PtdNet {
    settings: Settings,
    seed: u64,
    layers: [Layer; 2],
    threads: Threads,
}

/// What decides on the edges of one layer.
struct Layer {
    network: EdgeNetwork<f32>,
    gates: Gates<f32>,
    low_rank: Option<LowRank>,
    training: StructureId,
    evaluated: StructureId,
    /// Gates of the training step.
    weights: Vec<f32>,
    /// Gates of the evaluation.
    kept: Vec<f32>,
    d_weights: Vec<f32>,
    d_scores: Vec<f32>,
}

impl PtdNet {
    fn new(settings: &Settings, seed: u64, network: &mut Network) -> Result<Self, TrainError> {
        let threads = network.model.threads().clone();
        let columns = [network.features.cols(), network.model.config().hidden];
        let mut first = Layer::new(settings, network, columns[0], (seed, 0))?;
        let second = Layer::new(settings, network, columns[1], (seed, 1))?;
        first.score(&threads, 0, network.model.inputs())?;
        Ok(Self { settings: settings.clone(), seed, layers: [first, second], threads })
    }

    fn training(&self) -> Layers {
        Layers([self.layers[0].training, self.layers[1].training])
    }

    fn evaluated(&self) -> Layers {
        Layers([self.layers[0].evaluated, self.layers[1].evaluated])
    }

    /// Draws the gates of a layer for the training step of an epoch. Those of the second follow the hidden units that those of
    /// the first give.
    fn sample(&mut self, number: usize, epoch: u32, network: &mut Network) -> Result<(), TrainError> {
        let both = self.training();
        let (settings, seed) = (&self.settings, self.seed);
        let layer = &mut self.layers[number];
        if number == 1 {
            let units = network.model.config().hidden;
            let hidden = network.model.on(both).hidden(Some(epoch));
            let input = Input::dense(hidden, network.graph.nodes(), units);
            layer.score(&self.threads, epoch, input)?;
        }
        let temperature = settings.temperature(epoch, network.epochs);
        // A stream of its own per layer: the second one's come after all epochs of the first.
        let stream = Stream::new(seed, Purpose::EdgeSamples, number as u32 * LAYER_STREAMS + epoch);
        layer.gates.sample(&self.threads, stream, temperature, &mut layer.weights);
        network.model.on(layer.training).set_edge_weights(&layer.weights)?;
        if epoch.is_multiple_of(settings.rank_period)
            && let Some(low_rank) = &mut layer.low_rank
        {
            low_rank.update(&self.threads, &layer.weights)?;
        }
        Ok(())
    }

    /// The loss of the task, and the gradient of the whole loss by the parameters of each network; that by the model's is in
    /// the model.
    fn gradients(&mut self, epoch: u32, network: &mut Network) -> Result<(f64, [&[f32]; 2]), TrainError> {
        let (nodes, units) = (network.graph.nodes(), network.model.config().hidden);
        let model = network.model.on(self.training());
        let extra = Extra { edges: true, inputs: false };
        let loss = model.gradients(&network.task, Some(epoch), extra)?;
        check_loss(loss, epoch)?;
        let Self { settings, layers: [first, second], threads, .. } = self;
        first.d_weights.copy_from_slice(model.edge_gradients());
        second.d_weights.copy_from_slice(model.second_edge_gradients());
        let by_first = first.gradient(threads, settings, model.inputs())?;
        let hidden = Input::dense(model.hidden(Some(epoch)), nodes, units);
        Ok((loss, [by_first, second.gradient(threads, settings, hidden)?]))
    }
}

impl Layer {
    fn new(
        settings: &Settings,
        trained: &mut Network,
        columns: usize,
        (seed, index): (u64, u32),
    ) -> Result<Self, TrainError> {
        let graph = Arc::clone(&trained.graph);
        let config = EdgeNetworkConfig { hidden: settings.network_hidden, lr: settings.network_lr };
        let mut network = config.make(&graph, columns, (seed, index))?;
        network.add_to_scores(settings.initial_odds as f32);
        let low_rank = if settings.low_rank > 0.0 {
            Some(LowRank::new(trained.model.threads(), &trained.weighted, settings.rank, seed)?)
        } else {
            None
        };
        let zeros = vec![0.0; graph.edges()];
        Ok(Self {
            network,
            gates: Gates::new(Arc::clone(&graph)),
            low_rank,
            training: trained.model.add_structure(trained.weighted.clone())?,
            evaluated: trained.model.add_structure(trained.weighted.clone())?,
            weights: zeros.clone(),
            kept: zeros.clone(),
            d_weights: zeros.clone(),
            d_scores: zeros,
        })
    }

    fn score(&mut self, threads: &Threads, epoch: u32, input: Input<'_, f32>) -> Result<(), TrainError> {
        let scores = self.network.scores(threads, input)?;
        check_scores(scores, epoch)?;
        self.gates.set_scores(threads, scores);
        Ok(())
    }

    /// The gradient of the whole loss by the network's parameters, given that of the task by this layer's edge weights, which
    /// is in `d_weights`.
    fn gradient(
        &mut self,
        threads: &Threads,
        settings: &Settings,
        input: Input<'_, f32>,
    ) -> Result<&[f32], TrainError> {
        if let Some(low_rank) = &self.low_rank {
            low_rank.add_gradient(threads, settings.low_rank as f32, &mut self.d_weights);
        }
        let share = settings.sparsity / self.d_weights.len().max(1) as f64;
        self.gates.gradient(threads, &self.d_weights, share, &mut self.d_scores);
        Ok(self.network.gradient(threads, input, &self.d_scores)?)
    }

    fn save(&self) -> Result<State, TrainError> {
        let mut state = save_network(&self.network)?;
        if let Some(low_rank) = &self.low_rank {
            state.put_part("low_rank", low_rank.save());
        }
        Ok(state)
    }

    fn restore(&mut self, threads: &Threads, state: &State) -> Result<(), TrainError> {
        restore_network(&mut self.network, state)?;
        if let Some(low_rank) = &mut self.low_rank {
            low_rank.restore(threads, &state.part("low_rank"))?;
        }
        Ok(())
    }
}

impl Method for PtdNet {
    fn before(&mut self, epoch: u32, network: &mut Network) -> Result<Option<StructureChange>, TrainError> {
        for number in 0..2 {
            self.sample(number, epoch, network)?;
        }
        Ok(None)
    }

    fn step(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        let (loss, _) = self.gradients(epoch, network)?;
        for layer in &mut self.layers {
            layer.network.step(&self.threads);
        }
        network.optimise()?;
        Ok(loss)
    }

    fn after(&mut self, epoch: u32, network: &mut Network) -> Result<(), TrainError> {
        let both = self.evaluated();
        let (nodes, units) = (network.graph.nodes(), network.model.config().hidden);
        let Self { layers: [first, second], threads, .. } = self;
        first.score(threads, epoch, network.model.inputs())?;
        first.gates.expected(threads, &mut first.kept);
        network.model.on(first.evaluated).set_edge_weights(&first.kept)?;
        second.score(threads, epoch, Input::dense(network.model.on(both).hidden(None), nodes, units))?;
        second.gates.expected(threads, &mut second.kept);
        network.model.on(second.evaluated).set_edge_weights(&second.kept)?;
        Ok(())
    }

    fn step_sizes(&self) -> &'static str {
        STEP_SIZES
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        vec![EvaluatedOn { structure: self.evaluated(), name: "gated" }]
    }

    fn saved_structure(&self, _: EvaluatedOn, network: &Network) -> SavedStructure {
        let [weights, second_weights] = [0, 1].map(|layer| Some(network.products(&self.layers[layer].kept)));
        SavedStructure { weights, second_weights, ..SavedStructure::default() }
    }

    fn edges_in(&self, _: &Network) -> usize {
        self.layers[0].weights.iter().filter(|&&gate| gate > 0.0).count()
    }

    fn save(&self, _: &Network) -> Result<State, TrainError> {
        let mut state = State::default();
        for (name, layer) in LAYER_NAMES.iter().zip(&self.layers) {
            state.put_part(name, layer.save()?);
        }
        Ok(state)
    }

    fn restore(&mut self, state: &State, network: &mut Network) -> Result<(), TrainError> {
        for (name, layer) in LAYER_NAMES.iter().zip(&mut self.layers) {
            layer.restore(&self.threads, &state.part(name))?;
        }
        // The gates of the next step follow the scores after the latest; the second layer's are made in the step itself.
        self.layers[0].score(&self.threads, 0, network.model.inputs())
    }

    /// How likely a gate is open, the mean of both layers.
    fn edges(&self) -> Option<EdgeReport> {
        let [first, second] = &self.layers;
        let mut keep = vec![0.0; first.weights.len()];
        let mut other = keep.clone();
        first.gates.open(&self.threads, &mut keep);
        second.gates.open(&self.threads, &mut other);
        keep.iter_mut().zip(&other).for_each(|(keep, &other)| *keep = f32::midpoint(*keep, other));
        Some(EdgeReport::of_weights(&keep))
    }
}

/// What the layers are called in a saved run.
const LAYER_NAMES: [&str; 2] = ["first", "second"];

/// Streams of noise that a layer may use: more than a run has epochs.
const LAYER_STREAMS: u32 = 1 << 24;

#[cfg(test)]
mod tests;
