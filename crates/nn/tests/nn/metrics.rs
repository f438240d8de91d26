//! Accuracy, macro-F1 and ROC-AUC against values worked by hand and by scikit-learn 1.9.
//!
//! The latter come from
//! ```python
//! from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
//! truth = [0, 1, 2, 2, 1, 0, 3, 1, 0, 2]
//! found = [0, 2, 2, 1, 1, 0, 0, 1, 2, 2]
//! accuracy_score(truth, found), f1_score(truth, found, average="macro")                  # 0.6, 0.47619047619047616
//! accuracy_score(truth[:3], found[:3]), f1_score(truth[:3], found[:3], average="macro")  # 0.6667, 0.5555555555555555
//! truth = [0, 1, 1, 0, 1, 0, 0, 1]
//! score = [0.5, 0.5, 0.75, 0.25, 0.5, 0.75, 0.0, 1.0]
//! roc_auc_score(truth, score)                                                            # 0.78125
//! truth = [[1, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1], [1, 0, 1]]
//! score = [[0.5, 0.25, 0.5], [0.5, 0.75, 0.5], [1.0, 0.25, 0.5], [0.25, 0.5, 0.5], [0.75, 0.25, 0.5]]
//! [roc_auc_score([row[c] for row in truth], [row[c] for row in score]) for c in (0, 1)]  # [0.91667, 0.66667]
//! ```

use std::sync::Arc;

use edgepace_graph::{Classes, DenseFeatures, Graph, GraphError, Labels, ManyLabels, UNLABELLED};
use edgepace_nn::{Backbone, Model, ModelConfig, NnError, roc_auc};

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

fn close(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-12)
}

#[test]
fn accuracy_and_macro_f1_are_those_of_scikit_learn() {
    let truth = Classes::new(4, TRUTH.to_vec()).unwrap();
    let mut model = predicting(&FOUND);
    let evaluation = model.evaluate();
    assert_eq!(evaluation.predictions(), FOUND);
    let all: Vec<u32> = (0..10).collect();
    assert!(close(evaluation.accuracy(&truth, &all).unwrap(), 0.6));
    assert!(close(evaluation.macro_f1(&truth, &all).unwrap(), 0.476_190_476_190_476_16));
    assert!(close(evaluation.accuracy(&truth, &all[..3]).unwrap(), 2.0 / 3.0));
    // Class 3 occurs neither in truth nor in prediction of these, and does not count.
    assert!(close(evaluation.macro_f1(&truth, &all[..3]).unwrap(), 0.555_555_555_555_555_5));
}

/// By hand: class 0 has one node, found (F1 = 1); class 1 has one, called 2 (F1 = 0); class 2 has none (F1 = 0).
#[test]
fn macro_f1_counts_a_class_that_is_only_predicted() {
    let truth = Classes::new(4, vec![0, 1]).unwrap();
    assert!(close(predicting(&[0, 2]).evaluate().macro_f1(&truth, &[0, 1]).unwrap(), 1.0 / 3.0));
}

#[test]
fn a_node_without_a_class_is_never_predicted_right() {
    let truth = Classes::new(4, vec![0, UNLABELLED]).unwrap();
    let mut model = predicting(&[0, 0]);
    let evaluation = model.evaluate();
    assert!(close(evaluation.accuracy(&truth, &[0, 1]).unwrap(), 0.5));
    // One right among two predictions of class 0: 2 · 1 / (1 + 2).
    assert!(close(evaluation.macro_f1(&truth, &[0, 1]).unwrap(), 2.0 / 3.0));
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
        for backbone in Backbone::ALL {
            for features in [problem.dense(), problem.sparse()] {
                let config = ModelConfig { hidden, ..ModelConfig::new(backbone) };
                let fresh = || -> Model<f32> { problem.model(&features, &config, &one_thread()) };
                let (mut whole, mut part) = (fresh(), fresh());
                let mut distinct = std::collections::BTreeSet::new();
                for seed in 0..20 {
                    randomise(&mut whole, seed);
                    randomise(&mut part, seed);
                    let evaluation = whole.evaluate();
                    let expected = match &*problem.labels {
                        Labels::Classes(classes) => evaluation.accuracy(classes, &nodes),
                        Labels::Many(many) => evaluation.roc_auc(many, &nodes),
                    };
                    let expected = expected.unwrap().unwrap();
                    distinct.insert(expected.to_bits());
                    let claim = format!("{backbone:?} {kind:?} with {hidden} units, seed {seed}");
                    assert_eq!(part.score(&problem.labels, &nodes).unwrap(), Some(expected), "{claim}");
                    if seed % 2 == 0 {
                        assert_eq!(logits(&mut part), logits(&mut whole), "{claim}: all, after a few");
                    }
                }
                assert!(distinct.len() > 2, "a score that is always the same shows nothing");
            }
        }
    }
}

