//! A run that is over: what it measured, predicts, and says about edges.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use edgepace_data::native;
use edgepace_graph::{Labels, Split, Threads, files};
use edgepace_lab::report::{GraphOfRun, Report, ReportRun};
use edgepace_lab::{DataSource, SeedFolder};
use edgepace_nn::{argmax, sigmoid, softmax};
use edgepace_train::{
    Audit, EdgeFile, EdgeReport, EdgeTable, RunRecord, SavedModel, Snapshot, TableFormat, listed, node_losses,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{budget, ids, matrix, rows, signed, slice};
use crate::dataset::Dataset;
use crate::fault::{Fault, Outcome};
use crate::long::long;

/// The graph beside the files of a run that Python saved.
const GRAPH: &str = "run.graph";

/// A run that is over.
#[pyclass(frozen, module = "edgepace._edgepace")]
pub(crate) struct Finished {
    inner: Arc<Inner>,
}

struct Inner {
    /// Of a run that was read from files, the snapshot has the logits alone, and experts are in the model.
    finished: edgepace_train::Finished,
    /// Made, or read, when it is first needed.
    model: OnceLock<SavedModel>,
    /// With its noise.
    dataset: edgepace_graph::Dataset,
    split: Option<Split>,
    source: Option<String>,
}

/// A graph with the logits of its nodes.
type Judged = (Vec<f32>, usize);

impl Finished {
    pub(crate) fn new(
        finished: edgepace_train::Finished,
        dataset: edgepace_graph::Dataset,
        split: Option<Split>,
        source: Option<String>,
    ) -> Self {
        Self { inner: Arc::new(Inner { finished, model: OnceLock::new(), dataset, split, source }) }
    }
}

impl Inner {
    fn width(&self) -> usize {
        self.dataset.labels().width().max(1)
    }

    fn model(&self) -> Outcome<&SavedModel> {
        if let Some(model) = self.model.get() {
            return Ok(model);
        }
        let made = self.finished.model(&self.dataset, None)?;
        Ok(self.model.get_or_init(|| made))
    }

    /// What the model says of nodes it was not trained on.
    fn logits_of(&self, other: &edgepace_graph::Dataset) -> Outcome<Judged> {
        Ok((self.model()?.logits_of_new(other, &budget(None)?)?, self.width()))
    }

    fn audit(&self, threads: &Threads) -> Outcome<(&EdgeReport, Audit)> {
        let report = self.finished.edges.as_ref().ok_or_else(|| {
            let method = &self.finished.record.config.method;
            Fault::usage(format!(
                "method {method} says nothing about edges: use one that orders them, as rcl"
            ))
        })?;
        Ok((report, Audit::new(threads, &self.dataset, report)?))
    }

    /// The run as a page.
    fn page(&self, command: &str) -> Outcome<String> {
        let threads = budget(None)?;
        let rows = if self.finished.edges.is_some() {
            let (report, audit) = self.audit(&threads)?;
            EdgeTable::new(&self.dataset, report, &self.finished.snapshot.logits, &audit).rows().collect()
        } else {
            Vec::new()
        };
        let record = self.finished.record.clone();
        let title = format!("{}: {}", record.data.name, record.config.method);
        let logits = (&self.finished.snapshot.logits[..], record.result.temperature);
        let graph = GraphOfRun::new(0, (self.dataset.clone(), self.split.clone()), logits, rows);
        let runs = vec![ReportRun::new(record)];
        let report =
            Report { title, command: command.to_owned(), runs, graph: Some(graph), notes: Vec::new() };
        Ok(report.to_html(&threads)?)
    }

    /// The files of the run, the record last.
    fn save(&self, folder: &Path) -> Outcome<()> {
        files::create_folder(folder)?;
        let threads = budget(None)?;
        let own = SeedFolder::at(folder);
        let graph = folder.join(GRAPH);
        let mut dataset = self.dataset.clone();
        if let Some(split) = &self.split {
            let mut all = dataset.splits().to_vec();
            all.retain(|own| own.name() != split.name());
            all.push(split.clone());
            dataset = dataset.with_splits(all)?;
        }
        native::save(&threads, &dataset, &graph)?;
        if self.finished.edges.is_some() {
            let (report, audit) = self.audit(&threads)?;
            let table = EdgeTable::new(&self.dataset, report, &self.finished.snapshot.logits, &audit);
            table.write(&own.edges(), TableFormat::Csv)?;
        }
        let path = std::path::absolute(&graph).unwrap_or(graph).display().to_string();
        let source = serde_json::to_string(&DataSource::Name(path)).ok();
        self.model()?.write(&own.model(), source.as_deref())?;
        Ok(own.write_record(&self.finished.record)?)
    }

    fn load(folder: &Path) -> Outcome<Self> {
        let threads = budget(None)?;
        let own = SeedFolder::at(folder);
        if !SeedFolder::is_one(folder) || !folder.join(GRAPH).is_file() {
            let message = format!(
                "{} has no result in it, expected a folder that `Result.save` wrote",
                folder.display()
            );
            return Err(Fault::new("FileError", message));
        }
        let path = folder.join("record.json");
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Fault::new("FileError", format!("cannot read {}: {error}", path.display())))?;
        let record = RunRecord::parse(&text)?;
        let graph = native::Native::open(&folder.join(GRAPH))?;
        graph.verify(&threads)?;
        let dataset = graph.dataset()?;
        let model = SavedModel::open(&own.model())?;
        if model.header().id != record.result.id || model.header().checksum != dataset.checksum() {
            let message = format!("{}: graph, model and record are not of one run", folder.display());
            return Err(Fault::new("StateError", message));
        }
        let logits = model.logits(&dataset)?;
        let edges = if own.edges().is_file() { Some(report_of(&dataset, &own.edges())?) } else { None };
        let snapshot = Snapshot { logits, ..Snapshot::default() };
        let split = dataset.split(&record.result.split).cloned();
        let config = model.header().config.clone();
        let finished = edgepace_train::Finished { record, config, snapshot, experts: Vec::new(), edges };
        Ok(Self { finished, model: OnceLock::from(model), dataset, split, source: None })
    }
}

