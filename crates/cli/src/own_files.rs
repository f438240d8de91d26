//! A graph from own files, as commands that take one are told about them.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use edgepace_data::import::{Columns, FeatureColumns, Format, Import, import};
use edgepace_graph::{Dataset, Threads};
use indicatif::ProgressBar;

use crate::dataset::bytes_style;
use crate::messages;

/// Which files beside that of the edges, and what is where in them.
#[derive(Args)]
#[command(next_help_heading = "Own files")]
#[group(requires = "edges")]
pub(crate) struct OwnFiles {
    /// Table of nodes (CSV, TSV, Parquet)
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// Features row by node (npy, npz, or a sparse matrix of SciPy), or by id (JSON), instead of columns of the table
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
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
    /// Column of the edges: where they start, by name or number from 0 [default: `source`, or the first]
    #[arg(long, value_name = "COLUMN")]
    source: Option<String>,
    /// Column of the edges: where they end [default: `target`, or the second]
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Column of the edges: how strong they are [default: `weight`, if there is one]
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Further columns of numbers of the edges to keep
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    edge_values: Vec<String>,
    /// Column of the nodes: what edges call them [default: `id`, or the row's number]
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Column of the nodes: the class [default: `label`, `class` or `y`]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// Columns of the nodes: the split, `train`, `val` or `test` [default: `split` and `split:NAME`]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    split_column: Option<Vec<String>>,
    /// Columns of the nodes: the features [default: all other columns of numbers]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', conflicts_with = "feature_prefix")]
    feature_columns: Option<Vec<String>>,
    /// Columns of the nodes whose names start so are the features
    #[arg(long, value_name = "TEXT")]
    feature_prefix: Option<String>,
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
    let bar = messages::bar(ProgressBar::new(0).with_style(bytes_style()).with_message("reading"));
    let dataset = import(threads, request, &|done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let dataset = dataset?;
    if dataset.graph().nodes() == 0 {
        bail!("{} has no edges, and no table names nodes: is it the right file?", request.edges.display());
    }
    Ok(dataset)
}

impl OwnFiles {
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
            kept_encoding: None,
            columns: Columns {
                source: self.source.clone(),
                target: self.target.clone(),
                weight: self.weight.clone(),
                edge_values: self.edge_values.clone(),
                id: self.id.clone(),
                label: self.label.clone(),
                splits: self.split_column.clone(),
                features,
                ..Columns::default()
            },
        }
    }
}
