//! A trained model as a file: its parameters by name, the structure that it was judged on, and what it was trained on. Of a pool
//! the file has the answers for the nodes of the training, and each expert as a model of its own.

mod made;
mod network;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::config::RunConfig;
use crate::error::TrainError;
use crate::state::Numbers;
use crate::tensor_file::{self, Kind, Tensor};

const KIND: Kind = Kind { name: "model", version: 4 };

/// The tensor of edge weights, all that edges weigh; without it those of the dataset, or 1 in a graph of the method's own.
const EDGE_WEIGHTS: &str = "edge_weights";
/// The edge weights in the second layer, where they are others than in the first.
const SECOND_WEIGHTS: &str = "edge_weights_of_second_layer";
/// The edges of a graph of the method's own, in its order; without them the dataset's.
const SOURCES: &str = "sources";
const TARGETS: &str = "targets";
/// What each column of the features is lessened and divided by, where they are standardised.
const FEATURE_MEAN: &str = "feature_mean";
const FEATURE_DEVIATION: &str = "feature_deviation";
/// The parameters of the epochs before the last of a window, epochs × parameters, where a window of epochs answers.
const EARLIER: &str = "parameters_of_earlier_epochs";
/// The logits of all nodes, where what was trained is no network, or several.
const LOGITS: &str = "logits";
/// How much likelier two classes are linked than two nodes at random, classes × classes, where an expert is belief propagation.
const COMPATIBILITY: &str = "compatibility";
/// What the tensors of the expert of some number begin with.
const EXPERTS: &str = "experts.";

/// What a model was trained on and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelHeader {
    /// The id of its run.
    pub id: String,
    /// The dataset's name without noise.
    pub dataset: String,
    /// SHA-256 of graph, weights, features and labels, with the noise.
    pub checksum: String,
    /// The noise with its seed; empty without.
    pub noise: String,
    /// The name of the split.
    pub split: String,
    /// The seed.
    pub seed: u64,
    /// Classes, or labels.
    pub outputs: usize,
    /// Columns of the features.
    pub inputs: usize,
    /// The structure of the best validation score, as `full` or `weighted`.
    pub evaluated_on: String,
    /// The epoch of the best validation score, from 0.
    pub best_epoch: u32,
    /// The best validation score.
    pub validation: Option<f64>,
    /// The test score.
    pub test: Option<f64>,
    /// The settings, complete.
    pub config: RunConfig,
    /// What logits are divided by so that probabilities are as sure as they are right; none without validation nodes.
    pub temperature: Option<f64>,
    /// Where the data came from, as text of whoever wrote the file: enough to read it again.
    pub source: Option<String>,
    /// Whether nodes have many yes-or-no labels instead of one class.
    pub many_labels: bool,
    /// The names of the classes or labels, if they have any.
    pub class_names: Option<Vec<String>>,
    /// The names of the features, if they have any.
    pub feature_names: Option<Vec<String>>,
    /// How the columns of a table became the features ([`Dataset::encoding`](edgepace_graph::Dataset::encoding)).
    pub encoding: Option<String>,
    /// The mean of ln(degree + 1) over the graph, which PNA measures degrees by.
    pub mean_log_degree: f64,
    /// What edges weighed on average where the model was judged, for each that they weigh by themselves; none where that is
    /// 1. Edges that it has not seen weigh so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_weight: Option<f64>,
    /// Where experts answer together, those that answer for nodes that they were not trained on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub experts: Vec<ExpertHeader>,
}

/// An expert of a pool in a model file. What it does not say is as in the [`ModelHeader`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpertHeader {
    /// Its name.
    pub name: String,
    /// How much its log-probabilities count; 0 where it is there for another to begin with.
    pub weight: f64,
    /// What makes its probabilities say how often it is right.
    pub calibration: Calibration,
    /// The settings that it was trained with, complete.
    pub config: RunConfig,
    /// As [`ModelHeader::mean_weight`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_weight: Option<f64>,
    /// What belief propagation begins with; none: it is a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begins_with: Option<Beginning>,
}

/// What belief propagation begins with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// The place of the edge-free model among the experts, before its own.
    pub expert: usize,
    /// What its logits are divided by.
    pub temperature: f64,
}

impl ModelHeader {
    /// That of one of its experts, taken for a model of its own.
    fn of_expert(&self, expert: &ExpertHeader) -> Self {
        let ExpertHeader { config, mean_weight, .. } = expert.clone();
        Self { config, mean_weight, temperature: None, experts: Vec::new(), ..self.clone() }
    }

    /// Refuses experts that no pool has.
    fn check_experts(&self) -> Result<(), String> {
        let positive = |number: f64| number > 0.0 && number.is_finite();
        for (place, expert) in self.experts.iter().enumerate() {
            let ExpertHeader { name, weight, calibration, begins_with, .. } = expert;
            let Calibration { sharpness, guesses } = *calibration;
            let first = begins_with.unwrap_or(Beginning { expert: 0, temperature: 1.0 });
            let wrong = if !(*weight == 0.0 || positive(*weight)) {
                format!("the weight {weight}, expected at least 0")
            } else if !positive(sharpness) || !(0.0..=1.0).contains(&guesses) {
                format!(
                    "the calibration {calibration:?}, expected a positive sharpness and a share of guesses"
                )
            } else if begins_with.is_some() && first.expert >= place {
                format!("number {place} and begins with number {}, expected one before it", first.expert)
            } else if !positive(first.temperature) {
                format!("the temperature {}, expected a positive one", first.temperature)
            } else {
                continue;
            };
            return Err(format!("expert `{name}` has {wrong}"));
        }
        Ok(())
    }
}

