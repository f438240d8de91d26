//! Nodes, edges and features become one dataset.

use std::collections::HashMap;
use std::path::Path;

use edgepace_graph::{
    Buffer, Dataset, DenseFeatures, Features, Graph, Labels, Names, SparseFeatures, Threads,
};

use super::column::{Cells, Markers, Profile, Texts};
use super::edges::EdgeTable;
use super::nodes::{NodeTable, Order};
use super::report::{Bound, ColumnReport, Kind, Role, TableOf};
use super::roles::Given;
use super::{EdgeValues, FeatureColumns, FeatureRows, Format, Import, Imported, Parts};
use super::{Ids, explain, features, graph, nodes, per_node, read_table, roles, stem, unlabelled};
use crate::error::{format_error, graph_error, request_error};
use crate::readers::npz::Npz;
use crate::{DataError, Place};

/// Rows of the edges by which columns that are not used are judged.
const JUDGED_BY: usize = 1000;

/// Makes a dataset of what the files said.
pub(super) fn join(threads: &Threads, parts: Parts, request: &Import) -> Result<Imported, DataError> {
    let wrong = |error| graph_error(&request.edges)(error);
    let Parts { edges, values, nodes, directed, columns: edge_reports } = parts;
    let directed = request.directed.or(directed).unwrap_or(false);
    let count = edges.ids.nodes();
    let weights = edges.weights.map(|weights| (Dataset::WEIGHT.to_owned(), weights));
    let columns: EdgeValues = weights.into_iter().chain(values).collect();
    let (graph, columns) =
        graph(threads, count, &edges.sources, &edges.targets, directed, columns).map_err(wrong)?;
    drop((edges.sources, edges.targets));
    let listed = match &request.features {
        Some(file) if per_node::is_json(file) => Some(per_node::read(file, &edges.ids)?),
        _ => None,
    };
    let names = edges.ids.into_names();
    let name = request.name.clone().unwrap_or_else(|| stem(&request.edges));
    let order = match &nodes {
        Some(nodes) => Rows::of_table(nodes, names.as_ref()),
        None if names.is_some() => Rows::Unknown,
        None => Rows::AsTheyAre,
    };
    let (mut dataset, mut reports) = if let Some(nodes) = nodes {
        with_nodes(name, graph, names, nodes, request)?
    } else {
        let (features, labels) = (features::no_features(&graph)?, Labels::from(unlabelled(&graph)?));
        let dataset = Dataset::new(name, graph, features, labels, Vec::new())?;
        (if let Some(names) = names { dataset.with_node_names(names)? } else { dataset }, Vec::new())
    };
    let columns = columns.into_iter().map(|(name, values)| (name, values.into()));
    dataset = dataset.with_edge_columns(columns).map_err(graph_error(&request.edges))?;
    reports.extend(edge_reports);
    dataset = match listed {
        Some(features) => without_features(dataset)?.with_features(features)?,
        None => replace_features(dataset, request, order)?,
    };
    dataset = described(dataset, request)?;
    Ok(Imported { dataset, columns: reports })
}

fn with_nodes(
    name: String,
    graph: Graph,
    ids: Option<Names>,
    nodes: NodeTable,
    request: &Import,
) -> Result<(Dataset, Vec<ColumnReport>), DataError> {
    let file = request.nodes.as_ref().unwrap_or(&request.edges);
    let own = nodes.features.is_some();
    let features = nodes.features.map_or_else(|| features::no_features(&graph), Ok)?;
    let labels = nodes.labels.map_or_else(|| unlabelled(&graph).map(Labels::from), Ok)?;
    let mut dataset = Dataset::new(name, graph, features, labels, nodes.splits).map_err(graph_error(file))?;
    if own {
        dataset = dataset
            .with_feature_names(Names::new(nodes.encoding.feature_names()))?
            .with_encoding(nodes.encoding.text());
    }
    if let Some(names) = ids.or(nodes.names) {
        dataset = dataset.with_node_names(names)?;
    }
    if let Some(names) = nodes.class_names {
        dataset = dataset.with_class_names(names).map_err(graph_error(file))?;
    }
    Ok((dataset, nodes.columns))
}

