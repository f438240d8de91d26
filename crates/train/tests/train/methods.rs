//! Claims about every method of the registry.

use std::collections::BTreeSet;

use edgepace_nn::Threads;
use edgepace_train::{Event, Finished, METHODS, Phase, find_method, train};

use crate::sets::{circle, config, small, trained};

/// Whether a method's reader knows a setting: then it refuses a list by its type, and not the name.
fn is_read(method: &str, key: &str) -> bool {
    let mut config = config(&[("method", method)]);
    config.settings.insert(key.to_owned(), toml::Value::Array(Vec::new()));
    let refusal = config.check().unwrap_err().to_string();
    !refusal.contains("no such setting")
}

/// All settings of a method with a preset.
fn settings_of(method: &str, preset: &str) -> toml::Table {
    config(&[("method", method), ("preset", preset)]).check().unwrap().resolved().unwrap().settings
}

#[test]
fn the_listed_settings_are_those_that_can_be_set_and_have_the_defaults() {
    for method in METHODS {
        let listed: BTreeSet<String> = method.settings.iter().map(|setting| setting.name.into()).collect();
        assert_eq!(listed.len(), method.settings.len(), "{}: each once", method.name);
        for setting in &listed {
            assert!(is_read(method.name, setting), "{}: {setting}", method.name);
        }
        assert!(!is_read(method.name, "no_such_setting"), "{}", method.name);
        // What can be set and has no default is unset, and its meaning says what that means.
        let defaults = method.defaults().unwrap();
        assert!(defaults.keys().all(|key| listed.contains(key)), "{}", method.name);
        let single = method.presets.iter().filter(|&&preset| preset != "auto");
        let of_presets: Vec<toml::Table> = single.map(|preset| settings_of(method.name, preset)).collect();
        for setting in method.settings {
            let is_unset = |settings: &toml::Table| !settings.contains_key(setting.name);
            let unset = is_unset(&defaults) || of_presets.iter().any(is_unset);
            assert_eq!(unset, setting.meaning.contains("unset:"), "{}: {}", method.name, setting.name);
        }
    }
}

#[test]
fn defaults_are_legal_and_change_nothing_when_they_are_set() {
    let set = circle("homophily=0.5,nodes=60,edges=200,classes=3", 1);
    for method in METHODS.iter().filter(|method| !method.settings.is_empty()) {
        let plain = config(&[("method", method.name), ("epochs", "4")]);
        let mut explicit = plain.clone();
        explicit.settings = method.defaults().unwrap();
        let (plain, explicit) = (trained(&set, &plain, 1), trained(&set, &explicit, 1));
        // The presets that auto tries differ from the defaults of one.
        if method.name != "auto" {
            assert!(plain.snapshot.parameters == explicit.snapshot.parameters, "{}", method.name);
        }
    }
}

#[test]
fn every_method_runs_with_each_of_its_backbones() {
    let set = circle("homophily=0.5,nodes=60,edges=200,classes=3", 1);
    for method in METHODS {
        for backbone in method.backbones {
            let config = config(&[("method", method.name), ("backbone", backbone), ("epochs", "4")]);
            let trained = trained(&set, &config, 1);
            assert!(trained.record.result.test.is_some(), "{} {backbone}", method.name);
            assert!(trained.snapshot.logits.iter().all(|x| x.is_finite()), "{} {backbone}", method.name);
        }
    }
}

#[test]
fn ablations_differ_from_rcl_in_the_stated_settings_alone() {
    let of = |method: &str| find_method(method).unwrap().defaults().unwrap();
    let rcl = settings_of("rcl", "edgepace");
    for (method, stated) in [
        ("curriculum-linear", &["pace=\"linear\""][..]),
        ("curriculum-root", &["pace=\"root\""]),
        ("random", &["order=\"random\""]),
        ("random-linear", &["order=\"random\"", "pace=\"linear\""]),
        ("random-root", &["order=\"random\"", "pace=\"root\""]),
        ("rcl-no-appearance", &["smooth=false"]),
        ("rcl-no-confidence", &["confidence=\"off\""]),
        ("rcl-no-pretrain", &["warm_start=false"]),
    ] {
        let settings = of(method);
        assert_eq!(settings.len(), rcl.len(), "{method}");
        let differ = settings.iter().filter(|(key, value)| rcl.get(*key) != Some(value));
        let differ: Vec<String> = differ.map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(differ, stated, "{method}");
    }
}

#[test]
fn every_preset_of_every_method_is_legal() {
    for method in METHODS {
        for preset in method.presets {
            config(&[("method", method.name), ("preset", preset)]).check().unwrap();
        }
    }
}

#[test]
fn what_makes_an_ablation_cannot_be_set_otherwise() {
    for (method, key, value) in [
        ("curriculum-linear", "pace", "root"),
        ("random-root", "order", "learned"),
        ("rcl-no-appearance", "smooth", "true"),
        ("rcl-no-pretrain", "warm_start", "true"),
    ] {
        let refusal = config(&[("method", method), (key, value)]).check().unwrap_err().to_string();
        assert!(refusal.contains(key) && refusal.contains(method), "{refusal}");
    }
    config(&[("method", "curriculum-linear"), ("pace", "linear"), ("period", "5")]).check().unwrap();
}

