//! Every metric against scikit-learn (`tests/fixtures/metrics.py`), and scores of a model. Values worked by hand stand beside
//! each metric in `src/metric/`.

use std::collections::BTreeMap;
use std::sync::Arc;

use edgepace_graph::{Classes, DenseFeatures, Graph, GraphError, Labels, ManyLabels};
use edgepace_nn::{
    Backbone, CALIBRATION_BINS, Logits, Metric, Model, ModelConfig, NnError, expected_calibration_error,
};
use serde::Deserialize;

use crate::shared::{Draws, Shape};
use crate::support::{Kind, Problem, logits, one_thread, randomise};

const TRUTH: [u32; 10] = [0, 1, 2, 2, 1, 0, 3, 1, 0, 2];
const FOUND: [u32; 10] = [0, 2, 2, 1, 1, 0, 0, 1, 2, 2];

/// A model whose logits are the given numbers, which must not be negative: every map is the identity.
fn saying(logits: &[Vec<f32>]) -> Model<f32> {
    let (nodes, width) = (logits.len(), logits[0].len());
    let graph = Arc::new(Graph::from_edges(nodes, &[], &[]).unwrap());
    let features = DenseFeatures::new(nodes, width, logits.concat()).unwrap().into();
    let config = ModelConfig { hidden: width, ..ModelConfig::new(Backbone::Mlp) };
    let mut model = Model::new(graph, Arc::new(features), width, config, 0, &one_thread()).unwrap();
    let identity: Vec<f32> =
        (0..width * width).map(|i| if i % (width + 1) == 0 { 1.0 } else { 0.0 }).collect();
    for name in ["conv1.weight", "conv2.weight", "decoder.weight"] {
        model.set_parameter(name, &identity).unwrap();
    }
    model
}

/// A model that predicts the given classes out of four.
fn predicting(classes: &[u32]) -> Model<f32> {
    let rows: Vec<Vec<f32>> =
        classes.iter().map(|&class| (0..4).map(|c| if c == class { 1.0 } else { 0.0 }).collect()).collect();
    saying(&rows)
}

/// Up to rounding: sums are taken in another order, and powers by another library.
fn close(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-12)
}

/// What `metrics.py` writes.
#[derive(Deserialize)]
struct Case {
    name: String,
    classes: Option<Vec<u32>>,
    labels: Option<Vec<Vec<u8>>>,
    logits: Vec<Vec<f32>>,
    nodes: Vec<u32>,
    scores: BTreeMap<String, Option<f64>>,
    expected_calibration_error: f64,
}

#[test]
fn every_metric_is_that_of_scikit_learn() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../fixtures/metrics.json")).unwrap();
    for case in cases {
        let width = case.logits[0].len();
        let labels: Labels = match (case.classes, case.labels) {
            (Some(of), None) => Classes::new(width, of).unwrap().into(),
            (None, Some(rows)) => ManyLabels::new(rows.len(), width, rows.concat()).unwrap().into(),
            _ => panic!("{}: either classes or labels", case.name),
        };
        let values = case.logits.concat();
        let logits = Logits::new(&values, width);
        for metric in Metric::ALL {
            let claim = format!("{} of {}", metric, case.name);
            let found = metric.score(&labels, &case.nodes, logits);
            match case.scores[metric.name()] {
                Some(expected) => assert!(close(found, expected), "{claim}: {found:?}, not {expected}"),
                None => assert_eq!(found, None, "{claim}"),
            }
        }
        let error = expected_calibration_error(&labels, &case.nodes, logits, CALIBRATION_BINS);
        let expected = case.expected_calibration_error;
        assert!(close(error, expected), "calibration of {}: {error:?}, not {expected}", case.name);
    }
}

#[test]
fn of_equal_logits_the_first_is_predicted() {
    let mut model = saying(&[vec![0.5, 0.5, 0.25], vec![0.0, 0.75, 0.75], vec![0.0, 0.0, 0.0]]);
    assert_eq!(model.evaluate().predictions(), [0, 1, 0]);
}

