//! Graphs with features, labels and splits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use edgepace_data::fetch;
use edgepace_data::{Cache, Source, native};
use edgepace_graph::{
    Buffer, Classes, DROPPED, DenseFeatures, Features, Graph, Labels, ManyLabels, Names, Split, Threads,
    UNLABELLED, edge_homophily,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{budget, dense, ids, matrix, rows, signed, slice, sparse};
use crate::fault::{Fault, Outcome};
use crate::long::long;

/// A graph with all that belongs to it. It never changes.
#[pyclass(frozen, module = "edgepace._edgepace")]
pub(crate) struct Dataset {
    pub(crate) inner: edgepace_graph::Dataset,
    /// The name that it was loaded by, to be read again from any folder.
    pub(crate) source: Option<String>,
    /// The checksum of what Python may write to, when it was taken over.
    shared: Option<String>,
    /// The edge that each edge of the input became; empty where that is not known.
    edge_of_input: Vec<u32>,
}

/// Training, validation and test nodes of a split, with its name.
type SplitArrays<'py> =
    (String, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);
/// The same on the way in.
type GivenSplit<'py> =
    (String, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>);
/// Offsets, columns, values and width of a sparse matrix.
type GivenSparse<'py> =
    (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f32>, usize);

impl Dataset {
    pub(crate) fn of(inner: edgepace_graph::Dataset) -> Self {
        Self { inner, source: None, shared: None, edge_of_input: Vec::new() }
    }

    /// The same, which was loaded by that name.
    pub(crate) fn from(self, source: Option<String>) -> Self {
        Self { source, ..self }
    }

    /// Refuses a graph whose features were written to since it was made.
    pub(crate) fn check_unchanged(&self) -> Outcome<()> {
        let changed = self.shared.as_ref().is_some_and(|before| *before != self.inner.checksum());
        if changed {
            let message =
                "the features of the graph were written to while it was in use: pass a copy, as `x.copy()`";
            return Err(Fault::new("GraphChangedError", message));
        }
        Ok(())
    }

    pub(crate) fn shared_checksum(&self) -> Option<String> {
        self.shared.clone()
    }
}

fn numbers(py: Python<'_>, values: impl IntoIterator<Item = u32>) -> Bound<'_, PyArray1<i64>> {
    values.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py)
}

#[pymethods]
impl Dataset {
    /// A graph of edges `sources[i] -> targets[i]`, or of both directions of each.
    #[staticmethod]
    #[pyo3(signature = (name, sources, targets, nodes, undirected, weights, x, sparse_x, y, classes, many_y, splits, node_names, class_names, feature_names))]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn build(
        py: Python<'_>,
        name: String,
        sources: PyReadonlyArray1<'_, i64>,
        targets: PyReadonlyArray1<'_, i64>,
        nodes: usize,
        undirected: bool,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        x: Option<PyReadonlyArray2<'_, f32>>,
        sparse_x: Option<GivenSparse<'_>>,
        y: Option<PyReadonlyArray1<'_, i64>>,
        classes: usize,
        many_y: Option<PyReadonlyArray2<'_, u8>>,
        splits: Vec<GivenSplit<'_>>,
        node_names: Option<Vec<String>>,
        class_names: Option<Vec<String>>,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let threads = budget(None)?;
        let (from, to) = (slice("edge_index", &sources)?, slice("edge_index", &targets)?);
        let given_weights = weights.as_ref().map(|weights| slice("edge_weight", weights)).transpose()?;
        let (graph, carried, edge_of_input) =
            py.detach(|| edges(&threads, nodes, (from, to), undirected, given_weights))?;
        let (mut shared, mut features) = (false, None);
        if let Some(x) = &x {
            shared = x.shape().iter().all(|&size| size > 0);
            features = Some(dense(&threads, x)?);
        } else if let Some((offsets, columns, values, width)) = &sparse_x {
            let (offsets, columns) = (slice("x", offsets)?, slice("x", columns)?);
            features = Some(sparse(&threads, offsets, columns, slice("x", values)?, *width)?);
        }
        let features = match features {
            Some(features) => features,
            None => DenseFeatures::new(nodes, 0, Vec::new()).map_err(Fault::from)?.into(),
        };
        let labels = match (&y, &many_y) {
            (Some(y), _) => classes_of(slice("y", y)?, classes)?,
            (None, Some(many)) => {
                let (count, width) = (many.shape()[0], many.shape()[1]);
                ManyLabels::new(count, width, rows("y", many)?.to_vec()).map_err(Fault::from)?.into()
            }
            (None, None) => Labels::from(Classes::new(0, vec![UNLABELLED; nodes]).map_err(Fault::from)?),
        };
        let mut own_splits = Vec::new();
        for (name, train, validation, test) in &splits {
            let set = |set| ids(&threads, name, slice(name, set)?, nodes);
            let (train, validation, test) = (set(train)?, set(validation)?, set(test)?);
            own_splits.push(Split::new(&name[..], nodes, train, validation, test).map_err(Fault::from)?);
        }
        let make = || -> Outcome<Self> {
            let mut inner = edgepace_graph::Dataset::new(name, graph, features, labels, own_splits)?;
            if let Some(names) = node_names {
                inner = inner.with_node_names(Names::new(names))?;
            }
            if let Some(names) = class_names {
                inner = inner.with_class_names(Names::new(names))?;
            }
            if let Some(names) = feature_names {
                inner = inner.with_feature_names(Names::new(names))?;
            }
            if let Some(weights) = carried {
                inner = inner.with_edge_column(edgepace_graph::Dataset::WEIGHT, Buffer::from(weights))?;
            }
            let shared = shared.then(|| inner.checksum());
            Ok(Self { inner, source: None, shared, edge_of_input })
        };
        Ok(py.detach(make)?)
    }

    /// The dataset of a name, a generator, or a file; fetched where it is not there.
    #[staticmethod]
    fn load(py: Python<'_>, name: String, folder: Option<PathBuf>, offline: bool) -> PyResult<Self> {
        long(py, None, move |_| {
            let threads = budget(None)?;
            let cache = match folder {
                Some(folder) => Cache::at(folder),
                None => Cache::from_env()?,
            };
            let source = Source::parse(&name)?;
            if let Source::Set(set) = &source
                && !cache.has(set)
            {
                let usual = fetch::Options::from_env();
                let options = fetch::Options { offline: offline || usual.offline, ..usual };
                fetch::get(set, &cache, &options, &mut |_| {})?;
            }
            let inner = source.load(&threads, &cache)?;
            let name = match &source {
                Source::Set(set) => set.name.to_owned(),
                // With every setting, its seed as well.
                Source::Generator(generator) => generator.to_string(),
                Source::File(path) => {
                    std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string()
                }
            };
            Ok(Self { source: Some(name), ..Self::of(inner) })
        })
    }

    /// A graph that `to_bytes` wrote.
    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        bytes: &[u8],
        source: Option<String>,
        edge_of_input: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let edge = |&edge: &i64| u32::try_from(edge).unwrap_or(DROPPED);
        let edge_of_input = slice("edge_of_input", &edge_of_input)?.iter().map(edge).collect();
        let make = || -> Outcome<edgepace_graph::Dataset> {
            let native = native::Native::from_bytes(Path::new("a pickled graph"), bytes)?;
            native.verify(&budget(None)?)?;
            Ok(native.dataset()?)
        };
        Ok(Self { source, edge_of_input, ..Self::of(py.detach(make)?) })
    }

    /// All of it, as a graph file has it.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let inner = self.inner.clone();
        let bytes = long(py, None, move |_| {
            let failed = |error: std::io::Error| {
                Fault::new("FileError", format!("cannot write a temporary file: {error}"))
            };
            let folder = tempfile::tempdir().map_err(failed)?;
            let path = folder.path().join("pickled.graph");
            native::save(&budget(None)?, &inner, &path)?;
            std::fs::read(&path).map_err(failed)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes it as a graph file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let inner = self.inner.clone();
        long(py, None, move |_| Ok(native::save(&budget(None)?, &inner, &path)?))
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.inner.graph().nodes()
    }

    #[getter]
    fn edges(&self) -> usize {
        self.inner.graph().edges()
    }

    #[getter]
    fn is_undirected(&self) -> bool {
        self.inner.graph().twins().is_some()
    }

    /// Columns of the features.
    #[getter]
    fn columns(&self) -> usize {
        self.inner.features().cols()
    }

    /// Classes, or labels.
    #[getter]
    fn width(&self) -> usize {
        self.inner.labels().width()
    }

    #[getter]
    fn has_many_labels(&self) -> bool {
        matches!(**self.inner.labels(), Labels::Many(_))
    }

    /// Self-loops and repeated edges that were left out.
    #[getter]
    fn dropped(&self) -> (usize, usize) {
        let dropped = self.inner.graph().dropped();
        (dropped.loops, dropped.duplicates)
    }

    /// The share of edges that join nodes of one class, by edges of which both classes are known.
    #[getter]
    fn homophily(&self) -> Option<f64> {
        match &**self.inner.labels() {
            Labels::Classes(classes) if classes.width() > 0 => edge_homophily(self.inner.graph(), classes),
            _ => None,
        }
    }

    fn checksum(&self, py: Python<'_>) -> String {
        py.detach(|| self.inner.checksum())
    }

    fn edge_index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let graph = self.inner.graph();
        let targets = graph.targets();
        let both: Vec<i64> = graph.sources().iter().chain(&targets).map(|&node| i64::from(node)).collect();
        if both.is_empty() {
            return Ok(PyArray2::zeros(py, [2, 0], false));
        }
        matrix(py, both, graph.edges())
    }

    /// The features as a matrix, whether they are stored so or not.
    fn dense_features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (count, columns) = (self.inner.features().rows(), self.inner.features().cols());
        if count == 0 || columns == 0 {
            return Ok(PyArray2::zeros(py, [count, columns], false));
        }
        let values = py.detach(|| match &**self.inner.features() {
            Features::Dense(dense) => dense.values().to_vec(),
            Features::Sparse(sparse) => {
                let mut values = vec![0.0; count * columns];
                for row in 0..count {
                    for place in sparse.offsets()[row]..sparse.offsets()[row + 1] {
                        values[row * columns + sparse.columns()[place] as usize] = sparse.values()[place];
                    }
                }
                values
            }
        });
        matrix(py, values, columns)
    }

    /// Offsets, columns and values of features that are stored sparse.
    #[allow(clippy::type_complexity, reason = "three arrays")]
    fn sparse_features<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f32>>)> {
        let Features::Sparse(sparse) = &**self.inner.features() else { return None };
        let offsets: Vec<i64> = sparse.offsets().iter().map(|&offset| signed(offset)).collect();
        let columns = numbers(py, sparse.columns().iter().copied());
        Some((offsets.into_pyarray(py), columns, sparse.values().to_vec().into_pyarray(py)))
    }

    /// The class of each node, -1 where it is not known.
    fn labels<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        let Labels::Classes(classes) = &**self.inner.labels() else { return None };
        let class = |&class: &u32| if class == UNLABELLED { -1 } else { i64::from(class) };
        Some(classes.of().iter().map(class).collect::<Vec<_>>().into_pyarray(py))
    }

    /// The labels of each node, where nodes have many.
    fn many_labels<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<u8>>>> {
        let Labels::Many(many) = &**self.inner.labels() else { return Ok(None) };
        matrix(py, many.values().to_vec(), many.width()).map(Some)
    }

    #[getter]
    fn node_names(&self) -> Option<Vec<String>> {
        self.inner.node_names().map(all)
    }

    #[getter]
    fn class_names(&self) -> Option<Vec<String>> {
        self.inner.class_names().map(all)
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.inner.feature_names().map(all)
    }

    #[getter]
    fn edge_columns(&self) -> Vec<String> {
        self.inner.edge_columns().map(|(name, _)| name.to_owned()).collect()
    }

    fn edge_column<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, PyArray1<f32>>> {
        self.inner.edge_column(name).map(|values| values.to_vec().into_pyarray(py))
    }

    fn splits<'py>(&self, py: Python<'py>) -> Vec<SplitArrays<'py>> {
        let arrays = |split: &Split| {
            let set = |set: &[u32]| numbers(py, set.iter().copied());
            (split.name().to_owned(), set(split.train()), set(split.validation()), set(split.test()))
        };
        self.inner.splits().iter().map(arrays).collect()
    }

    /// For each edge that was given its edge here; -1 for a self-loop.
    fn edge_of_input<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let edge = |&edge: &u32| if edge == DROPPED { -1 } else { i64::from(edge) };
        self.edge_of_input.iter().map(edge).collect::<Vec<_>>().into_pyarray(py)
    }

    /// The same graph with the edges that weigh something, and with these weights times their own.
    fn reweighted(&self, py: Python<'_>, weights: PyReadonlyArray1<'_, f32>) -> PyResult<Self> {
        let weights = slice("weights", &weights)?;
        let make = || -> Outcome<Self> {
            let (own, kind) = (self.inner.weights(), edgepace_graph::Dataset::WEIGHT);
            let graph = self.inner.graph();
            if weights.len() != graph.edges() {
                let message = format!("`weights` has {} numbers, expected {}", weights.len(), graph.edges());
                return Err(Fault::new("GraphError", message));
            }
            let products: Vec<f32> = match own {
                None => weights.to_vec(),
                Some(own) => own.iter().zip(weights).map(|(own, weight)| own * weight).collect(),
            };
            let inner = self.inner.clone().with_edge_column(kind, Buffer::from(products))?;
            Ok(Self { shared: self.shared.as_ref().map(|_| inner.checksum()), ..Self::of(inner) })
        };
        Ok(py.detach(make)?)
    }

    /// The same graph with other splits.
    fn with_split(
        &self,
        name: &str,
        train: PyReadonlyArray1<'_, i64>,
        validation: PyReadonlyArray1<'_, i64>,
        test: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let threads = Threads::one();
        let nodes = self.inner.graph().nodes();
        let set = |set| ids(&threads, "split", slice("split", set)?, nodes);
        let (train, validation, test) = (set(&train)?, set(&validation)?, set(&test)?);
        let split = Split::new(name, nodes, train, validation, test).map_err(Fault::from)?;
        let inner = self.inner.clone().with_splits(vec![split]).map_err(Fault::from)?;
        Ok(Self {
            inner,
            source: self.source.clone(),
            shared: self.shared.clone(),
            edge_of_input: self.edge_of_input.clone(),
        })
    }
}

