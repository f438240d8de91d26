//! What a run leaves behind can be read again, and only as it was written.

use std::sync::Arc;

use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Labels, Names, Split, UNLABELLED};
use edgepace_nn::{Threads, argmax, softmax};
use edgepace_train::{
    Finished, Material, Preparation, Run, RunRecord, SavedModel, Shelf, probabilities, read_checkpoint,
    write_checkpoint,
};
use safetensors::tensor::{SafeTensors, TensorView, serialize};

use crate::resume::bits;
use crate::sets::{circle, config, every_method, trained, weighted};

fn set() -> (Dataset, Split) {
    circle("homophily=0.5,nodes=60,edges=300,classes=3", 1)
}

#[test]
fn a_record_is_read_as_it_was_written() {
    for config in every_method() {
        let record = trained(&set(), &config, 1).record;
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(RunRecord::parse(&text).unwrap(), record, "{}", config.method);
        let id = &record.result.id;
        assert!(id.len() == 32 && id.chars().all(|digit| digit.is_ascii_hexdigit()), "{id}");
    }
    let mut other =
        serde_json::to_value(trained(&set(), &config(&[("method", "vanilla")]), 1).record).unwrap();
    other["schema"] = 7.into();
    let error = RunRecord::parse(&other.to_string()).unwrap_err().to_string();
    assert!(error.contains("schema 7, expected 1"), "{error}");
}

#[test]
fn the_config_of_a_record_brings_its_bits_and_its_id_back() {
    for config in every_method() {
        let first = trained(&set(), &config, 1);
        let again = trained(&set(), &first.record.config, 1);
        let (one, other) = (&first.snapshot, &again.snapshot);
        assert!(one.parameters == other.parameters && one.logits == other.logits, "{}", config.method);
        if first.record.result.chosen.is_none() {
            assert_eq!(first.record.result.id, again.record.result.id, "{}", config.method);
        }
    }
}

#[test]
fn the_id_changes_with_all_that_changes_the_result_and_with_nothing_else() {
    let (material, _) = Material::new(&set().0, &set().1).unwrap();
    let id = |settings: &[(&str, &str)], seed| {
        config(settings).check().unwrap().spec(&material, seed).unwrap().id().to_owned()
    };
    let own = id(&[], 1);
    assert_eq!(own, id(&[("preset", "trust")], 1), "the default preset, named");
    let on_paper = id(&[("ground", "paper")], 1);
    assert_eq!(on_paper, id(&[("preset", "edgepace")], 1), "the same on the paper's ground");
    assert_eq!(own, id(&[("features", "standardise"), ("metric", "accuracy")], 1), "what is decided anyway");
    let others = [
        id(&[], 2),
        id(&[("epochs", "31")], 1),
        id(&[("lr", "0.02")], 1),
        id(&[("period", "5")], 1),
        id(&[("backbone", "gin")], 1),
        id(&[("method", "random")], 1),
        id(&[("metric", "macro-f1")], 1),
        id(&[("search", "true")], 1),
        id(&[("preset", "auto")], 1),
        on_paper,
    ];
    for (number, other) in others.iter().enumerate() {
        assert!(*other != own && !others[..number].contains(other), "number {number}");
    }
    let (other, _) =
        Material::new(&circle("homophily=0.5,nodes=60,edges=300,classes=3", 2).0, &set().1).unwrap();
    assert_ne!(own, config(&[]).check().unwrap().spec(&other, 1).unwrap().id());
}

#[test]
fn a_model_file_answers_as_the_run_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let both =
        every_method().into_iter().flat_map(|config| [(config.clone(), set()), (config, weighted(set()))]);
    for (config, (dataset, split)) in both {
        let finished = trained(&(dataset.clone(), split), &config, 1);
        finished.write_model(&path, &dataset, None).unwrap();
        let model = SavedModel::open(&path).unwrap();
        assert_eq!(model.header().id, finished.record.result.id);
        let (found, expected) = (model.logits(&dataset).unwrap(), &finished.snapshot.logits);
        if finished.snapshot.structure.matrix.is_none() {
            assert!(found == *expected, "{}", config.method);
        } else {
            // A matrix is kept as its edges, which are summed in another order.
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{}", config.method);
        }
    }
}

