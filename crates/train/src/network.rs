//! A neural network that learns, and the hooks by which a method decides what it learns from.

use std::sync::Arc;

use edgepace_graph::bytes::{array, total};
use edgepace_graph::{Features, Graph, Labels, WeightedGraph};
use edgepace_nn::{
    Adam, AdamConfig, Backbone, Decay, Extent, Layers, Logits, Metric, Model, StructureId, Task,
};

use crate::config::RunConfig;
use crate::dropping::Dropping;
use crate::error::{TrainError, check_finite};
use crate::features_from::FeaturesFrom;
use crate::ground::{DecayOn, EpochRule, WINDOW};
use crate::learner::{Epoch, Evaluated, Learner, Start, StructureChange};
use crate::material::Material;
use crate::prepare::Preparation;
use crate::restart::Restart;
use crate::scoring::comparable;
use crate::snapshot::{EdgeReport, SavedStructure, Snapshot};
use crate::state::State;
use crate::window::{Window, add_saved, mean_logits};

/// A network in training. Labels of test nodes are not in it.
pub(crate) struct Network {
    /// The model, on the dataset's graph.
    pub(crate) model: Model<f32>,
    /// The graph as the dataset has it.
    pub(crate) graph: Arc<Graph>,
    /// The same with what its edges weigh by themselves. Weights of a method multiply these.
    pub(crate) weighted: WeightedGraph,
    /// The prepared features.
    pub(crate) features: Arc<Features>,
    /// Labels of training and validation nodes.
    pub(crate) labels: Arc<Labels>,
    /// The training nodes.
    pub(crate) train: Arc<[u32]>,
    /// The validation nodes.
    pub(crate) validation: Arc<[u32]>,
    /// What is trained for.
    pub(crate) task: Task<f32>,
    /// What validation is judged by.
    pub(crate) metric: Metric,
    /// Training epochs.
    pub(crate) epochs: u32,
    optimiser: Adam<f32>,
    adam: AdamConfig,
    dropping: Option<Dropping>,
    /// Whether a window of epochs counts.
    window: bool,
    /// Where it may begin anew with more weight decay.
    restart: Option<Restart>,
    initial: Vec<f32>,
}

/// The bytes of a network with features of its own, when it has been made, and when it trains plainly.
///
/// With p bytes of parameters: 5p when it is made (values, gradient, two moments of the optimiser, the initial values), the
/// prepared features and their transpose, a weight per node and the first structure; then also the buffers of the passes
/// ([`Footprint::model`](edgepace_nn::Footprint::model)) and the best snapshot, p and the logits.
pub(crate) struct NetworkBytes {
    /// Of the prepared features alone.
    pub(crate) features: u64,
    pub(crate) made: u64,
    pub(crate) training: u64,
}

impl NetworkBytes {
    pub(crate) fn of(material: &Material, config: &RunConfig) -> Self {
        let footprint = material.footprint(config);
        let nodes = material.graph().nodes();
        let features = prepared_bytes(material, config);
        let beside = total([
            features,
            footprint.parameters().saturating_mul(3),
            array::<f32>(&[nodes]),
            array::<u32>(&[material.split().train().len() + material.split().validation().len()]),
        ]);
        // Features are prepared when what they were made with is gone.
        let making = config.features_from.making_bytes(material.profile(), material.graph().edges());
        Self {
            features,
            made: total([beside, footprint.made()]).max(making),
            training: total([
                beside,
                footprint.model(),
                snapshot_bytes(material, config),
                dropping_bytes(material, config),
                window_bytes(material, config),
            ]),
        }
    }
}

/// The bytes of the features that a run learns from: of a copy, or none where they are the dataset's own.
fn prepared_bytes(material: &Material, config: &RunConfig) -> u64 {
    let footprint = material.footprint(config);
    let &Extent { nodes, columns, stored, .. } = footprint.extent();
    let as_they_are = config.features_from == FeaturesFrom::Given && config.features == Preparation::None;
    match (&**material.features(), stored) {
        (Features::Dense(_), None) if as_they_are => 0,
        (Features::Sparse(own), Some(stored)) if as_they_are && own.values().len() == stored => 0,
        (_, None) => array::<f32>(&[nodes, columns]),
        (_, Some(stored)) => {
            total([array::<usize>(&[nodes + 1]), array::<u32>(&[stored]), array::<f32>(&[stored])])
        }
    }
}

