//! Experiments with many runs, on the store that the program uses.

use std::path::{Path, PathBuf};
use std::time::Duration;

use edgepace_cli::{EngineError, EngineSweep};
use edgepace_data::{Cache, Source, fetch};
use edgepace_graph::Threads;
use edgepace_lab::{
    Cell, CellRun, Ended, Experiment, KeepFiles, Label, Load, Runner, RunnerOptions, Seeds, Store,
    SweepProgress, WatchRuns,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dataset::Dataset;
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

/// Brings the one dataset that was handed over.
struct Handed(edgepace_graph::Dataset);

impl Load for Handed {
    fn load(&self, _: &Threads, _: &str) -> Result<edgepace_graph::Dataset, String> {
        Ok(self.0.clone())
    }
}

/// An experiment, and where its data is.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    path: PathBuf,
    text: String,
    seeds: Option<String>,
    folder: Option<PathBuf>,
    offline: bool,
    retry: bool,
}

impl Asked {
    fn experiment(&self) -> Outcome<Experiment> {
        let mut experiment = Experiment::parse(&self.path, &self.text)?;
        if let Some(seeds) = &self.seeds {
            let seeds: Seeds = seeds
                .parse()
                .map_err(|error: String| Fault::new("SettingError", format!("`seeds`: {error}")))?;
            experiment = experiment.with_seeds(&seeds);
        }
        if experiment.runs() == 0 {
            return Err(Fault::new("SettingError", "the plan has no run to do: its limits leave nothing"));
        }
        Ok(experiment)
    }

    fn loader(&self) -> Outcome<Loader> {
        let cache = match &self.folder {
            Some(folder) => Cache::at(folder),
            None => Cache::from_env()?,
        };
        Ok(Loader { cache, offline: self.offline })
    }

    /// How its runs are done, several at a time.
    fn options<'a>(&self, jobs: usize, load: &'a dyn Load, told: &'a Told<'_>) -> RunnerOptions<'a> {
        RunnerOptions {
            jobs: jobs.max(1),
            threads: None,
            memory: None,
            checkpoint: CHECKPOINT,
            retry: self.retry,
            keep: KeepFiles::default(),
            stop: told.0.stop(),
            watch: told,
            load,
        }
    }
}

/// What became of a run.
fn row(experiment: &Experiment, store: &Store, run: CellRun) -> Outcome<Value> {
    let cell = &experiment.cells[run.cell];
    let row = run.id.as_deref().map(|id| store.row(id)).transpose()?.flatten();
    let (ended, error) = run.ended.told();
    Ok(json!({
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
    }))
}

/// Does all runs of a plan that are not in the store. Returns what became of each, as JSON.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    asked: Asked,
    store: PathBuf,
    jobs: usize,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    long(py, progress.as_ref(), move |watch| {
        let (experiment, store) = (asked.experiment()?, Store::open(&store)?);
        let (loader, told) = (asked.loader()?, Told(watch));
        let options = RunnerOptions { threads, ..asked.options(jobs, &loader, &told) };
        let runs = Runner::new(&experiment, &store, options)?.run()?;
        let rows = runs.into_iter().map(|run| row(&experiment, &store, run)).collect::<Outcome<Vec<_>>>()?;
        Ok(Value::Array(rows).to_string())
    })
}

/// What is to be done of a plan, as JSON: each run with its id, its cell, and the name that brings its data. Those that are in the
/// store are called what this plan calls them.
#[pyfunction]
pub(crate) fn outlook(py: Python<'_>, asked: Asked, store: PathBuf) -> PyResult<String> {
    long(py, None, move |watch| {
        let (experiment, store) = (asked.experiment()?, Store::open(&store)?);
        let (loader, told) = (asked.loader()?, Told(watch));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let runs = Runner::new(&experiment, &store, asked.options(cores, &loader, &told))?.outlook()?;
        let mut rows = Vec::with_capacity(runs.len());
        let mut labels = Vec::new();
        for run in runs {
            let (number, seed) = (run.cell, run.seed);
            let cell = &experiment.cells[number];
            if let (Ended::Before | Ended::Failed(_), Some(id)) = (&run.ended, &run.id) {
                labels.push(experiment.label(cell, seed, id));
            }
            let label = run.id.as_deref().map(|id| experiment.label(cell, seed, id));
            let mut row = row(&experiment, &store, run)?;
            row["cell"] = json!(number);
            row["data"] = json!(cell.data_name(seed));
            row["label"] = json!(label);
            rows.push(row);
        }
        store.put_labels(&labels)?;
        Ok(Value::Array(rows).to_string())
    })
}

