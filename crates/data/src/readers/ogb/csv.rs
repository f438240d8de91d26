//! The tables of an OGB set: numbers between commas, no header, one line per node, edge or id.

use std::io::BufRead;
use std::path::Path;

use edgepace_graph::{Classes, DenseFeatures, Features, Labels, ManyLabels, UNLABELLED};

use super::super::parts::classes;
use super::super::text::{Line, Lines};
use crate::DataError;
use crate::error::{Place, format_error, graph_error};

/// The most features of an edge: every node gets that many sums, whatever the size of the file. ogbn-proteins has 8.
const MOST_EDGE_COLUMNS: usize = 64;

/// A file with a single number.
pub(super) fn count(mut lines: Lines<impl BufRead>) -> Result<usize, DataError> {
    let Some(line) = lines.next()? else {
        return Err(format_error(lines.file(), Place::Whole, "a number", "nothing"));
    };
    let count = line.id(line.text, u32::MAX as usize, "ids of 32 bits")? as usize;
    match lines.next()? {
        None => Ok(count),
        Some(line) => Err(line
            .wrong("a single number", "a second line")
            .with_help("only sets of one graph (node properties) can be read")),
    }
}

/// One node per line.
pub(super) fn ids(mut lines: Lines<impl BufRead>, nodes: usize) -> Result<Vec<u32>, DataError> {
    let mut ids = Vec::new();
    while let Some(line) = lines.next()? {
        ids.push(line.id(line.text, nodes, "nodes")?);
    }
    Ok(ids)
}

/// A pair of nodes per line, on `count` lines; each pair is also handed to `each`.
pub(super) fn pairs(
    mut lines: Lines<impl BufRead>,
    nodes: usize,
    count: usize,
    mut each: impl FnMut(u32, u32) -> Result<(), DataError>,
) -> Result<(Vec<u32>, Vec<u32>), DataError> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next()? {
        let [from, to] = line.fields(b',')?;
        let (from, to) = (line.id(from, nodes, "nodes")?, line.id(to, nodes, "nodes")?);
        each(from, to)?;
        a.push(from);
        b.push(to);
    }
    check_lines(lines.file(), a.len(), count, "num-edge-list.csv.gz")?;
    Ok((a, b))
}

/// A row of numbers per line: how many each has, and all of them.
pub(crate) fn matrix(
    mut lines: Lines<impl BufRead>,
    rows: Option<usize>,
) -> Result<(usize, Vec<f32>), DataError> {
    let (mut cols, mut found, mut values) = (0, 0, Vec::new());
    while let Some(line) = lines.next()? {
        let start = values.len();
        push_row(line, &mut values, |value| value as f32)?;
        cols = if found == 0 { values.len() } else { cols };
        check_columns(line, values.len() - start, cols)?;
        found += 1;
    }
    check_lines(lines.file(), found, rows.unwrap_or(found), "num-node-list.csv.gz")?;
    Ok((cols, values))
}

/// A class per line (`nan` for a node without one), or several labels that are 0 or 1.
pub(crate) fn node_labels(
    mut lines: Lines<impl BufRead>,
    nodes: Option<usize>,
    known_classes: Option<usize>,
) -> Result<Labels, DataError> {
    let (mut width, mut found) = (0, 0);
    let (mut of, mut values) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next()? {
        let columns = line.text.split(|&byte| byte == b',').count();
        width = if found == 0 { columns } else { width };
        check_columns(line, columns, width)?;
        if width == 1 {
            let limit = known_classes.unwrap_or(u32::MAX as usize);
            let missing = line.text.eq_ignore_ascii_case(b"nan");
            of.push(if missing { UNLABELLED } else { line.id(line.text, limit, "classes")? });
        } else {
            for field in line.text.split(|&byte| byte == b',') {
                values.push(line.id(field, 2, "values of a label")? as u8);
            }
        }
        found += 1;
    }
    let file = lines.file();
    check_lines(file, found, nodes.unwrap_or(found), "num-node-list.csv.gz")?;
    if width > 1 {
        return ManyLabels::new(found, width, values).map(Labels::from).map_err(graph_error(file));
    }
    let labels = match known_classes {
        Some(classes) => Classes::new(classes, of).map_err(graph_error(file))?,
        None => classes(file, "label", of)?,
    };
    Ok(labels.into())
}

/// The mean of the features of a node's edges, added up edge by edge.
pub(super) struct EdgeMeans<R> {
    lines: Lines<R>,
    nodes: usize,
    cols: usize,
    row: Vec<f64>,
    /// `nodes × cols`, once the first line has told how many columns there are.
    sums: Vec<f64>,
    degrees: Vec<u32>,
}

impl<R: BufRead> EdgeMeans<R> {
    /// `lines` has a row of numbers per edge; the caller has seen that there are as many nodes as it says.
    pub(super) fn new(nodes: usize, lines: Lines<R>) -> EdgeMeans<R> {
        EdgeMeans { lines, nodes, cols: 0, row: Vec::new(), sums: Vec::new(), degrees: vec![0; nodes] }
    }

    /// Takes the next line as that of the edge between the two nodes.
    pub(super) fn add(&mut self, from: u32, to: u32) -> Result<(), DataError> {
        let Some(line) = self.lines.next()? else {
            return Err(format_error(self.lines.file(), Place::Whole, "a line per edge", "fewer lines"));
        };
        self.row.clear();
        push_row(line, &mut self.row, |value| value)?;
        if self.sums.is_empty() {
            self.cols = self.row.len();
            if self.cols > MOST_EDGE_COLUMNS {
                return Err(line.wrong(format!("at most {MOST_EDGE_COLUMNS} columns"), self.cols.to_string()));
            }
            self.sums.resize(self.nodes * self.cols, 0.0);
        }
        check_columns(line, self.row.len(), self.cols)?;
        for node in [from as usize, to as usize] {
            self.degrees[node] += 1;
            let sums = &mut self.sums[node * self.cols..(node + 1) * self.cols];
            for (sum, value) in sums.iter_mut().zip(&self.row) {
                *sum += value;
            }
        }
        Ok(())
    }

    /// The means; a node without edges has zeros.
    pub(super) fn finish(mut self) -> Result<Features, DataError> {
        if let Some(line) = self.lines.next()? {
            return Err(line.wrong("the end of the file, as there are no more edges", "another line"));
        }
        let rows = self.sums.chunks_exact(self.cols.max(1)).zip(&self.degrees);
        let values = rows.flat_map(|(sums, &degree)| {
            let degree = f64::from(degree.max(1));
            sums.iter().map(move |sum| (sum / degree) as f32)
        });
        let dense = DenseFeatures::new(self.nodes, self.cols, values.collect());
        dense.map(Features::from).map_err(graph_error(self.lines.file()))
    }
}

fn push_row<T>(line: Line<'_>, row: &mut Vec<T>, make: impl Fn(f64) -> T) -> Result<(), DataError> {
    for field in line.text.split(|&byte| byte == b',') {
        row.push(make(line.float(field)?));
    }
    Ok(())
}

fn check_columns(line: Line<'_>, found: usize, expected: usize) -> Result<(), DataError> {
    if found == expected {
        return Ok(());
    }
    Err(line.wrong(format!("{expected} columns, as on the lines before"), found.to_string()))
}

fn check_lines(file: &Path, found: usize, expected: usize, source: &str) -> Result<(), DataError> {
    if found == expected {
        return Ok(());
    }
    let expected = format!("{expected} lines, as {source} says");
    Err(format_error(file, Place::Whole, expected, found.to_string()).with_help("fetch the set again"))
}
