//! A run never validates worse than the plain training that it began with, and says which of both it kept.

use std::sync::Arc;

use edgepace_graph::{Dataset, Split};
use edgepace_nn::Threads;
use edgepace_train::{
    Finished, Ground, Kept, METHODS, Material, Preparation, Run, RunConfig, SavedModel, Shelf, Warning,
};

use crate::resume::bits;
use crate::sets::{circle, config, small, trained};

/// Features that hardly tell classes apart, edges that do.
fn informative_edges() -> (Dataset, Split) {
    circle("homophily=0.9,sigma=900,nodes=400,edges=2400,classes=5", 1)
}

/// Features that tell classes apart, edges that mislead.
fn misleading_edges() -> (Dataset, Split) {
    circle("homophily=0.05,sigma=60,nodes=400,edges=2400,classes=5", 1)
}

fn rcl(more: &[(&str, &str)]) -> RunConfig {
    config(&[&[("method", "rcl"), ("ground", "paper"), ("epochs", "60")], more].concat())
}

fn vanilla() -> RunConfig {
    config(&[("method", "vanilla"), ("epochs", "60")])
}

fn did_not_pay(finished: &Finished) -> Option<&Warning> {
    finished.record.result.warnings.iter().find(|warning| matches!(warning, Warning::DidNotPay { .. }))
}

#[test]
fn where_edges_carry_more_than_features_the_default_is_plain_training() {
    let set = informative_edges();
    let (default, plain) = (trained(&set, &rcl(&[]), 1), trained(&set, &vanilla(), 1));
    let result = &default.record.result;
    assert_eq!(result.kept, Kept::WarmStart);
    assert!(default.snapshot.parameters == plain.snapshot.parameters, "to the bit");
    assert!(default.snapshot.logits == plain.snapshot.logits);
    assert_eq!(result.validation, plain.record.result.validation);
    assert_eq!((result.test, result.best_epoch), (plain.record.result.test, plain.record.result.best_epoch));
    assert!(result.warm_start_validation > result.method_validation, "{result:?}");
    let warning = did_not_pay(&default).expect("a warning").to_string();
    assert!(warning.starts_with("plain training validates ") && warning.contains("was kept"), "{warning}");
    assert_eq!(default.record.config.method, "rcl", "the settings that bring the run back");
}

#[test]
fn edges_are_reported_by_the_curriculum_whatever_was_kept() {
    let set = informative_edges();
    let (default, method) = (trained(&set, &rcl(&[]), 1), trained(&set, &rcl(&[("keep", "method")]), 1));
    assert_eq!((default.record.result.kept, method.record.result.kept), (Kept::WarmStart, Kept::Method));
    assert!(default.edges.is_some() && default.edges == method.edges);
    assert_eq!(default.record.result.edges_history, method.record.result.edges_history);
    let warning = did_not_pay(&method).expect("a warning").to_string();
    assert!(warning.contains("but `keep` is `method`"), "{warning}");
}

#[test]
fn where_the_curriculum_pays_it_is_kept_to_the_bit() {
    let set = misleading_edges();
    let (default, method) = (trained(&set, &rcl(&[]), 1), trained(&set, &rcl(&[("keep", "method")]), 1));
    assert_eq!(default.record.result.kept, Kept::Method);
    assert!(default.snapshot == method.snapshot);
    assert!(did_not_pay(&default).is_none());
    assert_ne!(default.record.result.id, method.record.result.id, "what may be kept is part of the id");
}

