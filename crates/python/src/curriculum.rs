//! The curriculum alone, for models of other libraries.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use edgepace_curriculum::{CurriculumConfig, Feedback, State};
use edgepace_graph::{DROPPED, Graph, Refusal, Threads, WeightedGraph};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::arrays::{budget, dense, ids, rows, slice, sparse};
use crate::dataset::edges;
use crate::fault::{Fault, Outcome};

/// Which edges, when.
#[pyclass(frozen, module = "edgepace._edgepace")]
pub(crate) struct Curriculum {
    inner: Mutex<edgepace_curriculum::Curriculum>,
    graph: Arc<Graph>,
    threads: Threads,
    /// The pair that each edge of the input belongs to; [`DROPPED`] for a self-loop.
    pair_of_input: Vec<u32>,
}

/// Edges that one thread gathers at a time.
const PIECE: usize = 1 << 14;

/// The settings of a preset with some of them changed, which are the fields of an object in JSON.
fn config(preset: &str, changes: &str) -> Outcome<CurriculumConfig> {
    let wrong = |error: serde_json::Error| Fault::new("SettingError", error.to_string());
    let preset =
        CurriculumConfig::preset(preset).map_err(|error| Fault::new("SettingError", error.to_string()))?;
    let mut table: Map<String, Value> = match serde_json::to_value(preset).map_err(wrong)? {
        Value::Object(table) => table,
        _ => Map::new(),
    };
    let names: Vec<String> = table.keys().cloned().collect();
    for (name, value) in serde_json::from_str::<Map<String, Value>>(changes).map_err(wrong)? {
        if !names.contains(&name) {
            let known = names.iter().map(String::as_str);
            return Err(Refusal::unknown("setting", &name, "a setting of the curriculum", known).into());
        }
        // One at a time, so that an error can name it.
        table.insert(name.clone(), value.clone());
        if let Err(error) = serde_json::from_value::<CurriculumConfig>(Value::Object(table.clone())) {
            return Err(Refusal::new(name, value, error.to_string()).into());
        }
    }
    let config: CurriculumConfig = serde_json::from_value(Value::Object(table)).map_err(wrong)?;
    config.check().map_err(|error| Fault::new("SettingError", error.to_string()))?;
    Ok(config)
}

impl Curriculum {
    fn held(&self) -> Outcome<MutexGuard<'_, edgepace_curriculum::Curriculum>> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            // An update checks all that it is given before its first change.
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Fault::usage(
                "the curriculum is in use by another thread: wait for it, or make another one",
            )),
        }
    }

    /// What each pair has, in the order of the edges that were given; a self-loop has `of_loop`.
    fn of_edges<T: Copy + Send + Sync + Default>(
        &self,
        of_loop: T,
        of_pair: impl Fn(usize) -> T + Sync,
    ) -> Vec<T> {
        let mut out = vec![T::default(); self.pair_of_input.len()];
        self.threads.rows(&mut out, 1, PIECE, |first, piece| {
            for (out, &pair) in piece.iter_mut().zip(&self.pair_of_input[first..]) {
                *out = if pair == DROPPED { of_loop } else { of_pair(pair as usize) };
            }
        });
        out
    }
}

#[pymethods]
impl Curriculum {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    #[allow(clippy::type_complexity, reason = "three arrays and a width")]
    fn new(
        py: Python<'_>,
        sources: PyReadonlyArray1<'_, i64>,
        targets: PyReadonlyArray1<'_, i64>,
        nodes: usize,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        x: Option<PyReadonlyArray2<'_, f32>>,
        sparse_x: Option<(
            PyReadonlyArray1<'_, i64>,
            PyReadonlyArray1<'_, i64>,
            PyReadonlyArray1<'_, f32>,
            usize,
        )>,
        preset: &str,
        changes: &str,
        epochs: usize,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let config = config(preset, changes)?;
        let threads = budget(threads)?;
        let (from, to) = (slice("edge_index", &sources)?, slice("edge_index", &targets)?);
        let weights = weights.as_ref().map(|weights| slice("edge_weight", weights)).transpose()?;
        let mut features = None;
        if let Some(x) = &x {
            features = Some(dense(&threads, x)?);
        } else if let Some((offsets, columns, values, width)) = &sparse_x {
            let (offsets, columns) = (slice("x", offsets)?, slice("x", columns)?);
            features = Some(sparse(&threads, offsets, columns, slice("x", values)?, *width)?);
        }
        let make = || -> Outcome<Self> {
            let (graph, carried, mut pair_of_input) = edges(&threads, nodes, (from, to), false, weights)?;
            let weighted: WeightedGraph = match &carried {
                None => Arc::clone(&graph).into(),
                Some(weights) => WeightedGraph::new(Arc::clone(&graph), &weights[..])?,
            };
            let features = features.map(|features| edgepace_graph::Features::compact(&Arc::new(features)));
            let inner = edgepace_curriculum::Curriculum::new(
                &threads,
                weighted,
                features.as_deref(),
                &config,
                epochs,
                seed,
            )?;
            for edge in pair_of_input.iter_mut().filter(|edge| **edge != DROPPED) {
                *edge = inner.pairs().pair_of()[*edge as usize];
            }
            Ok(Self { inner: Mutex::new(inner), graph, threads, pair_of_input })
        };
        Ok(py.detach(make)?)
    }

