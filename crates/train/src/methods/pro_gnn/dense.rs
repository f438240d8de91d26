//! S as a whole matrix: nodes² numbers, as in the paper.

use std::sync::Arc;

use edgepace_graph::WeightedGraph;
use edgepace_graph::bytes::{array, total};
use edgepace_nn::{Extra, Real, StructureId, Threads};
use serde::{Deserialize, Serialize};
use toml::Table;

use super::proximal::{Shrinkage, Symmetric};
use super::settings;
use super::smoothness::{Scales, similarities};
use super::terms::{STEP_SIZES, Terms, check_counts, check_loss, check_material, check_weights};
use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start};
use crate::material::Material;
use crate::network::{EvaluatedOn, Method, Network, NetworkLearner};
use crate::setting::Setting;
use crate::snapshot::EdgeReport;
use crate::state::State;

/// Settings of `pro-gnn`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DenseSettings {
    inner: usize,
    structure_lr: f64,
    gnn: f64,
    distance: f64,
    l1: f64,
    nuclear: f64,
    smoothness: f64,
    exact: bool,
    rank: usize,
    nuclear_every: usize,
}

impl Default for DenseSettings {
    fn default() -> Self {
        Self {
            inner: 2,
            structure_lr: 0.1,
            gnn: 1.0,
            distance: 0.1,
            l1: 5e-4,
            nuclear: 1.5,
            smoothness: 1.0,
            exact: false,
            rank: 56,
            nuclear_every: 5,
        }
    }
}

/// What each of them means.
pub(crate) const SETTINGS: &[Setting] = &[
    settings::INNER,
    settings::STRUCTURE_LR,
    settings::GNN,
    settings::DISTANCE,
    settings::L1,
    settings::NUCLEAR,
    settings::SMOOTHNESS,
    Setting::fixed(
        "exact",
        "true: shrink every singular value (seconds to minutes each time), false: the leading ones",
    ),
    Setting::fixed("rank", "how many singular values are shrunk without `exact`, 1 to 1000000"),
    settings::NUCLEAR_EVERY,
];

/// The defaults.
pub(crate) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&DenseSettings::default())
}

/// The method with the settings of a run.
pub(crate) fn recipe(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    let settings: DenseSettings = config.settings_over(&DenseSettings::default())?;
    settings.check()?;
    Ok(Arc::new(settings))
}

impl Recipe for DenseSettings {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(self)
    }

    /// S, its gradient, similarities of features, and S at the best epoch; eigenvectors where they are exact, and S of the
    /// best training before in a search. Beside them what does not grow with nodes²: leading eigenvectors, the factors of the
    /// gradient, and S at the edges with its report.
    fn extra_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let matrices = 4 + if self.exact { EXACT_MATRICES } else { 0 } + usize::from(config.search.is_on());
        let (nodes, edges) = (material.graph().nodes(), material.graph().edges());
        let vectors =
            if self.exact { 0 } else { array::<f32>(&[VECTOR_COPIES, nodes, self.rank.min(nodes)]) };
        total([
            array::<f32>(&[matrices, nodes, nodes]),
            vectors,
            material.footprint(config).units().saturating_mul(FACTORS),
            array::<f32>(&[EDGE_NUMBERS, edges]),
        ])
    }

    fn check_material(&self, material: &Material) -> Result<(), TrainError> {
        check_material(material, "pro-gnn")
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        NetworkLearner::boxed(start, |network| ProGnn::new(self, start.seed, network))
    }
}

/// A copy of S, its eigenvectors and their scaled copies, and what the decomposition works in.
const EXACT_MATRICES: usize = 5;
/// Measured (`tests/memory.rs`): how often leading eigenvectors are there.
const VECTOR_COPIES: usize = 7;
/// Left and right factors of both layers, the right ones packed as well.
const FACTORS: u64 = 6;
/// S at an edge, and the report of it.
const EDGE_NUMBERS: usize = 4;

impl DenseSettings {
    fn check(&self) -> Result<(), TrainError> {
        check_weights(&[
            ("structure_lr", self.structure_lr),
            ("gnn", self.gnn),
            ("distance", self.distance),
            ("l1", self.l1),
            ("nuclear", self.nuclear),
            ("smoothness", self.smoothness),
        ])?;
        check_counts(&[("inner", self.inner), ("rank", self.rank), ("nuclear_every", self.nuclear_every)])
    }

    fn terms(&self) -> Terms<f32> {
        Terms {
            rate: self.structure_lr as f32,
            gnn: self.gnn as f32,
            distance: self.distance as f32,
            l1: self.l1 as f32,
            smoothness: self.smoothness as f32,
        }
    }
}

