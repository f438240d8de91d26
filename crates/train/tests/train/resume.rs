//! A run that is saved and resumed ends with the bits of one that never stopped.

use std::sync::Arc;

use edgepace_graph::{Dataset, Split};
use edgepace_nn::Threads;
use edgepace_train::{Event, Finished, Material, PooledExpert, Run, RunConfig, Shelf, train};

use crate::sets::{circle, config, every_method, trained, weighted};

/// What two equal runs agree on: all but times and memory.
pub(crate) fn bits(finished: &Finished) -> (Vec<Vec<u32>>, String) {
    let of = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
    let Finished { record, config, snapshot, experts, edges } = finished;
    let mut numbers = vec![of(&snapshot.parameters), of(&snapshot.logits)];
    for PooledExpert { snapshot, .. } in experts {
        numbers.push(of(&snapshot.parameters));
        numbers.extend(snapshot.earlier.iter().map(|earlier| of(earlier)));
        numbers.extend(snapshot.beliefs.iter().map(|beliefs| of(&beliefs.compatibility)));
        numbers.extend(snapshot.structure.weights.iter().map(|weights| of(weights)));
    }
    if let Some(edges) = edges {
        numbers.extend([of(&edges.difficulty), of(&edges.weight), edges.first_epoch.clone()]);
    }
    let structure = &snapshot.structure;
    numbers.extend([&structure.weights, &structure.second_weights].into_iter().flatten().map(|w| of(w)));
    numbers.extend(structure.matrix.iter().map(|matrix| of(matrix)));
    let mut record = record.clone();
    (record.result.seconds, record.result.warm_start_seconds, record.result.peak_bytes) = (0.0, 0.0, None);
    record.trials.iter_mut().for_each(|trial| trial.seconds = 0.0);
    if let Some(cost) = &mut record.result.search {
        cost.seconds = 0.0;
    }
    let of_expert = |expert: &PooledExpert| {
        let PooledExpert { name, weight, calibration, config, snapshot, begins_with } = expert;
        let temperature = snapshot.beliefs.as_ref().map(|beliefs| beliefs.temperature);
        format!("{name} {weight} {calibration:?} {config:?} {begins_with:?} {temperature:?}")
    };
    let experts: Vec<String> = experts.iter().map(of_expert).collect();
    (numbers, format!("{record:?} {config:?} {experts:?}"))
}

/// Runs to the end, each epoch by a run that was resumed from what the one before it saved, on another number of threads.
pub(crate) fn in_pieces((dataset, split): &(Dataset, Split), config: &RunConfig) -> (Finished, usize) {
    let (material, judge) = Material::new(dataset, split).unwrap();
    let spec = config.check().unwrap().spec(&material, 3).unwrap();
    let mut run = Run::start(spec.clone(), &material, &Shelf::new(), &Threads::new(1).unwrap()).unwrap();
    let mut epochs = 0;
    while run.advance().unwrap().is_some() {
        epochs += 1;
        let state = run.save().unwrap();
        let (material, _) = Material::new(dataset, split).unwrap();
        let threads = Threads::new(1 + epochs % 2).unwrap();
        run = Run::resume(spec.clone(), &material, &Shelf::new(), &threads, &state).unwrap();
    }
    (run.finish(&judge, None).unwrap(), epochs)
}

/// The epochs of a run that never stops.
fn epochs_of((dataset, split): &(Dataset, Split), config: &RunConfig) -> usize {
    let mut epochs = 0;
    let mut listener = |event: &Event| {
        epochs += usize::from(matches!(event, Event::Epoch { .. }));
        true
    };
    train(dataset, split, config, 3, &Threads::new(1).unwrap(), &mut listener).unwrap();
    epochs
}

#[test]
fn every_method_resumed_after_each_epoch_gives_the_bits_of_an_uninterrupted_run() {
    let plain = circle("homophily=0.5,nodes=60,edges=300,classes=3", 1);
    let sets = [plain.clone(), weighted(plain)];
    for (set, mut config) in
        sets.iter().flat_map(|set| every_method().into_iter().map(move |config| (set, config)))
    {
        config.epochs = 13;
        if config.preset.as_deref() != Some("auto")
            && config.set("period", "4").is_ok()
            && config.check().is_err()
        {
            config.settings.clear();
        }
        let (whole, (pieces, epochs)) = (trained(set, &config, 1), in_pieces(set, &config));
        assert!(bits(&whole) == bits(&pieces), "{} {:?}", config.method, config.preset);
        assert_eq!(epochs, epochs_of(set, &config), "nothing is trained again: {}", config.method);
    }
}

