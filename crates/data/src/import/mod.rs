//! Graphs from a user's own files.
//!
//! | format | extensions | what it holds |
//! | --- | --- | --- |
//! | [`Csv`](Format::Csv), [`Tsv`](Format::Tsv) | `.csv`, `.tsv`, each also with `.gz` | edges, or a table of nodes |
//! | [`Parquet`](Format::Parquet) | `.parquet`, `.pq` | edges, or a table of nodes |
//! | [`GraphMl`](Format::GraphMl) | `.graphml`, `.xml` | nodes and edges, as NetworkX writes them |
//! | [`EdgeList`](Format::EdgeList) | `.edgelist`, `.edges`, `.txt` | edges, as NetworkX writes them |
//! | [`Arrays`](Format::Arrays) | `.npz` | everything as arrays, or an adjacency matrix of SciPy |
//! | [`Mat`](Format::Mat) | `.mat` | an adjacency matrix with features and labels, as MATLAB and SciPy write it |
//!
//! Files and folders in the layouts that people pass around (gnn-benchmark, heterophilous, Planetoid, Geom-GCN, OGB, MUSAE,
//! our own export) are recognised as they are, wherever edges are asked for.
//!
//! A table of nodes has one row per node and names its columns. `id` (or the row's number) is what edges call the node;
//! `label` its class, `split` or `split:NAME` its set, `name` its name; every other column is a feature as far as its kind
//! allows: numbers, truth values and categories are, dates, free text and ids are not ([`Encode`] says how). All of this can
//! be told otherwise in [`Columns`], and a [`ColumnReport`] says what became of each. Texts of errors and notes that say
//! «set `name=value`» mean the field of that name in [`Import`], [`Columns`] or [`Encode`].
//!
//! Where the ids of a table are the numbers 0, 1, 2, … in whatever order, node `i` is the one with id `i`; otherwise it is
//! row `i` of the table. Rows of a file of features are nodes by the same rule.
//!
//! Nodes without features get one: log(1 + degree), standardised. Without labels a dataset has no classes; it can be
//! stored and exported, but there is nothing to learn.

mod arrays;
mod column;
mod dates;
mod delimited;
mod edge_list;
mod edges;
mod encode;
mod explain;
mod features;
mod graphml;
mod ids;
mod join;
mod mat;
mod nodes;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod per_node;
mod report;
mod roles;
mod sidecar;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use edgepace_graph::{Classes, Dataset, Graph, Threads, UNLABELLED, check_edge_values};
use serde::{Deserialize, Serialize};

use self::column::Table;
use self::delimited::{Column, Delimited, read_edges};
use self::edges::EdgeTable;
use self::nodes::NodeTable;
use self::roles::{Given, Roles};
use crate::DataError;
use crate::error::request_error;
use crate::readers::recognise::{Layout, recognise};
use crate::readers::{geom_gcn, gnn_benchmark, heterophilous, ogb, planetoid};

pub(crate) use self::arrays::{KEYS, read_bytes as read_arrays};
pub(crate) use self::edge_list::read_bytes as read_edge_list;
pub(crate) use self::graphml::read_bytes as read_graphml;
pub(crate) use self::ids::Ids;
pub(crate) use self::mat::read_bytes as read_mat;
#[cfg(feature = "parquet")]
pub(crate) use self::parquet::read_bytes as read_parquet;
pub(crate) use self::roles::{LABEL_PREFIX, SPLIT_PREFIX};
pub(crate) use self::sidecar::{Sidecar, feature_headers};

pub use self::encode::{
    Dates, Encode, EncodedColumn, Encoding, Fill, ONE_HOT_AUTO, ONE_HOT_AUTO_SUM, ONE_HOT_LIMIT, OneHot, Way,
};
pub use self::report::{Bound, ClassCount, ColumnReport, GraphReport, Kind, Role, TableOf};

