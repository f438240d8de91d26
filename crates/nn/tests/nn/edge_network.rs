//! The network that scores edges: its scores against the formula, its gradients against differences, the same bits on any
//! number of threads.

use std::sync::Arc;

use edgepace_graph::Graph;
use edgepace_nn::{AdamConfig, Backbone, EdgeNetwork, Input, Model, NnError, Threads};

use crate::shared::{Draws, Shape, assert_close, central_differences};
use crate::support::{Kind, Problem, one_thread, small_config};

const HIDDEN: usize = 16;

/// A network with random parameters, biases too.
fn network(graph: &Arc<Graph>, columns: usize, seed: u64) -> EdgeNetwork<f64> {
    let mut network =
        EdgeNetwork::new(Arc::clone(graph), columns, HIDDEN, AdamConfig::default(), (seed, 0)).unwrap();
    let random = Draws::new(seed).vector(network.parameter_values().len());
    network.set_parameter_values(&random).unwrap();
    network
}

/// v · ReLU(x_i W_a + x_j W_b + b) + c, one edge after another.
fn formula(problem: &Problem, parameters: &[f64]) -> Vec<f64> {
    let (columns, graph) = (problem.columns, &problem.graph);
    let (weight, rest) = parameters.split_at(columns * 2 * HIDDEN);
    let x = |node: u32, column: usize| f64::from(problem.features[node as usize * columns + column]);
    let score = |source: u32, target: u32| {
        let units = (0..HIDDEN).map(|unit| {
            let sum: f64 = (0..columns)
                .map(|c| {
                    let row = &weight[c * 2 * HIDDEN..];
                    x(target, c) * row[unit] + x(source, c) * row[HIDDEN + unit]
                })
                .sum();
            (sum + rest[unit]).max(0.0) * rest[HIDDEN + unit]
        });
        units.sum::<f64>() + rest[2 * HIDDEN]
    };
    graph.sources().iter().zip(graph.targets()).map(|(&source, target)| score(source, target)).collect()
}

#[test]
fn scores_are_those_of_the_formula_and_gradients_are_central_differences() {
    let (threads, mut worst) = (one_thread(), 0.0);
    for (seed, shape) in (1..).zip(Shape::ALL) {
        let problem = Problem::small(seed, shape, Kind::Classes);
        for features in [problem.dense(), problem.sparse()] {
            let model: Model<f64> = problem.model(&features, &small_config(Backbone::Gcn), &threads);
            let mut network = network(&problem.graph, problem.columns, seed);
            let parameters = network.parameter_values().to_vec();
            let scores = network.scores(&threads, model.inputs()).unwrap().to_vec();
            assert_close("scores", &scores, &formula(&problem, &parameters), 1e-12, &mut worst);

            let by_score = Draws::new(seed + 9).vector(scores.len());
            let found = network.gradient(&threads, model.inputs(), &by_score).unwrap().to_vec();
            let numeric = central_differences(&parameters, 1e-6, |moved| {
                network.set_parameter_values(moved).unwrap();
                let scores = network.scores(&threads, model.inputs()).unwrap();
                scores.iter().zip(&by_score).map(|(score, d)| score * d).sum()
            });
            assert_close(&format!("{shape:?}"), &found, &numeric, 1e-6, &mut worst);
        }
    }
    println!("worst relative error {worst:e}");
}

#[test]
fn training_a_network_gives_the_same_bits_on_any_number_of_threads() {
    let mut draws = Draws::new(4);
    for shape in Shape::ALL {
        let graph = Arc::new(shape.graph(900, 4000, &mut draws));
        let rows: Vec<f32> = draws.vector(900 * 7).iter().map(|&x| x as f32).collect();
        let d: Vec<f32> = draws.vector(graph.edges()).iter().map(|&x| x as f32).collect();
        let trained = |count: usize| {
            let threads = Threads::new(count).unwrap();
            let adam = AdamConfig::default();
            let mut network = EdgeNetwork::<f32>::new(Arc::clone(&graph), 7, 32, adam, (1, 0)).unwrap();
            for _ in 0..3 {
                network.scores(&threads, Input::dense(&rows, 900, 7)).unwrap();
                network.gradient(&threads, Input::dense(&rows, 900, 7), &d).unwrap();
                network.step(&threads);
            }
            (
                network.parameter_values().to_vec(),
                network.scores(&threads, Input::dense(&rows, 900, 7)).unwrap().to_vec(),
            )
        };
        let one = trained(1);
        assert!(one == trained(2) && one == trained(8), "{shape:?}");
    }
}

#[test]
fn a_graph_without_edges_has_no_scores_and_no_gradient() {
    let graph = Arc::new(Graph::from_edges(3, &[], &[]).unwrap());
    let mut network = network(&graph, 2, 1);
    let rows = [1.0; 6];
    assert!(network.scores(&one_thread(), Input::dense(&rows, 3, 2)).unwrap().is_empty());
    let gradient = network.gradient(&one_thread(), Input::dense(&rows, 3, 2), &[]).unwrap();
    assert!(gradient.iter().all(|&g| g == 0.0));
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let graph = Arc::new(Graph::undirected(3, &[0], &[1]).unwrap());
    let adam = AdamConfig::default();
    assert!(matches!(
        EdgeNetwork::<f32>::new(Arc::clone(&graph), 2, 17, adam, (0, 0)),
        Err(NnError::Refused(_))
    ));
    let mut network = network(&graph, 2, 1);
    let rows = [1.0; 9];
    assert!(matches!(network.scores(&one_thread(), Input::dense(&rows, 3, 3)), Err(NnError::Refused(_))));
}
