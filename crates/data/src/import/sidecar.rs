use std::collections::HashSet;
use std::path::Path;

use edgepace_graph::{Dataset, Features, Labels};
use serde::{Deserialize, Serialize};

use super::{Columns, Encoded, FeatureColumns, Import, LABEL_PREFIX, SPLIT_PREFIX};
use crate::DataError;
use crate::error::{Place, format_error, io_error};

/// `dataset.json` beside exported CSV files: what they cannot say themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Sidecar {
    pub(crate) name: String,
    /// Whether `edges.csv` lists every edge in its own direction, instead of each pair once.
    pub(crate) directed: bool,
    /// Number of classes, or of binary labels.
    pub(crate) classes: usize,
    pub(crate) class_names: Option<Vec<String>>,
    pub(crate) many_labels: bool,
    /// Whether `features.npz` holds the features, instead of columns of `nodes.csv`.
    pub(crate) sparse_features: bool,
    pub(crate) feature_columns: usize,
    #[serde(default)]
    pub(crate) feature_names: Option<Vec<String>>,
    /// [`Dataset::encoding`] of what was exported.
    #[serde(default)]
    pub(crate) encoding: Option<String>,
    pub(crate) splits: Vec<String>,
    pub(crate) edge_columns: Vec<String>,
    pub(crate) node_names: bool,
    /// [`Dataset::checksum`] of what was exported.
    pub(crate) checksum: String,
}

/// The start of the name of a feature's column, where the feature's own name will not do.
const FEATURE_PREFIX: &str = "feature:";

impl Sidecar {
    pub(crate) const FILE: &'static str = "dataset.json";
    pub(crate) const EDGES: &'static str = "edges.csv";
    pub(crate) const NODES: &'static str = "nodes.csv";
    pub(crate) const FEATURES: &'static str = "features.npz";

    pub(crate) fn of(dataset: &Dataset, directed: bool) -> Sidecar {
        Sidecar {
            name: dataset.name().to_owned(),
            directed,
            classes: dataset.labels().width(),
            class_names: dataset.class_names().map(|names| names.iter().map(str::to_owned).collect()),
            many_labels: matches!(&**dataset.labels(), Labels::Many(_)),
            sparse_features: matches!(&**dataset.features(), Features::Sparse(_)),
            feature_columns: dataset.features().cols(),
            feature_names: dataset.feature_names().map(|names| names.iter().map(str::to_owned).collect()),
            encoding: dataset.encoding().map(str::to_owned),
            splits: dataset.splits().iter().map(|split| split.name().to_owned()).collect(),
            edge_columns: dataset.edge_columns().map(|(name, _)| name.to_owned()).collect(),
            node_names: dataset.node_names().is_some(),
            checksum: dataset.checksum(),
        }
    }

    pub(crate) fn read(file: &Path) -> Result<Sidecar, DataError> {
        let text = std::fs::read_to_string(file).map_err(io_error("read", file))?;
        serde_json::from_str(&text).map_err(|error| {
            let place = Place::Line(error.line() as u64);
            format_error(file, place, "what an export writes", error.to_string())
        })
    }

    /// The import that reads the exported files back.
    pub(crate) fn import(self, folder: &Path) -> Import {
        let feature_columns = if self.sparse_features { 0 } else { self.feature_columns };
        let names = self.feature_names.as_deref().unwrap_or_default();
        let name = |column: usize| names.get(column).map(String::as_str);
        let features = feature_headers(feature_columns, name);
        let weight = self.edge_columns.iter().find(|name| *name == Dataset::WEIGHT).cloned();
        Import {
            edges: folder.join(Sidecar::EDGES),
            nodes: Some(folder.join(Sidecar::NODES)),
            features: self.sparse_features.then(|| folder.join(Sidecar::FEATURES)),
            directed: Some(self.directed),
            name: Some(self.name),
            encoded: Some(Encoded { feature_names: self.feature_names, encoding: self.encoding }),
            columns: Columns {
                source: Some("source".to_owned()),
                target: Some("target".to_owned()),
                edge_values: self.edge_columns.into_iter().filter(|name| name != Dataset::WEIGHT).collect(),
                weight,
                id: Some("id".to_owned()),
                node_name: self.node_names.then(|| "name".to_owned()),
                label: (!self.many_labels).then(|| "label".to_owned()),
                splits: Some(self.splits.iter().map(|name| format!("{SPLIT_PREFIX}{name}")).collect()),
                features: FeatureColumns::Listed(features),
                classes: Some(self.classes),
                class_names: self.class_names,
                ..Columns::default()
            },
            ..Import::default()
        }
    }
}

/// What `nodes.csv` calls the columns of the features: by their names, or `feature:0`, `feature:1`, … where there are
/// none or where a name would be taken for something else.
pub(crate) fn feature_headers<'a>(columns: usize, name: impl Fn(usize) -> Option<&'a str>) -> Vec<String> {
    let mut taken: HashSet<&str> = ["id", "name", "label", "split"].into();
    let reserved = [FEATURE_PREFIX, SPLIT_PREFIX, LABEL_PREFIX];
    let mut header = |column| {
        let own = name(column).filter(|name| !name.is_empty() && name.trim() == *name);
        let own = own.filter(|name| !reserved.iter().any(|prefix| name.starts_with(prefix)));
        let own = own.filter(|name| taken.insert(name));
        own.map_or_else(|| format!("{FEATURE_PREFIX}{column}"), str::to_owned)
    };
    (0..columns).map(&mut header).collect()
}
