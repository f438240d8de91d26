//! A graph from own files, as commands that take one are told about them.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use edgepace_data::DataError;
use edgepace_data::import::{
    ColumnReport, Columns, Dates, Encode, FeatureColumns, FeatureRows, Fill, Format, Import, Imported,
    OneHot, Role, TableOf, import,
};
use edgepace_data::{Source, is_graph_file};
use edgepace_graph::{Dataset, Threads};
use edgepace_lab::DataSource;
use indicatif::ProgressBar;

use crate::dataset::{bytes_style, source};
use crate::messages::{self, with_help};
use crate::table::shown;

/// A column with more values than this is hardly the label.
const MOST_CLASSES: usize = 100;

/// Which files beside that of the edges, and what is where in them.
#[derive(Args)]
#[command(next_help_heading = "Own files")]
#[group(requires = "edges")]
pub(crate) struct OwnFiles {
    /// Table of nodes (CSV, TSV, Parquet)
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// Features row by node (npy, npz, or a sparse matrix of SciPy), or by id (JSON), instead of columns of the table. Row i
    /// is the node with id i where the ids are 0, 1, 2, … in whatever order, and otherwise row i of the table
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Rows of `--features` are in the order of the table, or sorted by id [default: as told there]
    #[arg(long, value_enum, value_name = "ORDER")]
    feature_rows: Option<RowsArg>,
    /// Name of the dataset [default: that of the file of edges]
    #[arg(long)]
    name: Option<String>,
    /// Format of the edges, where the extension does not tell
    #[arg(long, value_enum)]
    edges_format: Option<FormatArg>,
    /// Format of the nodes, where the extension does not tell
    #[arg(long, value_enum)]
    nodes_format: Option<FormatArg>,
    /// Whether the first line of a table of edges names its columns [default: guessed]
    #[arg(long)]
    header: Option<bool>,
    /// Edges go one way only
    #[arg(long)]
    directed: bool,
    /// Column of the edges: where they start, by name or number from 0 [default: by its name, as `source`, `from`, `id1`, or
    /// the first of two]
    #[arg(long, value_name = "COLUMN")]
    source: Option<String>,
    /// Column of the edges: where they end [default: by its name, as `target`, `to`, `id2`, or the second of two]
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Column of the edges: how strong they are [default: `weight`, if there is one]
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Further columns of numbers of the edges to keep
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    edge_values: Vec<String>,
    /// Column of the nodes: what edges call them [default: `id`, `node`, `node_id`, else the
    /// one that they use, or the row's number from 0]
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Column of the nodes: the class [default: `label`, `class`, `y`, `target` or `category`, the first of these]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// Every value of the label is a class, however many there are
    #[arg(long)]
    many_classes: bool,
    /// Columns of the nodes: the split, `train`, `val` or `test` [default: `split` and `split:NAME`]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    split_column: Option<Vec<String>>,
    /// Columns of the nodes: the features [default: all others that are numbers, true or false, or categories]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', conflicts_with = "feature_prefix")]
    feature_columns: Option<Vec<String>>,
    /// Columns of the nodes whose names start so are the features
    #[arg(long, value_name = "TEXT")]
    feature_prefix: Option<String>,
    /// Columns of the nodes to leave out
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    drop: Vec<String>,
    /// Columns that become one column of 0 and 1 per value: `auto` takes text with at most 100 values that come twice or
    /// more on average, `none` none; columns by name may have 1000 values [default: auto]
    #[arg(long, value_name = "auto|none|COLUMNS", value_delimiter = ',')]
    one_hot: Vec<String>,
    /// What stands for a missing number; a column `NAME:missing` tells where. `category` makes nothing up: 0 there, and 1 in
    /// that column [default: mean]
    #[arg(long, value_enum, value_name = "WAY")]
    fill: Option<FillArg>,
    /// What becomes of dates: left out, days since 1970, the year, or sine and cosine of year and week [default: drop]
    #[arg(long, value_enum, value_name = "WAY")]
    dates: Option<DatesArg>,
    /// What marks a missing value, beside an empty cell [default: ?,NaN,NA,N/A,<NA>,null]
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    missing: Option<Vec<String>>,
}