/// What a table of edges says, by edge id.
fn report_of(dataset: &edgepace_graph::Dataset, path: &Path) -> Outcome<EdgeReport> {
    let graph = dataset.graph();
    let edges = graph.edges();
    let mut report = EdgeReport {
        difficulty: vec![0.0; edges],
        first_epoch: vec![u32::MAX; edges],
        weight: vec![0.0; edges],
    };
    let mut seen = 0;
    for row in EdgeFile::open(path)?.rows()? {
        let edge = graph.edge_id(row.source, row.target).ok_or_else(|| {
            let message = format!("{}: it is the table of another graph", path.display());
            Fault::new("StateError", message)
        })? as usize;
        for edge in [Some(edge), graph.twins().map(|twins| twins[edge] as usize)].into_iter().flatten() {
            report.difficulty[edge] = row.difficulty;
            report.first_epoch[edge] = row.first_epoch.unwrap_or(u32::MAX);
            report.weight[edge] = row.weight;
            seen += 1;
        }
    }
    if seen != edges {
        let message = format!("{}: it tells of {seen} edges, expected {edges}", path.display());
        return Err(Fault::new("StateError", message));
    }
    Ok(report)
}

#[pymethods]
impl Finished {
    /// All that was measured, and how, as JSON.
    fn record(&self) -> PyResult<String> {
        let text = serde_json::to_string(&self.inner.finished.record);
        Ok(text.map_err(|error| Fault::new("InternalError", error.to_string()))?)
    }

    /// The graph that it was trained on, with its noise.
    fn graph(&self) -> Dataset {
        Dataset::of(self.inner.dataset.clone()).from(self.inner.source.clone())
    }

    /// The name, training, validation and test nodes of the split.
    #[allow(clippy::type_complexity, reason = "three arrays and a name")]
    fn split<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(String, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)>
    {
        let split = self.inner.split.as_ref()?;
        let set = |set: &[u32]| set.iter().map(|&node| i64::from(node)).collect::<Vec<_>>().into_pyarray(py);
        Some((split.name().to_owned(), set(split.train()), set(split.validation()), set(split.test())))
    }

