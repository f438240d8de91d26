//! From a run that is over to its model file.

use std::path::Path;
use std::sync::Arc;

use edgepace_graph::{Dataset, Features, Labels, Names};
use edgepace_nn::{Model, Threads, mean_log_degree};

use super::{
    Beginning, COMPATIBILITY, EARLIER, EDGE_WEIGHTS, ExpertHeader, FEATURE_DEVIATION, FEATURE_MEAN, LOGITS,
    ModelHeader, SECOND_WEIGHTS, SOURCES, SavedModel, TARGETS,
};
use crate::config::RunConfig;
use crate::error::TrainError;
use crate::pool::PooledExpert;
use crate::run::Finished;
use crate::snapshot::{SavedStructure, Snapshot};
use crate::state::Numbers;
use crate::tensor_file::Tensor;

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
            config: self.config.clone(),
            temperature: record.result.temperature,
            source: source.map(ToOwned::to_owned),
            many_labels: matches!(**dataset.labels(), Labels::Many(_)),
            class_names: dataset.class_names().map(names),
            feature_names: dataset.feature_names().map(names),
            encoding: dataset.encoding().map(ToOwned::to_owned),
            mean_log_degree: mean_log_degree(&dataset.weighted_graph()?),
            mean_weight: mean_weight(&snapshot.structure, dataset),
            experts: self.experts.iter().map(|expert| expert_header(expert, dataset)).collect(),
        };
        let is_network = !snapshot.parameters.is_empty();
        let answers = || vec![Tensor::row(LOGITS, Numbers::F32(snapshot.logits[..].into()))];
        if !is_network && self.experts.is_empty() {
            return Ok(SavedModel::new(header, answers(), Vec::new()));
        }
        let networks = Networks::new(dataset, &self.config, record.result.seed)?;
        let tensors = if is_network {
            let structure = snapshot.structure.as_edges(dataset.graph().nodes())?;
            [networks.tensors(&self.config, snapshot)?, tensors_of(&structure)].concat()
        } else {
            answers()
        };
        let of_expert = |PooledExpert { config, snapshot, .. }: &PooledExpert| match &snapshot.beliefs {
            None => networks.tensors(config, snapshot),
            Some(beliefs) => {
                let (name, shape) = (COMPATIBILITY.to_owned(), vec![header.outputs; 2]);
                let numbers = Numbers::F32(beliefs.compatibility[..].into());
                Ok(vec![Tensor { name, shape, numbers }])
            }
        };
        let experts = self.experts.iter().map(of_expert).collect::<Result<_, _>>()?;
        Ok(SavedModel::new(header, tensors, experts))
    }
}

fn expert_header(expert: &PooledExpert, dataset: &Dataset) -> ExpertHeader {
    let PooledExpert { name, weight, calibration, config, snapshot, begins_with } = expert;
    let beginning = begins_with.zip(snapshot.beliefs.as_ref());
    ExpertHeader {
        name: name.clone(),
        weight: *weight,
        calibration: *calibration,
        config: config.clone(),
        mean_weight: mean_weight(&snapshot.structure, dataset),
        begins_with: beginning
            .map(|(expert, beliefs)| Beginning { expert, temperature: beliefs.temperature }),
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

/// What the networks of one run have in common.
struct Networks<'a> {
    dataset: &'a Dataset,
    /// Come by as all of them do, and not prepared yet.
    features: Arc<Features>,
    seed: u64,
    threads: Threads,
}

impl<'a> Networks<'a> {
    fn new(dataset: &'a Dataset, config: &RunConfig, seed: u64) -> Result<Self, TrainError> {
        let threads = Threads::new(1)?;
        let features = config.features_from.make(&threads, &dataset.weighted_graph()?, dataset.features())?;
        Ok(Self { dataset, features, seed, threads })
    }

    /// The parameters of one of them by name, those of its earlier epochs, and what was done to the features.
    fn tensors(&self, config: &RunConfig, snapshot: &Snapshot) -> Result<Vec<Tensor>, TrainError> {
        let fitted = config.features.fit(&self.features);
        let (graph, prepared) = (self.dataset.weighted_graph()?, fitted.apply(&self.features)?);
        let outputs = self.dataset.labels().width();
        let mut model = Model::new(graph, prepared, outputs, config.model(), self.seed, &self.threads)?;
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
        Ok(tensors)
    }
}

/// A structure, which has no matrix.
fn tensors_of(structure: &SavedStructure) -> Vec<Tensor> {
    let SavedStructure { graph, weights, second_weights, .. } = structure;
    let mut tensors = Vec::new();
    if let Some(graph) = graph {
        tensors.push(Tensor::row(SOURCES, Numbers::U32(graph.sources().into())));
        tensors.push(Tensor::row(TARGETS, Numbers::U32(graph.targets().into())));
    }
    for (name, weights) in [(EDGE_WEIGHTS, weights), (SECOND_WEIGHTS, second_weights)] {
        if let Some(weights) = weights {
            tensors.push(Tensor::row(name, Numbers::F32(Arc::clone(weights))));
        }
    }
    tensors
}
