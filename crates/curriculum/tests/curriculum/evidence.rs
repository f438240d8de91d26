//! The evidence kernel finds by itself what speaks for an edge.

use std::sync::Arc;

use edgepace_curriculum::{
    Curriculum, CurriculumConfig, Feedback, feature_similarity, neighbourhood_overlap,
};
use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{DenseFeatures, Features, Graph, SparseFeatures, Threads};

use crate::cases::{CLASSES, Said, undirected};

fn plain() -> CurriculumConfig {
    CurriculumConfig { average: 0.0, ..CurriculumConfig::edgepace() }
}

#[test]
fn kappa_is_a_rank_in_0_to_1() {
    let graph = undirected(150, 600, 8);
    let said = Said::new(150, 3);
    let mut curriculum =
        Curriculum::new(&Threads::one(), graph, Some(&said.features), &plain(), 100, 0).unwrap();
    curriculum.update(0, &said.feedback()).unwrap();
    let count = curriculum.pairs().len();
    let mut kappas: Vec<f64> = curriculum.residuals().iter().map(|&r| 1.0 - f64::from(r).sqrt()).collect();
    kappas.sort_by(f64::total_cmp);
    for (place, kappa) in kappas.iter().enumerate() {
        assert!((kappa - (place + 1) as f64 / count as f64).abs() < 1e-3 / count as f64 + 1e-6);
    }
}

#[test]
fn edges_within_a_class_rank_above_those_between_classes() {
    let graph = undirected(600, 3000, 8);
    let said = Said::new(600, 3);
    let mut curriculum =
        Curriculum::new(&Threads::one(), graph, Some(&said.features), &plain(), 100, 0).unwrap();
    curriculum.update(0, &said.feedback()).unwrap();
    let fit = curriculum.evidence().unwrap();
    assert!(fit.agreement > 0.1, "{fit:?}");
    assert!(fit.edges == curriculum.pairs().len() && fit.non_edges > fit.edges / 2, "{fit:?}");
    let mean = |same: bool| {
        let rated = curriculum.pairs().ends().iter().zip(curriculum.residuals());
        let chosen: Vec<f64> =
            rated.filter(|([i, j], _)| (i % 3 == j % 3) == same).map(|(_, &r)| f64::from(r)).collect();
        chosen.iter().sum::<f64>() / chosen.len() as f64
    };
    assert!(mean(true) + 0.1 < mean(false), "{} {}", mean(true), mean(false));
}

/// Cliques of six, and as many random edges as `noise`.
fn cliques(count: u32, noise: u64) -> Arc<Graph> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for clique in 0..count {
        for i in 0..6 {
            for j in 0..i {
                a.push(6 * clique + i);
                b.push(6 * clique + j);
            }
        }
    }
    let stream = Stream::new(3, Purpose::FakeEdges, 0);
    for edge in 0..noise {
        a.push(stream.below(2 * edge, u64::from(6 * count)) as u32);
        b.push(stream.below(2 * edge + 1, u64::from(6 * count)) as u32);
    }
    Arc::new(Graph::undirected(6 * count as usize, &a, &b).unwrap())
}

#[test]
fn overlap_means_much_among_cliques_and_nothing_in_a_random_graph() {
    let nodes = 600;
    let says_nothing = vec![0.0; nodes * CLASSES];
    let feedback = Feedback::new().logits(&says_nothing, CLASSES);
    let graph = cliques(100, 700);
    let mut curriculum =
        Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &plain(), 100, 0).unwrap();
    curriculum.update(0, &feedback).unwrap();
    let fit = *curriculum.evidence().unwrap();
    assert!(fit.jaccard + fit.adamic_adar > 1.0, "{fit:?}");
    assert_eq!((fit.agreement, fit.similarity), (0.0, 0.0), "columns without variance drop out");
    for (&[i, j], &residual) in curriculum.pairs().ends().iter().zip(curriculum.residuals()) {
        if i / 6 == j / 6 {
            assert!(residual < 0.5, "an edge of a clique is expected: {residual}");
        }
    }
    let stream = Stream::new(5, Purpose::GeneratedEdges, 0);
    let (a, b): (Vec<u32>, Vec<u32>) =
        (0..6000).map(|e| (stream.below(2 * e, 600) as u32, stream.below(2 * e + 1, 600) as u32)).unzip();
    let random = Arc::new(Graph::undirected(600, &a, &b).unwrap());
    let mut curriculum = Curriculum::new(&Threads::one(), random, None, &plain(), 100, 0).unwrap();
    curriculum.update(0, &feedback).unwrap();
    let fit = *curriculum.evidence().unwrap();
    // There the two columns are nearly one and the same, so that only their sum counts.
    assert!((fit.jaccard + fit.adamic_adar).abs() < 0.2, "{fit:?}");
}

