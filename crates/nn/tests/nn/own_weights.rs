//! Weights that edges have by themselves multiply those that are set, and mean what the formulas of the backbones say.

use std::sync::Arc;

use edgepace_graph::{Graph, GraphError, WeightedGraph};
use edgepace_nn::{Backbone, Extra, Model, NnError};

use crate::shared::{Shape, assert_close, central_differences, relative_error};
use crate::support::{Kind, OUTPUTS, Problem, logits, one_thread, randomise, small_config};

fn problem(shape: Shape) -> Problem {
    Problem::small(3, shape, Kind::Classes)
}

/// A model for a graph, with the parameters of every other one here.
fn model(problem: &Problem, graph: impl Into<WeightedGraph<f64>>, backbone: Backbone) -> Model<f64> {
    let features = Arc::new(problem.dense());
    let mut model = Model::new(graph, features, OUTPUTS, small_config(backbone), 7, &one_thread()).unwrap();
    randomise(&mut model, 3);
    model
}

/// What the edges of the problem's graph weigh by themselves, a constant times something else than what is set.
fn own(problem: &Problem, scale: f64) -> Vec<f64> {
    let twins = problem.graph.twins();
    let of = |edge: usize| twins.map_or(edge, |twins| edge.min(twins[edge] as usize));
    (0..problem.graph.edges()).map(|edge| scale * (0.25 + (of(edge) * 7 % 5) as f64)).collect()
}

fn weighted(problem: &Problem, weights: &[f64]) -> WeightedGraph<f64> {
    WeightedGraph::new(Arc::clone(&problem.graph), weights).unwrap()
}

fn products(problem: &Problem, own: &[f64]) -> Vec<f64> {
    problem.weights.iter().zip(own).map(|(set, own)| set * own).collect()
}

#[test]
fn weights_that_are_set_multiply_the_edges_own_to_the_bit() {
    for shape in Shape::ALL {
        let problem = problem(shape);
        let own = own(&problem, 1.0);
        for backbone in Backbone::ALL {
            let mut model = model(&problem, weighted(&problem, &own), backbone);
            let ones = vec![1.0; own.len()];
            let untouched = logits(&mut model);
            model.set_edge_weights(&ones).unwrap();
            assert_eq!(logits(&mut model), untouched, "{backbone:?}: a weight of 1 changes nothing");
            model.set_edge_weights(&problem.weights).unwrap();
            let found = logits(&mut model);
            model.set_weighted_graph(Arc::clone(&problem.graph), &products(&problem, &own)).unwrap();
            assert_eq!(logits(&mut model), found, "{backbone:?}");
            if backbone != Backbone::Mlp {
                assert_ne!(found, untouched, "{backbone:?}");
            }
        }
    }
}

#[test]
fn weights_of_one_are_no_weights() {
    let problem = problem(Shape::Directed);
    for backbone in Backbone::ALL {
        let ones = weighted(&problem, &vec![1.0; problem.graph.edges()]);
        assert!(ones.weights().is_none());
        let mut plain = model(&problem, Arc::clone(&problem.graph), backbone);
        assert_eq!(logits(&mut model(&problem, ones, backbone)), logits(&mut plain));
    }
}

#[test]
fn the_gradient_is_that_by_the_weights_that_are_set() {
    for shape in Shape::ALL {
        let problem = problem(shape);
        let task = problem.task();
        for backbone in Backbone::ALL {
            let mut model = model(&problem, weighted(&problem, &own(&problem, 1.0)), backbone);
            model.set_edge_weights(&problem.weights).unwrap();
            model.gradients(&task, None, Extra { edges: true, inputs: false }).unwrap();
            let gradient = model.edge_gradients().to_vec();
            let numeric = central_differences(&problem.weights, 1e-5, |moved| {
                model.set_edge_weights(moved).unwrap();
                model.gradients(&task, None, Extra::default()).unwrap()
            });
            assert_close(&format!("{backbone:?}, {shape:?}"), &gradient, &numeric, 1e-6, &mut 0.0);
        }
    }
}

/// A weighted mean does not know the scale of its weights. Sums, degrees beside a self-loop of weight 1, and the scalers of PNA
/// do.
#[test]
fn a_constant_factor_changes_what_the_formulas_say_and_nothing_else() {
    let problem = problem(Shape::TwinsAlike);
    for backbone in Backbone::ALL {
        let of = |scale: f64| {
            let own = weighted(&problem, &own(&problem, scale));
            logits(&mut model(&problem, own, backbone))
        };
        let apart = relative_error(&of(1.0), &of(3.0));
        match backbone {
            Backbone::Mlp => assert_eq!(apart, 0.0),
            Backbone::Sage => assert!(apart < 1e-12, "{apart}"),
            Backbone::Gcn | Backbone::Gin | Backbone::Pna => assert!(apart > 1e-3, "{backbone:?}: {apart}"),
        }
    }
}

