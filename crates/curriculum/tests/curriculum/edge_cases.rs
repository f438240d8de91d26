//! Graphs with nothing to decide about, and feedback that is wrong.

use std::sync::Arc;

use edgepace_curriculum::{Curriculum, CurriculumConfig, CurriculumError, Feedback};
use edgepace_graph::{DenseFeatures, Features, Graph, Threads};

use crate::cases::{CLASSES, Said, WIDTH, configs, run, trust, undirected};

#[test]
fn graphs_without_edges_have_empty_updates() {
    for nodes in [0, 1, 5] {
        let graph = Arc::new(Graph::undirected(nodes, &[], &[]).unwrap());
        for config in configs() {
            let curriculum = run(&graph, &config, 100);
            assert_eq!(curriculum.selected(), 0);
            assert!(curriculum.weights().is_empty() && curriculum.pairs().is_empty());
            assert_eq!(curriculum.objective().unwrap().total(), 0.0);
        }
    }
}

#[test]
fn isolated_nodes_beside_edges_do_no_harm() {
    let graph = Arc::new(Graph::undirected(50, &[0, 1], &[1, 2]).unwrap());
    for config in configs() {
        let curriculum = run(&graph, &config, 101);
        assert!(curriculum.weights().iter().all(|w| (0.0..=1.0).contains(w)), "{config:?}");
    }
}

#[test]
fn without_losses_every_node_is_trusted() {
    let graph = undirected(30, 80, 4);
    let said = Said::new(30, 1);
    let mut curriculum =
        Curriculum::new(&Threads::one(), graph, None, &CurriculumConfig::posterior(), 100, 0).unwrap();
    curriculum.update(90, &Feedback::new().logits(&said.logits, CLASSES)).unwrap();
    assert!(curriculum.confidence().iter().all(|&rho| rho == 1.0));
    assert!(curriculum.weights().iter().all(|&weight| weight == 1.0));
}

#[test]
fn a_number_that_is_not_finite_is_refused_with_its_node_and_changes_nothing() {
    let graph = undirected(30, 80, 4);
    for config in configs() {
        if config.order == edgepace_curriculum::Order::Random || config.reads_trust() {
            continue;
        }
        for bad in [f32::NAN, f32::INFINITY] {
            let mut curriculum = run(&graph, &config, 1);
            let before = curriculum.save();
            let mut said = Said::new(30, 1);
            said.embeddings[7 * WIDTH + 2] = bad;
            said.logits[7 * CLASSES + 2] = bad;
            let error = curriculum.update(20, &said.feedback()).unwrap_err();
            assert!(matches!(error, CurriculumError::Value { node: 7, column: 2, .. }), "{error}");
            assert!(error.to_string().contains("node 7"), "{error}");
            assert_eq!(curriculum.save(), before);
        }
    }
}

#[test]
fn trust_that_is_missing_or_no_probability_is_refused_and_changes_nothing() {
    let graph = undirected(30, 80, 4);
    let mut curriculum = run(&graph, &CurriculumConfig::trust(), 1);
    let before = curriculum.save();
    let pairs = curriculum.pairs().len();
    let error = curriculum.update(20, &Feedback::new()).unwrap_err();
    assert!(matches!(error, CurriculumError::Missing { field: "trust", .. }), "{error}");
    for wrong in [vec![0.5; pairs + 1], vec![f32::NAN; pairs], vec![1.5; pairs], vec![-0.1; pairs]] {
        let error = curriculum.update(20, &Feedback::new().trust(&wrong)).unwrap_err();
        assert!(matches!(&error, CurriculumError::Refused(refusal) if refusal.field == "trust"), "{error}");
    }
    assert_eq!(curriculum.save(), before);
}

#[test]
fn an_edge_weighs_by_how_far_it_is_trusted() {
    let graph = undirected(30, 80, 4);
    let weights = |sharpness: Option<f64>| {
        let at_once = CurriculumConfig { lambda_start: Some(2.0), gamma: 0.0, ..CurriculumConfig::trust() };
        let config = CurriculumConfig { sharpness, ..at_once };
        let mut curriculum =
            Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &config, 100, 0).unwrap();
        let trust = trust(curriculum.pairs().len(), 0);
        curriculum.update(0, &Feedback::new().trust(&trust)).unwrap();
        (curriculum.history().weights.to_vec(), trust)
    };
    assert!(weights(None).0.iter().all(|&weight| weight == 1.0));
    for power in [0.5_f32, 1.0, 2.0] {
        let (weights, trust) = weights(Some(f64::from(power)));
        for (weight, tau) in weights.iter().zip(&trust) {
            assert!((weight - tau.powf(power)).abs() < 1e-6, "{weight} and {tau}");
        }
    }
}

#[test]
fn wrong_feedback_is_refused() {
    let graph = undirected(30, 80, 4);
    let said = Said::new(30, 1);
    let mut curriculum =
        Curriculum::new(&Threads::one(), graph, None, &CurriculumConfig::posterior(), 100, 0).unwrap();
    let before = curriculum.save();
    let error = curriculum.update(0, &Feedback::new().embeddings(&said.embeddings, WIDTH)).unwrap_err();
    assert!(matches!(error, CurriculumError::Missing { kernel: "posterior", .. }), "{error}");
    let error = curriculum.update(0, &Feedback::new().logits(&said.logits, CLASSES + 1)).unwrap_err();
    assert!(
        matches!(&error, CurriculumError::Refused(r) if r.to_string() == "`logits` is of size 90, expected 120: nodes × width numbers"),
        "{error}"
    );
    let error = curriculum.update(0, &Feedback::new().probabilities(&said.logits, CLASSES)).unwrap_err();
    assert!(matches!(error, CurriculumError::Value { field: "probabilities", .. }), "{error}");
    let logits = Feedback::new().logits(&said.logits, CLASSES);
    let error = curriculum.update(0, &logits.losses(&[0, 30], &[0.1, 0.1])).unwrap_err();
    assert!(matches!(error, CurriculumError::NodeOutOfRange { value: 30, .. }), "{error}");
    let error = curriculum.update(0, &logits.losses(&[0, 4], &[0.1, f32::NAN])).unwrap_err();
    assert!(matches!(error, CurriculumError::Value { field: "losses", node: 4, .. }), "{error}");
    assert_eq!(curriculum.save(), before);
}

#[test]
fn features_of_another_graph_and_no_epochs_are_refused() {
    let graph = undirected(30, 80, 4);
    let features = Features::from(DenseFeatures::new(29, 1, vec![0.0; 29]).unwrap());
    let config = CurriculumConfig::edgepace();
    let error =
        Curriculum::new(&Threads::one(), Arc::clone(&graph), Some(&features), &config, 100, 0).unwrap_err();
    assert!(matches!(&error, CurriculumError::Refused(refusal) if refusal.field == "features"), "{error}");
    let error = Curriculum::new(&Threads::one(), graph, None, &config, 0, 0).unwrap_err();
    assert!(matches!(&error, CurriculumError::Refused(refusal) if refusal.field == "epochs"), "{error}");
}
