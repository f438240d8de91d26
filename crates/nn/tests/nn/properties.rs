//! What must hold on every graph, the degenerate ones included.

use std::sync::Arc;

use edgepace_graph::{Classes, Features, Graph, Labels};
use edgepace_nn::{Adam, AdamConfig, Backbone, Extra, Model, NnError, Task};
use proptest::prelude::*;

use crate::shared::{Draws, relative_error};
use crate::support::{Kind, OUTPUTS, Problem, logits, one_thread, owned, randomise, real, small_config};

/// A graph of 2 to 10 nodes with up to 25 edges, directed or not, and a seed for the rest.
fn problems() -> impl Strategy<Value = (Problem, u64)> {
    let edges = (2_u32..11).prop_flat_map(|nodes| {
        (Just(nodes), prop::collection::vec((0..nodes, 0..nodes), 0..25), any::<bool>(), any::<u64>())
    });
    edges.prop_map(|(nodes, edges, directed, seed)| {
        let (a, b): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
        let build = if directed { Graph::from_edges } else { Graph::undirected };
        let graph = build(nodes as usize, &a, &b).unwrap();
        let mut draws = Draws::new(seed);
        let weights = (0..graph.edges()).map(|_| 0.1 + draws.unit()).collect();
        (Problem::on(graph, weights, 4, Kind::Classes, &mut draws), seed)
    })
}

fn model(problem: &Problem, features: &Features, backbone: Backbone) -> Model<f64> {
    let mut model = problem.model(features, &small_config(backbone), &one_thread());
    randomise(&mut model, 3);
    model
}

