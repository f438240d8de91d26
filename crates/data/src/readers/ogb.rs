//! Node-property sets of the Open Graph Benchmark (Hu and others, 2020) as its downloads unpack: ogbn-arxiv, ogbn-proteins.
//!
//! `raw/edge.csv.gz` has a pair of nodes per line, `raw/node-feat.csv.gz` a row of numbers per node, `raw/node-label.csv.gz`
//! a class per node or several 0/1 labels, `raw/num-node-list.csv.gz` and `raw/num-edge-list.csv.gz` the counts, and
//! `split/SCHEME/{train,valid,test}.csv.gz` a node per line. Edges are made symmetric; self-loops and repeats are dropped.
//!
//! Without `node-feat.csv.gz` a node's features are the mean of `edge-feat.csv.gz` over its edges in both directions, as
//! OGB's own examples prepare ogbn-proteins. Edge features are added up while they stream by and are never kept: 40 million
//! lines need no more memory than their edges.

mod csv;
#[cfg(test)]
mod tests;

use std::path::Path;

use edgepace_graph::{Dataset, Features, Graph, Split, Threads};

use self::csv::{EdgeMeans, count, ids, pairs};
pub(crate) use self::csv::{matrix, node_labels};
use super::parts::compact;
use super::text::{GzLines, Lines};
use crate::DataError;
use crate::error::{Place, format_error, graph_error, io_error};

/// The sets whose number of classes is known: a class beyond it is an error.
const CLASSES: [(&str, usize); 2] = [("arxiv", 40), ("products", 47)];

/// Reads a set from the folder that has `raw` and `split`; the dataset gets the given name, its splits that of their
/// scheme: `time` for ogbn-arxiv, `species` for ogbn-proteins.
pub(crate) fn read(threads: &Threads, folder: &Path, name: &str) -> Result<Dataset, DataError> {
    let raw = folder.join("raw");
    let open = |file: &str| GzLines::open_gz(&raw.join(file));
    // OGB itself writes both ogbn-arxiv and ogbn_arxiv.
    let short = name.trim_start_matches("ogbn").trim_start_matches(['-', '_']);
    let classes = CLASSES.iter().find(|(known, _)| *known == short).map(|&(_, classes)| classes);
    // One line per node: only then is the announced number of nodes used for anything.
    let nodes = count(open("num-node-list.csv.gz")?)?;
    let labels = node_labels(open("node-label.csv.gz")?, Some(nodes), classes)?;

    let edges = count(open("num-edge-list.csv.gz")?)?;
    let edge_lines = open("edge.csv.gz")?;
    let (a, b, features) = if raw.join("node-feat.csv.gz").exists() {
        let (a, b) = pairs(edge_lines, nodes, edges, |_, _| Ok(()))?;
        (a, b, node_features(open("node-feat.csv.gz")?, nodes)?)
    } else {
        let mut means = EdgeMeans::new(nodes, open("edge-feat.csv.gz")?);
        let (a, b) = pairs(edge_lines, nodes, edges, |from, to| means.add(from, to))?;
        (a, b, means.finish()?)
    };
    let graph =
        Graph::undirected_on(threads, nodes, &a, &b).map_err(graph_error(&raw.join("edge.csv.gz")))?;
    drop((a, b));
    let splits = read_splits(&folder.join("split"), nodes)?;
    Dataset::new(name, graph, features, labels, splits).map_err(graph_error(folder))
}

fn node_features<R: std::io::BufRead>(lines: Lines<R>, nodes: usize) -> Result<Features, DataError> {
    let file = lines.file().to_owned();
    let (cols, values) = matrix(lines, Some(nodes))?;
    compact(nodes, cols, values).map_err(graph_error(&file))
}

/// One split per folder, in the order of their names.
fn read_splits(folder: &Path, nodes: usize) -> Result<Vec<Split>, DataError> {
    let entries = std::fs::read_dir(folder).map_err(io_error("read", folder))?;
    let mut schemes = Vec::new();
    for entry in entries {
        let path = entry.map_err(io_error("read", folder))?.path();
        if path.join("train.csv.gz").exists() {
            schemes.push(path);
        }
    }
    if schemes.is_empty() {
        return Err(format_error(folder, Place::Whole, "a folder with train.csv.gz", "none")
            .with_help("fetch the set again"));
    }
    schemes.sort();
    let split = |scheme: std::path::PathBuf| {
        let set = |file: &str| ids(GzLines::open_gz(&scheme.join(file))?, nodes);
        let name = scheme.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (train, validation, test) = (set("train.csv.gz")?, set("valid.csv.gz")?, set("test.csv.gz")?);
        Split::new(name, nodes, train, validation, test).map_err(graph_error(&scheme))
    };
    schemes.into_iter().map(split).collect()
}