/// What the request says about features that the files hold encoded already. Their columns are not what they came from.
fn described(dataset: Dataset, request: &Import) -> Result<Dataset, DataError> {
    let Some(encoded) = &request.encoded else { return Ok(dataset) };
    let file = request.nodes.as_ref().unwrap_or(&request.edges);
    let features = dataset.features().clone();
    let mut dataset = without_features(dataset)?.with_features(features)?;
    if let Some(names) = &encoded.feature_names {
        dataset = dataset.with_feature_names(Names::new(names)).map_err(graph_error(file))?;
    }
    Ok(match &encoded.encoding {
        Some(text) => dataset.with_encoding(&text[..]),
        None => dataset,
    })
}

/// Which row of a file of features is which node's.
enum Rows {
    AsTheyAre,
    /// The row of each node, when rows are those of the table although nodes are numbered by their ids.
    ByTable(Vec<u32>),
    /// The row of each node, when rows are sorted by ids although nodes are those of the table.
    Unclear(Vec<u32>),
    /// Nothing says it.
    Unknown,
}

impl Rows {
    fn of_table(nodes: &NodeTable, ids: Option<&Names>) -> Rows {
        match nodes.order {
            Order::Rows => Rows::AsTheyAre,
            Order::Ids => Rows::ByTable(nodes.row_of.clone().unwrap_or_default()),
            Order::Unclear => {
                let ids: Vec<u64> =
                    ids.into_iter().flat_map(Names::iter).map(|id| id.parse().unwrap_or(u64::MAX)).collect();
                let mut sorted: Vec<u32> = (0..ids.len() as u32).collect();
                sorted.sort_by_key(|&node| ids[node as usize]);
                let mut rank = vec![0; ids.len()];
                for (place, node) in (0..).zip(sorted) {
                    rank[node as usize] = place;
                }
                Rows::Unclear(rank)
            }
        }
    }
}

fn replace_features(dataset: Dataset, request: &Import, rows: Rows) -> Result<Dataset, DataError> {
    let Some(file) = &request.features else { return Ok(dataset) };
    if per_node::is_json(file) {
        let features = per_node::read(file, &Ids::Numbers { nodes: dataset.graph().nodes() })?;
        return Ok(without_features(dataset)?.with_features(features)?);
    }
    let unclear = |found: &str, help: &str| {
        Err(format_error(file, Place::Whole, "rows of features whose nodes are known", found).with_help(help))
    };
    let row_of = match (rows, request.feature_rows) {
        (Rows::AsTheyAre, _)
        | (Rows::ByTable(_), None | Some(FeatureRows::Id))
        | (Rows::Unclear(_), Some(FeatureRows::Table)) => None,
        (Rows::ByTable(rows), Some(FeatureRows::Table)) => Some(rows),
        (Rows::Unclear(rank), Some(FeatureRows::Id)) => Some(rank),
        (Rows::Unclear(_), None) => {
            return unclear(
                "a table of nodes whose ids are numbers that do not ascend",
                "set `feature_rows=table` if row i of the features is row i of the table, or `feature_rows=id` if \
                 they are sorted by id",
            );
        }
        (Rows::Unknown, _) => {
            return unclear(
                "nodes that only the edges name",
                "set `nodes=…` to a table with a column `id`: its rows are those of the features",
            );
        }
    };
    let features: Features = features::features_from_file(file)?;
    let nodes = dataset.graph().nodes();
    if features.rows() != nodes {
        let expected = format!("{nodes} rows of features, one per node");
        return Err(format_error(file, Place::Whole, expected, features.rows().to_string()));
    }
    let features = match row_of {
        Some(rows) => reordered(&features, &rows)?,
        None => features,
    };
    // Columns of the table are not those of the file, even where there are as many.
    without_features(dataset)?.with_features(features).map_err(graph_error(file))
}