/// The same problem with node i renamed to `place[i]`.
fn permuted(problem: &Problem, place: &[usize]) -> Problem {
    let graph = &problem.graph;
    let renamed = |ids: &[u32]| ids.iter().map(|&id| place[id as usize] as u32).collect::<Vec<_>>();
    let (sources, targets) = (renamed(graph.sources()), renamed(&graph.targets()));
    let renamed_graph = Graph::from_edges(graph.nodes(), &sources, &targets).unwrap();
    let mut weights = vec![0.0; graph.edges()];
    for (edge, (&source, &target)) in sources.iter().zip(&targets).enumerate() {
        weights[renamed_graph.edge_id(source, target).unwrap() as usize] = problem.weights[edge];
    }
    let mut features = problem.features.clone();
    for (row, &to) in problem.features.chunks(problem.columns).zip(place) {
        features[to * problem.columns..][..problem.columns].copy_from_slice(row);
    }
    Problem { graph: Arc::new(renamed_graph), weights, features, ..problem.clone() }
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    relative_error(found, expected) <= 1e-12
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn renaming_nodes_renames_the_rows_of_the_logits((problem, seed) in problems()) {
        let nodes = problem.graph.nodes();
        let mut draws = Draws::new(seed ^ 1);
        let mut place: Vec<usize> = (0..nodes).collect();
        for i in (1..nodes).rev() {
            place.swap(i, draws.below(i + 1));
        }
        let renamed = permuted(&problem, &place);
        for backbone in Backbone::ALL {
            let before = logits(&mut model(&problem, &problem.dense(), backbone));
            let after = logits(&mut model(&renamed, &renamed.dense(), backbone));
            let back: Vec<f64> = place.iter().flat_map(|&to| after[to * OUTPUTS..][..OUTPUTS].to_vec()).collect();
            prop_assert!(close(&back, &before), "{backbone:?}: {back:?} is not {before:?}");
        }
    }

    #[test]
    fn weight_zero_is_the_same_as_removing_the_edge((problem, seed) in problems()) {
        let mut draws = Draws::new(seed ^ 2);
        let kept: Vec<bool> = problem.weights.iter().map(|_| draws.unit() < 0.6).collect();
        let zeroed: Vec<f64> = problem.weights.iter().zip(&kept).map(|(&w, &k)| if k { w } else { 0.0 }).collect();
        let smaller = problem.graph.select(|edge| kept[edge]);
        let smaller_weights: Vec<f64> = smaller.edge_of.iter().map(|&e| problem.weights[e as usize]).collect();
        let task = problem.task();
        let extra = Extra { edges: true, inputs: true };
        for backbone in Backbone::ALL {
            // Both have been used with all edges, so that what was kept of that must be given up.
            let mut silenced = model(&problem, &problem.dense(), backbone);
            silenced.evaluate();
            silenced.set_edge_weights(&zeroed).unwrap();
            let mut removed = model(&problem, &problem.dense(), backbone);
            removed.evaluate();
            removed.set_weighted_graph(Arc::new(smaller.graph.clone()), &smaller_weights).unwrap();

            prop_assert!(close(&logits(&mut silenced), &logits(&mut removed)), "{backbone:?}: logits");
            prop_assert!(close(silenced.embeddings(None), removed.embeddings(None)), "{backbone:?}: embeddings");
            for epoch in [None, Some(1)] {
                silenced.gradients(&task, epoch, extra).unwrap();
                removed.gradients(&task, epoch, extra).unwrap();
                let pairs = owned(silenced.parameter_gradients()).into_iter().zip(owned(removed.parameter_gradients()));
                for ((name, found), (_, expected)) in pairs {
                    prop_assert!(close(&found, &expected), "{backbone:?}: gradient by {name}");
                }
                prop_assert!(close(silenced.input_gradients(), removed.input_gradients()), "{backbone:?}: by inputs");
                let by_kept: Vec<f64> =
                    smaller.edge_of.iter().map(|&e| silenced.edge_gradients()[e as usize]).collect();
                prop_assert!(close(&by_kept, removed.edge_gradients()), "{backbone:?}: by the weights that stay");
            }
        }
    }

    #[test]
    fn dense_and_sparse_features_with_the_same_numbers_give_the_same_logits((problem, _) in problems()) {
        for backbone in Backbone::ALL {
            let dense = logits(&mut model(&problem, &problem.dense(), backbone));
            let sparse = logits(&mut model(&problem, &problem.sparse(), backbone));
            prop_assert!(close(&sparse, &dense), "{backbone:?}");
        }
    }

    #[test]
    fn the_mlp_ignores_edges((problem, _) in problems()) {
        let alone = Graph::from_edges(problem.graph.nodes(), &[], &[]).unwrap();
        let without = Problem { graph: Arc::new(alone), weights: Vec::new(), ..problem.clone() };
        let mut with = model(&problem, &problem.dense(), Backbone::Mlp);
        let mut without = model(&without, &problem.dense(), Backbone::Mlp);
        prop_assert_eq!(logits(&mut with), logits(&mut without));
        let task = problem.task();
        let loss = with.gradients(&task, Some(1), Extra { edges: true, inputs: false }).unwrap();
        prop_assert_eq!(loss, without.gradients(&task, Some(1), Extra::default()).unwrap());
        prop_assert_eq!(owned(with.parameter_gradients()), owned(without.parameter_gradients()));
        prop_assert_eq!(with.edge_gradients(), &vec![0.0; problem.graph.edges()]);
    }

    #[test]
    fn training_with_some_weights_zero_keeps_every_number_finite((problem, seed) in problems()) {
        let mut draws = Draws::new(seed ^ 3);
        for backbone in Backbone::ALL {
            let mut model: Model<f32> = problem.model(&problem.dense(), &small_config(backbone), &one_thread());
            let mut adam = Adam::new(AdamConfig::default(), model.parameter_count()).unwrap();
            for epoch in 0..5 {
                let weights: Vec<f64> =
                    problem.weights.iter().map(|&w| if draws.unit() < 0.5 { w } else { 0.0 }).collect();
                model.set_edge_weights(&real(&weights)).unwrap();
                let loss = model.train(&problem.task(), &mut adam, epoch).unwrap();
                prop_assert!(loss.is_finite(), "{backbone:?}: loss {loss}");
            }
            prop_assert!(logits(&mut model).iter().all(|l| l.is_finite()), "{backbone:?}");
        }
    }
}

/// Trains a few epochs, evaluates, and asks for everything; every number that comes out must be finite.
fn assert_trains(problem: &Problem, features: &Features, backbone: Backbone, claim: &str) {
    let mut model: Model<f32> = problem.model(features, &small_config(backbone), &one_thread());
    let mut adam = Adam::new(AdamConfig::default(), model.parameter_count()).unwrap();
    let task = problem.task();
    for epoch in 0..3 {
        let loss = model.train(&task, &mut adam, epoch).unwrap();
        assert!(loss.is_finite(), "{claim}: loss {loss}");
    }
    model.gradients(&task, Some(9), Extra { edges: true, inputs: true }).unwrap();
    assert_eq!(model.edge_gradients().len(), problem.graph.edges(), "{claim}");
    assert_eq!(model.input_gradients().len(), problem.features.len(), "{claim}");
    let mut numbers = model.edge_gradients().to_vec();
    numbers.extend(model.input_gradients());
    numbers.extend(model.parameter_gradients().flat_map(|p| p.values.to_vec()));
    numbers.extend(model.embeddings(None));
    numbers.extend(logits(&mut model));
    assert!(numbers.iter().all(|x| x.is_finite()), "{claim}");
    let nodes = problem.graph.nodes();
    assert_eq!(model.evaluate().predictions().len(), nodes, "{claim}");
}

