//! A graph with edge weights, normalised for a backbone: the linear map along edges that its layers share.

mod dense;

use std::ops::Range;
use std::sync::Arc;

use edgepace_graph::{Graph, GraphError, MAX_EDGE_WEIGHT, Transpose, WeightedGraph, check_weights};

use crate::kernels::dense::Panels;
use crate::kernels::finish::Finish;
use crate::kernels::sddmm::{row_dots, sddmm};
use crate::kernels::spmm::{Csr, Start, spmm};
use crate::memory::zeros;
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

pub(crate) use dense::Dense;
use dense::Factors;

/// How edge weights w become the values v of the propagation (P x)_i = r_i x_i + Σ_e v_e x_source(e).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Normalisation {
    /// GCN: v_e = w_e / √(d_i d_j), r_i = 1 / d_i, with d_i = 1 + Σ w over in-edges.
    Symmetric,
    /// GIN: v_e = w_e, r_i = 1 + ε.
    Sum { epsilon: f64 },
    /// GraphSAGE: v_e = w_e / Σ w over in-edges, 0 where that sum is 0; r_i = 0.
    Mean,
    /// PNA: v_e = w_e, r_i = 0; the layer does the rest.
    Plain,
}

/// Out-edges by source, in a pattern that both directions of a symmetric graph share.
#[derive(Debug)]
pub(crate) enum Reverse {
    /// Every edge has its twin: the out-edges of a node are the twins of its in-edges, in the same order.
    Twins,
    /// A directed graph keeps its transpose.
    Transpose(Transpose),
}

impl Reverse {
    pub(crate) fn of(graph: &Graph) -> Self {
        match graph.twins() {
            Some(_) => Self::Twins,
            None => Self::Transpose(graph.transpose()),
        }
    }

    /// Offsets by source, and the target of each out-edge.
    pub(crate) fn pattern<'a>(&'a self, graph: &'a Graph) -> (&'a [usize], &'a [u32]) {
        match self {
            Self::Twins => (graph.offsets(), graph.sources()),
            Self::Transpose(transpose) => (&transpose.offsets, &transpose.targets),
        }
    }

    /// Values by edge id, in the order of the out-edges.
    pub(crate) fn gather<T: Real>(&self, threads: &Threads, graph: &Graph, values: &[T], out: &mut [T]) {
        let edge_of = self.edges(graph);
        threads.rows(out, 1, 16384, |first, out| {
            for (value, &edge) in out.iter_mut().zip(&edge_of[first..]) {
                *value = values[edge as usize];
            }
        });
    }

    /// Whether `values` by edge id are the same in the order of the out-edges.
    fn same<T: Real>(&self, threads: &Threads, graph: &Graph, values: &[T]) -> bool {
        matches!(self, Self::Twins)
            && threads.all(self.edges(graph), values, |&twin, &value| values[twin as usize] == value)
    }

    /// The edge id of each out-edge.
    fn edges<'a>(&'a self, graph: &'a Graph) -> &'a [u32] {
        match self {
            Self::Twins => graph.twins().unwrap_or_default(),
            Self::Transpose(transpose) => &transpose.edges,
        }
    }
}

/// The graph that layers propagate along.
#[derive(Debug)]
pub(crate) struct Structure<T> {
    graph: Arc<Graph>,
    reverse: Reverse,
    normalisation: Normalisation,
    /// What edges weigh by themselves, which multiplies the weights that are set; none: 1 everywhere.
    own_weights: Option<Arc<[T]>>,
    values: Vec<T>,
    /// The values in the order of the out-edges; empty where they are `values` themselves, as on a symmetric graph whose
    /// twins weigh the same.
    reverse_values: Vec<T>,
    root: Vec<T>,
    /// Σ w over the in-edges of each node.
    degrees: Vec<T>,
    /// A weight for every pair of nodes, in place of the edges: the graph then has none.
    dense: Option<Dense<T>>,
    /// Its number among the structures of its model, and how often it changed: what was propagated carries both.
    number: usize,
    version: u64,
}

/// The gradient of a loss by the values v and r of a propagation.
#[derive(Debug, Default)]
pub(crate) struct ValueGradient<T> {
    pub(crate) values: Vec<T>,
    pub(crate) root: Vec<T>,
    /// The same for a dense structure.
    factors: Factors<T>,
}

impl<T: Real> ValueGradient<T> {
    pub(crate) fn reset(&mut self, structure: &Structure<T>) {
        self.factors.reset();
        if structure.dense.is_some() {
            return;
        }
        self.values.clear();
        self.values.resize(structure.graph.edges(), T::ZERO);
        self.root.clear();
        self.root.resize(structure.graph.nodes(), T::ZERO);
    }
}

