//! Claims about models as a caller sees them, one module per subject. Layers are proven inside the crate.

#![allow(clippy::disallowed_methods, reason = "a test may compare with the system's library")]

mod bad_input;
mod belief;
mod dense;
mod determinism;
mod edge_network;
mod gradients;
mod initialisation;
mod large_weights;
mod layers;
mod metrics;
mod own_weights;
mod properties;
mod pyg;
mod reference;
#[allow(dead_code, reason = "the tests of layers use the rest")]
mod shared;
mod support;
