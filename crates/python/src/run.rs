//! One run, from its settings to its end.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use edgepace_data::{Noise, SplitRule, splits};
use edgepace_graph::{Split, Threads};
use edgepace_lab::with_noise;
use edgepace_train::{Judge, Material, RunConfig, RunSpec, Shelf, read_checkpoint, write_checkpoint};
use pyo3::prelude::*;

use crate::arrays::budget;
use crate::dataset::Dataset;
use crate::fault::{Fault, Outcome};
use crate::finished::Finished;
use crate::long::{Watch, long};

/// A run in progress.
#[pyclass(frozen, module = "edgepace._edgepace")]
pub(crate) struct Run {
    inner: Arc<Mutex<Inner>>,
    graph: Py<Dataset>,
}

struct Inner {
    /// None when it is over and was handed out.
    run: Option<edgepace_train::Run>,
    material: Arc<Material>,
    judge: Judge,
    threads: Threads,
    dataset: edgepace_graph::Dataset,
    source: Option<String>,
    /// The checksum of features that Python may write to, without noise.
    shared: Option<(String, edgepace_graph::Dataset)>,
}

/// What a run is to be told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked {
    settings: Vec<(String, String)>,
    noise: Option<String>,
    split: Option<String>,
    seed: u64,
    threads: Option<usize>,
}

fn prepare(dataset: &edgepace_graph::Dataset, asked: &Asked) -> Outcome<(RunSpec, Inner)> {
    let mut config = RunConfig::default();
    for (key, value) in &asked.settings {
        config.set(key, value)?;
    }
    let config = config.check()?;
    let threads = budget(asked.threads)?;
    let noise: Noise = asked.noise.as_deref().map(str::parse).transpose()?.unwrap_or_default();
    if dataset.labels().width() == 0 {
        let message =
            "the graph has no labels, and there is nothing to learn: pass `y`, with -1 for unknown ones";
        return Err(Fault::new("GraphError", message));
    }
    let seed = asked.seed;
    // As `edgepace train` does it.
    let rule = match &asked.split {
        Some(rule) => rule.parse()?,
        None => SplitRule::standard(dataset, seed),
    };
    let split: Split = splits::make(&threads, &rule, dataset, seed)?;
    let noisy = with_noise(&threads, dataset, &noise, &split, seed)?;
    let (material, judge) = Material::with_noise(&noisy, &split, dataset.name(), &noise.record(seed))?;
    let spec = config.spec(&material, seed)?;
    spec.check_memory(&material, 1, None)?;
    let inner = Inner { run: None, material, judge, threads, dataset: noisy, source: None, shared: None };
    Ok((spec, inner))
}

impl Inner {
    fn run(&mut self) -> Outcome<&mut edgepace_train::Run> {
        self.run.as_mut().ok_or_else(|| Fault::usage("the run is over"))
    }

    fn finish(&mut self, stopped: Option<&str>) -> Outcome<Finished> {
        if let Some((before, dataset)) = &self.shared
            && *before != dataset.checksum()
        {
            let message = "the features of the graph were written to while a run was using them: pass a copy, as `x.copy()`";
            return Err(Fault::new("GraphChangedError", message));
        }
        edgepace_data::native::check_unchanged()?;
        let run = self.run.take().ok_or_else(|| Fault::usage("the run is over"))?;
        let finished = run.finish(&self.judge, stopped)?;
        let split = self.material.split().clone();
        Ok(Finished::new(finished, self.dataset.clone(), Some(split), self.source.clone()))
    }
}

/// The run, for this call alone.
fn held<R>(inner: &Mutex<Inner>, with: impl FnOnce(&mut Inner) -> Outcome<R>) -> Outcome<R> {
    match inner.try_lock() {
        Ok(mut inner) => with(&mut inner),
        Err(TryLockError::Poisoned(poisoned)) => with(&mut poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            Err(Fault::usage("the run is in use by another thread: wait for it, or start another run"))
        }
    }
}

#[pymethods]
impl Run {
    /// A run that begins, or goes on from a file that `save` wrote.
    #[new]
    fn new(
        py: Python<'_>,
        graph: Py<Dataset>,
        asked: Asked,
        resume: Option<std::path::PathBuf>,
    ) -> PyResult<Self> {
        let (dataset, source, shared) = {
            let graph = graph.get();
            graph.check_unchanged()?;
            (graph.inner.clone(), graph.source.clone(), graph.shared_checksum())
        };
        let inner = long(py, None, move |_| {
            let (spec, mut inner) = prepare(&dataset, &asked)?;
            let (material, shelf, threads) = (&inner.material, Shelf::new(), &inner.threads);
            let run = match resume {
                None => edgepace_train::Run::start(spec, material, &shelf, threads)?,
                Some(path) => {
                    let (state, _) = read_checkpoint(&path, &spec)?;
                    edgepace_train::Run::resume(spec, material, &shelf, threads, &state)?
                }
            };
            inner.run = Some(run);
            inner.source = source;
            inner.shared = shared.map(|shared| (shared, dataset));
            Ok(inner)
        })?;
        Ok(Self { inner: Arc::new(Mutex::new(inner)), graph })
    }

    #[getter]
    fn graph(&self, py: Python<'_>) -> Py<Dataset> {
        self.graph.clone_ref(py)
    }

    /// The hash of all that determines the result.
    #[getter]
    fn id(&self) -> PyResult<String> {
        Ok(held(&self.inner, |inner| Ok(inner.run()?.spec().id().to_owned()))?)
    }

    /// Epochs that are done, and about how many are left.
    #[getter]
    fn progress(&self) -> PyResult<(u64, u64)> {
        Ok(held(&self.inner, |inner| Ok(inner.run()?.progress()))?)
    }

    /// Trains one more epoch. Returns what happened as JSON, or nothing when there is no more to do.
    fn advance(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let inner = Arc::clone(&self.inner);
        long(py, None, move |_| {
            held(&inner, |inner| {
                let events = inner.run()?.advance()?;
                let text = events.map(serde_json::to_string).transpose();
                text.map_err(|error| Fault::new("InternalError", error.to_string()))
            })
        })
    }

    /// Trains to the end.
    fn finish(&self, py: Python<'_>, progress: Option<Bound<'_, PyAny>>) -> PyResult<Finished> {
        let inner = Arc::clone(&self.inner);
        long(py, progress.as_ref(), move |watch: &Watch| {
            held(&inner, |inner| {
                let run = inner.run()?;
                while run.advance()?.is_some() {
                    let (done, left) = run.progress();
                    watch.tell(done, left);
                    if watch.stops() {
                        return Err(Fault::usage("the run was stopped"));
                    }
                }
                inner.finish(None)
            })
        })
    }

    /// Ends the run with the best that it has.
    fn stop(&self, py: Python<'_>) -> PyResult<Finished> {
        let inner = Arc::clone(&self.inner);
        long(py, None, move |_| held(&inner, |inner| inner.finish(Some("by its owner"))))
    }

    /// Writes all that is needed to go on from here later, to the same bits.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        let inner = Arc::clone(&self.inner);
        long(py, None, move |_| {
            let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
            let run = inner.run()?;
            Ok(write_checkpoint(&path, run.spec(), run.save()?, 0)?)
        })
    }
}
