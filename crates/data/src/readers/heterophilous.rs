//! The npz files of "A critical look at the evaluation of GNNs under heterophily" (Platonov and others, 2023): WebKB, Actor
//! and the Wikipedia graphs with their ten Geom-GCN splits, Roman Empire, Amazon Ratings, Minesweeper, Tolokers, Questions.
//!
//! `node_features` (nodes × columns), `node_labels`, `edges` (pairs × 2), `train_masks`, `val_masks` and `test_masks`
//! (splits × nodes). As PyTorch Geometric's loader does it, edges are made symmetric; self-loops and repeats are dropped.
//! Values are kept as they are, and stored sparse when fewer than a quarter of them are not 0.

#[cfg(test)]
mod tests;

use std::io::{Read, Seek};
use std::path::Path;

use edgepace_graph::{Dataset, Graph, Labels, Split, Threads};

use super::npz::{Array, Npz};
use super::parts::{classes, compact, masked_split};
use crate::DataError;
use crate::error::graph_error;

/// Reads a file; the dataset gets the given name. Its splits are called `geom:0`, `geom:1` and so on.
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
    let labels = classes(&file, "node_labels", npz.ids("node_labels", &[None])?.values)?;
    let nodes = labels.nodes();

    let edges = npz.ids_below("edges", &[None, Some(2)], nodes, "nodes")?.values;
    let (a, b): (Vec<u32>, Vec<u32>) = edges.as_chunks::<2>().0.iter().map(|&[a, b]| (a, b)).unzip();
    let graph = Graph::undirected_on(threads, nodes, &a, &b).map_err(graph_error(&file))?;

    let values = npz.floats("node_features", &[Some(nodes), None])?;
    let features = compact(nodes, values.shape[1], values.values).map_err(graph_error(&file))?;
    // Files of one's own may leave them out, all together.
    let masks = ["train_masks", "val_masks", "test_masks"];
    let splits = if masks.iter().any(|key| npz.has(key)) { read_splits(npz, nodes)? } else { Vec::new() };
    Dataset::new(name, graph, features, Labels::from(labels), splits).map_err(graph_error(&file))
}

fn read_splits<R: Read + Seek>(npz: &mut Npz<R>, nodes: usize) -> Result<Vec<Split>, DataError> {
    let train = read_masks(npz, "train_masks", nodes)?;
    let validation = read_masks(npz, "val_masks", nodes)?;
    let test = read_masks(npz, "test_masks", nodes)?;
    let count = train.shape[0];
    for (key, masks) in [("val_masks", &validation), ("test_masks", &test)] {
        if masks.shape[0] != count {
            return Err(npz.wrong(
                key,
                format!("{count} splits, as in `train_masks`"),
                masks.shape[0].to_string(),
            ));
        }
    }
    let split = |split: usize| {
        let rows = split * nodes..(split + 1) * nodes;
        let masks = [&train, &validation, &test].map(|masks| &masks.values[rows.clone()]);
        masked_split(format!("geom:{split}"), nodes, masks)
    };
    (0..if nodes == 0 { 0 } else { count })
        .map(split)
        .collect::<Result<_, _>>()
        .map_err(graph_error(npz.file()))
}

/// Masks as splits × nodes; a file that has them the other way round is understood.
fn read_masks<R: Read + Seek>(npz: &mut Npz<R>, key: &str, nodes: usize) -> Result<Array<bool>, DataError> {
    let shape = npz.shape(key)?;
    if shape.len() != 2 || shape[1] == nodes || shape[0] != nodes {
        return npz.mask(key, &[None, Some(nodes)]);
    }
    let by_node = npz.mask(key, &[Some(nodes), None])?;
    let count = by_node.shape[1];
    let by_split = (0..count).flat_map(|split| (0..nodes).map(move |node| node * count + split));
    let values = by_split.map(|position| by_node.values[position]).collect();
    Ok(Array { shape: vec![count, nodes], values })
}
