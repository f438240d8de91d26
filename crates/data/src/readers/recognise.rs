//! What a file or folder of one's own is: told by its name, by what lies in it, and by the names of its arrays.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::geom_gcn;
use super::npz::Npz;
use crate::DataError;
use crate::error::{Place, format_error, io_error, request_error};
use crate::import::{Format, Import, Sidecar, per_node};
use crate::is_graph_file;

/// A file or folder, and how to read it.
#[derive(Debug, PartialEq)]
pub(crate) enum Layout {
    /// A file of edges: a table, GraphML, arrays of our own.
    Edges(PathBuf, Format),
    /// One npz file with the sparse matrices `adj_*` and `attr_*`, and `labels`.
    GnnBenchmark(PathBuf),
    /// One npz file with `edges`, `node_features` and `node_labels`.
    Heterophilous(PathBuf),
    /// The files `ind.SET.*` of a folder.
    Planetoid { folder: PathBuf, set: String },
    /// The folder of a set, with `out1_node_feature_label.txt`.
    GeomGcn(PathBuf),
    /// A folder with `raw` and `split`.
    Ogb(PathBuf),
    /// Tables that belong together.
    Tables(Box<Import>),
}

/// What a message says that a folder could be.
const FOLDERS: &str = "a folder as Planetoid (`ind.NAME.x` …), Geom-GCN (`out1_node_feature_label.txt`), OGB (`raw/edge.csv.gz`), \
     MUSAE (`NAME_edges.csv`, `NAME_features.json`, `NAME_target.csv`) or `edgepace data export` lay it out";
/// How many names a message lists.
const MOST_SHOWN: usize = 12;

/// What `path` is; `format` is that of a file, where one was told.
pub(crate) fn recognise(path: &Path, format: Option<Format>) -> Result<Layout, DataError> {
    if path.is_dir() {
        return folder(path);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(layout) = part_of_a_folder(path, &name, format)? {
        return Ok(layout);
    }
    if is_graph_file(path) {
        let expected = "a file to make a graph file of: this is one already";
        return Err(request_error("file", path.display(), expected));
    }
    // A name without an extension is more likely mistyped than of an unknown format.
    if path.extension().is_none() {
        fs::metadata(path).map_err(io_error("read", path))?;
    }
    let format = format.map_or_else(|| Format::of(path), Ok)?;
    if format == Format::Arrays { arrays(path) } else { Ok(Layout::Edges(path.to_owned(), format)) }
}

/// Which of the layouts an npz file has.
fn arrays(path: &Path) -> Result<Layout, DataError> {
    let npz = Npz::open(path)?;
    let has = |keys: &[&str]| keys.iter().all(|key| npz.has(key));
    let path = path.to_owned();
    Ok(if has(&["adj_indptr", "adj_indices"]) || has(&["adj_matrix.indptr", "adj_matrix.indices"]) {
        Layout::GnnBenchmark(path)
    } else if has(&["edges", "node_features", "node_labels"]) {
        Layout::Heterophilous(path)
    } else {
        Layout::Edges(path, Format::Arrays)
    })
}

/// A name that stands for several files: `folder/ind.cora`, `folder/cora` or one of the files themselves.
fn part_of_a_folder(path: &Path, name: &str, format: Option<Format>) -> Result<Option<Layout>, DataError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let planetoid = |set: &str| {
        let there = !set.is_empty() && folder.join(format!("ind.{set}.graph")).is_file();
        there.then(|| Layout::Planetoid { folder: folder.to_owned(), set: set.to_owned() })
    };
    if let Some(rest) = name.strip_prefix("ind.") {
        let set = rest.split_once('.').map_or(rest, |(set, _)| set);
        if let Some(layout) = planetoid(set) {
            return Ok(Some(layout));
        }
    }
    if path.exists() {
        return Ok(match name {
            geom_gcn::NODES | geom_gcn::EDGES => Some(Layout::GeomGcn(folder.to_owned())),
            Sidecar::FILE if format.is_none() => Some(Layout::Tables(Box::new(Import::folder(folder)?))),
            _ => None,
        });
    }
    let geom_gcn = folder.join(geom_gcn::SETS).join(name);
    if geom_gcn.is_dir() {
        return Ok(Some(Layout::GeomGcn(geom_gcn)));
    }
    if let Some(layout) = planetoid(name) {
        return Ok(Some(layout));
    }
    let import = per_node::of_folder(folder, name)?;
    Ok(import.map(|import| Layout::Tables(Box::new(import))))
}