/// Told how far a file has been read: bytes done, bytes in all.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated columns, perhaps gzipped.
    Csv,
    /// Tab-separated columns, perhaps gzipped.
    Tsv,
    /// Apache Parquet (needs the crate's feature `parquet`).
    Parquet,
    /// GraphML, as NetworkX's `write_graphml` writes it.
    GraphMl,
    /// `u v`, `u v 3.0` or `u v {'weight': 3.0}` line by line, as NetworkX's `write_edgelist` writes it.
    EdgeList,
    /// An npz file of arrays.
    Arrays,
    /// MATLAB's variables, version 5, with an adjacency matrix.
    Mat,
}

impl Format {
    /// The format that a file's extension tells.
    ///
    /// # Errors
    /// An extension that tells none.
    pub fn of(file: &Path) -> Result<Format, DataError> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "csv" => Ok(Format::Csv),
            "tsv" => Ok(Format::Tsv),
            "parquet" | "pq" => Ok(Format::Parquet),
            "graphml" | "xml" => Ok(Format::GraphMl),
            "edgelist" | "edges" | "txt" => Ok(Format::EdgeList),
            "npz" => Ok(Format::Arrays),
            "mat" => Ok(Format::Mat),
            _ => {
                let legal =
                    "csv, csv.gz, tsv, tsv.gz, parquet, pq, graphml, xml, edgelist, edges, txt, npz, mat";
                let expected = format!("a file with one of the extensions {legal}");
                Err(request_error("file", file.display().to_string(), expected).with_help(
                    "rename it, or set `edges_format=…` or `nodes_format=…` to what it is: csv, tsv, parquet, \
                     graphml, edgelist, npz or mat",
                ))
            }
        }
    }
}

/// Which columns of a table of nodes are features.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeatureColumns {
    /// Every column without another role that is of a kind to be one.
    #[default]
    Remaining,
    /// The columns of these names, in the order of the table, and text among them one-hot; none at all for features
    /// without columns.
    Listed(Vec<String>),
    /// The columns whose names start so.
    Prefix(String),
}

/// What the columns (in GraphML: the keys) of the files are called, where it is not the usual.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Columns {
    /// Edges: the source; by its name (`source`, `src`, `from`, `id1`, …), or the first column. Here and for target and weight a number is a position from 0,
    /// unless the header is said to be there.
    pub source: Option<String>,
    /// Edges: the target; by its name beside that of the source, or the second column.
    pub target: Option<String>,
    /// Edges: the weight; `weight`, if there is one.
    pub weight: Option<String>,
    /// Edges: further columns of numbers to keep, as edge columns of the same names.
    pub edge_values: Vec<String>,
    /// Nodes: what edges call the node; `id`, `node`, `node_id` or `vertex` in any spelling, else the name or another column
    /// without a repeat if edges use that, or else the number of the row from 0.
    pub id: Option<String>,
    /// Nodes: the name to show; `name`, or the id when that is not a plain count from 0.
    pub node_name: Option<String>,
    /// Nodes: the class; `label`, `class`, `y`, `target` or `category`, the first of these. Without one, columns
    /// `label:NAME` of 0 and 1 are many labels.
    pub label: Option<String>,
    /// Nodes: the columns of splits, each with `train`, `val` (`valid`, `validation`), `test` or 0, 1, 2 or a missing
    /// marker; all columns `split` and `split:NAME` unless told, or else `train_mask`, `val_mask` and `test_mask`.
    pub splits: Option<Vec<String>>,
    /// Nodes: columns to leave out.
    pub drop: Vec<String>,
    /// Nodes: the features.
    pub features: FeatureColumns,
    /// The number of classes, when labels are the classes 0, 1, 2, … themselves. Otherwise whole numbers keep their
    /// order, other labels are sorted, and both keep their names.
    pub classes: Option<usize>,
    /// Whether every value of the label is a class, however many there are.
    pub many_classes: bool,
    /// The names of the classes, in order.
    pub class_names: Option<Vec<String>>,
    /// What marks a missing value in text, in any case; an empty cell always does.
    pub missing: Vec<String>,
}

impl Default for Columns {
    fn default() -> Columns {
        Columns {
            source: None,
            target: None,
            weight: None,
            edge_values: Vec::new(),
            id: None,
            node_name: None,
            label: None,
            splits: None,
            features: FeatureColumns::default(),
            drop: Vec::new(),
            classes: None,
            many_classes: false,
            class_names: None,
            missing: ["?", "NaN", "NA", "N/A", "<NA>", "null"].map(str::to_owned).to_vec(),
        }
    }
}