#[test]
fn a_search_and_a_choice_go_on_in_the_middle_of_any_of_their_trainings() {
    let set = circle("homophily=0.5,nodes=60,edges=300,classes=3", 1);
    for settings in [
        &[("preset", "auto"), ("epochs", "3")][..],
        &[("method", "prune-overlap"), ("epochs", "2")],
        &[("method", "clnode"), ("search", "true"), ("epochs", "2")],
        &[("method", "rcl"), ("search", "true"), ("epochs", "2")],
        &[("method", "clnode"), ("search", "random:3"), ("epochs", "4")],
        &[("method", "rcl"), ("search", "random:3"), ("keep", "best"), ("epochs", "4")],
        &[("method", "rcl"), ("search", "halving:9"), ("keep", "best"), ("epochs", "6")],
        &[("method", "rcl"), ("patience", "2"), ("epochs", "30")],
    ] {
        let config = config(settings);
        let (whole, (pieces, epochs)) = (trained(&set, &config, 1), in_pieces(&set, &config));
        assert!(bits(&whole) == bits(&pieces), "{settings:?}");
        assert_eq!(epochs, epochs_of(&set, &config), "nothing is trained again: {settings:?}");
    }
}

#[test]
fn a_state_of_another_run_is_refused_with_what_does_not_fit() {
    let set = circle("homophily=0.5,nodes=60,edges=300,classes=3", 1);
    let (material, _) = Material::new(&set.0, &set.1).unwrap();
    let threads = Threads::new(1).unwrap();
    let spec = |settings: &[(&str, &str)]| config(settings).check().unwrap().spec(&material, 3).unwrap();
    let mut run = Run::start(spec(&[("method", "auto")]), &material, &Shelf::new(), &threads).unwrap();
    // In the second candidate.
    while !run.advance().unwrap().unwrap().iter().any(|event| format!("{event:?}").contains("number: 1")) {}
    let state = run.save().unwrap();
    for settings in [&[("method", "vanilla")][..], &[("method", "prune-overlap")]] {
        let error =
            Run::resume(spec(settings), &material, &Shelf::new(), &threads, &state).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("`trials` names `mlp`"), "{error}");
    }
    let wide = spec(&[("method", "auto"), ("hidden", "8")]);
    let error = Run::resume(wide, &material, &Shelf::new(), &threads, &state).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("`parameters`"), "{error}");
}

#[test]
fn a_warm_start_is_trained_once_wherever_it_is_needed() {
    let set = circle("homophily=0.5,nodes=60,edges=300,classes=3", 1);
    let (material, judge) = Material::new(&set.0, &set.1).unwrap();
    let (shelf, threads) = (Shelf::new(), Threads::new(1).unwrap());
    let epochs = |settings: &[(&str, &str)]| {
        let spec = config(settings).check().unwrap().spec(&material, 3).unwrap();
        let mut run = Run::start(spec, &material, &Arc::clone(&shelf), &threads).unwrap();
        let (_, expected) = run.progress();
        let mut done = 0;
        while run.advance().unwrap().is_some() {
            done += 1;
            assert_eq!(run.progress(), (done, expected - done), "what is expected does not change");
        }
        (expected, done, run.finish(&judge, None).unwrap())
    };
    let (expected, done, alone) = epochs(&[("method", "rcl"), ("epochs", "4")]);
    assert_eq!((expected, done), (16, 16), "plain training on both grounds, without edges, and the run");
    let (_, done, other) = epochs(&[("method", "clnode"), ("epochs", "4")]);
    assert_eq!(done, 4, "plain training on the paper's ground is the warm start of clnode");
    assert_eq!(other.record.result.warm_start_seconds, 0.0);
    let (_, done, _) = epochs(&[("method", "rcl"), ("epochs", "5")]);
    assert_eq!(done, 20, "other settings, other warm starts");
    let (_, _, again) = epochs(&[("method", "rcl"), ("epochs", "4")]);
    assert!(bits(&alone) == bits(&again));
}
