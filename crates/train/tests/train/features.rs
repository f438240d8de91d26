//! What a run learns from: features as they are given, however they are stored, or others where there are none.

use std::sync::Arc;

use edgepace_graph::{Dataset, DenseFeatures, Features, Labels, SparseFeatures, Split};
use edgepace_train::{FeaturesFrom, Ground, Preparation, RunConfig, SavedModel};

use crate::sets::{circle, config, every_method, trained};

type Set = (Dataset, Split);

/// Communities whose nodes have very different degrees, as blogs that link to each other have, and no features.
fn blogs(homophily: f64) -> Set {
    let spec = format!("blocks:nodes=600,edges=5000,classes=2,homophily={homophily},features=0,seed=1");
    let cache = edgepace_data::Cache::at("unused");
    let dataset = edgepace_data::load(&edgepace_nn::Threads::one(), &spec, &cache).unwrap();
    let rule = edgepace_data::SplitRule::standard(&dataset, 0);
    let split = edgepace_data::splits::make(&edgepace_nn::Threads::one(), &rule, &dataset, 0).unwrap();
    (dataset, split)
}

fn with_features((dataset, split): &Set, features: Features) -> Set {
    (dataset.clone().with_features(features).unwrap(), split.clone())
}

/// The same numbers dense, and sparse with every zero stored.
fn both_ways(rows: usize, values: &[f32]) -> [Features; 2] {
    let cols = values.len() / rows;
    let offsets = (0..=rows).map(|row| row * cols).collect();
    let columns = (0..rows).flat_map(|_| 0..cols as u32).collect();
    [
        DenseFeatures::new(rows, cols, values.to_vec()).unwrap().into(),
        SparseFeatures::new(rows, cols, offsets, columns, values.to_vec()).unwrap().into(),
    ]
}

#[test]
fn equal_numbers_give_equal_bits_however_they_are_stored() {
    let set = circle("homophily=0.5,nodes=80,edges=400,classes=4", 1);
    let nodes = set.0.graph().nodes();
    let class = |node: usize| set.0.labels().width() * node / nodes;
    let words = |node: usize, column: usize| f32::from(u8::from((node * 7 + column * 3) % 11 == class(node)));
    let numbers = |node: usize, column: usize| ((node * 31 + column * 17) % 23) as f32 - 7.0;
    for (of, cols, expected) in [
        (&words as &dyn Fn(usize, usize) -> f32, 40, [Preparation::Lengths, Preparation::Counts]),
        (&numbers, 3, [Preparation::Standardise; 2]),
    ] {
        let values: Vec<f32> = (0..nodes)
            .flat_map(|node| (0..cols).map(move |column| (node, column)))
            .map(|(n, c)| of(n, c))
            .collect();
        let [dense, sparse] = both_ways(nodes, &values);
        for settings in [
            &[("method", "vanilla")][..],
            &[("method", "rcl")],
            &[("method", "prune-features"), ("drop", "0.3")],
        ] {
            let config = config(settings);
            let dense = trained(&with_features(&set, dense.clone()), &config, 1);
            let sparse = trained(&with_features(&set, sparse.clone()), &config, 1);
            let strong = dense.record.config.ground == Some(Ground::Strong);
            assert_eq!(dense.record.config.features, expected[usize::from(strong)]);
            assert_eq!(dense.record.config, sparse.record.config);
            assert!(dense.snapshot.logits == sparse.snapshot.logits, "{settings:?}");
            assert_eq!(dense.edges, sparse.edges, "{settings:?}");
        }
    }
}

#[test]
fn a_graph_without_features_is_learned_from_a_column_for_each_node() {
    let set = blogs(0.9);
    assert_eq!(set.0.features().cols(), 0);
    let run = |settings: &[(&str, &str)]| {
        let mut config = RunConfig::default();
        for (key, value) in settings {
            config.set(key, value).unwrap();
        }
        trained(&set, &config, 1).record
    };
    let auto = run(&[]);
    let used = auto.result.features.unwrap();
    assert_eq!((used.columns, used.from, used.preparation), (600, FeaturesFrom::Identity, Preparation::None));
    assert_eq!(used.to_string(), "600 columns, one for each node");
    let degree = run(&[("features_from", "degree")]);
    let (auto, degree) = (auto.result.test.unwrap(), degree.result.test.unwrap());
    assert!(auto >= 90.0 && degree <= 80.0, "{auto} with a column for each node, {degree} with degrees");
    let spectral = run(&[("features_from", "spectral")]).result.test.unwrap();
    assert!(spectral >= 90.0, "{spectral}");
}