/// Which row of a file of features is which node's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeatureRows {
    /// The rows are in the order of the table of nodes.
    Table,
    /// The rows are in the order of the ids, which are numbers.
    Id,
}

/// What is known of features that were encoded before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Encoded {
    /// Their names, if they have any.
    pub feature_names: Option<Vec<String>>,
    /// [`Dataset::encoding`], if there is one.
    pub encoding: Option<String>,
}

/// What to import.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Import {
    /// The edges; in GraphML and npz also the nodes.
    pub edges: PathBuf,
    /// The table of nodes. A node that only edges name is then an error; one without edges is isolated.
    pub nodes: Option<PathBuf>,
    /// The features, row by node: npy, npz, or a sparse matrix of SciPy. They replace those of the table.
    pub features: Option<PathBuf>,
    /// Which row of [`features`](Import::features) is which node's. Unless told, row `i` is the node with id `i` where the
    /// ids are 0, 1, 2, … in whatever order, and otherwise row `i` of the table; ids that are other numbers must then
    /// ascend.
    pub feature_rows: Option<FeatureRows>,
    /// The format of the edges, when the extension does not tell.
    pub edges_format: Option<Format>,
    /// The format of the nodes, when the extension does not tell.
    pub nodes_format: Option<Format>,
    /// Whether the first line of a table of edges names its columns; guessed unless told.
    pub header: Option<bool>,
    /// Whether an edge goes one way only; unless told, what the file says (GraphML, npz), or else that it does not.
    pub directed: Option<bool>,
    /// The dataset's name; that of the edges' file unless told.
    pub name: Option<String>,
    /// Says that the files hold the features encoded already, and how they came to be.
    pub encoded: Option<Encoded>,
    /// What columns are called.
    pub columns: Columns,
    /// How columns of the table become features.
    pub encode: Encode,
    /// Does to the table what was done to another one, instead of what [`encode`](Import::encode) says: the same columns
    /// must be there and of the same kinds, others must be [dropped](Columns::drop) by name, values of categories that
    /// are new are 0 in all of their columns, and the label need not be there.
    pub encoding: Option<Encoding>,
}

/// A dataset and what became of the columns that it was made of.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The dataset.
    pub dataset: Dataset,
    /// What became of each column of the nodes, then of the edges. Empty where the files are no tables.
    pub columns: Vec<ColumnReport>,
}

impl Import {
    /// The import of a single file.
    pub fn file(edges: impl Into<PathBuf>) -> Import {
        Import { edges: edges.into(), ..Import::default() }
    }

    /// The import of a folder that [`export`](crate::export::export) wrote as CSV: by its `dataset.json`.
    ///
    /// # Errors
    /// A `dataset.json` that cannot be read.
    pub fn folder(folder: &Path) -> Result<Import, DataError> {
        Ok(Sidecar::read(&folder.join(Sidecar::FILE))?.import(folder))
    }
}

/// What a file said, before it is a dataset.
#[derive(Debug)]
pub(crate) struct Parts {
    edges: EdgeTable,
    /// Numbers for each edge beside the weight.
    values: EdgeValues,
    nodes: Option<NodeTable>,
    directed: Option<bool>,
    /// What became of the columns of the edges.
    columns: Vec<ColumnReport>,
}

