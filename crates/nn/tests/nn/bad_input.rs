//! Wrong input is refused by a typed error that says what and where, and leaves the model as it was.

use std::sync::Arc;

use edgepace_graph::{
    Classes, DenseFeatures, Features, Graph, GraphError, Labels, MAX_EDGE_WEIGHT, UNLABELLED,
};
use edgepace_nn::{Adam, AdamConfig, Backbone, Decay, Extra, Model, ModelConfig, NnError, Task};

use crate::shared::Shape;
use crate::support::{Kind, OUTPUTS, Problem, logits, one_thread, owned, small_config};

fn problem() -> Problem {
    Problem::small(1, Shape::TwinsAlike, Kind::Classes)
}

/// Feeds a model of each backbone something wrong; it must answer as before.
fn assert_refused(
    claim: &str,
    feed: impl Fn(&Problem, &mut Model<f64>) -> NnError,
    is: impl Fn(&NnError) -> bool,
) {
    for backbone in Backbone::ALL {
        let problem = problem();
        let mut model: Model<f64> = problem.model(&problem.dense(), &small_config(backbone), &one_thread());
        let answers = |model: &mut Model<f64>| {
            let loss =
                model.gradients(&problem.task(), Some(2), Extra { edges: true, inputs: true }).unwrap();
            let gradients = (owned(model.parameter_gradients()), model.edge_gradients().to_vec());
            (loss, gradients, owned(model.parameters()), logits(model))
        };
        let before = answers(&mut model);
        let error = feed(&problem, &mut model);
        assert!(is(&error), "{backbone:?}, {claim}: {error:?}");
        assert_eq!(answers(&mut model), before, "{backbone:?} changed after {claim}");
    }
}

fn set_weights(change: impl Fn(&mut Vec<f64>)) -> impl Fn(&Problem, &mut Model<f64>) -> NnError {
    move |problem, model| {
        let mut weights = problem.weights.clone();
        change(&mut weights);
        model.set_edge_weights(&weights).unwrap_err()
    }
}

#[test]
fn a_wrong_number_of_edge_weights_is_refused() {
    let edges = problem().weights.len();
    for found in [0, edges - 1, edges + 1] {
        assert_refused(&format!("{found} weights"), set_weights(|w| w.resize(found, 1.0)), |error| {
            matches!(error, NnError::Graph(GraphError::Length { field: "weights", found: f, expected, .. })
                if (*f, *expected) == (found, edges))
        });
    }
}

#[test]
fn edge_weights_that_are_negative_too_large_or_not_finite_are_refused() {
    for bad in [-1.0, -1e-300, MAX_EDGE_WEIGHT.next_up(), f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        assert_refused(&format!("weight {bad}"), set_weights(|w| w[7] = bad), |error| {
            matches!(error, NnError::Graph(GraphError::BadWeight { position: 7, value })
                if value.to_bits() == bad.to_bits())
        });
    }
}

#[test]
fn weights_that_do_not_fit_their_new_graph_are_refused() {
    for (weights, position) in [(vec![1.0, -1.0], Some(1)), (vec![1.0], None), (vec![1.0; 3], None)] {
        let nodes = problem().graph.nodes();
        let graph = Arc::new(Graph::from_edges(nodes, &[0, 2], &[1, 1]).unwrap());
        let feed = move |_: &Problem, model: &mut Model<f64>| {
            model.set_weighted_graph(Arc::clone(&graph), &weights).unwrap_err()
        };
        assert_refused("weights of a new graph", feed, |error| match position {
            Some(expected) => {
                matches!(error, NnError::Graph(GraphError::BadWeight { position, .. }) if *position == expected)
            }
            None => matches!(error, NnError::Graph(GraphError::Length { .. })),
        });
    }
}

/// Whether it refuses a size, and names the one that fits.
fn is_size(error: &NnError, field: &str, found: usize, expected: usize) -> bool {
    matches!(error, NnError::Refused(refusal) if refusal.field == field
        && refusal.found == format!("of size {found}")
        && refusal.expected.starts_with(&format!("{expected}: ")))
}