/// The edges of a graph.
pub(crate) type Edges = (Arc<Graph>, Option<Vec<f32>>, Vec<u32>);

/// The graph of some edges, what they weigh by edge id, and the edge that each became.
pub(crate) fn edges(
    threads: &Threads,
    nodes: usize,
    (from, to): (&[i64], &[i64]),
    undirected: bool,
    weights: Option<&[f32]>,
) -> Outcome<Edges> {
    let (from, to) = (ids(threads, "edge_index", from, nodes)?, ids(threads, "edge_index", to, nodes)?);
    let traced = if undirected {
        Graph::undirected_traced_on(threads, nodes, &from, &to)?
    } else {
        Graph::from_edges_traced_on(threads, nodes, &from, &to)?
    };
    let carried = weights.map(|weights| traced.carry(weights)).transpose()?;
    let mut edge_of_input = traced.edge_of_input().to_vec();
    let graph = traced.into_graph();
    for (place, edge) in edge_of_input.iter_mut().enumerate().filter(|(_, edge)| **edge == DROPPED) {
        // A repeat is the edge that it repeats.
        *edge = graph.edge_id(from[place], to[place]).unwrap_or(DROPPED);
    }
    Ok((Arc::new(graph), carried, edge_of_input))
}

fn all(names: &Names) -> Vec<String> {
    names.iter().map(ToOwned::to_owned).collect()
}

fn classes_of(values: &[i64], classes: usize) -> Outcome<Labels> {
    let class = |&value: &i64| match value {
        -1 => Ok(UNLABELLED),
        value => u32::try_from(value).map_err(|_| {
            Fault::new("GraphError", format!("`y` has the class {value}, expected 0, 1, … or -1 for unknown"))
        }),
    };
    let of = values.iter().map(class).collect::<Outcome<Vec<u32>>>()?;
    Ok(Classes::new(classes, of)?.into())
}
