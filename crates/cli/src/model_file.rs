//! A trained model as a file: its parameters by name, the weights of the edges that it was judged on, and what it was
//! trained on, as safetensors.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use edgepace_graph::{Dataset, Graph};
use edgepace_nn::{Layers, Model, ModelConfig, StructureId, Threads};
use edgepace_train::RunConfig;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::runs::Finished;

/// The one entry of the file's metadata; a single one, so that equal models are equal files.
const ENTRY: &str = "edgepace";
/// The tensor of edge weights; without it every edge has weight 1.
const EDGE_WEIGHTS: &str = "edge_weights";
/// The edge weights in the second layer, where they are others than in the first.
const SECOND_WEIGHTS: &str = "edge_weights_of_second_layer";
/// The edges of a graph of the method's own, in its order; without them the dataset's.
const SOURCES: &str = "sources";
const TARGETS: &str = "targets";

/// What a model was trained on and how.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    /// The dataset's name without noise.
    pub(crate) dataset: String,
    /// SHA-256 of graph, features and labels, with the noise.
    pub(crate) checksum: String,
    /// The noise with its seed; empty without.
    pub(crate) noise: String,
    pub(crate) split: String,
    pub(crate) seed: u64,
    pub(crate) backbone: String,
    pub(crate) hidden: usize,
    pub(crate) outputs: usize,
    /// The structure of the best validation score: `full` or `weighted`.
    pub(crate) evaluated_on: String,
    pub(crate) best_epoch: u32,
    pub(crate) validation: Option<f64>,
    pub(crate) test: Option<f64>,
    pub(crate) config: RunConfig,
}

fn model(dataset: &Dataset, config: &RunConfig, seed: u64) -> Result<Model<f32>> {
    let shape =
        ModelConfig { hidden: config.hidden, dropout: config.dropout, ..ModelConfig::new(config.backbone) };
    let features = config.features.apply(dataset.features())?;
    let threads = Threads::new(1)?;
    let outputs = dataset.labels().width();
    Ok(Model::new(Arc::clone(dataset.graph()), features, outputs, shape, seed, &threads)?)
}

/// Writes the model of a run at its best epoch.
pub(crate) fn save(path: &Path, dataset: &str, run: &Finished) -> Result<()> {
    let (result, best, config) = (&run.trained.result, &run.trained.best, &run.trained.config);
    let mut model = model(&run.dataset, config, result.seed)?;
    model.set_parameter_values(&best.parameters)?;
    let record = Record {
        dataset: dataset.to_owned(),
        checksum: run.dataset.checksum(),
        noise: run.noise.clone(),
        split: result.split.clone(),
        seed: result.seed,
        backbone: config.backbone.name().to_owned(),
        hidden: config.hidden,
        outputs: run.dataset.labels().width(),
        evaluated_on: result.evaluated_on.clone(),
        best_epoch: result.best_epoch,
        validation: result.validation,
        test: result.test,
        config: config.clone(),
    };
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let mut parts: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = model
        .parameters()
        .map(|part| (part.name.to_owned(), Dtype::F32, vec![part.rows, part.columns], bytes(part.values)))
        .collect();
    let structure = best.structure.as_edges(run.dataset.graph().nodes())?;
    if let Some(graph) = &structure.graph {
        for (name, ids) in [(SOURCES, graph.sources()), (TARGETS, &graph.targets()[..])] {
            let bytes = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
            parts.push((name.to_owned(), Dtype::U32, vec![ids.len()], bytes));
        }
    }
    for (name, weights) in [(EDGE_WEIGHTS, &structure.weights), (SECOND_WEIGHTS, &structure.second)] {
        if let Some(weights) = weights {
            parts.push((name.to_owned(), Dtype::F32, vec![weights.len()], bytes(weights)));
        }
    }
    let views: Vec<(&str, TensorView<'_>)> = parts
        .iter()
        .map(|(name, kind, shape, bytes)| Ok((&name[..], TensorView::new(*kind, shape.clone(), bytes)?)))
        .collect::<Result<_>>()?;
    let record = serde_json::to_string(&record)?;
    files::write(path, &serialize(views, Some(HashMap::from([(ENTRY.to_owned(), record)])))?)
}

/// A model file that was read.
pub(crate) struct Saved {
    pub(crate) record: Record,
    tensors: Vec<(String, Vec<f32>)>,
    /// Sources and targets of a graph of the method's own.
    edges: Option<(Vec<u32>, Vec<u32>)>,
}

impl Saved {
    pub(crate) fn open(path: &Path) -> Result<Saved> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&bytes).with_context(|| format!("{} is not a model of edgepace", path.display()))
    }

    fn parse(bytes: &[u8]) -> Result<Saved> {
        let (_, metadata) = SafeTensors::read_metadata(bytes)?;
        let record = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY));
        let record = record.with_context(|| format!("its metadata has no entry `{ENTRY}`"))?;
        let record = serde_json::from_str(record).context("its record cannot be read")?;
        let file = SafeTensors::deserialize(bytes)?;
        let mut tensors = Vec::new();
        let mut ids = HashMap::new();
        for (name, view) in file.iter() {
            let expected = if [SOURCES, TARGETS].contains(&name) { Dtype::U32 } else { Dtype::F32 };
            if view.dtype() != expected {
                bail!("tensor `{name}` is of type {:?}, expected {expected:?}", view.dtype());
            }
            let words = view.data().chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
            if expected == Dtype::U32 {
                ids.insert(name.to_owned(), words.map(u32::from_le_bytes).collect());
            } else {
                tensors.push((name.to_owned(), words.map(f32::from_le_bytes).collect()));
            }
        }
        let edges = match (ids.remove(SOURCES), ids.remove(TARGETS)) {
            (None, None) => None,
            (Some(sources), Some(targets)) => Some((sources, targets)),
            _ => bail!("only one of the tensors `{SOURCES}` and `{TARGETS}` is there"),
        };
        Ok(Saved { record, tensors, edges })
    }

    /// The logits of all nodes of the dataset that it was trained on.
    pub(crate) fn logits(&self, dataset: &Dataset) -> Result<Vec<f32>> {
        let mut model = model(dataset, &self.record.config, self.record.seed)?;
        let names: Vec<String> = model.parameters().map(|part| part.name.to_owned()).collect();
        for name in names {
            let values = self.tensor(&name).with_context(|| format!("the model has no tensor `{name}`"))?;
            model.set_parameter(&name, values)?;
        }
        if let Some((sources, targets)) = &self.edges {
            model.set_graph(Arc::new(Graph::from_edges(dataset.graph().nodes(), sources, targets)?))?;
        }
        if let Some(weights) = self.tensor(EDGE_WEIGHTS) {
            model.set_edge_weights(weights)?;
        }
        if let Some(weights) = self.tensor(SECOND_WEIGHTS) {
            let second = model.add_structure(Arc::clone(model.graph()))?;
            model.on(second).set_edge_weights(weights)?;
            model.on(Layers([StructureId::FIRST, second]));
        }
        let evaluation = model.evaluate();
        Ok((0..dataset.graph().nodes()).flat_map(|node| evaluation.logits(node).to_vec()).collect())
    }

    fn tensor(&self, name: &str) -> Option<&[f32]> {
        self.tensors.iter().find(|(own, _)| own == name).map(|(_, values)| &values[..])
    }
}
