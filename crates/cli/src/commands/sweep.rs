//! `edgepace sweep`

mod emit;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use edgepace_graph::{Dataset, Refusal, Threads};
use edgepace_lab::tables::{Measure, Results, grid_markdown};
use edgepace_lab::{
    Cell, CellRun, Ended, Experiment, ExperimentFile, KeepFiles, LabError, Load, Part, Runner, RunnerOptions,
    Seeds, Spent, Store, SweepForecast, option_reference, schema,
};
use serde::Serialize;

use self::emit::{Script, script};
use crate::dataset::DataFolder;
use crate::engine::{self, EngineError, EngineSweep};
use crate::messages::{self, with_help};
use crate::numbers::{duration, whole};
use crate::report::mean_and_deviation;
use crate::runs::WorkArgs;
use crate::signals::Signals;
use crate::sweep_progress::SweepBar;
use crate::table::{Align, Table, say};

/// Do all runs of an experiment file and keep them in a store.
///
/// An experiment is a grid: graphs × noise × splits × backbones × methods × configs × seeds, written as TOML.
/// Each run is kept in the store, an SQLite file, as soon as it is over, and a run that is in the store is never done
/// again: a sweep that was stopped (Ctrl-C, SIGTERM) or killed goes on where it was when it is started again, within a run from
/// its latest checkpoint. A run that fails is kept with its error and the rest goes on. Several sweeps may share a store.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The experiment, a TOML file
    #[arg(required_unless_present_any = ["schema", "options"])]
    plan: Option<PathBuf>,
    /// The store, made if it is not there
    #[arg(long, value_name = "FILE", default_value = "edgepace.sqlite", help_heading = "Where")]
    store: PathBuf,
    /// These seeds in place of those of the file
    #[arg(long, alias = "seed", help_heading = "What", allow_negative_numbers = true)]
    seeds: Option<Seeds>,
    /// Try runs again that failed before
    #[arg(long, help_heading = "What")]
    retry: bool,
    /// Say how many runs there are, how many are done and how long the rest would take, and stop there
    #[arg(long, help_heading = "What")]
    dry_run: bool,
    /// Files of each run to keep beside the store, in FILE.d/ID: `edges`, `models`, `history`
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help_heading = "Where")]
    keep: Vec<Kept>,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    data_folder: DataFolder,
    /// Save each run every so many seconds (or `5m`), less often where that would take more than a hundredth of the time;
    /// 0: after each epoch
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = duration, allow_hyphen_values = true)]
    #[arg(help_heading = "Where")]
    checkpoint: Duration,
    /// Write a Markdown table of all cells: graphs below each other, methods beside each other
    #[arg(long, value_name = "FILE", help_heading = "Table")]
    table: Option<PathBuf>,
    /// Add to the table the paired difference of each method to this one
    #[arg(long, value_name = "METHOD", requires = "table", help_heading = "Table")]
    against: Option<String>,
    /// What the table shows
    #[arg(long, value_name = "WHAT", requires = "table", default_value = "test", help_heading = "Table")]
    measure: Shown,
    #[command(flatten)]
    elsewhere: ElsewhereArgs,
    #[command(flatten)]
    reference: ReferenceArgs,
}

/// Sweeps that outgrow one machine.
#[derive(ClapArgs)]
#[command(next_help_heading = "Other machines")]
struct ElsewhereArgs {
    /// Who does the runs: this process, or a cluster of Ray (with the Python package)
    #[arg(long, value_name = "WHO", default_value = "local", conflicts_with_all = ["dry_run", "emit", "part"])]
    engine: EngineName,
    /// Where the cluster of Ray is, as `auto` or `ray://HOST:10001` [default: a new one on this machine]
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// Print a script that does the runs in parts on machines that share a folder, and run nothing
    #[arg(long, value_name = "FOR")]
    emit: Option<Script>,
    /// Parts of that script, each a job of its own
    #[arg(long, value_name = "N", default_value = "8", requires = "emit", value_parser = whole(1, MOST_PARTS))]
    parts: usize,
    /// Do only this part of the runs, as `3/8`; runs that share their data are in one part
    #[arg(long, value_name = "N/ALL", conflicts_with = "emit")]
    part: Option<Part>,
}

/// Jobs that no array has more of.
const MOST_PARTS: usize = 1_000_000;

/// Who does the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum EngineName {
    Local,
    Ray,
}

/// What a file can say.
#[derive(ClapArgs)]
#[command(next_help_heading = "Reference")]
struct ReferenceArgs {
    /// Print the JSON schema of experiment files, for editors
    #[arg(long, conflicts_with = "plan")]
    schema: bool,
    /// Print all that an experiment file can say, as Markdown
    #[arg(long, conflicts_with = "plan")]
    options: bool,
}