#[test]
fn a_model_file_keeps_what_was_done_to_the_features_for_others_to_come() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let (dataset, split) = set();
    let finished = trained(&(dataset.clone(), split), &config(&[("method", "vanilla")]), 1);
    finished.write_model(&path, &dataset, None).unwrap();
    let kept = SavedModel::open(&path).unwrap().preparation(2).unwrap();
    assert_eq!(kept, Preparation::Standardise.fit(dataset.features()));
    let (other, _) = circle("homophily=0.5,nodes=60,edges=300,classes=3,sigma=9", 2);
    let fitted_anew = Preparation::Standardise.apply(other.features()).unwrap();
    assert_ne!(kept.apply(other.features()).unwrap(), fitted_anew, "statistics are those of training");
    let error = SavedModel::open(&path).unwrap().preparation(3).unwrap_err().to_string();
    assert!(error.contains("feature_mean") && error.contains("[2]") && error.contains("[3]"), "{error}");
}

/// The file with one tensor of another shape.
fn reshaped(bytes: &[u8], name: &str) -> Vec<u8> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
    let file = SafeTensors::deserialize(bytes).unwrap();
    let views = file.iter().map(|(own, view)| {
        let mut shape = view.shape().to_vec();
        if own == name {
            shape.reverse();
        }
        (own.to_owned(), TensorView::new(view.dtype(), shape, view.data()).unwrap())
    });
    serialize(views.collect::<Vec<_>>(), metadata.metadata().clone()).unwrap()
}

#[test]
fn a_model_file_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let (dataset, split) = set();
    let finished: Finished = trained(&(dataset.clone(), split), &config(&[("hidden", "8")]), 1);
    finished.write_model(&path, &dataset, None).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let refusal = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        SavedModel::open(&path).map(|_| ()).unwrap_err().to_string()
    };
    let transposed = refusal(&reshaped(&bytes, "conv1.weight"));
    assert!(transposed.contains("it is damaged"), "{transposed}");
    for place in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        std::fs::write(&path, &changed).unwrap();
        // A space of the padding may become another letter that is no part of the contents.
        if let Ok(model) = SavedModel::open(&path) {
            assert!(model.logits(&dataset).unwrap() == finished.snapshot.logits, "byte {place}");
        }
    }
    for length in [0, 7, 100, bytes.len() - 1] {
        refusal(&bytes[..length]);
    }
    // One of an earlier version.
    let needle = br#"\"version\":4"#;
    let place = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
    let mut old = bytes.clone();
    old[place + needle.len() - 1] = b'2';
    let old = refusal(&old);
    assert!(old.contains("it is a model of version 2, expected model of version 4"), "{old}");
}

