//! What `DropEdge` trains and evaluates on, and how it chooses its rate.

use crate::sets::{config, small, trained};

#[test]
fn every_epoch_trains_on_other_edges_and_all_of_them_are_evaluated_on() {
    let set = small();
    let trained = trained(&set, &config(&[("method", "drop-edge"), ("rate", "0.4")]), 1);
    let result = &trained.record.result;
    assert_eq!(result.chosen, None, "nothing was left to choose");
    assert_eq!(result.evaluated_on, "full");
    assert_eq!(result.edges_history.len(), 30, "each epoch draws anew");
    let counts: Vec<usize> = result.edges_history.iter().map(|&(_, edges)| edges).collect();
    assert!(counts.windows(2).any(|pair| pair[0] != pair[1]), "{counts:?}");
    assert!(counts.iter().all(|edges| edges % 2 == 0), "both directions go together: {counts:?}");
    let mean = counts.iter().sum::<usize>() as f64 / 30.0;
    let expected = 0.6 * set.0.graph().edges() as f64;
    // 2 · √(1500 · 0.24 / 30) = 6.9 is one standard deviation of the mean.
    assert!((mean - expected).abs() < 32.0, "{mean}, {expected} expected");
    assert!(trained.snapshot.structure.graph.is_none() && trained.snapshot.structure.weights.is_none());
}

#[test]
fn the_rate_is_the_best_on_validation_and_the_result_says_which() {
    let set = small();
    let chosen = trained(&set, &config(&[("method", "drop-edge")]), 1);
    let mut best: Option<(f64, String)> = None;
    for tenths in 1..=7 {
        let rate = (f64::from(tenths) / 10.0).to_string();
        let alone = trained(&set, &config(&[("method", "drop-edge"), ("rate", &rate)]), 1);
        let label = format!("rate {rate}");
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
    let result = chosen.record.result;
    assert_eq!(best, Some((result.validation.unwrap(), result.chosen.unwrap())));
}

#[test]
fn leaving_out_nothing_is_plain_training_on_every_backbone() {
    let set = small();
    for backbone in ["gcn", "gin", "sage", "pna"] {
        let of = |settings: &[(&str, &str)]| {
            let shared = [("backbone", backbone), ("epochs", "5")];
            trained(&set, &config(&[settings, &shared].concat()), 2).snapshot
        };
        let (plain, nothing) = (of(&[("method", "vanilla")]), of(&[("method", "drop-edge"), ("rate", "0")]));
        assert!(plain.parameters == nothing.parameters && plain.logits == nothing.logits, "{backbone}");
    }
}
