//! Plain training: every edge, weight 1, from the first epoch to the last. With the backbone `mlp` it is the edge-free
//! control.

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start, WarmStart};
use crate::material::Material;
use crate::methods::pseudo_labels;
use crate::network::{Method, NetworkBytes, NetworkLearner};

#[derive(Debug)]
pub(crate) struct Vanilla {
    /// Whether it learns from what is believed of nodes without a label, too.
    with_beliefs: bool,
}

impl Vanilla {
    pub(crate) fn of(config: &RunConfig) -> Self {
        Self { with_beliefs: config.pseudo_labels() > 0.0 }
    }
}

impl Recipe for Vanilla {
    fn wants_warm_start(&self) -> Option<WarmStart> {
        self.with_beliefs.then_some(WarmStart::EdgeFree)
    }

    /// The network is made when the pseudo-labels are.
    fn starting_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let making = if self.with_beliefs { pseudo_labels::making_bytes(material) } else { 0 };
        let NetworkBytes { made, features, .. } = NetworkBytes::of(material, config);
        making.saturating_sub(made.saturating_sub(features))
    }

    fn extra_bytes(&self, material: &Material, _config: &RunConfig) -> u64 {
        if self.with_beliefs { pseudo_labels::bytes(material) } else { 0 }
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        let task = pseudo_labels::task(start)?;
        NetworkLearner::boxed(start, |network| {
            if let Some(task) = task {
                network.task = task;
            }
            Ok(EveryEdge)
        })
    }
}

struct EveryEdge;

impl Method for EveryEdge {}
