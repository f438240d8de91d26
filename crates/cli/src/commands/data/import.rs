//! `edgepace data import`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{ArgGroup, Args as ClapArgs};
use edgepace_data::import::{Bound, ColumnReport, GraphReport, Imported, TableOf};
use edgepace_data::native::save_with_record;
use edgepace_data::{SplitRule, set_max_expansion, splits};
use edgepace_graph::{Dataset, Threads};
use serde_json::json;

use crate::dataset::{budget, spinner};
use crate::own_files::{self, OwnFiles, as_flags};
use crate::table::{Align, Table, count, say, shown};
use crate::{messages, output};

/// Columns of a table that are shown; a table may have a hundred thousand.
const SHOWN_COLUMNS: usize = 100;
/// Classes that are shown.
const SHOWN_CLASSES: usize = 12;
/// Letters of a name that are shown.
const SHOWN_LETTERS: usize = 28;
/// Letters of a line.
const LINE: usize = 80;

/// Make a graph file of tables, arrays or GraphML, and say what became of each column.
///
/// FILE is whatever holds the graph: a file of edges, an npz file of gnn-benchmark, of the heterophilous sets or of SciPy, a
/// MATLAB file, or a folder as Planetoid, Geom-GCN, OGB, MUSAE or `edgepace data export` lay it out. Of several sets in one
/// folder name one, as `planetoid/ind.cora`.
///
/// Edges are CSV, TSV (each also gzipped), Parquet, NumPy or SciPy npz, GraphML, or an edge list as NetworkX writes it. A
/// table of nodes has one row per node: its id, its label, its split, its name, and features in all other columns that are
/// numbers, true or false, or categories, which become one-hot. Dates, free text and ids are left out, missing values are
/// filled and marked; the report says what was done, and `--json` prints it as `columns` and `graph`. Ids are numbers from 0
/// or any text. Where there are no features, a run takes others (`--features-from` of `edgepace train`); without labels there
/// is nothing to learn, but the graph can be kept and exported.
#[derive(ClapArgs)]
#[command(group(ArgGroup::new("edges").args(["file", "edges_file"]).required(true)))]
#[command(after_help = "Examples:
  edgepace data import amazon_photo.npz -o photo.graph
  edgepace data import facebook/ -o facebook.graph
  edgepace data import --edges e.csv --nodes n.csv -o my.graph
  edgepace data import --edges links.tsv.gz --source from --target to --weight strength -o links.graph
  edgepace data import --edges buys.parquet --nodes items.parquet --id asin --dates year -o items.graph
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
    /// Replace the file if it is there
    #[arg(long)]
    overwrite: bool,
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
    output::check_graph_file(&args.output, args.overwrite)?;
    if let Some(times) = args.max_expansion {
        set_max_expansion(times);
    }
    let edges = args.file.as_ref().or(args.edges_file.as_ref()).context("a file is missing")?;
    let threads = budget(None)?;
    let request = args.own_files.request(edges);
    let Imported { dataset, mut columns } = own_files::read_with_report(&threads, &request)?;
    let dataset = with_splits(&threads, dataset, args)?;
    let bar = spinner(format!("writing {}", args.output.display()));
    save_with_record(&threads, &dataset, &format!("imported from {}", edges.display()), &args.output)?;
    let graph = GraphReport::of(&dataset);
    bar.finish_and_clear();
    for column in &mut columns {
        column.note = as_flags(&column.note);
    }
    if messages::json() {
        say(&json!({ "columns": columns, "graph": graph, "wrote": [args.output] }).to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let nodes = request.nodes.as_ref().unwrap_or(edges);
    for (of, file) in [(TableOf::Nodes, nodes), (TableOf::Edges, edges)] {
        let columns: Vec<&ColumnReport> = columns.iter().filter(|column| column.table == of).collect();
        if !columns.is_empty() {
            let what = if of == TableOf::Nodes { "nodes" } else { "edges" };
            say(&format!("{what}: {}", shown(&file.display().to_string())))?;
            say_columns(&columns)?;
            say("")?;
        }
    }
    say_graph(&graph)?;
    say(&format!("\nwrote {}", args.output.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// A table of the columns, and below it what there is to say about some of them.
fn say_columns(columns: &[&ColumnReport]) -> Result<()> {
    let mut table = Table::new(&[
        ("  column", Align::Left),
        ("role", Align::Left),
        ("kind", Align::Left),
        ("distinct", Align::Right),
        ("missing", Align::Right),
        ("range", Align::Left),
    ]);
    for column in columns.iter().take(SHOWN_COLUMNS) {
        let range = match (&column.min, &column.max) {
            (Some(min), Some(max)) => format!("{} … {}", bound(min), bound(max)),
            _ => String::new(),
        };
        table.row([
            format!("  {}", name(&column.name)),
            column.role.as_str().to_owned(),
            column.kind.as_str().to_owned(),
            column.distinct.map_or(String::new(), |distinct| count(distinct as u64)),
            percent(column.missing),
            range,
        ]);
    }
    say(&table.to_string())?;
    if columns.len() > SHOWN_COLUMNS {
        say(&format!("  and {} more: `--json` lists all", count((columns.len() - SHOWN_COLUMNS) as u64)))?;
    }
    for column in columns.iter().take(SHOWN_COLUMNS).filter(|column| !column.note.is_empty()) {
        say(&wrapped(&format!("{}: {}", name(&column.name), shown(&column.note))))?;
    }
    Ok(())
}

fn say_graph(graph: &GraphReport) -> Result<()> {
    let number = |number: usize| count(number as u64);
    let mut table = Table::new(&[("graph", Align::Left), ("", Align::Left)]);
    let mut row = |name: &str, text: String| table.row([format!("  {name}"), text]);
    row("nodes", number(graph.nodes));
    let kind = if graph.undirected { ", each counted both ways" } else { ", directed" };
    row("edges", format!("{}{kind}", number(graph.edges)));
    row("features", number(graph.features));
    let share = percent(graph.labelled_share);
    row("labelled", format!("{} of {} nodes, {share}", number(graph.labelled), number(graph.nodes)));
    let class =
        |class: &edgepace_data::import::ClassCount| format!("{} {}", name(&class.name), number(class.nodes));
    let mut classes: Vec<String> = graph.classes.iter().take(SHOWN_CLASSES).map(class).collect();
    if graph.classes.len() > SHOWN_CLASSES {
        classes.push(format!("and {} more", number(graph.classes.len() - SHOWN_CLASSES)));
    }
    if classes.is_empty() {
        classes.push("none: there is nothing to learn".to_owned());
    }
    row("classes", classes.join(", "));
    row("isolated", format!("{} nodes without an edge", number(graph.isolated)));
    row(
        "components",
        format!("{}, the largest of {} nodes", number(graph.components), number(graph.largest_component)),
    );
    row(
        "left out",
        format!(
            "{} repeated edges, {} from a node to itself",
            number(graph.duplicates),
            number(graph.self_loops)
        ),
    );
    if graph.conflicting_weights > 0 {
        let conflicting = number(graph.conflicting_weights);
        row("", format!("{conflicting} of the repeats have another weight than the first, which counts"));
    }
    if graph.weightless > 0 {
        row("", format!("{} edges of weight 0", number(graph.weightless)));
    }
    Ok(say(&table.to_string())?)
}

fn name(name: &str) -> String {
    let name = shown(name);
    match name.char_indices().nth(SHOWN_LETTERS) {
        None => name,
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

fn percent(share: f64) -> String {
    match share {
        0.0 => "0 %".to_owned(),
        // A few of a million are not none.
        share if share < 0.0005 => "< 0.1 %".to_owned(),
        share => format!("{:.1} %", 100.0 * share),
    }
}

fn bound(bound: &Bound) -> String {
    match bound {
        Bound::Date(date) => date.clone(),
        Bound::Number(number) if *number == 0.0 || (1e-3..1e7).contains(&number.abs()) => {
            let text = format!("{number:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Bound::Number(number) => format!("{number:.2e}"),
    }
}

/// A paragraph under a table: no line longer than [`LINE`], the first further left than the others.
fn wrapped(text: &str) -> String {
    let mut lines = vec!["  ".to_owned()];
    for word in text.split(' ') {
        let room = lines.last().map_or(0, |line| line.chars().count()) + word.chars().count() < LINE;
        match lines.last_mut() {
            Some(line) if room || line.trim().is_empty() => {
                if !line.trim().is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            _ => lines.push(format!("    {word}")),
        }
    }
    lines.join("\n")
}

fn with_splits(threads: &Threads, dataset: Dataset, args: &Args) -> Result<Dataset> {
    let mut all = dataset.splits().to_vec();
    for rule in &args.split {
        all.push(splits::make(threads, rule, &dataset, args.seed)?);
    }
    Ok(dataset.with_splits(all)?)
}
