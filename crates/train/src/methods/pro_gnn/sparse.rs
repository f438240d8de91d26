//! S on the graph's edges and the nearest neighbours by features: a few numbers per node.
//!
//! The terms are those of the dense form, each on the entries that may differ from 0. The proximal step of the nuclear norm
//! takes what the leading eigenpairs of S lose away from these entries.

use std::sync::Arc;

use edgepace_graph::bytes::{self, array, total};
use edgepace_graph::{Graph, WeightedGraph};
use edgepace_nn::{EdgeMatrix, Extra, StructureId, Threads, edge_matrix_bytes};
use serde::{Deserialize, Serialize};
use toml::Table;

use super::neighbours::{NOBODY, nearest};
use super::proximal::Shrinkage;
use super::settings;
use super::smoothness::{Scales, similarities_at};
use super::terms::{STEP_SIZES, Terms, check_counts, check_loss, check_material, check_weights};
use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start};
use crate::material::Material;
use crate::methods::edge_scores::in_range;
use crate::network::{EvaluatedOn, Method, Network, NetworkLearner};
use crate::setting::Setting;
use crate::snapshot::{EdgeReport, SavedStructure};
use crate::state::State;

/// Settings of `pro-gnn-sparse`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SparseSettings {
    neighbours: usize,
    inner: usize,
    structure_lr: f64,
    gnn: f64,
    distance: f64,
    l1: f64,
    nuclear: f64,
    smoothness: f64,
    rank: usize,
    nuclear_every: usize,
}

impl Default for SparseSettings {
    fn default() -> Self {
        Self {
            neighbours: 10,
            inner: 2,
            structure_lr: 0.1,
            gnn: 1.0,
            distance: 0.1,
            l1: 5e-4,
            nuclear: 1.5,
            smoothness: 1.0,
            rank: 24,
            nuclear_every: 5,
        }
    }
}

/// What each of them means.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "neighbours",
        meaning: "nearest nodes by features that each node may be joined with, 0 to 1000000; 0: none",
        search: &["0", "10"],
    },
    settings::INNER,
    settings::STRUCTURE_LR,
    settings::GNN,
    settings::DISTANCE,
    settings::L1,
    settings::NUCLEAR,
    settings::SMOOTHNESS,
    Setting::fixed("rank", "how many singular values are shrunk, 1 to 1000000"),
    settings::NUCLEAR_EVERY,
];

/// The defaults.
pub(crate) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&SparseSettings::default())
}

/// The method with the settings of a run.
pub(crate) fn recipe(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    let settings: SparseSettings = config.settings_over(&SparseSettings::default())?;
    settings.check()?;
    Ok(Arc::new(settings))
}

impl Recipe for SparseSettings {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(self)
    }

    /// What an entry of the support takes in graph, S and the model, and the eigenvectors. Of the neighbours, three
    /// in five are taken to be each other's: how many are is in the features, and estimates are off by as much.
    fn extra_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let graph = material.graph();
        let nodes = graph.nodes();
        let (neighbours, rank) = (nodes.min(self.neighbours), nodes.min(self.rank));
        let near = nodes.saturating_mul(neighbours);
        let entries = near.saturating_add(near / 5 * 2).saturating_add(graph.edges());
        let footprint = material.footprint(config);
        total([
            bytes::graph(nodes, entries, true),
            footprint.structure(entries, true),
            footprint.edge_gradient(entries),
            edge_matrix_bytes(nodes, entries, true),
            array::<f32>(&[OWN_PER_ENTRY, entries]),
            array::<f32>(&[VECTOR_COPIES, nodes, rank]),
            array::<f64>(&[SMALL_COPIES, rank, rank]),
            array::<u32>(&[graph.edges()]),
        ])
    }

    fn check_material(&self, material: &Material) -> Result<(), TrainError> {
        check_material(material, "pro-gnn-sparse")
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        NetworkLearner::boxed(start, |network| ProGnnSparse::new(self, start.seed, network))
    }
}

/// Numbers per entry of the support: its target, A, K, S now, before and at the best epoch.
const OWN_PER_ENTRY: usize = 6;
/// Measured (`tests/memory.rs`): how often eigenvectors and the small matrix that gives them are there.
const VECTOR_COPIES: usize = 7;
const SMALL_COPIES: usize = 3;

