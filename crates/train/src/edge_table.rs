//! What is known of each edge after a run, as a table: the most suspicious edges first, an undirected one once.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use edgepace_graph::{Dataset, Graph, Labels};
use edgepace_nn::argmax;
use serde::{Deserialize, Serialize};

use crate::audit::{Audit, Detection, EdgeScores};
use crate::error::TrainError;
use crate::snapshot::EdgeReport;
use crate::table_file::{Cells, Column, PIECE, TableFormat, write_table};

/// What is known of one edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeRow {
    /// The number of the node that it starts from.
    pub source: u32,
    /// The number of the node that it leads to.
    pub target: u32,
    /// The name of the source, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
    /// The name of the target, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    /// How suspicious, from 0 to 1.
    pub suspicion: f32,
    /// How hard the method found it: 0 easy, 1 hard.
    pub difficulty: f32,
    /// The epoch from which on it was trained on; none: never.
    pub first_epoch: Option<u32>,
    /// Its weight at the end, as the method has it.
    pub weight: f32,
    /// Its weight in the dataset, where edges have weights; `weight` multiplies it. Of an undirected edge that from `source` to
    /// `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_weight: Option<f32>,
    /// The predicted class of each end, by name where it has one; none where nodes have many labels.
    pub source_class: Option<String>,
    /// As `source_class`, of the target.
    pub target_class: Option<String>,
    /// How alike the features of its ends are.
    pub feature_similarity: f32,
    /// How far the neighbourhoods of its ends overlap.
    pub jaccard: f32,
    /// Whether noise added it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fake: Option<bool>,
}

/// Everything that can be said about the edges of a run.
pub struct EdgeTable<'a> {
    dataset: &'a Dataset,
    report: &'a EdgeReport,
    logits: &'a [f32],
    audit: &'a Audit,
    /// The id, source and target of each edge, the most suspicious first.
    edges: Vec<(usize, u32, u32)>,
}

impl<'a> EdgeTable<'a> {
    /// What the method says of each edge of the dataset, how suspicious it is, and what the logits of all nodes make of its
    /// ends.
    pub fn new(dataset: &'a Dataset, report: &'a EdgeReport, logits: &'a [f32], audit: &'a Audit) -> Self {
        let mut edges = listed(dataset.graph());
        edges.sort_by(|a, b| audit.suspicion[b.0].total_cmp(&audit.suspicion[a.0]));
        Self { dataset, report, logits, audit, edges }
    }

    /// One row per edge, the most suspicious first.
    pub fn rows(&self) -> impl Iterator<Item = EdgeRow> {
        self.edges.iter().map(|&edge| self.row(edge))
    }

    fn row(&self, (edge, source, target): (usize, u32, u32)) -> EdgeRow {
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
            suspicion: self.audit.suspicion[edge],
            difficulty: self.report.difficulty[edge],
            first_epoch: Some(self.report.first_epoch[edge]).filter(|&epoch| epoch != u32::MAX),
            weight: self.report.weight[edge],
            given_weight: self.dataset.edge_column(Dataset::WEIGHT).map(|weights| weights[edge]),
            source_class: class(source),
            target_class: class(target),
            feature_similarity: self.audit.feature_similarity[edge],
            jaccard: self.audit.jaccard[edge],
            fake: self.dataset.edge_column(Dataset::FAKE).map(|fake| fake[edge] != 0.0),
        }
    }

    /// Writes the table.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path, format: TableFormat) -> Result<(), TrainError> {
        let has = |column| self.dataset.edge_column(column).is_some();
        let optional = Optional {
            names: self.dataset.node_names().is_some(),
            weights: has(Dataset::WEIGHT),
            marks: has(Dataset::FAKE),
        };
        write(path, format, optional, self.rows().map(Ok))
    }
}

/// A table of edges that a run wrote as CSV: read row by row.
pub struct EdgeFile {
    csv: csv::Reader<BufReader<File>>,
    path: std::path::PathBuf,
    optional: Optional,
}

/// The columns that only some tables have.
#[derive(Clone, Copy)]
struct Optional {
    names: bool,
    weights: bool,
    marks: bool,
}

impl EdgeFile {
    /// Opens the table.
    ///
    /// # Errors
    /// A file that cannot be read, or is no table of edges of this version.
    pub fn open(path: &Path) -> Result<Self, TrainError> {
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        let mut csv = csv::Reader::from_reader(BufReader::new(file));
        let head = csv.headers().map_err(|error| unreadable(path, &error))?.clone();
        let has = |name: &str| head.iter().any(|column| column == name);
        let all = Optional { names: true, weights: true, marks: true };
        let expected = columns(all, &[]);
        let optional = ["source_name", "target_name", "given_weight", "fake"];
        let missing = |column: &&Column| !has(&column.name) && !optional.contains(&&column.name[..]);
        if let Some(column) = expected.iter().find(missing) {
            let cause =
                format!("it has no column `{}`: it is not a table of edges of this version", column.name);
            return Err(unreadable(path, &cause));
        }
        let optional =
            Optional { names: has("source_name"), weights: has("given_weight"), marks: has("fake") };
        Ok(Self { csv, path: path.to_owned(), optional })
    }