#[test]
fn a_graph_of_other_nodes_is_refused() {
    let nodes = problem().graph.nodes();
    let feed = |_: &Problem, model: &mut Model<f64>| {
        model.set_graph(Arc::new(Graph::from_edges(3, &[0], &[1]).unwrap())).unwrap_err()
    };
    assert_refused("another graph", feed, |error| is_size(error, "graph", 3, nodes));
}

#[test]
fn parameters_of_a_wrong_name_size_or_value_are_refused() {
    let decoder = 6 * OUTPUTS;
    let set = |name: &'static str, values: Vec<f64>| {
        move |_: &Problem, model: &mut Model<f64>| model.set_parameter(name, &values).unwrap_err()
    };
    assert_refused(
        "an unknown name",
        set("conv3.weight", vec![0.0]),
        |error| matches!(error, NnError::Refused(r) if r.field == "parameter" && r.found == "conv3.weight"),
    );
    assert_refused("a wrong size", set("decoder.weight", vec![0.0; 5]), |error| {
        is_size(error, "parameter", 5, decoder)
    });
    for bad in [f64::NAN, f64::INFINITY] {
        let mut values = vec![0.0; decoder];
        values[4] = bad;
        assert_refused("a value that is not finite", set("decoder.weight", values), |error| {
            matches!(error, NnError::Value { field: "parameter", position: 4, value, .. }
                if value.to_bits() == bad.to_bits())
        });
    }
}

#[test]
fn an_optimiser_of_another_size_is_refused_before_it_changes_anything() {
    let feed = |problem: &Problem, model: &mut Model<f64>| {
        let mut adam = Adam::new(AdamConfig::default(), 3).unwrap();
        model.train(&problem.task(), &mut adam, 0).unwrap_err()
    };
    assert_refused(
        "an optimiser for 3 numbers",
        feed,
        |error| matches!(error, NnError::Refused(r) if r.field == "optimiser" && r.found == "of size 3"),
    );
}

#[test]
fn a_task_of_other_nodes_or_outputs_is_refused() {
    let with = |classes: usize, nodes: usize| {
        move |_: &Problem, model: &mut Model<f64>| {
            let labels: Labels = Classes::new(classes, vec![0; nodes]).unwrap().into();
            let task = Task::new(Arc::new(labels), &[0]).unwrap();
            let mut adam = Adam::new(AdamConfig::default(), model.parameter_count()).unwrap();
            model.train(&task, &mut adam, 0).unwrap_err()
        }
    };
    assert_refused("labels of 5 nodes", with(OUTPUTS, 5), |error| is_size(error, "labels", 5, 14));
    assert_refused("labels of 9 classes", with(9, 14), |error| is_size(error, "labels", 9, OUTPUTS));
}

fn build(features: &Features, outputs: usize, config: ModelConfig) -> Result<Model<f32>, NnError> {
    Model::new(Arc::clone(&problem().graph), Arc::new(features.clone()), outputs, config, 0, &one_thread())
}

#[test]
fn features_without_one_row_per_node_are_refused() {
    for backbone in Backbone::ALL {
        let features = DenseFeatures::new(3, 2, vec![0.0; 6]).unwrap().into();
        let error = build(&features, 2, small_config(backbone)).err().unwrap();
        assert!(is_size(&error, "features", 3, 14), "{backbone:?}: {error:?}");
    }
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let refused = |field: &str, found: &str, outputs, change: &dyn Fn(&mut ModelConfig)| {
        for backbone in Backbone::ALL {
            let mut config = small_config(backbone);
            change(&mut config);
            let error = build(&problem().dense(), outputs, config).err().unwrap();
            assert!(
                matches!(&error, NnError::Refused(r) if r.field == field && r.found == found),
                "{backbone:?}: {error:?}"
            );
        }
    };
    refused("hidden", "0", 3, &|c| c.hidden = 0);
    refused("dropout", "1", 3, &|c| c.dropout = 1.0);
    refused("dropout", "-0.1", 3, &|c| c.dropout = -0.1);
    refused("dropout", "NaN", 3, &|c| c.dropout = f64::NAN);
    refused("gin_epsilon", "inf", 3, &|c| c.gin_epsilon = f64::INFINITY);
    refused("outputs", "0", 0, &|_| {});
}

