//! Relational Curriculum Learning (Zhang et al., NeurIPS 2023): edges that the model expects come first, harder ones at a
//! pace; the curriculum itself is the crate `edgepace-curriculum`.
//!
//! A network that is trained first, plainly or without edges, gives the first embeddings or beliefs. Every `period` epochs the curriculum is
//! told what the pretrained or the current model makes of the nodes on the training structure, and proposes the next one:
//! the selected edges with weights π, compacted into a graph of their own. Evaluation is on all edges with weights π, on
//! all edges alike, or on both, the better on validation counting. What edges weigh by themselves multiplies π and 1.

mod ablations;
mod auto;
mod saved;
mod settings;

use std::sync::Arc;

use edgepace_curriculum::{
    Curriculum, CurriculumConfig, EmbeddingSource, EvaluationGraph, Feedback, Kernel, Pairs, ResidualTerm,
    trust,
};
use edgepace_graph::bytes::{self, array, total};
use edgepace_graph::{Graph, Labels};
use edgepace_nn::{Extra, StructureId};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::ground::Ground;
use crate::learner::{Learner, Recipe, Start, StructureChange, WarmStart};
use crate::loss::losses_into;
use crate::material::Material;
use crate::methods::belief;
use crate::network::{EvaluatedOn, Method, Network, NetworkLearner};
use crate::snapshot::{EdgeReport, SavedStructure};
use crate::state::State;
use ablations::changed;

pub(crate) use auto::{AUTO, candidates};
pub(crate) use settings::SETTINGS;
use settings::unread;

/// The presets, the default first.
pub(crate) const PRESETS: &[&str] = &["trust", "edgepace", "posterior", "cosine", "paper", "official", AUTO];

/// Those of ablations, and again the default first, which is that of the curriculum on the paper's ground.
pub(crate) const SINGLE_PRESETS: &[&str] = &["edgepace", "trust", "posterior", "cosine", "paper", "official"];

/// The settings of a config's preset, or of the default one.
pub(crate) fn defaults(config: &RunConfig) -> Result<Table, TrainError> {
    to_table(&changed(&config.method, preset(config)?))
}

fn preset(config: &RunConfig) -> Result<CurriculumConfig, TrainError> {
    Ok(CurriculumConfig::preset(config.preset.as_deref().unwrap_or_else(|| default_preset(config)))?)
}

/// The preset of a config that names none: that of its ground, but for ablations, which are measured on the paper's.
pub(crate) fn default_preset(config: &RunConfig) -> &'static str {
    match config.stands_on() {
        Ground::Strong if config.method == "rcl" => PRESETS[0],
        _ => SINGLE_PRESETS[0],
    }
}

/// The curriculum, or the ablation of it that the config names, with the settings of a run.
pub(crate) fn recipe(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    Ok(Arc::new(RclRecipe(settings(config)?)))
}

#[derive(Debug)]
struct RclRecipe(CurriculumConfig);

/// Numbers per edge while trust is computed: ratios of edges and pairs, two kinds of evidence with their ratios, the result.
const TRUST_PER_EDGE: usize = 7;

/// Numbers per edge while edges change: the ids of those that are in, in a list that grows, and their weights.
const CHANGING_PER_EDGE: usize = 3;