#[derive(Clone, Copy, ValueEnum)]
enum RowsArg {
    Table,
    Id,
}

#[derive(Clone, Copy, ValueEnum)]
enum FillArg {
    Mean,
    Median,
    Zero,
    Category,
}

#[derive(Clone, Copy, ValueEnum)]
enum DatesArg {
    Drop,
    Days,
    Year,
    Cyclic,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    Csv,
    Tsv,
    Parquet,
    Graphml,
    Edgelist,
    Npz,
    Mat,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Format {
        match format {
            FormatArg::Csv => Format::Csv,
            FormatArg::Tsv => Format::Tsv,
            FormatArg::Parquet => Format::Parquet,
            FormatArg::Graphml => Format::GraphMl,
            FormatArg::Edgelist => Format::EdgeList,
            FormatArg::Npz => Format::Arrays,
            FormatArg::Mat => Format::Mat,
        }
    }
}

/// Reads the graph that was asked for.
pub(crate) fn read(threads: &Threads, request: &Import) -> Result<Dataset> {
    Ok(read_with_report(threads, request)?.dataset)
}

/// The same with what became of each column.
pub(crate) fn read_with_report(threads: &Threads, request: &Import) -> Result<Imported> {
    let bar = messages::bar(ProgressBar::new(0).with_style(bytes_style()).with_message("reading"));
    let imported = import(threads, request, &|done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let imported = imported.map_err(in_flags)?;
    if imported.dataset.graph().nodes() == 0 {
        bail!("{} has no edges, and no table names nodes: is it the right file?", request.edges.display());
    }
    Ok(imported)
}

/// An error of the import in the words of the command line.
pub(crate) fn in_flags(error: DataError) -> anyhow::Error {
    let text = error.to_string();
    let flags = as_flags(&text);
    if flags == text { error.into() } else { anyhow::Error::msg(flags) }
}

/// The settings that texts of the import name as `` `name=value` ``, and that are flags here.
const SETTINGS: [&str; 17] = [
    "id",
    "label",
    "source",
    "target",
    "weight",
    "edge_values",
    "header",
    "edges_format",
    "nodes_format",
    "nodes",
    "drop",
    "missing",
    "one_hot",
    "dates",
    "feature_columns",
    "feature_rows",
    "many_classes",
];

/// Writes «set `id=asin`» as «use `--id asin`».
pub(crate) fn as_flags(text: &str) -> String {
    let mut flags = String::new();
    // Every other piece stands between backticks.
    for (place, piece) in text.split('`').enumerate() {
        let setting = piece.split_once('=').filter(|(name, _)| place % 2 == 1 && SETTINGS.contains(name));
        if let Some((name, value)) = setting {
            for (word, other) in [("set ", "use "), ("Set ", "Use ")] {
                if let Some(before) = flags.strip_suffix(&format!("{word}`")) {
                    flags = format!("{before}{other}`");
                }
            }
            let name = name.replace('_', "-");
            let value = if name == "many-classes" { String::new() } else { format!(" {}", quoted(value)) };
            flags.extend(["--", &name, &value]);
        } else {
            flags.push_str(piece);
        }
        flags.push('`');
    }
    flags.pop();
    flags
}

/// As one types it in a shell.
fn quoted(value: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-.:/,…".contains(letter);
    if value.chars().all(plain) { value.to_owned() } else { format!("'{value}'") }
}

/// Nothing can be learned without labels: which column may be meant.
pub(crate) fn without_labels(threads: &Threads, data: &DataSource) -> anyhow::Error {
    let (named, request) = match data {
        DataSource::Files(request) => (request.edges.display().to_string(), Some((**request).clone())),
        DataSource::Name(name) => (name.clone(), Some(Import::file(name))),
    };
    // What was read is read again for its columns: nothing else is left to do.
    let imported = request.and_then(|request| import(threads, &request, &|_, _| {}).ok());
    let columns = imported.map(|imported| imported.columns).unwrap_or_default();
    let may_be = |column: &&ColumnReport| {
        column.table == TableOf::Nodes
            && matches!(column.role, Role::Feature | Role::Dropped)
            && column.distinct.is_some_and(|distinct| (2..=MOST_CLASSES).contains(&distinct))
    };
    let may_be: Vec<String> =
        columns.iter().filter(may_be).map(|column| format!("`{}`", shown(&column.name))).collect();
    let help = match &may_be[..] {
        [] => "name the column of the nodes that holds them by `--label …`".to_owned(),
        some => format!("name the column that holds them by `--label …`; it may be {}", some.join(", ")),
    };
    with_help(anyhow::anyhow!("{} has no labels, so there is nothing to learn", shown(&named)), &help)
}

impl OwnFiles {
    /// Whether anything of this is told.
    fn are_told(&self) -> bool {
        self.request(Path::new("")) != Import::file("")
    }

    /// What is to be read as one's own: the file of `--edges`, or the dataset where more is told about it. `None` where the
    /// dataset says all itself.
    ///
    /// # Errors
    /// More is told about a dataset that is no such file.
    pub(crate) fn requested(&self, dataset: Option<&str>, edges: Option<&Path>) -> Result<Option<Import>> {
        match (dataset, edges) {
            (_, Some(edges)) => Ok(Some(self.request(edges))),
            (Some(name), None) if self.are_told() => match source(name)? {
                Source::File(path) if !is_graph_file(&path) => Ok(Some(self.request(&path))),
                _ => bail!(
                    "`{}` says itself what its columns are: flags as `--label` and `--nodes` are for tables of your own",
                    shown(name)
                ),
            },
            _ => Ok(None),
        }
    }

    /// What is to be read.
    pub(crate) fn request(&self, edges: &Path) -> Import {
        let features = match (&self.feature_columns, &self.feature_prefix) {
            (Some(listed), _) => FeatureColumns::Listed(listed.clone()),
            (None, Some(prefix)) => FeatureColumns::Prefix(prefix.clone()),
            (None, None) => FeatureColumns::Remaining,
        };
        Import {
            edges: edges.to_owned(),
            nodes: self.nodes.clone(),
            features: self.features.clone(),
            edges_format: self.edges_format.map(Format::from),
            nodes_format: self.nodes_format.map(Format::from),
            header: self.header,
            directed: self.directed.then_some(true),
            name: self.name.clone(),
            encoded: None,
            feature_rows: self.feature_rows.map(|rows| match rows {
                RowsArg::Table => FeatureRows::Table,
                RowsArg::Id => FeatureRows::Id,
            }),
            encode: self.encode(),
            encoding: None,
            columns: Columns {
                source: self.source.clone(),
                target: self.target.clone(),
                weight: self.weight.clone(),
                edge_values: self.edge_values.clone(),
                id: self.id.clone(),
                label: self.label.clone(),
                splits: self.split_column.clone(),
                features,
                drop: self.drop.clone(),
                many_classes: self.many_classes,
                missing: self.missing.clone().unwrap_or_else(|| Columns::default().missing),
                ..Columns::default()
            },
        }
    }

    fn encode(&self) -> Encode {
        let one_hot = match self.one_hot.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] | ["auto"] => OneHot::Auto,
            ["none"] => OneHot::None,
            _ => OneHot::Columns(self.one_hot.clone()),
        };
        Encode {
            one_hot,
            fill: match self.fill {
                None | Some(FillArg::Mean) => Fill::Mean,
                Some(FillArg::Median) => Fill::Median,
                Some(FillArg::Zero) => Fill::Zero,
                Some(FillArg::Category) => Fill::Category,
            },
            dates: match self.dates {
                None | Some(DatesArg::Drop) => Dates::Drop,
                Some(DatesArg::Days) => Dates::Days,
                Some(DatesArg::Year) => Dates::Year,
                Some(DatesArg::Cyclic) => Dates::Cyclic,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_as_flags() {
        assert_eq!(
            as_flags("`x=1` is it: set `id=asin`, or `one_hot=a b`; Set `many_classes=true` to"),
            "`x=1` is it: use `--id asin`, or `--one-hot 'a b'`; Use `--many-classes` to"
        );
        assert_eq!(as_flags("nothing `here"), "nothing `here");
    }
}
