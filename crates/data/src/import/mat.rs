//! A graph as MATLAB saves it: an adjacency matrix, perhaps with features and labels.
//!
//! The variables go by the names that are usual: see [`ADJACENCY`], [`FEATURES`] and [`LABELS`]. An entry in row i and column
//! j is the edge i → j. Labels are one number per node, or a matrix of 0 and 1: one class per node where each row has at
//! most a single 1, otherwise many labels.

use std::path::Path;

use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Labels, ManyLabels, Names, Threads, UNLABELLED,
};

use super::{EdgeValues, Import, graph, stem, unlabelled};
use crate::DataError;
use crate::error::{Place, format_error, graph_error};
use crate::expansion;
use crate::readers::mat::{Dense, Mat, Sparse, Value};
use crate::readers::npz::Compressed;
use crate::readers::parts::compact;

const ADJACENCY: [&str; 9] =
    ["network", "adjacency", "adj", "adj_matrix", "A", "Problem.A", "graph", "net", "W"];
const FEATURES: [&str; 9] =
    ["attributes", "attribute", "attr", "attrb", "features", "feature", "fea", "node_features", "X"];
const LABELS: [&str; 8] = ["labels", "label", "group", "gnd", "class", "classes", "target", "y"];

pub(crate) fn read(threads: &Threads, file: &Path, request: &Import) -> Result<Dataset, DataError> {
    of_mat(threads, &Mat::open(file)?, request)
}

/// A file that is already in memory.
pub(crate) fn read_bytes(file: &Path, bytes: &[u8]) -> Result<Dataset, DataError> {
    of_mat(&Threads::one(), &Mat::from_bytes(file, bytes)?, &Import::file(file))
}

fn of_mat(threads: &Threads, mat: &Mat, request: &Import) -> Result<Dataset, DataError> {
    let (name, matrix) = adjacency(mat)?;
    let (nodes, sources, targets, weights) = match matrix {
        Value::Sparse(sparse) => entries(sparse),
        Value::Dense(dense) => entries_of_dense(dense),
        Value::Other(kind) => return Err(mat.wrong(name, "a square matrix of numbers", *kind)),
    };
    let plain = weights.iter().all(|&weight| weight == 1.0);
    let columns: EdgeValues = if plain { Vec::new() } else { vec![(Dataset::WEIGHT.to_owned(), weights)] };
    let directed = request.directed.unwrap_or(false);
    let (graph, columns) =
        graph(threads, nodes, &sources, &targets, directed, columns).map_err(graph_error(mat.file()))?;
    let features = match mat.find(&FEATURES) {
        Some((name, value)) => features(mat, name, value, nodes)?,
        None => DenseFeatures::new(nodes, 0, Vec::new()).map_err(graph_error(mat.file()))?.into(),
    };
    let (labels, class_names) = match mat.find(&LABELS) {
        Some((name, value)) => labels(mat, name, value, nodes)?,
        None => (unlabelled(&graph)?.into(), None),
    };
    let title = request.name.clone().unwrap_or_else(|| stem(mat.file()));
    let mut dataset =
        Dataset::new(title, graph, features, labels, Vec::new()).map_err(graph_error(mat.file()))?;
    if let Some(names) = class_names {
        dataset = dataset.with_class_names(names)?;
    }
    for (name, values) in columns {
        dataset = dataset.with_edge_column(name, values)?;
    }
    Ok(dataset)
}

/// The adjacency matrix: by its name, or the only square sparse matrix of the file.
fn adjacency(mat: &Mat) -> Result<(&str, &Value), DataError> {
    let square = |value: &Value| value.sides().is_some_and(|[rows, cols]| rows == cols);
    if let Some((name, value)) = mat.find(&ADJACENCY) {
        if square(value) {
            return Ok((name, value));
        }
        return Err(mat.wrong(name, "a square matrix, the adjacency of the graph", value.summary()));
    }
    let mut sparse =
        mat.variables.iter().filter(|(_, value)| matches!(value, Value::Sparse(_)) && square(value));
    if let (Some((name, value)), None) = (sparse.next(), sparse.next()) {
        return Ok((name, value));
    }
    let expected = format!("a square matrix `{}`, the adjacency of the graph", ADJACENCY.join("`, `"));
    Err(format_error(mat.file(), Place::Whole, expected, mat.summary()).with_help(
        "save it under one of these names; features may be `features` or `attributes`, labels `labels` or `group`",
    ))
}

type Entries = (usize, Vec<u32>, Vec<u32>, Vec<f32>);

fn entries(sparse: &Sparse) -> Entries {
    let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for ((&row, column), &value) in sparse.row_of.iter().zip(sparse.column_of()).zip(&sparse.values) {
        if value != 0.0 {
            sources.push(row);
            targets.push(column);
            weights.push(value);
        }
    }
    (sparse.rows, sources, targets, weights)
}

fn entries_of_dense(dense: &Dense) -> Entries {
    let rows = dense.shape[0];
    let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (position, &value) in dense.values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        sources.push((position % rows) as u32);
        targets.push((position / rows) as u32);
        weights.push(value);
    }
    (rows, sources, targets, weights)
}