impl Recipe for RclRecipe {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(&self.0)
    }

    fn wants_warm_start(&self) -> Option<WarmStart> {
        if self.0.reads_trust() {
            // What features say of the classes is told along the edges, and then of the edges.
            return Some(WarmStart::EdgeFree);
        }
        self.0.warm_start.then_some(WarmStart::Plain)
    }

    fn compared_with(&self) -> Option<WarmStart> {
        self.0.reads_trust().then_some(WarmStart::Plain)
    }

    /// Trust is computed before anything is trained.
    fn starting_bytes(&self, material: &Material, _config: &RunConfig) -> u64 {
        if !self.0.reads_trust() {
            return 0;
        }
        let edges = material.graph().edges();
        total([belief::bytes(material), array::<f32>(&[TRUST_PER_EDGE, edges])])
    }

    /// The curriculum, its structures, the pretrained parameters, embeddings; while edges change also those that are new.
    fn extra_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let graph = material.graph();
        let (nodes, edges) = (graph.nodes(), graph.edges());
        let footprint = material.footprint(config);
        let symmetric = footprint.extent().symmetric;
        let width = match **material.labels() {
            Labels::Classes(_) => 1,
            Labels::Many(_) => 2,
        };
        let width = material.labels().width().saturating_mul(width);
        let structure = total([bytes::graph(nodes, edges, symmetric), footprint.structure(edges, symmetric)]);
        let embeds = matches!(self.0.kernel, Kernel::Inner | Kernel::Cosine);
        let residuals = self.0.residual_term != ResidualTerm::Off;
        // Of what structures keep of propagated features, plain training has one; that of a structure whose edges change
        // rests, and that of all edges alike where it is not evaluated on.
        let propagated = footprint.propagated_inputs();
        let (rests, more) = match self.0.evaluation {
            EvaluationGraph::Weighted => (propagated, 0),
            EvaluationGraph::Full | EvaluationGraph::Validated => (0, propagated),
        };
        let changing = total([structure, array::<u32>(&[CHANGING_PER_EDGE, edges])]).saturating_sub(rests);
        let trust = self.0.reads_trust();
        let own = if self.0.warm_start && !trust { footprint.parameters() } else { 0 };
        let always = self.0.source == EmbeddingSource::Pretrained;
        total([
            Curriculum::bytes(&self.0, graph, width, config.epochs as usize),
            structure,
            changing.max(more),
            array::<f32>(&[2, edges]),
            own,
            if trust { array::<f32>(&[edges]) } else { 0 },
            if always { own } else { 0 },
            if embeds { footprint.embeddings() } else { 0 },
            if residuals { total([footprint.units(), footprint.embedding_gradient()]) } else { 0 },
        ])
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        let trust = if self.0.reads_trust() { trusted(&self.0, start)? } else { Vec::new() };
        let plain = self.0.warm_start && !self.0.reads_trust();
        let warm_start = if plain { Some(start.warm_start()?.parameters.clone()) } else { None };
        NetworkLearner::boxed(start, |network| Rcl::new(&self.0, start.seed, (warm_start, trust), network))
    }
}

/// The probability that each pair is genuine, by what an edge-free model says, told along the edges. Beliefs are of classes:
/// where nodes have many labels, features and neighbours alone tell.
fn trusted(settings: &CurriculumConfig, start: &Start<'_>) -> Result<Vec<f32>, TrainError> {
    let &Start { material, config, seed, threads, .. } = start;
    let by_classes = match **material.labels() {
        Labels::Classes(_) => {
            let of_edges = belief::likelihood_ratios(material, &start.warm_start()?.logits, threads)?;
            let pairs = Pairs::new(material.graph());
            let mut ratios = vec![1.0; pairs.len()];
            for (&pair, &ratio) in pairs.pair_of().iter().zip(&of_edges) {
                ratios[pair as usize] = ratio;
            }
            Some(ratios)
        }
        Labels::Many(_) => None,
    };
    let features = material.prepared(config, threads)?;
    let (graph, samples) = (material.weighted_graph(), settings.evidence_samples);
    Ok(trust(threads, graph, Some(&features), by_classes.as_deref(), samples, seed)?.genuine)
}

/// The settings of a run, checked.
fn settings(config: &RunConfig) -> Result<CurriculumConfig, TrainError> {
    let asked = config.settings_over(&preset(config)?)?;
    asked.check()?;
    let settings = changed(&config.method, asked.clone());
    let (asked, given) = (to_table(&asked)?, to_table(&settings)?);
    // An ablation would not be what its name says if its own setting could be changed.
    if let Some((key, found)) = config.settings.iter().find(|(key, _)| asked.get(*key) != given.get(*key)) {
        let fixed = given.get(key).map_or_else(|| "unset".to_owned(), ToString::to_string);
        let expected = format!("{fixed}, which method {} has by its name", config.method);
        return Err(TrainError::refused(key.clone(), found, expected));
    }
    settings.check()?;
    // What has no effect would only seem to have been tried.
    let preset = to_table(&preset(config)?)?;
    if let Some((key, reason)) = unread(&settings).find(|(key, _)| preset.get(*key) != given.get(*key)) {
        let found = given.get(key).map_or_else(String::new, ToString::to_string);
        return Err(TrainError::refused(key, found, format!("unset: {reason}")));
    }
    if settings.residual_term != ResidualTerm::Off && settings.kernel == Kernel::Posterior {
        let expected = "off for kernel posterior: only terms of embeddings (inner, cosine) join the loss";
        return Err(TrainError::refused("residual_term", "on", expected));
    }
    Ok(settings)
}