/// Reads a user's own files into a dataset.
///
/// # Errors
/// Files that cannot be read or hold something else than their format promises, with file, line and column; a format
/// that is not known; columns that cannot be told apart.
pub fn import(threads: &Threads, request: &Import, progress: Progress<'_>) -> Result<Imported, DataError> {
    let layout = recognise(&request.edges, request.edges_format)?;
    if let Layout::Tables(tables) = layout {
        return import(threads, &with_requests(*tables, request)?, progress);
    }
    let Layout::Edges(file, format) = layout else {
        return join::whole(published(threads, &layout, request)?, request);
    };
    let request = &Import { edges: file, ..request.clone() };
    let request = match &request.features {
        Some(features) if per_node::is_json(features) => &per_node::completed(request)?,
        _ => request,
    };
    if format == Format::Mat {
        refuse_nodes(request, "MATLAB's format")?;
        return join::whole(mat::read(threads, &request.edges, request)?, request);
    }
    if format == Format::Arrays {
        let dataset = arrays::read(threads, &request.edges, request)?;
        return join::with_arrays(threads, dataset, request);
    }
    let nodes = match &request.nodes {
        Some(file) => {
            let table = read_table(threads, file, request)?;
            let mut roles = roles(&table, request)?;
            explain::adopt_ids(&table, &mut roles, format, request);
            Some(nodes::nodes(threads, &table, roles, request, None)?)
        }
        None => None,
    };
    let parts = read_edge_file(threads, format, nodes, request, progress)
        .map_err(|error| explain_edges(threads, error, format, request))?;
    join::join(threads, parts, request)
}

/// An error about an edge whose end is no node says what would help; the table is read again for it.
fn explain_edges(threads: &Threads, error: DataError, format: Format, request: &Import) -> DataError {
    let table = request.nodes.as_ref().and_then(|file| read_table(threads, file, request).ok());
    let roles = table.as_ref().and_then(|table| {
        let mut roles = roles(table, request).ok()?;
        explain::adopt_ids(table, &mut roles, format, request);
        Some(roles)
    });
    explain::unknown_node(error, table.as_ref(), roles.as_ref(), format, request)
}

/// What each column of a table of nodes is to be.
fn roles(table: &Table, request: &Import) -> Result<Roles, DataError> {
    let header: Vec<&str> = table.columns.iter().map(|column| &column.name[..]).collect();
    let mut roles = match &request.encoding {
        Some(encoding) => Roles::of_encoding(&table.file, &header, &request.columns, encoding)?,
        None => Roles::guess(&table.file, &header, &request.columns)?,
    };
    if request.features.is_some() {
        for role in roles.of.iter_mut().filter(|role| matches!(role, Given::Perhaps | Given::Feature)) {
            *role = Given::Out("the features come from a file of their own".to_owned());
        }
    }
    Ok(roles)
}

/// A table of nodes as delimited text that is already in memory, made to features and thrown away.
pub(crate) fn read_table_bytes(file: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let table = table::read_bytes(file, bytes)?;
    nodes_of_table(&Threads::one(), &table, &Import::default()).map(drop)
}

/// A table of nodes that is already in memory.
pub(crate) fn nodes_of_table(
    threads: &Threads,
    table: &Table,
    request: &Import,
) -> Result<NodeTable, DataError> {
    nodes::nodes(threads, table, roles(table, request)?, request, None)
}

/// A dataset in one of the layouts that say all themselves.
fn published(threads: &Threads, layout: &Layout, request: &Import) -> Result<Dataset, DataError> {
    let (what, dataset) = match layout {
        Layout::GnnBenchmark(file) => {
            ("the gnn-benchmark layout", gnn_benchmark::read(threads, file, &stem(file)))
        }
        Layout::Heterophilous(file) => {
            ("the heterophilous layout", heterophilous::read(threads, file, &stem(file)))
        }
        Layout::Planetoid { folder, set } => ("Planetoid's layout", planetoid::read(threads, folder, set)),
        Layout::GeomGcn(folder) => {
            ("Geom-GCN's layout", geom_gcn::read_set(threads, folder, &folder_name(folder)))
        }
        Layout::Ogb(folder) => ("OGB's layout", ogb::read(threads, folder, &folder_name(folder))),
        Layout::Edges(..) | Layout::Tables(_) => {
            return Err(request_error(
                "edges",
                request.edges.display(),
                "a file or folder that says all itself",
            ));
        }
    };
    refuse_nodes(request, what)?;
    if request.directed == Some(true) {
        let expected = format!("nothing: {what} is read as its makers' loaders do, in both directions");
        return Err(request_error("directed", "true", expected));
    }
    let dataset = dataset?;
    Ok(match &request.name {
        Some(name) => dataset.renamed(name),
        None => dataset,
    })
}

