//! `edgepace data import`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{ArgGroup, Args as ClapArgs};
use edgepace_data::native::save_with_record;
use edgepace_data::{SplitRule, set_max_expansion, splits};
use edgepace_graph::{Dataset, Threads};

use crate::dataset::{budget, spinner};
use crate::own_files::{self, OwnFiles};
use crate::table::{count, say};

/// Make a graph file of tables, arrays or GraphML.
///
/// FILE is whatever holds the graph: a file of edges, an npz file of gnn-benchmark, of the heterophilous sets or of SciPy, a
/// MATLAB file, or a folder as Planetoid, Geom-GCN, OGB, MUSAE or `edgepace data export` lay it out. Of several sets in one
/// folder name one, as `planetoid/ind.cora`.
///
/// Edges are CSV, TSV (each also gzipped), Parquet, NumPy or SciPy npz, GraphML, or an edge list as NetworkX writes it. A
/// table of nodes has one row per node: its id, its label, its split, its name, and features in all other columns of numbers.
/// Ids are numbers from 0 or any text. Nodes without features get one, log(1 + degree); without labels there is nothing to
/// learn, but the graph can be kept and exported.
#[derive(ClapArgs)]
#[command(group(ArgGroup::new("edges").args(["file", "edges_file"]).required(true)))]
#[command(after_help = "Examples:
  edgepace data import amazon_photo.npz -o photo.graph
  edgepace data import facebook/ -o facebook.graph
  edgepace data import --edges e.csv --nodes n.csv -o my.graph
  edgepace data import --edges links.tsv.gz --source from --target to --weight strength -o links.graph
  edgepace data import --edges e.csv --nodes n.csv --features x.npz --split kfold:5:0:stratified -o my.graph
  edgepace data import --edges karate.graphml --label club -o karate.graph")]
pub(crate) struct Args {
    /// The file or folder that holds the graph
    file: Option<PathBuf>,
    /// The same, beside tables and columns that are named
    #[arg(long = "edges", value_name = "FILE")]
    edges_file: Option<PathBuf>,
    /// The graph file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Add a split: `kfold:K:I`, `fraction:TRAIN:VALIDATION` or `per-class:TRAIN:VALIDATION:TEST`, each also with
    /// `:stratified` and `:seed=N`
    #[arg(long)]
    split: Vec<SplitRule>,
    /// Seed of splits that name none
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Let packed files unpack to so many times their size [default: 100, or 256 MiB if that is more]
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u64).range(1..))]
    max_expansion: Option<u64>,
    #[command(flatten)]
    own_files: OwnFiles,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.output.extension().is_none_or(|extension| extension != "graph") {
        bail!("`--output` is `{}`, expected a name that ends in `.graph`", args.output.display());
    }
    if let Some(times) = args.max_expansion {
        set_max_expansion(times);
    }
    let edges = args.file.as_ref().or(args.edges_file.as_ref()).context("a file is missing")?;
    let threads = budget(None)?;
    let dataset = with_splits(&threads, own_files::read(&threads, &args.own_files.request(edges))?, args)?;
    let bar = spinner(format!("writing {}", args.output.display()));
    save_with_record(&threads, &dataset, &format!("imported from {}", edges.display()), &args.output)?;
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

fn with_splits(threads: &Threads, dataset: Dataset, args: &Args) -> Result<Dataset> {
    let mut all = dataset.splits().to_vec();
    for rule in &args.split {
        all.push(splits::make(threads, rule, &dataset, args.seed)?);
    }
    Ok(dataset.with_splits(all)?)
}
