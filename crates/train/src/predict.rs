//! What trained models say of nodes, as probabilities, and of nodes that they were not trained on: new ones, or another graph
//! with the same features.
//!
//! The features get the preparation of the training, statistics and all. Every edge of new data weighs what those of the
//! training did on average (times what it weighs by itself): what a method has learned of single edges, it has learned of
//! those that it saw, but its network expects neighbours to count for less than a node does for itself. That was as good as
//! a score of each new edge from the evidence, and better than weight 1 (`bench/inductive_choice.py`).
//!
//! The experts of a pool answer one by one and are pooled with the calibrations and weights of the training. Belief propagation among
//! them begins with what the edge-free expert says of the new nodes; none of their labels is known to it, whatever the data says.
//! Label propagation, which has nothing to say without labels, is not among them.

use std::collections::BTreeMap;
use std::sync::Arc;

use edgepace_graph::{Dataset, WeightedGraph};
use edgepace_nn::{Threads, sigmoid, softmax};

use crate::calibration::Answers;
use crate::error::TrainError;
use crate::methods::belief::log_probabilities_of_new;
use crate::model_file::{Beginning, ExpertHeader, SavedModel, in_expert};
use crate::snapshot::SavedBeliefs;

/// Names of features that a message lists at most.
const LISTED: usize = 5;

impl SavedModel {
    /// Refuses data whose features are not those of the training, and a model that cannot answer for other nodes.
    ///
    /// # Errors
    /// Names what is missing and what is unknown.
    pub fn check_new(&self, dataset: &Dataset) -> Result<(), TrainError> {
        let header = self.header();
        let from = header.config.features_from;
        if !from.fits_new_nodes() {
            let found = format!("a model on features_from={}, which only its own graph has", from.name());
            return Err(TrainError::refused(
                "model",
                found,
                "one on given features, degree or none, for new data",
            ));
        }
        if self.is_fixed() && header.experts.is_empty() {
            let found = format!("{}, which keeps its answers and no network", header.config.method);
            let expected = match &header.config.method[..] {
                "auto" => {
                    "its experts, to predict for new nodes: label propagation alone counts in it, or the file is of an \
                     earlier version, train again"
                }
                _ => "a network, to predict for new nodes",
            };
            return Err(TrainError::refused("model", found, expected));
        }
        let (found, expected) = (dataset.features().cols(), header.inputs);
        let names: Option<Vec<&str>> = dataset.feature_names().map(|names| names.iter().collect());
        if let (Some(found), Some(expected)) = (&names, &header.feature_names) {
            return check_names(found, expected);
        }
        if found != expected {
            let expected = format!("the {expected} that the model was trained on");
            return Err(TrainError::refused("features", format!("{found} columns"), expected));
        }
        Ok(())
    }

    /// The logits of all nodes of data that it was not trained on, nodes × outputs. Of a pool each expert answers as it would alone.
    ///
    /// # Errors
    /// As [`SavedModel::check_new`]; tensors that are missing or of another shape than the model's.
    pub fn logits_of_new(&self, dataset: &Dataset, threads: &Threads) -> Result<Vec<f32>, TrainError> {
        self.check_new(dataset)?;
        let graph = dataset.weighted_graph()?;
        if self.header().experts.is_empty() {
            self.network_on_new(dataset, &graph, threads)
        } else {
            self.pool_on_new(dataset, &graph, threads)
        }
    }

    fn network_on_new(
        &self,
        dataset: &Dataset,
        weighted: &WeightedGraph,
        threads: &Threads,
    ) -> Result<Vec<f32>, TrainError> {
        let mut model = self.model_on(weighted.clone(), dataset.features(), threads)?;
        if let Some(mean) = self.header().mean_weight {
            let graph = Arc::clone(weighted.graph());
            let own = |edge: usize| weighted.weights().map_or(1.0, |weights| f64::from(weights[edge]));
            let weights: Vec<f32> = (0..graph.edges()).map(|edge| (mean * own(edge)) as f32).collect();
            model.set_weighted_graph(graph, &weights)?;
        }
        self.answer(&mut model)
    }

