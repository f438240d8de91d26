//! The text files of Geom-GCN (Pei and others, 2020): Texas, Wisconsin, Cornell and film, which others call Actor.
//!
//! `new_data/SET/out1_node_feature_label.txt` has a line of node, features and class per node, in any order: the features
//! are 0/1 vectors, and for film lists of the columns that are 1. `out1_graph_edges.txt` has two nodes per line, and
//! `splits/SET_split_0.6_0.2_K.npz` the masks of ten splits. Edges are made symmetric; self-loops and repeats are dropped.
//!
//! Cornell's features and labels are Texas's in the published files themselves: a mix-up that changes results. The npz file
//! that [`heterophilous`](super::heterophilous) reads has Cornell's own.

#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::path::{Path, PathBuf};

use edgepace_graph::{Classes, Dataset, Features, Graph, Labels, Split, Threads};

use super::npz::Npz;
use super::parts::{RowBuilder, classes, masked_split};
use super::text::{Line, Lines};
use crate::DataError;
use crate::error::{Place, format_error, graph_error};

/// Geom-GCN's name for Actor.
const FILM: &str = "film";
/// The folder of the sets, and the files of a set.
pub(crate) const SETS: &str = "new_data";
pub(crate) const NODES: &str = "out1_node_feature_label.txt";
pub(crate) const EDGES: &str = "out1_graph_edges.txt";

/// How a line tells its features.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A value for every column.
    Values,
    /// The columns that are 1.
    Columns,
}

/// Reads one set (`actor` means `film`) from the folder that has `new_data` and `splits`. The dataset has the set's name,
/// its splits are called `geom:0` to `geom:9`.
pub(crate) fn read(threads: &Threads, folder: &Path, set: &str) -> Result<Dataset, DataError> {
    let files = if set == "actor" { FILM } else { set };
    read_set(threads, &folder.join(SETS).join(files), set)
}

/// Reads the set in that folder. Its splits lie in it, in `splits` beside it or beside the folder that it is in.
pub(crate) fn read_set(threads: &Threads, own: &Path, set: &str) -> Result<Dataset, DataError> {
    let nodes_file = own.join(NODES);
    if !nodes_file.exists() {
        return Err(format_error(
            &nodes_file,
            Place::Whole,
            format!("the features of {set}"),
            "no such file",
        )
        .with_help("fetch it again, or use the npz files of the heterophilous layout"));
    }
    let announced = Lines::open(&nodes_file)?.next()?.and_then(|header| announced_column(header.text));
    let style = if announced.is_some() { Style::Columns } else { Style::Values };
    let (features, labels) = read_nodes(Lines::open(&nodes_file)?, style)?;
    let nodes = labels.nodes();
    let graph = read_edges(threads, Lines::open(&own.join(EDGES))?, nodes)?;
    let splits = match splits_of(own) {
        None => Vec::new(),
        Some(first) => {
            let split = |number| {
                let file = first.with_file_name(split_file(own, number));
                (number == 0 || file.exists()).then(|| read_split(&file, format!("geom:{number}"), nodes))
            };
            (0..).map_while(split).collect::<Result<_, _>>()?
        }
    };
    Dataset::new(set, graph, features, Labels::from(labels), splits).map_err(graph_error(own))
}

/// The file of the first split, wherever it is.
fn splits_of(own: &Path) -> Option<PathBuf> {
    let own = std::path::absolute(own).ok()?;
    let beside = [Some(own.as_path()), own.parent(), own.parent().and_then(Path::parent)];
    let folders = beside.into_iter().flatten().flat_map(|folder| [folder.to_owned(), folder.join("splits")]);
    folders.map(|folder| folder.join(split_file(&own, 0))).find(|file| file.is_file())
}

fn split_file(own: &Path, number: usize) -> String {
    format!("{}_split_0.6_0.2_{number}.npz", own.file_name().unwrap_or_default().to_string_lossy())
}

/// Features and classes from the lines of a node file.
pub(crate) fn read_nodes(
    mut lines: Lines<impl BufRead>,
    style: Style,
) -> Result<(Features, Classes), DataError> {
    let most = lines.next()?.and_then(|header| announced_column(header.text));
    let mut nodes = Nodes::default();
    while let Some(line) = lines.next()? {
        let [node, features, class] = line.fields(b'\t')?;
        let start = nodes.entries.len();
        match style {
            Style::Values => nodes.push_values(line, features)?,
            Style::Columns => nodes.push_columns(line, features, most)?,
        }
        // The number of nodes, and of classes, is known at the end.
        let node = line.id(node, u32::MAX as usize, "nodes")?;
        let class = line.id(class, u32::MAX as usize, "classes")?;
        nodes.rows.push(Row { node, class, line: line.number, start, end: nodes.entries.len() });
    }
    nodes.finish(lines.file())
}

