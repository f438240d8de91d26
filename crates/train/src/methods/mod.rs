//! The methods, one file or folder each: what decides which edges and nodes a model learns from.

pub(crate) mod auto;
pub(crate) mod belief;
pub(crate) mod drop_edge;
mod edge_scores;
pub(crate) mod gnn_svd;
pub(crate) mod label_propagation;
pub(crate) mod neural_sparse;
pub(crate) mod nodes;
pub(crate) mod pro_gnn;
pub(crate) mod prune;
mod pseudo_labels;
pub(crate) mod ptdnet;
pub(crate) mod rcl;
pub(crate) mod vanilla;
