//! Gradients of whole models in `f64` against central differences of the loss.

use std::sync::Arc;

use edgepace_nn::{Backbone, Extra, Model, ModelConfig};

use crate::shared::{Shape, assert_close, central_differences};
use crate::support::{Kind, Problem, logits, one_thread, owned, randomise, real, small_config};

const TOLERANCE: f64 = 1e-6;
const STEP: f64 = 1e-5;
/// A step that leads from any feature to a number that `f32` holds exactly.
const FEATURE_STEP: f64 = 1.0 / 131_072.0;
const EVERYTHING: Extra = Extra { edges: true, inputs: true };

fn assert_gradients_are_central_differences(backbone: Backbone, epoch: Option<u32>) {
    assert_gradients(&small_config(backbone), 0.0, epoch);
}

/// With labels that are smoothed.
fn assert_gradients(config: &ModelConfig, smoothing: f64, epoch: Option<u32>) {
    let backbone = config.backbone;
    let mut worst = 0.0;
    for (seed, shape) in (1..).zip(Shape::ALL) {
        for kind in [Kind::Classes, Kind::Many] {
            for sparse in [false, true] {
                let problem = Problem::small(seed, shape, kind);
                let claim = format!("{backbone:?}, {shape:?}, {kind:?}, sparse: {sparse}, epoch {epoch:?}");
                assert_problem(&problem, (config, smoothing), sparse, epoch, &claim, &mut worst);
            }
        }
    }
    println!("{backbone:?}: worst relative error {worst:e}");
}

fn assert_problem(
    problem: &Problem,
    (config, smoothing): (&ModelConfig, f64),
    sparse: bool,
    epoch: Option<u32>,
    claim: &str,
    worst: &mut f64,
) {
    let build = |problem: &Problem| -> Model<f64> {
        let features = if sparse { problem.sparse() } else { problem.dense() };
        let mut model = problem.model(&features, config, &one_thread());
        randomise(&mut model, 11);
        model
    };
    let task = problem.task().smoothed(smoothing).unwrap();
    let mut model = build(problem);
    model.gradients(&task, epoch, EVERYTHING).unwrap();
    let gradients = owned(model.parameter_gradients());
    let edge_gradients = model.edge_gradients().to_vec();
    let input_gradients = model.input_gradients().to_vec();
    let loss = |model: &mut Model<f64>| model.gradients(&task, epoch, Extra::default()).unwrap();

    for ((name, values), (_, gradient)) in owned(model.parameters()).iter().zip(&gradients) {
        let numeric = central_differences(values, STEP, |moved| {
            model.set_parameter(name, moved).unwrap();
            loss(&mut model)
        });
        model.set_parameter(name, values).unwrap();
        assert_close(&format!("{claim}: {name}"), gradient, &numeric, TOLERANCE, worst);
    }
    let numeric = central_differences(&problem.weights, STEP, |moved| {
        model.set_edge_weights(moved).unwrap();
        loss(&mut model)
    });
    assert_close(&format!("{claim}: edge weights"), &edge_gradients, &numeric, TOLERANCE, worst);

    if config.input_dropout > 0.0 {
        // The gradient is by what the first layer read.
        return;
    }
    let features: Vec<f64> = problem.features.iter().map(|&x| f64::from(x)).collect();
    let mut moved_problem = problem.clone();
    let numeric = central_differences(&features, FEATURE_STEP, |moved| {
        moved_problem.features = real(moved);
        loss(&mut build(&moved_problem))
    });
    assert_close(&format!("{claim}: inputs"), &input_gradients, &numeric, TOLERANCE, worst);
}

#[test]
fn gradients_of_the_loss_without_dropout_are_its_central_differences() {
    for backbone in Backbone::ALL {
        assert_gradients_are_central_differences(backbone, None);
    }
}

#[test]
fn gradients_of_the_loss_with_the_dropout_of_an_epoch_are_its_central_differences() {
    for backbone in Backbone::ALL {
        assert_gradients_are_central_differences(backbone, Some(3));
    }
}

#[test]
fn gradients_with_dropped_inputs_and_smoothed_labels_are_central_differences() {
    for backbone in Backbone::ALL {
        let config = ModelConfig { input_dropout: 0.4, ..small_config(backbone) };
        assert_gradients(&config, 0.2, Some(3));
    }
}

#[test]
fn gradients_with_layer_normalisation_are_central_differences() {
    for (backbone, epoch) in Backbone::ALL.into_iter().flat_map(|one| [(one, None), (one, Some(3))]) {
        let config = ModelConfig { layer_norm: true, ..small_config(backbone) };
        assert_gradients(&config, 0.0, epoch);
    }
}

#[test]
fn evaluation_drops_no_input_whatever_came_before() {
    for (backbone, sparse) in Backbone::ALL.into_iter().flat_map(|one| [(one, false), (one, true)]) {
        let problem = Problem::small(1, Shape::TwinsAlike, Kind::Classes);
        let features = if sparse { problem.sparse() } else { problem.dense() };
        let model = |input_dropout: f64| -> Model<f64> {
            let config = ModelConfig { input_dropout, ..small_config(backbone) };
            problem.model(&features, &config, &one_thread())
        };
        let (mut plain, mut dropping) = (model(0.0), model(0.5));
        let expected = logits(&mut plain);
        let task = problem.task::<f64>();
        let with = dropping.gradients(&task, Some(3), Extra::default()).unwrap();
        assert_eq!(expected, logits(&mut dropping), "{backbone:?}, sparse: {sparse}");
        assert_eq!(with, dropping.gradients(&task, Some(3), Extra::default()).unwrap(), "{backbone:?}");
        assert_ne!(with, plain.gradients(&task, Some(3), Extra::default()).unwrap(), "{backbone:?}");
        assert_eq!(
            plain.gradients(&task, None, Extra::default()).unwrap(),
            dropping.gradients(&task, None, Extra::default()).unwrap(),
            "{backbone:?}"
        );
    }
}