/// The bytes of the parameters and logits that a snapshot keeps.
pub(crate) fn snapshot_bytes(material: &Material, config: &RunConfig) -> u64 {
    let footprint = material.footprint(config);
    let epochs = if has_window(config) { WINDOW.min(config.epochs as usize) } else { 1 };
    total([footprint.parameters().saturating_mul(epochs as u64), footprint.logits()])
}

/// Only a network of features alone begins anew: with edges it was no better. One that has patience stops instead.
fn restart_of(config: &RunConfig) -> Option<Restart> {
    let may = has_window(config) && config.backbone == Backbone::Mlp && config.patience == 0;
    config.restart_after.filter(|&after| may && after > 0).map(Restart::new)
}

fn has_window(config: &RunConfig) -> bool {
    config.epoch_rule == Some(EpochRule::Window)
}

/// Where edges are dropped: what is left of a structure, with what it keeps of propagated features, and a weight per edge.
fn dropping_bytes(material: &Material, config: &RunConfig) -> u64 {
    if config.drop_edge.is_none_or(|rate| rate == 0.0) {
        return 0;
    }
    let (footprint, edges) = (material.footprint(config), material.graph().edges());
    total([
        footprint.structure(edges, footprint.extent().symmetric),
        footprint.propagated_inputs(),
        array::<f32>(&[edges]),
    ])
}

/// Where a window counts: the parameters of its epochs that the best one does not share, what they say of the validation nodes
/// with its mean, and in the end a structure to answer on.
fn window_bytes(material: &Material, config: &RunConfig) -> u64 {
    if !has_window(config) {
        return 0;
    }
    let (footprint, edges) = (material.footprint(config), material.graph().edges());
    let all = config.epochs as usize;
    let epochs = WINDOW.min(all);
    // The best one has a copy of its latest, and shares the others.
    let of_its_own = WINDOW.min(all - epochs + 1);
    let width = material.labels().width();
    total([
        footprint.parameters().saturating_mul(of_its_own as u64),
        array::<f32>(&[epochs, material.split().validation().len(), width]),
        footprint.logits(),
        footprint.structure(edges, footprint.extent().symmetric),
        footprint.propagated_inputs(),
    ])
}

impl Network {
    /// A network as the settings say, with the parameters that the seed gives.
    ///
    /// # Errors
    /// Features, labels or settings that do not fit.
    pub(crate) fn new(start: &Start<'_>) -> Result<Self, TrainError> {
        let &Start { material, config, seed, threads, .. } = start;
        let weighted = material.weighted_graph().clone();
        let graph = Arc::clone(weighted.graph());
        let features = material.prepared(config, threads)?;
        let labels = Arc::clone(material.labels());
        let (outputs, shape) = (labels.width(), config.model());
        let mut model = Model::new(weighted.clone(), Arc::clone(&features), outputs, shape, seed, threads)?;
        let split = material.split();
        let task = Task::new(Arc::clone(&labels), split.train())?.smoothed(config.label_smoothing)?;
        let decaying = match config.decay_on {
            Some(DecayOn::First) => Some(model.first_layer_parameters()),
            Some(DecayOn::All) | None => None,
        };
        let adam = AdamConfig { decaying, ..config.adam() };
        let rate = config.drop_edge.filter(|&rate| rate > 0.0);
        let dropping = rate.map(|rate| Dropping::new(rate, start, &weighted, &mut model)).transpose()?;
        Ok(Self {
            optimiser: Adam::new(adam, model.parameter_count())?,
            initial: model.parameter_values().to_vec(),
            model,
            graph,
            weighted,
            features,
            labels,
            train: split.train().into(),
            validation: split.validation().into(),
            task,
            metric: config.metric.unwrap_or_else(|| Metric::default_for(material.labels())),
            epochs: config.epochs,
            adam,
            dropping,
            window: has_window(config),
            restart: restart_of(config),
        })
    }

