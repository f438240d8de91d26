//! What a run says while it works: log, progress bar, JSON lines and history listen to the same events.

use serde::{Deserialize, Serialize};

/// Which part of a run an epoch belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The vanilla model that gives the first embeddings.
    WarmStart,
    /// The run itself.
    Training,
}

/// Something that happened in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "event")]
pub enum Event {
    /// The next of several runs that make one begins.
    Candidate {
        /// Its method and preset.
        name: &'static str,
        /// From 0.
        number: usize,
        /// How many there are.
        of: usize,
    },
    /// An epoch is done.
    Epoch {
        /// Which part of the run.
        phase: Phase,
        /// From 0.
        epoch: u32,
        /// Epochs of this part.
        epochs: u32,
        /// Training loss before the step.
        loss: f64,
        /// Validation score, in percent but for log-loss; none without validation nodes.
        validation: Option<f64>,
        /// Directed edges in the training structure.
        edges: usize,
    },
    /// The method changed its training structure before this epoch.
    Update {
        /// From 0.
        epoch: u32,
        /// Directed edges in the training structure from now on.
        edges: usize,
        /// The joint objective of Algorithm 1 before and after the step on the mask, where the method has one: the mean loss of
        /// the training nodes, β Σ S R, g(S; λ) and the proximal term, sums being over directed edges.
        objective: Option<[f64; 2]>,
    },
}

/// Who wants to know.
pub trait Listener: Send {
    /// Called for each event, in order. Returns whether to go on; a run that is told to stop ends with what it has.
    fn on(&mut self, event: &Event) -> bool;
}

impl<F: FnMut(&Event) -> bool + Send> Listener for F {
    fn on(&mut self, event: &Event) -> bool {
        self(event)
    }
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Listener for Silent {
    fn on(&mut self, _: &Event) -> bool {
        true
    }
}
