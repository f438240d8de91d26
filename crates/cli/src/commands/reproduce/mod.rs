//! `edgepace reproduce`

mod files;
mod print;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, anyhow};
use clap::Args as ClapArgs;
use edgepace_graph::nearest;
use edgepace_lab::reproduce::{Course, REPRODUCTIONS, Reproduction, courses, find_reproduction};
use edgepace_lab::tables::{ResultTable, Results};
use edgepace_lab::{
    CellRun, Ended, Experiment, KeepFiles, LabError, Runner, RunnerOptions, Seeds, Store, SweepForecast,
};
use indicatif::HumanDuration;
use serde_json::json;

use crate::commands::sweep::Loader;
use crate::dataset::{DataFolder, spinner};
use crate::messages::{self, with_help};
use crate::names::Names;
use crate::numbers::{bytes, whole};
use crate::runs::MOST_AT_ONCE;
use crate::signals::Signals;
use crate::sweep_progress::SweepBar;
use crate::table::{Align, Table, say};

/// Run the experiments of the RCL paper and set every figure beside the paper's.
///
/// Each experiment is a table or figure of the paper, with the rows that honesty asks for: a model without edges, edges in random
/// order, DropEdge, two ways of pruning, `auto`. Runs are kept in a store and never done twice; a run that was stopped goes
/// on where it was. Datasets that cannot be had are named and left out. Tables are written as CSV, Markdown and LaTeX,
/// figures as SVG and PNG.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// The experiment, or `all`; `--list` names them
    #[arg(required_unless_present = "list", value_parser = EXPERIMENTS)]
    what: Option<String>,
    /// Name all experiments, with how many runs they have
    #[arg(long, conflicts_with = "what", help_heading = "What")]
    list: bool,
    /// A first answer in minutes: two seeds, fewer graphs
    #[arg(long, help_heading = "What")]
    quick: bool,
    /// These seeds in place of those of the plan; what is slow keeps its limits
    #[arg(long, alias = "seed", help_heading = "What", allow_negative_numbers = true)]
    seeds: Option<Seeds>,
    /// Make tables of what the store has, without running anything
    #[arg(long, help_heading = "What")]
    only_stored: bool,
    /// Say how long it would take, and stop there
    #[arg(long, conflicts_with = "only_stored", help_heading = "What")]
    dry_run: bool,
    /// Folder for tables and figures [default: reproduce/WHAT]
    #[arg(long, value_name = "DIR", help_heading = "Where")]
    out: Option<PathBuf>,
    /// The store of all runs, made if it is not there
    #[arg(long, value_name = "FILE", default_value = "reproduce/runs.sqlite", help_heading = "Where")]
    store: PathBuf,
    /// Runs at the same time, one thread each [default: number of cores]
    #[arg(long, value_name = "N", value_parser = whole(1, MOST_AT_ONCE), allow_negative_numbers = true)]
    #[arg(help_heading = "Where")]
    jobs: Option<usize>,
    /// Refuse runs that need more memory than this, as `4GB` [default: what the system has]
    #[arg(long, value_name = "SIZE", value_parser = bytes, allow_hyphen_values = true, help_heading = "Where")]
    memory_limit: Option<u64>,
    #[command(flatten)]
    data_folder: DataFolder,
}

const EXPERIMENTS: Names =
    Names::of(|| REPRODUCTIONS.iter().map(|reproduction| reproduction.name).chain([ALL]).collect());

/// Every experiment.
const ALL: &str = "all";

/// Each line fits a terminal of 80 columns.
const EXAMPLES: &str = "Examples:
  edgepace reproduce --list
      what there is
  edgepace reproduce table1 --quick
      three synthetic graphs, two seeds, in minutes
  edgepace reproduce all --seeds 0..3 --jobs 2
      a first pass over everything; without --seeds it goes on from there
  edgepace reproduce all --only-stored --out results
      tables and figures of what is in the store

Exit codes: 0 done, datasets that cannot be had left out; 1 done, but runs
failed; 2 the job could not be done; 130 or 143 stopped by Ctrl-C or SIGTERM:
start it again to go on.";

/// How often a run is saved.
const CHECKPOINT: Duration = Duration::from_secs(30);

