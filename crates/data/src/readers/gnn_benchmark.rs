//! The npz files of gnn-benchmark: Amazon Photo and Computers, Coauthor CS and Physics.
//!
//! Shchur and others, "Pitfalls of Graph Neural Network Evaluation", 2018. Adjacency and attributes are CSR matrices
//! (`adj_data`, `adj_indices`, `adj_indptr`, `adj_shape`, `attr_…`; `adj_matrix.data` and so on in older files), `labels`
//! has one class per node, `node_names` and `class_names` may be there.
//!
//! As PyTorch Geometric's loader does it: the stored pattern of the adjacency matrix gives the edges, which are made
//! symmetric and lose self-loops and repeats; attributes above 0 become 1. There are no splits inside. Files of one's own may
//! have no labels or no attributes; entries of the adjacency matrix that are not all 1 become the edge column `weight`.

#[cfg(test)]
mod tests;

use std::io::{Read, Seek};
use std::path::Path;

use edgepace_graph::{Classes, Dataset, DenseFeatures, Graph, Threads, UNLABELLED, check_edge_values};

use super::npz::{Compressed, Npz};
use super::parts::classes;
use crate::DataError;
use crate::error::graph_error;

/// The names by which files of different ages call the parts of a matrix.
const ADJACENCY: [&str; 2] = ["adj_", "adj_matrix."];
const ATTRIBUTES: [&str; 2] = ["attr_", "attr_matrix."];

/// Reads a file; the dataset gets the given name.
pub(crate) fn read(threads: &Threads, file: &Path, name: &str) -> Result<Dataset, DataError> {
    read_from(threads, &mut Npz::open(file)?, name)
}

/// As [`read`], of a file that is open.
pub(crate) fn read_from<R: Read + Seek>(
    threads: &Threads,
    npz: &mut Npz<R>,
    name: &str,
) -> Result<Dataset, DataError> {
    let file = npz.file().to_owned();
    let prefix = prefix(npz, ADJACENCY);
    let shape = format!("{prefix}shape");
    let labels = if npz.has("labels") {
        classes(&file, "labels", npz.ids("labels", &[None])?.values)?
    } else {
        // One row per node; the offsets are there, byte for byte.
        let rows = npz.shape(&format!("{prefix}indptr"))?.first().map_or(0, |rows| rows.saturating_sub(1));
        Classes::new(0, vec![UNLABELLED; rows]).map_err(graph_error(&file))?
    };
    let nodes = labels.nodes();
    let sides = npz.counts(&shape, &[Some(2)])?.values;
    if sides != [nodes, nodes] {
        return Err(npz.wrong(
            &shape,
            format!("[{nodes}, {nodes}], the number of labels"),
            format!("{sides:?}"),
        ));
    }
    let (graph, weights) = read_adjacency(threads, npz, prefix, nodes)?;
    let features = if npz.has(&format!("{}indptr", self::prefix(npz, ATTRIBUTES))) {
        read_attributes(npz, nodes)?
    } else {
        DenseFeatures::new(nodes, 0, Vec::new()).map_err(graph_error(&file))?.into()
    };
    let (node_names, class_names) =
        (npz.strings("node_names", &[Some(nodes)])?, npz.strings("class_names", &[Some(labels.width())])?);
    let labels = edgepace_graph::Labels::from(labels);
    let mut dataset = Dataset::new(name, graph, features, labels, Vec::new()).map_err(graph_error(&file))?;
    if let Some(weights) = weights {
        dataset = dataset.with_edge_column(Dataset::WEIGHT, weights).map_err(graph_error(&file))?;
    }
    if let Some(names) = node_names {
        dataset = dataset.with_node_names(names).map_err(graph_error(&file))?;
    }
    if let Some(names) = class_names {
        dataset = dataset.with_class_names(names).map_err(graph_error(&file))?;
    }
    Ok(dataset)
}

/// The graph and, where one is not 1, the weights of its edges.
fn read_adjacency<R: Read + Seek>(
    threads: &Threads,
    npz: &mut Npz<R>,
    prefix: &str,
    nodes: usize,
) -> Result<(Graph, Option<Vec<f32>>), DataError> {
    let adjacency = Compressed::read(npz, prefix, nodes, nodes)?;
    let (sources, targets) = (adjacency.lines(), adjacency.indices);
    let data = format!("{prefix}data");
    let weights = if npz.has(&data) { npz.floats(&data, &[Some(targets.len())])?.values } else { Vec::new() };
    if weights.iter().all(|&weight| weight == 1.0) {
        let graph = Graph::undirected_on(threads, nodes, &sources, &targets);
        return Ok((graph.map_err(graph_error(npz.file()))?, None));
    }
    let traced = Graph::undirected_traced_on(threads, nodes, &sources, &targets);
    let traced = traced.map_err(graph_error(npz.file()))?;
    check_edge_values(threads, Dataset::WEIGHT, &weights).map_err(graph_error(npz.file()))?;
    let weights = traced.carry(&weights).map_err(graph_error(npz.file()))?;
    Ok((traced.into_graph(), Some(weights)))
}

fn read_attributes<R: Read + Seek>(
    npz: &mut Npz<R>,
    nodes: usize,
) -> Result<edgepace_graph::Features, DataError> {
    let prefix = prefix(npz, ATTRIBUTES);
    let (shape, data) = (format!("{prefix}shape"), format!("{prefix}data"));
    let sides = npz.counts(&shape, &[Some(2)])?.values;
    if sides[0] != nodes {
        return Err(npz.wrong(&shape, format!("{nodes} rows, the number of labels"), sides[0].to_string()));
    }
    let attributes = Compressed::read(npz, prefix, nodes, sides[1])?;
    let values = npz.floats(&data, &[Some(attributes.indices.len())])?.values;
    let binary = |value: f32| if value > 0.0 { 1.0 } else { value };
    attributes.features(npz.file(), sides[1], &values, binary).map(Into::into)
}

/// The prefix that the file uses; the first when it uses none, so that the message names it.
fn prefix<R: Read + Seek>(npz: &Npz<R>, known: [&'static str; 2]) -> &'static str {
    known.into_iter().find(|prefix| npz.has(&format!("{prefix}indptr"))).unwrap_or(known[0])
}
