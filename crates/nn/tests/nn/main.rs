//! Claims about models as a caller sees them, one module per subject. Layers are proven inside the crate.

mod bad_input;
mod dense;
mod determinism;
mod edge_network;
mod gradients;
mod initialisation;
mod layers;
mod metrics;
mod properties;
mod pyg;
mod reference;
#[allow(dead_code, reason = "the tests of layers use the rest")]
mod shared;
mod support;
