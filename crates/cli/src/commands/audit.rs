//! `edgepace audit`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use edgepace_graph::{Dataset, files};
use edgepace_lab::statistics::mean;
use edgepace_lab::{FinishedRun, Plan};
use edgepace_train::{Audit, Detection, EdgeRow, EdgeTable, METHODS, Warning, find_method, listed};
use serde::Serialize;

use crate::dataset::budget;
use crate::report::{Summary, fixed, mean_and_deviation, said_once, warn};
use crate::runs::RunArgs;
use crate::table::{Align, Table, count, say};

/// Find the edges of a graph that have least for them.
///
/// Trains as `edgepace train` does and ranks every edge. Suspicion is a number from 0 to 1: the share of all other edges that
/// are better supported, so an edge of 0.9 is among the tenth that has least for it. Support is how easy the curriculum
/// found the edge, how alike the features of its ends are and how far their neighbourhoods overlap, each as a rank.
/// Suspicion is a rank as well, not a probability of being wrong: half of the edges of a flawless graph are above 0.5.
///
/// Columns of `--csv` and `--parquet`, one row per edge (an undirected one once), the most suspicious first: source and target by number
/// and, if they have one, by name; suspicion; difficulty, how hard the curriculum found it (0 easy, 1 hard); first_epoch,
/// from which on it was trained on (empty: never); weight, in training at the end; the predicted classes of both ends;
/// feature_similarity and jaccard of the ends' neighbourhoods; and fake, where noise has added edges.
///
/// With fake edges among them (`--noise fake=1.0`) the ranking is judged: ROC-AUC, the probability that a fake edge is more
/// suspicious than a true one, beside feature similarity and neighbourhood overlap alone; and the share of fakes among as
/// many most suspicious edges as there are fakes.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace audit cora --top 20                                 the edges that have least for them
  edgepace audit --edges e.csv --nodes n.csv --csv edges.csv   every edge of your own graph, as a table
  edgepace audit cora --noise fake=1.0 --seeds 0..3 --jobs 2   how well fake edges are found")]
pub(crate) struct Args {
    /// Print so many of the most suspicious edges, of the first seed
    #[arg(long, default_value_t = 50)]
    top: usize,
    /// Write all edges as CSV, those of the first seed
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write all edges as Parquet, those of the first seed
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Serialize)]
struct Output {
    #[serde(flatten)]
    summary: Summary<Found>,
    auc_mean: Option<f64>,
    /// The most suspicious edges of the first seed.
    top: Vec<EdgeRow>,
}

