//! The preset `trust`: edges by the probability that they are genuine.

use edgepace_graph::{Dataset, Labels, ManyLabels, Split};
use edgepace_train::{Ground, Kept, Material, RunConfig};

use crate::resume::{bits, in_pieces};
use crate::sets::{circle, config, trained, weighted};

/// Half of the edges are within a class.
fn set() -> (Dataset, Split) {
    circle("homophily=0.5,nodes=400,edges=3000,classes=3", 1)
}

fn trust(more: &[(&str, &str)]) -> RunConfig {
    let settings = [("method", "rcl"), ("preset", "trust"), ("keep", "method")];
    config(&settings.iter().chain(more).copied().collect::<Vec<_>>())
}

#[test]
fn edges_between_classes_are_trusted_least_and_weigh_least() {
    let (dataset, split) = set();
    let finished = trained(&(dataset.clone(), split), &trust(&[]), 1);
    let edges = finished.edges.unwrap();
    let Labels::Classes(classes) = &**dataset.labels() else { panic!("one class per node") };
    let graph = dataset.graph();
    let mut sums = [[0.0; 3]; 2];
    for (edge, (&source, target)) in graph.sources().iter().zip(graph.targets()).enumerate() {
        let of = &mut sums[usize::from(classes.of()[source as usize] == classes.of()[target as usize])];
        let numbers = [f64::from(edges.difficulty[edge]), f64::from(edges.weight[edge]), 1.0];
        of.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
    }
    let [between, within] = sums.map(|[difficulty, weight, count]| (difficulty / count, weight / count));
    assert!(between.0 > 2.0 * within.0, "difficulty {between:?} and {within:?}");
    assert!(within.1 > 2.0 * between.1, "weight {between:?} and {within:?}");
}

#[test]
fn it_goes_on_where_it_was_and_has_the_same_bits_on_any_number_of_threads() {
    let set = circle("homophily=0.5,nodes=60,edges=300,classes=3", 1);
    for set in [set.clone(), weighted(set)] {
        for keep in ["best", "method"] {
            let config = trust(&[("keep", keep), ("epochs", "4"), ("period", "2")]);
            let whole = trained(&set, &config, 1);
            assert!(bits(&whole) == bits(&in_pieces(&set, &config).0), "{keep}");
            assert!(bits(&whole) == bits(&trained(&set, &config, 3)), "{keep}");
        }
    }
}

#[test]
fn it_is_compared_with_plain_training_on_all_edges() {
    let set = set();
    for ground in ["paper", "strong"] {
        let own = [("ground", ground), ("keep", "best")];
        let result = trained(&set, &trust(&own), 1).record.result;
        let ground = if result.plain_ground.is_some() { "paper" } else { ground };
        let share = if ground == "strong" { "0.5" } else { "0" };
        let plain = config(&[("method", "vanilla"), ("ground", ground), ("pseudo_labels", share)]);
        let plain = trained(&set, &plain, 1).record.result;
        assert_eq!(result.warm_start_validation, plain.validation);
        if result.kept == Kept::WarmStart {
            assert_eq!(result.test, plain.test);
        }
    }
}

#[test]
fn the_strong_ground_has_it_by_default_but_for_ablations() {
    let (dataset, split) = set();
    let (material, _) = Material::new(&dataset, &split).unwrap();
    let preset = |settings: &[(&str, &str)]| {
        let checked = config(settings).check().unwrap();
        checked.spec(&material, 1).unwrap();
        checked.preset().map(ToOwned::to_owned)
    };
    assert_eq!(preset(&[("method", "rcl")]).as_deref(), Some("trust"));
    assert_eq!(preset(&[("method", "rcl"), ("ground", "paper")]).as_deref(), Some("edgepace"));
    assert_eq!(preset(&[("method", "random"), ("ground", "strong")]).as_deref(), Some("edgepace"));
}

#[test]
fn the_curriculum_stands_on_the_strong_ground_but_for_presets_that_were_chosen_on_the_paper_s() {
    let (material, _) = Material::new(&set().0, &set().1).unwrap();
    let ground = |settings: &[(&str, &str)]| {
        let spec = config(settings).check().unwrap().spec(&material, 1).unwrap();
        spec.config().ground.unwrap()
    };
    for (settings, expected) in [
        (&[("method", "rcl")][..], Ground::Strong),
        (&[("preset", "trust")], Ground::Strong),
        (&[("preset", "edgepace")], Ground::Paper),
        (&[("preset", "official")], Ground::Paper),
        (&[("preset", "edgepace"), ("ground", "strong")], Ground::Strong),
        (&[("method", "rcl-no-confidence")], Ground::Paper),
        (&[("method", "vanilla")], Ground::Paper),
    ] {
        assert_eq!(ground(settings), expected, "{settings:?}");
    }
}

#[test]
fn of_nodes_with_many_labels_features_and_neighbours_tell() {
    let (plain, split) = set();
    let Labels::Classes(classes) = &**plain.labels() else { panic!("one class per node") };
    let values = classes.of().iter().flat_map(|&class| [class == 0, class > 0].map(u8::from)).collect();
    let many = ManyLabels::new(plain.graph().nodes(), 2, values).unwrap();
    let set = (plain.with_labels(Labels::from(many)).unwrap(), split);
    let finished = trained(&set, &trust(&[]), 1);
    let weights = finished.edges.unwrap().weight;
    assert!(weights.iter().all(|weight| weight.is_finite()));
    assert!(weights.iter().any(|&weight| weight != weights[0]), "edges are told apart");
    let default = trained(&set, &config(&[]), 1).record.result;
    assert!(default.validation >= default.warm_start_validation);
}
