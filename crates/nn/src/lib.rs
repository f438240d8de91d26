//! How a GNN learns: kernels, layers with exact gradients, losses, optimiser.

mod adam;
mod error;
mod evaluation;
mod fold;
mod inputs;
mod kernels;
mod layers;
mod memory;
mod meter;
mod model;
mod parameters;
pub mod random;
mod real;
mod simd;
mod structure;
mod task;
mod threads;

pub use adam::{Adam, AdamConfig, Decay};
pub use error::NnError;
pub use evaluation::{Evaluation, roc_auc};
pub use meter::{Kernel, Meter, Work};
pub use model::{Backbone, Extra, Model, ModelConfig};
pub use parameters::Parameter;
pub use real::Real;
pub use task::Task;
pub use threads::Threads;