struct ProGnn {
    settings: DenseSettings,
    seed: u64,
    structure: StructureId,
    /// A, with both directions of every edge.
    adjacency: WeightedGraph,
    /// K of all pairs; empty where the smoothness has no weight.
    similarities: Vec<f32>,
    /// K_ii.
    own: Vec<f32>,
    scales: Scales<f32>,
    vectors: Vec<f32>,
    steps: usize,
    /// Entries above 0.
    entries: usize,
    /// S at the dataset's edges.
    weights: Vec<f32>,
}

impl ProGnn {
    fn new(settings: &DenseSettings, seed: u64, network: &mut Network) -> Result<Self, TrainError> {
        let adjacency = network.weighted.undirected(network.model.threads())?;
        let structure = network.model.add_dense_structure(adjacency.clone())?;
        let similarities = if settings.smoothness > 0.0 {
            similarities(network.model.threads(), &network.features)
        } else {
            Vec::new()
        };
        let (nodes, edges) = (network.graph.nodes(), network.graph.edges());
        let mut method = Self {
            settings: settings.clone(),
            seed,
            structure,
            own: similarities.iter().step_by(nodes + 1).copied().collect(),
            similarities,
            scales: Scales::default(),
            vectors: Vec::new(),
            steps: 0,
            entries: 0,
            weights: vec![0.0; edges],
            adjacency,
        };
        method.take_up(network);
        Ok(method)
    }
}

impl Method for ProGnn {
    fn step(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        if !(epoch as usize + 1).is_multiple_of(self.settings.inner) {
            return network.train_on(self.structure, epoch);
        }
        let model = network.model.on(self.structure);
        let loss = model.gradients(&network.task, Some(epoch), Extra { edges: true, inputs: false })?;
        check_loss(loss, epoch)?;
        network.optimise()?;
        self.learn(network)?;
        Ok(loss)
    }

    fn step_sizes(&self) -> &'static str {
        STEP_SIZES
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        vec![EvaluatedOn { structure: self.structure.into(), name: "learned" }]
    }

    fn edges_in(&self, _: &Network) -> usize {
        self.entries
    }

    fn edges(&self) -> Option<EdgeReport> {
        Some(EdgeReport::of_weights(&self.weights))
    }

    fn save(&self, network: &Network) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_floats("matrix", network.model.matrix_of(self.structure).unwrap_or_default());
        state.put_floats("vectors", &self.vectors);
        state.put_value("steps", &self.steps)?;
        Ok(state)
    }

    fn restore(&mut self, state: &State, network: &mut Network) -> Result<(), TrainError> {
        let nodes = network.graph.nodes();
        let saved = state.floats("matrix", nodes * nodes)?;
        network.model.on(self.structure).update_matrix(|matrix, _| matrix.copy_from_slice(saved))?;
        self.vectors = state.all_floats("vectors")?.to_vec();
        self.steps = state.value("steps")?;
        self.take_up(network);
        Ok(())
    }
}

impl ProGnn {
    /// One step of S.
    fn learn(&mut self, network: &mut Network) -> Result<(), TrainError> {
        let (settings, seed) = (&self.settings, self.seed);
        let terms = settings.terms();
        let threads = network.model.threads().clone();
        let nodes = network.graph.nodes();
        self.steps += 1;
        let shrinks = settings.nuclear > 0.0 && self.steps.is_multiple_of(settings.nuclear_every);
        let threshold = (settings.structure_lr * settings.nuclear * settings.nuclear_every as f64) as f32;
        let mut done = Ok(());
        network.model.update_matrix(|matrix, gradient| {
            if !self.similarities.is_empty() {
                update_scales(&threads, &self.own, &self.similarities, matrix, &mut self.scales);
            }
            let smooth = (!self.similarities.is_empty()).then_some((&self.similarities[..], &self.scales));
            smooth_step(&threads, &terms, &self.adjacency, smooth, gradient, matrix);
            if shrinks {
                let operator = Symmetric { nodes, values: matrix };
                let shrinkage = if settings.exact {
                    Shrinkage::exact(matrix, nodes, threshold)
                } else {
                    let wanted = (settings.rank, threshold);
                    Shrinkage::leading(&threads, &operator, wanted, seed, &mut self.vectors)
                };
                done = shrinkage.map(|shrinkage| shrinkage.subtract(&threads, matrix));
            }
            shrink_entries(&threads, &terms, nodes, matrix);
        })?;
        done?;
        self.take_up(network);
        Ok(())
    }