/// Does one run of a plan on data that is handed over. Its checkpoint is beside the store, if that can be written to, but the
/// store itself is not touched. Returns the run as a line for `keep`, or nothing when it was left.
#[pyfunction]
pub(crate) fn one_run(
    py: Python<'_>,
    asked: Asked,
    store: PathBuf,
    run: (usize, u64),
    graph: &Bound<'_, Dataset>,
    threads: usize,
    checkpoint: f64,
) -> PyResult<Option<String>> {
    let dataset = graph.get().inner.clone();
    let checkpoint = Duration::try_from_secs_f64(checkpoint)
        .map_err(|_| Fault::new("SettingError", format!("`checkpoint` is {checkpoint}, expected seconds")))?;
    long(py, None, move |watch| {
        let experiment = asked.experiment()?.only(run.0, run.1);
        let experiment = experiment.ok_or_else(|| Fault::usage("the plan has no such run"))?;
        let store = Store::in_memory_beside(&store)?;
        let (handed, told) = (Handed(dataset), Told(watch));
        let options =
            RunnerOptions { threads: Some(threads), checkpoint, ..asked.options(1, &handed, &told) };
        for run in Runner::new(&experiment, &store, options)?.run()? {
            match (run.ended, run.id) {
                (Ended::Done | Ended::Before | Ended::Failed(_), Some(id)) => {
                    let row = store.row(&id)?;
                    return Ok(row.map(|row| store.export_line(&row)).transpose()?);
                }
                (Ended::Failed(reason) | Ended::NoData(reason), _) => {
                    return Err(Fault::new("EdgepaceError", reason));
                }
                _ => {}
            }
        }
        Ok(None)
    })
}

/// Keeps runs that `one_run` gave, and what the plan calls them beside; a run that is there already stays as it is.
#[pyfunction]
pub(crate) fn keep(py: Python<'_>, store: PathBuf, lines: String, labels: String) -> PyResult<()> {
    long(py, None, move |_| {
        let wrong = |error: serde_json::Error| Fault::new("StateError", error.to_string());
        let labels: Vec<Label> = serde_json::from_str(&labels).map_err(wrong)?;
        let store = Store::open(&store)?;
        store.import_from(Path::new("a run of a worker"), lines.as_bytes())?;
        Ok(store.put_labels(&labels)?)
    })
}

/// All runs of a store as JSON.
#[pyfunction]
pub(crate) fn records(py: Python<'_>, store: PathBuf) -> PyResult<String> {
    long(py, None, move |_| {
        let rows = Store::read(&store)?.rows()?;
        serde_json::to_string(&rows).map_err(|error| Fault::new("InternalError", error.to_string()))
    })
}

/// Has an engine of Python's do a sweep that the program was asked for.
pub(crate) fn on(
    py: Python<'_>,
    engine: &Bound<'_, PyAny>,
    sweep: &EngineSweep<'_>,
) -> Result<Vec<CellRun>, EngineError> {
    let call = || -> PyResult<String> {
        let settings = PyDict::new(py);
        settings.set_item("store", sweep.store)?;
        settings.set_item("seeds", &sweep.seeds)?;
        settings.set_item("data", &sweep.data)?;
        settings.set_item("offline", sweep.offline)?;
        settings.set_item("retry", sweep.retry)?;
        settings.set_item("threads", sweep.threads)?;
        settings.set_item("checkpoint", sweep.checkpoint.as_secs_f64())?;
        settings.set_item("address", &sweep.address)?;
        engine.call((sweep.plan, sweep.text), Some(&settings))?.extract()
    };
    let text = call().map_err(|error| {
        if error.is_instance_of::<PyKeyboardInterrupt>(py) {
            EngineError::Stopped
        } else {
            EngineError::Failed(error.value(py).to_string())
        }
    })?;
    let wrong = |error: serde_json::Error| EngineError::Failed(error.to_string());
    let rows: Vec<EngineRow> = serde_json::from_str(&text).map_err(wrong)?;
    Ok(rows.into_iter().map(CellRun::from).collect())
}

/// What an engine says of a run.
#[derive(Deserialize)]
struct EngineRow {
    cell: usize,
    seed: u64,
    id: Option<String>,
    ended: String,
    error: Option<String>,
}

impl From<EngineRow> for CellRun {
    fn from(row: EngineRow) -> Self {
        let EngineRow { cell, seed, id, ended, error } = row;
        let reason = error.unwrap_or_default();
        let ended = match &ended[..] {
            "done" => Ended::Done,
            "before" => Ended::Before,
            "failed" => Ended::Failed(reason),
            "no data" => Ended::NoData(reason),
            _ => Ended::Left,
        };
        Self { cell, seed, id, ended }
    }
}