/// An experiment that was run or looked up.
pub(super) struct Outcome {
    pub(super) reproduction: &'static Reproduction,
    pub(super) table: ResultTable,
    pub(super) courses: Vec<Course>,
    failed: usize,
    left: usize,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let Some(what) = &args.what else { return list() };
    let chosen: Vec<&'static Reproduction> = match &what[..] {
        ALL => REPRODUCTIONS.iter().collect(),
        name => vec![find_reproduction(name).ok_or_else(|| unknown(name))?],
    };
    let out = args.out.clone().unwrap_or_else(|| Path::new("reproduce").join(what));
    let store = open(args)?;
    let signals = Signals::listen()?;
    let experiments: Vec<Experiment> = chosen
        .iter()
        .map(|reproduction| reproduction.experiment(args.quick, args.seeds.as_ref()))
        .collect::<Result<_, LabError>>()?;
    if args.dry_run {
        return forecast(args, &chosen, &experiments, &store, &signals);
    }
    let mut outcomes = Vec::new();
    for (&reproduction, experiment) in chosen.iter().zip(&experiments) {
        let outcome = one(args, reproduction, experiment, &store, &signals)?;
        let stopped = outcome.left > 0;
        files::write(
            &files::folder(&out, what, reproduction),
            &outcome,
            &store,
            &command(args, reproduction.name),
        )?;
        if !messages::json() {
            print::table(&outcome.table)?;
        }
        outcomes.push(outcome);
        if stopped {
            messages::tell("stopped and saved: start it again to go on");
            return Ok(ExitCode::from(signals.exit_code()));
        }
    }
    if what == ALL {
        files::write_overview(&out, &outcomes, &command(args, ALL))?;
    }
    if messages::json() {
        let cells: Vec<_> = outcomes.iter().flat_map(|outcome| &outcome.table.cells).collect();
        say(&serde_json::to_string(&cells)?)?;
    } else {
        print::sums(&outcomes)?;
        say(&format!("Tables and figures: {}", out.display()))?;
    }
    let failed: usize = outcomes.iter().map(|outcome| outcome.failed).sum();
    Ok(if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn unknown(name: &str) -> anyhow::Error {
    let names = || REPRODUCTIONS.iter().map(|reproduction| reproduction.name).chain([ALL]);
    let error = anyhow!("there is no experiment `{name}`");
    match nearest(name, names()) {
        Some(near) => with_help(error, format!("did you mean `{near}`?")),
        None => with_help(error, format!("there are {}", names().collect::<Vec<_>>().join(", "))),
    }
}

/// The store, which is not made where nothing is to be run.
fn open(args: &Args) -> Result<Store> {
    if args.only_stored {
        return Ok(Store::read(&args.store)?);
    }
    if let Some(folder) = args.store.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        edgepace_graph::files::create_folder(folder)?;
    }
    Ok(Store::open(&args.store)?)
}

