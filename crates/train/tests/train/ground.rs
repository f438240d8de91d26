//! The ground of a run: what is regularised and which epochs count, on its own and beside every method.

use edgepace_graph::Dataset;
use edgepace_graph::Split;
use edgepace_nn::Threads;
use edgepace_train::{Event, Finished, Material, SavedModel, WINDOW, train};

use crate::resume::{bits, in_pieces};
use crate::sets::{circle, config, trained, weighted};

fn set() -> (Dataset, Split) {
    circle("homophily=0.5,nodes=60,edges=300,classes=3", 1)
}

fn id(settings: &[(&str, &str)]) -> String {
    let (dataset, split) = set();
    let (material, _) = Material::new(&dataset, &split).unwrap();
    config(settings).check().unwrap().spec(&material, 3).unwrap().id().to_owned()
}

#[test]
fn a_ground_is_a_name_for_its_settings() {
    let plain = id(&[("method", "vanilla"), ("ground", "paper")]);
    let spelled_out = [
        ("method", "vanilla"),
        ("lr", "0.01"),
        ("layer_norm", "false"),
        ("weight_decay", "0"),
        ("decay_on", "first"),
        ("input_dropout", "0"),
        ("drop_edge", "0"),
        ("label_smoothing", "0"),
        ("epoch_rule", "accuracy"),
        ("ground", "strong"),
    ];
    assert_eq!(plain, id(&spelled_out), "what does nothing is not part of the id");
    let strong = id(&[("method", "vanilla"), ("ground", "strong")]);
    let spelled_out = [
        ("method", "vanilla"),
        ("weight_decay", "0.0005"),
        ("decay_on", "first"),
        ("drop_edge", "0.3"),
        ("epoch_rule", "window"),
        ("ground", "paper"),
    ];
    assert_eq!(strong, id(&spelled_out));
    for one in [
        ("weight_decay", "0.001"),
        ("decay_on", "all"),
        ("input_dropout", "0.1"),
        ("drop_edge", "0.1"),
        ("layer_norm", "true"),
        ("lr", "0.02"),
        ("label_smoothing", "0.1"),
        ("epoch_rule", "accuracy"),
        ("restart_after", "5"),
    ] {
        assert_ne!(strong, id(&[("method", "vanilla"), ("ground", "strong"), one]), "{one:?}");
    }
}

#[test]
fn edges_are_dropped_only_where_the_run_may() {
    for (method, backbone) in [("ptdnet", "gcn"), ("mlp", "gcn"), ("vanilla", "mlp"), ("gnn-svd", "sage")] {
        let settings = [("method", method), ("backbone", backbone)];
        let dropping = config(&[&settings[..], &[("drop_edge", "0.2")]].concat());
        let error = dropping.check().map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("`drop_edge` is 0.2, expected 0: "), "{error}");
        config(&[&settings[..], &[("ground", "strong")]].concat()).check().unwrap();
    }
}

#[test]
fn on_the_strong_ground_a_run_in_pieces_ends_with_the_same_bits_on_any_number_of_threads() {
    let set = weighted(set());
    for settings in [
        &[("method", "vanilla")][..],
        &[("method", "vanilla"), ("backbone", "sage"), ("input_dropout", "0.5")],
        &[("method", "vanilla"), ("backbone", "gin")],
        &[("method", "mlp"), ("input_dropout", "0.5"), ("layer_norm", "true")],
        &[("method", "vanilla"), ("layer_norm", "true")],
        &[("method", "vanilla"), ("pseudo_labels", "0.5")],
        &[("method", "rcl"), ("preset", "trust"), ("period", "4")],
        &[("method", "mlp"), ("lr", "0.2"), ("restart_after", "2")],
        &[("method", "rcl"), ("period", "4"), ("keep", "method")],
        &[("method", "rcl"), ("preset", "paper"), ("period", "4")],
        &[("method", "clnode")],
        &[("method", "ptdnet")],
    ] {
        let strong = [settings, &[("ground", "strong"), ("epochs", "14")]].concat();
        let config = config(&strong);
        let whole = trained(&set, &config, 1);
        if whole.record.result.plain_ground.is_none() {
            assert_eq!(whole.snapshot.earlier.len(), (whole.snapshot.epoch as usize).min(WINDOW - 1));
        }
        assert!(bits(&whole) == bits(&in_pieces(&set, &config).0), "{settings:?}");
        assert!(bits(&whole) == bits(&trained(&set, &config, 3)), "{settings:?}");
    }
}