    /// One training step on a structure, or on what is left of it where edges are dropped; returns the loss before it.
    ///
    /// # Errors
    /// As [`Model::train`].
    pub(crate) fn train_on(&mut self, structure: StructureId, epoch: u32) -> Result<f64, TrainError> {
        let structure = self.without_dropped(structure, epoch)?;
        Ok(self.model.on(structure).train(&self.task, &mut self.optimiser, epoch)?)
    }

    /// What is left of a structure in the training step of an epoch: all of it unless edges are dropped.
    ///
    /// # Errors
    /// As [`Model::set_edge_weights`].
    pub(crate) fn without_dropped(
        &mut self,
        structure: StructureId,
        epoch: u32,
    ) -> Result<StructureId, TrainError> {
        match &mut self.dropping {
            Some(dropping) if dropping.is_of(structure) => dropping.draw(&mut self.model, epoch),
            _ => Ok(structure),
        }
    }

    /// Says that training steps are on this graph from now on, whose edges weigh so much in all, as the structure already
    /// knows: where edges are dropped, they are those of it.
    ///
    /// # Errors
    /// As [`Model::set_graph`].
    pub(crate) fn trains_on(
        &mut self,
        structure: StructureId,
        graph: Arc<Graph>,
        weights: &[f32],
    ) -> Result<(), TrainError> {
        match &mut self.dropping {
            Some(dropping) => {
                dropping.change(&mut self.model, structure, WeightedGraph::new(graph, weights)?)
            }
            None => Ok(()),
        }
    }

    /// One optimiser step along the model's latest gradient.
    ///
    /// # Errors
    /// As [`Model::optimise`].
    pub(crate) fn optimise(&mut self) -> Result<(), TrainError> {
        Ok(self.model.optimise(&mut self.optimiser)?)
    }

    /// All that edges weigh under the weights of a method, one per edge id of the dataset's graph.
    pub(crate) fn products(&self, weights: &[f32]) -> Arc<[f32]> {
        match self.weighted.weights() {
            None => weights.into(),
            Some(own) => weights.iter().zip(&own[..]).map(|(weight, own)| weight * own).collect(),
        }
    }

    /// Goes back to the parameters that the seed gives, with an optimiser that remembers nothing.
    ///
    /// # Errors
    /// As [`Model::set_parameter_values`].
    pub(crate) fn restart(&mut self) -> Result<(), TrainError> {
        self.model.set_parameter_values(&self.initial)?;
        self.optimiser = Adam::new(self.adam, self.model.parameter_count())?;
        Ok(())
    }

    /// Goes back to where it began, with more weight decay, if that is due before this epoch; returns whether it is.
    ///
    /// # Errors
    /// As [`Network::restart`].
    fn begins_anew(&mut self, epoch: u32) -> Result<bool, TrainError> {
        if !self.restart.as_mut().is_some_and(|restart| restart.is_due(epoch)) {
            return Ok(false);
        }
        self.restart()?;
        self.set_decay();
        Ok(true)
    }

    /// As much weight decay as there is after a restart, if there was one.
    fn set_decay(&mut self) {
        if let (Some(restart), Decay::Coupled(decay)) = (&self.restart, self.adam.decay) {
            self.optimiser.set_decay(Decay::Coupled(decay * restart.decay()));
        }
    }

    fn save(&self) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_floats("parameters", self.model.parameter_values());
        state.put_part("optimiser", save_adam(&self.optimiser)?);
        if let Some(restart) = &self.restart {
            state.put_value("restart", restart)?;
        }
        Ok(state)
    }

    fn restore(&mut self, state: &State) -> Result<(), TrainError> {
        let count = self.model.parameter_count();
        self.model.set_parameter_values(state.floats("parameters", count)?)?;
        restore_adam(&mut self.optimiser, &state.part("optimiser"))?;
        if let Some(restart) = &mut self.restart {
            *restart = state.value("restart")?;
            self.set_decay();
        }
        Ok(())
    }
}