impl<T: Real> Structure<T> {
    /// The graph, each edge with its own weight.
    pub(crate) fn new(
        threads: &Threads,
        graph: &WeightedGraph<T>,
        normalisation: Normalisation,
        number: usize,
    ) -> Self {
        let mut structure = Self::unset(graph, normalisation, number);
        match graph.weights() {
            None => structure.normalise(threads, |_| T::ONE),
            Some(own) => structure.normalise(threads, |edge| own[edge]),
        }
        structure
    }

    /// The graph with a weight per edge.
    pub(crate) fn weighted(
        threads: &Threads,
        (graph, weights): (Arc<Graph>, &[T]),
        normalisation: Normalisation,
        number: usize,
    ) -> Result<Self, GraphError> {
        let mut structure = Self::unset(&graph.into(), normalisation, number);
        structure.set_weights(threads, weights)?;
        Ok(structure)
    }

    /// Before weights are set.
    fn unset(graph: &WeightedGraph<T>, normalisation: Normalisation, number: usize) -> Self {
        let own_weights = graph.weights().cloned();
        let graph = Arc::clone(graph.graph());
        let reverse = Reverse::of(&graph);
        let (nodes, edges) = (graph.nodes(), graph.edges());
        Self {
            graph,
            reverse,
            normalisation,
            own_weights,
            values: zeros(edges),
            reverse_values: Vec::new(),
            root: zeros(nodes),
            degrees: zeros(nodes),
            dense: None,
            number,
            version: 0,
        }
    }

    /// A weight for every pair of nodes, at first those of `graph`.
    pub(crate) fn dense(
        threads: &Threads,
        graph: &WeightedGraph<T>,
        normalisation: Normalisation,
        number: usize,
    ) -> Result<Self, GraphError> {
        let alone = Arc::new(Graph::from_edges(graph.graph().nodes(), &[], &[])?);
        let dense = Some(Dense::new(threads, graph, normalisation));
        Ok(Self { dense, ..Self::new(threads, &alone.into(), normalisation, number) })
    }

    /// The weights of all pairs, if it is dense: nodes × nodes.
    pub(crate) fn matrix(&self) -> Option<&[T]> {
        self.dense.as_ref().map(Dense::weights)
    }

    /// Changes the weights of all pairs in place. Nothing to do for a structure of edges.
    pub(crate) fn update_matrix(
        &mut self,
        threads: &Threads,
        change: impl FnOnce(&mut [T]),
    ) -> Result<(), GraphError> {
        self.version += 1;
        self.dense.as_mut().map_or(Ok(()), |dense| dense.update(threads, change))
    }