    /// What S says of the dataset's edges, and how many entries it has.
    fn take_up(&mut self, network: &Network) {
        let Some(matrix) = network.model.matrix_of(self.structure) else { return };
        let (graph, nodes) = (&network.graph, network.graph.nodes());
        for target in 0..nodes {
            for edge in graph.in_edges(target) {
                self.weights[edge] = matrix[target * nodes + graph.sources()[edge] as usize];
            }
        }
        let mut counts = vec![0; nodes];
        network.model.threads().rows(&mut counts, 1, BLOCK, |first, counts| {
            for (i, count) in counts.iter_mut().enumerate() {
                *count = matrix[(first + i) * nodes..][..nodes].iter().filter(|&&s| s > 0.0).count();
            }
        });
        self.entries = counts.iter().sum();
    }
}

/// Rows that one thread takes at a time: a cache line of a column.
const BLOCK: usize = 16;

/// The scales of the smoothness for S.
pub(super) fn update_scales<T: Real>(
    threads: &Threads,
    own: &[T],
    similarities: &[T],
    matrix: &[T],
    scales: &mut Scales<T>,
) {
    let nodes = own.len();
    let row = |values: &'_ [T], i: usize| -> std::ops::Range<usize> {
        debug_assert_eq!(values.len(), nodes * nodes);
        i * nodes..(i + 1) * nodes
    };
    let degree = |i: usize| sum(matrix[row(matrix, i)].iter().copied());
    let weighted = |i: usize, r: &[T]| {
        let of_row = row(matrix, i);
        sum(matrix[of_row.clone()].iter().zip(&similarities[of_row]).zip(r).map(|((&s, &k), &r)| s * k * r))
    };
    scales.update(threads, own, degree, weighted);
}

/// Eight interleaved partial sums: additions need not wait for each other.
fn sum<T: Real>(numbers: impl Iterator<Item = T>) -> T {
    let mut lanes = [T::ZERO; 8];
    for (at, x) in numbers.enumerate() {
        lanes[at % 8] += x;
    }
    lanes.into_iter().sum()
}

/// S − rate · gradient of the smooth terms, on all entries; the diagonal stays 0.
pub(super) fn smooth_step<T: Real>(
    threads: &Threads,
    terms: &Terms<T>,
    adjacency: &WeightedGraph,
    smooth: Option<(&[T], &Scales<T>)>,
    gradient: &[T],
    matrix: &mut [T],
) {
    let (graph, weights) = (adjacency.graph(), adjacency.weights());
    let nodes = graph.nodes();
    let half = T::of(0.5);
    threads.rows(matrix, nodes.max(1), BLOCK, |first, rows| {
        let count = rows.len() / nodes;
        // The columns of the gradient that belong to these rows, as rows.
        let mut transposed = vec![T::ZERO; rows.len()];
        for j in 0..nodes {
            for (i, &g) in gradient[j * nodes + first..][..count].iter().enumerate() {
                transposed[i * nodes + j] = g;
            }
        }
        let mut edges = vec![T::ZERO; nodes];
        for (i, row) in rows.chunks_exact_mut(nodes).enumerate() {
            let node = first + i;
            let neighbours = &graph.sources()[graph.in_edges(node)];
            for (edge, &j) in graph.in_edges(node).zip(neighbours) {
                edges[j as usize] = weights.map_or(T::ONE, |weights| T::from(weights[edge]));
            }
            let (own, other) = (&gradient[node * nodes..][..nodes], &transposed[i * nodes..][..nodes]);
            let by_gnn = own.iter().zip(other).map(|(&a, &b)| half * (a + b));
            let entries = row.iter_mut().zip(&edges).zip(by_gnn);
            match smooth {
                None => entries.for_each(|((s, &a), g)| *s = terms.moved(*s, a, g, T::ZERO)),
                Some((similarities, scales)) => {
                    let similarities = &similarities[node * nodes..][..nodes];
                    let (q, r) = (scales.q[node], scales.r[node]);
                    let scales = scales.q.iter().zip(&scales.r).zip(similarities);
                    for (((s, &a), g), ((&q_j, &r_j), &k)) in entries.zip(scales) {
                        *s = terms.moved(*s, a, g, half * (q + q_j) - r * r_j * k);
                    }
                }
            }
            row[node] = T::ZERO;
            for &j in neighbours {
                edges[j as usize] = T::ZERO;
            }
        }
    });
}

/// The proximal step of ‖S‖₁ and the clamp, on all entries; the diagonal becomes 0.
fn shrink_entries<T: Real>(threads: &Threads, terms: &Terms<T>, nodes: usize, matrix: &mut [T]) {
    threads.rows(matrix, nodes.max(1), BLOCK, |first, rows| {
        for (i, row) in rows.chunks_exact_mut(nodes).enumerate() {
            for s in &mut *row {
                *s = terms.shrunk(*s);
            }
            row[first + i] = T::ZERO;
        }
    });
}