#[test]
fn every_method_learns_from_made_features_and_its_model_answers_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let set = circle("homophily=0.5,nodes=60,edges=300,classes=3", 1);
    let set = with_features(&set, DenseFeatures::new(60, 0, Vec::new()).unwrap().into());
    for mut config in every_method() {
        config.epochs = 3;
        config.features_from = FeaturesFrom::Spectral;
        if config.method == "rcl" && config.preset.is_none() || config.method == "vanilla" {
            config.features_from = FeaturesFrom::Auto;
        }
        let finished = trained(&set, &config, 1);
        if let Some(edges) = &finished.edges {
            assert!(edges.difficulty.iter().all(|x| x.is_finite()), "{}", config.method);
        }
        finished.write_model(&path, &set.0, None).unwrap();
        let model = SavedModel::open(&path).unwrap();
        let (found, expected) = (model.logits(&set.0).unwrap(), &finished.snapshot.logits);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{}", config.method);
        let refused = model.logits_of_new(&set.0, &edgepace_nn::Threads::one()).unwrap_err().to_string();
        let from = finished.record.config.features_from;
        assert!(refused.contains(from.name()), "{refused}");
    }
}

#[test]
fn what_is_asked_for_stands_instead_of_given_features() {
    let set = circle("homophily=0.5,nodes=60,edges=300,classes=3", 1);
    for (asked, columns, fits) in [
        ("identity", 60, false),
        ("degree", 1, true),
        ("spectral", 61, false),
        ("none", 1, true),
        ("given", 2, true),
    ] {
        let config = config(&[("method", "vanilla"), ("epochs", "3"), ("features_from", asked)]);
        let record = trained(&set, &config, 1).record;
        let used = record.result.features.unwrap();
        assert_eq!((used.columns, used.from.name(), used.from.fits_new_nodes()), (columns, asked, fits));
        assert_eq!(record.config.features_from, used.from);
    }
    let none = with_features(&set, DenseFeatures::new(60, 0, Vec::new()).unwrap().into());
    let (material, _) = edgepace_train::Material::new(&none.0, &none.1).unwrap();
    let error = config(&[("features_from", "given")]).check().unwrap().spec(&material, 1).unwrap_err();
    assert!(error.to_string().contains("`features_from` is given"), "{error}");
    let error = RunConfig::default().set("features_from", "degrees").unwrap_err().to_string();
    assert!(error.contains("identity") && error.contains("spectral"), "the legal ones are listed: {error}");
}

#[test]
fn nodes_without_features_are_filled_in_where_they_are_many() {
    let set = circle("homophily=0.5,nodes=60,edges=300,classes=3", 1);
    let Features::Dense(own) = &**set.0.features() else { panic!("coordinates are dense") };
    let with_empty = |empty: usize| {
        let mut values = own.values().to_vec();
        values[..2 * empty].fill(0.0);
        with_features(&set, DenseFeatures::new(60, 2, values).unwrap().into())
    };
    let used = |empty| {
        trained(&with_empty(empty), &config(&[("method", "vanilla")]), 1).record.result.features.unwrap()
    };
    assert_eq!((used(15).columns, used(15).from), (2, FeaturesFrom::Given));
    assert_eq!((used(16).columns, used(16).from), (18, FeaturesFrom::Filled));
}

#[test]
fn features_that_are_made_are_the_same_after_a_resume_and_on_any_number_of_threads() {
    let set = blogs(0.8);
    for from in ["identity", "spectral"] {
        let config = config(&[("features_from", from), ("epochs", "6"), ("period", "2")]);
        let whole = trained(&set, &config, 1);
        let (pieces, _) = crate::resume::in_pieces(&set, &config);
        assert!(crate::resume::bits(&whole) == crate::resume::bits(&pieces), "{from}");
        let threads = trained(&set, &config, 3);
        assert!(crate::resume::bits(&whole) == crate::resume::bits(&threads), "{from}");
    }
}

#[test]
fn features_of_a_material_are_made_once() {
    let set = blogs(0.8);
    let (material, _) = edgepace_train::Material::new(&set.0, &set.1).unwrap();
    let spec = config(&[]).check().unwrap().spec(&material, 1).unwrap();
    let threads = edgepace_nn::Threads::one();
    let first = material.prepared(spec.config(), &threads).unwrap();
    assert!(Arc::ptr_eq(&first, &material.prepared(spec.config(), &threads).unwrap()));
}

/// Nodes with some of 300 words: as many as `of` says of the node and its class.
fn wordy(of: impl Fn(usize, usize) -> usize) -> Set {
    let set = circle("homophily=0.5,nodes=400,edges=2000,classes=4", 1);
    let nodes = set.0.graph().nodes();
    let Labels::Classes(classes) = &**set.0.labels() else { panic!("one class per node") };
    let mut values = vec![0.0; nodes * 300];
    for (node, row) in values.chunks_exact_mut(300).enumerate() {
        let words = of(node, classes.of()[node] as usize);
        (0..words).for_each(|word| row[(node * 71 + word * 37) % 300] = 1.0);
    }
    with_features(&set, both_ways(nodes, &values)[1].clone())
}

