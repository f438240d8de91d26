//! What pruning keeps, and how it chooses.

use edgepace_curriculum::{Pairs, feature_similarity, neighbourhood_overlap};
use edgepace_graph::{Dataset, Threads};
use edgepace_train::Audit;

use crate::sets::{config, small, trained};

/// What speaks for each undirected edge.
type Score = fn(&Dataset) -> Vec<f32>;

const SCORES: [(&str, Score); 2] = [
    // A constant factor and shift of each column changes no standardised distance.
    ("prune-features", |dataset| {
        feature_similarity(&Threads::one(), dataset.graph(), dataset.features()).unwrap()
    }),
    ("prune-overlap", |dataset| {
        neighbourhood_overlap(&Threads::one(), &dataset.weighted_graph().unwrap()).unwrap().jaccard
    }),
];

#[test]
fn a_stated_share_of_the_edges_goes_and_none_that_stays_scores_lower() {
    let set = small();
    let pairs = Pairs::new(set.0.graph());
    for (method, score) in SCORES {
        let scores = score(&set.0);
        let trained = trained(&set, &config(&[("method", method), ("drop", "0.3")]), 1);
        assert_eq!(trained.record.result.chosen, None, "nothing was left to choose");
        assert_eq!(trained.record.result.evaluated_on, "pruned");
        let left = 2 * (pairs.len() - pairs.len() * 3 / 10);
        assert_eq!(trained.record.result.edges_history, [(0, left)]);
        assert_eq!(trained.snapshot.structure.graph.as_ref().unwrap().edges(), left);
        let report = trained.edges.unwrap();
        assert_eq!(report.weight.iter().filter(|&&weight| weight == 1.0).count(), left);
        let of = |stays: bool| {
            let chosen =
                report.weight.iter().zip(pairs.pair_of()).filter(move |(w, _)| (**w == 1.0) == stays);
            chosen.map(|(_, &pair)| scores[pair as usize])
        };
        let highest_gone = of(false).fold(f32::NEG_INFINITY, f32::max);
        let lowest_left = of(true).fold(f32::INFINITY, f32::min);
        assert!(highest_gone <= lowest_left + 1e-5, "{method}: {highest_gone} {lowest_left}");
        for (edge, &twin) in set.0.graph().twins().unwrap().iter().enumerate() {
            assert_eq!(report.weight[edge], report.weight[twin as usize]);
        }
    }
}

#[test]
fn the_share_is_the_best_on_validation_and_the_result_says_which() {
    let set = small();
    for (method, _) in SCORES {
        let chosen = trained(&set, &config(&[("method", method)]), 1);
        let mut best: Option<(f64, String)> = None;
        for tenths in 0..10 {
            let share = (f64::from(tenths) / 10.0).to_string();
            let alone = trained(&set, &config(&[("method", method), ("drop", &share)]), 1);
            let label = format!("drop {share}");
            if Some(&label) == chosen.record.result.chosen.as_ref() {
                assert!(
                    alone.snapshot.parameters == chosen.snapshot.parameters,
                    "{label} is as if it had run alone"
                );
            }
            let validation = alone.record.result.validation.unwrap();
            if best.as_ref().is_none_or(|(best, _)| validation > *best) {
                best = Some((validation, label));
            }
        }
        assert_eq!(
            best,
            Some((chosen.record.result.validation.unwrap(), chosen.record.result.chosen.unwrap())),
            "{method}"
        );
    }
}

#[test]
fn dropping_nothing_is_plain_training_and_dropping_all_leaves_no_edge() {
    let set = small();
    let vanilla = trained(&set, &config(&[("method", "vanilla")]), 1);
    let nothing = trained(&set, &config(&[("method", "prune-overlap"), ("drop", "0")]), 1);
    assert!(vanilla.snapshot.parameters == nothing.snapshot.parameters);
    let all = trained(&set, &config(&[("method", "prune-overlap"), ("drop", "1")]), 1);
    assert_eq!(all.record.result.edges_history, [(0, 0)]);
    let mlp = trained(&set, &config(&[("method", "mlp")]), 1);
    assert!(all.snapshot.logits == mlp.snapshot.logits, "a GCN without edges is the edge-free model");
}

#[test]
fn an_audit_can_take_up_what_pruning_found() {
    let set = small();
    let trained = trained(&set, &config(&[("method", "prune-features"), ("drop", "0.5")]), 1);
    let report = trained.edges.unwrap();
    let audit = Audit::new(&Threads::one(), &set.0, &report).unwrap();
    assert!(report.difficulty.iter().all(|difficulty| (0.0..=1.0).contains(difficulty)));
    assert_eq!(audit.suspicion.len(), set.0.graph().edges());
}