fn features(mat: &Mat, name: &str, value: &Value, nodes: usize) -> Result<Features, DataError> {
    check_rows(mat, name, value, nodes)?;
    match value {
        Value::Sparse(sparse) => {
            let (pattern, values) =
                Compressed::from_triples(nodes, &sparse.row_of, &sparse.column_of(), &sparse.values);
            pattern.features(mat.file(), sparse.cols(), &values, |value| value).map(Features::from)
        }
        Value::Dense(dense) => {
            let cols = dense.shape[1];
            let by_row = (0..nodes).flat_map(|row| (0..cols).map(move |column| column * nodes + row));
            let values = by_row.map(|position| dense.values[position]).collect();
            compact(nodes, cols, values).map_err(graph_error(mat.file()))
        }
        Value::Other(kind) => Err(mat.wrong(name, "a matrix with one row of features per node", *kind)),
    }
}

fn check_rows(mat: &Mat, name: &str, value: &Value, nodes: usize) -> Result<(), DataError> {
    match value.sides() {
        Some([rows, _]) if rows == nodes => Ok(()),
        _ => Err(mat.wrong(name, format!("a matrix with {nodes} rows, one per node"), value.summary())),
    }
}

fn labels(mat: &Mat, name: &str, value: &Value, nodes: usize) -> Result<(Labels, Option<Names>), DataError> {
    if let Value::Dense(dense) = value
        && dense.values.len() == nodes
        && dense.shape.iter().filter(|&&size| size != 1).count() <= 1
    {
        return classes(mat, name, &dense.values);
    }
    check_rows(mat, name, value, nodes)?;
    let (cells, width): (Vec<(u32, u32, f32)>, usize) = match value {
        Value::Sparse(sparse) => {
            let cells = sparse.row_of.iter().zip(sparse.column_of()).zip(&sparse.values);
            (cells.map(|((&row, column), &value)| (row, column, value)).collect(), sparse.cols())
        }
        Value::Dense(dense) => {
            let cells = dense.values.iter().enumerate();
            let cell = |(at, &value): (usize, &f32)| ((at % nodes) as u32, (at / nodes) as u32, value);
            (cells.map(cell).collect(), dense.shape[1])
        }
        Value::Other(kind) => return Err(mat.wrong(name, "numbers", *kind)),
    };
    let cells = cells.into_iter().filter(|&(_, _, value)| value != 0.0);
    let cells: Vec<(u32, u32, f32)> = cells.collect();
    if let Some(&(_, _, value)) = cells.iter().find(|&&(_, _, value)| value != 1.0) {
        let expected = "one number per node, or a matrix of 0 and 1 with one column per class";
        return Err(mat.wrong(name, expected, format!("{}, with {value} in it", self::summary(mat, name))));
    }
    let mut of = vec![UNLABELLED; nodes];
    let mut single = true;
    for &(row, column, _) in &cells {
        single &= of[row as usize] == UNLABELLED;
        of[row as usize] = column;
    }
    if single {
        let labels = Classes::new(width, of).map_err(graph_error(mat.file()))?;
        return Ok((labels.into(), None));
    }
    // A sparse matrix says little about how much memory a dense one takes.
    let size = nodes.saturating_mul(width);
    if size as u64 > expansion::limit(mat.size) {
        return Err(expansion::refusal(mat.file(), Place::Part(name.to_owned()), mat.size));
    }
    let mut values = vec![0; size];
    for (row, column, _) in cells {
        values[row as usize * width + column as usize] = 1;
    }
    let labels = ManyLabels::new(nodes, width, values).map_err(graph_error(mat.file()))?;
    Ok((labels.into(), None))
}

fn summary(mat: &Mat, name: &str) -> String {
    mat.variables.iter().find(|(own, _)| own == name).map_or_else(String::new, |(_, value)| value.summary())
}

/// One number per node: whole numbers keep their order and, unless they count from 0, their names. NaN, and negative
/// numbers beside others than 1, mean that there is none.
fn classes(mat: &Mat, name: &str, values: &[f32]) -> Result<(Labels, Option<Names>), DataError> {
    let signs = values.iter().all(|&value| value == 1.0 || value == -1.0);
    let known = |value: f32| !value.is_nan() && (value >= 0.0 || signs);
    if let Some(&value) =
        values.iter().find(|&&value| known(value) && (value.fract() != 0.0 || value.abs() >= 16_777_216.0))
    {
        return Err(mat.wrong(name, "whole numbers, the classes of the nodes", value.to_string()));
    }
    let mut distinct: Vec<i32> =
        values.iter().filter(|&&value| known(value)).map(|&value| value as i32).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let of = values.iter().map(|&value| {
        let place = distinct.binary_search(&(value as i32));
        place.ok().filter(|_| known(value)).map_or(UNLABELLED, |class| class as u32)
    });
    let labels = Classes::new(distinct.len(), of.collect()).map_err(graph_error(mat.file()))?;
    let counted = distinct.iter().zip(0..).all(|(&own, class)| own == class);
    let names = (!counted).then(|| Names::new(distinct.iter().map(i32::to_string)));
    Ok((labels.into(), names))
}