fn folder(folder: &Path) -> Result<Layout, DataError> {
    let names = names_in(folder)?;
    let has = |name: &str| names.contains(name);
    if has(Sidecar::FILE) {
        return Ok(Layout::Tables(Box::new(Import::folder(folder)?)));
    }
    let planetoid = sets(&names, "ind.", ".graph");
    if !planetoid.is_empty() {
        let set = only(folder, planetoid, "ind.")?;
        return Ok(Layout::Planetoid { folder: folder.to_owned(), set });
    }
    if has(geom_gcn::NODES) {
        return Ok(Layout::GeomGcn(folder.to_owned()));
    }
    if has(geom_gcn::SETS) {
        let all = folder.join(geom_gcn::SETS);
        let set = only(folder, names_in(&all)?.into_iter().collect(), "")?;
        return Ok(Layout::GeomGcn(all.join(set)));
    }
    if folder.join("raw").join("edge.csv.gz").is_file() {
        return Ok(Layout::Ogb(folder.to_owned()));
    }
    let listed = sets(&names, "", per_node::EDGES);
    let listed: Vec<String> =
        listed.into_iter().filter(|set| has(&format!("{set}{}", per_node::FEATURES))).collect();
    if !listed.is_empty() {
        let set = only(folder, listed, "")?;
        if let Some(import) = per_node::of_folder(folder, &set)? {
            return Ok(Layout::Tables(Box::new(import)));
        }
    }
    if has(Sidecar::EDGES) && has(Sidecar::NODES) {
        let nodes = Some(folder.join(Sidecar::NODES));
        return Ok(Layout::Tables(Box::new(Import { nodes, ..Import::file(folder.join(Sidecar::EDGES)) })));
    }
    // A folder around a single file is that file.
    let known = |name: &&String| {
        matches!(Format::of(Path::new(name)), Ok(Format::Arrays | Format::Mat | Format::GraphMl))
    };
    let files: Vec<&String> = names.iter().filter(known).collect();
    if let [file] = files[..] {
        return recognise(&folder.join(file), None);
    }
    let found = match names.len() {
        0 => "an empty one".to_owned(),
        _ => format!("one with {}", list(names.iter().map(String::as_str))),
    };
    let help =
        if files.is_empty() { "name the file of edges with `--edges`" } else { "name one of the files" };
    Err(format_error(folder, Place::Whole, FOLDERS, found).with_help(help))
}

/// The one set of a folder, or an error that lists them.
fn only(folder: &Path, sets: Vec<String>, prefix: &str) -> Result<String, DataError> {
    match <[String; 1]>::try_from(sets) {
        Ok([set]) => Ok(set),
        Err(sets) => {
            let found = format!("{}: {}", sets.len(), list(sets.iter().map(String::as_str)));
            let help = match sets.first() {
                Some(set) => {
                    format!("name one of them, as `{}`", folder.join(format!("{prefix}{set}")).display())
                }
                None => "there is none".to_owned(),
            };
            Err(format_error(folder, Place::Whole, "a folder with one set", found).with_help(help))
        }
    }
}

/// What stands between `start` and `end` in the names that have both.
fn sets(names: &BTreeSet<String>, start: &str, end: &str) -> Vec<String> {
    names.iter().filter_map(|name| Some(name.strip_prefix(start)?.strip_suffix(end)?.to_owned())).collect()
}

fn names_in(folder: &Path) -> Result<BTreeSet<String>, DataError> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(io_error("list", folder))? {
        let name = entry.map_err(io_error("list", folder))?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.insert(name);
        }
    }
    Ok(names)
}

fn list<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MOST_SHOWN);
    let shown: Vec<String> = names.take(MOST_SHOWN).map(|name| name.escape_debug().to_string()).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
