//! What a run depends on, and what it does not.

use std::sync::Arc;

use edgepace_graph::{Classes, Dataset, Labels, Split};
use edgepace_train::Finished;

use crate::sets::{circle, config, every_method, small, trained};

/// All that two equal runs agree on, to the bit.
fn bits(trained: &Finished) -> (Vec<Vec<u32>>, u32, Option<u64>, String) {
    let of = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
    let (best, result) = (&trained.snapshot, &trained.record.result);
    let mut numbers = vec![of(&best.parameters), of(&best.logits)];
    if let Some(edges) = &trained.edges {
        numbers.extend([of(&edges.difficulty), of(&edges.weight), edges.first_epoch.clone()]);
    }
    let words = format!("{:?} {:?} {}", result.chosen, result.edges_history, result.evaluated_on);
    (numbers, best.epoch, best.validation.map(f64::to_bits), words)
}

/// The same dataset with another class for every test node.
fn with_other_test_labels((dataset, split): &(Dataset, Split)) -> (Dataset, Split) {
    let Labels::Classes(classes) = &**dataset.labels() else { panic!("one class per node") };
    let mut of = classes.of().to_vec();
    for &node in split.test() {
        of[node as usize] = (of[node as usize] + 1) % classes.width() as u32;
    }
    let labels = Labels::from(Classes::new(classes.width(), of).unwrap());
    (dataset.clone().with_labels(Arc::new(labels)).unwrap(), split.clone())
}

#[test]
fn test_labels_change_the_test_score_and_nothing_else() {
    let set = small();
    let changed = with_other_test_labels(&set);
    for config in every_method() {
        let (before, after) = (trained(&set, &config, 1), trained(&changed, &config, 1));
        assert!(bits(&before) == bits(&after), "{} {:?}", config.method, config.preset);
        assert!(
            before.record.result.test > after.record.result.test,
            "{} {:?}",
            config.method,
            config.preset
        );
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let set = circle("homophily=0.5,nodes=300,edges=5000,classes=5", 1);
    assert!(set.0.graph().edges() > 2 * 4096, "loops over edges, in blocks of 4096, are split");
    for mut config in every_method() {
        // Just past the second update of a curriculum.
        config.epochs = 22;
        let one = bits(&trained(&set, &config, 1));
        for threads in [2, 8] {
            let many = bits(&trained(&set, &config, threads));
            assert!(one == many, "{} {:?} on {threads} threads", config.method, config.preset);
        }
    }
}

#[test]
fn another_seed_gives_another_model() {
    let (dataset, split) = small();
    let threads = edgepace_nn::Threads::new(1).unwrap();
    let of = |seed| {
        let config = config(&[("method", "vanilla")]);
        edgepace_train::train(&dataset, &split, &config, seed, &threads, &mut edgepace_train::Silent).unwrap()
    };
    assert!(bits(&of(0)) != bits(&of(1)));
}

#[test]
fn the_preset_auto_keeps_the_best_on_validation_and_says_which() {
    let set = small();
    let auto = trained(&set, &config(&[("preset", "auto")]), 1);
    let chosen = auto.record.result.chosen.clone().unwrap();
    let mut best: Option<(f64, String)> = None;
    let candidates = [
        ("mlp", None),
        ("vanilla", None),
        ("rcl", Some("cosine")),
        ("rcl", Some("posterior")),
        ("rcl", Some("edgepace")),
    ];
    for (method, preset) in candidates {
        let mut config = config(&[("method", method), ("keep", "method")]);
        config.preset = preset.map(Into::into);
        let alone = trained(&set, &config, 1);
        let label = preset.map_or(method.to_owned(), |preset| format!("{method} {preset}"));
        if label == chosen {
            assert!(
                alone.snapshot.parameters == auto.snapshot.parameters,
                "{label} is as if it had run alone"
            );
        }
        let validation = alone.record.result.validation.unwrap();
        if best.as_ref().is_none_or(|(best, _)| validation > *best) {
            best = Some((validation, label));
        }
    }
    assert_eq!(best, Some((auto.record.result.validation.unwrap(), chosen)));
    assert!(auto.edges.is_some(), "edges are reported on whatever was chosen");
}
