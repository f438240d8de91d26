//! The nuclear norm of a gated adjacency matrix, by its leading singular values: ‖A‖_* ≥ Σ_r σ_r = Σ_r u_r · A v_r, with the
//! subgradient U Vᵀ at the edges. The norm is taken as a share of that of the ungated graph, so that its weight in the loss
//! does not depend on the size of the graph.

use std::sync::Arc;

use edgepace_graph::WeightedGraph;
use edgepace_nn::{EdgeMatrix, Threads, with_simd};

use crate::error::TrainError;
use crate::linalg::{Svd, SvdConfig, truncated_svd};
use crate::state::State;

/// Products with the matrix when there is nothing to start from, and when there is.
const ITERATIONS: [usize; 2] = [6, 1];
/// Edges that one thread takes at a time.
const BLOCK: usize = 4096;

/// The low-rank term of one layer.
pub(super) struct LowRank {
    matrix: EdgeMatrix<f32>,
    graph: WeightedGraph,
    /// The gates times what edges weigh by themselves; empty where that is 1.
    gated: Vec<f32>,
    config: SvdConfig,
    svd: Svd,
    /// The subgradient at each edge.
    slopes: Vec<f32>,
    /// The norm of the ungated graph.
    whole: f32,
}

impl LowRank {
    /// The term for gates on the edges of a graph, all open at first.
    pub(super) fn new(
        threads: &Threads,
        graph: &WeightedGraph,
        rank: usize,
        seed: u64,
    ) -> Result<Self, TrainError> {
        let edges = graph.graph().edges();
        let gated = graph.weights().map(|own| own.to_vec()).unwrap_or_default();
        let ones = if gated.is_empty() { vec![1.0; edges] } else { Vec::new() };
        let open = if gated.is_empty() { &ones } else { &gated };
        let matrix = EdgeMatrix::new(threads, Arc::clone(graph.graph()), open)?;
        let config = SvdConfig { rank, oversampling: 0, iterations: ITERATIONS[0], seed };
        let svd = truncated_svd(threads, &matrix, config, None)?;
        let whole = svd.values.iter().sum();
        let config = SvdConfig { iterations: ITERATIONS[1], ..config };
        let slopes = vec![0.0; edges];
        let mut term = Self { matrix, graph: graph.clone(), gated, config, svd, slopes, whole };
        term.refresh_slopes(threads);
        Ok(term)
    }

    /// Follows the gates: the singular vectors of before are where the search starts.
    pub(super) fn update(&mut self, threads: &Threads, gates: &[f32]) -> Result<(), TrainError> {
        match self.graph.weights() {
            None => self.matrix.set_values(threads, gates)?,
            Some(own) => {
                let products = gates.iter().zip(&own[..]).map(|(gate, own)| gate * own);
                self.gated.iter_mut().zip(products).for_each(|(gated, product)| *gated = product);
                self.matrix.set_values(threads, &self.gated)?;
            }
        }
        self.svd = truncated_svd(threads, &self.matrix, self.config, Some(&self.svd.right))?;
        self.refresh_slopes(threads);
        Ok(())
    }

    /// What one freshly made needs to go on from here.
    pub(super) fn save(&self) -> State {
        let mut state = State::default();
        let Svd { values, left, right } = &self.svd;
        for (name, numbers) in [("values", values), ("left", left), ("right", right)] {
            state.put_floats(name, numbers);
        }
        state
    }

    /// Goes on from what [`LowRank::save`] kept.
    pub(super) fn restore(&mut self, threads: &Threads, state: &State) -> Result<(), TrainError> {
        let values = state.all_floats("values")?.to_vec();
        let size = values.len() * self.matrix.graph().nodes();
        let vectors = |name| state.floats(name, size).map(<[f32]>::to_vec);
        self.svd = Svd { left: vectors("left")?, right: vectors("right")?, values };
        self.refresh_slopes(threads);
        Ok(())
    }

    /// The norm as a share of that of the ungated graph; 0 for a graph without edges.
    #[cfg(test)]
    pub(super) fn share(&self) -> f32 {
        if self.whole > 0.0 { self.svd.values.iter().sum::<f32>() / self.whole } else { 0.0 }
    }

    /// Adds `weight` times the gradient of the share by the gates.
    pub(super) fn add_gradient(&self, threads: &Threads, weight: f32, d_gates: &mut [f32]) {
        if self.whole <= 0.0 {
            return;
        }
        let scale = weight / self.whole;
        threads.rows(d_gates, 1, BLOCK, |first, d_gates| {
            for (d, &slope) in d_gates.iter_mut().zip(&self.slopes[first..]) {
                *d += scale * slope;
            }
        });
    }