#[test]
fn what_speaks_for_an_edge_can_be_had_by_itself() {
    // A triangle with a tail: only the edges of the triangle have a common neighbour, which makes all of their union but
    // for the tail at node 2.
    let graph = Graph::undirected(4, &[0, 1, 2, 2], &[1, 2, 0, 3]).unwrap();
    let overlap = neighbourhood_overlap(&Threads::one(), &Arc::new(graph.clone()).into()).unwrap();
    assert_eq!(edgepace_curriculum::Pairs::new(&graph).ends(), [[0, 1], [0, 2], [1, 2], [2, 3]]);
    assert_eq!(overlap.jaccard, [1.0, 0.5, 0.5, 0.0]);
    let rare = |degree: f32| (1.0 / degree.ln()).ln_1p();
    for (found, expected) in overlap.adamic_adar.iter().zip([rare(3.0), rare(2.0), rare(2.0), 0.0]) {
        assert!((found - expected).abs() < 1e-6);
    }
    let features = Features::from(DenseFeatures::new(4, 1, vec![-1.0, -1.0, 1.0, 1.0]).unwrap());
    assert_eq!(feature_similarity(&Threads::one(), &graph, &features).unwrap(), [0.0, -2.0, -2.0, 0.0]);
    let other = Features::from(DenseFeatures::new(3, 1, vec![0.0; 3]).unwrap());
    assert!(feature_similarity(&Threads::one(), &graph, &other).is_err());
}

#[test]
fn a_sample_of_edges_ranks_nearly_as_all_of_them_do() {
    let graph = undirected(600, 3000, 8);
    let said = Said::new(600, 3);
    let ranks = |samples| {
        let config = CurriculumConfig { evidence_samples: samples, ..plain() };
        let mut curriculum =
            Curriculum::new(&Threads::one(), Arc::clone(&graph), Some(&said.features), &config, 100, 0)
                .unwrap();
        curriculum.update(0, &said.feedback()).unwrap();
        assert!(curriculum.evidence().unwrap().edges <= samples);
        curriculum.residuals().iter().map(|&r| f64::from(r).sqrt()).collect::<Vec<f64>>()
    };
    let (all, some) = (ranks(1 << 18), ranks(1000));
    let off: f64 = all.iter().zip(&some).map(|(a, b)| (a - b).abs()).sum::<f64>() / all.len() as f64;
    assert!(off < 0.1, "{off}");
}

#[test]
fn hopeless_inputs_give_numbers() {
    // Complete: there is no non-edge. The agreement alone ranks.
    let complete = Arc::new(Graph::undirected(4, &[0, 0, 0, 1, 1, 2], &[1, 2, 3, 2, 3, 3]).unwrap());
    let logits = [9., 0., 9., 0., 0., 9., 5., 0.];
    let mut curriculum =
        Curriculum::new(&Threads::one(), Arc::clone(&complete), None, &plain(), 100, 0).unwrap();
    curriculum.update(0, &Feedback::new().logits(&logits, 2)).unwrap();
    assert_eq!(curriculum.evidence().unwrap().non_edges, 0);
    let best = complete.edge_id(0, 1).unwrap() as usize;
    assert_eq!(curriculum.residuals()[curriculum.pairs().pair_of()[best] as usize], 0.0);

    // Nothing varies, or everything does wildly.
    let ring: Vec<u32> = (0..40).collect();
    let next: Vec<u32> = (0..40).map(|i| (i + 1) % 40).collect();
    let graph = Arc::new(Graph::undirected(40, &ring, &next).unwrap());
    let constant = Features::from(DenseFeatures::new(40, 2, vec![3.0; 80]).unwrap());
    let empty = Features::from(SparseFeatures::new(40, 5, vec![0; 41], vec![], vec![]).unwrap());
    let wild: Vec<f32> = (0..80).map(|i| if i % 3 == 0 { 3e38 } else { -3e38 }).collect();
    let wild_features = Features::from(DenseFeatures::new(40, 2, wild.clone()).unwrap());
    for features in [&constant, &empty, &wild_features] {
        for logits in [&vec![0.0; 80], &wild] {
            let mut curriculum =
                Curriculum::new(&Threads::one(), Arc::clone(&graph), Some(features), &plain(), 100, 0)
                    .unwrap();
            curriculum.update(30, &Feedback::new().logits(logits, 2)).unwrap();
            assert!(curriculum.residuals().iter().all(|r| (0.0..=1.0).contains(r)));
            assert!(curriculum.weights().iter().all(|w| (0.0..=1.0).contains(w)));
        }
    }
}
