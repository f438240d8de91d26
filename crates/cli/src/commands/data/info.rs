//! `edgepace data info`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_data::native::{Info, Native};
use edgepace_data::splits::Sizes;
use edgepace_data::{Source, SplitRule, is_graph_file, splits};
use edgepace_graph::{Dataset, Features, Labels, Split, Threads, edge_homophily};
use serde::Serialize;

use crate::dataset::{DataFolder, budget, source};
use crate::messages;
use crate::table::{Align, Table, count, say, shown};

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// A name, a generator or a graph file
    name: String,
    /// Of a graph file: check every byte against its checksums, instead of only its head
    #[arg(long)]
    verify: bool,
}

/// What is known of a dataset.
#[derive(Serialize)]
struct Summary {
    name: String,
    nodes: usize,
    /// Directed, after the dataset's own rule.
    edges: usize,
    undirected: bool,
    features: usize,
    sparse: bool,
    classes: usize,
    /// Whether each node has many yes-or-no labels instead of one class.
    many_labels: bool,
    homophily: Option<f64>,
    /// What the source of the graph listed and the graph does not have.
    dropped_duplicates: usize,
    dropped_loops: usize,
    edge_columns: Vec<String>,
    splits: Vec<SplitSummary>,
    checksum: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    edge_rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<String>,
}

#[derive(Serialize)]
struct SplitSummary {
    name: String,
    train: usize,
    validation: usize,
    test: usize,
    hash: String,
}

pub(crate) fn run(args: &Args, data_folder: &DataFolder) -> Result<ExitCode> {
    let (threads, source) = (budget(None)?, source(&args.name)?);
    let summary = match &source {
        // The head of a graph file says it all, at any size.
        Source::File(path) if is_graph_file(path) => {
            let native = Native::open(path)?;
            if args.verify {
                native.verify_header(&threads)?;
            }
            of_file(native.info())
        }
        Source::Set(set) => Summary {
            edge_rule: Some(set.edge_rule),
            ..of_dataset(&threads, &data_folder.load(&threads, &args.name)?)?
        },
        Source::File(_) | Source::Generator(_) => {
            of_dataset(&threads, &data_folder.load(&threads, &args.name)?)?
        }
    };
    if messages::json() {
        say(&serde_json::to_string(&summary)?)?;
    } else {
        print(&summary)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn of_file(info: &Info) -> Summary {
    let splits = info.splits.iter().map(|split| SplitSummary {
        name: split.name.clone(),
        train: split.train,
        validation: split.validation,
        test: split.test,
        hash: split.hash.clone(),
    });
    Summary {
        name: info.name.clone(),
        nodes: info.nodes,
        edges: info.edges,
        undirected: info.undirected,
        features: info.features.columns,
        sparse: info.features.stored.is_some(),
        classes: info.labels.width,
        many_labels: info.labels.many,
        homophily: info.homophily,
        dropped_duplicates: info.dropped_duplicates,
        dropped_loops: info.dropped_loops,
        edge_columns: info.edge_columns.clone(),
        splits: splits.collect(),
        checksum: info.checksum.clone(),
        edge_rule: None,
        record: Some(info.record.clone()).filter(|record| !record.is_empty()),
    }
}

fn of_dataset(threads: &Threads, dataset: &Dataset) -> Result<Summary> {
    let graph = dataset.graph();
    // A dataset without splits of its own is used with five folds; those of seed 0 are shown.
    let drawn = match dataset.splits() {
        [] if dataset.labels().width() > 0 => five_folds(threads, dataset)?,
        _ => Vec::new(),
    };
    let splits = dataset.splits().iter().chain(&drawn).map(|split| SplitSummary {
        name: split.name().to_owned(),
        train: split.train().len(),
        validation: split.validation().len(),
        test: split.test().len(),
        hash: split.hash().to_owned(),
    });
    let homophily = match &**dataset.labels() {
        Labels::Classes(classes) => edge_homophily(graph, classes),
        Labels::Many(_) => None,
    };
    Ok(Summary {
        name: dataset.name().to_owned(),
        nodes: graph.nodes(),
        edges: graph.edges(),
        undirected: graph.twins().is_some(),
        features: dataset.features().cols(),
        sparse: matches!(**dataset.features(), Features::Sparse(_)),
        classes: dataset.labels().width(),
        many_labels: matches!(**dataset.labels(), Labels::Many(_)),
        homophily,
        dropped_duplicates: graph.dropped().duplicates,
        dropped_loops: graph.dropped().loops,
        edge_columns: dataset.edge_columns().map(|(name, _)| name.to_owned()).collect(),
        splits: splits.collect(),
        checksum: dataset.checksum(),
        edge_rule: None,
        record: None,
    })
}

fn five_folds(threads: &Threads, dataset: &Dataset) -> Result<Vec<Split>> {
    let folds = (0..5).map(|fold| {
        let rule = SplitRule::Drawn { sizes: Sizes::KFold { folds: 5, fold }, stratified: false, seed: None };
        Ok(splits::make(threads, &rule, dataset, 0)?)
    });
    folds.collect()
}

fn print(summary: &Summary) -> Result<()> {
    let edges = if summary.undirected {
        format!("{} directed ({} undirected)", count(summary.edges as u64), count(summary.edges as u64 / 2))
    } else {
        format!("{} directed", count(summary.edges as u64))
    };
    let kind = if summary.sparse { "sparse" } else { "dense" };
    let labels = if summary.many_labels { "labels per node" } else { "classes" };
    say(&shown(&summary.name))?;
    say(&format!("nodes      {}", count(summary.nodes as u64)))?;
    say(&format!("edges      {edges}"))?;
    if summary.dropped_duplicates + summary.dropped_loops > 0 {
        let (duplicates, loops) = (summary.dropped_duplicates as u64, summary.dropped_loops as u64);
        say(&format!("left out   {} repeated, {} from a node to itself", count(duplicates), count(loops)))?;
    }
    if let Some(rule) = summary.edge_rule {
        say(&format!("rule       {rule}"))?;
    }
    say(&format!("features   {}, {kind}", count(summary.features as u64)))?;
    say(&format!("labels     {} {labels}", summary.classes))?;
    if let Some(homophily) = summary.homophily {
        say(&format!("homophily  {homophily:.4}, the share of edges between nodes of one class"))?;
    }
    if !summary.edge_columns.is_empty() {
        say(&format!("per edge   {}", shown(&summary.edge_columns.join(", "))))?;
    }
    if let Some(record) = &summary.record {
        say(&format!("record     {}", shown(record)))?;
    }
    say(&format!("checksum   {}", summary.checksum))?;
    if !summary.splits.is_empty() {
        let mut table = Table::new(&[
            ("split", Align::Left),
            ("train", Align::Right),
            ("validation", Align::Right),
            ("test", Align::Right),
            ("hash", Align::Left),
        ]);
        for split in &summary.splits {
            table.row([
                split.name.clone(),
                count(split.train as u64),
                count(split.validation as u64),
                count(split.test as u64),
                split.hash[..16].to_owned(),
            ]);
        }
        say(&format!("\n{table}"))?;
    }
    Ok(())
}
