//! Pool files of the right checksum and the wrong contents.

use edgepace_data::{Cache, SplitRule, load, splits};
use edgepace_graph::Dataset;
use edgepace_nn::Threads;

use super::*;
use crate::event::Silent;
use crate::run::{Finished, train};

fn pool() -> (Dataset, Finished) {
    let threads = Threads::one();
    let name = "synthetic:homophily=0.7,nodes=60,edges=300,classes=3,seed=1";
    let dataset = load(&threads, name, &Cache::at("unused")).unwrap();
    let split = splits::make(&threads, &SplitRule::standard(&dataset, 1), &dataset, 1).unwrap();
    let config = RunConfig::parse("method = 'auto'\nepochs = 4\nhidden = 4").unwrap();
    let finished = train(&dataset, &split, &config, 1, &threads, &mut Silent).unwrap();
    (dataset, finished)
}

/// What comes of a pool file with another header and other tensors, asked about new nodes.
fn refusal(
    dataset: &Dataset,
    finished: &Finished,
    change: impl FnOnce(&mut ModelHeader, &mut Vec<Tensor>),
) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    finished.write_model(&path, dataset, None).unwrap();
    let (mut header, mut tensors): (ModelHeader, _) = tensor_file::read(&path, &KIND).unwrap();
    change(&mut header, &mut tensors);
    tensor_file::write(&path, &KIND, &header, tensors).unwrap();
    let answer = SavedModel::open(&path).and_then(|model| model.logits_of_new(dataset, &Threads::one()));
    answer.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_tensor_of_an_expert_that_is_missing_or_of_another_shape_is_named() {
    let (dataset, finished) = pool();
    let names: Vec<String> = {
        let model = finished.model(&dataset, None).unwrap();
        let of = |(number, expert): (usize, &SavedModel)| {
            expert.tensors.iter().map(move |tensor| in_expert(number, &tensor.name)).collect::<Vec<_>>()
        };
        model.experts.iter().enumerate().flat_map(of).collect()
    };
    assert!(names.iter().any(|name| name.ends_with(EARLIER)), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with(COMPATIBILITY)), "{names:?}");
    for name in &names {
        let quoted = format!("`{name}`");
        // Without its earlier epochs a window is one of its last.
        if !name.ends_with(EARLIER) {
            let missing = refusal(&dataset, &finished, |_, tensors| tensors.retain(|one| one.name != *name));
            assert!(missing.contains(&quoted) && missing.contains("is not there"), "{missing}");
        }
        let reshaped = refusal(&dataset, &finished, |_, tensors| {
            let tensor = tensors.iter_mut().find(|one| one.name == *name).unwrap();
            tensor.shape.push(1);
        });
        assert!(reshaped.contains(&quoted) && reshaped.contains("expected"), "{reshaped}");
        let ids = refusal(&dataset, &finished, |_, tensors| {
            let tensor = tensors.iter_mut().find(|one| one.name == *name).unwrap();
            let count = tensor.shape.iter().product();
            tensor.numbers = Numbers::U32(vec![0; count].into());
        });
        assert!(ids.contains(&quoted) && ids.contains("single precision"), "{ids}");
    }
}

/// What is done to the header of an expert.
type Change = fn(&mut ExpertHeader);

#[test]
fn experts_that_no_pool_has_are_refused() {
    let (dataset, finished) = pool();
    let believing = finished.experts.iter().position(|expert| expert.begins_with.is_some()).unwrap();
    let changes: [(Change, &str); 8] = [
        (|expert| expert.weight = -1.0, "the weight -1"),
        (|expert| expert.calibration.sharpness = 0.0, "a positive sharpness"),
        (|expert| expert.calibration.guesses = 1.5, "a share of guesses"),
        (|expert| expert.begins_with.as_mut().unwrap().expert = usize::MAX, "expected one before it"),
        (|expert| expert.begins_with.as_mut().unwrap().temperature = -2.0, "a positive one"),
        (|expert| expert.begins_with = None, "is not there"),
        (|expert| drop(expert.config.settings.insert("sweeps".into(), 0.into())), "at least 1"),
        (|expert| drop(expert.config.settings.insert("strength".into(), "x".into())), "strength"),
    ];
    for (change, expected) in changes {
        let refused = refusal(&dataset, &finished, |header, _| change(&mut header.experts[believing]));
        assert!(refused.contains(expected), "{refused}");
    }
    let itself = refusal(&dataset, &finished, |header, _| {
        header.experts[believing].begins_with.as_mut().unwrap().expert = believing;
    });
    assert!(itself.contains("expected one before it"), "{itself}");
}
