//! The same bits for any number of threads, at every repetition, and whatever was asked of the model in between.

use std::sync::Arc;

use edgepace_graph::Features;
use edgepace_nn::{Adam, AdamConfig, Backbone, Extra, Metric, Model, ModelConfig, StructureId, Threads};

use crate::shared::{Draws, Shape};
use crate::support::{Kind, Problem, logits, one_thread, real, small_config};

/// A graph on which every kernel really cuts its work into pieces.
fn large(columns: usize, kind: Kind) -> Problem {
    let mut draws = Draws::new(1);
    let graph = Shape::TwinsApart.graph(3000, 10_000, &mut draws);
    let weights = Shape::TwinsApart.weights(&graph, &mut draws);
    Problem::on(graph, weights, columns, kind, &mut draws)
}

/// Bits of all parameters and logits after training with edge weights that change at every epoch.
fn trained(
    problem: &Problem,
    features: &Features,
    backbone: Backbone,
    threads: usize,
    epochs: u32,
) -> Vec<u32> {
    let config = ModelConfig { hidden: 16, ..ModelConfig::new(backbone) };
    let mut model: Model<f32> = problem.model(features, &config, &Threads::new(threads).unwrap());
    let mut adam = Adam::new(AdamConfig::default(), model.parameter_count()).unwrap();
    let task = problem.task();
    for epoch in 0..epochs {
        let mut draws = Draws::new(u64::from(epoch));
        let weights: Vec<f64> = problem.weights.iter().map(|w| (w * draws.signed()).max(0.0)).collect();
        model.set_edge_weights(&real(&weights)).unwrap();
        model.train(&task, &mut adam, epoch).unwrap();
    }
    bits(&mut model)
}

fn bits(model: &mut Model<f32>) -> Vec<u32> {
    let parameters: Vec<f32> = model.parameters().flat_map(|p| p.values.to_vec()).collect();
    parameters.into_iter().chain(logits(model)).map(f32::to_bits).collect()
}

fn assert_same_bits(problem: &Problem, features: &Features, backbone: Backbone, epochs: u32) {
    let expected = trained(problem, features, backbone, 1, epochs);
    assert!(expected.iter().all(|&bits| f32::from_bits(bits).is_finite()), "{backbone:?}");
    for threads in [1, 2, 8] {
        let found = trained(problem, features, backbone, threads, epochs);
        assert!(found == expected, "{backbone:?} differs with {threads} threads");
    }
}

#[test]
fn fifty_epochs_on_dense_features_end_in_the_same_bits_with_1_2_and_8_threads() {
    let problem = large(12, Kind::Classes);
    for backbone in Backbone::ALL {
        assert_same_bits(&problem, &problem.dense(), backbone, 50);
    }
}

#[test]
fn fifty_epochs_on_sparse_features_end_in_the_same_bits_with_1_2_and_8_threads() {
    let problem = large(12, Kind::Classes);
    for backbone in Backbone::ALL {
        assert_same_bits(&problem, &problem.sparse(), backbone, 50);
    }
}

/// Wide features are cut in other ways than narrow ones. (PNA's first map would be 600 × 600: too slow here.)
#[test]
fn epochs_on_wide_dense_features_end_in_the_same_bits_with_1_2_and_8_threads() {
    let problem = large(600, Kind::Classes);
    for backbone in [Backbone::Gcn, Backbone::Gin, Backbone::Sage, Backbone::Mlp] {
        assert_same_bits(&problem, &problem.dense(), backbone, 3);
    }
}

/// What only some callers ask for: gradients by edge weights and inputs, node losses, embeddings, many labels.
#[test]
fn everything_else_that_a_model_tells_has_the_same_bits_with_1_2_and_8_threads() {
    let problem = large(12, Kind::Many);
    for backbone in Backbone::ALL {
        let told = |threads: usize| {
            let config = ModelConfig { hidden: 16, ..ModelConfig::new(backbone) };
            let mut model: Model<f32> =
                problem.model(&problem.dense(), &config, &Threads::new(threads).unwrap());
            model.gradients(&problem.task(), Some(3), Extra { edges: true, inputs: true }).unwrap();
            let gradients: Vec<f32> = model.parameter_gradients().flat_map(|p| p.values.to_vec()).collect();
            let parts = [
                gradients,
                model.edge_gradients().to_vec(),
                model.input_gradients().to_vec(),
                model.node_losses().to_vec(),
                model.embeddings(None).to_vec(),
            ];
            parts.map(|part| part.into_iter().map(f32::to_bits).collect::<Vec<u32>>())
        };
        let expected = told(1);
        assert!(expected.iter().all(|part| !part.is_empty()), "{backbone:?}");
        for threads in [2, 8] {
            assert!(told(threads) == expected, "{backbone:?} differs with {threads} threads");
        }
    }
}

#[test]
fn another_seed_ends_in_other_bits() {
    let problem = Problem::small(1, Shape::TwinsAlike, Kind::Classes);
    let build = |seed| {
        let config = small_config(Backbone::Gcn);
        let graph = Arc::clone(&problem.graph);
        Model::<f32>::new(graph, Arc::new(problem.dense()), 3, config, seed, &one_thread()).unwrap()
    };
    assert_ne!(bits(&mut build(1)), bits(&mut build(2)));
}

