//! The citation graphs of Planetoid (Yang, Cohen and Salakhutdinov, ICML 2016): Cora, Citeseer, Pubmed.
//!
//! A set is eight files `ind.SET.PART`, seven of them Python 2 pickles:
//!
//! | part | content |
//! | --- | --- |
//! | `allx`, `ally` | features (CSR) and one-hot classes of the nodes from 0 |
//! | `x`, `y` | the first of them, those to learn from |
//! | `test.index` | ids of the test nodes, one per line, in the order of `tx` |
//! | `tx`, `ty` | features and classes of the test nodes |
//! | `graph` | a dictionary from each node to the list of its neighbours |
//!
//! The result is that of PyTorch Geometric's `Planetoid`: self-loops and repeated edges are dropped, and nodes that
//! are neither in `allx` nor in `test.index` (15 of Citeseer) have no features and, for want of a label, class 0.
//! These nodes are in no set of the split `public`, and among the training nodes of the split `full`, from where the
//! published number of 1827 training nodes comes.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use edgepace_graph::{Classes, Dataset, Features, Graph, Labels, SparseFeatures, Split, Threads};

use super::pickle::{Matrix, Pickle};
use crate::DataError;
use crate::error::{Place, format_error, graph_error, io_error};

/// Number of validation nodes; they follow the training nodes.
const VALIDATION: usize = 500;
/// The label of a node that has none in the files, as PyTorch Geometric has it.
const CLASS_OF_UNKNOWN: u32 = 0;

/// A part of a set.
struct Part {
    file: PathBuf,
    bytes: Vec<u8>,
}

/// Reads the set `set` out of the files `ind.SET.*` in `folder`.
///
/// Splits: `public` (training: the nodes of `y`, validation: the next 500 of `allx`, test: `test.index`) and `full` (the same
/// validation and test nodes, training: all others, as FastGCN has it). Needs memory of a few times the largest file.
///
/// # Errors
/// A missing file, one that is not what its part must be, or files that do not fit each other.
pub(crate) fn read(threads: &Threads, folder: &Path, set: &str) -> Result<Dataset, DataError> {
    assemble(threads, set, |part| {
        let file = folder.join(format!("ind.{set}.{part}"));
        let bytes = fs::read(&file).map_err(io_error("read", &file))?;
        Ok(Part { file, bytes })
    })
}

/// As [`read`], from the parts themselves: `pieces` are their bytes in the order x, y, tx, ty, allx, ally, graph,
/// test.index.
pub(crate) fn from_pieces(pieces: [&[u8]; 8]) -> Result<Dataset, DataError> {
    const PARTS: [&str; 8] = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"];
    assemble(&Threads::one(), "pieces", |part| {
        let piece = PARTS.iter().position(|own| *own == part).map_or(&[][..], |position| pieces[position]);
        Ok(Part { file: format!("ind.pieces.{part}").into(), bytes: piece.to_vec() })
    })
}

fn assemble(
    threads: &Threads,
    set: &str,
    part: impl Fn(&str) -> Result<Part, DataError>,
) -> Result<Dataset, DataError> {
    let part_graph = part("graph")?;
    let adjacency = part_graph.pickle()?.adjacency()?;
    let nodes = adjacency.nodes;
    let graph = Graph::from_edges_on(threads, nodes, &adjacency.sources, &adjacency.targets)
        .map_err(graph_error(&part_graph.file))?;
    drop(adjacency);

    let part_all = part("allx")?;
    let all = part_all.features(None)?;
    if all.rows() > nodes {
        let expected = format!("at most {nodes} rows, the number of nodes in `graph`");
        return Err(format_error(&part_all.file, Place::Whole, expected, all.rows().to_string()));
    }
    drop(part_all);
    let tested = part("tx")?.features(Some(all.cols()))?;
    let test_nodes = part("test.index")?.test_nodes(all.rows()..nodes, tested.rows())?;
    let features = place_features(nodes, &all, &tested, &test_nodes)?;

    let learned = part("y")?.labels(None)?;
    let (train, width) = (learned.rows, Some(learned.cols));
    let (x, ally, ty) = (part("x")?, part("ally")?, part("ty")?);
    let of_all = ally.classes(ally.labels(width)?, all.rows(), "allx")?;
    let of_test = ty.classes(ty.labels(width)?, tested.rows(), "tx")?;
    let rows = x.features(Some(all.cols()))?.rows();
    if rows != train {
        let expected = format!("{train} rows, as many as `y`");
        return Err(format_error(&x.file, Place::Whole, expected, rows.to_string()));
    }
    let mut classes = vec![CLASS_OF_UNKNOWN; nodes];
    classes[..of_all.len()].copy_from_slice(&of_all);
    for (&node, &class) in test_nodes.iter().zip(&of_test) {
        classes[node as usize] = class;
    }
    let splits = splits(nodes, train, all.rows(), &test_nodes)?;
    let labels = Labels::from(Classes::new(learned.cols, classes)?);
    Ok(Dataset::new(set, graph, Features::from(features), labels, splits)?)
}

