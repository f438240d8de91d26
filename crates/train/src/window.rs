//! A window of epochs that answers together, with the mean of the logits of its epochs: the softmax of that mean is the mean of
//! their log-probabilities, made to sum to 1 again, and its sigmoid that of many labels.
//!
//! What counts is the window of the least log-loss on validation. Its parameters are kept, all of them, so that it answers for
//! another graph too, and to the same bits once it was saved; the logits of all nodes are made of them at the end.

use std::collections::VecDeque;
use std::sync::Arc;

use edgepace_graph::{Labels, WeightedGraph};
use edgepace_nn::{Layers, Logits, Metric, Model, StructureId};

use crate::error::TrainError;
use crate::ground::WINDOW;
use crate::scoring::comparable;
use crate::snapshot::SavedStructure;
use crate::state::State;

/// The latest epochs of a training.
#[derive(Default)]
pub(crate) struct Window {
    /// The parameters after each of them, the earliest first.
    parameters: VecDeque<Arc<[f32]>>,
    evaluations: Vec<Evaluations>,
}

/// One of the ways in which they were evaluated.
#[derive(Default)]
struct Evaluations {
    /// The logits of the validation nodes after each epoch, the earliest first.
    logits: VecDeque<Vec<f32>>,
    /// The mean of those, a row for each node; the rows of other nodes stay 0.
    mean: Vec<f32>,
}

impl Window {
    /// Takes up an epoch, and forgets the one that leaves the window.
    pub(crate) fn push(&mut self, parameters: &[f32]) {
        // The buffer of an epoch that leaves the window is that of the one that comes, unless the best window has it.
        let mut left = if self.parameters.len() == WINDOW { self.parameters.pop_front() } else { None };
        match left.as_mut().and_then(Arc::get_mut) {
            Some(buffer) => buffer.copy_from_slice(parameters),
            None => left = Some(parameters.into()),
        }
        self.parameters.extend(left);
    }

    /// The parameters of all its epochs but the last.
    pub(crate) fn earlier(&self) -> Vec<Arc<[f32]>> {
        let before = self.parameters.len().saturating_sub(1);
        self.parameters.iter().take(before).cloned().collect()
    }

    /// Evaluates the latest epoch in the way of that number, and gives the score of the window on validation and what windows
    /// are chosen by, which is its log-loss; for both higher is better.
    pub(crate) fn scores(
        &mut self,
        number: usize,
        model: &mut Model<f32>,
        (metric, labels, validation): (Metric, &Labels, &[u32]),
    ) -> Result<[Option<f64>; 2], TrainError> {
        if self.evaluations.len() <= number {
            self.evaluations.resize_with(number + 1, Evaluations::default);
        }
        let Evaluations { logits, mean } = &mut self.evaluations[number];
        // Once the window is full, the buffer of the epoch that leaves it is that of the one that comes.
        let mut latest = if logits.len() == WINDOW { logits.pop_front() } else { None }.unwrap_or_default();
        model.logits_of(validation, &mut latest)?;
        logits.push_back(latest);
        let width = labels.width();
        mean.resize(labels.nodes() * width, 0.0);
        let epochs = logits.len() as f32;
        for (place, &node) in validation.iter().enumerate() {
            let row = &mut mean[node as usize * width..][..width];
            row.fill(0.0);
            for logits in &*logits {
                for (sum, logit) in row.iter_mut().zip(&logits[place * width..]) {
                    *sum += logit;
                }
            }
            for sum in row {
                *sum /= epochs;
            }
        }
        let score = |metric: Metric| {
            let score = metric.score_on(model.threads(), labels, validation, Logits::new(mean, width));
            score.map(|score| comparable(metric, score))
        };
        Ok([score(metric), score(Metric::LogLoss)])
    }

    /// The mean logits of the validation nodes in the way of that number, as of the latest epoch; the rows of other nodes are 0.
    pub(crate) fn mean(&self, number: usize) -> &[f32] {
        self.evaluations.get(number).map_or(&[], |evaluations| &evaluations.mean)
    }

    pub(crate) fn save(&self) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_value("epochs", &self.parameters.len())?;
        state.put_value("evaluations", &self.evaluations.len())?;
        for (epoch, parameters) in self.parameters.iter().enumerate() {
            state.put_floats(&format!("parameters.{epoch}"), parameters);
            for (number, evaluations) in self.evaluations.iter().enumerate() {
                // A way of evaluating may be younger than the window.
                let logits = evaluations.logits.get(epoch).map_or(&[][..], |logits| logits);
                state.put_floats(&format!("logits.{number}.{epoch}"), logits);
            }
        }
        Ok(state)
    }

    /// What [`Window::save`] kept.
    pub(crate) fn restore(state: &State) -> Result<Self, TrainError> {
        let mut window = Self::default();
        let epochs: usize = state.value("epochs")?;
        for epoch in 0..epochs {
            window.push(state.all_floats(&format!("parameters.{epoch}"))?);
        }
        for number in 0..state.value("evaluations")? {
            let mut evaluations = Evaluations::default();
            for epoch in 0..epochs {
                let logits = state.all_floats(&format!("logits.{number}.{epoch}"))?;
                if !logits.is_empty() {
                    evaluations.logits.push_back(logits.to_vec());
                }
            }
            window.evaluations.push(evaluations);
        }
        Ok(window)
    }
}

/// The mean logits of all nodes, by a model with each of these parameters in turn.
///
/// # Errors
/// Parameters of another model.
pub(crate) fn mean_logits(
    model: &mut Model<f32>,
    earlier: &[Arc<[f32]>],
    latest: &[f32],
) -> Result<Vec<f32>, TrainError> {
    let mut sum: Vec<f32> = Vec::new();
    for parameters in earlier.iter().map(|parameters| &parameters[..]).chain([latest]) {
        model.set_parameter_values(parameters)?;
        let logits = model.evaluate().all_logits();
        if sum.is_empty() {
            sum = logits.into_owned();
        } else {
            sum.iter_mut().zip(&*logits).for_each(|(sum, logit)| *sum += logit);
        }
    }
    let epochs = (earlier.len() + 1) as f32;
    for sum in &mut sum {
        *sum /= epochs;
    }
    Ok(sum)
}

/// Adds a saved structure, which has no matrix, to a model.
///
/// # Errors
/// A structure of another graph.
pub(crate) fn add_saved(
    model: &mut Model<f32>,
    dataset: &WeightedGraph,
    structure: &SavedStructure,
) -> Result<Layers, TrainError> {
    let SavedStructure { graph, weights, second_weights, .. } = structure;
    let whole = graph.as_ref().map_or_else(|| dataset.clone(), |graph| Arc::clone(graph).into());
    let mut add = |weights: Option<&[f32]>| -> Result<StructureId, TrainError> {
        let id = model.add_structure(whole.clone())?;
        if let Some(weights) = weights {
            model.on(id).set_weighted_graph(Arc::clone(whole.graph()), weights)?;
        }
        Ok(id)
    };
    let first = add(weights.as_deref())?;
    Ok(match second_weights {
        None => first.into(),
        Some(weights) => Layers([first, add(Some(weights))?]),
    })
}
