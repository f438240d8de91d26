//! Edges that are left out of each training step (`DropEdge`: Rong et al., 2020), others each time.
//!
//! The undirected edge of nodes i and j is left out of epoch t when u(seed, t, i, j) < rate, where u is uniform in [0, 1) and a pure
//! function of its arguments: neither threads nor earlier epochs nor other edges can change it. What remains is normalised
//! anew. Where a backbone sums over neighbours without normalising, what stays weighs 1 / (1 − rate), so that sums are what they
//! are in evaluation on average.

use std::sync::Arc;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Graph, WeightedGraph, with_simd};
use edgepace_nn::{Backbone, Model, StructureId, Threads};

use crate::error::TrainError;
use crate::learner::Start;

/// Which edges are left out, and a structure for those that are not.
pub(crate) struct Dropping {
    rate: f64,
    seed: u64,
    /// What an edge that stays weighs, for each that it weighs otherwise.
    kept: f32,
    /// The structure that edges are dropped from.
    of: StructureId,
    /// What is left of it.
    left: StructureId,
    weights: Vec<f32>,
}

impl Dropping {
    /// Drops edges of the graph that the model was made for.
    pub(crate) fn new(
        rate: f64,
        start: &Start<'_>,
        graph: &WeightedGraph,
        model: &mut Model<f32>,
    ) -> Result<Self, TrainError> {
        let sums = start.config.backbone == Backbone::Gin;
        Ok(Self {
            rate,
            seed: start.seed,
            kept: if sums { (1.0 / (1.0 - rate)) as f32 } else { 1.0 },
            of: StructureId::FIRST,
            left: model.add_structure(graph.clone())?,
            weights: vec![1.0; graph.graph().edges()],
        })
    }

    /// Whether it is this structure that edges are dropped from.
    pub(crate) fn is_of(&self, structure: StructureId) -> bool {
        self.of == structure
    }

    /// Drops edges of this structure from now on, which has this graph with all that its edges weigh.
    pub(crate) fn change(
        &mut self,
        model: &mut Model<f32>,
        structure: StructureId,
        graph: WeightedGraph,
    ) -> Result<(), TrainError> {
        self.of = structure;
        self.weights.resize(graph.graph().edges(), 1.0);
        Ok(model.on(self.left).set_graph(graph)?)
    }

    /// The structure that is left for the training step of an epoch.
    pub(crate) fn draw(&mut self, model: &mut Model<f32>, epoch: u32) -> Result<StructureId, TrainError> {
        let model = model.on(self.left);
        let (graph, threads) = (Arc::clone(model.graph()), model.threads().clone());
        let stream = Stream::new(self.seed, Purpose::DroppedEdges, epoch);
        draw(&threads, &graph, &stream, (self.rate, self.kept), &mut self.weights);
        model.set_edge_weights(&self.weights)?;
        Ok(self.left)
    }
}

/// Edges that are decided on together, with vector instructions.
const TOGETHER: usize = 32;

/// 0 for the edges that an epoch leaves out, `kept` for the others.
fn draw(threads: &Threads, graph: &Graph, stream: &Stream, (rate, kept): (f64, f32), weights: &mut [f32]) {
    let (offsets, sources) = (graph.offsets(), graph.sources());
    let fill = |nodes: std::ops::Range<usize>, weights: &mut [f32]| {
        let (mut edge, mut target) = (offsets[nodes.start], nodes.start);
        with_simd(
            #[inline(always)]
            || {
                for weights in weights.chunks_mut(TOGETHER) {
                    let mut pairs = [0; TOGETHER];
                    for pair in &mut pairs[..weights.len()] {
                        while offsets[target + 1] <= edge {
                            target += 1;
                        }
                        let [source, target] = [u64::from(sources[edge]), target as u64];
                        *pair = source.min(target) << 32 | source.max(target);
                        edge += 1;
                    }
                    let drawn = stream.uniforms(pairs);
                    for (weight, drawn) in weights.iter_mut().zip(drawn) {
                        *weight = if drawn < rate { 0.0 } else { kept };
                    }
                }
            },
        );
    };
    threads.nodes(offsets, |node| offsets[node], weights, fill);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every node with the twenty after it, on a circle.
    fn graph() -> Graph {
        let nodes = 2000_u32;
        let pairs = (0..nodes).flat_map(|node| (1..=20).map(move |step| (node, (node + step) % nodes)));
        let (sources, targets): (Vec<u32>, Vec<u32>) = pairs.unzip();
        Graph::undirected(nodes as usize, &sources, &targets).unwrap()
    }

    fn drawn(graph: &Graph, threads: usize, (seed, epoch): (u64, u32), rate: f64) -> Vec<f32> {
        let mut weights = vec![0.5; graph.edges()];
        let stream = Stream::new(seed, Purpose::DroppedEdges, epoch);
        draw(&Threads::new(threads).unwrap(), graph, &stream, (rate, 2.0), &mut weights);
        weights
    }

    #[test]
    fn each_epoch_leaves_out_the_stated_share_of_edges_within_chance() {
        let graph = graph();
        // Each of so many decisions is about two directions.
        let n = graph.edges() as f64 / 2.0;
        for rate in [0.1, 0.3, 0.7] {
            for epoch in 0..3 {
                let weights = drawn(&graph, 1, (7, epoch), rate);
                assert!(weights.iter().all(|&weight| weight == 0.0 || weight == 2.0));
                let kept = weights.iter().filter(|&&weight| weight > 0.0).count() as f64 / 2.0;
                let sd = f64::sqrt(n * rate * (1.0 - rate));
                assert!((kept - n * (1.0 - rate)).abs() < 4.5 * sd, "{rate} {epoch}: {kept} of {n}");
            }
        }
        assert!(drawn(&graph, 1, (7, 0), 0.0).iter().all(|&weight| weight == 2.0));
    }

    #[test]
    fn both_directions_are_one_decision_on_any_number_of_threads() {
        let graph = graph();
        let one = drawn(&graph, 1, (7, 3), 0.4);
        let twins = graph.twins().unwrap();
        assert!((0..graph.edges()).all(|edge| one[edge] == one[twins[edge] as usize]));
        for threads in [2, 5] {
            assert_eq!(one, drawn(&graph, threads, (7, 3), 0.4));
        }
    }

    #[test]
    fn what_happens_to_an_edge_does_not_depend_on_the_others() {
        let graph = graph();
        let all = drawn(&graph, 1, (7, 3), 0.4);
        let some = graph.select(|edge| !graph.sources()[edge].is_multiple_of(3));
        let of_some = drawn(&some.graph, 1, (7, 3), 0.4);
        assert!(some.edge_of.iter().zip(&of_some).all(|(&edge, &weight)| all[edge as usize] == weight));
    }

    #[test]
    fn epochs_and_seeds_draw_independently_of_each_other() {
        let graph = graph();
        let base = drawn(&graph, 1, (7, 3), 0.5);
        let n = graph.edges() as f64 / 2.0;
        for other in [(7, 4), (8, 3)] {
            let other = drawn(&graph, 1, other, 0.5);
            let agree = base.iter().zip(&other).filter(|(a, b)| a == b).count() as f64 / 2.0;
            assert!((agree - n / 2.0).abs() < 4.5 * f64::sqrt(n / 4.0), "{agree} of {n} agree");
        }
    }
}
