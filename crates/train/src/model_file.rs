//! A trained model as a file: its parameters by name, the structure that it was judged on, and what it was trained on.

use std::path::Path;
use std::sync::Arc;

use edgepace_graph::{Dataset, Features, Graph, Labels, Names, WeightedGraph};
use edgepace_nn::{Layers, Model, ModelConfig, StructureId, Threads, mean_log_degree};
use serde::{Deserialize, Serialize};

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::prepare::{Fitted, Preparation};
use crate::run::Finished;
use crate::snapshot::SavedStructure;
use crate::state::Numbers;
use crate::tensor_file::{self, Kind, Tensor};
use crate::window::mean_logits;

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
/// The logits of all nodes, where what was trained is no network.
const LOGITS: &str = "logits";

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
    /// How the columns of a table became the features ([`Dataset::encoding`]).
    pub encoding: Option<String>,
    /// The mean of ln(degree + 1) over the graph, which PNA measures degrees by.
    pub mean_log_degree: f64,
    /// What edges weighed on average where the model was judged, for each that they weigh by themselves; none where that is
    /// 1. Edges that it has not seen weigh so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_weight: Option<f64>,
}

impl Finished {
    /// Writes what was kept as a model file, whole or not at all. `source` says where the data came from, in words of the
    /// caller's own, who may want to read it again.
    ///
    /// # Errors
    /// A dataset that it was not trained on, or a file that cannot be written.
    pub fn write_model(
        &self,
        path: &Path,
        dataset: &Dataset,
        source: Option<&str>,
    ) -> Result<(), TrainError> {
        self.model(dataset, source)?.write(path, source)
    }

    /// What was kept, as [`SavedModel::open`] would read it from the file.
    ///
    /// # Errors
    /// A dataset that it was not trained on.
    pub fn model(&self, dataset: &Dataset, source: Option<&str>) -> Result<SavedModel, TrainError> {
        let names = |names: &Names| names.iter().map(ToOwned::to_owned).collect::<Vec<String>>();
        let (record, snapshot) = (&self.record, &self.snapshot);
        let header = ModelHeader {
            id: record.result.id.clone(),
            dataset: record.data.name.clone(),
            checksum: record.data.checksum.clone(),
            noise: record.data.noise.clone(),
            split: record.result.split.clone(),
            seed: record.result.seed,
            outputs: dataset.labels().width(),
            inputs: dataset.features().cols(),
            evaluated_on: record.result.evaluated_on.clone(),
            best_epoch: record.result.best_epoch,
            validation: record.result.validation,
            test: record.result.test,
            config: record.config.clone(),
            temperature: record.result.temperature,
            source: source.map(ToOwned::to_owned),
            many_labels: matches!(**dataset.labels(), Labels::Many(_)),
            class_names: dataset.class_names().map(names),
            feature_names: dataset.feature_names().map(names),
            encoding: dataset.encoding().map(ToOwned::to_owned),
            mean_log_degree: mean_log_degree(&dataset.weighted_graph()?),
            mean_weight: mean_weight(&snapshot.structure, dataset),
        };
        if snapshot.parameters.is_empty() {
            let logits = Tensor::row(LOGITS, Numbers::F32(snapshot.logits[..].into()));
            return Ok(SavedModel { header, tensors: vec![logits] });
        }
        let threads = Threads::new(1)?;
        let made =
            record.config.features_from.make(&threads, &dataset.weighted_graph()?, dataset.features())?;
        let fitted = record.config.features.fit(&made);
        let mut model = model(dataset, fitted.apply(&made)?, &record.config, record.result.seed)?;
        model.set_parameter_values(&snapshot.parameters)?;
        let mut tensors: Vec<Tensor> = model
            .parameters()
            .map(|part| Tensor {
                name: part.name.to_owned(),
                shape: vec![part.rows, part.columns],
                numbers: Numbers::F32(part.values.into()),
            })
            .collect();
        if !snapshot.earlier.is_empty() {
            let shape = vec![snapshot.earlier.len(), snapshot.parameters.len()];
            let numbers: Vec<f32> = snapshot.earlier.iter().flat_map(|one| one.iter().copied()).collect();
            tensors.push(Tensor { name: EARLIER.to_owned(), shape, numbers: Numbers::F32(numbers.into()) });
        }
        for (name, numbers) in [(FEATURE_MEAN, fitted.mean()), (FEATURE_DEVIATION, fitted.deviation())] {
            if !numbers.is_empty() {
                tensors.push(Tensor::row(name, Numbers::F32(numbers.into())));
            }
        }
        let structure = snapshot.structure.as_edges(dataset.graph().nodes())?;
        let SavedStructure { graph, weights, second_weights, .. } = &structure;
        if let Some(graph) = graph {
            tensors.push(Tensor::row(SOURCES, Numbers::U32(graph.sources().into())));
            tensors.push(Tensor::row(TARGETS, Numbers::U32(graph.targets().into())));
        }
        for (name, weights) in [(EDGE_WEIGHTS, weights), (SECOND_WEIGHTS, second_weights)] {
            if let Some(weights) = weights {
                tensors.push(Tensor::row(name, Numbers::F32(Arc::clone(weights))));
            }
        }
        Ok(SavedModel { header, tensors })
    }
}

