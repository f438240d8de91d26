//! `edgepace demo`

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args as ClapArgs;
use edgepace_data::{Noise, generate};
use edgepace_graph::{Dataset, Labels};
use edgepace_lab::reproduce::{KINDS, kind_of_edge};
use edgepace_lab::statistics::{mean, standard_deviation};
use edgepace_lab::{DataSource, LabError, Plan, RunFolder, Seeds, Sweep};
use edgepace_train::{EdgeReport, RunConfig, RunResult, listed};
use serde_json::json;

use crate::dataset::budget;
use crate::messages;
use crate::numbers::whole;
use crate::page::{self, Collected};
use crate::report::{fixed, mean_and_deviation};
use crate::runs::{MOST_AT_ONCE, MOST_EPOCHS, WorkArgs, with_remedy};
use crate::table::{Align, Table, say, say_drawn};

/// See in half a minute what learning which edges to trust is worth.
///
/// Makes a graph of ten classes in a circle where only three edges of ten join nodes of one class, trains a network
/// without edges (MLP), one with all edges (GCN) and one that takes up the edges that it can explain first (GCN with rcl),
/// and draws when which edges come in. All of it is also a page, `edgepace-demo.html` in the current folder, with the graph to
/// look at. With `--out` the page, models and edge tables are written to a folder.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace demo
  edgepace demo --seeds 0..10 --out tried")]
pub(crate) struct Args {
    /// Write models, histories and edge tables into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace what an earlier demo left in the folder
    #[arg(long, requires = "out")]
    overwrite: bool,
    /// Nodes of the graph; it has six times as many edges
    #[arg(long, value_name = "N", default_value = "5000", value_parser = whole(100, 10_000_000_usize))]
    #[arg(allow_negative_numbers = true)]
    nodes: usize,
    /// One run of each method per seed
    #[arg(long, alias = "seed", default_value = "0..3", allow_negative_numbers = true)]
    seeds: Seeds,
    /// Training epochs
    #[arg(long, value_name = "N", default_value = "150", value_parser = whole(1, MOST_EPOCHS))]
    #[arg(allow_negative_numbers = true)]
    epochs: u32,
    /// Runs at the same time
    #[arg(long, value_name = "N", default_value = "2", value_parser = whole(1, MOST_AT_ONCE))]
    #[arg(allow_negative_numbers = true)]
    jobs: usize,
}

/// Name in the table, and method.
const COMPARED: [(&str, &str); 3] =
    [("MLP (no edges)", "mlp"), ("GCN (all edges)", "vanilla"), ("GCN + RCL (easy edges first)", "rcl")];