struct Rcl {
    curriculum: Curriculum,
    /// Parameters of a plainly trained network at its best epoch.
    warm_start: Option<Vec<f32>>,
    /// The probability that each pair is genuine, where the kernel reads it.
    trust: Vec<f32>,
    /// The selected edges, with weights π.
    training: StructureId,
    /// For all edges that have a weight, with weights π: `training` itself while no edge has left the selection.
    weighted: StructureId,
    /// A structure for them of their own.
    own_weighted: StructureId,
    /// All that edges weigh there, by edge id of the dataset's graph.
    weights: Arc<[f32]>,
    losses: Vec<f32>,
    gradient: Vec<f32>,
}

impl Rcl {
    fn new(
        settings: &CurriculumConfig,
        seed: u64,
        (warm_start, trust): (Option<Vec<f32>>, Vec<f32>),
        network: &mut Network,
    ) -> Result<Self, TrainError> {
        let graph = Arc::clone(&network.graph);
        let features = Some(&*network.features);
        let epochs = network.epochs as usize;
        let threads = network.model.threads();
        let weighted = network.weighted.clone();
        let curriculum = Curriculum::new(threads, weighted, features, settings, epochs, seed)?;
        let alone = Arc::new(Graph::from_edges(graph.nodes(), &[], &[])?);
        let training = network.model.add_structure(Arc::clone(&alone))?;
        Ok(Self {
            curriculum,
            warm_start,
            trust,
            training,
            weighted: training,
            own_weighted: network.model.add_structure(alone)?,
            weights: Arc::default(),
            losses: Vec::new(),
            gradient: Vec::new(),
        })
    }
}

impl Method for Rcl {
    fn before(&mut self, epoch: u32, network: &mut Network) -> Result<Option<StructureChange>, TrainError> {
        if !self.curriculum.due(epoch as usize) {
            return Ok(None);
        }
        self.learn(epoch, network)?;
        self.restructure(network)?;
        // L_GNN does not move with the mask, which the model has not been shown yet.
        let sum: f64 = self.losses.iter().map(|&loss| f64::from(loss)).sum();
        let loss = sum / self.losses.len().max(1) as f64;
        let update = self.curriculum.history().updates.last();
        Ok(Some(StructureChange {
            edges: self.curriculum.selected(),
            objective: update.map(|update| [update.before, update.after].map(|part| loss + part.total())),
        }))
    }

    fn step(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        if self.curriculum.config().residual_term == ResidualTerm::Off {
            return network.train_on(self.training, epoch);
        }
        self.step_with_residuals(epoch, network)
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        let full = EvaluatedOn { structure: StructureId::FIRST.into(), name: "full" };
        let weighted = EvaluatedOn { structure: self.weighted.into(), name: "weighted" };
        match self.curriculum.config().evaluation {
            EvaluationGraph::Weighted => vec![weighted],
            EvaluationGraph::Full => vec![full],
            EvaluationGraph::Validated => vec![weighted, full],
        }
    }

    fn saved_structure(&self, on: EvaluatedOn, _: &Network) -> SavedStructure {
        let weighted = on.structure == self.weighted.into();
        SavedStructure { weights: weighted.then(|| Arc::clone(&self.weights)), ..SavedStructure::default() }
    }

    fn edges_in(&self, _: &Network) -> usize {
        self.curriculum.selected()
    }

    fn edges(&self) -> Option<EdgeReport> {
        let curriculum = &self.curriculum;
        let history = curriculum.history();
        let pair_of = curriculum.pairs().pair_of();
        let per_edge = |values: &[f32]| pair_of.iter().map(|&pair| values[pair as usize]).collect();
        Some(EdgeReport {
            difficulty: per_edge(history.residuals),
            first_epoch: pair_of.iter().map(|&pair| history.first_epoch[pair as usize]).collect(),
            weight: per_edge(history.weights),
        })
    }

    fn save(&self, _: &Network) -> Result<State, TrainError> {
        saved::save(self.curriculum.save())
    }

    fn restore(&mut self, state: &State, network: &mut Network) -> Result<(), TrainError> {
        self.curriculum.restore(&saved::restore(state)?)?;
        self.restructure(network)
    }
}