/// How well one run found fake edges; nothing where none is marked.
#[derive(Serialize)]
struct Found {
    seed: u64,
    auc: Option<f64>,
    auc_feature_cosine: Option<f64>,
    auc_jaccard: Option<f64>,
    precision_at_fakes: Option<f64>,
    fakes: Option<usize>,
    test: Option<f64>,
    seconds: f64,
    #[serde(skip)]
    warnings: Vec<Warning>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let (plan, config) = args.run.plan()?;
    refuse_without_order(&plan)?;
    for file in args.csv.iter().chain(&args.parquet) {
        files::check_writable(file)?;
    }
    let sweep = args.run.load(plan, config)?;
    let audited = args.run.work.each_finished(&sweep, None, |run| of_run(args, sweep.plan(), &run))?;
    let mut top = Vec::new();
    let (mut runs, mut splits) = (Vec::new(), Vec::new());
    for (found, split, rows) in audited {
        runs.push(found);
        splits.push(split);
        top.extend(rows);
    }
    let of_runs: Vec<_> = runs.iter().map(|run| (run.seed, &run.warnings[..])).collect();
    let warnings = said_once(&of_runs);
    let auc_mean = mean(&runs.iter().map(|run| run.auc).collect::<Vec<_>>());
    let output = Output { summary: Summary::new(&sweep, runs, &splits, warnings), auc_mean, top };
    if args.json {
        say(&serde_json::to_string(&output)?)?;
    } else {
        print(&output, args)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a method that says nothing about edges, before it runs.
fn refuse_without_order(plan: &Plan) -> Result<()> {
    if !find_method(&plan.config.method)?.orders_edges {
        let names: Vec<&str> =
            METHODS.iter().filter(|method| method.orders_edges).map(|method| method.name).collect();
        bail!("`method` is `{}`, expected one that orders edges: {}", plan.config.method, names.join(", "));
    }
    Ok(())
}

/// Judges one run; the first one also gives its most suspicious edges and writes the table.
fn of_run(args: &Args, plan: &Plan, run: &FinishedRun) -> Result<(Found, String, Vec<EdgeRow>)> {
    let result = &run.finished.record.result;
    let report = run.finished.edges.as_ref().context("the method has nothing to say about edges")?;
    let audit = Audit::new(&budget(args.run.work.threads)?, &run.data.dataset, report)?;
    let marks = run.data.dataset.edge_column(Dataset::FAKE);
    let detection = marks.and_then(|fake| audit.against(fake));
    let of = |value: fn(&Detection) -> f64| detection.as_ref().map(value);
    let found = Found {
        seed: result.seed,
        auc: of(|detection| detection.auc),
        auc_feature_cosine: of(|detection| detection.auc_feature_cosine),
        auc_jaccard: of(|detection| detection.auc_jaccard),
        precision_at_fakes: of(|detection| detection.precision_at_fakes),
        fakes: detection.map(|detection| detection.fakes),
        test: result.test,
        seconds: result.seconds + result.warm_start_seconds,
        warnings: result.warnings.clone(),
    };
    let mut top = Vec::new();
    if plan.seeds.first() == Some(&result.seed) {
        let logits = &run.finished.snapshot.logits;
        let table = EdgeTable { dataset: &run.data.dataset, report, logits, audit: Some(&audit) };
        let mut edges = listed(run.data.dataset.graph());
        edges.sort_by(|a, b| audit.suspicion[b.0].total_cmp(&audit.suspicion[a.0]));
        if let Some(file) = &args.csv {
            table.write_csv(file, &edges)?;
        }
        if let Some(file) = &args.parquet {
            table.write_parquet(file, &edges)?;
        }
        top = edges.iter().take(args.top).map(|&edge| table.row(edge)).collect();
    }
    Ok((found, result.split.clone(), top))
}

fn print(output: &Output, args: &Args) -> Result<()> {
    warn(&output.summary.warnings);
    say(&output.summary.title())?;
    if !output.top.is_empty() {
        say(&format!("\n{}\n", edges(&output.top)))?;
        let seed = output.summary.runs.first().map_or(0, |run| run.seed);
        say(&format!(
            "The {} most suspicious edges of seed {seed}. Suspicion is the share of other edges that are better\n\
             supported: a rank, not a probability of being wrong.",
            output.top.len()
        ))?;
    }
    if output.summary.runs.iter().any(|run| run.auc.is_some()) {
        say(&format!("\n{}", detections(&output.summary.runs)))?;
        say(
            "AUC: how often a fake edge is more suspicious than a true one. Precision: the share of fakes among as\n\
             many most suspicious edges as there are fakes.",
        )?;
    }
    for file in args.csv.iter().chain(&args.parquet) {
        say(&format!("wrote {}", file.display()))?;
    }
    Ok(())
}

fn edges(rows: &[EdgeRow]) -> Table {
    let marked = rows.iter().any(|row| row.fake.is_some());
    let mut columns = vec![
        ("source", Align::Left),
        ("target", Align::Left),
        ("suspicion", Align::Right),
        ("difficulty", Align::Right),
        ("first epoch", Align::Right),
        ("weight", Align::Right),
        ("classes", Align::Left),
    ];
    if marked {
        columns.push(("fake", Align::Left));
    }
    let mut table = Table::new(&columns);
    for row in rows {
        let name = |name: &Option<String>, node: u32| name.clone().unwrap_or_else(|| node.to_string());
        let class = |class: &Option<String>| class.clone().unwrap_or_else(|| "–".to_owned());
        let mut cells = vec![
            name(&row.source_name, row.source),
            name(&row.target_name, row.target),
            row.suspicion.map_or_else(String::new, |suspicion| format!("{suspicion:.4}")),
            format!("{:.4}", row.difficulty),
            row.first_epoch.map_or_else(|| "never".to_owned(), |epoch| epoch.to_string()),
            format!("{:.3}", row.weight),
            format!("{} – {}", class(&row.source_class), class(&row.target_class)),
        ];
        if marked {
            cells.push(if row.fake == Some(true) { "fake" } else { "" }.to_owned());
        }
        table.row(cells);
    }
    table
}

fn detections(runs: &[Found]) -> Table {
    let mut table = Table::new(&[
        ("seed", Align::Left),
        ("AUC", Align::Right),
        ("feature cosine", Align::Right),
        ("Jaccard", Align::Right),
        ("precision", Align::Right),
        ("fakes", Align::Right),
    ]);
    let cell = |value: Option<f64>| fixed(value, 4);
    for run in runs {
        table.row([
            run.seed.to_string(),
            cell(run.auc),
            cell(run.auc_feature_cosine),
            cell(run.auc_jaccard),
            cell(run.precision_at_fakes),
            run.fakes.map_or_else(String::new, |fakes| count(fakes as u64)),
        ]);
    }
    if runs.len() > 1 {
        let of = |value: fn(&Found) -> Option<f64>| runs.iter().map(value).collect::<Vec<_>>();
        let columns: [fn(&Found) -> Option<f64>; 4] = [
            |run| run.auc,
            |run| run.auc_feature_cosine,
            |run| run.auc_jaccard,
            |run| run.precision_at_fakes,
        ];
        let means = columns.into_iter().map(|column| mean_and_deviation(&of(column), 4));
        table.row(std::iter::once("mean".to_owned()).chain(means));
    }
    table
}