/// Rows of the drawing.
const DRAWN: usize = 12;
/// Letters of a full bar.
const BAR: usize = 20;

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let used = |folder: &PathBuf| COMPARED.iter().any(|(_, method)| RunFolder::is_used(&folder.join(method)));
    if let Some(folder) = args.out.as_ref().filter(|folder| !args.overwrite && used(folder)) {
        return Err(with_remedy(LabError::Used { folder: folder.clone() }.into()));
    }
    let name = format!("synthetic:homophily=0.3,nodes={},edges={},seed=0", args.nodes, 6 * args.nodes);
    let dataset = generate(&budget(None)?, &name)?.context("there is no such generator")?;
    let undirected = dataset.graph().edges() / 2;
    if !messages::json() {
        say(&format!(
            "A graph of {} nodes, {} classes and {undirected} edges, of which 3 in 10 join nodes of one class ({name}).\n",
            args.nodes,
            dataset.labels().width()
        ))?;
    }
    let mut scores = Vec::new();
    let mut drawing = String::new();
    let collected = Collected::default();
    for (number, (label, method)) in COMPARED.into_iter().enumerate() {
        let runs = train(args, &dataset, &name, method, (&collected, number))?;
        scores.push((label, method, runs.iter().map(|(result, _)| result.test).collect::<Vec<_>>()));
        if let Some((result, Some(report))) = runs.into_iter().next() {
            drawing = draw(&dataset, &report, &result);
        }
    }
    let page = write_page(args, collected)?;
    if messages::json() {
        let methods = scores.iter().map(|(label, method, tests)| {
            let (mean, deviation) = (mean(tests), standard_deviation(tests));
            json!({ "method": method, "label": label, "tests": tests, "test_mean": mean, "test_sd": deviation })
        });
        let methods: Vec<_> = methods.collect();
        let (seeds, epochs) = (args.seeds.as_slice(), args.epochs);
        let told = json!({ "dataset": name, "seeds": seeds, "epochs": epochs, "methods": methods, "out": args.out,
            "report": page });
        say(&told.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let plain = scores.iter().find(|(_, method, _)| *method == "vanilla").and_then(|(.., tests)| mean(tests));
    let mut table = Table::new(&[("", Align::Left), ("test %", Align::Right), ("against GCN", Align::Right)]);
    for (label, method, tests) in &scores {
        let gain = mean(tests).zip(plain).filter(|_| *method != "vanilla");
        let gain = gain.map_or_else(String::new, |(own, plain)| format!("{:+.2}", own - plain));
        table.row([(*label).to_owned(), mean_and_deviation(tests, 2), gain]);
    }
    say(&table.to_string())?;
    let seeds = args.seeds.as_slice().len();
    say(&format!("Mean ± standard deviation over {seeds} seeds, {} epochs.\n", args.epochs))?;
    say_drawn(&drawing)?;
    say(&format!("The graph to look at: {}", page.display()))?;
    if let Some(folder) = &args.out {
        say(&format!("Models, histories and edge tables: {}", folder.display()))?;
    }
    say("Next: edgepace train cora --noise fake=1.0, edgepace audit cora --top 20")?;
    Ok(ExitCode::SUCCESS)
}

fn train(
    args: &Args,
    dataset: &Dataset,
    name: &str,
    method: &str,
    (collected, number): (&Collected, usize),
) -> Result<Vec<(RunResult, Option<EdgeReport>)>> {
    // Of its presets, the one whose edges come in little by little.
    let preset = (method == "rcl").then(|| "edgepace".to_owned());
    let config = RunConfig { method: method.to_owned(), preset, epochs: args.epochs, ..RunConfig::default() };
    let checked = config.check()?;
    let data = DataSource::Name(name.to_owned());
    let plan =
        Plan { data, noise: Noise::default(), split: None, config, seeds: args.seeds.as_slice().to_vec() };
    let create = |folder: &PathBuf| RunFolder::create(&folder.join(method), &plan, args.overwrite);
    let folder = args.out.as_ref().map(create).transpose();
    let folder = folder.map_err(|error| with_remedy(error.into()))?;
    let sweep = Sweep::new(plan, checked, dataset.clone());
    let work = WorkArgs { jobs: args.jobs, threads: None, memory_limit: None };
    let seeds = args.seeds.as_slice();
    work.each_finished(&sweep, folder.as_ref(), |run| {
        let seed = run.finished.record.result.seed;
        let place = seeds.iter().position(|own| *own == seed).unwrap_or(0);
        let detailed = place == 0 && run.finished.edges.is_some();
        collected.keep(number * seeds.len() + place, &run, detailed, &budget(None)?)?;
        Ok((run.finished.record.result, run.finished.edges))
    })
}

/// Writes the page into the folder that was asked for, or else here under a name that is free.
fn write_page(args: &Args, collected: Collected) -> Result<PathBuf> {
    let mut report = collected.report();
    "What learning which edges to trust is worth".clone_into(&mut report.title);
    let file = if let Some(folder) = &args.out {
        folder.join("report.html")
    } else {
        let names = std::iter::once("edgepace-demo.html".to_owned());
        let names = names.chain((2..).map(|number| format!("edgepace-demo-{number}.html")));
        let free = names.map(PathBuf::from).find(|file| !file.exists());
        free.context("there is no free name for the page")?
    };
    page::write(&report, &file, &budget(None)?)?;
    Ok(file)
}

/// The share of each kind of edges that has been in, at some of the epochs where edges came in.
fn draw(dataset: &Dataset, report: &EdgeReport, result: &RunResult) -> String {
    let Labels::Classes(classes) = &**dataset.labels() else { return String::new() };
    let edges: Vec<(usize, u32)> = listed(dataset.graph())
        .into_iter()
        .map(|(edge, source, target)| (kind_of_edge(classes, source, target), report.first_epoch[edge]))
        .collect();
    let mut epochs: Vec<u32> = edges.iter().map(|edge| edge.1).filter(|&epoch| epoch != u32::MAX).collect();
    epochs.sort_unstable();
    epochs.dedup();
    let rows = epochs.len().min(DRAWN);
    let coloured = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut lines = vec![format!("How edges come in (seed {}): the share of each kind so far", result.seed)];
    lines.push(format!(
        "epoch  {}",
        KINDS.map(|kind| format!("{kind:width$}", width = BAR + 7)).join("").trim_end()
    ));
    for row in 0..rows {
        let epoch = epochs[row * (epochs.len() - 1) / (rows - 1).max(1)];
        let bars = (0..KINDS.len()).map(|kind| {
            let all = edges.iter().filter(|edge| edge.0 == kind).count();
            let come = edges.iter().filter(|edge| edge.0 == kind && edge.1 <= epoch).count();
            let share = come as f64 / all.max(1) as f64;
            format!("{} {:>3} % ", bar(share, kind, coloured), fixed_percent(share))
        });
        lines.push(format!("{epoch:>5}  {}", bars.collect::<String>().trim_end()));
    }
    lines.push(format!("test {} % at epoch {}\n", fixed(result.test, 2), result.best_epoch));
    lines.join("\n")
}

fn fixed_percent(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

/// A bar of [`BAR`] letters, in eighths: green, yellow or red.
fn bar(share: f64, kind: usize, coloured: bool) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * BAR) as f64).round() as usize;
    let drawn = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    let blank = "·".repeat(BAR - eighths.div_ceil(8));
    match (coloured, ["32", "33", "31"].get(kind)) {
        (true, Some(colour)) => format!("\u{1b}[{colour}m{drawn}\u{1b}[0m{blank}"),
        _ => format!("{drawn}{blank}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_wide_as_each_other_whatever_they_show() {
        for share in [0.0, 0.01, 0.5, 0.99, 1.0] {
            assert_eq!(bar(share, 0, false).chars().count(), BAR, "{share}");
        }
        assert_eq!(bar(0.5, 0, false), format!("{}{}", "█".repeat(10), "·".repeat(10)));
    }
}