#[test]
fn a_saved_window_answers_as_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for settings in [
        &[("method", "vanilla")][..],
        &[("method", "rcl"), ("period", "4"), ("keep", "method")],
        &[("method", "ptdnet")],
    ] {
        let set = set();
        let finished = trained(&set, &config(&[settings, &[("ground", "strong")]].concat()), 1);
        assert!(!finished.snapshot.earlier.is_empty());
        finished.write_model(&path, &set.0, None).unwrap();
        let logits = SavedModel::open(&path).unwrap().logits(&set.0).unwrap();
        assert!(logits == finished.snapshot.logits, "{settings:?}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// One after the other: the window of an epoch is the mean of what the epochs say, made by hand.
#[test]
fn a_window_is_the_mean_of_its_epochs() {
    let set = set();
    let settings = [("method", "vanilla"), ("epoch_rule", "window"), ("epochs", "6")];
    let window = trained(&set, &config(&settings), 1).snapshot;
    // Training goes on as it would without a window: each epoch by itself is the last one of a shorter run, told by a split
    // without validation nodes to keep the last.
    let (dataset, split) = &set;
    let blind = Split::new(
        "blind",
        dataset.graph().nodes(),
        split.train().to_vec(),
        Vec::new(),
        split.test().to_vec(),
    )
    .unwrap();
    let after = |epochs: u32| {
        let epochs = epochs.to_string();
        let config = config(&[("method", "vanilla"), ("epoch_rule", "accuracy"), ("epochs", &epochs)]);
        train(dataset, &blind, &config, 3, &Threads::new(1).unwrap(), &mut |_: &Event| true)
            .unwrap()
            .snapshot
            .logits
    };
    let epochs: Vec<Vec<f32>> = (1..=window.epoch + 1).map(after).collect();
    for (at, &mean) in window.logits.iter().enumerate() {
        let sum: f32 = epochs.iter().map(|logits| logits[at]).sum();
        let by_hand = sum / epochs.len() as f32;
        assert!((mean - by_hand).abs() < 1e-5, "{mean} and {by_hand}");
    }
}

/// What the features say is mostly chance, and nothing keeps the network from learning it: the best window is one of the first.
#[test]
fn a_network_that_learns_by_heart_begins_anew_with_more_weight_decay() {
    let set = circle("homophily=0.5,nodes=60,edges=300,classes=3,sigma=3000", 1);
    let settings = [
        ("method", "mlp"),
        ("ground", "strong"),
        ("lr", "0.05"),
        ("dropout", "0"),
        ("weight_decay", "0.01"),
        ("epochs", "60"),
    ];
    let of = |more: &[(&str, &str)]| trained(&set, &config(&[&settings[..], more].concat()), 1);
    let (once, twice) = (of(&[]), of(&[("restart_after", "4")]));
    let [once_loss, loss] = [&once, &twice].map(|run| &run.record.history.loss);
    let anew = (0..60).find(|&epoch| once_loss[epoch] != loss[epoch]).expect("it begins anew");
    assert!(anew > 4 && loss[anew] == loss[0], "from the parameters that it began with: {anew}, {loss:?}");
    assert!(loss[anew + 20] > once_loss[20], "held back by more weight decay: {anew}, {loss:?}");
    // The best of both counts.
    let log_loss = |run: &Finished| run.record.result.metrics["log-loss"].validation.unwrap();
    assert!(log_loss(&twice) <= log_loss(&once), "{} {}", log_loss(&twice), log_loss(&once));
    // One that has patience stops instead.
    let stopped = of(&[("restart_after", "4"), ("patience", "10")]).record.history.loss;
    assert!(stopped.len() < 60 && stopped[..] == once_loss[..stopped.len()]);
}
