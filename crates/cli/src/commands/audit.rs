//! `edgepace audit`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use edgepace_graph::Dataset;
use edgepace_lab::statistics::mean;
use edgepace_lab::{FinishedRun, FinishedRuns, Plan};
use edgepace_train::{
    Audit, Detection, EdgeFile, EdgeRow, EdgeTable, METHODS, RunResult, TableFormat, Warning, find_method,
};
use serde::Serialize;

use crate::dataset::budget;
use crate::dry_run;
use crate::messages;
use crate::output::check_file;
use crate::page::{self, Collected};
use crate::report::{Said, Summary, fixed, mean_and_deviation, said_once, warn};
use crate::runs::{RunArgs, with_remedy};
use crate::table::{Align, Table, count, say, shown};

/// Find the edges of a graph with the least support.
///
/// Reads a run that is over (a folder of `edgepace train --out`, or of one of its seeds), or trains on a dataset as `edgepace
/// train` does, and ranks every edge. Suspicion is a number from 0 to 1: the share of all other edges that
/// are better supported, so an edge of 0.9 is among the tenth with the least support. Support is how easy the curriculum
/// found the edge, how alike the features of its ends are and how far their neighbourhoods overlap, each as a rank.
/// Suspicion is a rank as well, not a probability of being wrong: half of the edges of a flawless graph are above 0.5.
///
/// Columns of `--output`, and of `edges.csv` in the folder of a run, one row per edge (an undirected one once), the most suspicious first: source and target by number
/// and, if they have one, by name; suspicion; difficulty, how hard the curriculum found it (0 easy, 1 hard); first_epoch,
/// from which on it was trained on (empty: never); weight, in training at the end; the predicted classes of both ends;
/// feature_similarity and jaccard of the ends' neighbourhoods; and fake, where noise has added edges.
///
/// With fake edges among them (`--noise fake=1.0`) the ranking is judged: ROC-AUC, the probability that a fake edge is more
/// suspicious than a true one, beside feature similarity and neighbourhood overlap alone; and the share of fakes among as
/// many most suspicious edges as there are fakes.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace audit cora --top 20                                 the most suspicious edges
  edgepace audit run                                           those of a run, which is not repeated
  edgepace audit --edges e.csv --nodes n.csv -o edges.parquet  every edge of your own graph, as a table
  edgepace audit run --report audit.html                       a page with the graph and its edges
  edgepace audit cora --noise fake=1.0 --seeds 0..3 --jobs 2   how well fake edges are found")]
pub(crate) struct Args {
    /// Print so many of the most suspicious edges, of the first seed
    #[arg(long, default_value_t = 50)]
    top: usize,
    /// Write all edges, those of the first seed: csv, parquet, json or jsonl by its name
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long)]
    overwrite: bool,
    /// Write a page with the graph, its edges and why they are suspicious
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// The same as CSV, whatever the name
    #[arg(long, value_name = "FILE", hide = true)]
    csv: Option<PathBuf>,
    /// The same as Parquet, whatever the name
    #[arg(long, value_name = "FILE", hide = true)]
    parquet: Option<PathBuf>,
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