    /// The logits of all nodes, or of those of another graph.
    #[pyo3(signature = (graph=None))]
    fn logits<'py>(
        &self,
        py: Python<'py>,
        graph: Option<&Bound<'py, Dataset>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (logits, width) = match graph {
            None => (self.inner.finished.snapshot.logits.clone(), self.inner.width()),
            Some(graph) => {
                let (inner, other) = (Arc::clone(&self.inner), graph.get().inner.clone());
                long(py, None, move |_| inner.logits_of(&other))?
            }
        };
        matrix(py, logits, width)
    }

    /// What logits say as probabilities, calibrated or as the model has them.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        logits: PyReadonlyArray2<'_, f32>,
        calibrate: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let width = self.inner.width();
        let by = self.inner.finished.record.result.temperature.filter(|_| calibrate).unwrap_or(1.0);
        let logits = rows("logits", &logits)?;
        let many = matches!(**self.inner.dataset.labels(), Labels::Many(_));
        let values = py.detach(|| {
            let scaled: Vec<f64> = logits.iter().map(|&logit| f64::from(logit) / by).collect();
            if many {
                scaled.into_iter().map(sigmoid).collect()
            } else {
                scaled.chunks_exact(width).flat_map(softmax).collect::<Vec<f64>>()
            }
        });
        matrix(py, values, width)
    }

    /// The embeddings of all nodes; none where what was trained is no network.
    fn embeddings<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
        let inner = Arc::clone(&self.inner);
        let made = long(py, None, move |_| Ok(inner.model()?.embeddings(&inner.dataset, &budget(None)?)?))?;
        made.map(|(values, width)| matrix(py, values, width)).transpose()
    }

    /// The features as the model takes them.
    fn prepared_features(&self, py: Python<'_>) -> PyResult<Dataset> {
        let inner = Arc::clone(&self.inner);
        long(py, None, move |_| {
            let (dataset, threads) = (&inner.dataset, budget(None)?);
            let features =
                inner.model()?.features(&dataset.weighted_graph()?, dataset.features(), &threads)?;
            Ok(Dataset::of(dataset.clone().with_features(features)?))
        })
    }

    /// Logits and embeddings of all nodes where edges weigh so much.
    #[allow(clippy::type_complexity, reason = "two matrices")]
    fn evaluate_on<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Option<(Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>)>> {
        let (inner, weights) = (Arc::clone(&self.inner), slice("weights", &weights)?.to_vec());
        let made = long(py, None, move |_| {
            Ok(inner.model()?.evaluate_on(&inner.dataset, &weights, &budget(None)?)?)
        })?;
        let Some([logits, embeddings]) = made else { return Ok(None) };
        let units = self.inner.finished.config.units();
        Ok(Some((matrix(py, logits, self.inner.width())?, matrix(py, embeddings, units)?)))
    }

    /// The loss of some nodes by the logits of all.
    fn node_losses<'py>(
        &self,
        py: Python<'py>,
        logits: PyReadonlyArray2<'_, f32>,
        nodes: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let labels = self.inner.dataset.labels();
        let nodes = ids(&Threads::one(), "nodes", slice("nodes", &nodes)?, labels.nodes())?;
        let losses = node_losses(rows("logits", &logits)?, labels, &nodes).map_err(Fault::from)?;
        Ok(losses.into_pyarray(py))
    }

    /// What is known of each edge: arrays by name, an undirected edge once, the most suspicious first.
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = Arc::clone(&self.inner);
        let table = long(py, None, move |_| {
            let (report, audit) = inner.audit(&budget(None)?)?;
            let mut edges = listed(inner.dataset.graph());
            edges.sort_by(|a, b| audit.suspicion[b.0].total_cmp(&audit.suspicion[a.0]));
            Ok((report.clone(), audit, edges))
        })?;
        let (report, audit, edges) = table;
        let dataset = &self.inner.dataset;
        let out = PyDict::new(py);
        let floats = |of: &dyn Fn(usize) -> f32| {
            edges.iter().map(|&(edge, _, _)| of(edge)).collect::<Vec<f32>>().into_pyarray(py)
        };
        let whole = |of: &dyn Fn((usize, u32, u32)) -> i64| {
            edges.iter().map(|&edge| of(edge)).collect::<Vec<i64>>().into_pyarray(py)
        };
        out.set_item("edge", whole(&|(edge, _, _)| signed(edge)))?;
        out.set_item("source", whole(&|(_, source, _)| i64::from(source)))?;
        out.set_item("target", whole(&|(_, _, target)| i64::from(target)))?;
        out.set_item("suspicion", floats(&|edge| audit.suspicion[edge]))?;
        out.set_item("difficulty", floats(&|edge| report.difficulty[edge]))?;
        let epoch = |edge: usize| match report.first_epoch[edge] {
            u32::MAX => -1,
            epoch => i64::from(epoch),
        };
        out.set_item("first_epoch", whole(&|(edge, _, _)| epoch(edge)))?;
        out.set_item("weight", floats(&|edge| report.weight[edge]))?;
        if let Labels::Classes(_) = &**dataset.labels() {
            let (logits, width) = (&self.inner.finished.snapshot.logits, self.inner.width());
            let class = |node: u32| signed(argmax(&logits[node as usize * width..][..width]));
            out.set_item("source_class", whole(&|(_, source, _)| class(source)))?;
            out.set_item("target_class", whole(&|(_, _, target)| class(target)))?;
        }
        out.set_item("feature_similarity", floats(&|edge| audit.feature_similarity[edge]))?;
        out.set_item("jaccard", floats(&|edge| audit.jaccard[edge]))?;
        out.set_item("disagreement", floats(&|edge| audit.reasons[edge].disagreement))?;
        out.set_item("features", floats(&|edge| audit.reasons[edge].features))?;
        out.set_item("neighbourhood", floats(&|edge| audit.reasons[edge].neighbourhood))?;
        if let Some(fake) = dataset.edge_column(edgepace_graph::Dataset::FAKE) {
            let fake: Vec<bool> = edges.iter().map(|&(edge, _, _)| fake[edge] != 0.0).collect();
            out.set_item("fake", fake.into_pyarray(py))?;
            let marks = dataset.edge_column(edgepace_graph::Dataset::FAKE).unwrap_or_default();
            if let Some(found) = audit.against(marks) {
                out.set_item("auc", found.auc)?;
            }
        }
        Ok(out)
    }

    /// The run as a page of HTML; `command` is what it says it was made by.
    fn page(&self, py: Python<'_>, command: String) -> PyResult<String> {
        let inner = Arc::clone(&self.inner);
        long(py, None, move |_| inner.page(&command))
    }

    /// Writes graph, model, edges and record into a folder.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let inner = Arc::clone(&self.inner);
        long(py, None, move |_| inner.save(&folder))
    }

    /// What `save` wrote.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        long(py, None, move |_| Ok(Self { inner: Arc::new(Inner::load(&folder)?) }))
    }
}
