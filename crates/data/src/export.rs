//! Datasets as files for other programs.
//!
//! CSV makes a folder that [`Import::folder`](crate::import::Import::folder) reads back:
//! - `nodes.csv`: `id` (0, 1, 2, …), `name`, `label` (the number of the class, or empty) or `label:0`, `label:1`, … for
//!   many labels, `split:NAME` for each split, and a column for each dense feature: its name, or `feature:0`, `feature:1`, …;
//! - `features.npz`: sparse features, as `scipy.sparse.load_npz` reads them;
//! - `edges.csv`: `source`, `target` and the edge columns; an undirected edge once, unless a column differs between its
//!   two directions;
//! - `dataset.json`: what the tables cannot say: name, kinds, names of the classes and features, the encoding, checksum.
//!
//! Npz makes one file `dataset.npz`, with the arrays that the import of npz files lists and both directions of every
//! edge, as PyTorch Geometric has them.

mod npz;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use edgepace_graph::{Dataset, Features, Labels, UNLABELLED, files};

use crate::DataError;
use crate::error::request_error;
use crate::import::{LABEL_PREFIX, SPLIT_PREFIX, Sidecar, feature_headers};

/// What to export to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Tables in a folder.
    Csv,
    /// One file of arrays, `dataset.npz`.
    Npz,
}

/// The name of the file of an export as arrays.
const ARRAYS: &str = "dataset.npz";

/// Writes a dataset into a folder, which is made if it is not there. Each file appears whole or not at all. Returns the
/// files that were written.
///
/// # Errors
/// A file that is already there, unless `overwrite` is set; a file that cannot be written.
pub fn export(
    dataset: &Dataset,
    folder: &Path,
    format: Format,
    overwrite: bool,
) -> Result<Vec<PathBuf>, DataError> {
    let sparse = matches!(&**dataset.features(), Features::Sparse(_));
    let names = match format {
        Format::Npz => vec![ARRAYS],
        Format::Csv if sparse => vec![Sidecar::NODES, Sidecar::EDGES, Sidecar::FEATURES, Sidecar::FILE],
        Format::Csv => vec![Sidecar::NODES, Sidecar::EDGES, Sidecar::FILE],
    };
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    if let Some(there) = paths.iter().find(|file| !overwrite && file.exists()) {
        return Err(request_error("folder", there.display().to_string(), "a file that is not there yet"));
    }
    files::create_folder(folder)?;
    files::sweep(folder)?;
    let directed = lists_directions(dataset);
    for (name, path) in names.into_iter().zip(&paths) {
        files::write_with(path, |out| match name {
            Sidecar::NODES => nodes(dataset, out),
            Sidecar::EDGES => edges(dataset, directed, out),
            Sidecar::FEATURES => npz::features(dataset, out),
            Sidecar::FILE => {
                writeln!(out, "{}", serde_json::to_string_pretty(&Sidecar::of(dataset, directed))?)
            }
            _ => npz::arrays(dataset, directed, out),
        })?;
    }
    Ok(paths)
}

/// Whether edges must be listed in both directions: the graph is directed, or a column tells the two directions apart.
fn lists_directions(dataset: &Dataset) -> bool {
    let Some(twins) = dataset.graph().twins() else { return true };
    let alike = |values: &[f32]| {
        let pairs = values.iter().zip(twins);
        pairs.into_iter().all(|(value, &twin)| value.to_bits() == values[twin as usize].to_bits())
    };
    !dataset.edge_columns().all(|(_, values)| alike(values))
}

fn nodes(dataset: &Dataset, out: &mut impl Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let dense = match &**dataset.features() {
        Features::Dense(dense) => Some(dense),
        Features::Sparse(_) => None,
    };
    let mut header = vec!["id".to_owned()];
    header.extend(dataset.node_names().map(|_| "name".to_owned()));
    match &**dataset.labels() {
        Labels::Classes(_) => header.push("label".to_owned()),
        Labels::Many(many) => header.extend((0..many.width()).map(|label| format!("{LABEL_PREFIX}{label}"))),
    }
    header.extend(dataset.splits().iter().map(|split| format!("{SPLIT_PREFIX}{}", split.name())));
    let columns = dense.map_or(0, edgepace_graph::DenseFeatures::cols);
    header.extend(feature_headers(columns, |column| dataset.feature_names().map(|names| names.get(column))));
    table.write_record(&header)?;
    let mut cell = Vec::new();
    for node in 0..dataset.graph().nodes() {
        let mut number = |table: &mut csv::Writer<_>, value: &dyn std::fmt::Display| {
            cell.clear();
            // Writing to memory cannot fail.
            let _ = write!(cell, "{value}");
            table.write_field(&cell)
        };
        number(&mut table, &node)?;
        if let Some(names) = dataset.node_names() {
            table.write_field(names.get(node))?;
        }
        match &**dataset.labels() {
            Labels::Classes(classes) => match classes.of()[node] {
                UNLABELLED => table.write_field("")?,
                class => number(&mut table, &class)?,
            },
            Labels::Many(many) => {
                for &label in &many.values()[node * many.width()..][..many.width()] {
                    number(&mut table, &label)?;
                }
            }
        }
        for split in dataset.splits() {
            let set = split.sets().into_iter().find(|(_, ids)| ids.binary_search(&(node as u32)).is_ok());
            table.write_field(set.map_or("", |(name, _)| name))?;
        }
        if let Some(dense) = dense {
            for value in &dense.values()[node * columns..][..columns] {
                number(&mut table, value)?;
            }
        }
        table.write_record(None::<&[u8]>)?;
    }
    table.flush()
}

fn edges(dataset: &Dataset, directed: bool, out: &mut impl Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let columns: Vec<(&str, &[f32])> = dataset.edge_columns().collect();
    let header = ["source", "target"].into_iter().chain(columns.iter().map(|(name, _)| *name));
    table.write_record(header)?;
    let graph = dataset.graph();
    let mut cell = Vec::new();
    for target in 0..graph.nodes() {
        for edge in graph.in_edges(target) {
            let source = graph.sources()[edge] as usize;
            if !directed && source > target {
                continue;
            }
            for end in [source, target] {
                cell.clear();
                let _ = write!(cell, "{end}");
                table.write_field(&cell)?;
            }
            for (_, values) in &columns {
                cell.clear();
                let _ = write!(cell, "{}", values[edge]);
                table.write_field(&cell)?;
            }
            table.write_record(None::<&[u8]>)?;
        }
    }
    table.flush()
}