/// A model file that was read.
pub struct SavedModel {
    header: ModelHeader,
    tensors: Vec<Tensor>,
    /// In the order of the header.
    experts: Vec<SavedModel>,
}

impl SavedModel {
    /// Reads a model file.
    ///
    /// # Errors
    /// A file that cannot be read, is no model of this version, or is damaged.
    pub fn open(path: &Path) -> Result<Self, TrainError> {
        let (header, tensors): (ModelHeader, Vec<Tensor>) = tensor_file::read(path, &KIND)?;
        header.check_experts().map_err(|cause| TrainError::File {
            action: "cannot use",
            path: path.to_owned(),
            cause: format!("its header: {cause}"),
        })?;
        let mut own = Vec::new();
        let mut of_experts = vec![Vec::new(); header.experts.len()];
        for tensor in tensors {
            let part = part_of_expert(&tensor.name);
            match part.and_then(|(number, name)| Some((of_experts.get_mut(number)?, name.to_owned()))) {
                Some((of_expert, name)) => of_expert.push(Tensor { name, ..tensor }),
                None => own.push(tensor),
            }
        }
        Ok(Self::new(header, own, of_experts))
    }

    /// A model with the tensors of each expert that its header names.
    fn new(header: ModelHeader, tensors: Vec<Tensor>, of_experts: Vec<Vec<Tensor>>) -> Self {
        let experts = header.experts.iter().zip(of_experts);
        let experts = experts
            .map(|(expert, tensors)| Self { header: header.of_expert(expert), tensors, experts: Vec::new() })
            .collect();
        Self { header, tensors, experts }
    }

    /// Writes it as a model file, whole or not at all; `source` as for [`Finished::write_model`](crate::Finished::write_model).
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path, source: Option<&str>) -> Result<(), TrainError> {
        let header = ModelHeader { source: source.map(ToOwned::to_owned), ..self.header.clone() };
        let mut tensors = self.tensors.clone();
        for (number, expert) in self.experts.iter().enumerate() {
            let named = |tensor: &Tensor| Tensor { name: in_expert(number, &tensor.name), ..tensor.clone() };
            tensors.extend(expert.tensors.iter().map(named));
        }
        tensor_file::write(path, &KIND, &header, tensors)
    }

    /// What it was trained on and how.
    pub fn header(&self) -> &ModelHeader {
        &self.header
    }

    /// The experts that answer for nodes that they were not trained on, each a model of its own.
    pub(crate) fn experts(&self) -> impl Iterator<Item = (&ExpertHeader, &SavedModel)> {
        self.header.experts.iter().zip(&self.experts)
    }

    /// The compatibility of classes, where it is belief propagation.
    ///
    /// # Errors
    /// It is not there, or of another shape.
    pub(crate) fn compatibility(&self) -> Result<&[f32], TrainError> {
        let shape = [self.header.outputs; 2];
        let found = self.floats(COMPATIBILITY, &shape)?;
        found.ok_or_else(|| wrong(COMPATIBILITY, format!("is not there, expected one of shape {shape:?}")))
    }

    /// Whether it keeps the answers for the nodes of its training, and is not one network.
    pub(crate) fn is_fixed(&self) -> bool {
        self.tensor(LOGITS).is_some()
    }

    fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    fn floats(&self, name: &str, shape: &[usize]) -> Result<Option<&[f32]>, TrainError> {
        match self.tensor(name) {
            None => Ok(None),
            Some(Tensor { shape: found, numbers: Numbers::F32(numbers), .. }) if found == shape => {
                Ok(Some(numbers))
            }
            Some(Tensor { shape: found, .. }) => {
                Err(wrong(name, format!("has the shape {found:?}, expected {shape:?} of single precision")))
            }
        }
    }

    fn ids(&self, name: &str) -> Result<Option<&[u32]>, TrainError> {
        match self.tensor(name).map(|tensor| &tensor.numbers) {
            None => Ok(None),
            Some(Numbers::U32(ids)) => Ok(Some(ids)),
            Some(Numbers::F32(_)) => {
                Err(wrong(name, "has numbers of single precision, expected ids".to_owned()))
            }
        }
    }
}

/// The name that a tensor of an expert has in the file.
pub(crate) fn in_expert(number: usize, name: &str) -> String {
    format!("{EXPERTS}{number}.{name}")
}

/// The number of the expert that a tensor of the file belongs to, and what it is called there.
fn part_of_expert(name: &str) -> Option<(usize, &str)> {
    let (number, name) = name.strip_prefix(EXPERTS)?.split_once('.')?;
    Some((number.parse().ok()?, name))
}

fn wrong(name: &str, reason: String) -> TrainError {
    TrainError::State { part: name.to_owned(), reason }
}