/// Classes differ in how many words their nodes have.
fn few_words() -> Set {
    wordy(|node, class| 1 + 4 * class + node % 3)
}

#[test]
fn where_words_are_few_the_strong_ground_tells_how_many() {
    let few = few_words();
    let run = |settings: &[(&str, &str)]| trained(&few, &config(settings), 1).record;
    let on = |ground, features| {
        let settings = [("method", "mlp"), ("epochs", "60"), ("ground", ground), ("features", features)];
        run(&settings)
    };
    let counted = on("strong", "auto");
    let used = counted.result.features.unwrap();
    assert_eq!((used.columns, used.preparation), (321, Preparation::Counts));
    assert_eq!(used.to_string(), "321 columns, rows of length 1 with their number of words");
    assert_eq!(counted.result.id, on("strong", "counts").result.id);
    let [with, without] = [counted, on("strong", "lengths")].map(|record| record.result.test.unwrap());
    assert!(with > without + 5.0, "{with} with the number of words, {without} without");
    let paper = on("paper", "auto");
    assert_eq!(paper.config.features, Preparation::Lengths);
    // Where words are many, they tell it themselves, and where all nodes have as many there is nothing to tell.
    for of in [(|node, class| 12 + 4 * class + node % 3) as fn(usize, usize) -> usize, |_, _| 3] {
        let settings = [("method", "mlp"), ("ground", "strong")];
        let record = trained(&wordy(of), &config(&settings), 1).record;
        assert_eq!(record.config.features, Preparation::Lengths);
    }
}

#[test]
fn plain_training_on_the_paper_s_ground_is_that_of_the_paper_whatever_the_run_s_features_are() {
    let few = few_words();
    let (material, judge) = edgepace_train::Material::new(&few.0, &few.1).unwrap();
    let (shelf, threads) = (edgepace_train::Shelf::new(), edgepace_nn::Threads::one());
    let start = |settings: &[(&str, &str)]| {
        let spec = config(settings).check().unwrap().spec(&material, 3).unwrap();
        edgepace_train::Run::start(spec, &material, &shelf, &threads).unwrap()
    };
    let left = || start(&[("method", "rcl"), ("epochs", "12")]).progress().1;
    assert_eq!(left(), 4 * 12);
    // Each of what it is compared with, or starts from, is a run of its own on the shelf.
    for (done, plain) in [
        &[("method", "vanilla")][..],
        &[("method", "mlp"), ("ground", "strong")],
        &[("method", "vanilla"), ("ground", "strong"), ("pseudo_labels", "0.5")],
    ]
    .into_iter()
    .enumerate()
    {
        let mut run = start(&[plain, &[("epochs", "12")]].concat());
        while run.advance().unwrap().is_some() {}
        run.finish(&judge, None).unwrap();
        assert_eq!(left(), (3 - done as u64) * 12, "{plain:?}");
    }
}

#[test]
fn a_pool_leaves_features_to_its_experts() {
    let few = few_words();
    let run = |settings: &[(&str, &str)]| {
        trained(&few, &config(&[&[("method", "auto"), ("epochs", "12")], settings].concat()), 1)
    };
    let pool = run(&[]);
    let of =
        |name: &str| pool.experts.iter().find(|expert| expert.name == name).map(|one| one.config.features);
    assert_eq!(of("sage"), Some(Preparation::Counts));
    assert_eq!(pool.record.result.features.unwrap().preparation, Preparation::Counts);
    let again = trained(&few, &pool.record.config, 1);
    assert!(again.record.result.id == pool.record.result.id && again.snapshot.logits == pool.snapshot.logits);
    assert_ne!(run(&[("features", "counts")]).record.result.id, pool.record.result.id);
}

#[test]
fn a_model_with_counts_answers_the_same_from_its_file_and_for_new_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let few = few_words();
    for settings in [&[("method", "rcl"), ("epochs", "12")][..], &[("method", "auto"), ("epochs", "12")]] {
        let finished = trained(&few, &config(settings), 1);
        finished.write_model(&path, &few.0, None).unwrap();
        let model = SavedModel::open(&path).unwrap();
        let (found, expected) = (model.logits(&few.0).unwrap(), &finished.snapshot.logits);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{settings:?}");
        // More words than any node of the training had.
        let new = wordy(|_, class| 100 + class);
        let said = model.logits_of_new(&new.0, &edgepace_nn::Threads::one()).unwrap();
        assert!(said.len() == expected.len() && said.iter().all(|x| x.is_finite()), "{settings:?}");
    }
}
