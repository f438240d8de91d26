//! GNN-SVD: plain training on a low-rank reconstruction of the graph (Entezari, Al-Sayouri, Darvishzadeh, Papalexakis,
//! «All You Need Is Low (Rank): Defending Against Adversarial Attacks on Graphs», WSDM 2020).
//!
//! A ≈ A_k = Σ_{r ≤ k} σ_r u_r v_rᵀ. Edges that attacks or noise add are mostly in the high ranks; what the leading ones
//! explain stays. The paper propagates along the dense A_k; here only its largest positive entries off the diagonal are
//! kept, `density` times as many as the graph has edges, as the weights of a graph of their own.

mod reconstruct;

use std::sync::Arc;

use edgepace_graph::Graph;
use edgepace_nn::{EdgeMatrix, StructureId};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::event::Listener;
use crate::linalg::{SvdConfig, truncated_svd};
use crate::method::{EvaluatedOn, Kept, Method, Setting, Update};
use crate::session::Session;

use reconstruct::{Keep, reconstruct};

/// Columns of the block beyond the rank.
const OVERSAMPLING: usize = 12;

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
    /// Rounds of subspace iteration, at least 1.
    iterations: usize,
}

impl Default for GnnSvdConfig {
    fn default() -> Self {
        Self { rank: 100, density: 3.0, threshold: 0.0, iterations: 4 }
    }
}

impl GnnSvdConfig {
    fn check(&self) -> Result<(), TrainError> {
        let refuse = |field: &str, found: String, expected: &str| {
            Err(TrainError::Config { field: field.into(), found, expected: expected.into() })
        };
        if !(1..=10_000).contains(&self.rank) {
            return refuse("rank", self.rank.to_string(), "between 1 and 10000");
        }
        if !(self.density > 0.0 && self.density.is_finite()) {
            return refuse("density", self.density.to_string(), "a finite number above 0");
        }
        if !(self.threshold >= 0.0 && self.threshold.is_finite()) {
            return refuse("threshold", self.threshold.to_string(), "a finite number, at least 0");
        }
        if !(1..=1000).contains(&self.iterations) {
            return refuse("iterations", self.iterations.to_string(), "between 1 and 1000");
        }
        Ok(())
    }
}

/// Its settings.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "rank",
        meaning: "singular values that the reconstruction keeps, at least 1",
        search: &["50", "100", "300"],
    },
    Setting {
        name: "density",
        meaning: "entries that stay, as a multiple of the graph's edges, above 0",
        search: &["1", "3"],
    },
    Setting::fixed("threshold", "entries not above this are dropped whatever the density, at least 0"),
    Setting::fixed("iterations", "rounds of subspace iteration that find the singular vectors, at least 1"),
];

/// Their defaults.
pub(super) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&GnnSvdConfig::default())
}

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
        let config = SvdConfig {
            rank: self.settings.rank,
            oversampling: OVERSAMPLING,
            iterations: self.settings.iterations,
            seed: self.seed,
        };
        let svd = truncated_svd(&threads, &adjacency, config, None)?;
        drop(adjacency);
        let keep = Keep {
            entries: (self.settings.density * graph.edges() as f64).ceil() as usize,
            above: self.settings.threshold as f32,
            symmetric: graph.twins().is_some(),
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
