//! `auto`: experts as one answer.

use edgepace_graph::{Dataset, DenseFeatures, Features, Split};
use edgepace_train::Finished;

use crate::resume::{bits, in_pieces};
use crate::sets::{circle, config, trained};

fn set() -> (Dataset, Split) {
    circle("homophily=0.5,nodes=200,edges=1500,classes=3", 1)
}

fn weights(finished: &Finished) -> Vec<(&str, f64)> {
    finished.record.result.pool.iter().map(|expert| (&expert.expert[..], expert.weight)).collect()
}

#[test]
fn every_expert_is_as_if_it_had_run_alone() {
    let set = set();
    let auto = trained(&set, &config(&[("method", "auto")]), 1);
    let names: Vec<&str> = weights(&auto).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["mlp", "gcn", "sage", "rcl", "belief 0.5", "belief 1", "labels"]);
    assert!(weights(&auto).iter().all(|(_, weight)| *weight >= 0.0), "{:?}", weights(&auto));
    for (place, settings) in [
        &[("method", "mlp")][..],
        &[("method", "vanilla")],
        &[("method", "vanilla"), ("backbone", "sage")],
        &[("method", "rcl"), ("keep", "method")],
        &[("method", "belief"), ("strength", "0.5")],
        &[("method", "belief"), ("strength", "1.0")],
        &[("method", "label-propagation")],
    ]
    .into_iter()
    .enumerate()
    {
        // Plain training is as the paper has it, the others stand on the strong ground.
        let ground = if place == 1 { "paper" } else { "strong" };
        let settings: Vec<_> = settings.iter().copied().chain([("ground", ground)]).collect();
        let alone = trained(&set, &config(&settings), 1).record.result;
        let expert = &auto.record.result.pool[place];
        assert_eq!((expert.validation, expert.test), (alone.validation, alone.test), "{settings:?}");
    }
    assert_eq!(auto.record.result.chosen.as_deref(), Some("pool"));
    assert!(auto.edges.is_some(), "the curriculum says what it makes of edges");
}

#[test]
fn label_propagation_is_left_out_where_that_is_set_and_on_the_papers_ground() {
    let (set, more) = (set(), |more: &[_]| config(&[&[("method", "auto"), ("epochs", "3")], more].concat()));
    let [with, without] = [more(&[]), more(&[("labels", "false")])].map(|config| trained(&set, &config, 1));
    let names = |finished: &Finished| -> Vec<String> {
        weights(finished).into_iter().map(|(name, _)| name.to_owned()).collect()
    };
    assert_eq!(names(&without), ["mlp", "gcn", "sage", "rcl", "belief 0.5", "belief 1"]);
    assert_eq!(names(&with)[..6], names(&without));
    assert_eq!(names(&with)[6..], ["labels"]);
    assert_ne!(with.record.result.id, without.record.result.id);
    assert!(with.snapshot.logits != without.snapshot.logits);
    // There it makes no difference, and is no other run.
    let on_paper = |labels| trained(&set, &more(&[("ground", "paper"), ("labels", labels)]), 1);
    let [asked, not_asked] = ["true", "false"].map(on_paper);
    assert_eq!(names(&asked), names(&without));
    assert_eq!(asked.record.result.id, not_asked.record.result.id);
    assert!(asked.snapshot.logits == not_asked.snapshot.logits);
}

#[test]
fn a_pool_goes_on_in_the_middle_of_any_of_its_experts() {
    let set = circle("homophily=0.5,nodes=60,edges=300,classes=3", 1);
    for more in [("ground", "strong"), ("ground", "paper"), ("pick", "true")] {
        let config = config(&[("method", "auto"), ("epochs", "3"), more]);
        let whole = trained(&set, &config, 1);
        assert!(bits(&whole) == bits(&in_pieces(&set, &config).0), "{more:?}");
        assert!(bits(&whole) == bits(&trained(&set, &config, 3)), "{more:?}");
    }
}

#[test]
fn one_expert_can_be_picked() {
    let set = set();
    let auto = trained(&set, &config(&[("method", "auto"), ("pick", "true")]), 1);
    let chosen = auto.record.result.chosen.clone().unwrap();
    let picked: Vec<&str> =
        weights(&auto).into_iter().filter(|(_, weight)| *weight == 1.0).map(|(name, _)| name).collect();
    assert_eq!(picked, [&chosen[..]]);
    let scores = auto.record.result.pool.iter().map(|expert| expert.validation.unwrap());
    let best = scores.fold(f64::MIN, f64::max);
    assert!(auto.record.result.validation.unwrap() <= best);
}

#[test]
fn without_validation_nodes_experts_count_alike() {
    let (dataset, split) = set();
    let nodes = dataset.graph().nodes();
    let blind =
        Split::new("blind", nodes, split.train().to_vec(), Vec::new(), split.test().to_vec()).unwrap();
    let auto = trained(&(dataset, blind), &config(&[("method", "auto")]), 1);
    let all = weights(&auto);
    assert!(all.iter().all(|(_, weight)| (weight - 1.0 / all.len() as f64).abs() < 1e-12), "{all:?}");
    assert!(auto.record.result.validation.is_none() && auto.record.result.test.is_some());
}

#[test]
fn a_pool_is_not_said_to_have_learned_without_edges_where_one_expert_has() {
    // Too few epochs for the curriculum to let any edge in.
    let auto = trained(&set(), &config(&[("method", "auto"), ("epochs", "5")]), 1).record.result;
    let rcl = trained(&set(), &config(&[("method", "rcl"), ("epochs", "5")]), 1).record.result;
    let said = |result: &edgepace_train::RunResult| format!("{:?}", result.warnings).contains("NoEdgeEverIn");
    assert!(said(&rcl) && !said(&auto));
}

#[test]
fn two_classes_a_hundred_no_features_and_edges_at_random_are_defined() {
    let no_features = |(dataset, split): (Dataset, Split)| {
        let none = DenseFeatures::new(dataset.graph().nodes(), 0, Vec::new()).unwrap();
        (dataset.with_features(Features::from(none)).unwrap(), split)
    };
    for (what, set) in [
        ("two classes", circle("homophily=0.5,nodes=60,edges=300,classes=2", 1)),
        ("a hundred classes", circle("homophily=0.5,nodes=600,edges=1500,classes=100", 1)),
        ("no features", no_features(circle("homophily=0.8,nodes=60,edges=300,classes=3", 1))),
        // A neighbour is of each of three classes as often as of any other.
        ("every edge at random", circle("homophily=0.33,nodes=200,edges=1500,classes=3", 1)),
    ] {
        let auto = trained(&set, &config(&[("method", "auto"), ("epochs", "10")]), 1);
        assert!(auto.snapshot.logits.iter().all(|logit| logit.is_finite()), "{what}");
        let (test, all) = (auto.record.result.test.unwrap(), weights(&auto));
        assert!((0.0..=100.0).contains(&test) && all.len() == 7, "{what}: {test} {all:?}");
        assert!(all.iter().all(|(_, weight)| weight.is_finite() && *weight >= 0.0), "{what}: {all:?}");
        assert!(auto.edges.unwrap().weight.iter().all(|weight| (0.0..=1.0).contains(weight)), "{what}");
    }
}
