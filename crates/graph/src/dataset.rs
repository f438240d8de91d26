use std::sync::Arc;

use crate::{Features, Graph, GraphError, Labels, Split};

/// A graph with features, labels and splits that fit it and each other. Its parts are shared: a clone, or a model that
/// trains on it, costs no memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    name: String,
    graph: Arc<Graph>,
    features: Arc<Features>,
    labels: Arc<Labels>,
    splits: Vec<Split>,
}

impl Dataset {
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
        for (position, split) in splits.iter().enumerate() {
            check_split(split, &labels)?;
            if let Some(first) = splits[..position].iter().position(|earlier| earlier.name() == split.name())
            {
                let value = split.name().to_owned();
                return Err(GraphError::RepeatedSplitName { first, position, value });
            }
        }
        Ok(Dataset { name: name.into(), graph, features, labels, splits })
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

    /// The same dataset over other edges, as noise makes them.
    ///
    /// # Errors
    /// When the number of nodes differs.
    pub fn with_graph(self, graph: impl Into<Arc<Graph>>) -> Result<Dataset, GraphError> {
        Dataset::new(self.name, graph, self.features, self.labels, self.splits)
    }

    /// The same dataset with other features, as preparation makes them.
    ///
    /// # Errors
    /// When the number of rows is not the number of nodes.
    pub fn with_features(self, features: impl Into<Arc<Features>>) -> Result<Dataset, GraphError> {
        Dataset::new(self.name, self.graph, features, self.labels, self.splits)
    }
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