    /// What the experts say together, each calibrated and weighed as validation asked for.
    fn pool_on_new(
        &self,
        dataset: &Dataset,
        graph: &WeightedGraph,
        threads: &Threads,
    ) -> Result<Vec<f32>, TrainError> {
        let header = self.header();
        let answers = if header.many_labels { Answers::YesOrNo } else { Answers::OneOf(header.outputs) };
        let mut pooled: Vec<f64> = Vec::new();
        // The logits of experts that others begin with.
        let mut first: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
        for (number, (expert, model)) in self.experts().enumerate() {
            let logits = match &expert.begins_with {
                None => model.network_on_new(dataset, graph, threads),
                Some(Beginning { expert: place, temperature }) => {
                    let unaries = first.get(place).map_or(&[][..], |logits| logits);
                    model.compatibility().and_then(|compatibility| {
                        let (temperature, compatibility) = (*temperature, compatibility.to_vec());
                        let saved = SavedBeliefs { temperature, compatibility };
                        log_probabilities_of_new(&expert.config, &saved, (graph, unaries), threads)
                    })
                }
            };
            let logits = logits.map_err(|error| of_expert(number, error))?;
            pooled.resize(logits.len(), 0.0);
            if expert.weight > 0.0 {
                let own = expert.calibration.log_probabilities(answers, &logits);
                pooled.iter_mut().zip(&own).for_each(|(pooled, own)| *pooled += expert.weight * own);
            }
            let begins = |other: &ExpertHeader| other.begins_with.is_some_and(|first| first.expert == number);
            if header.experts.iter().any(begins) {
                first.insert(number, logits);
            }
        }
        Ok(pooled.into_iter().map(|pooled| pooled as f32).collect())
    }
}

/// The same error with the tensor's name in the file.
fn of_expert(number: usize, error: TrainError) -> TrainError {
    match error {
        TrainError::State { part, reason } => TrainError::State { part: in_expert(number, &part), reason },
        other => other,
    }
}

/// What the logits of all nodes, nodes × outputs, say by one or several models of the same outputs: for each node the
/// probability of each class, or of each label. Of several models it is the mean: of the means that
/// `bench/calibration_choice.py` compares on validation nodes, the one of least calibration error that needs no labels.
///
/// Calibrated ones are as sure as the models were right on their validation nodes; without such there is no difference.
pub fn probabilities(models: &[(&SavedModel, Vec<f32>)], calibrate: bool) -> Vec<f64> {
    let Some((first, logits)) = models.first() else { return Vec::new() };
    let (many, outputs) = (first.header().many_labels, first.header().outputs.max(1));
    let mut means = vec![0.0; logits.len()];
    let mut scaled = Vec::with_capacity(outputs);
    for (model, logits) in models {
        let by = model.header().temperature.filter(|_| calibrate).unwrap_or(1.0);
        for (means, logits) in means.chunks_exact_mut(outputs).zip(logits.chunks_exact(outputs)) {
            scaled.clear();
            scaled.extend(logits.iter().map(|&logit| f64::from(logit) / by));
            let add = |(mean, p): (&mut f64, f64)| *mean += p / models.len() as f64;
            if many {
                means.iter_mut().zip(scaled.iter().map(|&logit| sigmoid(logit))).for_each(add);
            } else {
                means.iter_mut().zip(softmax(&scaled)).for_each(add);
            }
        }
    }
    means
}

/// Refuses features that are not those of the training, in the same order.
fn check_names(found: &[&str], expected: &[String]) -> Result<(), TrainError> {
    let quoted = |names: Vec<&str>| {
        let more = names.len().saturating_sub(LISTED);
        let mut list: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
        if more > 0 {
            list.push(format!("{more} more"));
        }
        list.join(", ")
    };
    let unknown: Vec<&str> =
        found.iter().copied().filter(|name| !expected.iter().any(|own| own == name)).collect();
    if !unknown.is_empty() {
        let expected = "features that the model was trained on";
        return Err(TrainError::refused("features", format!("unknown: {}", quoted(unknown)), expected));
    }
    let missing: Vec<&str> =
        expected.iter().map(String::as_str).filter(|name| !found.contains(name)).collect();
    if !missing.is_empty() {
        let expected = format!("also {}, which the model was trained on", quoted(missing));
        return Err(TrainError::refused("features", format!("{} columns", found.len()), expected));
    }
    if found.iter().zip(expected).any(|(found, expected)| found != expected) {
        let expected =
            format!("the order of the training: {}", quoted(expected.iter().map(|name| &name[..]).collect()));
        return Err(TrainError::refused("features", quoted(found.to_vec()), expected));
    }
    Ok(())
}
