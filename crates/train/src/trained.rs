//! What is kept of a training that is over.

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::fit::{Curve, Fitted};
use crate::snapshot::{EdgeReport, Snapshot};
use crate::spec::RunSpec;
use crate::state::State;

/// A training at its best, with the settings that it had.
#[derive(Clone, Debug)]
pub(crate) struct Trained {
    pub(crate) label: String,
    pub(crate) config: RunConfig,
    pub(crate) snapshot: Snapshot,
    pub(crate) edges: Option<EdgeReport>,
    pub(crate) curve: Curve,
    /// Directed edges in the training structure, at each change: epoch and number.
    pub(crate) edges_history: Vec<(u32, usize)>,
}

impl Trained {
    pub(crate) fn new(label: String, spec: &RunSpec, fitted: Fitted) -> Self {
        let Fitted { best, edges, curve, edges_history, .. } = fitted;
        let (config, snapshot) = (spec.config().clone(), best);
        Self { label, config, snapshot, edges, curve, edges_history }
    }

    pub(crate) fn save(&self) -> Result<State, TrainError> {
        let mut state = self.snapshot.save()?;
        state.put_value("label", &self.label)?;
        state.put_value("config", &self.config)?;
        state.put_value("curve", &self.curve)?;
        state.put_value("edges_history", &self.edges_history)?;
        if let Some(edges) = &self.edges {
            state.put_part("edges", edges.save());
        }
        Ok(state)
    }

    /// What [`Trained::save`] kept, of a graph of so many nodes.
    pub(crate) fn restore(state: &State, nodes: usize) -> Result<Self, TrainError> {
        let edges = state.part("edges");
        Ok(Self {
            label: state.value("label")?,
            config: state.value("config")?,
            snapshot: Snapshot::restore(state, nodes)?,
            edges: edges.has("difficulty").then(|| EdgeReport::restore(&edges)).transpose()?,
            curve: state.value("curve")?,
            edges_history: state.value("edges_history")?,
        })
    }
}