#[test]
fn the_default_never_validates_worse_than_plain_training() {
    let mut kept = Vec::new();
    for (homophily, sigma) in [(0.1, 50), (0.3, 400), (0.5, 100), (0.7, 400), (0.9, 900)] {
        let set = circle(&format!("homophily={homophily},sigma={sigma},nodes=200,edges=1000,classes=4"), 1);
        for preset in ["edgepace", "paper"] {
            let result = trained(&set, &rcl(&[("preset", preset)]), 1).record.result;
            let plain = trained(&set, &vanilla(), 1).record.result;
            assert_eq!(result.warm_start_validation, plain.validation, "{homophily} {sigma} {preset}");
            let parts = [result.warm_start_validation, result.method_validation];
            assert_eq!(result.validation, parts[usize::from(result.kept == Kept::Method)]);
            assert!(result.validation >= plain.validation, "{homophily} {sigma} {preset}");
            if parts[0] >= parts[1] {
                assert_eq!(result.kept, Kept::WarmStart, "{homophily} {sigma} {preset}");
            }
            kept.push(result.kept);
        }
    }
    assert!(kept.contains(&Kept::Method) && kept.contains(&Kept::WarmStart), "{kept:?}");
}

#[test]
fn on_the_strong_ground_plain_training_on_the_paper_s_may_be_kept() {
    let set = informative_edges();
    let plain = trained(&set, &vanilla(), 1);
    // So much decay that nothing is learned.
    let held_back = [("ground", "strong"), ("weight_decay", "50"), ("decay_on", "all")];
    let finished = trained(&set, &rcl(&held_back), 1);
    let result = &finished.record.result;
    assert_eq!((result.kept, result.plain_ground), (Kept::WarmStart, Some(Ground::Paper)));
    assert!(finished.snapshot == plain.snapshot, "to the bit");
    assert_eq!(result.warm_start_validation, plain.record.result.validation);
    // Its own settings are those that its model file needs, whatever the run's are.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let other_shape = [("layer_norm", "true"), ("features", "counts")];
    let kept = trained(&set, &rcl(&[&held_back[..], &other_shape].concat()), 1);
    assert_eq!(kept.record.result.plain_ground, Some(Ground::Paper));
    assert_eq!((kept.config.features, kept.config.layer_norm), (Preparation::Lengths, Some(false)));
    assert_eq!((kept.config.hidden, kept.record.config.hidden), (Some(16), Some(16)));
    assert_eq!(kept.record.result.features.unwrap().preparation, Preparation::Lengths);
    kept.write_model(&path, &set.0, None).unwrap();
    let said = SavedModel::open(&path).unwrap().logits(&set.0).unwrap();
    assert!(said.iter().zip(&kept.snapshot.logits).all(|(a, b)| (a - b).abs() < 1e-5));
    assert_eq!(bits(&trained(&set, &kept.record.config, 1)), bits(&kept), "the record brings it back");
    // Answers count, whatever the metric is; of many labels there is none.
    let by_f1 = trained(&set, &rcl(&[&held_back[..], &[("metric", "macro-f1")]].concat()), 1).record.result;
    assert_eq!(by_f1.plain_ground, Some(Ground::Paper));
    // It must be better than that of the run's own ground.
    let mut grounds = Vec::new();
    for set in [set.clone(), misleading_edges(), circle("homophily=0.7,nodes=400,edges=2400,classes=5", 1)] {
        let result = trained(&set, &rcl(&[("ground", "strong"), ("pseudo_labels", "0")]), 1).record.result;
        let of = |ground| config(&[("method", "vanilla"), ("ground", ground), ("epochs", "60")]);
        let [paper, strong] =
            ["paper", "strong"].map(|ground| trained(&set, &of(ground), 1).record.result.validation);
        match result.plain_ground {
            None => assert_eq!(result.warm_start_validation, strong),
            Some(_) => assert!(paper > strong && result.warm_start_validation == paper),
        }
        grounds.push(result.plain_ground);
    }
    assert!(grounds.contains(&None) && grounds.contains(&Some(Ground::Paper)), "{grounds:?}");
    // Nothing else is compared with it.
    for settings in [&[("keep", "method"), ("ground", "strong")][..], &[("ground", "paper")]] {
        assert_eq!(trained(&set, &rcl(settings), 1).record.result.plain_ground, None);
    }
}