    /// All rows, the most suspicious first.
    ///
    /// # Errors
    /// A row that cannot be read.
    pub fn rows(mut self) -> Result<Vec<EdgeRow>, TrainError> {
        let path = self.path;
        let rows = self.csv.deserialize::<EdgeRow>();
        rows.map(|row| row.map_err(|error| unreadable(&path, &error))).collect()
    }

    /// The first rows, how well marked edges were found, and a copy of all of it where one is asked for: in one pass.
    ///
    /// # Errors
    /// A row that cannot be read, or a file that cannot be written.
    pub fn digest(
        mut self,
        top: usize,
        copy: Option<(&Path, TableFormat)>,
    ) -> Result<(Vec<EdgeRow>, Option<Detection>), TrainError> {
        let optional = self.optional;
        let (mut first, mut scores) = (Vec::new(), Vec::new());
        let path = self.path;
        let rows = self.csv.deserialize::<EdgeRow>().map(|row| {
            let row = row.map_err(|error| unreadable(&path, &error))?;
            if first.len() < top {
                first.push(row.clone());
            }
            if let Some(fake) = row.fake {
                let (suspicion, similarity, jaccard) = (row.suspicion, row.feature_similarity, row.jaccard);
                scores.push(EdgeScores { suspicion, similarity, jaccard, fake });
            }
            Ok(row)
        });
        match copy {
            Some((path, format)) => write(path, format, optional, rows)?,
            None => {
                for row in rows {
                    row?;
                }
            }
        }
        Ok((first, Detection::of(&scores)))
    }
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

fn write(
    path: &Path,
    format: TableFormat,
    optional: Optional,
    mut rows: impl Iterator<Item = Result<EdgeRow, TrainError>>,
) -> Result<(), TrainError> {
    let mut begun = false;
    let pieces = std::iter::from_fn(|| {
        let piece: Result<Vec<EdgeRow>, TrainError> = rows.by_ref().take(PIECE).collect();
        match piece {
            // A table without rows has a head all the same.
            Ok(piece) if piece.is_empty() && begun => None,
            piece => {
                begun = true;
                Some(piece.map(|piece| columns(optional, &piece)))
            }
        }
    });
    write_table(path, format, pieces)
}

fn columns(optional: Optional, rows: &[EdgeRow]) -> Vec<Column> {
    let ids = |of: fn(&EdgeRow) -> Option<u32>| Cells::Ids(rows.iter().map(of).collect());
    let numbers = |of: fn(&EdgeRow) -> f32| Cells::Numbers(rows.iter().map(|row| Some(of(row))).collect());
    let texts = |of: fn(&EdgeRow) -> &Option<String>| Cells::Texts(rows.iter().map(of).cloned().collect());
    let mut columns = vec![
        Column::new("source", ids(|row| Some(row.source))),
        Column::new("target", ids(|row| Some(row.target))),
    ];
    if optional.names {
        columns.push(Column::new("source_name", texts(|row| &row.source_name)));
        columns.push(Column::new("target_name", texts(|row| &row.target_name)));
    }
    columns.extend([
        Column::new("suspicion", numbers(|row| row.suspicion)),
        Column::new("difficulty", numbers(|row| row.difficulty)),
        Column::new("first_epoch", ids(|row| row.first_epoch)),
        Column::new("weight", numbers(|row| row.weight)),
    ]);
    if optional.weights {
        let given = rows.iter().map(|row| row.given_weight).collect();
        columns.push(Column::new("given_weight", Cells::Numbers(given)));
    }
    columns.extend([
        Column::new("source_class", texts(|row| &row.source_class)),
        Column::new("target_class", texts(|row| &row.target_class)),
        Column::new("feature_similarity", numbers(|row| row.feature_similarity)),
        Column::new("jaccard", numbers(|row| row.jaccard)),
    ]);
    if optional.marks {
        columns.push(Column::new("fake", Cells::Flags(rows.iter().map(|row| row.fake).collect())));
    }
    columns
}

fn unreadable(path: &Path, cause: &dyn std::fmt::Display) -> TrainError {
    TrainError::File { action: "cannot read", path: path.to_owned(), cause: cause.to_string() }
}

/// The name of a class, or its number.
pub fn class_name(dataset: &Dataset, class: usize) -> String {
    dataset.class_names().map_or_else(|| class.to_string(), |names| names.get(class).to_owned())
}