/// Each line fits a terminal of 80 columns.
const EXAMPLES: &str = "Examples:
  edgepace sweep plan.toml --jobs 2
      all runs of plan.toml, two at once, into edgepace.sqlite
  edgepace sweep plan.toml --store results.sqlite --seeds 0..3
      three seeds of it, into another store
  edgepace sweep plan.toml --dry-run
      how many runs, how many are done, how long
  edgepace sweep plan.toml --emit slurm --parts 20 > plan.slurm
      the same as a job for a cluster
  edgepace runs list --where \"method=rcl\"
      what came out

Exit codes: 0 done; 1 done, but runs failed or their data is missing; 2 the job
could not be done; 130 or 143 stopped by Ctrl-C or SIGTERM: start it again to
go on.";

/// A file of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kept {
    Edges,
    Models,
    History,
}

/// What a table shows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shown {
    Test,
    Validation,
    Seconds,
}

impl From<Shown> for Measure {
    fn from(shown: Shown) -> Self {
        match shown {
            Shown::Test => Self::Test,
            Shown::Validation => Self::Validation,
            Shown::Seconds => Self::Seconds,
        }
    }
}

/// What programs read.
#[derive(Serialize)]
struct Output<'a> {
    experiment: &'a str,
    store: &'a std::path::Path,
    runs: usize,
    done: usize,
    before: usize,
    failed: usize,
    no_data: usize,
    left: usize,
    seconds: f64,
    /// Where the time of all jobs went.
    spent: Spent,
    cells: Vec<CellOutput<'a>>,
}

#[derive(Serialize)]
struct CellOutput<'a> {
    graph: &'a str,
    dataset: &'a str,
    noise: String,
    split: String,
    backbone: &'static str,
    method: &'a str,
    config: &'a str,
    skipped: Option<&'a str>,
    runs: Vec<RunOutput>,
}

#[derive(Serialize)]
struct RunOutput {
    seed: u64,
    id: Option<String>,
    ended: &'static str,
    error: Option<String>,
    test: Option<f64>,
    validation: Option<f64>,
}

/// Brings datasets, and fetches those that are not there.
pub(crate) struct Loader<'a>(pub(crate) &'a DataFolder);