#[test]
fn what_has_no_effect_cannot_be_set() {
    for (method, key, value, reason) in [
        ("curriculum-linear", "full_at", "0.5", "linear and root"),
        ("curriculum-root", "start_share", "0.3", "pace quantile"),
        ("random", "average", "0.8", "random order"),
        ("random-root", "kernel", "cosine", "random order"),
        ("rcl", "lambda_step", "0.1", "pace lambda"),
        ("rcl", "official_base", "2", "pace official"),
    ] {
        let settings = [("method", method), ("preset", "edgepace"), (key, value)];
        let refusal = config(&settings).check().unwrap_err().to_string();
        assert!(refusal.contains(key) && refusal.contains(reason), "{refusal}");
    }
    let by_steps = [("preset", "edgepace"), ("pace", "lambda"), ("lambda_step", "0.1")];
    config(&by_steps).check().unwrap();
    config(&[("method", "rcl"), ("kernel", "cosine"), ("evidence_ridge", "1")]).check().unwrap();
    // One of the presets that auto tries reads it, none reads this.
    config(&[("preset", "auto"), ("evidence_ridge", "2")]).check().unwrap();
    assert!(config(&[("preset", "auto"), ("lambda_step", "0.1")]).check().is_err());
}

#[test]
fn edges_of_an_ablation_come_in_at_its_pace() {
    let set = small();
    let all = set.0.graph().edges();
    for (method, share) in [("curriculum-linear", 0.5_f64), ("random-root", 0.5_f64.sqrt())] {
        let config = config(&[("method", method), ("epochs", "40"), ("period", "10")]);
        let history = trained(&set, &config, 1).record.result.edges_history;
        // Both directions of an undirected edge; edges of equal difficulty come in together.
        let expected = 2 * (share * all as f64 / 2.0 - 1e-9).ceil() as usize;
        assert_eq!(history[0], (0, 0), "{method}");
        assert_eq!(history[2].0, 20, "{method}");
        assert!(history[2].1.abs_diff(expected) <= 4, "{method}: {history:?}, {expected}");
    }
}

#[test]
fn only_methods_with_a_pre_trained_model_have_a_warm_start() {
    let set = small();
    let seconds = |method| trained(&set, &config(&[("method", method)]), 1).record.result.warm_start_seconds;
    for method in ["clnode", "node-linear", "node-root", "rcl", "rcl-no-confidence"] {
        assert!(seconds(method) > 0.0, "{method}");
    }
    for method in ["vanilla", "rcl-no-pretrain", "prune-features", "drop-edge"] {
        assert_eq!(seconds(method), 0.0, "{method}");
    }
}

#[test]
fn node_curricula_refuse_settings_out_of_range() {
    for (method, key, value, range) in [
        ("clnode", "alpha", "-1", "at least 0"),
        ("clnode", "start_share", "0", "(0, 1]"),
        ("clnode", "full_at", "1.1", "(0, 1]"),
        ("clnode", "pace", "slow", "geometric"),
        ("node-root", "full_at", "0", "(0, 1]"),
        ("prune-overlap", "drop", "1.5", "[0, 1]"),
        ("drop-edge", "rate", "-0.1", "[0, 1]"),
    ] {
        let refusal = config(&[("method", method), (key, value)]).check().unwrap_err().to_string();
        assert!(refusal.contains(key) && refusal.contains(range), "{refusal}");
    }
}

#[test]
fn a_search_keeps_the_best_on_validation_and_leaves_what_is_set() {
    let set = small();
    let searched = trained(&set, &config(&[("method", "gnn-svd"), ("search", "true"), ("density", "2")]), 2);
    assert!(!searched.record.config.search.is_on(), "what is kept is one run like any other");
    assert_eq!(searched.record.config.settings["density"].as_float(), Some(2.0));
    let best = ["50", "100", "300"]
        .map(|rank| trained(&set, &config(&[("method", "gnn-svd"), ("density", "2"), ("rank", rank)]), 2))
        .into_iter()
        .map(|one| one.record.result.validation)
        .fold(None, |best: Option<f64>, one| if one > best { one } else { best });
    assert_eq!(searched.record.result.validation, best);
    let again = trained(&set, &searched.record.config, 2);
    assert_eq!(
        again.record.result.test, searched.record.result.test,
        "the settings that it names bring its result back"
    );
    assert!(searched.record.result.chosen.is_some());
}

/// How many candidates a search has, how many epochs of warm start it makes, and what it keeps.
fn searched(settings: &[(&str, &str)]) -> (usize, usize, Finished) {
    let ((dataset, split), threads) = (small(), Threads::new(1).unwrap());
    let (mut candidates, mut warm) = (0, 0);
    let mut listener = |event: &Event| {
        match event {
            Event::Candidate { .. } => candidates += 1,
            Event::Epoch { phase: Phase::WarmStart, .. } => warm += 1,
            _ => {}
        }
        true
    };
    let config = config(&[settings, &[("search", "true"), ("epochs", "4")]].concat());
    let trained = train(&dataset, &split, &config, 3, &threads, &mut listener).unwrap();
    (candidates, warm, trained)
}