fn list() -> Result<ExitCode> {
    let mut rows = Vec::new();
    for reproduction in REPRODUCTIONS {
        let runs = |quick| Ok::<_, LabError>(reproduction.experiment(quick, None)?.runs());
        rows.push((reproduction, runs(false)?, runs(true)?));
    }
    if messages::json() {
        let told: Vec<_> = rows
            .iter()
            .map(|(reproduction, runs, quick)| {
                json!({ "name": reproduction.name, "what": reproduction.what, "runs": runs, "quick_runs": quick })
            })
            .collect();
        say(&serde_json::to_string(&told)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (left, right) = (Align::Left, Align::Right);
    let mut table = Table::new(&[("name", left), ("runs", right), ("quick", right), ("what", left)]);
    for (reproduction, runs, quick) in rows {
        table.row([reproduction.name.into(), runs.to_string(), quick.to_string(), reproduction.what.into()]);
    }
    say(&table.to_string())?;
    say("`edgepace reproduce all` does all of them.")?;
    Ok(ExitCode::SUCCESS)
}

fn jobs(args: &Args) -> usize {
    args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn options<'a>(
    args: &Args,
    signals: &'a Signals,
    bar: &'a SweepBar,
    loader: &'a Loader<'a>,
) -> RunnerOptions<'a> {
    RunnerOptions {
        jobs: jobs(args),
        threads: Some(1),
        memory: args.memory_limit,
        checkpoint: CHECKPOINT,
        retry: false,
        keep: KeepFiles::default(),
        stop: signals.stop(),
        watch: bar,
        load: loader,
    }
}

/// Says how long all of it would take.
fn forecast(
    args: &Args,
    chosen: &[&'static Reproduction],
    experiments: &[Experiment],
    store: &Store,
    signals: &Signals,
) -> Result<ExitCode> {
    let mut told = Vec::new();
    for (reproduction, experiment) in chosen.iter().zip(experiments) {
        let (bar, loader) = (SweepBar::new(), Loader(&args.data_folder));
        let forecast = Runner::new(experiment, store, options(args, signals, &bar, &loader))?.forecast()?;
        if !messages::json() {
            say(&expected(reproduction.name, &forecast, jobs(args)))?;
        }
        let SweepForecast { runs, done, failed, no_data, seconds } = forecast;
        told.push(json!({
            "table": reproduction.name, "runs": runs, "done": done, "failed": failed, "no_data": no_data, "seconds": seconds
        }));
    }
    if messages::json() {
        say(&serde_json::to_string(&told)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn expected(name: &str, forecast: &SweepForecast, jobs: usize) -> String {
    let SweepForecast { runs, done, failed, no_data, seconds } = *forecast;
    let left = runs.saturating_sub(done + failed + no_data);
    let time = HumanDuration(Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
    let missing = if no_data > 0 { format!(", {no_data} without data") } else { String::new() };
    format!(
        "{name}: {runs} runs, {done} in the store{missing}; {left} to do take about {time} with {jobs} at once"
    )
}

/// Does what is missing of an experiment, or looks up what there is.
fn one(
    args: &Args,
    reproduction: &'static Reproduction,
    experiment: &Experiment,
    store: &Store,
    signals: &Signals,
) -> Result<Outcome> {
    let measure = reproduction.measure;
    let (results, runs) = if args.only_stored {
        (Results::of_store(experiment, store, measure)?, Vec::new())
    } else {
        let runs = train(args, reproduction, experiment, store, signals)?;
        (Results::of_runs(experiment, &runs, store, measure)?, runs)
    };
    let count = |is: fn(&Ended) -> bool| runs.iter().filter(|run| is(&run.ended)).count();
    let left = count(|ended| *ended == Ended::Left);
    let courses = if reproduction.name == "curriculum" && left == 0 {
        let bar = spinner("looking which edges come in when".to_owned());
        let courses = courses(experiment);
        bar.finish_and_clear();
        courses?
    } else {
        Vec::new()
    };
    let failed = count(|ended| matches!(ended, Ended::Failed(_)));
    Ok(Outcome { reproduction, table: reproduction.table(&results), courses, failed, left })
}

fn train(
    args: &Args,
    reproduction: &Reproduction,
    experiment: &Experiment,
    store: &Store,
    signals: &Signals,
) -> Result<Vec<CellRun>> {
    let (bar, loader) = (SweepBar::new(), Loader(&args.data_folder));
    let runner = Runner::new(experiment, store, options(args, signals, &bar, &loader))?;
    let forecast = runner.forecast()?;
    messages::tell(expected(reproduction.name, &forecast, jobs(args)));
    let runs = runner.run();
    bar.finish();
    let runs = runs?;
    let mut told: Vec<(&str, &str)> = Vec::new();
    for run in &runs {
        let cell = &experiment.cells[run.cell];
        let (Ended::NoData(reason) | Ended::Failed(reason)) = &run.ended else { continue };
        let known = (&cell.graph[..], &reason[..]);
        if !told.contains(&known) {
            told.push(known);
            let what = if matches!(run.ended, Ended::NoData(_)) { "left out" } else { "failed" };
            messages::warn(format_args!("{}: {}: {what}: {reason}", reproduction.name, cell.graph));
        }
    }
    Ok(runs)
}

/// The command that makes the tables of an experiment, as its page shows it.
fn command(args: &Args, name: &str) -> String {
    let quick = if args.quick { " --quick" } else { "" };
    let seeds = args.seeds.as_ref().map_or_else(String::new, |seeds| format!(" --seeds {seeds}"));
    format!("edgepace reproduce {name}{quick}{seeds}")
}