fn refuse_nodes(request: &Import, what: &str) -> Result<(), DataError> {
    match &request.nodes {
        None => Ok(()),
        Some(file) => {
            let expected =
                format!("none: {} is in {what}, which holds the nodes itself", request.edges.display());
            Err(request_error("nodes", file.display(), expected))
        }
    }
}

/// Tables that were recognised together, with what was asked for beside them.
fn with_requests(tables: Import, request: &Import) -> Result<Import, DataError> {
    let folder = format!("a folder with {}", tables.edges.display());
    if tables.nodes.is_some() {
        refuse_nodes(request, &folder)?;
    }
    let (own, told) = (tables.columns, request.columns.clone());
    let relabelled = told.label.is_some();
    let columns = Columns {
        source: told.source.or(own.source),
        target: told.target.or(own.target),
        weight: told.weight.or(own.weight),
        edge_values: if told.edge_values.is_empty() { own.edge_values } else { told.edge_values },
        id: told.id.or(own.id),
        node_name: told.node_name.or(own.node_name.filter(|name| told.label.as_ref() != Some(name))),
        // The classes of another label are others.
        classes: told.classes.or(own.classes.filter(|_| !relabelled)),
        class_names: told.class_names.or(own.class_names.filter(|_| !relabelled)),
        label: told.label.or(own.label),
        splits: told.splits.or(own.splits),
        features: if told.features == FeatureColumns::Remaining { own.features } else { told.features },
        ..request.columns.clone()
    };
    Ok(Import {
        edges: tables.edges,
        edges_format: None,
        nodes: tables.nodes.or_else(|| request.nodes.clone()),
        features: request.features.clone().or(tables.features),
        directed: request.directed.or(tables.directed),
        name: request.name.clone().or(tables.name),
        encoded: tables.encoded,
        columns,
        ..request.clone()
    })
}

