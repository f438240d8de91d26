//! Plain training: every edge, weight 1, from the first epoch to the last. With the backbone `mlp` it is the edge-free
//! control.

use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start};
use crate::network::{Method, NetworkLearner};

#[derive(Debug)]
pub(crate) struct Vanilla;

impl Recipe for Vanilla {
    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        NetworkLearner::boxed(start, |_| Ok(EveryEdge))
    }
}

struct EveryEdge;

impl Method for EveryEdge {}