/// All that an optimiser remembers.
pub(crate) fn save_adam(adam: &Adam<f32>) -> Result<State, TrainError> {
    let mut state = State::default();
    let (steps, moments) = adam.memory();
    state.put_value("steps", &steps)?;
    state.put_floats("moments", moments.as_flattened());
    Ok(state)
}

/// Makes an optimiser remember what [`save_adam`] kept.
pub(crate) fn restore_adam(adam: &mut Adam<f32>, state: &State) -> Result<(), TrainError> {
    let (moments, _) = state.all_floats("moments")?.as_chunks::<2>();
    Ok(adam.set_memory(state.value("steps")?, moments)?)
}

/// A structure to evaluate on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EvaluatedOn {
    /// Which of the model's structures, in each of its layers.
    pub(crate) structure: Layers,
    /// Its name in results, as `full` or `weighted`.
    pub(crate) name: &'static str,
}

/// What proposes a structure and node weights for the next epoch of a network and learns from how training goes.
///
/// For each epoch come `before`, `step`, `after`; then the network is evaluated on what `evaluated_on` names.
pub(crate) trait Method: Send {
    /// Sets structure and weights for the training step of `epoch`. Returns whether something changed.
    ///
    /// # Errors
    /// The model refuses them.
    fn before(&mut self, _epoch: u32, _network: &mut Network) -> Result<Option<StructureChange>, TrainError> {
        Ok(None)
    }

    /// The training step; returns the loss.
    ///
    /// # Errors
    /// The model refuses.
    fn step(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        network.train_on(StructureId::FIRST, epoch)
    }

    /// Sets the structures that are evaluated, now that the step is done.
    ///
    /// # Errors
    /// The model refuses them.
    fn after(&mut self, _epoch: u32, _network: &mut Network) -> Result<(), TrainError> {
        Ok(())
    }

    /// The step sizes that may be too large where training diverges.
    fn step_sizes(&self) -> &'static str {
        "`lr`"
    }

    /// The structures to evaluate on; the best on validation counts, the first one among equals.
    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        vec![EvaluatedOn { structure: StructureId::FIRST.into(), name: "full" }]
    }

    /// One of them as it is now. Asked for when it was the best so far.
    fn saved_structure(&self, _on: EvaluatedOn, _network: &Network) -> SavedStructure {
        SavedStructure::default()
    }

    /// Directed edges in the training structure.
    fn edges_in(&self, network: &Network) -> usize {
        network.graph.edges()
    }

    /// What it knows about each edge.
    fn edges(&self) -> Option<EdgeReport> {
        None
    }

    /// What one freshly made needs to go on from here, beside the network.
    ///
    /// # Errors
    /// A value that cannot be written.
    fn save(&self, _network: &Network) -> Result<State, TrainError> {
        Ok(State::default())
    }

    /// Goes on from what [`Method::save`] kept. The network is restored already, but for its structures.
    ///
    /// # Errors
    /// Something is missing or does not fit.
    fn restore(&mut self, _state: &State, _network: &mut Network) -> Result<(), TrainError> {
        Ok(())
    }
}

/// A network and the method that decides what it learns from.
pub(crate) struct NetworkLearner<M> {
    network: Network,
    method: M,
    window: Window,
}

impl<M: Method + 'static> NetworkLearner<M> {
    /// A fresh network with the method that `make` makes for it.
    pub(crate) fn boxed(
        start: &Start<'_>,
        make: impl FnOnce(&mut Network) -> Result<M, TrainError>,
    ) -> Result<Box<dyn Learner>, TrainError> {
        let mut network = Network::new(start)?;
        let method = make(&mut network)?;
        Ok(Box::new(Self { network, method, window: Window::default() }))
    }
}

