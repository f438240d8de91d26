//! What is known of each edge after a run, as a table.

mod parquet;

use std::path::Path;

use edgepace_graph::{Dataset, Graph, Labels, files};
use edgepace_nn::argmax;
use serde::Serialize;

use crate::audit::Audit;
use crate::error::TrainError;
use crate::snapshot::EdgeReport;

/// What is known of one edge; an undirected one stands once.
#[derive(Serialize)]
pub struct EdgeRow {
    /// The number of the node that it starts from.
    pub source: u32,
    /// The number of the node that it leads to.
    pub target: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The name of the source, if it has one.
    pub source_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The name of the target, if it has one.
    pub target_name: Option<String>,
    /// How suspicious, from 0 to 1; only an audit tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspicion: Option<f32>,
    /// How hard the method found it: 0 easy, 1 hard.
    pub difficulty: f32,
    /// The epoch from which on it was trained on; none: never.
    pub first_epoch: Option<u32>,
    /// Its weight at the end.
    pub weight: f32,
    /// The predicted class of each end, by name where it has one; none where nodes have many labels.
    pub source_class: Option<String>,
    /// As `source_class`, of the target.
    pub target_class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// How alike the features of its ends are; only an audit tells.
    pub feature_similarity: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// How far the neighbourhoods of its ends overlap; only an audit tells.
    pub jaccard: Option<f32>,
    /// Whether noise added it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fake: Option<bool>,
}

/// The id and the source and target of each edge; of an undirected one only the direction from the lower node.
pub fn listed(graph: &Graph) -> Vec<(usize, u32, u32)> {
    let once = graph.twins().is_some();
    let edges = graph.sources().iter().zip(graph.targets()).enumerate();
    edges
        .map(|(edge, (&source, target))| (edge, source, target))
        .filter(|&(_, source, target)| !once || source < target)
        .collect()
}

/// Everything that can be said about the edges of a run.
pub struct EdgeTable<'a> {
    /// What was learned from.
    pub dataset: &'a Dataset,
    /// What the method says of each edge.
    pub report: &'a EdgeReport,
    /// The logits of all nodes.
    pub logits: &'a [f32],
    /// How suspicious each edge is, if it was audited.
    pub audit: Option<&'a Audit>,
}

impl EdgeTable<'_> {
    /// The row of an edge, as [`listed`] gives it.
    pub fn row(&self, (edge, source, target): (usize, u32, u32)) -> EdgeRow {
        let name = |node: u32| self.dataset.node_names().map(|names| names.get(node as usize).to_owned());
        let width = self.dataset.labels().width();
        let class = |node: u32| match &**self.dataset.labels() {
            Labels::Classes(_) => {
                let logits = &self.logits[node as usize * width..][..width];
                Some(class_name(self.dataset, argmax(logits)))
            }
            Labels::Many(_) => None,
        };
        EdgeRow {
            source,
            target,
            source_name: name(source),
            target_name: name(target),
            suspicion: self.audit.map(|audit| audit.suspicion[edge]),
            difficulty: self.report.difficulty[edge],
            first_epoch: Some(self.report.first_epoch[edge]).filter(|&epoch| epoch != u32::MAX),
            weight: self.report.weight[edge],
            source_class: class(source),
            target_class: class(target),
            feature_similarity: self.audit.map(|audit| audit.feature_similarity[edge]),
            jaccard: self.audit.map(|audit| audit.jaccard[edge]),
            fake: self.dataset.edge_column(Dataset::FAKE).map(|fake| fake[edge] != 0.0),
        }
    }

    /// Writes these edges as CSV.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_csv(&self, path: &Path, edges: &[(usize, u32, u32)]) -> Result<(), TrainError> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        for &edge in edges {
            csv.serialize(self.row(edge)).map_err(|error| failed(path, &error))?;
        }
        let bytes = csv.into_inner().map_err(|error| failed(path, &error))?;
        files::write(path, &bytes).map_err(|error| failed(path, &error.source))
    }

    /// Writes these edges as Parquet.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_parquet(&self, path: &Path, edges: &[(usize, u32, u32)]) -> Result<(), TrainError> {
        let bytes = parquet::bytes(edges.iter().map(|&edge| self.row(edge)));
        let bytes = bytes.map_err(|error| failed(path, &error))?;
        files::write(path, &bytes).map_err(|error| failed(path, &error.source))
    }
}

fn failed(path: &Path, cause: &dyn std::fmt::Display) -> TrainError {
    TrainError::File { action: "cannot write", path: path.to_owned(), cause: cause.to_string() }
}

/// The name of a class, or its number.
pub fn class_name(dataset: &Dataset, class: usize) -> String {
    dataset.class_names().map_or_else(|| class.to_string(), |names| names.get(class).to_owned())
}
