//! `edgepace data import`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args as ClapArgs, ValueEnum};
use edgepace_data::import::{Columns, FeatureColumns, Format, Import, import};
use edgepace_data::native::save_with_record;
use edgepace_data::{SplitRule, splits};
use edgepace_graph::Dataset;
use indicatif::ProgressBar;

use crate::dataset::bytes_style;
use crate::table::{count, say};

/// Make a graph file of tables, arrays or GraphML.
///
/// Edges are CSV, TSV (each also gzipped), Parquet, NumPy or SciPy npz, GraphML, or an edge list as NetworkX writes it. A
/// table of nodes has one row per node: its id, its label, its split, its name, and features in all other columns of numbers.
/// Ids are numbers from 0 or any text. Nodes without features get one, log(1 + degree); without labels there is nothing to
/// learn, but the graph can be kept and exported.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace data import --edges e.csv --nodes n.csv -o my.graph
  edgepace data import --edges links.tsv.gz --source from --target to --weight strength -o links.graph
  edgepace data import --edges e.csv --nodes n.csv --features x.npz --split kfold:5:0:stratified -o my.graph
  edgepace data import --edges karate.graphml --label club -o karate.graph")]
pub(crate) struct Args {
    /// File of edges
    #[arg(long, value_name = "FILE")]
    edges: PathBuf,
    /// Table of nodes (CSV, TSV, Parquet)
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// Features row by node (npy, npz, or a sparse matrix of SciPy) instead of columns of the table
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// The graph file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
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
    /// Add a split: `kfold:K:I`, `fraction:TRAIN:VALIDATION` or `per-class:TRAIN:VALIDATION:TEST`, each also with
    /// `:stratified` and `:seed=N`
    #[arg(long)]
    split: Vec<SplitRule>,
    /// Seed of splits that name none
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    Csv,
    Tsv,
    Parquet,
    Graphml,
    Edgelist,
    Npz,
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
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.output.extension().is_none_or(|extension| extension != "graph") {
        bail!("`--output` is `{}`, expected a name that ends in `.graph`", args.output.display());
    }
    let bar = ProgressBar::new(0).with_style(bytes_style()).with_message("reading");
    let dataset = import(&request(args), &|done, total| {
        bar.set_length(total);
        bar.set_position(done);
    })?;
    bar.set_message("writing");
    let dataset = with_splits(dataset, args)?;
    save_with_record(&dataset, &format!("imported from {}", args.edges.display()), &args.output)?;
    bar.finish_and_clear();
    let (graph, dropped) = (dataset.graph(), dataset.graph().dropped());
    say(&format!(
        "wrote {}: {} nodes, {} directed edges, {} features, {} classes",
        args.output.display(),
        count(graph.nodes() as u64),
        count(graph.edges() as u64),
        count(dataset.features().cols() as u64),
        dataset.labels().width()
    ))?;
    if dropped.duplicates + dropped.loops > 0 {
        let (duplicates, loops) = (count(dropped.duplicates as u64), count(dropped.loops as u64));
        say(&format!("left out: {duplicates} repeated edges, {loops} from a node to itself"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn request(args: &Args) -> Import {
    let features = match (&args.feature_columns, &args.feature_prefix) {
        (Some(listed), _) => FeatureColumns::Listed(listed.clone()),
        (None, Some(prefix)) => FeatureColumns::Prefix(prefix.clone()),
        (None, None) => FeatureColumns::Remaining,
    };
    Import {
        edges: args.edges.clone(),
        nodes: args.nodes.clone(),
        features: args.features.clone(),
        edges_format: args.edges_format.map(Format::from),
        nodes_format: args.nodes_format.map(Format::from),
        header: args.header,
        directed: args.directed.then_some(true),
        name: args.name.clone(),
        columns: Columns {
            source: args.source.clone(),
            target: args.target.clone(),
            weight: args.weight.clone(),
            edge_values: args.edge_values.clone(),
            id: args.id.clone(),
            label: args.label.clone(),
            splits: args.split_column.clone(),
            features,
            ..Columns::default()
        },
    }
}

fn with_splits(dataset: Dataset, args: &Args) -> Result<Dataset> {
    let mut all = dataset.splits().to_vec();
    for rule in &args.split {
        all.push(splits::make(rule, &dataset, args.seed)?);
    }
    Ok(dataset.with_splits(all)?)
}