impl Rcl {
    /// Tells the curriculum what the model makes of the nodes.
    fn learn(&mut self, epoch: u32, network: &mut Network) -> Result<(), TrainError> {
        let settings = self.curriculum.config();
        let (kernel, reads_trust) = (settings.kernel, settings.reads_trust());
        let dropout = settings.dropout_in_embeddings.then_some(epoch);
        let always = settings.source == EmbeddingSource::Pretrained;
        // The pretrained model has learned on all edges; later it is shown the training structure.
        let first = self.curriculum.history().updates.is_empty();
        let structure = if first && self.warm_start.is_some() { StructureId::FIRST } else { self.training };
        let pretrained = self.warm_start.as_ref().filter(|_| first || always);
        let model = &mut network.model;
        let own = pretrained.map(|_| model.parameter_values().to_vec());
        if let Some(pretrained) = pretrained {
            model.set_parameter_values(pretrained)?;
        }
        let width = network.labels.width();
        let evaluation = model.on(structure).evaluate();
        let logits = evaluation.all_logits();
        losses_into(&mut self.losses, &logits, &network.labels, &network.train);
        let feedback = Feedback::new().losses(&network.train, &self.losses);
        if reads_trust {
            self.curriculum.update(epoch as usize, &feedback.trust(&self.trust))?;
        } else if matches!(kernel, Kernel::Inner | Kernel::Cosine) {
            let units = model.config().hidden;
            let feedback = feedback.embeddings(model.embeddings(dropout), units);
            self.curriculum.update(epoch as usize, &feedback)?;
        } else {
            let feedback = match *network.labels {
                Labels::Classes(_) => feedback.logits(&logits, width),
                Labels::Many(_) => feedback.label_logits(&logits, width),
            };
            self.curriculum.update(epoch as usize, &feedback)?;
        }
        if let Some(own) = own {
            network.model.set_parameter_values(&own)?;
        }
        Ok(())
    }

    /// Takes over the curriculum's edges and weights.
    fn restructure(&mut self, network: &mut Network) -> Result<(), TrainError> {
        let own = network.weighted.weights().cloned();
        let all = |weights: &[f32], edge: usize| weights[edge] * own.as_ref().map_or(1.0, |own| own[edge]);
        self.weights = network.products(self.curriculum.evaluation_weights());
        let (graph, model) = (&network.graph, &mut network.model);
        // Both are to change, and there is more room for that without what they keep.
        model.release_memory(self.training);
        model.release_memory(self.own_weighted);
        let threads = model.threads().clone();
        let mut set = |structure: StructureId, weights: &[f32], all_edges: bool| {
            // Edges without weight are not there, so neither step nor evaluation need to visit them.
            let there = graph.select_on(&threads, |edge| all_edges || weights[edge] > 0.0);
            let values: Vec<f32> = there.edge_of.iter().map(|&edge| all(weights, edge as usize)).collect();
            let there = Arc::new(there.graph);
            model.on(structure).set_weighted_graph(Arc::clone(&there), &values)?;
            Ok::<_, TrainError>((there, values))
        };
        let (trained_on, values) = set(self.training, self.curriculum.weights(), false)?;
        self.weighted = self.training;
        // A saved model has all edges, and sums of other weights than a few round ones depend on which are added.
        let as_saved = self.curriculum.config().sharpness.is_some();
        if as_saved || *self.curriculum.evaluation_weights() != *self.curriculum.weights() {
            self.weighted = self.own_weighted;
            set(self.weighted, self.curriculum.evaluation_weights(), as_saved)?;
        }
        if self.curriculum.config().evaluation == EvaluationGraph::Weighted {
            // All edges alike were for the pretrained model alone.
            model.release_memory(StructureId::FIRST);
        }
        network.trains_on(self.training, trained_on, &values)
    }

    /// A training step whose loss has the term β Σ S R (Algorithm 1, step 3).
    fn step_with_residuals(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        let training = network.without_dropped(self.training, epoch)?;
        let model = network.model.on(training);
        let units = model.config().hidden;
        let loss = model.gradients(&network.task, Some(epoch), Extra::default())?;
        let embeddings = model.embeddings(Some(epoch));
        self.gradient.resize(embeddings.len(), 0.0);
        let feedback = Feedback::new().embeddings(embeddings, units);
        self.curriculum.residual_gradient(&feedback, &mut self.gradient)?;
        model.add_embedding_gradient(Some(epoch), &self.gradient)?;
        network.optimise()?;
        Ok(loss)
    }
}