#[test]
fn a_search_makes_one_warm_start_and_keeps_what_a_run_of_its_own_makes_of_the_same_settings() {
    let (candidates, warm, kept) = searched(&[("method", "clnode")]);
    assert_eq!((candidates, warm), (1 + 2 + 2 + 2 + 3, 4));
    let alone = trained(&small(), &kept.record.config, 1);
    assert!(alone.snapshot.parameters == kept.snapshot.parameters);
}

#[test]
fn a_search_tries_what_differs_from_the_preset_and_what_the_method_takes() {
    // average, gamma, full_at, start_share, confidence, period
    let of_settings = 1 + 2 + 2 + 4 + 2 + 1 + 2;
    assert_eq!(searched(&[("method", "rcl"), ("preset", "edgepace")]).0, of_settings);
    // The mask by steps takes no gamma, its pace reads no start_share, and ρ once is neither of the values tried.
    assert_eq!(searched(&[("method", "rcl"), ("preset", "official")]).0, of_settings - 2 - 2 + 1);
    let (of_ablation, _, kept) = searched(&[("method", "rcl-no-confidence"), ("preset", "edgepace")]);
    assert_eq!(of_ablation, of_settings - 1);
    assert!(!kept.record.result.chosen.unwrap().contains("confidence"));
}

#[test]
fn a_search_tries_every_preset_unless_one_is_named() {
    // Set here because they depend on the preset otherwise.
    let [features, ground] = [("features", "standardise"), ("ground", "paper")];
    let named = searched(&[("preset", "edgepace"), features, ground]).2.record.result.validation;
    let free = searched(&[features, ground]).2.record.result;
    for preset in find_method("rcl").unwrap().presets.iter().filter(|&&preset| preset != "auto") {
        let config = config(&[("preset", preset), features, ground, ("epochs", "4")]);
        assert!(free.validation >= trained(&small(), &config, 1).record.result.validation, "{preset}");
    }
    let chosen = free.chosen.unwrap();
    assert!(free.validation == named || chosen.contains("preset="), "{chosen}");
    // The default is tried once, whichever it is.
    for (ground, default, other) in [("paper", "edgepace", "trust"), ("strong", "trust", "edgepace")] {
        let trials = searched(&[("ground", ground)]).2.record.trials;
        let tries =
            |preset: &str| trials.iter().filter(|trial| trial.label == format!("preset={preset}")).count();
        assert_eq!(
            (trials[0].label.as_str(), tries(default), tries(other)),
            ("the defaults", 0, 1),
            "{ground}"
        );
    }
}

#[test]
fn a_search_where_nothing_can_be_searched_is_refused() {
    for settings in [
        &[("method", "vanilla")][..],
        &[("method", "auto")],
        &[("method", "prune-features")],
        &[("method", "drop-edge")],
        &[("method", "node-root"), ("full_at", "0.5")],
    ] {
        let config = config(&[settings, &[("search", "true")]].concat());
        let error = config.check().unwrap_err().to_string();
        assert!(error.starts_with("`search` is true, expected false"), "{settings:?}: {error}");
    }
}

#[test]
fn the_history_of_edges_ends_with_what_the_last_epoch_trained_on() {
    let set = small();
    for method in [
        "ptdnet",
        "pro-gnn",
        "pro-gnn-sparse",
        "neural-sparse",
        "gnn-svd",
        "rcl",
        "prune-overlap",
        "drop-edge",
    ] {
        let mut last = 0;
        let mut listener = |event: &Event| {
            if let Event::Epoch { phase: Phase::Training, edges, .. } = event {
                last = *edges;
            }
            true
        };
        // Strong enough to close gates within the epochs that there are.
        let pressed: &[(&str, &str)] = if method == "ptdnet" { &[("sparsity", "5")] } else { &[] };
        let drop: &[(&str, &str)] = match method {
            "prune-overlap" => &[("drop", "0.5")],
            "drop-edge" => &[("rate", "0.5")],
            _ => &[],
        };
        let config = config(&[&[("method", method)][..], pressed, drop].concat());
        let trained = train(&set.0, &set.1, &config, 3, &Threads::new(1).unwrap(), &mut listener).unwrap();
        let history = trained.record.result.edges_history;
        assert_eq!(history.last().map(|&(_, edges)| edges), Some(last), "{method}: {history:?}");
    }
    assert!(
        trained(&set, &config(&[("method", "vanilla")]), 1).record.result.edges_history.is_empty(),
        "all edges, always"
    );
}

#[test]
fn methods_that_say_so_and_no_others_report_on_edges() {
    let set = small();
    for method in METHODS {
        let reports = trained(&set, &config(&[("method", method.name), ("epochs", "3")]), 2).edges.is_some();
        assert_eq!(reports, method.orders_edges, "{}", method.name);
    }
}