#[test]
fn a_model_knows_its_data_and_how_sure_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let (dataset, split) = set();
    let dataset =
        dataset.with_class_names(Names::new(["a", "b", "c"])).unwrap().with_encoding("how it was encoded");
    let columns = dataset.features().cols();
    let names = Names::new((0..columns).map(|column| format!("x{column}")));
    let dataset = dataset.with_feature_names(names).unwrap();
    let finished = trained(&(dataset.clone(), split), &config(&[]), 1);
    finished.write_model(&path, &dataset, Some("where it came from")).unwrap();
    let model = SavedModel::open(&path).unwrap();
    let header = model.header();
    assert_eq!(header.source.as_deref(), Some("where it came from"));
    assert_eq!(header.encoding.as_deref(), Some("how it was encoded"));
    assert_eq!(header.class_names.as_deref(), Some(&["a", "b", "c"].map(String::from)[..]));
    assert_eq!((header.inputs, header.feature_names.as_ref().map(Vec::len)), (columns, Some(columns)));
    let temperature = finished.record.result.temperature.expect("there are validation nodes");
    assert_eq!(header.temperature, Some(temperature));
    let logits = &finished.snapshot.logits;
    let scaled: Vec<f64> = logits.iter().map(|&logit| f64::from(logit) / temperature).collect();
    let of = |calibrate| probabilities(&[(&model, logits.clone())], calibrate);
    let (raw, calibrated) = (of(false), of(true));
    for (node, (raw, calibrated)) in raw.chunks(3).zip(calibrated.chunks(3)).enumerate() {
        let expected: Vec<f64> = softmax(&scaled[3 * node..][..3]).collect();
        assert!(calibrated.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "node {node}");
        assert_eq!(argmax(raw), argmax(calibrated), "the class stays");
    }
    // Of two models the mean: here of one that says what the other does and one that says nothing.
    let nothing = vec![0.0; logits.len()];
    let both = probabilities(&[(&model, logits.clone()), (&model, nothing)], false);
    assert!(both.iter().zip(&raw).all(|(both, one)| (both - f64::midpoint(*one, 1.0 / 3.0)).abs() < 1e-12));
    let metrics = &finished.record.result.metrics;
    assert!(
        metrics.contains_key("calibration-error") && metrics.contains_key("calibration-error-calibrated")
    );
}

#[test]
fn without_validation_nodes_there_is_no_temperature() {
    let (dataset, split) = set();
    let alone = Split::new("alone", 60, split.train().to_vec(), vec![], split.test().to_vec()).unwrap();
    let finished = trained(&(dataset, alone), &config(&[]), 1);
    assert_eq!(finished.record.result.temperature, None);
    let metrics = &finished.record.result.metrics;
    assert_eq!(metrics["calibration-error"].test, metrics["calibration-error-calibrated"].test);
}

#[test]
fn a_model_answers_for_a_graph_that_it_has_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let threads = Threads::new(1).unwrap();
    let (dataset, split) = set();
    for backbone in ["gcn", "gin", "sage", "pna", "mlp"] {
        let settings = [("backbone", backbone), ("method", "vanilla")];
        let finished = trained(&(dataset.clone(), split.clone()), &config(&settings), 1);
        finished.write_model(&path, &dataset, None).unwrap();
        let model = SavedModel::open(&path).unwrap();
        // Plain training weighs every edge as 1, so the training graph taken as a new one gets the same answers.
        assert!(model.logits_of_new(&dataset, &threads).unwrap() == finished.snapshot.logits, "{backbone}");
        // Two copies of the graph beside each other: each node as before, whatever else there is.
        let nodes = dataset.graph().nodes() as u32;
        let twice = |ids: &[u32]| [ids, &ids.iter().map(|id| id + nodes).collect::<Vec<_>>()].concat();
        let graph = Graph::from_edges(
            2 * nodes as usize,
            &twice(dataset.graph().sources()),
            &twice(&dataset.graph().targets()),
        )
        .unwrap();
        let Features::Dense(dense) = &**dataset.features() else { panic!("dense") };
        let features =
            DenseFeatures::new(2 * nodes as usize, dense.cols(), dense.values().repeat(2)).unwrap();
        let unlabelled = Labels::from(Classes::new(0, vec![UNLABELLED; 2 * nodes as usize]).unwrap());
        let new = Dataset::new("twice", graph, Features::from(features), unlabelled, vec![]).unwrap();
        let found = model.logits_of_new(&new, &threads).unwrap();
        assert_eq!(found.len(), 2 * finished.snapshot.logits.len());
        let expected = finished.snapshot.logits.repeat(2);
        let close = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-4 * (1.0 + b.abs()));
        assert!(close, "{backbone}: statistics of the training, not of the new graph");
    }
}

