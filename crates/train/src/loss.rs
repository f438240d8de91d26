//! The loss of single nodes, from logits.

use edgepace_graph::Labels;

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
