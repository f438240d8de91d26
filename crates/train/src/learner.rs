//! Something that learns epoch by epoch, and how it is started. It need not be a neural network.

use std::fmt;
use std::sync::Arc;

use edgepace_nn::{Metric, Threads};
use toml::Table;

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::material::Material;
use crate::snapshot::{EdgeReport, Snapshot};
use crate::state::State;

/// What a learner starts from.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    /// What may be known.
    pub material: &'a Arc<Material>,
    /// The settings that all methods share, complete.
    pub config: &'a RunConfig,
    /// All that is drawn at random follows from it.
    pub seed: u64,
    /// The thread budget.
    pub threads: &'a Threads,
    /// What a network that was trained first says at its epoch of best validation, for recipes that ask for one.
    pub warm_start: Option<&'a Snapshot>,
}

impl Start<'_> {
    /// The warm start.
    ///
    /// # Errors
    /// There is none, though the recipe asked for one.
    pub fn warm_start(&self) -> Result<&Snapshot, TrainError> {
        self.warm_start
            .ok_or_else(|| TrainError::refused("warm start", "missing", "one: the method asks for it"))
    }
}

/// A network that is trained before a recipe starts, with the settings that the run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmStart {
    /// Plain training on all edges, with the same backbone.
    Plain,
    /// The same on the paper's ground, whatever ground the run stands on.
    PlainOfPaper,
    /// Plain training without any edge.
    EdgeFree,
}

impl WarmStart {
    /// The method that trains it.
    pub fn method(self) -> &'static str {
        match self {
            WarmStart::Plain | WarmStart::PlainOfPaper => "vanilla",
            WarmStart::EdgeFree => "mlp",
        }
    }
}

/// A method with its settings, checked and complete.
pub trait Recipe: fmt::Debug + Send + Sync {
    /// Every setting, as TOML writes it; what is unset is not in it.
    ///
    /// # Errors
    /// A setting that TOML cannot write.
    fn settings(&self) -> Result<Table, TrainError> {
        Ok(Table::new())
    }

    /// The network that is to be had first, if one is.
    fn wants_warm_start(&self) -> Option<WarmStart> {
        None
    }

    /// The network that it is compared with where the better of both is kept, if that is not the one that is to be had first.
    fn compared_with(&self) -> Option<WarmStart> {
        None
    }

    /// How many epochs it takes, where that is its own matter. None: as many as the run says, patience allowing.
    fn epochs(&self) -> Option<u32> {
        None
    }

    /// Whether the last epoch counts, whatever validation says, and not the best on validation.
    fn last_epoch_counts(&self) -> bool {
        self.epochs().is_some()
    }

    /// What validation is judged by where several settings of it are chosen among; none: by the metric of the run.
    fn chosen_by(&self) -> Option<Metric> {
        None
    }

    /// Whether it trains a network of its own, beside its warm start.
    fn is_network(&self) -> bool {
        true
    }

    /// Refuses what it cannot learn from, before the first epoch.
    ///
    /// # Errors
    /// Names what of the material, and what is legal.
    fn check_material(&self, _material: &Material) -> Result<(), TrainError> {
        Ok(())
    }

    /// The bytes that it has in use at most beside those of plain training, once it trains.
    fn extra_bytes(&self, _material: &Material, _config: &RunConfig) -> u64 {
        0
    }

    /// The bytes that it has in use at most while it starts, beside features, parameters and optimiser: the buffers of the
    /// passes are not there yet.
    fn starting_bytes(&self, _material: &Material, _config: &RunConfig) -> u64 {
        0
    }

    /// Makes what learns.
    ///
    /// # Errors
    /// What it needs cannot be made.
    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError>;
}

/// What learns, between two epochs.
pub trait Learner: Send {
    /// Trains one epoch, the next one after the latest, and evaluates.
    ///
    /// # Errors
    /// Training diverges, or something that it is made of refuses.
    fn epoch(&mut self, epoch: u32) -> Result<Epoch, TrainError>;

    /// What answers for it later: as it is now, on one of the evaluations of the latest epoch, in place of what `into`
    /// holds.
    ///
    /// # Errors
    /// Predictions that are not finite, or something that it is made of refuses; `into` then is as it was.
    fn snapshot(&mut self, evaluation: &Evaluated, into: &mut Snapshot) -> Result<(), TrainError>;

    /// Completes the snapshot that is kept, when training is over: what takes its time and is needed once.
    ///
    /// # Errors
    /// Predictions that are not finite, or something that it is made of refuses.
    fn complete(&mut self, _best: &mut Snapshot) -> Result<(), TrainError> {
        Ok(())
    }

    /// What it knows of each edge now.
    fn edges(&self) -> Option<EdgeReport> {
        None
    }

    /// All that one freshly started from the same recipe needs to go on from here, to the same bits.
    ///
    /// # Errors
    /// A value that cannot be written.
    fn save(&self) -> Result<State, TrainError>;

    /// Goes on from what [`Learner::save`] kept; called right after the start.
    ///
    /// # Errors
    /// Something is missing or does not fit.
    fn restore(&mut self, state: &State) -> Result<(), TrainError>;
}

/// What one epoch did.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// The training loss before the step.
    pub loss: f64,
    /// How the training structure changed before the step, if it did.
    pub change: Option<StructureChange>,
    /// Directed edges in the training structure.
    pub edges: usize,
    /// The ways in which it was evaluated, in the order in which the first among equals counts; at least one.
    pub evaluations: Vec<Evaluated>,
}

/// One way of evaluating a learner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluated {
    /// The epoch, from 0.
    pub epoch: u32,
    /// Its number in the epoch.
    pub number: usize,
    /// What it was evaluated on, as `full` or `weighted`.
    pub on: &'static str,
    /// The score of the validation nodes, higher being better; none without such.
    pub validation: Option<f64>,
    /// What epochs are chosen by, higher being better: that score, or something else that validation says.
    pub criterion: Option<f64>,
}

/// A change of the training structure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StructureChange {
    /// Directed edges in it from now on.
    pub edges: usize,
    /// The joint objective of Algorithm 1, L_GNN + β Σ S R + g(S; λ) + γ/2 ‖S − S_prev‖², before and after the step on
    /// the mask.
    pub objective: Option<[f64; 2]>,
}