#[test]
fn sparse_and_dense_features_drop_the_same_values() {
    let problem = Problem::small(1, Shape::TwinsAlike, Kind::Classes);
    let config = ModelConfig { input_dropout: 0.5, ..small_config(Backbone::Gcn) };
    let loss = |features| {
        let mut model: Model<f64> = problem.model(&features, &config, &one_thread());
        model.gradients(&problem.task(), Some(3), Extra::default()).unwrap()
    };
    let (dense, sparse) = (loss(problem.dense()), loss(problem.sparse()));
    assert!((dense - sparse).abs() < 1e-12, "{dense} and {sparse}");
}

#[test]
fn dropout_changes_the_loss_from_epoch_to_epoch_and_not_within_one() {
    let problem = Problem::small(1, Shape::TwinsAlike, Kind::Classes);
    let task = problem.task::<f64>();
    let mut model: Model<f64> = problem.model(&problem.dense(), &small_config(Backbone::Gcn), &one_thread());
    let mut loss = |epoch| model.gradients(&task, epoch, Extra::default()).unwrap();
    assert_eq!(loss(Some(3)), loss(Some(3)));
    assert_ne!(loss(Some(3)), loss(Some(4)));
    assert_ne!(loss(Some(3)), loss(None));
}

#[test]
fn asking_for_more_gradients_changes_none_of_the_others() {
    for backbone in Backbone::ALL {
        let problem = Problem::small(2, Shape::TwinsApart, Kind::Classes);
        let task = problem.task::<f64>();
        let mut model: Model<f64> = problem.model(&problem.dense(), &small_config(backbone), &one_thread());
        model.gradients(&task, Some(1), Extra::default()).unwrap();
        let few = owned(model.parameter_gradients());
        model.gradients(&task, Some(1), EVERYTHING).unwrap();
        assert_eq!(few, owned(model.parameter_gradients()), "{backbone:?}");
    }
}

#[test]
fn gradients_that_were_not_asked_for_are_empty_never_stale() {
    let problem = Problem::small(1, Shape::TwinsAlike, Kind::Classes);
    let mut model: Model<f64> = problem.model(&problem.dense(), &small_config(Backbone::Gcn), &one_thread());
    assert!(model.parameter_gradients().all(|gradient| gradient.values.iter().all(|&g| g == 0.0)));
    model.gradients(&problem.task(), None, Extra { edges: true, inputs: true }).unwrap();
    assert_eq!(model.edge_gradients().len(), problem.weights.len());
    assert!(!model.input_gradients().is_empty());
    model.gradients(&problem.task(), None, Extra::default()).unwrap();
    assert!(model.edge_gradients().is_empty() && model.input_gradients().is_empty());
    model.gradients(&problem.task(), None, Extra { edges: true, inputs: true }).unwrap();
    model.set_graph(Arc::new(problem.graph.select(|edge| edge % 2 == 0).graph)).unwrap();
    assert!(model.edge_gradients().is_empty(), "those of another graph");
}

#[test]
fn a_model_that_diverged_says_so() {
    let problem = Problem::small(1, Shape::TwinsAlike, Kind::Classes);
    let mut model: Model<f32> = problem.model(&problem.dense(), &small_config(Backbone::Gcn), &one_thread());
    let name = "decoder.weight";
    let decoder = model.parameters().find(|p| p.name == name).unwrap().values.to_vec();
    // Products of such numbers overflow, and their differences are not numbers.
    let huge: Vec<f32> = decoder.iter().map(|&x| x.signum() * f32::MAX).collect();
    model.set_parameter(name, &huge).unwrap();
    assert!(!model.gradients(&problem.task(), None, Extra::default()).unwrap().is_finite());
}

/// A term ½ ‖z‖² beside the loss, whose gradient by the embeddings z is z itself.
#[test]
fn a_term_of_the_embeddings_adds_its_gradient_to_the_loss() {
    let mut worst = 0.0;
    for backbone in Backbone::ALL {
        for epoch in [None, Some(3)] {
            let problem = Problem::small(5, Shape::TwinsApart, Kind::Classes);
            let task = problem.task();
            let mut model: Model<f64> =
                problem.model(&problem.dense(), &small_config(backbone), &one_thread());
            randomise(&mut model, 11);
            let objective = |model: &mut Model<f64>| {
                let loss = model.gradients(&task, epoch, Extra::default()).unwrap();
                loss + 0.5 * model.embeddings(epoch).iter().map(|z| z * z).sum::<f64>()
            };
            objective(&mut model);
            let embeddings = model.embeddings(epoch).to_vec();
            model.add_embedding_gradient(epoch, &embeddings).unwrap();
            let gradients = owned(model.parameter_gradients());
            for ((name, values), (_, gradient)) in owned(model.parameters()).iter().zip(&gradients) {
                let numeric = central_differences(values, STEP, |moved| {
                    model.set_parameter(name, moved).unwrap();
                    objective(&mut model)
                });
                model.set_parameter(name, values).unwrap();
                let claim = format!("{backbone:?}, epoch {epoch:?}: {name}");
                assert_close(&claim, gradient, &numeric, TOLERANCE, &mut worst);
            }
        }
    }
    println!("worst relative error {worst:e}");
}
