//! From what a pickle holds to what a dataset needs. Nothing here follows references deeper than the expected types go.

use edgepace_graph::SparseFeatures;

use super::array::Array;
use super::{Id, Object, Pickle, Value};
use crate::DataError;
use crate::error::{Place, format_error, graph_error};

/// A dense matrix, row after row.
#[derive(Debug, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) values: Vec<f64>,
}

/// The neighbours of each node, as a list of directed edges.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Adjacency {
    pub(crate) nodes: usize,
    pub(crate) sources: Vec<u32>,
    pub(crate) targets: Vec<u32>,
}

impl Pickle<'_> {
    /// The numpy array of two dimensions that the file holds.
    pub(crate) fn matrix(&self) -> Result<Matrix, DataError> {
        const EXPECTED: &str = "a numpy array of two dimensions";
        let array = self.array(self.root, EXPECTED)?;
        let Some(cols) = array.cols else { return Err(self.unexpected(self.root, EXPECTED)) };
        let (rows, stored) = (array.rows, self.floats(array)?);
        // Without entries a shape may promise any number of rows.
        let values = if array.by_column && !stored.is_empty() {
            (0..rows).flat_map(|row| stored.iter().skip(row).step_by(rows)).copied().collect()
        } else {
            stored
        };
        Ok(Matrix { rows, cols, values })
    }

    /// The scipy CSR matrix that the file holds, its columns sorted and repeated entries added up, as scipy means them.
    pub(crate) fn sparse(&self) -> Result<SparseFeatures, DataError> {
        let Some(state) = self.csr() else { return Err(self.unexpected(self.root, "a scipy CSR matrix")) };
        let Some(&[Value::Int(rows), Value::Int(cols)]) = self.heap.tuple(self.attribute(state, "_shape")?)
        else {
            let shape = self.attribute(state, "_shape")?;
            return Err(self.unexpected(shape, "a tuple of rows and columns"));
        };
        let integers = |part| self.integers(part, self.array(self.attribute(state, part)?, "a numpy array")?);
        let offsets = self.offsets(rows, &integers("indptr")?)?;
        let columns = self.columns(cols, &integers("indices")?)?;
        let values = self.floats(self.array(self.attribute(state, "data")?, "a numpy array")?)?;
        for (part, length) in [("indices", columns.len()), ("data", values.len())] {
            let stored = offsets.last().copied().unwrap_or(0);
            if length != stored {
                let expected = format!("{stored} entries, the last of `indptr`");
                return Err(format_error(self.file, Place::Part(part.into()), expected, length.to_string()));
            }
        }
        let (offsets, columns, values) = canonical(&offsets, columns, values);
        let rows = offsets.len() - 1;
        SparseFeatures::new(rows, cols as usize, offsets, columns, values).map_err(graph_error(self.file))
    }

    /// The dictionary of lists of neighbours that the file holds. Its keys must be all ids from 0.
    pub(crate) fn adjacency(&self) -> Result<Adjacency, DataError> {
        const EXPECTED: &str = "a dictionary from nodes to lists of neighbours";
        let lists = match self.root {
            Value::Object(id) => match self.heap.get(id) {
                Object::Dict(lists) => lists,
                _ => return Err(self.unexpected(self.root, EXPECTED)),
            },
            _ => return Err(self.unexpected(self.root, EXPECTED)),
        };
        let nodes = lists.len();
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        let mut seen = vec![false; nodes];
        for (entry, &(key, list)) in lists.iter().enumerate() {
            let refuse = |value| {
                let expected = format!("a node from 0 to {}, one for each entry", nodes - 1);
                let place = Place::Entry("graph".into(), entry as u64);
                format_error(self.file, place, expected, self.heap.describe(value))
            };
            let node = node(key, nodes).ok_or_else(|| refuse(key))?;
            if std::mem::replace(&mut seen[node as usize], true) {
                let place = Place::Entry("graph".into(), entry as u64);
                return Err(format_error(self.file, place, "each node once", format!("node {node} again")));
            }
            let Value::Object(id) = list else { return Err(self.unexpected(list, "a list of neighbours")) };
            let Object::List(neighbours) = self.heap.get(id) else {
                return Err(self.unexpected(list, "a list of neighbours"));
            };
            // A list that many nodes share would otherwise multiply: without sharing, each neighbour takes a byte.
            if sources.len() + neighbours.len() > self.size {
                let expected = format!("at most {} neighbours, as many as the file has bytes", self.size);
                return Err(self.unexpected(list, &expected).with_help("many nodes share one list"));
            }
            for &neighbour in neighbours {
                targets.push(self::node(neighbour, nodes).ok_or_else(|| refuse(neighbour))?);
                sources.push(node);
            }
        }
        Ok(Adjacency { nodes, sources, targets })
    }

    fn csr(&self) -> Option<Id> {
        match self.root {
            Value::Object(id) => match self.heap.get(id) {
                Object::Csr(state) => *state,
                _ => None,
            },
            _ => None,
        }
    }

    fn array(&self, value: Value, expected: &str) -> Result<&Array, DataError> {
        if let Value::Object(id) = value
            && let Object::Array(Some(array)) = self.heap.get(id)
        {
            return Ok(array);
        }
        Err(self.unexpected(value, expected))
    }

    fn attribute(&self, state: Id, name: &str) -> Result<Value, DataError> {
        let items = match self.heap.get(state) {
            Object::Dict(items) => &items[..],
            _ => &[],
        };
        // The last one counts, as in Python.
        let found = items.iter().rev().find(|(key, _)| self.heap.name(*key) == Some(name.as_bytes()));
        found.map(|(_, value)| *value).ok_or_else(|| {
            format_error(self.file, Place::Whole, format!("a CSR matrix with `{name}`"), "one without")
        })
    }

    fn offsets(&self, rows: i64, stored: &[i64]) -> Result<Vec<usize>, DataError> {
        if rows < 0 || stored.len() as u64 != rows as u64 + 1 {
            let expected = format!("one entry per row of {rows} and a last one");
            let place = Place::Part("indptr".into());
            return Err(format_error(self.file, place, expected, stored.len().to_string()));
        }
        let mut before = 0;
        for (entry, &offset) in stored.iter().enumerate() {
            if offset < before || (entry == 0 && offset != 0) {
                let expected =
                    if entry == 0 { "0".into() } else { format!("at least {before}, the entry before") };
                let place = Place::Entry("indptr".into(), entry as u64);
                return Err(format_error(self.file, place, expected, offset.to_string()));
            }
            before = offset;
        }
        Ok(stored.iter().map(|&offset| offset as usize).collect())
    }

    fn columns(&self, cols: i64, stored: &[i64]) -> Result<Vec<u32>, DataError> {
        let cols = u32::try_from(cols).map_err(|_| {
            let expected = "a number of columns that 32 bits hold";
            format_error(self.file, Place::Part("_shape".into()), expected, cols.to_string())
        })?;
        let column = |(entry, &column): (usize, &i64)| match u32::try_from(column) {
            Ok(column) if column < cols => Ok(column),
            _ => {
                let place = Place::Entry("indices".into(), entry as u64);
                Err(format_error(self.file, place, format!("a column below {cols}"), column.to_string()))
            }
        };
        stored.iter().enumerate().map(column).collect()
    }
}

fn node(value: Value, nodes: usize) -> Option<u32> {
    match value {
        Value::Int(id) => u32::try_from(id).ok().filter(|&id| (id as usize) < nodes),
        _ => None,
    }
}

/// Sorts each row by column and adds up its repeated entries.
fn canonical(offsets: &[usize], columns: Vec<u32>, values: Vec<f64>) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
    let sorted = |row: &[usize]| columns[row[0]..row[1]].is_sorted_by(|before, after| before < after);
    if offsets.windows(2).all(sorted) {
        return (offsets.to_vec(), columns, values.into_iter().map(|value| value as f32).collect());
    }
    let mut joined = (vec![0], Vec::new(), Vec::new());
    for row in offsets.windows(2) {
        let entries = columns[row[0]..row[1]].iter().zip(&values[row[0]..row[1]]);
        let mut entries: Vec<(u32, f64)> = entries.map(|(&column, &value)| (column, value)).collect();
        entries.sort_by_key(|&(column, _)| column);
        for same in entries.chunk_by(|first, second| first.0 == second.0) {
            joined.1.push(same[0].0);
            joined.2.push(same.iter().map(|(_, value)| value).sum::<f64>() as f32);
        }
        joined.0.push(joined.1.len());
    }
    joined
}