/// Σ weights / Σ weights that edges have by themselves, where a method weighs the edges of the dataset.
fn mean_weight(structure: &SavedStructure, dataset: &Dataset) -> Option<f64> {
    let SavedStructure { graph: None, weights: Some(weights), second_weights: None, .. } = structure else {
        return None;
    };
    let sum = |weights: &[f32]| weights.iter().map(|&weight| f64::from(weight)).sum::<f64>();
    let own = dataset.weights().map_or(weights.len() as f64, sum);
    let mean = sum(weights) / own;
    (mean.is_finite() && mean != 1.0).then_some(mean)
}

fn model(
    dataset: &Dataset,
    features: Arc<Features>,
    config: &RunConfig,
    seed: u64,
) -> Result<Model<f32>, TrainError> {
    let threads = Threads::new(1)?;
    let outputs = dataset.labels().width();
    Ok(Model::new(dataset.weighted_graph()?, features, outputs, config.model(), seed, &threads)?)
}

/// A model file that was read.
pub struct SavedModel {
    header: ModelHeader,
    tensors: Vec<Tensor>,
}

impl SavedModel {
    /// Reads a model file.
    ///
    /// # Errors
    /// A file that cannot be read, is no model of this version, or is damaged.
    pub fn open(path: &Path) -> Result<Self, TrainError> {
        let (header, tensors) = tensor_file::read(path, &KIND)?;
        Ok(Self { header, tensors })
    }

