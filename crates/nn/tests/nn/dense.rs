//! A structure with a weight for every pair of nodes against the same weights on a complete graph, and its gradient
//! against central differences.

use std::sync::Arc;

use edgepace_graph::{Graph, MAX_EDGE_WEIGHT};
use edgepace_nn::{Adam, AdamConfig, Backbone, Extra, Model, Threads};

use crate::shared::{Draws, Shape, assert_close, central_differences};
use crate::support::{Kind, Problem, logits, one_thread, randomise, small_config};

const DENSE_BACKBONES: [Backbone; 3] = [Backbone::Gcn, Backbone::Gin, Backbone::Sage];
const EDGES: Extra = Extra { edges: true, inputs: false };

fn problem() -> Problem {
    Problem::small(3, Shape::TwinsAlike, Kind::Classes)
}

/// Random weights above the diagonal, row by row; some are 0.
fn pairs(nodes: usize) -> Vec<f64> {
    let mut draws = Draws::new(5);
    (0..nodes * (nodes - 1) / 2).map(|i| if i % 5 == 0 { 0.0 } else { draws.unit() }).collect()
}

fn set<T: edgepace_nn::Real>(model: &mut Model<T>, pairs: &[f64]) {
    let nodes = model.graph().nodes();
    let mut next = pairs.iter();
    model
        .update_matrix(|matrix, _| {
            for i in 0..nodes {
                for j in i + 1..nodes {
                    let value = T::of(*next.next().unwrap());
                    (matrix[i * nodes + j], matrix[j * nodes + i]) = (value, value);
                }
            }
        })
        .unwrap();
}

/// A model that works on a dense structure.
fn dense_model(problem: &Problem, backbone: Backbone, sparse: bool) -> Model<f64> {
    let features = if sparse { problem.sparse() } else { problem.dense() };
    let mut model: Model<f64> = problem.model(&features, &small_config(backbone), &one_thread());
    randomise(&mut model, 11);
    let dense = model.add_dense_structure(Arc::clone(model.graph())).unwrap();
    model.on(dense);
    model
}

#[test]
fn at_first_it_is_the_graph_without_weights() {
    let problem = problem();
    for backbone in DENSE_BACKBONES {
        let mut model = dense_model(&problem, backbone, true);
        let dense = logits(&mut model);
        let first = model.on(edgepace_nn::StructureId::FIRST);
        first.set_edge_weights(&vec![1.0; problem.graph.edges()]).unwrap();
        assert_close("logits", &dense, &logits(first), 1e-12, &mut 0.0);
    }
}

#[test]
fn it_gives_logits_and_gradients_of_the_same_weights_on_a_complete_graph() {
    let problem = problem();
    let nodes = problem.graph.nodes();
    let pairs = pairs(nodes);
    let ends: Vec<(u32, u32)> =
        (0..nodes as u32).flat_map(|i| (i + 1..nodes as u32).map(move |j| (i, j))).collect();
    let (a, b): (Vec<u32>, Vec<u32>) = ends.iter().copied().unzip();
    let complete = Arc::new(Graph::undirected(nodes, &a, &b).unwrap());
    let mut weights = vec![0.0; complete.edges()];
    for (&(i, j), &w) in ends.iter().zip(&pairs) {
        weights[complete.edge_id(i, j).unwrap() as usize] = w;
        weights[complete.edge_id(j, i).unwrap() as usize] = w;
    }
    for backbone in DENSE_BACKBONES {
        for sparse in [false, true] {
            let mut model = dense_model(&problem, backbone, sparse);
            set(&mut model, &pairs);
            let dense_logits = logits(&mut model);
            model.gradients(&problem.task(), Some(2), EDGES).unwrap();
            let gradient = model.edge_gradients().to_vec();
            let edges = model.add_structure(Arc::clone(&complete)).unwrap();
            let model = model.on(edges);
            model.set_edge_weights(&weights).unwrap();
            assert_close("logits", &dense_logits, &logits(model), 1e-12, &mut 0.0);
            model.gradients(&problem.task(), Some(2), EDGES).unwrap();
            for (target, range) in complete.offsets().windows(2).enumerate() {
                for edge in range[0]..range[1] {
                    let source = complete.sources()[edge] as usize;
                    let (dense, plain) = (gradient[target * nodes + source], model.edge_gradients()[edge]);
                    assert!((dense - plain).abs() < 1e-12, "{backbone:?} {source}→{target}: {dense} {plain}");
                }
            }
        }
    }
}

