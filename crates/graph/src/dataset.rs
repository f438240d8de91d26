use std::sync::Arc;

use crate::digest::ContentHasher;
use crate::error::check_length;
use crate::{Buffer, Features, Graph, GraphError, Labels, Names, Split, WeightedGraph, is_weight};

/// A graph with features, labels and splits that fit it and each other. Its parts are shared: a clone, or a model that
/// trains on it, costs no memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    name: String,
    graph: Arc<Graph>,
    features: Arc<Features>,
    labels: Arc<Labels>,
    splits: Vec<Split>,
    edge_columns: Vec<(String, Arc<Buffer<f32>>)>,
    node_names: Option<Arc<Names>>,
    class_names: Option<Arc<Names>>,
    feature_names: Option<Arc<Names>>,
    encoding: Option<Arc<str>>,
}

impl Dataset {
    /// The edge column of an edge's weight in the source of the graph: above 0, and at most
    /// [`MAX_EDGE_WEIGHT`](crate::MAX_EDGE_WEIGHT).
    pub const WEIGHT: &'static str = "weight";
    /// The edge column that is 1 for an edge that noise added, 0 for one of the original graph.
    pub const FAKE: &'static str = "fake";
    /// The edge column of the probability with which a generator makes an edge between two nodes of such classes: the lower, the harder.
    pub const PROBABILITY: &'static str = "probability";

    /// What parts weights from labels in the checksum.
    const WEIGHTS_FOLLOW: &'static [u8] = b"weights";

    /// Joins the parts of a dataset.
    ///
    /// # Errors
    /// Features, labels or a split for another number of nodes than the graph has, a node of a split that is
    /// not labelled, or two splits of the same name.
    pub fn new(
        name: impl Into<String>,
        graph: impl Into<Arc<Graph>>,
        features: impl Into<Arc<Features>>,
        labels: impl Into<Arc<Labels>>,
        splits: Vec<Split>,
    ) -> Result<Dataset, GraphError> {
        let (graph, features, labels) = (graph.into(), features.into(), labels.into());
        check_rows("features", features.rows(), graph.nodes())?;
        check_rows("labels", labels.nodes(), graph.nodes())?;
        check_splits(&splits, &labels)?;
        Ok(Dataset::trusted(name, graph, features, labels, splits))
    }

    /// Joins parts that were taken from a correct dataset, as a file of our own keeps them: O(1), nothing is read. The
    /// caller vouches that they fit each other.
    pub fn trusted(
        name: impl Into<String>,
        graph: impl Into<Arc<Graph>>,
        features: impl Into<Arc<Features>>,
        labels: impl Into<Arc<Labels>>,
        splits: Vec<Split>,
    ) -> Dataset {
        Dataset {
            name: name.into(),
            graph: graph.into(),
            features: features.into(),
            labels: labels.into(),
            splits,
            edge_columns: Vec::new(),
            node_names: None,
            class_names: None,
            feature_names: None,
            encoding: None,
        }
    }

    /// The dataset's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// One row of features per node.
    pub fn features(&self) -> &Arc<Features> {
        &self.features
    }

    /// The labels of each node.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// All splits, in the order given.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// The split of that name.
    pub fn split(&self, name: &str) -> Option<&Split> {
        self.splits.iter().find(|split| split.name() == name)
    }

    /// What is known of each edge beside its ends: named columns of one value per edge id.
    pub fn edge_columns(&self) -> impl ExactSizeIterator<Item = (&str, &[f32])> {
        self.edge_columns.iter().map(|(name, values)| (&name[..], &values[..]))
    }

    /// The edge column of that name, by edge id. [`WEIGHT`](Dataset::WEIGHT), [`FAKE`](Dataset::FAKE) and
    /// [`PROBABILITY`](Dataset::PROBABILITY) have a meaning of their own.
    pub fn edge_column(&self, name: &str) -> Option<&[f32]> {
        self.edge_columns().find(|(own, _)| *own == name).map(|(_, values)| values)
    }

    /// What each edge weighs, by edge id: the column [`WEIGHT`](Dataset::WEIGHT), unless every weight is 1. O(edges).
    pub fn weights(&self) -> Option<&[f32]> {
        self.edge_column(Dataset::WEIGHT).filter(|weights| weights.iter().any(|&weight| weight != 1.0))
    }

    /// The graph with [`weights`](Dataset::weights), as models take it. O(edges).
    ///
    /// # Errors
    /// Weights that a file brought in unchecked.
    pub fn weighted_graph(&self) -> Result<WeightedGraph, GraphError> {
        match self.weights() {
            None => Ok(Arc::clone(&self.graph).into()),
            Some(weights) => WeightedGraph::new(Arc::clone(&self.graph), weights),
        }
    }

    /// The names of the nodes in the source of the graph, if it has any.
    pub fn node_names(&self) -> Option<&Names> {
        self.node_names.as_deref()
    }

    /// The names of the classes (or of the binary labels), if they have any.
    pub fn class_names(&self) -> Option<&Names> {
        self.class_names.as_deref()
    }

    /// The names of the features' columns, if they have any.
    pub fn feature_names(&self) -> Option<&Names> {
        self.feature_names.as_deref()
    }

