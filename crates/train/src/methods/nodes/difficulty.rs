//! How hard training nodes are, by what a pre-trained model makes of the graph.

use edgepace_graph::{Labels, WeightedGraph};

use super::Seen;
use crate::loss::losses_into;

/// CLNode's difficulty of each training node: D = D_local + α · D_global.
///
/// Many yes-or-no labels are as many problems of two classes; a node's difficulty is the mean over them.
pub(super) fn clnode(seen: &Seen<'_>, alpha: f64) -> Vec<f64> {
    let problems = match seen.labels {
        Labels::Classes(_) => 1,
        Labels::Many(many) => many.width(),
    };
    let mut total = vec![0.0; seen.train.len()];
    for problem in 0..problems {
        let (classes, of) = classes_of(seen, problem);
        let local = local(seen.graph, &of, classes, seen.train);
        let global = global(seen.embeddings, seen.units, &of, classes, seen.train);
        for ((total, local), global) in total.iter_mut().zip(local).zip(global) {
            *total += (local + alpha * global) / problems as f64;
        }
    }
    total
}

/// The loss of each training node.
pub(super) fn loss(seen: &Seen<'_>) -> Vec<f64> {
    let mut losses = Vec::new();
    losses_into(&mut losses, seen.logits, seen.labels, seen.train);
    losses.into_iter().map(f64::from).collect()
}

/// Ỹ: the class of training nodes, and what the model takes every other node for.
fn classes_of(seen: &Seen<'_>, problem: usize) -> (usize, Vec<u32>) {
    let width = seen.labels.width();
    match seen.labels {
        Labels::Classes(classes) => {
            let mut of = seen.predictions.to_vec();
            for &node in seen.train {
                of[node as usize] = classes.of()[node as usize];
            }
            (width, of)
        }
        Labels::Many(many) => {
            let logits = seen.logits.iter().skip(problem).step_by(width.max(1));
            let mut of: Vec<u32> = logits.map(|&logit| u32::from(logit > 0.0)).collect();
            for &node in seen.train {
                of[node as usize] = u32::from(many.values()[node as usize * width + problem]);
            }
            (2, of)
        }
    }
}

/// D_local(u) = −Σ_c P_c ln P_c, P_c being the share of class c among u and the nodes that it hears from, each of which counts
/// as much as its edge weighs.
fn local(weighted: &WeightedGraph, of: &[u32], classes: usize, nodes: &[u32]) -> Vec<f64> {
    let (graph, weights) = (weighted.graph(), weighted.weights());
    let mut counts = vec![0.0_f64; classes];
    let entropy = |&node: &u32| {
        counts.fill(0.0);
        counts[of[node as usize] as usize] += 1.0;
        let mut total = 1.0;
        for edge in graph.in_edges(node as usize) {
            let weight = weights.map_or(1.0, |weights| f64::from(weights[edge]));
            counts[of[graph.sources()[edge] as usize] as usize] += weight;
            total += weight;
        }
        let shares = counts.iter().filter(|&&count| count > 0.0).map(|&count| count / total);
        // A single class gives −0, which sorts before 0.
        shares.map(|share| -share * libm::log(share)).sum::<f64>().max(0.0)
    };
    nodes.iter().map(entropy).collect()
}

