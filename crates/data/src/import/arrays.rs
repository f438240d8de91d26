//! A dataset as arrays in an npz file, or an adjacency matrix of SciPy.
//!
//! | array | |
//! | --- | --- |
//! | `edge_index` or `edges` | 2 × E or E × 2: sources and targets |
//! | `edge_weight`, `edge_NAME` | E numbers each |
//! | `x`, `features` or `node_features` | N × F numbers; or sparse by rows: `x_shape`, `x_indptr`, `x_indices`, `x_data` |
//! | `y`, `labels` or `node_labels` | N classes, negative or NaN where there is none; or N × L of 0 and 1 |
//! | `train_mask`, `val_mask`, `test_mask` | N, or N × S for several splits, of 0 and 1 |
//! | `classes`, `directed`, `split_names`, `node_names`, `class_names`, `feature_names`, `encoding` | what the others leave open |

use std::io::{Read, Seek};
use std::path::Path;

use edgepace_graph::{Classes, Dataset, Labels, ManyLabels, Names, Split, Threads, UNLABELLED};

use super::{Import, features, graph, stem, unlabelled};
use crate::DataError;
use crate::error::{Place, format_error, graph_error, io_error};
use crate::readers::npz::Npz;

/// The names of arrays that are written and read.
pub(crate) struct Keys {
    pub(crate) edges: &'static str,
    pub(crate) edge_prefix: &'static str,
    pub(crate) features: &'static str,
    pub(crate) labels: &'static str,
    pub(crate) masks: [&'static str; 3],
    pub(crate) classes: &'static str,
    pub(crate) directed: &'static str,
    pub(crate) split_names: &'static str,
    pub(crate) node_names: &'static str,
    pub(crate) class_names: &'static str,
    pub(crate) feature_names: &'static str,
    pub(crate) encoding: &'static str,
}

pub(crate) const KEYS: Keys = Keys {
    edges: "edge_index",
    edge_prefix: "edge_",
    features: "x",
    labels: "y",
    masks: ["train_mask", "val_mask", "test_mask"],
    classes: "classes",
    directed: "directed",
    split_names: "split_names",
    node_names: "node_names",
    class_names: "class_names",
    feature_names: "feature_names",
    encoding: "encoding",
};

/// Without features and labels the largest node of an edge says how many nodes there are: at most this many per end of
/// an edge, so that one wrong number does not make a graph of billions.
const NODES_PER_END: usize = 64;

pub(crate) fn read(threads: &Threads, file: &Path, request: &Import) -> Result<Dataset, DataError> {
    let size = std::fs::metadata(file).map_err(io_error("read", file))?.len();
    read_npz(threads, &mut Npz::open(file)?, size, request)
}

/// A file that is already in memory.
pub(crate) fn read_bytes(file: &Path, bytes: &[u8]) -> Result<Dataset, DataError> {
    read_npz(&Threads::one(), &mut Npz::from_bytes(file, bytes)?, bytes.len() as u64, &Import::file(file))
}

fn read_npz<R: Read + Seek>(
    threads: &Threads,
    npz: &mut Npz<R>,
    size: u64,
    request: &Import,
) -> Result<Dataset, DataError> {
    let name = request.name.clone().unwrap_or_else(|| stem(npz.file()));
    if npz.has("format") && npz.has("shape") {
        return adjacency(threads, npz, size, name, request);
    }
    let first = |npz: &Npz<R>, keys: &[&'static str]| keys.iter().copied().find(|key| npz.has(key));
    let Some(key) = first(npz, &[KEYS.edges, "edges"]) else {
        let expected = "a graph: `edge_index` or `edges` (2 × E or E × 2), `adj_indptr`, `adj_indices`, `adj_data` and \
             `adj_shape`, or a square sparse matrix as scipy.sparse.save_npz writes it";
        let (file, found) = (npz.file().to_owned(), npz.summary());
        return Err(format_error(&file, Place::Whole, expected, found).with_help(
            "save the edges under one of these names; features may be `x` or `features`, labels `y` or `labels`; \
             for a file that only ends in .npz, `--edges-format` says what it is",
        ));
    };
    let (sources, targets) = ends(npz, key)?;
    let sparse = format!("{}_", KEYS.features);
    let features = if npz.has(&format!("{sparse}indptr")) {
        Some(features::sparse(npz, &sparse, size)?)
    } else {
        first(npz, &[KEYS.features, "features", "node_features"])
            .map(|key| features::dense(npz, key, size))
            .transpose()?
    };
    let labels =
        first(npz, &[KEYS.labels, "labels", "node_labels"]).map(|key| labels(npz, key)).transpose()?;
    let largest = sources.iter().chain(&targets).max().map_or(0, |&id| id as usize + 1);
    let known = features.as_ref().map(edgepace_graph::Features::rows).or(labels.as_ref().map(Labels::nodes));
    let nodes = match known {
        Some(nodes) => nodes,
        None if largest <= NODES_PER_END * (sources.len() + targets.len()) => largest,
        None => {
            let expected = "numbers of nodes that count from 0 without large gaps";
            return Err(npz.wrong(key, expected, format!("a node {}", largest - 1)));
        }
    };
    let directed = match request.directed {
        Some(directed) => directed,
        None if npz.has(KEYS.directed) => npz.mask(KEYS.directed, &[])?.values[0],
        None => false,
    };
    let mut columns = Vec::new();
    let mut keys: Vec<String> = npz.names();
    keys.sort();
    for key in keys.iter().filter(|key| *key != KEYS.edges) {
        let Some(column) = key.strip_prefix(KEYS.edge_prefix) else { continue };
        if npz.shape(key)? == [sources.len()] {
            columns.push((column.to_owned(), npz.floats(key, &[None])?.values));
        }
    }
    let wrong = |npz: &Npz<R>, error| graph_error(npz.file())(error);
    let (graph, columns) =
        graph(threads, nodes, &sources, &targets, directed, columns).map_err(|error| wrong(npz, error))?;
    let features = features.map_or_else(|| features::no_features(&graph), Ok)?;
    let labels = labels.map_or_else(|| unlabelled(&graph).map(Labels::from), Ok)?;
    let splits = splits(npz, nodes)?;
    let mut dataset =
        Dataset::new(name, graph, features, labels, splits).map_err(|error| wrong(npz, error))?;
    let columns = columns.into_iter().map(|(name, values)| (name, values.into()));
    dataset = dataset.with_edge_columns(columns).map_err(|error| wrong(npz, error))?;
    if let Some(names) = npz.strings(KEYS.node_names, &[Some(nodes)])? {
        dataset = dataset.with_node_names(names)?;
    }
    if let Some(names) = npz.strings(KEYS.class_names, &[Some(dataset.labels().width())])? {
        dataset = dataset.with_class_names(names)?;
    }
    if let Some(names) = npz.strings(KEYS.feature_names, &[Some(dataset.features().cols())])? {
        dataset = dataset.with_feature_names(names)?;
    }
    if let Some(text) = npz.strings(KEYS.encoding, &[Some(1)])? {
        dataset = dataset.with_encoding(text.get(0));
    }
    Ok(dataset)
}

/// Sources and targets, from 2 × E or E × 2. What could be both is 2 × E.
fn ends<R: Read + Seek>(npz: &mut Npz<R>, key: &str) -> Result<(Vec<u32>, Vec<u32>), DataError> {
    let array = npz.ids(key, &[None, None])?;
    match array.shape[..] {
        [2, edges] => {
            let mut sources = array.values;
            let targets = sources.split_off(edges);
            Ok((sources, targets))
        }
        [_, 2] => Ok(array.values.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip()),
        _ => Err(npz.wrong(key, "shape [2, E] or [E, 2]", format!("{:?}", array.shape))),
    }
}

fn labels<R: Read + Seek>(npz: &mut Npz<R>, key: &str) -> Result<Labels, DataError> {
    let shape = npz.shape(key)?;
    if let [nodes, width] = shape[..] {
        let values = npz.mask(key, &[None, None])?.values;
        if width == 0 && nodes > 0 {
            return Err(npz.wrong(key, "at least one label", "none"));
        }
        let values = values.into_iter().map(u8::from).collect();
        return ManyLabels::new(nodes, width, values).map(Labels::from).map_err(graph_error(npz.file()));
    }
    // Small whole numbers are exact as `f32`, and NaN marks a missing one in a column of floats.
    let values = npz.floats(key, &[None])?.values;
    let mut of = Vec::with_capacity(values.len());
    for (node, &value) in values.iter().enumerate() {
        of.push(if value.is_nan() || value < 0.0 {
            UNLABELLED
        } else if value.fract() == 0.0 && value < 16_777_216.0 {
            value as u32
        } else {
            let place = Place::Entry(key.to_owned(), node as u64);
            return Err(format_error(
                npz.file(),
                place,
                "a class (a whole number) or a negative one",
                value.to_string(),
            ));
        });
    }
    let most = of.iter().filter(|&&class| class != UNLABELLED).max().map_or(0, |&class| class as usize + 1);
    let classes = if npz.has(KEYS.classes) { npz.counts(KEYS.classes, &[])?.values[0] } else { most };
    // More classes than labels can name make a model of any size.
    if classes > most.max(of.len()) + 65_536 {
        return Err(npz.wrong(KEYS.classes, "a plausible number of classes", classes.to_string()));
    }
    Classes::new(classes, of).map(Labels::from).map_err(graph_error(npz.file()))
}

fn splits<R: Read + Seek>(npz: &mut Npz<R>, nodes: usize) -> Result<Vec<Split>, DataError> {
    if !npz.has(KEYS.masks[0]) {
        return Ok(Vec::new());
    }
    let shape = npz.shape(KEYS.masks[0])?;
    let (dims, count) = match shape[..] {
        [_] => (vec![Some(nodes)], 1),
        [_, count] => (vec![Some(nodes), Some(count)], count),
        _ => return Err(npz.wrong(KEYS.masks[0], "shape [N] or [N, S]", format!("{shape:?}"))),
    };
    let mut sets = vec![<[Vec<u32>; 3]>::default(); if nodes == 0 { 0 } else { count }];
    for (set, key) in KEYS.masks.into_iter().enumerate().filter(|(_, key)| npz.has(key)).collect::<Vec<_>>() {
        let mask = npz.mask(key, &dims)?.values;
        for (position, _) in mask.iter().enumerate().filter(|(_, inside)| **inside) {
            sets[position % count][set].push((position / count) as u32);
        }
    }
    let names: Option<Names> = npz.strings(KEYS.split_names, &[Some(sets.len())])?;
    let mut splits = Vec::new();
    for (position, [train, validation, test]) in sets.into_iter().enumerate() {
        let name = match &names {
            Some(names) => names.get(position).to_owned(),
            None if count == 1 => "split".to_owned(),
            None => position.to_string(),
        };
        splits.push(Split::new(name, nodes, train, validation, test).map_err(graph_error(npz.file()))?);
    }
    Ok(splits)
}

/// A square sparse matrix of SciPy: an entry in row i and column j is the edge i → j with that weight.
fn adjacency<R: Read + Seek>(
    threads: &Threads,
    npz: &mut Npz<R>,
    size: u64,
    name: String,
    request: &Import,
) -> Result<Dataset, DataError> {
    let shape = npz.counts("shape", &[Some(2)])?.values;
    if shape[0] != shape[1] {
        return Err(npz
            .wrong("shape", "a square matrix, the adjacency of the graph", format!("{shape:?}"))
            .with_help("features go with `--features`, beside the edges"));
    }
    let weights = npz.floats("data", &[None])?.values;
    let format = npz.strings("format", &[])?;
    let format = format.as_ref().map_or("", |format| format.get(0)).to_owned();
    let (sources, targets) = match &format[..] {
        "csr" | "csc" => {
            let offsets = npz.counts("indptr", &[shape[0].checked_add(1)])?.values;
            let inner = npz.ids("indices", &[Some(weights.len())])?.values;
            let running =
                offsets.is_sorted() && offsets.first() == Some(&0) && offsets.last() == Some(&inner.len());
            if !running {
                return Err(npz.wrong(
                    "indptr",
                    "running totals from 0 to the number of entries",
                    "other numbers",
                ));
            }
            let mut outer = Vec::with_capacity(inner.len());
            for (line, pair) in (0..).zip(offsets.windows(2)) {
                outer.resize(pair[1], line);
            }
            if format == "csr" { (outer, inner) } else { (inner, outer) }
        }
        "coo" => {
            if shape[0] as u64 > size.saturating_mul(NODES_PER_END as u64) {
                let expected = "as many nodes as the size of the file can account for";
                return Err(npz.wrong("shape", expected, shape[0].to_string()));
            }
            let entries = [Some(weights.len())];
            (npz.ids("row", &entries)?.values, npz.ids("col", &entries)?.values)
        }
        other => {
            return Err(npz.wrong("format", "csr, csc or coo", crate::error::excerpt(other.as_bytes())));
        }
    };
    let plain = weights.iter().all(|&weight| weight == 1.0);
    let columns = if plain { Vec::new() } else { vec![(Dataset::WEIGHT.to_owned(), weights)] };
    let directed = request.directed.unwrap_or(false);
    let (graph, columns) =
        graph(threads, shape[0], &sources, &targets, directed, columns).map_err(graph_error(npz.file()))?;
    let (features, labels) = (features::no_features(&graph)?, Labels::from(unlabelled(&graph)?));
    let dataset = Dataset::new(name, graph, features, labels, Vec::new())?;
    let columns = columns.into_iter().map(|(name, values)| (name, values.into()));
    dataset.with_edge_columns(columns).map_err(graph_error(npz.file()))
}