    /// Writes it as a model file, whole or not at all; `source` as for [`Finished::write_model`].
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path, source: Option<&str>) -> Result<(), TrainError> {
        let header = ModelHeader { source: source.map(ToOwned::to_owned), ..self.header.clone() };
        tensor_file::write(path, &KIND, &header, self.tensors.clone())
    }

    /// What it was trained on and how.
    pub fn header(&self) -> &ModelHeader {
        &self.header
    }

    /// The logits of all nodes of the dataset that it was trained on, nodes × outputs.
    ///
    /// # Errors
    /// Another dataset, or tensors that are missing or of another shape than the model's.
    pub fn logits(&self, dataset: &Dataset) -> Result<Vec<f32>, TrainError> {
        let (nodes, outputs) = (dataset.graph().nodes(), self.header.outputs);
        if let Some(logits) = self.floats(LOGITS, &[nodes * outputs])? {
            return Ok(logits.to_vec());
        }
        self.answer(&mut self.network(dataset, &Threads::new(1)?)?)
    }

    /// The embeddings z of all nodes of the dataset that it was trained on, row after row, and how long a row is; those of its
    /// last epoch where a window of epochs answers. None where what was trained is no network, or several.
    ///
    /// # Errors
    /// As [`SavedModel::logits`].
    pub fn embeddings(
        &self,
        dataset: &Dataset,
        threads: &Threads,
    ) -> Result<Option<(Vec<f32>, usize)>, TrainError> {
        if self.is_fixed() {
            return Ok(None);
        }
        let mut model = self.network(dataset, threads)?;
        let units = model.config().hidden;
        Ok(Some((model.embeddings(None).to_vec(), units)))
    }

    /// Logits and embeddings of all nodes of a dataset whose edges weigh `weights`, by edge id, times what they weigh by
    /// themselves; edges of weight 0 are not there. As where it is the warm start of a method, the last of its epochs answers
    /// alone. None where what was trained is no network, or several.
    ///
    /// # Errors
    /// Another dataset, or not one weight per edge.
    pub fn evaluate_on(
        &self,
        dataset: &Dataset,
        weights: &[f32],
        threads: &Threads,
    ) -> Result<Option<[Vec<f32>; 2]>, TrainError> {
        if self.is_fixed() {
            return Ok(None);
        }
        let graph = dataset.graph();
        if weights.len() != graph.edges() {
            let expected = format!("{}, one per edge", graph.edges());
            return Err(TrainError::refused("weights", format!("{} numbers", weights.len()), expected));
        }
        let own = dataset.weights();
        let mut model = self.model_on(dataset.weighted_graph()?, dataset.features(), threads)?;
        let there = graph.select_on(threads, |edge| weights[edge] > 0.0);
        let weight = |edge: usize| weights[edge] * own.map_or(1.0, |own| own[edge]);
        let values: Vec<f32> = there.edge_of.iter().map(|&edge| weight(edge as usize)).collect();
        model.set_weighted_graph(Arc::new(there.graph), &values)?;
        let logits = model.evaluate().all_logits().into_owned();
        Ok(Some([logits, model.embeddings(None).to_vec()]))
    }

    /// The network as it was when it was judged.
    fn network(&self, dataset: &Dataset, threads: &Threads) -> Result<Model<f32>, TrainError> {
        let nodes = dataset.graph().nodes();
        let mut model = self.model_on(dataset.weighted_graph()?, dataset.features(), threads)?;
        match (self.ids(SOURCES)?, self.ids(TARGETS)?) {
            (None, None) => {}
            (Some(sources), Some(targets)) => {
                model.set_graph(Arc::new(Graph::from_edges(nodes, sources, targets)?))?;
            }
            _ => return Err(wrong(SOURCES, format!("is there without `{TARGETS}`, or the other way round"))),
        }
        let edges = model.graph().edges();
        let graph = Arc::clone(model.graph());
        if let Some(weights) = self.floats(EDGE_WEIGHTS, &[edges])? {
            model.set_weighted_graph(Arc::clone(&graph), weights)?;
        }
        if let Some(weights) = self.floats(SECOND_WEIGHTS, &[edges])? {
            let second = model.add_structure(Arc::clone(&graph))?;
            model.on(second).set_weighted_graph(graph, weights)?;
            model.on(Layers([StructureId::FIRST, second]));
        }
        Ok(model)
    }

    /// What it says of all nodes, by the network that [`SavedModel::model_on`] made: with the parameters that this has and
    /// those of earlier epochs, if there are any.
    pub(crate) fn answer(&self, model: &mut Model<f32>) -> Result<Vec<f32>, TrainError> {
        let latest = model.parameter_values().to_vec();
        let earlier: Vec<Arc<[f32]>> = match self.tensor(EARLIER).map(|tensor| tensor.shape.first()) {
            Some(Some(&epochs)) => self
                .floats(EARLIER, &[epochs, latest.len()])?
                .map_or_else(Vec::new, |all| all.chunks_exact(latest.len()).map(Into::into).collect()),
            _ => Vec::new(),
        };
        mean_logits(model, &earlier, &latest)
    }

    /// The features of a graph as the model takes them: come by as those of training were (`features_from`), and with what was done to
    /// those. Whether they mean the same on another graph than that of training, [`FeaturesFrom::fits_new_nodes`](crate::FeaturesFrom::fits_new_nodes) says.
    ///
    /// # Errors
    /// Features of another number of columns than in training.
    pub fn features(
        &self,
        graph: &WeightedGraph,
        given: &Arc<Features>,
        threads: &Threads,
    ) -> Result<Arc<Features>, TrainError> {
        let made = self.header.config.features_from.make(threads, graph, given)?;
        self.preparation(made.cols())?.apply(&made)
    }

    /// What was done to the features that it was trained on, of so many columns; to be done to any that it meets.
    ///
    /// # Errors
    /// Statistics that are missing or of another number of columns.
    pub fn preparation(&self, columns: usize) -> Result<Fitted, TrainError> {
        let step = self.header.config.features;
        let of = |name| {
            if step != Preparation::Standardise {
                return Ok(Vec::new());
            }
            let numbers = self.floats(name, &[columns])?;
            numbers
                .map(<[f32]>::to_vec)
                .ok_or_else(|| wrong(name, format!("is not there, expected {columns} numbers")))
        };
        Fitted::restored(step, columns, of(FEATURE_MEAN)?, of(FEATURE_DEVIATION)?)
    }

    /// Whether it keeps the answers for the nodes of its training and no network that could give others.
    pub(crate) fn is_fixed(&self) -> bool {
        self.tensor(LOGITS).is_some()
    }

    /// The network with its parameters on some graph, every edge with the weight that it has by itself, and on features that are
    /// prepared as in training.
    pub(crate) fn model_on(
        &self,
        graph: WeightedGraph,
        features: &Arc<Features>,
        threads: &Threads,
    ) -> Result<Model<f32>, TrainError> {
        let ModelHeader { config, outputs, seed, mean_log_degree, .. } = &self.header;
        let features = self.features(&graph, features, threads)?;
        let shape = ModelConfig { mean_log_degree: Some(*mean_log_degree), ..config.model() };
        let mut model = Model::new(graph, features, *outputs, shape, *seed, threads)?;
        let shapes: Vec<(String, [usize; 2])> =
            model.parameters().map(|part| (part.name.to_owned(), [part.rows, part.columns])).collect();
        for (name, shape) in shapes {
            let values = self.floats(&name, &shape)?;
            let values = values
                .ok_or_else(|| wrong(&name, format!("is not there, expected one of shape {shape:?}")))?;
            model.set_parameter(&name, values)?;
        }
        Ok(model)
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

fn wrong(name: &str, reason: String) -> TrainError {
    TrainError::State { part: name.to_owned(), reason }
}