    /// The graph whose edges it has.
    pub(crate) fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// How many weights it has.
    pub(crate) fn weights(&self) -> usize {
        self.matrix().map_or(self.graph.edges(), <[T]>::len)
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Makes sure that what was kept for another structure is not taken for this one's.
    pub(crate) fn succeed(&mut self, version: u64) {
        self.version += version;
    }

    pub(crate) fn degrees(&self) -> &[T] {
        &self.degrees
    }

    /// Takes new edge weights, each of which is multiplied by the edge's own, and re-normalises. Cost: three passes over the
    /// edges.
    pub(crate) fn set_weights(&mut self, threads: &Threads, weights: &[T]) -> Result<(), GraphError> {
        // One quick pass says whether all is well; the slow one then finds the place.
        let limit = T::of(MAX_EDGE_WEIGHT);
        let is_sound = |w: T| w >= T::ZERO && w <= limit;
        let sound = with_simd(
            #[inline(always)]
            || weights.iter().filter(|&&w| is_sound(w)).count(),
        );
        if sound != weights.len() || weights.len() != self.graph.edges() {
            check_weights(&self.graph, weights)?;
        }
        let Some(own) = self.own_weights.clone() else {
            self.normalise(threads, |edge| weights[edge]);
            return Ok(());
        };
        if let Some(position) = (0..weights.len()).find(|&edge| !is_sound(weights[edge] * own[edge])) {
            return Err(GraphError::BadWeight {
                position,
                value: (weights[position] * own[position]).into(),
            });
        }
        self.normalise(threads, |edge| weights[edge] * own[edge]);
        Ok(())
    }

    fn normalise(&mut self, threads: &Threads, weight: impl Fn(usize) -> T + Sync) {
        self.version += 1;
        let edges = self.values.len();
        let bytes = edges * (6 * size_of::<T>() + 2 * size_of::<u32>());
        let _span = threads.span(KernelKind::Normalise, 3 * edges, bytes);
        let offsets = self.graph.offsets();
        let sources = self.graph.sources();
        threads.nodes(
            offsets,
            |i| i,
            &mut self.degrees,
            |nodes, degrees| {
                for (i, degree) in nodes.zip(degrees) {
                    *degree = sum(offsets[i]..offsets[i + 1], &weight);
                }
            },
        );
        let degrees = &self.degrees;
        let normalisation = self.normalisation;
        threads.rows(&mut self.root, 1, 4096, |first, root| {
            for (i, root) in root.iter_mut().enumerate() {
                *root = match normalisation {
                    // For a moment 1 / √d, which the edges need; squared below.
                    Normalisation::Symmetric => T::ONE / (T::ONE + degrees[first + i]).sqrt(),
                    Normalisation::Sum { epsilon } => T::of(1.0 + epsilon),
                    Normalisation::Mean | Normalisation::Plain => T::ZERO,
                };
            }
        });
        let root = &self.root;
        threads.nodes(
            offsets,
            |i| offsets[i],
            &mut self.values,
            |nodes, values| {
                let first = offsets[nodes.start];
                for i in nodes {
                    for e in offsets[i]..offsets[i + 1] {
                        values[e - first] = match normalisation {
                            Normalisation::Symmetric => weight(e) * (root[i] * root[sources[e] as usize]),
                            Normalisation::Mean if degrees[i] == T::ZERO => T::ZERO,
                            Normalisation::Mean => weight(e) / degrees[i],
                            Normalisation::Sum { .. } | Normalisation::Plain => weight(e),
                        };
                    }
                }
            },
        );
        if normalisation == Normalisation::Symmetric {
            for root in &mut self.root {
                *root *= *root;
            }
        }
        self.reverse_values.clear();
        if !self.reverse.same(threads, &self.graph, &self.values) {
            self.reverse_values.resize(edges, T::ZERO);
            self.reverse.gather(threads, &self.graph, &self.values, &mut self.reverse_values);
        }
    }

    /// The in-edges: row i holds the edges into node i.
    pub(crate) fn in_edges(&self) -> Csr<'_, T> {
        Csr { offsets: self.graph.offsets(), columns: self.graph.sources(), values: &self.values, only: None }
    }

