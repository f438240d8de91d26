//! Plain training that learns from what belief propagation says of nodes without a label.

use edgepace_data::{SplitRule, splits};
use edgepace_graph::{Dataset, Labels, ManyLabels, Split};
use edgepace_nn::Threads;
use edgepace_train::{Ground, Kept, Material};

use crate::sets::{circle, config, small, trained};

/// Few nodes have a label, and most edges are within a class.
fn few_labels() -> (Dataset, Split) {
    let (dataset, _) = circle("homophily=0.7,nodes=800,edges=4000,classes=5", 1);
    let rule: SplitRule = "fraction:0.04:0.1".parse().unwrap();
    let split = splits::make(&Threads::one(), &rule, &dataset, 1).unwrap();
    (dataset, split)
}

#[test]
fn where_labels_are_few_beliefs_are_worth_points() {
    let set = few_labels();
    for backbone in ["gcn", "sage"] {
        let test = |share: &str| {
            let settings = [("method", "vanilla"), ("backbone", backbone), ("pseudo_labels", share)];
            trained(&set, &config(&settings), 1).record.result.test.unwrap()
        };
        let [plain, taught] = ["0", "1"].map(test);
        assert!(taught > plain + 2.0, "{backbone}: {taught} with pseudo-labels, {plain} without");
    }
}

#[test]
fn the_curriculum_is_compared_with_plain_training_on_pseudo_labels() {
    let set = small();
    let run = |settings: &[(&str, &str)]| trained(&set, &config(settings), 1).record;
    let curriculum = run(&[("method", "rcl")]);
    assert_eq!(curriculum.result.plain_ground, None);
    let plain = run(&[("method", "vanilla"), ("ground", "strong"), ("pseudo_labels", "0.5")]);
    assert_eq!(curriculum.result.warm_start_validation, plain.result.validation);
    let without = run(&[("method", "vanilla"), ("ground", "strong")]);
    let alone = run(&[("method", "rcl"), ("pseudo_labels", "0")]);
    assert_eq!(alone.result.warm_start_validation, without.result.validation);
    assert_eq!(
        alone.result.method_validation, curriculum.result.method_validation,
        "it does not learn from them itself"
    );
    let loss = |record: &edgepace_train::RunRecord| record.history.loss.clone();
    assert_ne!(loss(&plain), loss(&without));
}

#[test]
fn beliefs_are_for_plain_training_alone() {
    for settings in [
        &[("method", "clnode")][..],
        &[("method", "auto")],
        &[("method", "rcl"), ("preset", "paper")],
        &[("method", "rcl"), ("keep", "method")],
        &[("method", "vanilla"), ("backbone", "mlp")],
    ] {
        let asked = config(&[settings, &[("pseudo_labels", "0.5")]].concat());
        let error = asked.check().map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("`pseudo_labels` is 0.5, expected 0: "), "{error}");
        config(&[settings, &[("pseudo_labels", "0")]].concat()).check().unwrap();
    }
    for share in ["-0.1", "1.5", "nan"] {
        let error = config(&[("pseudo_labels", share)]).check().map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("expected in [0, 1]"), "{error}");
    }
}

#[test]
fn of_nodes_with_many_labels_there_are_no_beliefs() {
    let (plain, split) = small();
    let values = (0..2 * plain.graph().nodes()).map(|at| u8::from(at % 3 == 0)).collect();
    let many = ManyLabels::new(plain.graph().nodes(), 2, values).unwrap();
    let dataset = plain.with_labels(Labels::from(many)).unwrap();
    let (material, _) = Material::new(&dataset, &split).unwrap();
    let asked = config(&[("method", "vanilla"), ("pseudo_labels", "0.5")]);
    let error = asked.check().unwrap().spec(&material, 1).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("`pseudo_labels` is 0.5, expected 0: nodes have many labels"), "{error}");
    let open = config(&[("method", "rcl")]).check().unwrap().spec(&material, 1).unwrap();
    assert_eq!(open.config().pseudo_labels, Some(0.0));
}

#[test]
fn edges_in_random_order_know_no_trust_and_no_beliefs() {
    let record = trained(&small(), &config(&[("method", "rcl"), ("order", "random")]), 1).record;
    assert_eq!((record.config.ground, record.config.pseudo_labels), (Some(Ground::Strong), Some(0.0)));
}

#[test]
fn each_trial_of_a_search_has_pseudo_labels_only_where_it_would_alone() {
    let set = small();
    let settings = [("method", "rcl"), ("ground", "strong"), ("search", "true"), ("epochs", "6")];
    let found = trained(&set, &config(&settings), 1).record;
    let again = trained(&set, &found.config, 1).record;
    assert_eq!((again.result.test, again.history), (found.result.test, found.history));
    let alone = config(&[("method", "rcl"), ("ground", "strong"), ("preset", "cosine"), ("epochs", "6")]);
    let alone = trained(&set, &alone, 1).record.result;
    let cosine = found.trials.iter().find(|trial| trial.label == "preset=cosine").expect("it is tried");
    assert_eq!(cosine.validation, alone.method_validation.map(|percent| percent / 100.0));
}

#[test]
fn plain_training_on_pseudo_labels_is_one_run_whatever_may_be_kept() {
    let set = small();
    let run = |keep: &[(&str, &str)]| {
        let settings =
            [&[("method", "vanilla"), ("ground", "strong"), ("pseudo_labels", "0.5")], keep].concat();
        trained(&set, &config(&settings), 1).record.result
    };
    let [open, best, method] = [&[][..], &[("keep", "best")], &[("keep", "method")]].map(run);
    assert!(open.id == best.id && open.id == method.id);
    assert_eq!((open.kept, open.warm_start_validation), (Kept::Method, None));
}
