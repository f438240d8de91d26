//! `edgepace train`

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use edgepace_lab::statistics::{mean, standard_deviation};
use edgepace_lab::{FinishedRun, LabError, Outcome, RunFolder, Sweep, TensorBoard};
use edgepace_train::RunResult;
use serde::Serialize;

use crate::dataset::{DataFolder, budget};
use crate::numbers::duration;
use crate::page::{self, Collected};
use crate::report::{self, Summary};
use crate::runs::{RunArgs, Saving, with_remedy};
use crate::signals::Signals;
use crate::table::say;
use crate::{dry_run, help, messages};

/// Train a graph neural network that learns which edges to trust.
///
/// The same dataset, settings and seed give the same result on any number of threads. A run is judged on the test nodes
/// once, at its epoch of best validation. The curriculum is kept where it validates better than plain training by more than
/// one standard error, and else that (`--set keep=method`: always the curriculum). Noise, split and the graph of a generator
/// follow the seed unless they name their own.
///
/// `--out` writes `config.toml` (all that was asked for: `--config` does it again), `result.json` and, for each seed, a folder with `history.jsonl` (what
/// happened in each epoch), `model.safetensors` (for `edgepace predict`), `record.json` (everything about the run) and, for
/// methods that order edges, `edges.csv`: how hard each edge is (0 easy, 1 hard), the epoch from which on it was trained on
/// (empty: never), its weight at the end and the predicted classes of its ends.
///
/// With `--out` runs are saved now and then, and when the program is told to stop (Ctrl-C, SIGTERM). `--resume` goes on
/// from there, also after a crash, to the same result as if nothing had happened.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", help::run_settings()))]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    folder: FolderArgs,
}

/// Each line fits a terminal of 80 columns.
const EXAMPLES: &str = "Examples:
  edgepace train cora
      the default: gcn with rcl
  edgepace train cora --noise fake=1.0 --seeds 0..3 --jobs 2
      three runs, each with as many fake edges as real ones
  edgepace train cora --method vanilla --noise fake=1.0
      what plain training makes of it
  edgepace train texas --preset auto --seeds 0..10 --json
      the best on validation of several ways
  edgepace train cora --set hidden=64 --set period=5 --out run
      any setting; files into run/
  edgepace train cora --report run.html
      a page with curves, graph and edges
  edgepace train --resume run
      go on with what was stopped or killed
  edgepace train cora --seeds 0..3 --tensorboard logs/cora
      curves to look at with `tensorboard --logdir logs`
  edgepace train --config run/config.toml --out again
      the same once more, to the same bits
  edgepace train --config run/config.toml --seeds 7 --epochs 300
      the same with other seeds and more epochs
  edgepace train --edges e.csv --nodes n.csv
      your own graph
  edgepace train ogbn-arxiv --dry-run
      what would run, how long, and with how much memory

Exit codes: 0 done; 2 the job could not be done; 130 or 143 stopped by Ctrl-C
or SIGTERM, saved with `--out`.";

