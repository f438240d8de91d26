//! `edgepace train`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use edgepace_train::{RunResult, check_memory};
use serde::Serialize;

use crate::edge_table::{EdgeTable, listed};
use crate::report::{self, Summary, deviation, mean};
use crate::runs::{Finished, Plan, RunArgs};
use crate::table::say;
use crate::{files, model_file};

/// Train a graph neural network that learns which edges to trust.
///
/// The same dataset, settings and seed give the same result on any number of threads. A run is judged on the test nodes
/// once, at its epoch of best validation. Noise, split and the graph of
/// a generator follow the seed unless they name their own.
///
/// `--out` writes `config.toml` (for `--config`), `result.json` and, for each seed, a folder with `history.jsonl` (what
/// happened in each epoch), `model.safetensors` (for `edgepace predict`) and, for methods that order edges, `edges.csv`:
/// how hard each edge is (0 easy, 1 hard), the epoch from which on it was trained on (empty: never), its weight at the end
/// and the predicted classes of its ends.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace train cora                                            the default: gcn with rcl
  edgepace train cora --noise fake=1.0 --seeds 0..3 --jobs 2     three runs, as many fake edges as real ones
  edgepace train cora --method vanilla --noise fake=1.0          what plain training makes of it
  edgepace train texas --preset auto --seeds 0..10 --json        the best on validation of several ways
  edgepace train cora --set hidden=64 --set period=5 --out run   any setting; files into run/
  edgepace train cora --config run/config.toml --seeds 7         the same settings again
  edgepace train --edges e.csv --nodes n.csv                     your own graph")]
pub(crate) struct Args {
    /// Write model, history, settings and edge table into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace what an earlier run left in the folder
    #[arg(long, requires = "out")]
    overwrite: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// What programs read.
#[derive(Serialize)]
pub(crate) struct Output {
    #[serde(flatten)]
    pub(crate) summary: Summary<RunResult>,
    pub(crate) test_mean: Option<f64>,
    pub(crate) test_sd: Option<f64>,
}

impl Output {
    fn new(plan: &Plan, runs: Vec<RunResult>) -> Self {
        let tests: Vec<Option<f64>> = runs.iter().map(|run| run.test).collect();
        let splits: Vec<String> = runs.iter().map(|run| run.split.clone()).collect();
        let (test_mean, test_sd) = (mean(&tests), deviation(&tests));
        Self { summary: Summary::new(plan, runs, &splits), test_mean, test_sd }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(folder) = &args.out {
        refuse_used(folder, args.overwrite)?;
    }
    let plan = args.run.plan()?;
    let output = train(&plan, args.out.as_deref())?;
    if args.json {
        say(&serde_json::to_string(&output)?)?;
    } else {
        say(&output.summary.title())?;
        say(&report::table(&output.summary.runs.iter().collect::<Vec<_>>()))?;
        if let Some(folder) = &args.out {
            say(&format!("wrote {}", folder.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a folder that a run has written to.
pub(crate) fn refuse_used(folder: &Path, overwrite: bool) -> Result<()> {
    if !overwrite && folder.join(CONFIG).exists() {
        bail!(
            "`--out` is `{}`, expected a folder without a run in it: choose another, or give `--overwrite`",
            folder.display()
        );
    }
    Ok(())
}

const CONFIG: &str = "config.toml";

/// Does the runs of a plan; their files go into `out`.
pub(crate) fn train(plan: &Plan, out: Option<&Path>) -> Result<Output> {
    check_memory(&plan.dataset, &plan.config, plan.jobs)?;
    if let Some(folder) = out {
        files::write(&folder.join(CONFIG), toml::to_string(&plan.config)?.as_bytes())?;
    }
    let runs = plan.each(|run| {
        if let Some(folder) = out {
            write(&folder.join(format!("seed-{}", run.trained.result.seed)), &run)?;
        }
        Ok(run.trained.result)
    })?;
    let output = Output::new(plan, runs);
    if let Some(folder) = out {
        files::write(&folder.join("result.json"), &serde_json::to_vec_pretty(&output)?)?;
    }
    Ok(output)
}

/// The files of one run.
pub(crate) fn write(folder: &Path, run: &Finished) -> Result<()> {
    let mut history = Vec::new();
    for event in &run.events {
        serde_json::to_writer(&mut history, event)?;
        history.push(b'\n');
    }
    files::write(&folder.join("history.jsonl"), &history)?;
    model_file::save(&folder.join("model.safetensors"), &run.source, run)?;
    if let Some(report) = &run.trained.edges {
        let logits = &run.trained.best.logits;
        let table = EdgeTable { dataset: &run.dataset, report, logits, audit: None };
        table.write(&folder.join("edges.csv"), &listed(run.dataset.graph()))?;
    }
    Ok(())
}
