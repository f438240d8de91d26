use crate::error::check_length;
use crate::{Graph, GraphError};

/// Checks edge weights: one per edge id, each finite and at least 0. Weight 0 means "the edge is not there".
///
/// # Errors
/// A wrong number of weights, or the first weight that is NaN, infinite or negative.
pub fn check_weights<T: Copy + Into<f64>>(graph: &Graph, weights: &[T]) -> Result<(), GraphError> {
    check_length(
        "weights",
        weights.len(),
        graph.edges(),
        "one weight per directed edge, in the order of ids",
    )?;
    for (position, &weight) in weights.iter().enumerate() {
        let value: f64 = weight.into();
        if !(value.is_finite() && value >= 0.0) {
            return Err(GraphError::BadWeight { position, value });
        }
    }
    Ok(())
}
