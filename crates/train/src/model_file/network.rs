//! The network of a model file: what it says of nodes, and what it makes of features.

use std::sync::Arc;

use edgepace_graph::{Dataset, Features, Graph, WeightedGraph};
use edgepace_nn::{Layers, Model, ModelConfig, StructureId, Threads};

use super::{
    EARLIER, EDGE_WEIGHTS, FEATURE_DEVIATION, FEATURE_MEAN, LOGITS, ModelHeader, SECOND_WEIGHTS, SOURCES,
    SavedModel, TARGETS, wrong,
};
use crate::error::TrainError;
use crate::prepare::{Fitted, Preparation};
use crate::window::mean_logits;

impl SavedModel {
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
}