impl Load for Loader<'_> {
    fn load(&self, threads: &Threads, name: &str) -> Result<Dataset, String> {
        self.0.load(threads, name).map_err(|error| format!("{error:#}"))
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let Some(path) = &args.plan else {
        let text =
            if args.reference.schema { serde_json::to_string_pretty(&schema())? } else { option_reference() };
        say(text.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    };
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = ExperimentFile::parse(path, &text).map_err(helped)?;
    let mut experiment = file.check().map_err(helped)?;
    if let Some(seeds) = &args.seeds {
        experiment = experiment.with_seeds(seeds);
    }
    if experiment.runs() == 0 {
        bail!("{} has no run to do: its limits leave nothing", path.display());
    }
    if let Some(kind) = args.elsewhere.emit {
        say(script(kind, args, path, &experiment)?.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.elsewhere.engine == EngineName::Ray {
        return on_ray(args, path, &text, &experiment);
    }
    if args.elsewhere.address.is_some() {
        bail!("`--address` is that of a cluster: use it with `--engine ray`");
    }
    if let Some(part) = args.elsewhere.part {
        let most = experiment.most_parts();
        experiment = experiment.part(part);
        if experiment.runs() == 0 {
            bail!("part {part} has no run to do: {} has {most} parts at most", path.display());
        }
    }
    let store = match args.dry_run {
        false => Store::open(&args.store)?,
        // Nothing is written.
        true if args.store.exists() => Store::read(&args.store)?,
        true => Store::in_memory()?,
    };
    check_against(args, &experiment, &store)?;
    let (signals, bar, begin) = (Signals::listen()?, SweepBar::new(), Instant::now());
    let loader = Loader(&args.data_folder);
    let options = RunnerOptions {
        jobs: args.work.jobs,
        threads: args.work.threads,
        memory: args.work.memory_limit,
        checkpoint: args.checkpoint,
        retry: args.retry,
        keep: KeepFiles {
            edges: args.keep.contains(&Kept::Edges),
            models: args.keep.contains(&Kept::Models),
            history: args.keep.contains(&Kept::History),
        },
        stop: signals.stop(),
        watch: &bar,
        load: &loader,
    };
    let runner = Runner::new(&experiment, &store, options)?;
    if args.dry_run {
        let forecast = runner.forecast()?;
        tell(&experiment, &forecast, args.work.jobs)?;
        return Ok(ExitCode::SUCCESS);
    }
    let runs = runner.run();
    bar.finish();
    let runs = runs?;
    if let Some(file) = &args.table {
        write_table(file, args, &experiment, &runs, &store)?;
    }
    let output = Output::new(&experiment, &store, runs, begin.elapsed().as_secs_f64(), runner.spent())?;
    print(&output)?;
    if output.left > 0 {
        messages::tell(format_args!(
            "stopped and saved, {} of {} runs are left: start it again to go on",
            output.left, output.runs
        ));
        return Ok(ExitCode::from(signals.exit_code()));
    }
    Ok(output.exit_code())
}

/// Has the runs done by Ray.
fn on_ray(args: &Args, plan: &std::path::Path, text: &str, experiment: &Experiment) -> Result<ExitCode> {
    let Some(ray) = engine::ray() else {
        let error = anyhow::anyhow!("`--engine ray` needs the Python package, whose `edgepace` can do it");
        let help = "install it with `pip install .` at the root of the repository, and `pip install ray`; or use `--emit`";
        return Err(with_help(error, help));
    };
    if !args.keep.is_empty() {
        bail!("`--keep` is for `--engine local`: files of runs stay on the machines that did them");
    }
    let begin = Instant::now();
    let sweep = EngineSweep {
        plan,
        text,
        store: &args.store,
        seeds: args.seeds.as_ref().map(comma_separated),
        data: args.data_folder.folder().map(ToOwned::to_owned),
        offline: args.data_folder.is_offline(),
        retry: args.retry,
        threads: args.work.threads.unwrap_or(1),
        checkpoint: args.checkpoint,
        address: args.elsewhere.address.clone(),
    };
    let runs = match ray(&sweep) {
        Ok(runs) => runs,
        Err(EngineError::Failed(reason)) => bail!(reason),
        Err(EngineError::Stopped) => {
            messages::tell("stopped; what is over is in the store: start it again to go on");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    let store = Store::open(&args.store)?;
    if let Some(file) = &args.table {
        write_table(file, args, experiment, &runs, &store)?;
    }
    let output = Output::new(experiment, &store, runs, begin.elapsed().as_secs_f64(), Spent::default())?;
    print(&output)?;
    Ok(output.exit_code())
}

/// The exit code of a program that Ctrl-C stopped.
const INTERRUPTED: u8 = 130;

/// Seeds as `--seeds` reads them.
fn comma_separated(seeds: &Seeds) -> String {
    seeds.as_slice().iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Refuses to compare with a method that the experiment does not have, before anything is run.
fn check_against(args: &Args, experiment: &Experiment, store: &Store) -> Result<()> {
    let Some(base) = &args.against else { return Ok(()) };
    let cells = Results::of_runs(experiment, &[], store, Measure::Test)?.cells;
    if cells.iter().any(|cell| cell.method == *base) {
        return Ok(());
    }
    let mut names: Vec<&str> = cells.iter().map(|cell| &cell.method[..]).collect();
    names.sort_unstable();
    names.dedup();
    Err(Refusal::unknown("--against", base, "a method of the experiment", names).into())
}

/// Writes the table that was asked for.
fn write_table(
    file: &std::path::Path,
    args: &Args,
    experiment: &Experiment,
    runs: &[CellRun],
    store: &Store,
) -> Result<()> {
    let results = Results::of_runs(experiment, runs, store, args.measure.into())?;
    let table = grid_markdown(&results, args.against.as_deref());
    edgepace_graph::files::write(file, table.as_bytes())?;
    Ok(())
}

/// Says where all that a file can say is listed.
fn helped(error: LabError) -> anyhow::Error {
    match error {
        LabError::Plan { .. } => {
            with_help(error.into(), "`edgepace sweep --options` lists all that a file can say")
        }
        other => other.into(),
    }
}

impl<'a> Output<'a> {
    fn new(
        experiment: &'a Experiment,
        store: &'a Store,
        runs: Vec<CellRun>,
        seconds: f64,
        spent: Spent,
    ) -> Result<Self> {
        let count = |is: fn(&Ended) -> bool| runs.iter().filter(|run| is(&run.ended)).count();
        let mut output = Self {
            experiment: &experiment.name,
            store: store.path(),
            runs: runs.len(),
            done: count(|ended| *ended == Ended::Done),
            before: count(|ended| *ended == Ended::Before),
            failed: count(|ended| matches!(ended, Ended::Failed(_))),
            no_data: count(|ended| matches!(ended, Ended::NoData(_))),
            left: count(|ended| *ended == Ended::Left),
            seconds,
            spent,
            cells: experiment.cells.iter().map(CellOutput::new).collect(),
        };
        for run in runs {
            let row = match &run.id {
                Some(id) => store.row(id)?,
                None => None,
            };
            let (ended, error) = run.ended.told();
            output.cells[run.cell].runs.push(RunOutput {
                seed: run.seed,
                id: run.id,
                ended,
                error,
                test: row.as_ref().and_then(|row| row.test),
                validation: row.as_ref().and_then(|row| row.validation),
            });
        }
        Ok(output)
    }
}

impl Output<'_> {
    fn exit_code(&self) -> ExitCode {
        if self.failed + self.no_data > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

impl<'a> CellOutput<'a> {
    fn new(cell: &'a Cell) -> Self {
        Self {
            graph: &cell.graph,
            dataset: &cell.dataset,
            noise: cell.noise.to_string(),
            split: cell.split.as_ref().map_or_else(String::new, ToString::to_string),
            backbone: cell.backbone.name(),
            method: &cell.method,
            config: &cell.config,
            skipped: cell.skipped.as_deref(),
            runs: Vec::new(),
        }
    }
}

fn tell(experiment: &Experiment, forecast: &SweepForecast, jobs: usize) -> Result<()> {
    if messages::json() {
        let told = serde_json::json!({
            "dry_run": true,
            "experiment": experiment.name,
            "cells": experiment.cells.len(),
            "runs": forecast.runs,
            "done": forecast.done,
            "failed": forecast.failed,
            "no_data": forecast.no_data,
            "jobs": jobs,
            "seconds": forecast.seconds,
        });
        return Ok(say(&told.to_string())?);
    }
    let SweepForecast { runs, done, failed, no_data, seconds } = *forecast;
    say(&format!("{}: {} cells, {runs} runs", experiment.name, experiment.cells.len()))?;
    say(&format!("in the store: {done} done, {failed} failed; {no_data} without data"))?;
    let left = runs - done - failed - no_data;
    say(&format!(
        "left: {left} runs, about {} with {jobs} at once",
        indicatif::HumanDuration(Duration::from_secs_f64(seconds.clamp(0.0, 1e9)))
    ))?;
    Ok(())
}

fn print(output: &Output<'_>) -> Result<()> {
    if messages::json() {
        return Ok(say(&serde_json::to_string(output)?)?);
    }
    let has = |is: fn(&CellOutput<'_>) -> bool| output.cells.iter().any(is);
    // A column that says nothing is left out.
    let shown = [
        true,
        has(|cell| !cell.noise.is_empty()),
        has(|cell| !cell.split.is_empty()),
        true,
        true,
        has(|cell| !cell.config.is_empty()),
        true,
        true,
        true,
    ];
    let (left, right) = (Align::Left, Align::Right);
    let columns = [
        ("graph", left),
        ("noise", left),
        ("split", left),
        ("backbone", left),
        ("method", left),
        ("config", left),
        ("runs", right),
        ("validation", right),
        ("test", right),
    ];
    let pick = |place: usize| shown[place];
    let columns: Vec<_> =
        columns.into_iter().enumerate().filter(|(place, _)| pick(*place)).map(|(_, column)| column).collect();
    let mut table = Table::new(&columns);
    for cell in &output.cells {
        let over: Vec<&RunOutput> =
            cell.runs.iter().filter(|run| ["done", "before"].contains(&run.ended)).collect();
        let score = |of: fn(&RunOutput) -> Option<f64>| {
            let scores: Vec<Option<f64>> = over.iter().map(|run| of(run)).collect();
            mean_and_deviation(&scores, 2)
        };
        let runs = match cell.skipped {
            Some(_) => "skipped".to_owned(),
            None if over.len() == cell.runs.len() => over.len().to_string(),
            None => format!("{} of {}", over.len(), cell.runs.len()),
        };
        let cells = [
            cell.graph.to_owned(),
            cell.noise.clone(),
            cell.split.clone(),
            cell.backbone.to_owned(),
            cell.method.to_owned(),
            cell.config.to_owned(),
            runs,
            score(|run| run.validation),
            score(|run| run.test),
        ];
        table.row(cells.into_iter().enumerate().filter(|(place, _)| pick(*place)).map(|(_, cell)| cell));
    }
    say(&table.to_string())?;
    let mut reasons: Vec<String> = Vec::new();
    for cell in &output.cells {
        let reason = cell.runs.iter().find_map(|run| run.error.clone());
        for (kind, reason) in [("", reason), ("skipped: ", cell.skipped.map(ToOwned::to_owned))] {
            let Some(reason) = reason else { continue };
            reasons.push(format!("{}, {} with {}: {kind}{reason}", cell.graph, cell.backbone, cell.method));
        }
    }
    reasons.iter().for_each(messages::warn);
    let Output { done, before, failed, no_data, seconds, .. } = output;
    let mut parts =
        vec![format!("{done} runs done in {seconds:.1} s"), format!("{before} were there before")];
    for (number, what) in [(failed, "failed"), (no_data, "without data")] {
        if *number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    say(&format!("{}; kept in {}", parts.join(", "), output.store.display()))?;
    Ok(())
}