    /// How the columns of a table became the features, as text (JSON) of whoever encoded them: enough to do the same to
    /// another table. A dataset only keeps it.
    pub fn encoding(&self) -> Option<&str> {
        self.encoding.as_deref()
    }

    /// SHA-256 of graph, weights, features and labels as 64 lower-case hexadecimal digits: equal for equal content, wherever
    /// it was read from. Names, the encoding, splits and other edge columns are not part of it.
    ///
    /// The bytes, all little endian, counts and offsets as `u64`: nodes, edges, offsets, sources; columns of the
    /// features, 1 for sparse or 0 for dense, then offsets, columns (both only when sparse) and values; width of the
    /// labels, 1 for many or 0 for one class per node, and the labels; last, unless every edge weighs 1, the word `weights` and
    /// the weights. O(size of the dataset).
    pub fn checksum(&self) -> String {
        let mut hasher = ContentHasher::default();
        hasher.count(self.graph.nodes());
        hasher.count(self.graph.edges());
        hasher.counts(self.graph.offsets());
        hasher.ids(self.graph.sources());
        hasher.count(self.features.cols());
        match &*self.features {
            Features::Dense(dense) => {
                hasher.count(0);
                hasher.floats(dense.values());
            }
            Features::Sparse(sparse) => {
                hasher.count(1);
                hasher.counts(sparse.offsets());
                hasher.ids(sparse.columns());
                hasher.floats(sparse.values());
            }
        }
        hasher.count(self.labels.width());
        match &*self.labels {
            Labels::Classes(classes) => {
                hasher.count(0);
                hasher.ids(classes.of());
            }
            Labels::Many(many) => {
                hasher.count(1);
                hasher.bytes(many.values());
            }
        }
        if let Some(weights) = self.weights() {
            hasher.bytes(Dataset::WEIGHTS_FOLLOW);
            hasher.floats(weights);
        }
        hasher.hex()
    }

    /// The same dataset under another name.
    #[must_use]
    pub fn renamed(self, name: impl Into<String>) -> Dataset {
        Dataset { name: name.into(), ..self }
    }

    /// The same dataset over other edges, as noise makes them. Edge columns, weights among them, belong to the old edges and are
    /// left behind: set those of the new ones.
    ///
    /// # Errors
    /// When the number of nodes differs.
    pub fn with_graph(self, graph: impl Into<Arc<Graph>>) -> Result<Dataset, GraphError> {
        let graph = graph.into();
        check_rows("features", self.features.rows(), graph.nodes())?;
        Ok(Dataset { graph, edge_columns: Vec::new(), ..self })
    }

    /// The same dataset with other features, as noise or preparation makes them. Names of features and the encoding stay
    /// when there are as many columns as before, because then they are taken to be the same columns; otherwise both are
    /// left behind.
    ///
    /// # Errors
    /// When the number of rows is not the number of nodes.
    pub fn with_features(self, features: impl Into<Arc<Features>>) -> Result<Dataset, GraphError> {
        let features = features.into();
        check_rows("features", features.rows(), self.graph.nodes())?;
        if features.cols() == self.features.cols() {
            return Ok(Dataset { features, ..self });
        }
        Ok(Dataset { features, feature_names: None, encoding: None, ..self })
    }

    /// The same dataset with other labels, as noise makes them.
    ///
    /// # Errors
    /// When they are for another number of nodes, or leave a node of a split without a class.
    pub fn with_labels(self, labels: impl Into<Arc<Labels>>) -> Result<Dataset, GraphError> {
        let labels = labels.into();
        check_rows("labels", labels.nodes(), self.graph.nodes())?;
        for split in &self.splits {
            check_split(split, &labels)?;
        }
        Ok(Dataset { labels, ..self })
    }

    /// The same dataset with other splits.
    ///
    /// # Errors
    /// As [`Dataset::new`].
    pub fn with_splits(self, splits: Vec<Split>) -> Result<Dataset, GraphError> {
        check_splits(&splits, &self.labels)?;
        Ok(Dataset { splits, ..self })
    }

    /// The same dataset with one more edge column, or with that column replaced.
    ///
    /// An edge whose [`WEIGHT`](Dataset::WEIGHT) is 0 is not there: it leaves the graph, which is then another one with other
    /// edge ids ([`Dropped::weightless`](crate::Dropped::weightless) counts). All columns follow.
    ///
    /// # Errors
    /// When there is not one value per edge, or a weight is negative, not a number or above
    /// [`MAX_EDGE_WEIGHT`](crate::MAX_EDGE_WEIGHT).
    pub fn with_edge_column(
        self,
        name: impl Into<String>,
        values: impl Into<Buffer<f32>>,
    ) -> Result<Dataset, GraphError> {
        self.with_edge_columns([(name.into(), values.into())])
    }