#[test]
fn without_nodes_there_is_no_score() {
    let truth = Classes::new(4, TRUTH.to_vec()).unwrap();
    let mut model = predicting(&FOUND);
    let evaluation = model.evaluate();
    assert_eq!(evaluation.accuracy(&truth, &[]).unwrap(), None);
    assert_eq!(evaluation.macro_f1(&truth, &[]).unwrap(), None);
    assert_eq!(model.score(&truth.into(), &[]).unwrap(), None);
}

#[test]
fn roc_auc_with_ties_is_that_of_scikit_learn() {
    let truth = [0, 1, 1, 0, 1, 0, 0, 1];
    let score = [0.5, 0.5, 0.75, 0.25, 0.5, 0.75, 0.0, 1.0];
    let mut scored: Vec<(f64, bool)> = score.into_iter().zip(truth.map(|y| y == 1)).collect();
    assert!(close(roc_auc(&mut scored), 0.781_25));
}

#[test]
fn roc_auc_is_one_for_the_right_order_zero_for_its_reverse_and_a_half_for_none() {
    let auc = |scores: [f64; 4]| {
        roc_auc(&mut scores.into_iter().zip([false, false, true, true]).collect::<Vec<_>>())
    };
    assert_eq!(auc([0.1, 0.2, 0.3, 0.4]), Some(1.0));
    assert_eq!(auc([0.4, 0.3, 0.2, 0.1]), Some(0.0));
    assert_eq!(auc([0.7; 4]), Some(0.5));
    // By hand: 0.3 beats 0.1 and ties 0.3, 0.2 beats 0.1 only: 2.5 of 4 pairs.
    assert_eq!(auc([0.1, 0.3, 0.3, 0.2]), Some(0.625));
    assert_eq!(auc([-0.0, 0.0, 0.0, -0.0]), Some(0.5));
}

#[test]
fn roc_auc_needs_both_answers() {
    assert_eq!(roc_auc(&mut []), None);
    assert_eq!(roc_auc(&mut [(0.5, true), (0.1, true)]), None);
    assert_eq!(roc_auc(&mut [(0.5, false)]), None);
}

#[test]
fn roc_auc_of_many_labels_is_the_mean_over_those_with_both_answers() {
    // Every node has the third label: it cannot be ranked and does not count.
    let truth = ManyLabels::new(5, 3, vec![1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1]).unwrap();
    let mut model = saying(&[
        vec![0.5, 0.25, 0.5],
        vec![0.5, 0.75, 0.5],
        vec![1.0, 0.25, 0.5],
        vec![0.25, 0.5, 0.5],
        vec![0.75, 0.25, 0.5],
    ]);
    let evaluation = model.evaluate();
    let expected = f64::midpoint(0.916_666_666_666_666_6, 0.666_666_666_666_666_6);
    assert!(close(evaluation.roc_auc(&truth, &[0, 1, 2, 3, 4]).unwrap(), expected));
    assert_eq!(evaluation.roc_auc(&truth, &[]).unwrap(), None);
}

#[test]
fn nodes_and_labels_that_do_not_fit_are_refused() {
    let mut model = predicting(&FOUND);
    let evaluation = model.evaluate();
    let truth = Classes::new(4, TRUTH.to_vec()).unwrap();
    let scores = [evaluation.accuracy(&truth, &[0, 10]), evaluation.macro_f1(&truth, &[0, 10])];
    for score in scores.into_iter().chain([predicting(&FOUND).score(&truth.clone().into(), &[0, 10])]) {
        assert!(
            matches!(
                score,
                Err(NnError::Graph(GraphError::NodeOutOfRange {
                    field: "nodes",
                    position: 1,
                    value: 10,
                    nodes: 10
                }))
            ),
            "{score:?}"
        );
    }
    let short = Classes::new(4, vec![0; 9]).unwrap();
    let score = evaluation.accuracy(&short, &[0]);
    assert!(matches!(score, Err(NnError::Size { field: "labels", found: 9, expected: 10, .. })), "{score:?}");
    let wide = ManyLabels::new(10, 5, vec![0; 50]).unwrap();
    let score = evaluation.roc_auc(&wide, &[0]);
    assert!(matches!(score, Err(NnError::Size { field: "labels", found: 5, expected: 4, .. })), "{score:?}");
}