/// The rows of `all`, then those of `tested`, each at its node; other nodes have none.
fn place_features(
    nodes: usize,
    all: &SparseFeatures,
    tested: &SparseFeatures,
    test_nodes: &[u32],
) -> Result<SparseFeatures, DataError> {
    let mut row_of = vec![None; nodes - all.rows()];
    for (row, &node) in test_nodes.iter().enumerate() {
        row_of[node as usize - all.rows()] = Some(row);
    }
    let mut offsets = all.offsets().to_vec();
    let (mut columns, mut values) = (all.columns().to_vec(), all.values().to_vec());
    for row in row_of {
        if let Some(row) = row {
            let entries = tested.offsets()[row]..tested.offsets()[row + 1];
            columns.extend_from_slice(&tested.columns()[entries.clone()]);
            values.extend_from_slice(&tested.values()[entries]);
        }
        offsets.push(columns.len());
    }
    Ok(SparseFeatures::new(nodes, all.cols(), offsets, columns, values)?)
}

/// `described` is the number of nodes that `allx` describes, among which those of small sets end before there are 500.
fn splits(nodes: usize, train: usize, described: usize, test: &[u32]) -> Result<Vec<Split>, DataError> {
    let ids = |from: usize, to: usize| (from as u32..to as u32).collect::<Vec<u32>>();
    let validation = ids(train, described.min(train + VALIDATION));
    let public = Split::new("public", nodes, ids(0, train), validation.clone(), test.to_vec())?;
    let mut held_out = vec![false; nodes];
    for &node in validation.iter().chain(test) {
        held_out[node as usize] = true;
    }
    let rest = ids(0, nodes).into_iter().filter(|&node| !held_out[node as usize]).collect();
    let full = Split::new("full", nodes, rest, validation, test.to_vec())?;
    Ok(vec![public, full])
}

impl Part {
    fn pickle(&self) -> Result<Pickle<'_>, DataError> {
        Pickle::read(&self.file, &self.bytes)
    }

    fn features(&self, cols: Option<usize>) -> Result<SparseFeatures, DataError> {
        let features = self.pickle()?.sparse()?;
        self.check_width(features.cols(), cols.unwrap_or(features.cols()), "allx")?;
        Ok(features)
    }

    fn labels(&self, cols: Option<usize>) -> Result<Matrix, DataError> {
        let labels = self.pickle()?.matrix()?;
        self.check_width(labels.cols, cols.unwrap_or(labels.cols.max(1)), "y")?;
        Ok(labels)
    }

    fn check_width(&self, found: usize, expected: usize, other: &str) -> Result<(), DataError> {
        if found == expected {
            return Ok(());
        }
        let expected = format!("{expected} columns, as `{other}` has");
        Err(format_error(&self.file, Place::Whole, expected, found.to_string()))
    }

    /// The first largest entry of each row.
    fn classes(&self, labels: Matrix, rows: usize, other: &str) -> Result<Vec<u32>, DataError> {
        if labels.rows != rows {
            let expected = format!("{rows} rows, as many as `{other}`");
            return Err(format_error(&self.file, Place::Whole, expected, labels.rows.to_string()));
        }
        let class = |row: &[f64]| {
            (1..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best })
        };
        Ok(labels.values.chunks_exact(labels.cols).map(|row| class(row) as u32).collect())
    }

    /// One node per line, each within `range` and there once.
    fn test_nodes(&self, range: std::ops::Range<usize>, rows: usize) -> Result<Vec<u32>, DataError> {
        let mut seen = vec![false; range.len()];
        let mut nodes = Vec::new();
        for (line, text) in (1..).zip(self.bytes.split(|&byte| byte == b'\n')) {
            let text = text.trim_ascii();
            if text.is_empty() {
                continue;
            }
            let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<usize>().ok());
            let Some(node) = number.filter(|node| range.contains(node)) else {
                let expected = format!(
                    "a node from {} (rows of `allx`) to below {} (nodes of `graph`)",
                    range.start, range.end
                );
                let found: String =
                    String::from_utf8_lossy(&text[..text.len().min(40)]).escape_debug().collect();
                return Err(format_error(&self.file, Place::Line(line), expected, format!("`{found}`")));
            };
            if std::mem::replace(&mut seen[node - range.start], true) {
                let found = format!("node {node} again");
                return Err(format_error(&self.file, Place::Line(line), "each test node once", found));
            }
            nodes.push(node as u32);
        }
        if nodes.len() != rows {
            let expected = format!("{rows} nodes, one for each row of `tx`");
            return Err(format_error(&self.file, Place::Whole, expected, nodes.len().to_string()));
        }
        Ok(nodes)
    }
}
