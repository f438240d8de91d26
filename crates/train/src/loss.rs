//! The loss of single nodes, from logits.

use edgepace_graph::{Labels, Refusal};

use crate::error::TrainError;

/// The loss of each of some nodes whose labels are known, from the logits of all, nodes × outputs: cross-entropy, or the mean
/// over labels of the binary one.
///
/// # Errors
/// Logits of another number, or a node that is not labelled.
pub fn node_losses(logits: &[f32], known: &Labels, nodes: &[u32]) -> Result<Vec<f32>, TrainError> {
    let (found, expected) = (logits.len(), known.nodes() * known.width());
    if found != expected {
        return Err(Refusal::size("logits", found, expected, "nodes × outputs numbers").into());
    }
    if let Some(node) = nodes.iter().find(|&&node| !known.is_labelled(node as usize)) {
        return Err(TrainError::refused("nodes", format!("node {node}"), "nodes that have a label"));
    }
    let mut losses = Vec::with_capacity(nodes.len());
    losses_into(&mut losses, logits, known, nodes);
    Ok(losses)
}

/// The loss of each training node: cross-entropy, or the mean over labels of the binary one.
pub(crate) fn losses_into(losses: &mut Vec<f32>, logits: &[f32], known: &Labels, nodes: &[u32]) {
    let width = known.width();
    losses.clear();
    losses.extend(nodes.iter().map(|&node| {
        let row = &logits[node as usize * width..][..width];
        match known {
            Labels::Classes(classes) => {
                let highest = row.iter().fold(f32::NEG_INFINITY, |highest, &x| highest.max(x));
                let total: f32 = row.iter().map(|&x| libm::expf(x - highest)).sum();
                libm::logf(total) + highest - row[classes.of()[node as usize] as usize]
            }
            Labels::Many(many) => {
                let truth = &many.values()[node as usize * width..][..width];
                let each = row.iter().zip(truth).map(|(&x, &y)| {
                    // −ln σ(x) for a 1, −ln σ(−x) for a 0.
                    let z = if y == 1 { -x } else { x };
                    z.max(0.0) + libm::log1pf(libm::expf(-z.abs()))
                });
                each.sum::<f32>() / width.max(1) as f32
            }
        }
    }));
}