    /// The same with several columns, all by the edge ids of now.
    ///
    /// # Errors
    /// As [`Dataset::with_edge_column`].
    pub fn with_edge_columns(
        mut self,
        columns: impl IntoIterator<Item = (String, Buffer<f32>)>,
    ) -> Result<Dataset, GraphError> {
        let mut weightless = false;
        for (name, values) in columns {
            check_length("edge column", values.len(), self.graph.edges(), "one value per edge id")?;
            if name == Dataset::WEIGHT {
                self.check_weights(&values)?;
                weightless = values.contains(&0.0);
            }
            self.edge_columns.retain(|(own, _)| *own != name);
            self.edge_columns.push((name, Arc::new(values)));
        }
        Ok(if weightless { self.without_weightless() } else { self })
    }

    /// The same with columns that were taken from a correct dataset, as a file of our own keeps them: O(1), nothing is read.
    /// [`Dataset::check`] tells whether that holds.
    ///
    /// # Errors
    /// When there is not one value per edge.
    pub fn with_trusted_edge_columns(
        mut self,
        columns: impl IntoIterator<Item = (String, Buffer<f32>)>,
    ) -> Result<Dataset, GraphError> {
        for (name, values) in columns {
            check_length("edge column", values.len(), self.graph.edges(), "one value per edge id")?;
            self.edge_columns.retain(|(own, _)| *own != name);
            self.edge_columns.push((name, Arc::new(values)));
        }
        Ok(self)
    }

    /// Names the edge of the first weight that is none.
    pub(crate) fn check_weights(&self, weights: &[f32]) -> Result<(), GraphError> {
        let Some(edge) = weights.iter().position(|&weight| !is_weight(weight)) else { return Ok(()) };
        let name = |node: u32| match &self.node_names {
            Some(names) => names.get(node as usize).to_owned(),
            None => node.to_string(),
        };
        let target = self.graph.offsets().partition_point(|&start| start <= edge).saturating_sub(1);
        let (source_node, target_node) = (name(self.graph.sources()[edge]), name(target as u32));
        Err(GraphError::EdgeWeight { source_node, target_node, value: weights[edge] })
    }

    /// The same dataset without edges of weight 0.
    fn without_weightless(self) -> Dataset {
        let weights = self.edge_column(Dataset::WEIGHT).unwrap_or_default();
        let (graph, edge_of) = self.graph.without_weightless(weights);
        let of_kept = |(name, values): &(String, Arc<Buffer<f32>>)| {
            let kept: Vec<f32> = edge_of.iter().map(|&edge| values[edge as usize]).collect();
            (name.clone(), Arc::new(Buffer::from(kept)))
        };
        let edge_columns = self.edge_columns.iter().map(of_kept).collect();
        Dataset { edge_columns, graph: Arc::new(graph), ..self }
    }

    /// The same dataset with names for its nodes.
    ///
    /// # Errors
    /// When there is not one name per node.
    pub fn with_node_names(self, names: Names) -> Result<Dataset, GraphError> {
        check_length("node names", names.len(), self.graph.nodes(), "one name per node")?;
        Ok(Dataset { node_names: Some(Arc::new(names)), ..self })
    }

    /// The same dataset with names for its classes, or for its binary labels.
    ///
    /// # Errors
    /// When there is not one name per class.
    pub fn with_class_names(self, names: Names) -> Result<Dataset, GraphError> {
        check_length("class names", names.len(), self.labels.width(), "one name per class")?;
        Ok(Dataset { class_names: Some(Arc::new(names)), ..self })
    }

    /// The same dataset with names for the columns of its features.
    ///
    /// # Errors
    /// When there is not one name per column.
    pub fn with_feature_names(self, names: Names) -> Result<Dataset, GraphError> {
        check_length("feature names", names.len(), self.features.cols(), "one name per feature")?;
        Ok(Dataset { feature_names: Some(Arc::new(names)), ..self })
    }

    /// The same dataset with a word on how columns of a table became its features ([`encoding`](Dataset::encoding)).
    #[must_use]
    pub fn with_encoding(self, text: impl Into<Arc<str>>) -> Dataset {
        Dataset { encoding: Some(text.into()), ..self }
    }
}

pub(crate) fn check_splits(splits: &[Split], labels: &Labels) -> Result<(), GraphError> {
    for (position, split) in splits.iter().enumerate() {
        check_split(split, labels)?;
        if let Some(first) = splits[..position].iter().position(|earlier| earlier.name() == split.name()) {
            let value = split.name().to_owned();
            return Err(GraphError::RepeatedSplitName { first, position, value });
        }
    }
    Ok(())
}

fn check_rows(field: &'static str, found: usize, expected: usize) -> Result<(), GraphError> {
    if found == expected { Ok(()) } else { Err(GraphError::NodeCount { field, found, expected }) }
}

/// `labels` must already be known to have as many nodes as the graph.
fn check_split(split: &Split, labels: &Labels) -> Result<(), GraphError> {
    let (found, expected) = (split.nodes(), labels.nodes());
    if found != expected {
        return Err(GraphError::SplitNodeCount { split: split.name().to_owned(), found, expected });
    }
    for (field, ids) in split.sets() {
        if let Some(&value) = ids.iter().find(|&&node| !labels.is_labelled(node as usize)) {
            return Err(GraphError::UnlabelledNode { split: split.name().to_owned(), field, value });
        }
    }
    Ok(())
}
