//! GNN-SVD: plain training on a low-rank reconstruction of the graph (Entezari, Al-Sayouri, Darvishzadeh, Papalexakis,
//! «All You Need Is Low (Rank): Defending Against Adversarial Attacks on Graphs», WSDM 2020).
//!
//! A ≈ A_k = Σ_{r ≤ k} σ_r u_r v_rᵀ. Edges that attacks or noise add are mostly in the high ranks; what the leading ones
//! explain stays. The paper propagates along the dense A_k; here only its largest positive entries off the diagonal are
//! kept, `density` times as many as the graph has edges, as the weights of a graph of their own.

mod reconstruct;

use std::sync::Arc;

use edgepace_graph::{Dataset, Graph};
use edgepace_nn::{EdgeMatrix, StructureId};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::event::Listener;
use crate::linalg::{LanczosConfig, lanczos_svd};
use crate::method::edge_scores::in_range;
use crate::method::{EvaluatedOn, Kept, Method, Setting, Update};
use crate::session::Session;

use reconstruct::{Keep, reconstruct};

/// Settings of GNN-SVD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GnnSvdConfig {
    /// Singular values that are kept, at least 1. The paper's default for its comparison.
    rank: usize,
    /// Entries that are kept, as a multiple of the graph's edges, above 0.
    density: f64,
    /// Entries not above this are dropped, at least 0.
    threshold: f64,
    /// How far a singular vector may be off, as a share of the largest singular value, in [1e-4, 0.1].
    tolerance: f64,
}

impl Default for GnnSvdConfig {
    fn default() -> Self {
        Self { rank: 100, density: 3.0, threshold: 0.0, tolerance: 3e-3 }
    }
}

impl GnnSvdConfig {
    fn check(&self) -> Result<(), TrainError> {
        in_range("rank", self.rank as f64, 1.0, 1e4)?;
        in_range("density", self.density, 1e-6, 1e9)?;
        in_range("threshold", self.threshold, 0.0, 1e9)?;
        in_range("tolerance", self.tolerance, 1e-4, 0.1)
    }

    fn lanczos(&self, seed: u64) -> LanczosConfig {
        LanczosConfig { rank: self.rank, tolerance: self.tolerance, seed }
    }
}

/// Its settings.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "rank",
        meaning: "singular values that the reconstruction keeps, 1 to 10000",
        search: &["50", "100", "300", "600"],
    },
    Setting {
        name: "density",
        meaning: "entries that stay, as a multiple of the graph's edges, 0.000001 to 1000000000",
        search: &["1", "3"],
    },
    Setting::fixed("threshold", "entries not above this are dropped whatever the density, 0 to 1000000000"),
    Setting::fixed(
        "tolerance",
        "‖A·v − σ·u‖ of a singular pair, as a share of the largest singular value, 0.0001 to 0.1",
    ),
];

/// Their defaults.
pub(super) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&GnnSvdConfig::default())
}

/// The bytes of a run: the basis that the singular vectors come from, and what an entry takes in graph and model.
pub(super) fn memory(dataset: &Dataset, config: &RunConfig) -> u64 {
    let settings = config.settings_over(&GnnSvdConfig::default()).unwrap_or_default();
    let graph = dataset.graph();
    let (nodes, rank) = (graph.nodes() as u64, settings.rank.min(graph.nodes()) as u64);
    let dimension = settings.lanczos(0).dimension(graph.nodes()) as u64;
    let basis = nodes * (dimension + 3 * rank) * size_of::<f32>() as u64;
    let projected = PROJECTED_COPIES * dimension * dimension * size_of::<f64>() as u64;
    let entries = (settings.density * graph.edges() as f64).min(nodes as f64 * nodes as f64);
    basis + projected + (entries * ENTRY_BYTES) as u64
}

/// Measured (`tests/memory.rs`): how often T is there while its eigenpairs are found, and the bytes of an entry that stays.
const PROJECTED_COPIES: u64 = 5;
const ENTRY_BYTES: f64 = 22.0;

/// The method with the settings of a run.
pub(super) fn make(config: &RunConfig, seed: u64) -> Result<Box<dyn Method>, TrainError> {
    let settings = config.settings_over(&GnnSvdConfig::default())?;
    settings.check()?;
    Ok(Box::new(GnnSvd { settings, seed, state: None }))
}

struct GnnSvd {
    settings: GnnSvdConfig,
    seed: u64,
    /// Made at the start.
    state: Option<State>,
}

struct State {
    structure: StructureId,
    graph: Arc<Graph>,
    weights: Arc<[f32]>,
}

impl Method for GnnSvd {
    fn start(&mut self, session: &mut Session<'_>, _: &mut dyn Listener) -> Result<(), TrainError> {
        let threads = session.model.threads().clone();
        let graph = &session.graph;
        let ones = vec![1.0; graph.edges()];
        let adjacency = EdgeMatrix::new(&threads, Arc::clone(graph), &ones)?;
        let symmetric = graph.twins().is_some();
        let svd = lanczos_svd(&threads, &adjacency, symmetric, self.settings.lanczos(self.seed))?;
        drop(adjacency);
        let keep = Keep {
            entries: (self.settings.density * graph.edges() as f64).ceil() as usize,
            above: self.settings.threshold as f32,
            symmetric,
        };
        let (graph, weights) = reconstruct(&threads, svd, graph.nodes(), keep)?;
        let graph = Arc::new(graph);
        let structure = session.model.add_structure(Arc::clone(&graph))?;
        session.model.on(structure).set_edge_weights(&weights)?;
        self.state = Some(State { structure, graph, weights: weights.into() });
        Ok(())
    }

    fn before(&mut self, epoch: u32, _: &mut Session<'_>) -> Result<Option<Update>, TrainError> {
        let edges = self.state.as_ref().map_or(0, |state| state.graph.edges());
        Ok((epoch == 0).then_some(Update { edges, objective: None }))
    }

    fn step(&mut self, epoch: u32, session: &mut Session<'_>) -> Result<f64, TrainError> {
        session.step(self.structure(), epoch)
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        vec![EvaluatedOn { structure: self.structure().into(), name: "reconstructed" }]
    }

    fn kept(&self, _: EvaluatedOn) -> Kept {
        let Some(state) = &self.state else { return Kept::default() };
        Kept {
            graph: Some(Arc::clone(&state.graph)),
            weights: Some(Arc::clone(&state.weights)),
            ..Kept::default()
        }
    }

    fn edges_in(&self, _: &Session<'_>) -> usize {
        self.state.as_ref().map_or(0, |state| state.graph.edges())
    }
}

impl GnnSvd {
    fn structure(&self) -> StructureId {
        self.state.as_ref().map_or(StructureId::FIRST, |state| state.structure)
    }
}