impl SparseSettings {
    fn check(&self) -> Result<(), TrainError> {
        check_weights(&[
            ("structure_lr", self.structure_lr),
            ("gnn", self.gnn),
            ("distance", self.distance),
            ("l1", self.l1),
            ("nuclear", self.nuclear),
            ("smoothness", self.smoothness),
        ])?;
        check_counts(&[("inner", self.inner), ("rank", self.rank), ("nuclear_every", self.nuclear_every)])?;
        // 0 neighbours are legal: S then lives on the graph's own edges.
        in_range("neighbours", self.neighbours as f64, 0.0, 1e6)
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

struct ProGnnSparse {
    settings: SparseSettings,
    seed: u64,
    structure: StructureId,
    support: Support,
    /// S, by edge of the support.
    weights: Arc<[f32]>,
    /// K_ij by edge of the support, and K_ii.
    similarities: Vec<f32>,
    own: Vec<f32>,
    scales: Scales<f32>,
    matrix: EdgeMatrix<f32>,
    vectors: Vec<f32>,
    steps: usize,
    /// The edge of the support for each of the dataset's.
    edge_of: Vec<u32>,
}

/// The entries of S that may differ from 0.
pub(super) struct Support {
    pub(super) graph: Arc<Graph>,
    targets: Vec<u32>,
    /// A, by edge: what an edge of the dataset weighs, in either direction, and 0 for others.
    adjacency: Vec<f32>,
}

impl Support {
    /// The edges of `graph` and of each node's nearest neighbours.
    pub(super) fn new(
        threads: &Threads,
        weighted: &WeightedGraph,
        neighbours: &[u32],
        count: usize,
    ) -> Result<Self, TrainError> {
        let graph = weighted.graph();
        let (mut a, mut b) = (graph.sources().to_vec(), graph.targets());
        for (at, &neighbour) in neighbours.iter().enumerate().filter(|(_, n)| **n != NOBODY) {
            a.push(neighbour);
            b.push((at / count) as u32);
        }
        let support = Graph::undirected_on(threads, graph.nodes(), &a, &b)?;
        let targets = support.targets();
        let known = weighted.undirected(threads)?;
        let entry = |(&source, &target): (&u32, &u32)| match known.graph().edge_id(source, target) {
            None => 0.0,
            Some(edge) => known.weights().map_or(1.0, |weights| weights[edge as usize]),
        };
        let adjacency = support.sources().iter().zip(&targets).map(entry).collect();
        Ok(Self { graph: Arc::new(support), targets, adjacency })
    }

    pub(super) fn ends(&self, edge: usize) -> (usize, usize) {
        (self.targets[edge] as usize, self.graph.sources()[edge] as usize)
    }
}

impl ProGnnSparse {
    fn new(settings: &SparseSettings, seed: u64, network: &mut Network) -> Result<Self, TrainError> {
        let threads = network.model.threads().clone();
        let (graph, features) = (&network.graph, &network.features);
        let count = settings.neighbours.min(graph.nodes().saturating_sub(1));
        let neighbours = nearest(&threads, features, count);
        let support = Support::new(&threads, &network.weighted, &neighbours, count)?;
        let edges = support.graph.edges();
        let weights: Arc<[f32]> = support.adjacency.as_slice().into();
        let structure = network.model.add_structure(Arc::clone(&support.graph))?;
        network.model.on(structure).set_edge_weights(&weights)?;
        let ids = graph.sources().iter().zip(graph.targets());
        Ok(Self {
            settings: settings.clone(),
            seed,
            structure,
            similarities: similarities_at(&threads, features, edges, |edge| support.ends(edge)),
            own: similarities_at(&threads, features, graph.nodes(), |node| (node, node)),
            scales: Scales::default(),
            matrix: EdgeMatrix::new(&threads, Arc::clone(&support.graph), &weights)?,
            vectors: Vec::new(),
            steps: 0,
            edge_of: ids.filter_map(|(&source, target)| support.graph.edge_id(source, target)).collect(),
            weights,
            support,
        })
    }
}

impl Method for ProGnnSparse {
    fn step(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        if !(epoch as usize + 1).is_multiple_of(self.settings.inner) {
            return network.train_on(self.structure, epoch);
        }
        let model = network.model.on(self.structure);
        let loss = model.gradients(&network.task, Some(epoch), Extra { edges: true, inputs: false })?;
        check_loss(loss, epoch)?;
        network.optimise()?;
        let model = &mut network.model;
        self.learn(&model.threads().clone(), model.edge_gradients())?;
        model.set_edge_weights(&self.weights)?;
        Ok(loss)
    }

    fn step_sizes(&self) -> &'static str {
        STEP_SIZES
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        vec![EvaluatedOn { structure: self.structure.into(), name: "learned" }]
    }

    fn saved_structure(&self, _: EvaluatedOn, _: &Network) -> SavedStructure {
        let (graph, weights) = (Arc::clone(&self.support.graph), Arc::clone(&self.weights));
        SavedStructure { graph: Some(graph), weights: Some(weights), ..SavedStructure::default() }
    }

    fn edges_in(&self, _: &Network) -> usize {
        self.weights.iter().filter(|&&w| w > 0.0).count()
    }

    fn edges(&self) -> Option<EdgeReport> {
        let weights: Vec<f32> = self.edge_of.iter().map(|&edge| self.weights[edge as usize]).collect();
        Some(EdgeReport::of_weights(&weights))
    }

    fn save(&self, _: &Network) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_floats("weights", &self.weights);
        state.put_floats("vectors", &self.vectors);
        state.put_value("steps", &self.steps)?;
        Ok(state)
    }