    /// The out-edges: row j holds the edges out of node j.
    pub(crate) fn out_edges(&self) -> Csr<'_, T> {
        let (offsets, columns) = self.reverse.pattern(&self.graph);
        let values = if self.reverse_values.is_empty() { &self.values } else { &self.reverse_values };
        Csr { offsets, columns, values, only: None }
    }

    /// out = finish(P · rows), for all rows or at least for `only` those.
    pub(crate) fn propagate(
        &self,
        threads: &Threads,
        panels: &mut Panels<T>,
        (rows, width): (&[T], usize),
        out: &mut [T],
        finish: Finish<'_, T>,
        only: Option<&[bool]>,
    ) {
        if let Some(dense) = &self.dense {
            return dense.propagate(threads, panels, (rows, width), out, finish);
        }
        let edges = Csr { only, ..self.in_edges() };
        spmm(threads, KernelKind::Propagate, edges, (rows, width), self.diagonal(rows), out, finish);
    }

    /// out = finish(Pᵀ · rows).
    pub(crate) fn propagate_back(
        &self,
        threads: &Threads,
        panels: &mut Panels<T>,
        (rows, width): (&[T], usize),
        out: &mut [T],
        finish: Finish<'_, T>,
    ) {
        if let Some(dense) = &self.dense {
            return dense.propagate_back(threads, panels, (rows, width), out, finish);
        }
        spmm(
            threads,
            KernelKind::Propagate,
            self.out_edges(),
            (rows, width),
            self.diagonal(rows),
            out,
            finish,
        );
    }

    fn diagonal<'a>(&'a self, rows: &'a [T]) -> Start<'a, T> {
        match self.normalisation {
            Normalisation::Symmetric | Normalisation::Sum { .. } => {
                Start::Diagonal { coefficients: &self.root, rows }
            }
            Normalisation::Mean | Normalisation::Plain => Start::Zero,
        }
    }

    /// Adds the gradient by the values of y = P x, given x and the gradient by y.
    pub(crate) fn add_value_gradient(
        &self,
        threads: &Threads,
        (x, d_y, width): (&[T], &[T], usize),
        gradient: &mut ValueGradient<T>,
    ) {
        if let Some(dense) = &self.dense {
            return dense.add_value_gradient((x, d_y, width), &mut gradient.factors);
        }
        let edges = self.in_edges();
        sddmm(threads, (edges.offsets, edges.columns), (d_y, x, width), &mut gradient.values);
        if self.normalisation == Normalisation::Symmetric {
            row_dots(threads, (d_y, x, width), &mut gradient.root);
        }
    }

    /// Turns the gradient g by values, in place, into the gradient by edge weights.
    ///
    /// - Symmetric: g_e / √(d_i d_j) + ∂/∂d_i, where ∂/∂d_k = −(½ Σ g_e v_e over in- and out-edges of k + g_kk r_k) / d_k.
    /// - Mean: (g_e − Σ g v over the in-edges of i) / s_i.
    /// - Sum, Plain: g_e.
    ///
    /// Each times the edge's own weight, which multiplied the one that was set.
    pub(crate) fn weight_gradient(&self, threads: &Threads, gradient: &mut ValueGradient<T>) {
        if let Some(dense) = &self.dense {
            return dense.weight_gradient(threads, &mut gradient.factors, &mut gradient.values);
        }
        self.product_gradient(threads, gradient);
        if let Some(own) = &self.own_weights {
            gradient.values.iter_mut().zip(&own[..]).for_each(|(g, &own)| *g *= own);
        }
    }

    /// The same by the products of both weights.
    fn product_gradient(&self, threads: &Threads, gradient: &mut ValueGradient<T>) {
        let ValueGradient { values: g, root: g_root, .. } = gradient;
        let offsets = self.graph.offsets();
        let edges = self.in_edges();
        match self.normalisation {
            Normalisation::Sum { .. } | Normalisation::Plain => {}
            Normalisation::Mean => {
                threads.nodes(
                    offsets,
                    |i| offsets[i],
                    g,
                    |nodes, g| {
                        let first = offsets[nodes.start];
                        for i in nodes {
                            let range = offsets[i]..offsets[i + 1];
                            let g = &mut g[range.start - first..range.end - first];
                            let mean: T = g.iter().zip(&edges.values[range]).map(|(&g, &v)| g * v).sum();
                            for g in g {
                                // Without any weight the mean is 0 and stays 0.
                                *g = if self.degrees[i] == T::ZERO {
                                    T::ZERO
                                } else {
                                    (*g - mean) / self.degrees[i]
                                };
                            }
                        }
                    },
                );
            }
            Normalisation::Symmetric => {
                let half = T::of(0.5);
                let reverse = self.out_edges();
                let edge_of = self.reverse.edges(&self.graph);
                let by_value: &[T] = g;
                threads.rows(g_root, 1, 1024, |first, root| {
                    with_simd(
                        #[inline(always)]
                        || {
                            for (k, root) in root.iter_mut().enumerate() {
                                let k = first + k;
                                let into: T =
                                    (offsets[k]..offsets[k + 1]).map(|e| by_value[e] * edges.values[e]).sum();
                                let out: T = (reverse.offsets[k]..reverse.offsets[k + 1])
                                    .map(|e| by_value[edge_of[e] as usize] * reverse.values[e])
                                    .sum();
                                // r_k = 1 / d_k
                                *root = -(half * (into + out) + *root * self.root[k]) * self.root[k];
                            }
                        },
                    );
                });
                let (g_root, sources) = (&*g_root, self.graph.sources());
                threads.nodes(
                    offsets,
                    |i| offsets[i],
                    g,
                    |nodes, g| {
                        let first = offsets[nodes.start];
                        with_simd(
                            #[inline(always)]
                            || {
                                for i in nodes {
                                    for e in offsets[i]..offsets[i + 1] {
                                        let scale = (self.root[i] * self.root[sources[e] as usize]).sqrt();
                                        g[e - first] = scale.mul_add(g[e - first], g_root[i]);
                                    }
                                }
                            },
                        );
                    },
                );
            }
        }
    }
}

/// Σ weight(e) in four interleaved partial sums: additions need not wait for each other.
#[inline(always)]
fn sum<T: Real>(edges: Range<usize>, weight: impl Fn(usize) -> T) -> T {
    let mut lanes = [T::ZERO; 4];
    let whole = edges.start + edges.len() / 4 * 4;
    for e in (edges.start..whole).step_by(4) {
        for l in 0..4 {
            lanes[l] += weight(e + l);
        }
    }
    let rest = (whole..edges.end).fold(T::ZERO, |sum, e| sum + weight(e));
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}
