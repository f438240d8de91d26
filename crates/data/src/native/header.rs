use std::collections::BTreeMap;
use std::fmt::Write as _;

use edgepace_graph::{Dataset, Dropped, Features, Labels, Threads, edge_homophily};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What `__metadata__` calls a file of this kind.
pub(super) const FORMAT: &str = "edgepace-graph";
/// The key of the header's own checksum, and what stands for it while it is computed.
pub(super) const HEADER_KEY: &str = "header_sha256";
pub(super) const HEADER_BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Sections are hashed in blocks of this many bytes, side by side.
const BLOCK: usize = 16 << 20;

/// What a native file says about its dataset, read without touching the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Info {
    /// The dataset's name.
    pub name: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of directed edges: an undirected edge counts twice.
    pub edges: usize,
    /// Whether every edge has its reverse.
    pub undirected: bool,
    /// Repeated edges of the source that the graph does not have.
    pub dropped_duplicates: usize,
    /// Self-loops of the source that the graph does not have.
    pub dropped_loops: usize,
    /// Edges of weight 0 that the graph does not have.
    #[serde(default)]
    pub dropped_weightless: usize,
    /// Those repeated edges whose weight is another than that of the first, which counts.
    #[serde(default)]
    pub dropped_conflicting: usize,
    /// The features.
    pub features: FeatureInfo,
    /// The labels.
    pub labels: LabelInfo,
    /// Share of the edges whose ends share a class; `None` for many labels or when no edge has two labelled ends.
    pub homophily: Option<f64>,
    /// All splits, in order.
    pub splits: Vec<SplitInfo>,
    /// The names of the edge columns, in order.
    pub edge_columns: Vec<String>,
    /// Whether nodes have names.
    pub node_names: bool,
    /// Whether classes have names.
    pub class_names: bool,
    /// Whether features have names.
    #[serde(default)]
    pub feature_names: bool,
    /// Whether the file says how columns of a table became the features ([`Dataset::encoding`]).
    #[serde(default)]
    pub encoding: bool,
    /// [`Dataset::checksum`] of the content.
    pub checksum: String,
    /// Where the dataset came from and what was done to it, in the words of whoever saved it; may be empty.
    pub record: String,
}

/// The kind and size of the features of a native file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureInfo {
    /// Number of columns.
    pub columns: usize,
    /// Number of stored values of sparse features; `None` for dense ones.
    pub stored: Option<usize>,
}

/// The kind and number of the labels of a native file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelInfo {
    /// Number of classes, or of binary labels per node.
    pub width: usize,
    /// Whether there are many binary labels per node instead of one class.
    pub many: bool,
}

/// A split of a native file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitInfo {
    /// Its name.
    pub name: String,
    /// Its [hash](edgepace_graph::Split::hash).
    pub hash: String,
    /// Number of training nodes.
    pub train: usize,
    /// Number of validation nodes.
    pub validation: usize,
    /// Number of test nodes.
    pub test: usize,
}

impl Info {
    pub(super) fn of(dataset: &Dataset, record: &str) -> Info {
        let graph = dataset.graph();
        let Dropped { duplicates, loops, weightless, conflicting } = graph.dropped();
        let stored = match &**dataset.features() {
            Features::Dense(_) => None,
            Features::Sparse(sparse) => Some(sparse.values().len()),
        };
        let (many, homophily) = match &**dataset.labels() {
            Labels::Classes(classes) => (false, edge_homophily(graph, classes)),
            Labels::Many(_) => (true, None),
        };
        let splits = dataset.splits().iter().map(|split| SplitInfo {
            name: split.name().to_owned(),
            hash: split.hash().to_owned(),
            train: split.train().len(),
            validation: split.validation().len(),
            test: split.test().len(),
        });
        Info {
            name: dataset.name().to_owned(),
            nodes: graph.nodes(),
            edges: graph.edges(),
            undirected: graph.twins().is_some(),
            dropped_duplicates: duplicates,
            dropped_loops: loops,
            dropped_weightless: weightless,
            dropped_conflicting: conflicting,
            features: FeatureInfo { columns: dataset.features().cols(), stored },
            labels: LabelInfo { width: dataset.labels().width(), many },
            homophily,
            splits: splits.collect(),
            edge_columns: dataset.edge_columns().map(|(name, _)| name.to_owned()).collect(),
            node_names: dataset.node_names().is_some(),
            class_names: dataset.class_names().is_some(),
            feature_names: dataset.feature_names().is_some(),
            encoding: dataset.encoding().is_some(),
            checksum: dataset.checksum(),
            record: record.to_owned(),
        }
    }
}

/// The digest of a section: SHA-256 of the SHA-256s of its blocks, which the threads share.
pub(super) fn digest(threads: &Threads, bytes: &[u8]) -> String {
    let blocks = threads.map_pieces(bytes.len(), BLOCK, |block| Sha256::digest(&bytes[block]));
    let mut hasher = Sha256::new();
    for block in blocks {
        hasher.update(block);
    }
    hex(&hasher.finalize())
}

/// SHA-256 of the header, whose own checksum must be blank.
pub(super) fn header_digest(blank: &[u8]) -> String {
    hex(&Sha256::digest(blank))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The digests of the sections by name, as the header keeps them.
pub(super) type Digests = BTreeMap<String, String>;
