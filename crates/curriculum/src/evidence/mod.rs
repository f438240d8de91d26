//! What speaks for an edge, besides what the model thinks of its ends.

pub(crate) mod logistic;
pub(crate) mod non_edges;
pub(crate) mod overlap;
pub(crate) mod similarity;