#[test]
fn a_search_has_plain_training_among_what_it_chooses_from() {
    let set = informative_edges();
    let with = [("search", "true"), ("preset", "edgepace"), ("epochs", "30")];
    let searched = trained(&set, &rcl(&with), 2).record;
    assert_eq!(searched.result.kept, Kept::WarmStart);
    assert_eq!(searched.result.chosen.as_deref(), Some("vanilla"));
    assert!(!searched.trials.is_empty());
    let pure = trained(&set, &rcl(&[&with[..], &[("keep", "method")]].concat()), 2).record.result;
    assert_eq!(pure.kept, Kept::Method);
    assert!(pure.validation < searched.result.validation);
}

#[test]
fn methods_to_compare_with_keep_what_they_made_unless_told_otherwise() {
    let set = informative_edges();
    for method in METHODS.iter().filter(|method| !["rcl", "auto"].contains(&method.name)) {
        let result = trained(&set, &config(&[("method", method.name), ("epochs", "4")]), 2).record.result;
        assert_eq!(result.kept, Kept::Method, "{}", method.name);
    }
    let told = config(&[("method", "random"), ("keep", "best"), ("epochs", "60")]);
    assert_eq!(trained(&set, &told, 1).record.result.kept, Kept::WarmStart);
    let error = RunConfig::default().set("keep", "worst").unwrap_err().to_string();
    assert!(error.contains("keep") && error.contains("best") && error.contains("method"), "{error}");
}

/// The default on a graph, ended after so many epochs, the warm start's with them.
fn ended_after((dataset, split): &(Dataset, Split), epochs: usize) -> Finished {
    let (material, judge) = Material::new(dataset, split).unwrap();
    let spec = rcl(&[]).check().unwrap().spec(&material, 3).unwrap();
    let threads = Threads::new(1).unwrap();
    let mut run = Run::start(spec, &material, &Shelf::new(), &threads).unwrap();
    for _ in 0..epochs {
        run.advance().unwrap();
    }
    run.finish(&judge, Some("enough")).unwrap()
}

#[test]
fn a_run_that_ends_early_keeps_the_better_of_what_it_has() {
    let set = informative_edges();
    for epochs in [20, 60] {
        assert_eq!(ended_after(&set, epochs).record.result.kept, Kept::WarmStart, "nothing else is there");
    }
    let one_more = ended_after(&set, 61).record.result;
    assert_eq!(one_more.kept, Kept::WarmStart);
    assert!(one_more.method_validation < one_more.warm_start_validation, "{one_more:?}");
    let other = ended_after(&misleading_edges(), 61 + 30).record.result;
    assert_eq!(other.kept, Kept::Method);
}

#[test]
fn a_warm_start_from_the_shelf_is_kept_like_one_that_was_trained() {
    let set = informative_edges();
    let (material, judge) = Material::new(&set.0, &set.1).unwrap();
    let (shelf, threads) = (Shelf::new(), Threads::new(1).unwrap());
    let finished = [(); 2].map(|()| {
        let spec = rcl(&[]).check().unwrap().spec(&material, 3).unwrap();
        let mut run = Run::start(spec, &material, &Arc::clone(&shelf), &threads).unwrap();
        while run.advance().unwrap().is_some() {}
        run.finish(&judge, None).unwrap()
    });
    assert_eq!(finished[0].record.result.kept, Kept::WarmStart);
    assert!(finished[0].snapshot == finished[1].snapshot);
    assert_eq!(finished[1].record.result.kept, Kept::WarmStart);
}

#[test]
fn without_validation_nodes_nothing_is_chosen_and_the_method_is_kept() {
    let (dataset, split) = small();
    let split =
        Split::new("none", split.nodes(), split.train().to_vec(), vec![], split.test().to_vec()).unwrap();
    let result = trained(&(dataset, split), &rcl(&[]), 1).record.result;
    assert_eq!((result.kept, result.validation, result.validation_se), (Kept::Method, None, None));
    assert!(result.warnings.contains(&Warning::NoValidation));
}