    fn restore(&mut self, state: &State, network: &mut Network) -> Result<(), TrainError> {
        self.weights = state.floats("weights", self.weights.len())?.into();
        self.vectors = state.all_floats("vectors")?.to_vec();
        self.steps = state.value("steps")?;
        Ok(network.model.on(self.structure).set_edge_weights(&self.weights)?)
    }
}

/// Edges that one thread takes at a time.
const BLOCK: usize = 4096;

impl ProGnnSparse {
    /// One step of S.
    fn learn(&mut self, threads: &Threads, gradient: &[f32]) -> Result<(), TrainError> {
        let (settings, seed) = (&self.settings, self.seed);
        let terms = settings.terms();
        self.steps += 1;
        let mut weights = self.weights.to_vec();
        self.scales.of_edges(threads, &self.support.graph, &self.own, &self.similarities, &weights);
        smooth_step(
            threads,
            &terms,
            &self.support,
            (&self.similarities, &self.scales),
            gradient,
            &mut weights,
        );
        if settings.nuclear > 0.0 && self.steps.is_multiple_of(settings.nuclear_every) {
            let threshold = settings.structure_lr * settings.nuclear * settings.nuclear_every as f64;
            self.matrix.set_values(threads, &weights)?;
            let wanted = (settings.rank, threshold as f32);
            let shrinkage = Shrinkage::leading(threads, &self.matrix, wanted, seed, &mut self.vectors)?;
            let support = &self.support;
            threads.rows(&mut weights, 1, BLOCK, |first, weights| {
                for (e, weight) in weights.iter_mut().enumerate() {
                    let (i, j) = support.ends(first + e);
                    *weight -= shrinkage.at(i, j);
                }
            });
        }
        threads.rows(&mut weights, 1, BLOCK, |_, weights| {
            for weight in weights {
                *weight = terms.shrunk(*weight);
            }
        });
        self.weights = weights.into();
        Ok(())
    }
}

impl<T: edgepace_nn::Real> Scales<T> {
    /// The scales for S on edges.
    pub(super) fn of_edges(
        &mut self,
        threads: &Threads,
        graph: &Graph,
        own: &[T],
        similarities: &[T],
        weights: &[T],
    ) {
        let degree = |i: usize| weights[graph.in_edges(i)].iter().copied().sum();
        let weighted = |i: usize, r: &[T]| {
            graph.in_edges(i).map(|e| weights[e] * similarities[e] * r[graph.sources()[e] as usize]).sum()
        };
        self.update(threads, own, degree, weighted);
    }
}

/// S − rate · gradient of the smooth terms; both directions of an edge become the same bits.
pub(super) fn smooth_step<T: edgepace_nn::Real>(
    threads: &Threads,
    terms: &Terms<T>,
    support: &Support,
    (similarities, scales): (&[T], &Scales<T>),
    gradient: &[T],
    weights: &mut [T],
) {
    // An undirected graph always has twins.
    let twins = support.graph.twins().unwrap_or_default();
    let half = T::of(0.5);
    threads.rows(weights, 1, BLOCK, |first, weights| {
        for (e, weight) in weights.iter_mut().enumerate() {
            let edge = first + e;
            let (i, j) = support.ends(edge);
            let by_gnn = half * (gradient[edge] + gradient[twins[edge] as usize]);
            let a = T::from(support.adjacency[edge]);
            *weight = terms.moved(*weight, a, by_gnn, scales.gradient(i, j, similarities[edge]));
        }
    });
}