    /// U Vᵀ at each edge, times what the edge weighs by itself.
    fn refresh_slopes(&mut self, threads: &Threads) {
        let rank = self.svd.rank();
        let graph = self.matrix.graph();
        let (offsets, sources) = (graph.offsets(), graph.sources());
        let (left, right) = (&self.svd.left, &self.svd.right);
        threads.nodes(
            offsets,
            |i| offsets[i],
            &mut self.slopes,
            |nodes, slopes| {
                let first = offsets[nodes.start];
                with_simd(
                    #[inline(always)]
                    || {
                        for i in nodes {
                            let left = &left[i * rank..][..rank];
                            for e in offsets[i]..offsets[i + 1] {
                                let right = &right[sources[e] as usize * rank..][..rank];
                                slopes[e - first] = left.iter().zip(right).map(|(&u, &v)| u * v).sum();
                            }
                        }
                    },
                );
            },
        );
        if let Some(own) = self.graph.weights() {
            self.slopes.iter_mut().zip(&own[..]).for_each(|(slope, own)| *slope *= own);
        }
    }
}

#[cfg(test)]
mod tests {
    use edgepace_graph::Graph;

    use super::*;

    #[test]
    fn the_gradient_of_the_norm_by_the_gates_is_its_difference() {
        let threads = Threads::new(1).unwrap();
        // A wheel: no two of its leading singular values are alike.
        let (a, b) = ([0, 0, 0, 0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 5, 2, 3, 4, 5]);
        let graph = Arc::new(Graph::undirected(6, &a, &b).unwrap());
        let own = |e: usize| 1.0 + 0.1 * (e.min(graph.twins().unwrap()[e] as usize) % 4) as f32;
        let own: Vec<f32> = (0..graph.edges()).map(own).collect();
        let weighted = WeightedGraph::new(Arc::clone(&graph), own).unwrap();
        for graph in [graph.into(), weighted] {
            assert_gradient(&threads, &graph);
        }
    }

    fn assert_gradient(threads: &Threads, weighted: &WeightedGraph) {
        let graph = weighted.graph();
        let twins = graph.twins().unwrap();
        let gates: Vec<f32> =
            (0..graph.edges()).map(|e| 0.5 + 0.05 * e.min(twins[e] as usize) as f32).collect();
        let mut term = LowRank::new(threads, weighted, 6, 1).unwrap();
        let mut share = |gates: &[f32]| {
            (0..4).for_each(|_| term.update(threads, gates).unwrap());
            f64::from(term.share())
        };
        let numeric: Vec<f64> = (0..graph.edges())
            .map(|e| {
                let mut at = |step: f32| {
                    let mut moved = gates.clone();
                    moved[e] += step;
                    share(&moved)
                };
                (at(0.01) - at(-0.01)) / 0.02
            })
            .collect();
        share(&gates);
        let mut found = vec![0.0; graph.edges()];
        term.add_gradient(threads, 1.0, &mut found);
        for (found, numeric) in found.iter().zip(&numeric) {
            assert!((f64::from(*found) - numeric).abs() < 2e-3, "{found} for {numeric}");
        }
    }
    /// Cliques of 3 to 10 nodes, whose leading singular values are 2 to 9, all others 1.
    fn cliques() -> Arc<Graph> {
        let (mut a, mut b, mut nodes) = (Vec::new(), Vec::new(), 0);
        for size in 3..=10 {
            for i in nodes..nodes + size {
                for j in nodes..i {
                    a.push(i);
                    b.push(j);
                }
            }
            nodes += size;
        }
        Arc::new(Graph::undirected(nodes as usize, &a, &b).unwrap())
    }

    #[test]
    fn gates_that_open_again_after_all_were_closed_give_the_norm_of_the_graph() {
        let threads = Threads::new(1).unwrap();
        let graph = cliques();
        let mut term = LowRank::new(&threads, &Arc::clone(&graph).into(), 8, 1).unwrap();
        term.update(&threads, &vec![0.0; graph.edges()]).unwrap();
        assert_eq!(term.share(), 0.0);
        for _ in 0..8 {
            term.update(&threads, &vec![1.0; graph.edges()]).unwrap();
        }
        assert!((term.share() - 1.0).abs() < 1e-4, "{}", term.share());
    }
}