/// Forgets the features with their names: others that are as wide are not the same.
fn without_features(dataset: Dataset) -> Result<Dataset, DataError> {
    let (nodes, cols) = (dataset.graph().nodes(), dataset.features().cols());
    let none: Features =
        SparseFeatures::new(nodes, cols + 1, vec![0; nodes + 1], Vec::new(), Vec::new())?.into();
    Ok(dataset.with_features(none)?)
}

/// The features with row `rows[i]` as row `i`.
fn reordered(features: &Features, rows: &[u32]) -> Result<Features, DataError> {
    let cols = features.cols();
    Ok(match features {
        Features::Dense(dense) => {
            let values = rows.iter().flat_map(|&row| &dense.values()[row as usize * cols..][..cols]);
            DenseFeatures::new(rows.len(), cols, values.copied().collect())?.into()
        }
        Features::Sparse(sparse) => {
            let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for &row in rows {
                let range = sparse.offsets()[row as usize]..sparse.offsets()[row as usize + 1];
                columns.extend_from_slice(&sparse.columns()[range.clone()]);
                values.extend_from_slice(&sparse.values()[range]);
                offsets.push(columns.len());
            }
            SparseFeatures::new(rows.len(), cols, offsets, columns, values)?.into()
        }
    })
}

/// A dataset that a file holds whole.
pub(super) fn whole(dataset: Dataset, request: &Import) -> Result<Imported, DataError> {
    let dataset = described(replace_features(dataset, request, Rows::AsTheyAre)?, request)?;
    Ok(Imported { dataset, columns: Vec::new() })
}

/// A dataset of arrays, with the table of nodes beside it if there is one.
pub(super) fn with_arrays(
    threads: &Threads,
    dataset: Dataset,
    request: &Import,
) -> Result<Imported, DataError> {
    let Some(file) = &request.nodes else { return whole(dataset, request) };
    let table = read_table(threads, file, request)?;
    let mut roles = roles(&table, request)?;
    let own_features = dataset.features().cols() > 0;
    if own_features && request.columns.features == FeatureColumns::Remaining {
        for role in roles.of.iter_mut().filter(|role| **role == Given::Perhaps) {
            *role = Given::Out(
                "the arrays hold the features: set `feature_columns=…` to use the table's".to_owned(),
            );
        }
    }
    let names = dataset.node_names().cloned();
    let nodes = nodes::nodes(threads, &table, roles, request, names.as_ref())?;
    let count = nodes.ids.nodes();
    if nodes.ids.is_named() && names.is_none() {
        let expected = "ids that are the numbers 0, 1, 2, … of the nodes of the arrays, or no column of ids";
        return Err(format_error(file, Place::Whole, expected, "other ids")
            .with_help("number the rows from 0, or set `drop=…` to leave the column of ids out"));
    }
    let found = dataset.graph().nodes();
    // A list of edges does not know of isolated nodes behind the last; a matrix does.
    let listed = !Npz::open(&request.edges)?.has("shape");
    let may_grow = listed && !own_features && dataset.labels().width() == 0;
    if count < found || (count > found && !may_grow) {
        let expected = format!("{found} rows, one per node of {}", request.edges.display());
        return Err(format_error(file, Place::Whole, expected, count.to_string()));
    }
    let rows = Rows::of_table(&nodes, None);
    let graph = grown(dataset.graph(), count)?;
    let columns: Vec<(String, Vec<f32>)> =
        dataset.edge_columns().map(|(name, values)| (name.to_owned(), values.to_vec())).collect();
    let kept_labels =
        nodes.labels.is_none().then(|| (dataset.labels().clone(), dataset.class_names().cloned()));
    let kept_splits = nodes.splits.is_empty().then(|| dataset.splits().to_vec());
    let kept_features = (nodes.features.is_none() && own_features).then(|| dataset.features().clone());
    let (mut joined, reports) = with_nodes(dataset.name().to_owned(), graph, names, nodes, request)?;
    if let Some((labels, class_names)) = kept_labels.filter(|_| count == found) {
        joined = joined.with_labels(labels)?;
        if let Some(names) = class_names {
            joined = joined.with_class_names(names)?;
        }
    }
    if let Some(features) = kept_features {
        joined = joined.with_features(features)?;
        if let Some(names) = dataset.feature_names() {
            joined = joined.with_feature_names(names.clone())?;
        }
        if let Some(text) = dataset.encoding() {
            joined = joined.with_encoding(text);
        }
    }
    if let Some(splits) = kept_splits.filter(|_| count == found) {
        joined = joined.with_splits(splits).map_err(graph_error(file))?;
    }
    let columns = columns.into_iter().map(|(name, values)| (name, values.into()));
    joined = joined.with_edge_columns(columns)?;
    let dataset = described(replace_features(joined, request, rows)?, request)?;
    Ok(Imported { dataset, columns: reports })
}