#[test]
fn a_score_of_some_nodes_is_that_of_a_whole_evaluation() {
    let nodes = [0, 3, 17, 21, 40, 58];
    // Hidden layers narrower and wider than the output: the second layer propagates before or after its map.
    for (kind, hidden) in [Kind::Classes, Kind::Many].into_iter().flat_map(|kind| [(kind, 6), (kind, 24)]) {
        let mut draws = Draws::new(hidden as u64);
        let graph = Shape::TwinsApart.graph(60, 150, &mut draws);
        let weights = Shape::TwinsApart.weights(&graph, &mut draws);
        let problem = Problem::on(graph, weights, 5, kind, &mut draws);
        for (backbone, input_dropout) in Backbone::ALL.into_iter().flat_map(|one| [(one, 0.0), (one, 0.5)]) {
            for features in [problem.dense(), problem.sparse()] {
                let config = ModelConfig { hidden, input_dropout, ..ModelConfig::new(backbone) };
                let fresh = || -> Model<f32> { problem.model(&features, &config, &one_thread()) };
                let (mut whole, mut part) = (fresh(), fresh());
                let mut distinct = std::collections::BTreeSet::new();
                for seed in 0..20 {
                    randomise(&mut whole, seed);
                    randomise(&mut part, seed);
                    let claim = format!(
                        "{backbone:?} {kind:?} with {hidden} units, dropping {input_dropout}, seed {seed}"
                    );
                    for metric in Metric::ALL {
                        let expected = whole.evaluate().score(metric, &problem.labels, &nodes).unwrap();
                        distinct.insert((metric.name(), expected.unwrap().to_bits()));
                        let found = part.score(metric, &problem.labels, &nodes).unwrap();
                        assert_eq!(found, expected, "{metric}, {claim}");
                    }
                    if seed % 2 == 0 {
                        assert_eq!(logits(&mut part), logits(&mut whole), "{claim}: all, after a few");
                    }
                }
                for metric in Metric::ALL {
                    let scores = distinct.iter().filter(|(name, _)| *name == metric.name()).count();
                    assert!(scores > 2, "{metric}: a score that is always the same shows nothing");
                }
            }
        }
    }
}

#[test]
fn without_nodes_there_is_no_score() {
    let truth: Labels = Classes::new(4, TRUTH.to_vec()).unwrap().into();
    let mut model = predicting(&FOUND);
    for metric in Metric::ALL {
        assert_eq!(model.evaluate().score(metric, &truth, &[]).unwrap(), None);
        assert_eq!(model.score(metric, &truth, &[]).unwrap(), None);
    }
}

#[test]
fn nodes_and_labels_that_do_not_fit_are_refused() {
    let mut model = predicting(&FOUND);
    let truth: Labels = Classes::new(4, TRUTH.to_vec()).unwrap().into();
    let short: Labels = Classes::new(4, vec![0; 9]).unwrap().into();
    let wide: Labels = ManyLabels::new(10, 5, vec![0; 50]).unwrap().into();
    for metric in Metric::ALL {
        let mut both = |labels, nodes: &[u32]| {
            [model.evaluate().score(metric, labels, nodes), model.score(metric, labels, nodes)]
        };
        for score in both(&truth, &[0, 10]) {
            let Err(NnError::Graph(error)) = score else { panic!("{score:?}") };
            let expected = GraphError::NodeOutOfRange { field: "nodes", position: 1, value: 10, nodes: 10 };
            assert_eq!(error, expected);
        }
        for score in both(&short, &[0]) {
            let message = score.unwrap_err().to_string();
            assert_eq!(message, "`labels` is of size 9, expected 10: one per node of the graph");
        }
        for score in both(&wide, &[0]) {
            let message = score.unwrap_err().to_string();
            assert_eq!(message, "`labels` is of size 5, expected 4: the outputs of the model");
        }
    }
}
