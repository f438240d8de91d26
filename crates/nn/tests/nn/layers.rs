//! Layers that work on structures of their own.

use std::sync::Arc;

use edgepace_nn::{Backbone, Extra, Layers, Model, StructureId};

use crate::shared::{Draws, Shape, assert_close, central_differences};
use crate::support::{Kind, Problem, logits, one_thread, owned, randomise, small_config};

const EDGES: Extra = Extra { edges: true, inputs: false };

#[test]
fn gradients_by_each_layers_weights_are_central_differences() {
    let mut worst = 0.0;
    for backbone in Backbone::ALL {
        for (seed, shape) in (1..).zip(Shape::ALL) {
            for features in [Problem::dense, Problem::sparse] {
                let problem = Problem::small(seed, shape, Kind::Classes);
                let task = problem.task();
                let mut model: Model<f64> =
                    problem.model(&features(&problem), &small_config(backbone), &one_thread());
                randomise(&mut model, 11);
                let second = model.add_structure(Arc::clone(&problem.graph)).unwrap();
                let weights =
                    [problem.weights.clone(), shape.weights(&problem.graph, &mut Draws::new(seed + 50))];
                model.on(second).set_edge_weights(&weights[1]).unwrap();
                let both = Layers([StructureId::FIRST, second]);
                let claim = format!("{backbone:?}, {shape:?}");

                model.on(both).gradients(&task, Some(2), EDGES).unwrap();
                let found = [model.edge_gradients().to_vec(), model.second_edge_gradients().to_vec()];
                let parameters = owned(model.parameter_gradients());
                for (layer, id) in both.0.into_iter().enumerate() {
                    let numeric = central_differences(&weights[layer], 1e-5, |moved| {
                        model.on(id).set_edge_weights(moved).unwrap();
                        model.on(both).gradients(&task, Some(2), Extra::default()).unwrap()
                    });
                    model.on(id).set_edge_weights(&weights[layer]).unwrap();
                    assert_close(
                        &format!("{claim}, layer {layer}"),
                        &found[layer],
                        &numeric,
                        1e-6,
                        &mut worst,
                    );
                }
                for ((name, values), (_, gradient)) in owned(model.parameters()).iter().zip(&parameters) {
                    let numeric = central_differences(values, 1e-5, |moved| {
                        model.set_parameter(name, moved).unwrap();
                        model.on(both).gradients(&task, Some(2), Extra::default()).unwrap()
                    });
                    model.set_parameter(name, values).unwrap();
                    assert_close(&format!("{claim}: {name}"), gradient, &numeric, 1e-6, &mut worst);
                }
            }
        }
    }
    println!("worst relative error {worst:e}");
}

#[test]
fn two_structures_alike_are_as_good_as_one() {
    for backbone in Backbone::ALL {
        let problem = Problem::small(3, Shape::TwinsApart, Kind::Classes);
        let task = problem.task();
        let mut model: Model<f64> = problem.model(&problem.dense(), &small_config(backbone), &one_thread());
        let second = model.add_structure(Arc::clone(&problem.graph)).unwrap();
        model.on(second).set_edge_weights(&problem.weights).unwrap();
        model.on(StructureId::FIRST).gradients(&task, None, EDGES).unwrap();
        let shared = model.edge_gradients().to_vec();
        assert!(model.second_edge_gradients().is_empty(), "one structure has one gradient");
        let expected = logits(&mut model);
        let both = Layers([StructureId::FIRST, second]);
        assert_eq!(logits(model.on(both)), expected, "{backbone:?}");
        model.on(both).gradients(&task, None, EDGES).unwrap();
        let sum: Vec<f64> =
            model.edge_gradients().iter().zip(model.second_edge_gradients()).map(|(a, b)| a + b).collect();
        assert_close(&format!("{backbone:?}"), &sum, &shared, 1e-12, &mut 0.0);
    }
}

#[test]
fn hidden_units_follow_parameters_weights_and_dropout() {
    let problem = Problem::small(2, Shape::TwinsAlike, Kind::Classes);
    let mut model: Model<f64> = problem.model(&problem.dense(), &small_config(Backbone::Gcn), &one_thread());
    let first = model.hidden(None).to_vec();
    assert_eq!(first.len(), problem.graph.nodes() * 6);
    assert_ne!(first, model.hidden(Some(1)), "dropout");
    assert_eq!(first, model.hidden(None));
    model.set_edge_weights(&vec![0.0; problem.weights.len()]).unwrap();
    let alone = model.hidden(None).to_vec();
    assert_ne!(first, alone, "weights");
    randomise(&mut model, 5);
    assert_ne!(alone, model.hidden(None), "parameters");
}