/// The graph with isolated nodes behind its last.
fn grown(graph: &Graph, nodes: usize) -> Result<Graph, DataError> {
    let mut offsets = graph.offsets().to_vec();
    offsets.resize(nodes + 1, graph.edges());
    let twins = graph.twins().map(|twins| Buffer::from(twins.to_vec()));
    Ok(Graph::trusted(offsets, graph.sources().to_vec(), twins, graph.dropped())?)
}

/// What became of the columns of a table of edges. Those that are not used were not read: their kind is that of the first
/// rows.
pub(super) fn edge_columns(
    format: Format,
    request: &Import,
    edges: &EdgeTable,
    values: &EdgeValues,
) -> Vec<ColumnReport> {
    let Some(head) = explain::head_of_edges(format, request, JUDGED_BY) else { return Vec::new() };
    let markers = Markers(&request.columns.missing);
    let all = head.rows.len() < JUDGED_BY;
    let mut reports = Vec::new();
    for (column, name) in head.names.iter().enumerate() {
        let mut texts = Texts::default();
        for (row, fields) in head.rows.iter().enumerate() {
            texts.push(row, fields.get(column).map_or("", String::as_str));
        }
        let profile = Profile::of(&Cells::Text(texts), markers);
        let kept = values.iter().find(|(own, _)| own == name).map(|(_, values)| values);
        let (role, numbers) = match column {
            _ if column == head.source => (Role::Source, None),
            _ if column == head.target => (Role::Target, None),
            _ if Some(column) == head.weight => (Role::Weight, edges.weights.as_ref()),
            _ if kept.is_some() => (Role::Value, kept),
            _ => (Role::Dropped, None),
        };
        let (min, max) = match numbers {
            Some(values) => range(values),
            None if all => profile.bounds(),
            None => (None, None),
        };
        let note = match role {
            Role::Dropped if profile.kind == Kind::Number => {
                format!("not used: set `edge_values={name}` to keep it, `weight={name}` if it is the weight")
            }
            Role::Dropped => "not used".to_owned(),
            _ if !head.named => "by its position: the file names no columns".to_owned(),
            _ => String::new(),
        };
        reports.push(ColumnReport {
            table: TableOf::Edges,
            name: name.clone(),
            role,
            kind: profile.kind,
            distinct: all.then_some(profile.distinct),
            missing: (head.rows.len() - profile.present) as f64 / head.rows.len().max(1) as f64,
            min,
            max,
            features: Vec::new(),
            note,
        });
    }
    reports
}

fn range(values: &[f32]) -> (Option<Bound>, Option<Bound>) {
    let bound = |value: Option<f32>| value.map(|value| Bound::Number(f64::from(value)));
    (bound(values.iter().copied().reduce(f32::min)), bound(values.iter().copied().reduce(f32::max)))
}

/// The row of each node whose name is an id of the table.
pub(super) fn rows_by_name<'a>(
    names: &Names,
    ids: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<u32>, String> {
    let row_of: HashMap<&[u8], u32> = ids.zip(0..).collect();
    let row = |name: &str| row_of.get(name.as_bytes()).copied().ok_or_else(|| name.to_owned());
    names.iter().map(row).collect()
}

/// An id that the arrays name and the table does not have.
pub(super) fn no_row(file: &Path, name: &str) -> DataError {
    request_error("nodes", file.display().to_string(), format!("a row for the node `{name}` of the arrays"))
}