/// What is done between two training steps.
type Between = fn(&mut Model<f32>, &Problem);

/// Products are kept from call to call; none of these may make a step use a stale one.
#[test]
fn what_is_asked_between_epochs_changes_no_bit() {
    let betweens: [(&str, Between); 5] = [
        ("scores a few nodes", |model, problem| {
            model.score(Metric::default_for(&problem.labels), &problem.labels, &[3, 17, 40]).unwrap();
        }),
        ("evaluates", |model, _| {
            model.evaluate();
        }),
        ("asks for embeddings", |model, _| {
            model.embeddings(None);
        }),
        ("sets the same edge weights again", |model, problem| {
            model.set_edge_weights(&real(&problem.weights)).unwrap();
        }),
        ("looks at other edge weights and comes back", |model, problem| {
            model.set_edge_weights(&vec![1.0; problem.weights.len()]).unwrap();
            model.evaluate();
            model.set_edge_weights(&real(&problem.weights)).unwrap();
        }),
    ];
    // Inputs narrower and wider than the hidden layer: they are propagated before or after the map.
    for columns in [3, 40] {
        let mut draws = Draws::new(4);
        let graph = Shape::TwinsApart.graph(60, 150, &mut draws);
        let weights = Shape::TwinsApart.weights(&graph, &mut draws);
        let problem = Problem::on(graph, weights, columns, Kind::Classes, &mut draws);
        for backbone in Backbone::ALL {
            for features in [problem.dense(), problem.sparse()] {
                let train = |between: Option<Between>| {
                    let mut model: Model<f32> =
                        problem.model(&features, &small_config(backbone), &one_thread());
                    let mut adam = Adam::new(AdamConfig::default(), model.parameter_count()).unwrap();
                    for epoch in 0..12 {
                        model.train(&problem.task(), &mut adam, epoch).unwrap();
                        if let Some(between) = between {
                            between(&mut model, &problem);
                        }
                    }
                    bits(&mut model)
                };
                let expected = train(None);
                for (what, between) in betweens {
                    assert!(train(Some(between)) == expected, "{backbone:?} that {what} differs");
                }
            }
        }
    }
}

#[test]
fn a_model_that_took_a_detour_over_another_graph_is_the_same_again() {
    for backbone in Backbone::ALL {
        let problem = Problem::small(3, Shape::TwinsApart, Kind::Classes);
        let mut model: Model<f32> = problem.model(&problem.dense(), &small_config(backbone), &one_thread());
        let before = bits(&mut model);
        let half = problem.graph.select(|edge| edge % 2 == 0);
        model.set_graph(Arc::new(half.graph)).unwrap();
        let on_half = bits(&mut model);
        assert_eq!(on_half == before, backbone == Backbone::Mlp, "{backbone:?} on half of the edges");
        model.set_graph(Arc::clone(&problem.graph)).unwrap();
        model.set_edge_weights(&real(&problem.weights)).unwrap();
        assert_eq!(bits(&mut model), before, "{backbone:?}");
    }
}

/// Training on some edges and evaluating on others, by taking turns on structures of one model, is the same to the last
/// bit as setting graph and weights to and fro; also when one of them rests now and then.
#[test]
fn structures_that_take_turns_do_not_disturb_each_other() {
    let problem = large(12, Kind::Classes);
    let graph = Arc::clone(&problem.graph);
    let half = Arc::new(graph.select(|edge| edge % 3 != 0).graph);
    let weights: Vec<f32> = real(&problem.weights);
    for (features, backbone) in
        Backbone::ALL.into_iter().flat_map(|b| [(problem.dense(), b), (problem.sparse(), b)])
    {
        let config = ModelConfig { hidden: 16, ..ModelConfig::new(backbone) };
        let threads = Threads::new(2).unwrap();
        let task = problem.task();
        let mut turns: Model<f32> = problem.model(&features, &config, &threads);
        let mut switched: Model<f32> = problem.model(&features, &config, &threads);
        let mut adams = [(); 2].map(|()| Adam::new(AdamConfig::default(), turns.parameter_count()).unwrap());
        let small = turns.add_structure(Arc::clone(&half)).unwrap();
        turns.on(StructureId::FIRST).set_edge_weights(&weights).unwrap();
        for epoch in 0..5 {
            turns.release_memory(if epoch % 2 == 0 { small } else { StructureId::FIRST });
            turns.on(small).train(&task, &mut adams[0], epoch).unwrap();
            let found = logits(turns.on(StructureId::FIRST));
            switched.set_graph(Arc::clone(&half)).unwrap();
            switched.train(&task, &mut adams[1], epoch).unwrap();
            switched.set_graph(Arc::clone(&graph)).unwrap();
            switched.set_edge_weights(&weights).unwrap();
            assert!(found == logits(&mut switched), "{backbone:?}, epoch {epoch}");
        }
    }
}