    /// One update.
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn update(
        &self,
        py: Python<'_>,
        epoch: usize,
        embeddings: Option<PyReadonlyArray2<'_, f32>>,
        logits: Option<PyReadonlyArray2<'_, f32>>,
        many_labels: bool,
        loss_nodes: Option<PyReadonlyArray1<'_, i64>>,
        losses: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<()> {
        let mut feedback = Feedback::new();
        if let Some(embeddings) = &embeddings {
            feedback = feedback.embeddings(rows("embeddings", embeddings)?, embeddings.shape()[1]);
        }
        if let Some(logits) = &logits {
            let (values, width) = (rows("logits", logits)?, logits.shape()[1]);
            feedback = if many_labels {
                feedback.label_logits(values, width)
            } else {
                feedback.logits(values, width)
            };
        }
        let nodes = match &loss_nodes {
            Some(nodes) => {
                ids(&self.threads, "train nodes", slice("train nodes", nodes)?, self.graph.nodes())?
            }
            None => Vec::new(),
        };
        if let Some(losses) = &losses {
            feedback = feedback.losses(&nodes, slice("node_loss", losses)?);
        }
        let mut inner = self.held()?;
        let inner = &mut *inner;
        // Within the threads, so that the many small steps of an update need not go to them one by one.
        Ok(py.detach(|| self.threads.run(|| inner.update(epoch, &feedback))).map_err(Fault::from)?)
    }

    fn due(&self, epoch: usize) -> PyResult<bool> {
        Ok(self.held()?.due(epoch))
    }

    /// The settings as JSON.
    fn config(&self) -> PyResult<String> {
        let text = serde_json::to_string(self.held()?.config());
        Ok(text.map_err(|error| Fault::new("InternalError", error.to_string()))?)
    }

    /// The weight to train with of each edge that was given.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let inner = self.held()?;
        let (weights, selected) = (inner.history().weights, inner.selected_pairs());
        let weight = |pair: usize| if selected[pair] { weights[pair] } else { 0.0 };
        Ok(py.detach(|| self.of_edges(1.0, weight)).into_pyarray(py))
    }

    /// The weight of each edge, whether it is in or not.
    fn evaluation_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let inner = self.held()?;
        let weights = inner.history().weights;
        Ok(py.detach(|| self.of_edges(1.0, |pair| weights[pair])).into_pyarray(py))
    }

    /// Whether each edge is in.
    fn active<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let inner = self.held()?;
        let selected = inner.selected_pairs();
        Ok(py.detach(|| self.of_edges(true, |pair| selected[pair])).into_pyarray(py))
    }

    /// How hard each edge is.
    fn difficulty<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let inner = self.held()?;
        let residuals = inner.residuals();
        Ok(py.detach(|| self.of_edges(0.0, |pair| residuals[pair])).into_pyarray(py))
    }

    /// The epoch from which on each edge was in; -1: never.
    fn first_epoch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let inner = self.held()?;
        let epochs = inner.history().first_epoch;
        let epoch = |pair: usize| if epochs[pair] == u32::MAX { -1 } else { i64::from(epochs[pair]) };
        Ok(py.detach(|| self.of_edges(0, epoch)).into_pyarray(py))
    }

    /// Directed edges that are in, and all of them; self-loops are not counted.
    #[getter]
    fn selected(&self) -> PyResult<(usize, usize)> {
        Ok((self.held()?.selected(), self.graph.edges()))
    }

    /// Each update as JSON.
    fn updates(&self) -> PyResult<String> {
        let text = serde_json::to_string(self.held()?.history().updates);
        Ok(text.map_err(|error| Fault::new("InternalError", error.to_string()))?)
    }

    /// All that it remembers: large parts as arrays, the rest as JSON.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = self.held()?.save();
        let out = PyDict::new(py);
        let take = |name: &str, values: Vec<f32>| out.set_item(name, values.into_pyarray(py));
        take("gaps", std::mem::take(&mut state.gaps))?;
        take("residuals", std::mem::take(&mut state.residuals))?;
        take("mask", std::mem::take(&mut state.mask))?;
        take("confidence", std::mem::take(&mut state.confidence))?;
        out.set_item("selected", std::mem::take(&mut state.selected).into_pyarray(py))?;
        out.set_item("times_in", std::mem::take(&mut state.times_in).into_pyarray(py))?;
        out.set_item("first_epoch", std::mem::take(&mut state.first_epoch).into_pyarray(py))?;
        let rest = serde_json::to_string(&state);
        out.set_item("rest", rest.map_err(|error| Fault::new("InternalError", error.to_string()))?)?;
        Ok(out)
    }

    /// Goes back to what `save` gave.
    fn restore(&self, py: Python<'_>, saved: &Bound<'_, PyDict>) -> PyResult<()> {
        let part = |name: &str| {
            let missing =
                || Fault::new("StateError", format!("the saved state does not fit: `{name}` is missing"));
            saved.get_item(name)?.ok_or_else(|| PyErr::from(missing()))
        };
        let rest: String = part("rest")?.extract()?;
        let mut state: State = serde_json::from_str(&rest).map_err(|error| {
            Fault::new("StateError", format!("the saved state does not fit: `rest` {error}"))
        })?;
        state.gaps = numbers(&part("gaps")?, "gaps")?;
        state.residuals = numbers(&part("residuals")?, "residuals")?;
        state.mask = numbers(&part("mask")?, "mask")?;
        state.confidence = numbers(&part("confidence")?, "confidence")?;
        state.selected = numbers(&part("selected")?, "selected")?;
        state.times_in = numbers(&part("times_in")?, "times_in")?;
        state.first_epoch = numbers(&part("first_epoch")?, "first_epoch")?;
        let mut inner = self.held()?;
        let inner = &mut *inner;
        Ok(py.detach(|| inner.restore(&state)).map_err(Fault::from)?)
    }
}

/// A part of a saved state.
fn numbers<T: Element + Copy>(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    let wrong =
        || Fault::new("StateError", format!("the saved state does not fit: `{name}` is no such array"));
    let array = array.cast::<PyArray1<T>>().map_err(|_| wrong())?;
    Ok(array.readonly().as_slice().map_err(|_| wrong())?.to_vec())
}
