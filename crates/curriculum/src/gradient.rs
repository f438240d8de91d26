//! The gradient of β Σ S R, which joins the model's loss (Algorithm 1, step 3).

use edgepace_graph::{Graph, Threads, Transpose};

use crate::feedback::Rows;
use crate::kernel::Difficulty;
use crate::pairs::Pairs;

/// Nodes per piece of work.
const NODES: usize = 64;

/// Sets `out`, one row per node, to the gradient of `factor` · Σ_e S_e R_e by the rows of the nodes.
///
/// The sum runs over directed edges. Each node adds up its own edges in a fixed order: the edges into it, and, where
/// there are no twins, the edges out of it. With twins both directions are the same number twice.
pub(crate) fn residual_gradient(
    threads: &Threads,
    (graph, outgoing): (&Graph, Option<&Transpose>),
    pairs: &Pairs,
    mask: &[f32],
    factor: f64,
    (difficulty, values): (&Difficulty, Rows<'_>),
    out: &mut [f32],
) {
    let width = values.width;
    let pair_of = pairs.pair_of();
    let factor = factor * pairs.edges_per_pair() as f64;
    threads.rows(out, width, NODES, |first, piece| {
        for (within, out) in piece.chunks_exact_mut(width).enumerate() {
            let node = first + within;
            out.fill(0.0);
            let mut add = |edge: usize, other: u32| {
                let s = mask[pair_of[edge] as usize];
                if s != 0.0 {
                    difficulty.add_gradient(factor * f64::from(s), values, node, other as usize, out);
                }
            };
            for edge in graph.in_edges(node) {
                add(edge, graph.sources()[edge]);
            }
            if let Some(outgoing) = outgoing {
                for place in outgoing.offsets[node]..outgoing.offsets[node + 1] {
                    add(outgoing.edges[place] as usize, outgoing.targets[place]);
                }
            }
        }
    });
}
