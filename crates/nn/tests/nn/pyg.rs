//! Whole models in `f32` against PyTorch Geometric.
//!
//! One rule of ours could differ from PyTorch's: min and max share their gradient among equal extremes, but PyTorch
//! counts one sharer more where the extremum is exactly 0 (the zero that its buffer starts with). The fixtures keep
//! clear of 0, their case with ties included, so that the comparison is exact.

use std::sync::Arc;

use edgepace_graph::{Classes, DenseFeatures, Labels, ManyLabels};
use edgepace_nn::{Backbone, Extra, Model, ModelConfig, Task};

use crate::shared::{Fixture, Fixtures, ModelResult, assert_close};
use crate::support::{logits, one_thread, owned, real, wide};

const TOLERANCE: f64 = 1e-4;

#[test]
fn models_in_f32_agree_with_pytorch_geometric() {
    for fixtures in Fixtures::all() {
        let mut worst = 0.0;
        let backbone = Backbone::ALL.into_iter().find(|b| b.name() == fixtures.backbone).unwrap();
        for case in &fixtures.models {
            assert_fixture(backbone, case, &mut worst);
        }
        println!("{backbone:?}: worst relative error {worst:e}");
    }
}

fn labels(case: &Fixture<ModelResult>) -> Labels {
    match (&case.result.classes, &case.result.multilabels) {
        (Some(of), None) => Classes::new(3, of.clone()).unwrap().into(),
        (None, Some(rows)) => ManyLabels::new(case.nodes, rows[0].len(), rows.concat()).unwrap().into(),
        _ => panic!("{}: either classes or labels", case.name),
    }
}

fn assert_fixture(backbone: Backbone, case: &Fixture<ModelResult>, worst: &mut f64) {
    let labels = Arc::new(labels(case));
    let features = DenseFeatures::new(case.nodes, case.x[0].len(), real(&case.x.concat())).unwrap().into();
    let defaults = ModelConfig::new(backbone);
    let gin_epsilon = case.epsilon.unwrap_or(defaults.gin_epsilon);
    let config = ModelConfig { hidden: case.hidden, gin_epsilon, ..defaults };
    let graph = Arc::new(case.graph());
    let mut model: Model<f32> =
        Model::new(graph, Arc::new(features), labels.width(), config, 0, &one_thread()).unwrap();
    for (name, values) in owned(model.parameters()) {
        let theirs = Fixture::<ModelResult>::named(&case.params, &name);
        assert_eq!(theirs.len(), values.len(), "{name}");
        model.set_parameter(&name, &real(&theirs)).unwrap();
    }
    for (name, tensor) in &case.params {
        assert_eq!(tensor.shape.iter().product::<usize>(), tensor.values.len(), "{name}");
    }
    if let Some(weights) = &case.weights {
        model.set_edge_weights(&real(weights)).unwrap();
    }

    let task = Task::new(Arc::clone(&labels), &case.result.train).unwrap();
    let mut close = |what: &str, found: &[f64], expected: &[f64]| {
        assert_close(&format!("{backbone:?}, {}: {what}", case.name), found, expected, TOLERANCE, worst);
    };
    close("embeddings", &wide(model.embeddings(None)), &case.result.embeddings.concat());
    close("logits", &wide(&logits(&mut model)), &case.result.logits.concat());
    let loss = model.gradients(&task, None, Extra { edges: true, inputs: true }).unwrap();
    close("loss", &[loss], &[case.result.loss]);
    for (name, gradient) in owned(model.parameter_gradients()) {
        close(&name, &gradient, &Fixture::<ModelResult>::named(&case.gradients, &name));
    }
    close("x", &wide(model.input_gradients()), &case.gradients["x"].values);
    if case.weights.is_some() {
        close("weights", &wide(model.edge_gradients()), &case.gradients["weights"].values);
    }
}
