//! GNN-SVD: plain training on a low-rank reconstruction of the graph (Entezari, Al-Sayouri, Darvishzadeh, Papalexakis,
//! «All You Need Is Low (Rank): Defending Against Adversarial Attacks on Graphs», WSDM 2020).
//!
//! A ≈ A_k = Σ_{r ≤ k} σ_r u_r v_rᵀ. Edges that attacks or noise add are mostly in the high ranks; what the leading ones
//! explain stays. The paper propagates along the dense A_k; here only its largest positive entries off the diagonal are
//! kept, `density` times as many as the graph has edges, as the weights of a graph of their own. A holds what edges weigh.

mod reconstruct;

use std::sync::Arc;

use edgepace_graph::Graph;
use edgepace_graph::bytes::{self, array, total};
use edgepace_nn::{EdgeMatrix, StructureId, edge_matrix_bytes};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start, StructureChange};
use crate::linalg::{LanczosConfig, lanczos_svd};
use crate::material::Material;
use crate::methods::edge_scores::in_range;
use crate::network::{EvaluatedOn, Method, Network, NetworkLearner};
use crate::setting::Setting;
use crate::snapshot::SavedStructure;

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
pub(crate) const SETTINGS: &[Setting] = &[
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
pub(crate) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&GnnSvdConfig::default())
}

/// Measured (`tests/memory.rs`): how often the singular vectors are there, of a directed graph and of a symmetric one, whose
/// left ones are the right ones; how often T is while its eigenpairs are found; and the bytes of an entry that stays.
const VECTOR_COPIES: [usize; 2] = [6, 3];
const PROJECTED_COPIES: usize = 5;
const ENTRY_BYTES: usize = 22;

/// The method with the settings of a run.
pub(crate) fn recipe(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    let settings: GnnSvdConfig = config.settings_over(&GnnSvdConfig::default())?;
    settings.check()?;
    Ok(Arc::new(settings))
}

impl GnnSvdConfig {
    /// How many entries stay at most.
    fn entries(&self, material: &Material) -> usize {
        let graph = material.graph();
        let (nodes, edges) = (graph.nodes() as f64, graph.edges() as f64);
        (self.density * edges).ceil().min(nodes * nodes) as usize
    }
}

impl Recipe for GnnSvdConfig {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(self)
    }

    /// The reconstructed graph, its weights and its structure.
    fn extra_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let (nodes, entries) = (material.graph().nodes(), self.entries(material));
        let symmetric = material.graph().twins().is_some();
        total([
            bytes::graph(nodes, entries, symmetric),
            material.footprint(config).structure(entries, symmetric),
            array::<f32>(&[entries]),
        ])
    }

    /// The basis that the singular vectors come from, then those vectors and the entries that stay.
    fn starting_bytes(&self, material: &Material, _: &RunConfig) -> u64 {
        let (nodes, edges) = (material.graph().nodes(), material.graph().edges());
        let rank = self.rank.min(nodes);
        let dimension = self.lanczos(0).dimension(nodes);
        let symmetric = material.graph().twins().is_some();
        let vectors = rank.saturating_mul(VECTOR_COPIES[usize::from(symmetric)]);
        total([
            array::<f32>(&[nodes, dimension.saturating_add(vectors)]),
            edge_matrix_bytes(nodes, edges, symmetric),
            array::<f32>(&[edges]),
            array::<f64>(&[PROJECTED_COPIES, dimension, dimension]),
            array::<u8>(&[ENTRY_BYTES, self.entries(material)]),
        ])
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        NetworkLearner::boxed(start, |network| GnnSvd::new(self, start.seed, network))
    }
}

/// The reconstruction is the same in every epoch and follows from graph and seed: there is nothing to save.
struct GnnSvd {
    structure: StructureId,
    graph: Arc<Graph>,
    weights: Arc<[f32]>,
}

impl GnnSvd {
    fn new(settings: &GnnSvdConfig, seed: u64, network: &mut Network) -> Result<Self, TrainError> {
        let threads = network.model.threads().clone();
        let graph = &network.graph;
        let values = network.products(&vec![1.0; graph.edges()]);
        let adjacency = EdgeMatrix::new(&threads, Arc::clone(graph), &values)?;
        let symmetric = graph.twins().is_some();
        let svd = lanczos_svd(&threads, &adjacency, symmetric, settings.lanczos(seed))?;
        drop(adjacency);
        let keep = Keep {
            entries: (settings.density * graph.edges() as f64).ceil() as usize,
            above: settings.threshold as f32,
            symmetric,
        };
        let (graph, weights) = reconstruct(&threads, svd, graph.nodes(), keep)?;
        let graph = Arc::new(graph);
        let structure = network.model.add_structure(Arc::clone(&graph))?;
        network.model.on(structure).set_edge_weights(&weights)?;
        Ok(Self { structure, graph, weights: weights.into() })
    }
}

impl Method for GnnSvd {
    fn before(&mut self, epoch: u32, _: &mut Network) -> Result<Option<StructureChange>, TrainError> {
        Ok((epoch == 0).then(|| StructureChange { edges: self.graph.edges(), objective: None }))
    }

    fn step(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        network.train_on(self.structure, epoch)
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        vec![EvaluatedOn { structure: self.structure.into(), name: "reconstructed" }]
    }

    fn saved_structure(&self, _: EvaluatedOn, _: &Network) -> SavedStructure {
        SavedStructure {
            graph: Some(Arc::clone(&self.graph)),
            weights: Some(Arc::clone(&self.weights)),
            ..SavedStructure::default()
        }
    }

    fn edges_in(&self, _: &Network) -> usize {
        self.graph.edges()
    }
}