/// The graph of the lines of an edge file.
pub(crate) fn read_edges(
    threads: &Threads,
    mut lines: Lines<impl BufRead>,
    nodes: usize,
) -> Result<Graph, DataError> {
    lines.next()?;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next()? {
        let [from, to] = line.fields(b'\t')?;
        a.push(line.id(from, nodes, "nodes")?);
        b.push(line.id(to, nodes, "nodes")?);
    }
    Graph::undirected_on(threads, nodes, &a, &b).map_err(graph_error(lines.file()))
}

fn read_split(file: &Path, name: String, nodes: usize) -> Result<Split, DataError> {
    let mut npz = Npz::open(file)?;
    let mut mask = |key| npz.mask(key, &[Some(nodes)]).map(|mask| mask.values);
    let (train, validation, test) = (mask("train_mask")?, mask("val_mask")?, mask("test_mask")?);
    masked_split(name, nodes, [&train, &validation, &test]).map_err(graph_error(file))
}

/// The last column, which the header of film announces as `feature(feature_amount:931)`.
fn announced_column(header: &[u8]) -> Option<u32> {
    let text = str::from_utf8(header).ok()?;
    text.split_once("feature_amount:")?.1.split_once(')')?.0.parse().ok()
}

/// What the lines have told, in their order.
#[derive(Default)]
struct Nodes {
    rows: Vec<Row>,
    /// Columns and values of all rows.
    entries: Vec<(u32, f32)>,
    cols: usize,
}

struct Row {
    node: u32,
    class: u32,
    line: u64,
    start: usize,
    end: usize,
}

impl Nodes {
    fn push_values(&mut self, line: Line<'_>, features: &[u8]) -> Result<(), DataError> {
        let mut cols = 0;
        for field in features.split(|&byte| byte == b',') {
            let value = line.float(field)? as f32;
            if value != 0.0 {
                self.entries.push((cols, value));
            }
            cols += 1;
        }
        if self.rows.is_empty() {
            self.cols = cols as usize;
        } else if cols as usize != self.cols {
            return Err(
                line.wrong(format!("{} features, as on the lines before", self.cols), cols.to_string())
            );
        }
        Ok(())
    }

    fn push_columns(&mut self, line: Line<'_>, features: &[u8], most: Option<u32>) -> Result<(), DataError> {
        let start = self.entries.len();
        let limit = most.map_or(u32::MAX as usize, |most| most as usize + 1);
        for field in features.split(|&byte| byte == b',').filter(|field| !field.is_empty()) {
            let column = line.id(field, limit, "columns")?;
            self.entries.push((column, 1.0));
            self.cols = self.cols.max(column as usize + 1);
        }
        self.entries[start..].sort_unstable_by_key(|&(column, _)| column);
        Ok(())
    }

    fn finish(self, file: &Path) -> Result<(Features, Classes), DataError> {
        let count = self.rows.len();
        let mut row_of: Vec<Option<&Row>> = vec![None; count];
        for row in &self.rows {
            let wrong = |expected: String, found| format_error(file, Place::Line(row.line), expected, found);
            let Some(place) = row_of.get_mut(row.node as usize) else {
                let expected = format!("a node below {count}, the number of lines with nodes");
                return Err(wrong(expected, row.node.to_string()));
            };
            if let Some(first) = place.replace(row) {
                let found = format!("node {} as on line {}", row.node, first.line);
                return Err(wrong("each node once".to_owned(), found));
            }
        }
        // As many lines as nodes and none twice: no node is missing.
        let mut builder = RowBuilder::default();
        let mut of = Vec::with_capacity(count);
        let mut row_entries = Vec::new();
        for row in row_of.into_iter().flatten() {
            row_entries.clear();
            row_entries.extend_from_slice(&self.entries[row.start..row.end]);
            row_entries.dedup_by_key(|&mut (column, _)| column);
            builder.push(row_entries.iter().copied());
            of.push(row.class);
        }
        let features = builder.finish(self.cols).map_err(graph_error(file))?;
        Ok((features.into(), classes(file, "label", of)?))
    }
}