/// A curriculum's network has learned from neighbours that count for less than 1.
#[test]
fn edges_of_a_graph_that_it_has_not_seen_weigh_what_others_did_on_average() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let threads = Threads::new(1).unwrap();
    let (dataset, split) = set();
    let settings = [("keep", "method"), ("evaluation", "weighted"), ("epochs", "60"), ("period", "1")];
    let finished = trained(&(dataset.clone(), split), &config(&settings), 1);
    finished.write_model(&path, &dataset, None).unwrap();
    let model = SavedModel::open(&path).unwrap();
    let weights = finished.snapshot.structure.weights.as_ref().expect("weights of a curriculum");
    let mean = weights.iter().map(|&weight| f64::from(weight)).sum::<f64>() / weights.len() as f64;
    assert!(
        0.0 < mean && mean < 1.0 && (model.header().mean_weight.expect("a mean") - mean).abs() < 1e-12,
        "{mean}"
    );
    // The same as if the data said so itself to a model that weighs every edge as it is.
    let new = model.logits_of_new(&dataset, &threads).unwrap();
    let halves = vec![0.5_f32; dataset.graph().edges()];
    let halved = dataset.clone().with_edge_columns([(Dataset::WEIGHT.to_owned(), halves.into())]).unwrap();
    let of_halves = model.logits_of_new(&halved, &threads).unwrap();
    assert!(new != finished.snapshot.logits, "the mean is not what each edge has");
    assert!(new != of_halves, "weights of its own count too");
}

#[test]
fn features_that_the_model_does_not_know_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let threads = Threads::new(1).unwrap();
    let (plain, split) = set();
    let named = |names: &[&str]| {
        let width = names.len();
        let values = (0..60 * width).map(|at| (at % 7) as f32).collect();
        let values = DenseFeatures::new(60, width, values).unwrap();
        let dataset = plain.clone().with_features(Features::from(values)).unwrap();
        dataset.with_feature_names(Names::new(names)).unwrap()
    };
    let own = named(&["age", "height", "income"]);
    trained(&(own.clone(), split), &config(&[("features", "none")]), 1)
        .write_model(&path, &own, None)
        .unwrap();
    let model = SavedModel::open(&path).unwrap();
    let refusal = |names: &[&str]| model.logits_of_new(&named(names), &threads).unwrap_err().to_string();
    assert!(model.logits_of_new(&named(&["age", "height", "income"]), &threads).is_ok());
    let unknown = refusal(&["age", "height", "income", "shoe size"]);
    assert!(unknown.contains("`shoe size`") && !unknown.contains("`age`"), "{unknown}");
    let missing = refusal(&["age"]);
    assert!(missing.contains("`height`"), "{missing}");
    let order = refusal(&["height", "age", "income"]);
    assert!(order.contains("order of the training: `age`, `height`, `income`"), "{order}");
    let unnamed = model.logits_of_new(&plain, &threads).unwrap_err().to_string();
    assert!(unnamed.contains("the 3 that the model was trained on"), "{unnamed}");
}

#[test]
fn a_checkpoint_file_holds_all_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let (dataset, split) = set();
    let config = config(&[("method", "auto"), ("epochs", "6")]);
    let whole = trained(&(dataset.clone(), split.clone()), &config, 1);
    let (material, judge) = Material::new(&dataset, &split).unwrap();
    let threads = Threads::new(1).unwrap();
    let spec = config.check().unwrap().spec(&material, 3).unwrap();
    let mut run = Run::start(spec.clone(), &material, &Shelf::new(), &threads).unwrap();
    let mut epochs = 0;
    while run.advance().unwrap().is_some() {
        epochs += 1;
        if epochs % 5 == 0 {
            write_checkpoint(&path, &spec, run.save().unwrap(), epochs).unwrap();
            let (state, history) = read_checkpoint(&path, &spec).unwrap();
            assert_eq!((&state, history), (&run.save().unwrap(), epochs));
            run = Run::resume(spec.clone(), &material, &Arc::default(), &threads, &state).unwrap();
        }
    }
    assert!(bits(&whole) == bits(&run.finish(&judge, None).unwrap()));
}
