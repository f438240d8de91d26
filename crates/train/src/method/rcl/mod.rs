//! Relational Curriculum Learning (Zhang et al., NeurIPS 2023): edges that the model expects come first, harder ones at a
//! pace; the curriculum itself is the crate `edgepace-curriculum`.
//!
//! A vanilla model, at its epoch of best validation, gives the first embeddings. Every `period` epochs the curriculum is
//! told what the pretrained or the current model makes of the nodes on the training structure, and proposes the next one:
//! the selected edges with weights π, compacted into a graph of their own. Evaluation is on all edges with weights π, on
//! all edges with weight 1, or on both, the better on validation counting.

mod ablations;
mod auto;
mod settings;

use std::sync::Arc;

use edgepace_curriculum::{
    Curriculum, CurriculumConfig, EvaluationGraph, Feedback, Kernel, ResidualTerm, Source,
};
use edgepace_graph::{Graph, Labels};
use edgepace_nn::{Extra, StructureId};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::event::Listener;
use crate::loss::losses_into;
use crate::method::{EdgeReport, EvaluatedOn, Kept, Method, Update};
use crate::session::Session;
use ablations::changed;

pub(super) use auto::{AUTO, candidates};
pub(super) use settings::SETTINGS;
use settings::unread;

/// The presets, the default first.
pub(super) const PRESETS: &[&str] = &["edgepace", "posterior", "cosine", "paper", "official", AUTO];

/// Those of a single run.
pub(super) const SINGLE_PRESETS: &[&str] = &["edgepace", "posterior", "cosine", "paper", "official"];

/// The settings of a config's preset, or of the default one.
pub(super) fn defaults(config: &RunConfig) -> Result<Table, TrainError> {
    to_table(&changed(&config.method, preset(config)?))
}

fn preset(config: &RunConfig) -> Result<CurriculumConfig, TrainError> {
    Ok(CurriculumConfig::preset(config.preset.as_deref().unwrap_or(PRESETS[0]))?)
}

/// The curriculum, or the ablation of it that the config names, with the settings of a run.
pub(super) fn make(config: &RunConfig, seed: u64) -> Result<Box<dyn Method>, TrainError> {
    let settings = settings(config)?;
    Ok(Box::new(Rcl { settings, seed, state: None }))
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
        return Err(TrainError::Config {
            field: key.clone(),
            found: found.to_string(),
            expected: format!("{fixed}, which method {} has by its name", config.method),
        });
    }
    settings.check()?;
    // What has no effect would only seem to have been tried.
    let preset = to_table(&preset(config)?)?;
    if let Some((key, reason)) = unread(&settings).find(|(key, _)| preset.get(*key) != given.get(*key)) {
        return Err(TrainError::Config {
            field: key.into(),
            found: given.get(key).map_or_else(String::new, ToString::to_string),
            expected: format!("unset: {reason}"),
        });
    }
    if settings.residual_term != ResidualTerm::Off && settings.kernel == Kernel::Posterior {
        return Err(TrainError::Config {
            field: "residual_term".into(),
            found: "on".into(),
            expected: "off for kernel posterior: only terms of embeddings (inner, cosine) join the loss"
                .into(),
        });
    }
    Ok(settings)
}

struct Rcl {
    settings: CurriculumConfig,
    seed: u64,
    /// Made at the start.
    state: Option<State>,
}

struct State {
    curriculum: Curriculum,
    /// Parameters of the warm start at its best epoch.
    pretrained: Option<Vec<f32>>,
    /// The selected edges, with weights π.
    training: StructureId,
    /// For all edges that have a weight, with weights π: `training` itself while no edge has left the selection.
    weighted: StructureId,
    /// A structure for them of their own.
    own_weighted: StructureId,
    weights: Arc<[f32]>,
    losses: Vec<f32>,
    gradient: Vec<f32>,
}

impl Method for Rcl {
    fn start(&mut self, session: &mut Session<'_>, listener: &mut dyn Listener) -> Result<(), TrainError> {
        let pretrained = if self.settings.warm_start { Some(session.warm_start(listener)?) } else { None };
        let graph = Arc::clone(&session.graph);
        let epochs = session.config.epochs as usize;
        let features = Some(&*session.features);
        let curriculum = Curriculum::new(Arc::clone(&graph), features, &self.settings, epochs, self.seed)?;
        let alone = Graph::from_edges(graph.nodes(), &[], &[])?;
        let alone = Arc::new(alone);
        let training = session.model.add_structure(Arc::clone(&alone))?;
        self.state = Some(State {
            curriculum,
            pretrained,
            training,
            weighted: training,
            own_weighted: session.model.add_structure(alone)?,
            weights: Arc::default(),
            losses: Vec::new(),
            gradient: Vec::new(),
        });
        Ok(())
    }