/// The name of a folder, for the dataset in it.
fn folder_name(folder: &Path) -> String {
    let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    path.file_name().map_or_else(|| "graph".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Edges as delimited text, read in blocks of so many bytes and thrown away.
pub(crate) fn read_delimited_edges(file: &Path, bytes: &[u8], block: usize) -> Result<(), DataError> {
    delimited::read_edges_from_bytes(&Threads::one(), file, bytes, block, &Delimited::default(), None)
        .map(drop)
}

fn read_table(threads: &Threads, file: &Path, request: &Import) -> Result<Table, DataError> {
    #[cfg(not(feature = "parquet"))]
    let _ = threads;
    match request.nodes_format.map_or_else(|| Format::of(file), Ok)? {
        Format::Csv => table::read(file, b','),
        Format::Tsv => table::read(file, b'\t'),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read_table(threads, file),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(without_parquet(file)),
        Format::GraphMl | Format::EdgeList | Format::Arrays | Format::Mat => {
            Err(request_error("nodes", file.display().to_string(), "a table of nodes: CSV, TSV or Parquet")
                .with_help(
                    "if it is one, set `nodes_format=csv`, `nodes_format=tsv` or `nodes_format=parquet`",
                ))
        }
    }
}

#[cfg(not(feature = "parquet"))]
fn without_parquet(file: &Path) -> DataError {
    request_error("file", file.display().to_string(), "a format other than Parquet")
        .with_help("this build is without the feature `parquet`")
}

fn read_edge_file(
    threads: &Threads,
    format: Format,
    mut nodes: Option<NodeTable>,
    request: &Import,
    progress: Progress<'_>,
) -> Result<Parts, DataError> {
    let (file, columns) = (&request.edges, &request.columns);
    // The ids go with the edges and come back with them.
    let ids = nodes.as_mut().map(|nodes| std::mem::replace(&mut nodes.ids, Ids::Numbers { nodes: 0 }));
    let (edges, values) = match format {
        Format::Csv | Format::Tsv => read_delimited(threads, format, ids, request, progress)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read_edges(file, columns, ids)?,
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(without_parquet(file)),
        Format::EdgeList => edge_list::read(file, columns, ids)?,
        Format::GraphMl if nodes.is_some() => {
            let found = "a table of nodes beside a GraphML file";
            return Err(request_error("nodes", found, "none: GraphML holds the nodes itself"));
        }
        Format::GraphMl => return graphml::read(threads, file, request),
        Format::Arrays | Format::Mat => {
            return Err(request_error("edges", file.display().to_string(), "a file of edges"));
        }
    };
    let columns = join::edge_columns(format, request, &edges, &values);
    Ok(Parts { edges, values, nodes, directed: None, columns })
}

/// How a file of delimited edges is laid out, as far as that was told.
fn layout(format: Format, request: &Import) -> Delimited {
    let columns = &request.columns;
    // A number is the position of a column, unless a header makes it a name.
    let column = |name: &Option<String>| {
        let position =
            name.as_ref().and_then(|name| name.parse().ok()).filter(|_| request.header != Some(true));
        position.map(Column::Position).or_else(|| name.clone().map(Column::Name))
    };
    Delimited {
        delimiter: (format == Format::Tsv).then_some(b'\t'),
        header: request.header,
        source: column(&columns.source),
        target: column(&columns.target),
        weight: column(&columns.weight),
        any_number: false,
    }
}

/// One pass for the edges with their weight, and one for each further column: they are few and rare.
fn read_delimited(
    threads: &Threads,
    format: Format,
    ids: Option<Ids>,
    request: &Import,
    progress: Progress<'_>,
) -> Result<(EdgeTable, EdgeValues), DataError> {
    let columns = &request.columns;
    let mut layout = layout(format, request);
    let total = fs::metadata(&request.edges).map_or(0, |data| data.len());
    let progress = |done| progress(done, total);
    let mut edges = read_edges(threads, &request.edges, &layout, ids, &progress)?;
    let mut values = Vec::new();
    for name in &columns.edge_values {
        layout.weight = Some(Column::Name(name.clone()));
        layout.any_number = true;
        let again = read_edges(threads, &request.edges, &layout, Some(edges.ids), &progress)?;
        values.push((name.clone(), again.weights.unwrap_or_default()));
        edges.ids = again.ids;
    }
    Ok((edges, values))
}

/// What a reader expects of a weight: see [`edgepace_graph::is_weight`].
const WEIGHT: &str = "a weight: a number from 0 (no edge) to 1e9";

/// Named numbers for every edge.
type EdgeValues = Vec<(String, Vec<f32>)>;

/// The graph, and values per listed edge as values per edge id.
fn graph(
    threads: &Threads,
    nodes: usize,
    sources: &[u32],
    targets: &[u32],
    directed: bool,
    columns: EdgeValues,
) -> Result<(Graph, EdgeValues), edgepace_graph::GraphError> {
    for (name, values) in &columns {
        check_edge_values(threads, name, values)?;
    }
    if columns.is_empty() {
        let build = if directed { Graph::from_edges_on } else { Graph::undirected_on };
        return Ok((build(threads, nodes, sources, targets)?, columns));
    }
    let build = if directed { Graph::from_edges_traced_on } else { Graph::undirected_traced_on };
    let mut traced = build(threads, nodes, sources, targets)?;
    let mut carried = Vec::new();
    for (name, values) in columns {
        let by_id = traced.carry(&values)?;
        if name == Dataset::WEIGHT {
            traced.count_conflicts((sources, targets), &values, &by_id);
        }
        carried.push((name, by_id));
    }
    Ok(without_weightless(traced.into_graph(), carried))
}

/// The same without edges of weight 0, before anything else is made of the graph.
fn without_weightless(graph: Graph, columns: EdgeValues) -> (Graph, EdgeValues) {
    let weights = columns.iter().find(|(name, values)| name == Dataset::WEIGHT && values.contains(&0.0));
    let Some((_, weights)) = weights else { return (graph, columns) };
    let (graph, edge_of) = graph.without_weightless(weights);
    let kept = |values: Vec<f32>| edge_of.iter().map(|&edge| values[edge as usize]).collect();
    (graph, columns.into_iter().map(|(name, values)| (name, kept(values))).collect())
}

fn unlabelled(graph: &Graph) -> Result<Classes, DataError> {
    Ok(Classes::new(0, vec![UNLABELLED; graph.nodes()])?)
}

/// The name of a file without its extensions.
fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').find(|part| !part.is_empty()).unwrap_or("graph").to_owned()
}
