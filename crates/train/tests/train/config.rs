//! Bad settings are refused before the first epoch, with the field and what is legal.

use edgepace_nn::Threads;
use edgepace_train::{Event, RunConfig, train};

use crate::sets::small;

/// What a run says about settings that it refuses.
fn refusal(settings: &[(&str, &str)]) -> String {
    let (dataset, split) = small();
    let mut config = RunConfig::default();
    for (key, value) in settings {
        if let Err(error) = config.set(key, value) {
            return error.to_string();
        }
    }
    let mut silent = |event: &Event| panic!("{event:?} in a run that must be refused");
    let threads = Threads::new(1).unwrap();
    match train(&dataset, &split, &config, 0, &threads, &mut silent) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{settings:?} was not refused"),
    }
}

fn assert_says(settings: &[(&str, &str)], words: &[&str]) {
    let refusal = refusal(settings);
    for word in words {
        assert!(refusal.contains(word), "{settings:?}: `{refusal}` does not say `{word}`");
    }
}

#[test]
fn an_unknown_setting_is_named_with_the_legal_ones() {
    assert_says(&[("perriod", "5")], &["perriod", "period"]);
    assert_says(&[("method", "vanilla"), ("period", "5")], &["period", "vanilla are none"]);
}

#[test]
fn a_value_of_the_wrong_type_is_named_with_its_setting() {
    assert_says(&[("epochs", "many")], &["epochs", "many"]);
    assert_says(&[("period", "often")], &["period", "often"]);
    assert_says(&[("kernel", "magic")], &["kernel", "magic", "posterior", "evidence"]);
    assert_says(&[("features", "magic")], &["features", "magic", "standardise"]);
}

#[test]
fn a_value_out_of_range_is_named_with_the_range() {
    for (key, value, range) in [
        ("epochs", "0", "between 1"),
        ("lr", "0", "above 0"),
        ("lr", "inf", "finite"),
        ("weight_decay", "-1", "at least 0"),
        ("hidden", "0", "between 1"),
        ("dropout", "1", "[0, 1)"),
        ("full_at", "1.5", "(0, 1]"),
        ("average", "1", "[0, 1)"),
        ("period", "0", "at least 1"),
    ] {
        assert_says(&[(key, value)], &[key, range]);
    }
}

#[test]
fn unknown_methods_presets_and_backbones_are_refused_with_the_legal_names() {
    assert_says(&[("method", "magic")], &["method", "magic", "vanilla", "mlp", "rcl", "random", "auto"]);
    assert_says(&[("preset", "magic")], &["preset", "magic", "edgepace", "posterior", "official", "auto"]);
    assert_says(&[("backbone", "magic")], &["backbone", "magic", "gcn", "sage"]);
    assert_says(&[("method", "vanilla"), ("preset", "paper")], &["preset", "vanilla has no presets"]);
    assert_says(&[("method", "random"), ("preset", "auto")], &["preset", "auto", "edgepace"]);
}

#[test]
fn a_backbone_that_the_method_cannot_run_is_refused() {
    for method in ["rcl", "random", "auto"] {
        assert_says(&[("method", method), ("backbone", "mlp")], &["backbone", "mlp", "gcn, gin, sage, pna"]);
    }
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    assert_says(&[("residual_term", "mean")], &["residual_term", "off"]);
    assert_says(&[("preset", "official"), ("gamma", "0.5")], &["mask", "gamma 0"]);
}