    fn before(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<Option<Update>, TrainError> {
        let Some(state) = &mut self.state else { return Ok(None) };
        if !state.curriculum.due(epoch as usize) {
            return Ok(None);
        }
        state.learn(&self.settings, epoch, session)?;
        state.restructure(self.settings.evaluation, session)?;
        // L_GNN does not move with the mask, which the model has not been shown yet.
        let sum: f64 = state.losses.iter().map(|&loss| f64::from(loss)).sum();
        let loss = sum / state.losses.len().max(1) as f64;
        let update = state.curriculum.history().updates.last();
        Ok(Some(Update {
            edges: state.curriculum.selected(),
            objective: update.map(|update| [update.before, update.after].map(|part| loss + part.total())),
        }))
    }

    fn step(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<f64, TrainError> {
        let Some(state) = &mut self.state else { return session.step(StructureId::FIRST, epoch) };
        if self.settings.residual_term == ResidualTerm::Off {
            return session.step(state.training, epoch);
        }
        state.step_with_residuals(epoch, session)
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        let full = EvaluatedOn { structure: StructureId::FIRST.into(), name: "full" };
        let Some(state) = &self.state else { return vec![full] };
        let weighted = EvaluatedOn { structure: state.weighted.into(), name: "weighted" };
        match self.settings.evaluation {
            EvaluationGraph::Weighted => vec![weighted],
            EvaluationGraph::Full => vec![full],
            EvaluationGraph::Validated => vec![weighted, full],
        }
    }

    fn kept(&self, on: EvaluatedOn) -> Kept {
        let weighted = self.state.as_ref().filter(|state| on.structure == state.weighted.into());
        Kept { weights: weighted.map(|state| Arc::clone(&state.weights)), ..Kept::default() }
    }

    fn edges_in(&self, _: &Session<'_>) -> usize {
        self.state.as_ref().map_or(0, |state| state.curriculum.selected())
    }

    fn edges(&self) -> Option<EdgeReport> {
        let curriculum = &self.state.as_ref()?.curriculum;
        let history = curriculum.history();
        let pair_of = curriculum.pairs().pair_of();
        let per_edge = |values: &[f32]| pair_of.iter().map(|&pair| values[pair as usize]).collect();
        Some(EdgeReport {
            difficulty: per_edge(history.residuals),
            first_epoch: pair_of.iter().map(|&pair| history.first_epoch[pair as usize]).collect(),
            weight: per_edge(history.weights),
        })
    }
}

impl State {
    /// Tells the curriculum what the model makes of the nodes.
    fn learn(
        &mut self,
        settings: &CurriculumConfig,
        epoch: u32,
        session: &mut Session<'_>,
    ) -> Result<(), TrainError> {
        // The pretrained model has learned on all edges; later it is shown the training structure.
        let first = self.curriculum.history().updates.is_empty();
        let structure = if first && self.pretrained.is_some() { StructureId::FIRST } else { self.training };
        let pretrained = self.pretrained.as_ref().filter(|_| first || settings.source == Source::Pretrained);
        let model = &mut session.model;
        let own = pretrained.map(|_| model.parameter_values().to_vec());
        if let Some(pretrained) = pretrained {
            model.set_parameter_values(pretrained)?;
        }
        let width = session.known.width();
        let evaluation = model.on(structure).evaluate();
        let logits = evaluation.all_logits();
        losses_into(&mut self.losses, &logits, &session.known, session.train);
        let feedback = Feedback::new().losses(session.train, &self.losses);
        if matches!(settings.kernel, Kernel::Inner | Kernel::Cosine) {
            let units = model.config().hidden;
            let dropout = settings.dropout_in_embeddings.then_some(epoch);
            let feedback = feedback.embeddings(model.embeddings(dropout), units);
            self.curriculum.update(epoch as usize, &feedback)?;
        } else {
            let feedback = match *session.known {
                Labels::Classes(_) => feedback.logits(&logits, width),
                Labels::Many(_) => feedback.label_logits(&logits, width),
            };
            self.curriculum.update(epoch as usize, &feedback)?;
        }
        if let Some(own) = own {
            session.model.set_parameter_values(&own)?;
        }
        Ok(())
    }

    /// Takes over the curriculum's edges and weights.
    fn restructure(
        &mut self,
        evaluation: EvaluationGraph,
        session: &mut Session<'_>,
    ) -> Result<(), TrainError> {
        let (graph, model) = (&session.graph, &mut session.model);
        // Both are to change, and there is more room for that without what they keep.
        model.rest(self.training);
        model.rest(self.own_weighted);
        let mut set = |structure: StructureId, weights: &[f32]| {
            // Edges without weight are not there, so neither step nor evaluation need to visit them.
            let there = graph.select(|edge| weights[edge] > 0.0);
            let values: Vec<f32> = there.edge_of.iter().map(|&edge| weights[edge as usize]).collect();
            model.on(structure).set_weighted_graph(Arc::new(there.graph), &values)
        };
        set(self.training, self.curriculum.weights())?;
        self.weights = self.curriculum.evaluation_weights().into();
        self.weighted = self.training;
        if *self.weights != *self.curriculum.weights() {
            self.weighted = self.own_weighted;
            set(self.weighted, &self.weights)?;
        }
        if evaluation == EvaluationGraph::Weighted {
            // All edges with weight 1 were for the pretrained model alone.
            model.rest(StructureId::FIRST);
        }
        Ok(())
    }

    /// A training step whose loss has the term β Σ S R (Algorithm 1, step 3).
    fn step_with_residuals(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<f64, TrainError> {
        let model = session.model.on(self.training);
        let units = model.config().hidden;
        let loss = model.gradients(&session.task, Some(epoch), Extra::default())?;
        let embeddings = model.embeddings(Some(epoch));
        self.gradient.resize(embeddings.len(), 0.0);
        let feedback = Feedback::new().embeddings(embeddings, units);
        self.curriculum.residual_gradient(&feedback, &mut self.gradient)?;
        model.add_embedding_gradient(Some(epoch), &self.gradient)?;
        session.apply()?;
        Ok(loss)
    }
}
