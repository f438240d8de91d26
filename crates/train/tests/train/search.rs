//! Searches over combinations of settings: grid, random, successive halving. Choices are made on validation.

use edgepace_graph::{Dataset, Split};
use edgepace_train::{RunRecord, Trial};

use crate::sets::{circle, config, trained};

fn searched(settings: &[(&str, &str)]) -> RunRecord {
    trained(&small(), &config(settings), 1).record
}

fn small() -> (Dataset, Split) {
    circle("homophily=0.5,nodes=60,edges=300,classes=3", 1)
}

fn labels(record: &RunRecord) -> Vec<&str> {
    record.trials.iter().map(|trial| &trial.label[..]).collect()
}

#[test]
fn a_grid_trains_every_combination_and_keeps_the_best_on_validation() {
    let set = small();
    let record = searched(&[("method", "vanilla"), ("search", "grid"), ("epochs", "150")]);
    assert_eq!(record.trials.len(), 2 * 3, "epochs and learning rates");
    let cost = record.result.search.expect("it searched");
    assert_eq!((cost.trials, cost.epochs), (6, 3 * (150 + 500)));
    assert!(cost.seconds > 0.0);
    let mut best: Option<f64> = None;
    for epochs in ["150", "500"] {
        for lr in ["0.01", "0.005", "0.001"] {
            let one = trained(&set, &config(&[("method", "vanilla"), ("epochs", epochs), ("lr", lr)]), 1);
            best = if one.record.result.validation > best { one.record.result.validation } else { best };
        }
    }
    assert_eq!(record.result.validation, best);
    let again = trained(&set, &record.config, 1).record;
    assert!(!record.config.search.is_on(), "what is kept is one run like any other");
    assert_eq!((again.result.test, again.history), (record.result.test, record.history));
}

#[test]
fn the_grid_of_a_curriculum_has_the_papers_knob_and_that_of_another_method_its_own_settings() {
    let record = searched(&[("method", "rcl"), ("search", "grid"), ("epochs", "12")]);
    assert_eq!(record.trials.len(), 3 * 5, "learning rates and knobs: {:?}", labels(&record));
    assert!(labels(&record)[0].starts_with("epochs=12 lr=0.01 full_at=1"), "{:?}", labels(&record));
    let record = searched(&[("method", "gnn-svd"), ("search", "grid"), ("epochs", "2")]);
    let own = |setting: &str| labels(&record).iter().any(|label| label.contains(setting));
    assert!(own("rank=") && own("density="), "{:?}", labels(&record));
}

#[test]
fn a_search_leaves_what_is_set_and_its_cost_is_that_of_its_trainings() {
    for kind in ["grid", "random:4", "halving:9"] {
        let set = [("method", "rcl"), ("search", kind), ("epochs", "12"), ("lr", "0.02"), ("full_at", "0.5")];
        let record = searched(&set);
        let keeps = |label: &&str| {
            label.contains(" lr=0.02 ") && label.contains("full_at=0.5") && !label.contains("500")
        };
        assert!(labels(&record).iter().all(keeps), "{kind}: {:?}", labels(&record));
        assert_eq!(record.config.epochs, 12, "{kind}");
        let cost = record.result.search.expect("it searched");
        let epochs: u32 = record.trials.iter().map(|trial| trial.epochs).sum();
        assert_eq!((cost.trials, cost.epochs), (record.trials.len(), u64::from(epochs)), "{kind}");
        if kind != "halving:9" {
            assert_eq!(epochs as usize, 12 * record.trials.len(), "{kind}");
        }
    }
}

#[test]
fn a_random_search_draws_by_the_seed_and_each_combination_once() {
    let of = |number: &str| searched(&[("method", "clnode"), ("search", number), ("epochs", "4")]);
    let (some, again) = (of("random:4"), of("random:4"));
    assert_eq!(labels(&some), labels(&again));
    let mut distinct = labels(&some);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 4);
}

#[test]
fn halving_trains_many_briefly_and_the_best_third_of_them_to_the_end() {
    let record = searched(&[("method", "node-root"), ("search", "halving:9"), ("epochs", "150")]);
    assert_eq!(record.trials.len(), 9 + 3);
    let (brief, whole) = record.trials.split_at(9);
    let best = |trials: &[Trial]| trials.iter().filter_map(|trial| trial.validation).fold(f64::MIN, f64::max);
    assert!(brief.iter().all(|trial| [50, 167].contains(&trial.epochs)), "{brief:?}");
    assert!(whole.iter().all(|trial| [150, 500].contains(&trial.epochs)), "{whole:?}");
    // Who goes on was among the best three of the first round, by its settings without its epochs.
    let rest = |label: &str| label.split_once(' ').expect("epochs first").1.to_owned();
    let mut scores: Vec<f64> = brief.iter().filter_map(|trial| trial.validation).collect();
    scores.sort_by(f64::total_cmp);
    for trial in whole {
        let of_brief =
            |one: &&Trial| rest(&one.label) == rest(&trial.label) && one.epochs == trial.epochs.div_ceil(3);
        let before = brief.iter().find(of_brief).expect("it was tried before");
        assert!(before.validation >= Some(scores[9 - 3]), "{}", trial.label);
    }
    assert_eq!(record.result.validation, Some(100.0 * best(whole)), "what is kept comes from the last round");
}

#[test]
fn what_is_no_search_or_too_large_is_refused_with_what_is_legal() {
    let error = config(&[]).set("search", "gird").unwrap_err().to_string();
    assert!(error.contains("`gird`") && error.contains("random:N") && error.contains("halving"), "{error}");
    for method in ["auto", "prune-overlap"] {
        let error = config(&[("method", method), ("search", "grid")]).check().unwrap_err().to_string();
        assert!(error.starts_with("`search` is grid, expected false"), "{method}: {error}");
    }
}