/// Where files go.
#[derive(ClapArgs)]
#[command(next_help_heading = "Where")]
struct FolderArgs {
    /// Write model, history, settings and edge table into this folder
    #[arg(long, value_name = "DIR", display_order = 1)]
    out: Option<PathBuf>,
    /// Replace what an earlier run left in the folder, or the page
    #[arg(long, display_order = 2)]
    overwrite: bool,
    /// Write a page: how it learned, which edges came in when, and the graph itself
    #[arg(long, value_name = "FILE.html", display_order = 4)]
    report: Option<PathBuf>,
    /// Go on with the runs in this folder that were stopped or killed
    #[arg(
        long,
        value_name = "DIR",
        display_order = 3,
        conflicts_with_all = ["out", "dataset", "edges", "backbone", "method", "preset", "noise", "split", "epochs", "lr",
                              "metric", "ground", "epoch_rule", "prepare", "features_from", "set", "search", "config", "seeds", "dry_run"]
    )]
    resume: Option<PathBuf>,
    /// Write event files for TensorBoard into this folder, one subfolder per seed
    #[arg(long, value_name = "DIR", display_order = 4)]
    tensorboard: Option<PathBuf>,
    /// Save each run every so many seconds (or `5m`), less often where that would take more than a hundredth of the time;
    /// 0: after each epoch
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = duration, allow_hyphen_values = true)]
    checkpoint: Duration,
    /// End all runs after so many seconds (or `10m`, `2h`) with the best model so far
    #[arg(long, value_name = "SECONDS", value_parser = duration, allow_hyphen_values = true)]
    time_limit: Option<Duration>,
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
    fn new(sweep: &Sweep, runs: Vec<RunResult>) -> Self {
        let tests: Vec<Option<f64>> = runs.iter().map(|run| run.test).collect();
        let splits: Vec<String> = runs.iter().map(|run| run.split.clone()).collect();
        let (test_mean, test_sd) = (mean(&tests), standard_deviation(&tests));
        let of_runs: Vec<_> = runs.iter().map(|run| (run.seed, &run.warnings[..])).collect();
        let warnings = report::said_once(&of_runs);
        Self { summary: Summary::new(sweep, runs, &splits, warnings), test_mean, test_sd }
    }
}

/// What to run, its data read, and the folders for it, which are this process's from now on.
struct Begun {
    sweep: Sweep,
    folder: Option<RunFolder>,
    tensorboard: Option<TensorBoard>,
}

impl Args {
    /// What can be refused is refused before a folder is made or changed.
    fn begin(&self) -> Result<Begun> {
        if let Some(folder) = &self.folder.resume {
            let (folder, plan) = RunFolder::open(folder)?;
            let config = plan.config.check()?;
            let sweep = self.run.load(plan, config)?;
            let tensorboard = self.tensorboard(&sweep)?;
            return Ok(Begun { sweep, folder: Some(folder), tensorboard });
        }
        let (plan, config) = self.run.plan()?;
        let (out, overwrite) = (self.folder.out.as_ref(), self.folder.overwrite);
        if let Some(folder) = out.filter(|folder| !overwrite && RunFolder::is_used(folder)) {
            return Err(LabError::Used { folder: folder.clone() }.into());
        }
        let sweep = self.run.load(plan, config)?;
        if self.run.dry_run {
            return Ok(Begun { sweep, folder: None, tensorboard: None });
        }
        let tensorboard = self.tensorboard(&sweep)?;
        let create = |folder: &PathBuf| RunFolder::create(folder, sweep.plan(), overwrite);
        let folder = out.map(create).transpose()?;
        Ok(Begun { sweep, folder, tensorboard })
    }

