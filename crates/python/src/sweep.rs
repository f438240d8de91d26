//! Experiments with many runs, on the store that the program uses.

use std::path::PathBuf;
use std::time::Duration;

use edgepace_data::{Cache, Source, fetch};
use edgepace_graph::Threads;
use edgepace_lab::{
    Cell, CellRun, Ended, Experiment, KeepFiles, Load, Runner, RunnerOptions, Seeds, Store, SweepProgress,
    WatchRuns,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::fault::{Fault, Outcome};
use crate::long::{Watch, long};

/// How often a run is saved, as in the program.
const CHECKPOINT: Duration = Duration::from_secs(30);

struct Loader {
    cache: Cache,
    offline: bool,
}

impl Load for Loader {
    fn load(&self, threads: &Threads, name: &str) -> Result<edgepace_graph::Dataset, String> {
        let source = Source::parse(name).map_err(|error| error.to_string())?;
        if let Source::Set(set) = &source
            && !self.cache.has(set)
        {
            let usual = fetch::Options::from_env();
            let options = fetch::Options { offline: self.offline || usual.offline, ..usual };
            fetch::get(set, &self.cache, &options, &mut |_| {}).map_err(|error| error.to_string())?;
        }
        source.load(threads, &self.cache).map_err(|error| error.to_string())
    }
}

/// Tells of whole runs.
struct Told<'a>(&'a Watch);

impl WatchRuns for Told<'_> {
    fn progress(&self, progress: &SweepProgress) {
        self.0.tell(progress.over as u64, (progress.runs - progress.over) as u64);
    }

    fn over(&self, _: &Cell, _: &CellRun) {}
}

/// What is to be done, and how.
struct Asked {
    path: PathBuf,
    text: String,
    store: PathBuf,
    jobs: usize,
    threads: Option<usize>,
    seeds: Option<String>,
    folder: Option<PathBuf>,
    offline: bool,
    retry: bool,
}

fn run(asked: &Asked, watch: &Watch) -> Outcome<Value> {
    let mut experiment = Experiment::parse(&asked.path, &asked.text)?;
    if let Some(seeds) = &asked.seeds {
        let seeds: Seeds = seeds.parse().map_err(|error| Fault::new("SettingError", format!("{error}")))?;
        experiment = experiment.with_seeds(&seeds);
    }
    if experiment.runs() == 0 {
        return Err(Fault::new("SettingError", "the plan has no run to do: its limits leave nothing"));
    }
    let store = Store::open(&asked.store)?;
    let cache = match &asked.folder {
        Some(folder) => Cache::at(folder),
        None => Cache::from_env()?,
    };
    let (loader, told) = (Loader { cache, offline: asked.offline }, Told(watch));
    let options = RunnerOptions {
        jobs: asked.jobs.max(1),
        threads: asked.threads,
        memory: None,
        checkpoint: CHECKPOINT,
        retry: asked.retry,
        keep: KeepFiles::default(),
        stop: watch.stop(),
        watch: &told,
        load: &loader,
    };
    let runs = Runner::new(&experiment, &store, options)?.run()?;
    let mut out = Vec::with_capacity(runs.len());
    for run in runs {
        let cell = &experiment.cells[run.cell];
        let row = run.id.as_deref().map(|id| store.row(id)).transpose()?.flatten();
        let (ended, error) = match run.ended {
            Ended::Done => ("done", None),
            Ended::Before => ("before", None),
            Ended::Failed(error) => ("failed", Some(error)),
            Ended::NoData(error) => ("no data", Some(error)),
            Ended::Left => ("left", None),
        };
        out.push(json!({
            "graph": cell.graph,
            "noise": cell.noise.to_string(),
            "split": cell.split.as_ref().map(ToString::to_string),
            "backbone": cell.backbone.name(),
            "method": cell.method,
            "config": cell.config,
            "seed": run.seed,
            "id": run.id,
            "ended": ended,
            "error": error,
            "test": row.as_ref().and_then(|row| row.test),
            "validation": row.as_ref().and_then(|row| row.validation),
            "seconds": row.as_ref().map(|row| row.seconds),
        }));
    }
    Ok(Value::Array(out))
}

/// Does all runs of a plan that are not in the store. Returns what became of each, as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn sweep(
    py: Python<'_>,
    path: PathBuf,
    text: String,
    store: PathBuf,
    jobs: usize,
    threads: Option<usize>,
    seeds: Option<String>,
    folder: Option<PathBuf>,
    offline: bool,
    retry: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let asked = Asked { path, text, store, jobs, threads, seeds, folder, offline, retry };
    long(py, progress.as_ref(), move |watch| run(&asked, watch).map(|runs| runs.to_string()))
}

/// All runs of a store as JSON.
#[pyfunction]
pub(crate) fn records(py: Python<'_>, store: PathBuf) -> PyResult<String> {
    long(py, None, move |_| {
        let rows = Store::read(&store)?.rows()?;
        serde_json::to_string(&rows).map_err(|error| Fault::new("InternalError", error.to_string()))
    })
}