/// D_global(u) = 1 − exp(h_u · p_y) / max_c exp(h_u · p_c): y is u's class, and p_c the mean representation of class c.
fn global(embeddings: &[f32], units: usize, of: &[u32], classes: usize, nodes: &[u32]) -> Vec<f64> {
    let mut prototypes = vec![0.0_f64; classes * units];
    let mut sizes = vec![0_u32; classes];
    for (row, &class) in embeddings.chunks_exact(units).zip(of) {
        let prototype = &mut prototypes[class as usize * units..][..units];
        prototype.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
        sizes[class as usize] += 1;
    }
    for (prototype, &size) in prototypes.chunks_exact_mut(units).zip(&sizes) {
        for sum in prototype {
            *sum /= f64::from(size.max(1));
        }
    }
    let inconsistency = |&node: &u32| {
        let row = &embeddings[node as usize * units..][..units];
        let similarity = |class: usize| {
            let prototype = &prototypes[class * units..][..units];
            row.iter().zip(prototype).map(|(&h, p)| f64::from(h) * p).sum::<f64>()
        };
        // A class that no node is taken for has no prototype.
        let present = (0..classes).filter(|&class| sizes[class] > 0);
        let highest = present.map(similarity).fold(f64::NEG_INFINITY, f64::max);
        1.0 - libm::exp(similarity(of[node as usize] as usize) - highest)
    };
    nodes.iter().map(inconsistency).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use edgepace_graph::{Classes, Graph, ManyLabels};

    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    /// A path 0–1–2–3 and the isolated node 4; nodes 0, 2 and 4 are trained on. The model takes node 2, of class 1, for
    /// class 0, and the others for what they are.
    fn path() -> (WeightedGraph, Labels) {
        let graph = Graph::undirected(5, &[0, 1, 2], &[1, 2, 3]).unwrap();
        (Arc::new(graph).into(), Classes::new(2, vec![0, 1, 1, 0, 1]).unwrap().into())
    }

    const PREDICTIONS: [u32; 5] = [0, 0, 0, 1, 1];
    const EMBEDDINGS: [f32; 10] = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 1.0];

    fn seen<'a>(graph: &'a WeightedGraph, known: &'a Labels, logits: &'a [f32]) -> Seen<'a> {
        Seen {
            graph,
            labels: known,
            train: &[0, 2, 4],
            logits,
            predictions: &PREDICTIONS,
            embeddings: &EMBEDDINGS,
            units: 2,
        }
    }

    #[test]
    fn clnodes_difficulty_is_the_one_worked_by_hand() {
        let (graph, known) = path();
        // Ỹ = (0 true, 0 predicted, 1 true, 1 predicted, 1 true).
        let of = [0, 0, 1, 1, 1];
        // Node 0 sees {0, 0}: entropy 0. Node 2 sees {0, 1, 1}: −(1/3 ln 1/3 + 2/3 ln 2/3) = 0.6365141683. Node 4 sees itself.
        let of_2 = libm::log(3.0) - 2.0 / 3.0 * libm::log(2.0);
        assert!((of_2 - 0.636_514_168_3).abs() < 1e-9);
        close(&local(&graph, &of, 2, &[0, 2, 4]), &[0.0, of_2, 0.0]);
        // Prototypes: class 0 is the mean of (1, 0), (1, 0) = (1, 0); class 1 of (1, 0), (0, 2), (0, 1) = (1/3, 1).
        // Node 0, h = (1, 0): 1 with its own, 1/3 with the other: e^1 / e^1, so 0.
        // Node 2, h = (1, 0), class 1: 1/3 with its own, 1 with the other: 1 − e^(1/3 − 1) = 0.4865828810.
        // Node 4, h = (0, 1), class 1: 1 with its own, 0 with the other: 0.
        let inconsistent = 1.0 - libm::exp(-2.0 / 3.0);
        assert!((inconsistent - 0.486_582_881_0).abs() < 1e-9);
        close(&global(&EMBEDDINGS, 2, &of, 2, &[0, 2, 4]), &[0.0, inconsistent, 0.0]);
        // Together, α = ½: 0.6365141683 + 0.2432914405.
        close(&clnode(&seen(&graph, &known, &[0.0; 10]), 0.5), &[0.0, 0.879_805_608_8, 0.0]);
    }

    #[test]
    fn a_neighbour_counts_as_much_as_its_edge_weighs() {
        let (graph, _) = path();
        // In the order of ids: 1 → 0, 0 → 1, 2 → 1, 1 → 2, 3 → 2, 2 → 3.
        let weights = vec![1.0, 1.0, 3.0, 3.0, 0.5, 0.5];
        let weighted = WeightedGraph::new(Arc::clone(graph.graph()), weights).unwrap();
        // Node 2 sees itself (class 1, weight 1), node 1 (class 0, weight 3) and node 3 (class 1, weight ½).
        let (own, other) = (1.5 / 4.5, 3.0 / 4.5);
        let entropy = -(own * libm::log(own) + other * libm::log(other));
        close(&local(&weighted, &[0, 0, 1, 1, 1], 2, &[0, 2, 4]), &[0.0, entropy, 0.0]);
    }

    #[test]
    fn many_labels_are_the_mean_of_problems_of_two_classes() {
        let (graph, known) = path();
        let Labels::Classes(classes) = &known else { unreachable!() };
        // Both labels are the class, so their mean is the difficulty of the class.
        let twice = classes.of().iter().flat_map(|&class| [class as u8; 2]).collect();
        let many = ManyLabels::new(5, 2, twice).unwrap().into();
        let logits: Vec<f32> = PREDICTIONS.iter().flat_map(|&class| [class as f32 - 0.5; 2]).collect();
        let expected = clnode(&seen(&graph, &known, &logits), 1.0);
        close(&clnode(&seen(&graph, &many, &logits), 1.0), &expected);
    }

    #[test]
    fn a_class_that_no_node_is_taken_for_has_no_prototype() {
        // Its zero vector would be nearer to h = (−1) than the node's own prototype.
        close(&global(&[-1.0, 1.0], 1, &[0, 0], 3, &[0]), &[0.0]);
    }
}