    /// The folder for event files.
    fn tensorboard(&self, sweep: &Sweep) -> Result<Option<TensorBoard>> {
        let (resume, overwrite) = (self.folder.resume.is_some(), self.folder.overwrite);
        let folder = self.folder.tensorboard.as_ref();
        let new = |folder: &PathBuf| TensorBoard::new(folder, sweep.plan(), resume, overwrite);
        Ok(folder.map(new).transpose()?)
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let FolderArgs { out, report, tensorboard, .. } = &args.folder;
    if args.folder.overwrite && out.is_none() && report.is_none() && tensorboard.is_none() {
        bail!("`--overwrite` replaces what is there: give `--out`, `--report` or `--tensorboard` with it");
    }
    if let Some(file) = &args.folder.report {
        page::check("--report", file, args.folder.overwrite)?;
    }
    let deadline = args.folder.time_limit.map(|limit| Instant::now() + limit);
    let Begun { sweep, folder, tensorboard } = args.begin().map_err(with_remedy)?;
    if args.run.dry_run {
        dry_run::tell(&sweep, &args.run.work, args.folder.out.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    let signals = folder.as_ref().map(|_| Signals::listen()).transpose()?;
    let never = AtomicBool::new(false);
    let saving = Saving {
        folder: folder.as_ref(),
        tensorboard: tensorboard.as_ref(),
        checkpoint: Some(args.folder.checkpoint),
        deadline,
        stop: signals.as_ref().map_or(&never, Signals::stop),
    };
    // With a folder the page is made of its files, which also have what earlier runs left there.
    let collected = Collected::default();
    let collects = args.folder.report.is_some() && folder.is_none();
    let each = |run: FinishedRun| {
        if collects {
            let seed = run.finished.record.result.seed;
            let place = sweep.plan().seeds.iter().position(|own| *own == seed).unwrap_or(0);
            collected.keep(place, &run, place == 0, &budget(args.run.work.threads)?)?;
        }
        Ok(run.finished.record.result)
    };
    let outcomes = args.run.work.each(&sweep, &saving, each);
    // Curves that are not whole are no reason to lose a result.
    if let Some(Err(error)) = tensorboard.map(TensorBoard::finish) {
        let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
        messages::warn(format_args!("the events for TensorBoard are not whole: {error}{cause}"));
    }
    let outcomes = match outcomes {
        Ok(outcomes) => outcomes,
        Err(error) => {
            // What was refused before its first epoch leaves no folder behind.
            if let Some(folder) = folder {
                folder.discard_unbegun();
            }
            return Err(error);
        }
    };
    let results: Option<Vec<RunResult>> = outcomes
        .into_iter()
        .map(|outcome| match outcome {
            Outcome::Done(result) => Some(result),
            Outcome::Before(record) => Some(record.result),
            Outcome::Left => None,
        })
        .collect();
    match (results, signals, folder) {
        (Some(results), _, folder) => {
            let output = Output::new(&sweep, results);
            if let Some(folder) = &folder {
                folder.write_result(&output)?;
            }
            if let Some(file) = &args.folder.report {
                let threads = budget(args.run.work.threads)?;
                let report = match &folder {
                    Some(folder) => {
                        page::of_folders(&[folder.path().to_owned()], None, args.run.data_folder(), &threads)?
                    }
                    None => collected.report(),
                };
                page::write(&report, file, &threads)?;
            }
            let goes_on = folder.as_ref().map(|folder| (folder.path(), args.run.data_folder()));
            print(&output, goes_on, args.folder.report.as_deref())?;
            Ok(ExitCode::SUCCESS)
        }
        (None, signals, folder) => {
            if let Some(folder) = folder {
                let command = resuming(folder.path(), args.run.data_folder());
                messages::tell(format_args!("stopped and saved: go on with `{command}`"));
            }
            Ok(ExitCode::from(signals.map_or(2, |signals| signals.exit_code())))
        }
    }
}

/// What goes on with the run in a folder. Where data is kept is not written there: folders move between machines.
fn resuming(folder: &Path, data: &DataFolder) -> String {
    let data = data.folder().map(|data| format!(" --data {}", data.display()));
    format!("edgepace train --resume {}{}", folder.display(), data.unwrap_or_default())
}

fn print(output: &Output, folder: Option<(&Path, &DataFolder)>, page: Option<&Path>) -> Result<()> {
    if messages::json() {
        return Ok(say(&serde_json::to_string(output)?)?);
    }
    let summary = &output.summary;
    report::warn(&summary.warnings);
    say(&summary.title())?;
    if let Some(line) = report::split_line(&summary.runs) {
        say(&line)?;
    }
    if let Some(features) = summary.runs.first().and_then(|run| run.features) {
        say(&format!("features: {features}"))?;
    }
    say(&report::table(&summary.runs, &summary.method))?;
    if let Some(page) = page {
        say(&format!("wrote {}", page.display()))?;
    }
    if let Some((folder, data)) = folder {
        say(&format!("wrote {}", folder.display()))?;
        if output.summary.runs.iter().any(|run| run.stopped.is_some()) {
            say(&format!("stopped by the time limit: go on with `{}`", resuming(folder, data)))?;
        }
    }
    Ok(())
}
