use crate::error::check_length;
use crate::{Graph, GraphError};

/// The largest edge weight that is taken.
///
/// In single precision sums then stay finite however many edges a node has: GIN, whose sums are not divided by anything,
/// multiplies those of two layers, at most (10⁹ · 2³² edges)² ≈ 1.8 · 10³⁷ times its input, and numbers end at 3.4 · 10³⁸.
/// The other backbones divide by sums of weights, which end at 10⁹ · 2³².
pub const MAX_EDGE_WEIGHT: f64 = 1e9;

/// Checks edge weights: one per edge id, each from 0 to [`MAX_EDGE_WEIGHT`]. Weight 0 means "the edge is not there".
///
/// # Errors
/// A wrong number of weights, or the first weight that is NaN, negative or too large.
pub fn check_weights<T: Copy + Into<f64>>(graph: &Graph, weights: &[T]) -> Result<(), GraphError> {
    check_length(
        "weights",
        weights.len(),
        graph.edges(),
        "one weight per directed edge, in the order of ids",
    )?;
    for (position, &weight) in weights.iter().enumerate() {
        let value: f64 = weight.into();
        if !(0.0..=MAX_EDGE_WEIGHT).contains(&value) {
            return Err(GraphError::BadWeight { position, value });
        }
    }
    Ok(())
}
