//! What is known of each edge after a run, as a table.

use std::path::Path;

use anyhow::Result;
use edgepace_graph::{Dataset, Graph, Labels};
use edgepace_train::{Audit, EdgeReport};
use serde::Serialize;

use crate::{edge_parquet, files};

/// What is known of one edge; an undirected one stands once.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) source: u32,
    pub(crate) target: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target_name: Option<String>,
    /// How suspicious, from 0 to 1; only an audit tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suspicion: Option<f32>,
    pub(crate) difficulty: f32,
    /// None: never.
    pub(crate) first_epoch: Option<u32>,
    pub(crate) weight: f32,
    /// The predicted class of each end, by name where it has one; none where nodes have many labels.
    pub(crate) source_class: Option<String>,
    pub(crate) target_class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) feature_similarity: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jaccard: Option<f32>,
    /// Whether noise added it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fake: Option<bool>,
}

/// The id and the source and target of each edge; of an undirected one only the direction from the lower node.
pub(crate) fn listed(graph: &Graph) -> Vec<(usize, u32, u32)> {
    let once = graph.twins().is_some();
    let edges = graph.sources().iter().zip(graph.targets()).enumerate();
    edges
        .map(|(edge, (&source, target))| (edge, source, target))
        .filter(|&(_, source, target)| !once || source < target)
        .collect()
}

/// Everything that can be said about the edges of a run.
pub(crate) struct EdgeTable<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) report: &'a EdgeReport,
    /// The logits of all nodes.
    pub(crate) logits: &'a [f32],
    pub(crate) audit: Option<&'a Audit>,
}

impl EdgeTable<'_> {
    pub(crate) fn row(&self, (edge, source, target): (usize, u32, u32)) -> Row {
        let name = |node: u32| self.dataset.node_names().map(|names| names.get(node as usize).to_owned());
        let width = self.dataset.labels().width();
        let class = |node: u32| match &**self.dataset.labels() {
            Labels::Classes(_) => {
                let logits = &self.logits[node as usize * width..][..width];
                Some(class_name(self.dataset, class_of(logits)))
            }
            Labels::Many(_) => None,
        };
        Row {
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
    pub(crate) fn write(&self, path: &Path, edges: &[(usize, u32, u32)]) -> Result<()> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        for &edge in edges {
            csv.serialize(self.row(edge))?;
        }
        files::write(path, &csv.into_inner()?)
    }

    /// Writes these edges as Parquet.
    pub(crate) fn write_parquet(&self, path: &Path, edges: &[(usize, u32, u32)]) -> Result<()> {
        files::write(path, &edge_parquet::bytes(edges.iter().map(|&edge| self.row(edge)))?)
    }
}

/// The class with the largest logit, the first one among equals.
pub(crate) fn class_of(logits: &[f32]) -> usize {
    let mut best = 0;
    for (class, &logit) in logits.iter().enumerate() {
        if logit > logits[best] {
            best = class;
        }
    }
    best
}

/// The name of a class, or its number.
pub(crate) fn class_name(dataset: &Dataset, class: usize) -> String {
    dataset.class_names().map_or_else(|| class.to_string(), |names| names.get(class).to_owned())
}
