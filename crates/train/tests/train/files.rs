//! What a run leaves behind can be read again, and only as it was written.

use std::sync::Arc;

use edgepace_graph::{Dataset, Split};
use edgepace_nn::Threads;
use edgepace_train::{
    Finished, Material, Preparation, Run, RunRecord, SavedModel, Shelf, read_checkpoint, write_checkpoint,
};
use safetensors::tensor::{SafeTensors, TensorView, serialize};

use crate::resume::bits;
use crate::sets::{circle, config, every_method, trained};

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
    assert_eq!(own, id(&[("preset", "edgepace")], 1), "the default preset, named");
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
    for config in every_method() {
        let (dataset, split) = set();
        let finished = trained(&(dataset.clone(), split), &config, 1);
        finished.write_model(&path, &dataset).unwrap();
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
    finished.write_model(&path, &dataset).unwrap();
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
    finished.write_model(&path, &dataset).unwrap();
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
    // The same model for another graph: shapes are held to the model's.
    std::fs::write(&path, &bytes).unwrap();
    let (other, _) = circle("homophily=0.5,nodes=60,edges=300,classes=5", 1);
    let error = SavedModel::open(&path).unwrap().logits(&other).unwrap_err().to_string();
    assert!(
        error.contains("decoder.weight") && error.contains("[8, 3]") && error.contains("[8, 5]"),
        "{error}"
    );
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