#[test]
fn its_gradient_by_the_weight_of_a_pair_is_the_central_difference() {
    let problem = problem();
    let nodes = problem.graph.nodes();
    for backbone in DENSE_BACKBONES {
        for sparse in [false, true] {
            let mut model = dense_model(&problem, backbone, sparse);
            // Away from 0, below which there is no weight.
            let pairs: Vec<f64> = pairs(nodes).iter().map(|w| 0.1 + w).collect();
            set(&mut model, &pairs);
            model.gradients(&problem.task(), Some(3), EDGES).unwrap();
            let by_entry = model.edge_gradients();
            let gradient: Vec<f64> = (0..nodes)
                .flat_map(|i| (i + 1..nodes).map(move |j| (i, j)))
                .map(|(i, j)| by_entry[i * nodes + j] + by_entry[j * nodes + i])
                .collect();
            let numeric = central_differences(&pairs, 1e-5, |moved| {
                set(&mut model, moved);
                model.gradients(&problem.task(), Some(3), Extra::default()).unwrap()
            });
            assert_close(&format!("{backbone:?}"), &gradient, &numeric, 1e-6, &mut 0.0);
        }
    }
}

#[test]
fn training_on_it_gives_the_same_bits_on_any_number_of_threads() {
    let mut draws = Draws::new(9);
    let graph = Shape::TwinsAlike.graph(300, 900, &mut draws);
    let weights = vec![1.0; graph.edges()];
    let problem = Problem::on(graph, weights, 6, Kind::Classes, &mut draws);
    for backbone in DENSE_BACKBONES {
        let run = |threads: usize| {
            let threads = Threads::new(threads).unwrap();
            let mut model: Model<f32> = problem.model(&problem.sparse(), &small_config(backbone), &threads);
            let mut adam = Adam::new(AdamConfig::default(), model.parameter_count()).unwrap();
            let dense = model.add_dense_structure(Arc::clone(model.graph())).unwrap();
            let model = model.on(dense);
            for epoch in 0..3 {
                model.gradients(&problem.task(), Some(epoch), EDGES).unwrap();
                model.optimise(&mut adam).unwrap();
                model
                    .update_matrix(|matrix, gradient| {
                        for i in 0..300 {
                            for j in 0..300 {
                                let step = 0.5 * (gradient[i * 300 + j] + gradient[j * 300 + i]);
                                let moved = (matrix[i * 300 + j] - 10.0 * step).clamp(0.0, 1.0);
                                matrix[i * 300 + j] = if i == j { 0.0 } else { moved };
                            }
                        }
                    })
                    .unwrap();
            }
            (logits(model), model.matrix().unwrap().to_vec())
        };
        let alone = run(1);
        assert!(alone.1.iter().any(|&w| w > 0.0 && w < 1.0), "it has learned");
        for threads in [2, 8] {
            assert_eq!(run(threads), alone, "{backbone:?} on {threads} threads");
        }
    }
}

#[test]
fn what_was_kept_of_older_weights_is_not_used_again() {
    let problem = problem();
    let pairs = pairs(problem.graph.nodes());
    for backbone in DENSE_BACKBONES {
        let mut used = dense_model(&problem, backbone, true);
        used.gradients(&problem.task(), Some(0), EDGES).unwrap();
        set(&mut used, &pairs);
        let mut fresh = dense_model(&problem, backbone, true);
        set(&mut fresh, &pairs);
        assert_eq!(logits(&mut used), logits(&mut fresh), "{backbone:?}");
    }
}

#[test]
fn weights_that_are_no_weights_are_refused_and_so_are_backbones_that_need_edges() {
    let problem = problem();
    for bad in [-0.5, MAX_EDGE_WEIGHT.next_up(), f64::NAN, f64::INFINITY] {
        let mut model = dense_model(&problem, Backbone::Gcn, false);
        assert!(model.update_matrix(|matrix, _| matrix[7] = bad).is_err(), "{bad}");
    }
    let mut model = dense_model(&problem, Backbone::Gcn, false);
    let largest = |matrix: &mut [f64], _: &[f64]| matrix[..8].fill(MAX_EDGE_WEIGHT);
    assert!(model.update_matrix(largest).is_ok(), "the limit is of each weight, not of their sum");
    for backbone in [Backbone::Pna, Backbone::Mlp] {
        let mut model: Model<f32> = problem.model(&problem.dense(), &small_config(backbone), &one_thread());
        assert!(model.add_dense_structure(Arc::clone(model.graph())).is_err());
    }
}
