//! What an import made of the files, column by column, and what the graph is.

use edgepace_graph::{Dataset, Graph, Labels, UNLABELLED};
use serde::{Deserialize, Serialize};

/// What a column is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It became features.
    Feature,
    /// The class of a node, or one of its binary labels.
    Label,
    /// What edges call a node.
    Id,
    /// Which set of a split a node is in.
    Split,
    /// How strong an edge is.
    Weight,
    /// A number of an edge that is kept beside it.
    Value,
    /// Where an edge starts.
    Source,
    /// Where an edge ends.
    Target,
    /// What to show a node as.
    Name,
    /// Nothing; the note says why.
    Dropped,
}

impl Role {
    /// In one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Feature => "feature",
            Role::Label => "label",
            Role::Id => "id",
            Role::Split => "split",
            Role::Weight => "weight",
            Role::Value => "value",
            Role::Source => "source",
            Role::Target => "target",
            Role::Name => "name",
            Role::Dropped => "dropped",
        }
    }
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers.
    Number,
    /// Text with few different values.
    Category,
    /// Dates, perhaps with a time.
    Date,
    /// Truth values.
    Boolean,
    /// Other text.
    Text,
    /// No value at all.
    Empty,
}

impl Kind {
    /// In one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Number => "number",
            Kind::Category => "category",
            Kind::Date => "date",
            Kind::Boolean => "boolean",
            Kind::Text => "text",
            Kind::Empty => "empty",
        }
    }
}

/// Which table a column is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TableOf {
    /// That of the nodes.
    Nodes,
    /// That of the edges.
    Edges,
}

/// The least or greatest value of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Bound {
    /// Of numbers.
    Number(f64),
    /// Of dates, as `2019-03-05`.
    Date(String),
}

/// What became of one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnReport {
    /// Which table it is of.
    pub table: TableOf,
    /// What the table calls it.
    pub name: String,
    /// What it is used for.
    pub role: Role,
    /// What its values are.
    pub kind: Kind,
    /// How many different values it has; `None` where they were not counted.
    pub distinct: Option<usize>,
    /// The share of the rows without a value, from 0 to 1.
    pub missing: f64,
    /// The least value.
    pub min: Option<Bound>,
    /// The greatest value.
    pub max: Option<Bound>,
    /// The features that it became, by name.
    pub features: Vec<String>,
    /// Why it was dropped, or how it was encoded; may be empty.
    pub note: String,
}

/// A class and how many nodes are of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// Its name, or its number.
    pub name: String,
    /// Number of its nodes; of many labels, how many nodes have this one.
    pub nodes: usize,
}

/// A graph in the numbers that tell whether an import went well.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphReport {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of directed edges: an undirected edge counts twice.
    pub edges: usize,
    /// Whether every edge has its reverse.
    pub undirected: bool,
    /// Columns of the features.
    pub features: usize,
    /// Nodes with a label.
    pub labelled: usize,
    /// Their share of all nodes, from 0 to 1.
    pub labelled_share: f64,
    /// All classes, in order.
    pub classes: Vec<ClassCount>,
    /// Nodes without any edge.
    pub isolated: usize,
    /// Edges of the files that repeat others, and were dropped.
    pub duplicates: usize,
    /// Edges of the files from a node to itself, which were dropped.
    pub self_loops: usize,
    /// Those repeats whose weight is another than that of the first, which counts.
    pub conflicting_weights: usize,
    /// Edges of weight 0, which are none.
    pub weightless: usize,
    /// Weakly connected components; an isolated node is one.
    pub components: usize,
    /// Nodes of the largest component.
    pub largest_component: usize,
}

impl GraphReport {
    /// Looks at the whole dataset: O(edges).
    pub fn of(dataset: &Dataset) -> GraphReport {
        let graph: &Graph = dataset.graph();
        let stats = graph.stats();
        let labels = dataset.labels();
        let mut counts = vec![0; labels.width()];
        let labelled = match &**labels {
            Labels::Classes(classes) => {
                for &class in classes.of().iter().filter(|&&class| class != UNLABELLED) {
                    counts[class as usize] += 1;
                }
                counts.iter().sum()
            }
            Labels::Many(many) => {
                for row in many.values().chunks_exact(many.width().max(1)) {
                    row.iter().zip(&mut counts).for_each(|(&label, count)| *count += usize::from(label));
                }
                many.nodes()
            }
        };
        let name = |class: usize| {
            dataset.class_names().map_or_else(|| class.to_string(), |names| names.get(class).to_owned())
        };
        let classes = counts.iter().enumerate();
        GraphReport {
            nodes: stats.nodes,
            edges: stats.edges,
            undirected: stats.undirected,
            features: dataset.features().cols(),
            labelled,
            labelled_share: labelled as f64 / stats.nodes.max(1) as f64,
            classes: classes.map(|(class, &nodes)| ClassCount { name: name(class), nodes }).collect(),
            isolated: stats.isolated,
            duplicates: stats.dropped.duplicates,
            self_loops: stats.dropped.loops,
            conflicting_weights: stats.dropped.conflicting,
            weightless: stats.dropped.weightless,
            components: stats.components,
            largest_component: stats.largest_component,
        }
    }
}