/// What one run says: how well it found fakes, its split, and its most suspicious edges if it is the first.
type OfRun = (Found, String, Vec<EdgeRow>);

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let tables = args.tables()?;
    if let Some(file) = &args.report {
        page::check("--report", file, args.overwrite)?;
    }
    let output = if let Some(folder) = args.run.finished()? {
        of_finished(args, &folder, &tables)?
    } else {
        let (plan, config) = args.run.plan()?;
        refuse_without_order(&plan)?;
        let sweep = args.run.load(plan, config)?;
        if args.run.dry_run {
            dry_run::tell(&sweep, &args.run.work, None)?;
            return Ok(ExitCode::SUCCESS);
        }
        let collected = Collected::default();
        let each = |run: FinishedRun| {
            if args.report.is_some() {
                let seed = run.finished.record.result.seed;
                let place = sweep.plan().seeds.iter().position(|own| *own == seed).unwrap_or(0);
                collected.keep(place, &run, place == 0, &budget(args.run.work.threads)?)?;
            }
            of_run(args, sweep.plan(), &run, &tables)
        };
        let audited = args.run.work.each_finished(&sweep, None, each)?;
        if let Some(file) = &args.report {
            page::write(&collected.report(), file, &budget(args.run.work.threads)?)?;
        }
        Output::new(audited, |runs, splits, warnings| Summary::new(&sweep, runs, splits, warnings))
    };
    if messages::json() {
        say(&serde_json::to_string(&output)?)?;
    } else {
        print(&output, &tables)?;
        if let Some(file) = &args.report {
            say(&format!("wrote {}", file.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// The files to write with their formats, which are checked before anything runs.
    fn tables(&self) -> Result<Vec<(PathBuf, TableFormat)>> {
        let mut tables = Vec::new();
        if let Some(file) = &self.output {
            tables.push((file.clone(), TableFormat::of(file)?));
        }
        tables.extend(self.csv.iter().map(|file| (file.clone(), TableFormat::Csv)));
        tables.extend(self.parquet.iter().map(|file| (file.clone(), TableFormat::Parquet)));
        for (file, _) in &tables {
            check_file("--output", file, self.overwrite)?;
        }
        Ok(tables)
    }
}

impl Output {
    fn new(
        audited: Vec<OfRun>,
        summary: impl FnOnce(Vec<Found>, &[String], Vec<Said>) -> Summary<Found>,
    ) -> Self {
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
        Self { summary: summary(runs, &splits, warnings), auc_mean, top }
    }
}

/// The same from the files of runs that are over.
fn of_finished(args: &Args, folder: &Path, tables: &[(PathBuf, TableFormat)]) -> Result<Output> {
    let found = FinishedRuns::open(folder, args.run.seeds()).map_err(|error| with_remedy(error.into()))?;
    refuse_without_order(&found.plan)?;
    let mut audited = Vec::new();
    for (number, run) in found.runs.iter().enumerate() {
        let open = || EdgeFile::open(&run.folder.edges());
        let top = if number == 0 { args.top } else { 0 };
        let (rows, detection) = open()?.digest(top, None)?;
        for (file, format) in tables.iter().filter(|_| number == 0) {
            open()?.digest(0, Some((file, *format)))?;
        }
        let result = &run.record.result;
        audited.push((Found::new(result, detection), result.split.clone(), rows));
    }
    if let Some(file) = &args.report {
        let threads = budget(args.run.work.threads)?;
        let report =
            page::of_folders(&[folder.to_owned()], args.run.seeds(), args.run.data_folder(), &threads)?;
        page::write(&report, file, &threads)?;
    }
    let config = found.plan.config.check()?;
    let dataset = found.plan.unseeded().unwrap_or(&found.runs[0].record.data.name);
    Ok(Output::new(audited, |runs, splits, warnings| {
        Summary::of(&found.plan, &config, dataset, runs, splits, warnings)
    }))
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
fn of_run(args: &Args, plan: &Plan, run: &FinishedRun, tables: &[(PathBuf, TableFormat)]) -> Result<OfRun> {
    let result = &run.finished.record.result;
    let report = run.finished.edges.as_ref().context("the method has nothing to say about edges")?;
    let audit = Audit::new(&budget(args.run.work.threads)?, &run.data.dataset, report)?;
    let marks = run.data.dataset.edge_column(Dataset::FAKE);
    let detection = marks.and_then(|fake| audit.against(fake));
    let mut top = Vec::new();
    if plan.seeds.first() == Some(&result.seed) {
        let table = EdgeTable::new(&run.data.dataset, report, &run.finished.snapshot.logits, &audit);
        for (file, format) in tables {
            table.write(file, *format)?;
        }
        top = table.rows().take(args.top).collect();
    }
    Ok((Found::new(result, detection), result.split.clone(), top))
}

impl Found {
    fn new(result: &RunResult, detection: Option<Detection>) -> Self {
        let of = |value: fn(&Detection) -> f64| detection.as_ref().map(value);
        Self {
            seed: result.seed,
            auc: of(|detection| detection.auc),
            auc_feature_cosine: of(|detection| detection.auc_feature_cosine),
            auc_jaccard: of(|detection| detection.auc_jaccard),
            precision_at_fakes: of(|detection| detection.precision_at_fakes),
            fakes: detection.map(|detection| detection.fakes),
            test: result.test,
            seconds: result.seconds + result.warm_start_seconds,
            warnings: result.warnings.clone(),
        }
    }
}

fn print(output: &Output, tables: &[(PathBuf, TableFormat)]) -> Result<()> {
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
    for (file, _) in tables {
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
        let name = |name: &Option<String>, node: u32| name.as_deref().map_or_else(|| node.to_string(), shown);
        let class = |class: &Option<String>| class.as_deref().map_or_else(|| "–".to_owned(), shown);
        let mut cells = vec![
            name(&row.source_name, row.source),
            name(&row.target_name, row.target),
            format!("{:.4}", row.suspicion),
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