/// (1 + ε) h_i + Σ w_ij h_j: weights c times as large are the same as 1 + ε, divided by c, and the whole sum times c.
#[test]
fn gin_with_weights_times_c_is_gin_with_its_root_divided_by_c() {
    let problem = problem(Shape::TwinsApart);
    let hidden = |scale: f64, root: f64| {
        let config = edgepace_nn::ModelConfig { gin_epsilon: root - 1.0, ..small_config(Backbone::Gin) };
        let own = weighted(&problem, &own(&problem, scale));
        let features = Arc::new(problem.dense());
        let mut model: Model<f64> = Model::new(own, features, OUTPUTS, config, 7, &one_thread()).unwrap();
        randomise(&mut model, 3);
        // Biases are not scaled with the sum.
        let biases: Vec<(String, usize)> = model
            .parameters()
            .filter(|part| part.name.starts_with("conv1") && part.name.contains("bias"))
            .map(|part| (part.name.to_owned(), part.values.len()))
            .collect();
        for (name, size) in biases {
            model.set_parameter(&name, &vec![0.0; size]).unwrap();
        }
        model.hidden(None).to_vec()
    };
    let (whole, divided) = (hidden(4.0, 1.1), hidden(1.0, 1.1 / 4.0));
    let scaled: Vec<f64> = divided.iter().map(|unit| 4.0 * unit).collect();
    assert!(relative_error(&whole, &scaled) < 1e-12);
    assert!(relative_error(&whole, &divided) > 1e-3);
}

/// d_i = 1 + Σ w: weights c times as large are those of a self-loop of weight 1 / c.
#[test]
fn gcn_with_weights_times_c_is_gcn_with_its_self_loop_divided_by_c() {
    let problem = problem(Shape::TwinsAlike);
    let own = own(&problem, 3.0);
    let mut found = model(&problem, weighted(&problem, &own), Backbone::Gcn);
    let graph = &problem.graph;
    // Â by hand, with every weight divided by 3 and the self-loop too.
    let nodes = graph.nodes();
    let mut matrix = vec![vec![0.0; nodes]; nodes];
    for node in 0..nodes {
        matrix[node][node] = 1.0 / 3.0;
        for edge in graph.in_edges(node) {
            matrix[node][graph.sources()[edge] as usize] = own[edge] / 3.0;
        }
    }
    let degrees: Vec<f64> = matrix.iter().map(|row| row.iter().sum()).collect();
    let propagate = |rows: &[f64], width: usize| -> Vec<f64> {
        let entry = |i: usize, c: usize| {
            let term = |j: usize| matrix[i][j] / (degrees[i] * degrees[j]).sqrt() * rows[j * width + c];
            (0..nodes).map(term).sum()
        };
        (0..nodes * width).map(|at| entry(at / width, at % width)).collect()
    };
    let parameter = |name: &str| {
        let part = found.parameters().find(|part| part.name == name).unwrap();
        (part.values.to_vec(), part.columns)
    };
    let times = |rows: &[f64], width: usize, (weight, columns): &(Vec<f64>, usize)| -> Vec<f64> {
        let entry =
            |i: usize, c: usize| (0..width).map(|k| rows[i * width + k] * weight[k * columns + c]).sum();
        (0..nodes * columns).map(|at| entry(at / columns, at % columns)).collect()
    };
    let (weight, bias) = (parameter("conv1.weight"), parameter("conv1.bias").0);
    let features: Vec<f64> = problem.features.iter().map(|&x| f64::from(x)).collect();
    let expected = propagate(&times(&features, problem.columns, &weight), weight.1);
    let expected: Vec<f64> =
        expected.iter().enumerate().map(|(at, x)| (x + bias[at % weight.1]).max(0.0)).collect();
    assert!(relative_error(found.hidden(None), &expected) < 1e-12);
}

#[test]
fn an_edge_that_weighs_nothing_is_not_there() {
    for shape in Shape::ALL {
        let problem = problem(shape);
        let mut own = own(&problem, 1.0);
        own.iter_mut().step_by(3).for_each(|weight| *weight = 0.0);
        let kept = problem.graph.select(|edge| own[edge] > 0.0);
        let left: Vec<f64> = kept.edge_of.iter().map(|&edge| own[edge as usize]).collect();
        let left = WeightedGraph::new(Arc::new(kept.graph), left).unwrap();
        for backbone in Backbone::ALL {
            let with = logits(&mut model(&problem, weighted(&problem, &own), backbone));
            let without = logits(&mut model(&problem, left.clone(), backbone));
            assert!(relative_error(&with, &without) < 1e-12, "{backbone:?}, {shape:?}");
        }
    }
}

#[test]
fn a_product_that_is_too_large_is_refused_with_its_edge() {
    let graph = Arc::new(Graph::from_edges(2, &[0, 1], &[1, 0]).unwrap());
    let own = WeightedGraph::new(Arc::clone(&graph), vec![1.0, 1e9]).unwrap();
    let mut problem = problem(Shape::Directed);
    problem.graph = graph;
    problem.features.truncate(2 * problem.columns);
    let mut model = model(&problem, own, Backbone::Gin);
    model.set_edge_weights(&[1.0, 1.0]).unwrap();
    let error = model.set_edge_weights(&[1.0, 2.0]).unwrap_err();
    assert!(matches!(error, NnError::Graph(GraphError::BadWeight { position: 1, value: 2e9 })), "{error}");
}

#[test]
fn a_dense_structure_begins_with_the_edges_own_weights() {
    let graph = Arc::new(Graph::from_edges(3, &[0, 1, 1], &[1, 0, 2]).unwrap());
    let mut problem = problem(Shape::Directed);
    problem.graph = Arc::clone(&graph);
    problem.features.truncate(3 * problem.columns);
    // By target, then source: 1 → 0, 0 → 1, 1 → 2.
    let own = WeightedGraph::new(graph, vec![0.5, 0.75, 2.0]).unwrap();
    let mut model = model(&problem, own.clone(), Backbone::Gcn);
    let dense = model.add_dense_structure(own).unwrap();
    assert_eq!(model.matrix_of(dense).unwrap(), [0.0, 0.75, 0.0, 0.75, 0.0, 2.0, 0.0, 2.0, 0.0]);
}