fn assert_trains_on(graph: &Graph, columns: usize, weight: f64, claim: &str) {
    for backbone in Backbone::ALL {
        for kind in [Kind::Classes, Kind::Many] {
            let mut draws = Draws::new(1);
            let problem = Problem::on(graph.clone(), vec![weight; graph.edges()], columns, kind, &mut draws);
            assert_trains(&problem, &problem.dense(), backbone, &format!("{backbone:?} on {claim}, dense"));
            assert_trains(&problem, &problem.sparse(), backbone, &format!("{backbone:?} on {claim}, sparse"));
        }
    }
}

#[test]
fn graphs_with_one_node_no_edges_or_isolated_nodes_train() {
    assert_trains_on(&Graph::from_edges(1, &[], &[]).unwrap(), 4, 1.0, "one node");
    assert_trains_on(&Graph::from_edges(7, &[], &[]).unwrap(), 4, 1.0, "no edges");
    assert_trains_on(&Graph::undirected(7, &[0, 1], &[1, 2]).unwrap(), 4, 1.0, "isolated nodes");
    assert_trains_on(&Graph::from_edges(7, &[0, 1], &[1, 2]).unwrap(), 4, 1.0, "nodes without in-edges");
    assert_trains_on(&Graph::undirected(7, &[0, 1], &[1, 2]).unwrap(), 4, 0.0, "weights all zero");
}

#[test]
fn a_node_set_without_features_trains() {
    let graph = Graph::undirected(5, &[0, 1, 2], &[1, 2, 3]).unwrap();
    assert_trains_on(&graph, 0, 1.0, "no features");
}

/// Curricula multiply several factors below 1: their weights can be as small as numbers get.
#[test]
fn weights_far_below_one_keep_every_logit_finite() {
    let graph = Graph::undirected(5, &[0, 1, 2, 0], &[1, 2, 3, 2]).unwrap();
    for backbone in Backbone::ALL {
        let problem =
            Problem::on(graph.clone(), vec![1e-41; graph.edges()], 4, Kind::Classes, &mut Draws::new(1));
        let mut model: Model<f32> = problem.model(&problem.dense(), &small_config(backbone), &one_thread());
        assert!(logits(&mut model).iter().all(|l| l.is_finite()), "{backbone:?}");
        model.gradients(&problem.task(), Some(1), Extra::default()).unwrap();
        assert!(model.parameter_gradients().all(|p| p.values.iter().all(|x| x.is_finite())), "{backbone:?}");
    }
}

#[test]
fn node_weights_far_below_one_count_as_any_others_in_the_same_ratio() {
    let problem =
        Problem::on(Graph::from_edges(4, &[], &[]).unwrap(), vec![], 4, Kind::Classes, &mut Draws::new(1));
    let mut model: Model<f32> = problem.model(&problem.dense(), &small_config(Backbone::Mlp), &one_thread());
    let mut loss = |weight: f32| {
        let task = Task::weighted(Arc::clone(&problem.labels), vec![weight, 0.0, weight, weight]).unwrap();
        model.gradients(&task, None, Extra::default()).unwrap()
    };
    let (small, one) = (loss(1e-40), loss(1.0));
    assert!((small - one).abs() < 1e-6 * one, "{small} instead of {one}");
}

#[test]
fn a_graph_without_nodes_evaluates_and_has_nothing_to_train_on() {
    for backbone in Backbone::ALL {
        let graph = Graph::from_edges(0, &[], &[]).unwrap();
        let labels: Labels = Classes::new(OUTPUTS, Vec::new()).unwrap().into();
        let problem = Problem {
            graph: Arc::new(graph),
            weights: Vec::new(),
            columns: 4,
            features: Vec::new(),
            labels: Arc::new(labels),
            node_weights: Vec::new(),
        };
        for features in [problem.dense(), problem.sparse()] {
            let mut model = model(&problem, &features, backbone);
            assert!(model.evaluate().predictions().is_empty(), "{backbone:?}");
            assert!(model.embeddings(None).is_empty(), "{backbone:?}");
            let error = Task::<f64>::new(Arc::clone(&problem.labels), &[]).unwrap_err();
            assert!(matches!(error, NnError::EmptyTrainingSet), "{error:?}");
        }
    }
}