impl<M: Method> Learner for NetworkLearner<M> {
    fn epoch(&mut self, epoch: u32) -> Result<Epoch, TrainError> {
        let Self { network, method, window } = self;
        if network.begins_anew(epoch)? {
            *window = Window::default();
        }
        let change = method.before(epoch, network)?;
        let loss = method.step(epoch, network)?;
        check_finite(&[loss as f32], "the loss is", epoch, method.step_sizes())?;
        method.after(epoch, network)?;
        if network.window {
            window.push(network.model.parameter_values());
        }
        let score = |(number, on): (usize, EvaluatedOn)| {
            if network.window {
                let about = (network.metric, &*network.labels, &*network.validation);
                let model = network.model.on(on.structure);
                let [validation, criterion] = window.scores(number, model, about)?;
                return Ok(Evaluated { epoch, number, on: on.name, validation, criterion });
            }
            let model = network.model.on(on.structure);
            let validation = model.score(network.metric, &network.labels, &network.validation)?;
            let validation = validation.map(|score| comparable(network.metric, score));
            Ok(Evaluated { epoch, number, on: on.name, validation, criterion: validation })
        };
        let evaluations: Vec<Evaluated> =
            method.evaluated_on().into_iter().enumerate().map(score).collect::<Result<_, TrainError>>()?;
        if let (Some(restart), Some(evaluation)) = (&mut network.restart, evaluations.first()) {
            restart.tell(epoch, evaluation.criterion);
        }
        Ok(Epoch { loss, change, edges: method.edges_in(network), evaluations })
    }

    fn snapshot(&mut self, evaluation: &Evaluated, into: &mut Snapshot) -> Result<(), TrainError> {
        let Self { network, method, window } = self;
        let Some(&on) = method.evaluated_on().get(evaluation.number) else {
            let names = "one of the latest epoch".to_owned();
            return Err(TrainError::refused("evaluation", evaluation.on, names));
        };
        let model = network.model.on(on.structure);
        if network.window {
            check_finite(
                window.mean(evaluation.number),
                "the predictions are",
                evaluation.epoch,
                method.step_sizes(),
            )?;
            into.earlier = window.earlier();
        } else {
            let predicted = model.evaluate();
            let logits = predicted.all_logits();
            check_finite(&logits, "the predictions are", evaluation.epoch, method.step_sizes())?;
            predicted.copy_logits(&mut into.logits);
        }
        into.parameters.clear();
        into.parameters.extend_from_slice(model.parameter_values());
        let matrix = into.structure.matrix.take();
        into.structure = method.saved_structure(on, network);
        if let Some(now) = network.model.matrix() {
            let mut matrix = matrix.unwrap_or_default();
            matrix.clear();
            matrix.extend_from_slice(now);
            into.structure.matrix = Some(matrix);
        }
        Ok(())
    }

    /// The logits of a window: the mean of those of its epochs, all on the structure of its last.
    fn complete(&mut self, best: &mut Snapshot) -> Result<(), TrainError> {
        let Self { network, method, .. } = self;
        if !network.window {
            return Ok(());
        }
        let structure = best.structure.as_edges(network.graph.nodes())?;
        let layers = add_saved(&mut network.model, &network.weighted, &structure)?;
        best.logits = mean_logits(network.model.on(layers), &best.earlier, &best.parameters)?;
        check_finite(&best.logits, "the predictions are", best.epoch, method.step_sizes())?;
        let logits = Logits::new(&best.logits, network.labels.width());
        let score = network.metric.score(&network.labels, &network.validation, logits);
        best.validation = score.map(|score| comparable(network.metric, score));
        Ok(())
    }

    fn edges(&self) -> Option<EdgeReport> {
        self.method.edges()
    }

    fn save(&self) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_part("network", self.network.save()?);
        if self.network.window {
            state.put_part("window", self.window.save()?);
        }
        state.put_part("method", self.method.save(&self.network)?);
        Ok(state)
    }

    fn restore(&mut self, state: &State) -> Result<(), TrainError> {
        self.network.restore(&state.part("network"))?;
        if self.network.window {
            self.window = Window::restore(&state.part("window"))?;
        }
        self.method.restore(&state.part("method"), &mut self.network)
    }
}