#[test]
fn optimiser_settings_out_of_range_are_refused_by_name() {
    let refused = |field: &str, change: &dyn Fn(&mut AdamConfig)| {
        let mut config = AdamConfig::default();
        change(&mut config);
        let error = Adam::<f32>::new(config, 1).unwrap_err();
        assert!(matches!(&error, NnError::Refused(refusal) if refusal.field == field), "{error:?}");
    };
    refused("rate", &|c| c.rate = 0.0);
    refused("rate", &|c| c.rate = f64::NAN);
    refused("beta1", &|c| c.beta1 = 1.0);
    refused("beta2", &|c| c.beta2 = -0.5);
    refused("epsilon", &|c| c.epsilon = 0.0);
    refused("decay", &|c| c.decay = Decay::Coupled(-1.0));
    refused("decay", &|c| c.decay = Decay::Decoupled(f64::INFINITY));
}

/// Four nodes in two classes, the last without a class.
fn labels() -> Arc<Labels> {
    Arc::new(Classes::new(2, vec![0, 1, 0, UNLABELLED]).unwrap().into())
}

#[test]
fn training_sets_that_are_empty_out_of_range_or_unlabelled_are_refused() {
    let error = |train: &[u32]| Task::<f32>::new(labels(), train).unwrap_err();
    assert!(matches!(error(&[]), NnError::EmptyTrainingSet));
    assert!(matches!(
        error(&[0, 9]),
        NnError::Graph(GraphError::NodeOutOfRange { field: "train", position: 1, value: 9, nodes: 4 })
    ));
    assert!(matches!(error(&[0, 3]), NnError::Unlabelled { node: 3 }));
}

#[test]
fn node_weights_that_are_too_few_negative_not_finite_or_all_zero_are_refused() {
    let error = |weights: &[f32]| Task::weighted(labels(), weights.to_vec()).unwrap_err();
    assert!(is_size(&error(&[1.0]), "node weights", 1, 4));
    for bad in [f32::NAN, f32::INFINITY, -1.0] {
        let error = error(&[1.0, 1.0, bad, 0.0]);
        assert!(
            matches!(error, NnError::Value { field: "node weights", position: 2, value, .. }
                if value.to_bits() == f64::from(bad).to_bits()),
            "{error:?}"
        );
    }
    assert!(matches!(error(&[1.0, 0.0, 0.0, 0.5]), NnError::Unlabelled { node: 3 }));
    assert!(matches!(error(&[0.0; 4]), NnError::EmptyTrainingSet));
}

#[test]
fn labels_out_of_range_are_refused() {
    let error = Classes::new(2, vec![0, 1, 2]).unwrap_err();
    assert_eq!(error, GraphError::ClassOutOfRange { position: 2, value: 2, classes: 2 });
}

#[test]
fn errors_say_what_was_wrong_where_and_what_is_legal() {
    let error = Task::weighted(labels(), vec![1.0, -2.0, 0.0, 0.0_f32]).unwrap_err();
    assert_eq!(error.to_string(), "`node weights`[1] is -2, expected a finite number, not negative");
    let error = Adam::<f32>::new(AdamConfig { rate: -1.0, ..AdamConfig::default() }, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`rate` is -1, expected a finite number above 0 in the precision of the model"
    );
}

#[test]
fn settings_that_only_double_precision_can_hold_are_refused_for_single() {
    let epsilon = AdamConfig { epsilon: 1e-60, ..AdamConfig::default() };
    assert!(Adam::<f64>::new(epsilon, 1).is_ok());
    assert!(
        matches!(Adam::<f32>::new(epsilon, 1), Err(NnError::Refused(refusal)) if refusal.field == "epsilon")
    );
    for (field, outputs, hidden) in [("hidden", 3, usize::MAX), ("outputs", usize::MAX, 8)] {
        let config = ModelConfig { hidden, ..ModelConfig::new(Backbone::Gcn) };
        let problem = problem();
        let graph = Arc::clone(&problem.graph);
        let model = Model::<f32>::new(graph, Arc::new(problem.dense()), outputs, config, 0, &one_thread());
        assert!(matches!(model, Err(NnError::Refused(refusal)) if refusal.field == field), "{field}");
    }
}
