//! The real files hold what PyTorch Geometric finds in them, to the last bit; see `fixtures/pyg.py`.

#[path = "shared/real_data.rs"]
mod real_data;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use edgepace_data::fetch::{Options, get};
use edgepace_data::registry::{self, SETS};
use edgepace_data::{Cache, load};
use edgepace_graph::{Dataset, Threads};
use serde::Deserialize;

fn main() -> ExitCode {
    let mut trials: Vec<_> = fixture()
        .into_iter()
        .map(|(name, expected)| {
            real_data::trial(format!("real::{name}"), move |folder| {
                is_as_published_and_what_pyg_loads(folder, &name, &expected);
            })
        })
        .collect();
    trials.extend([
        real_data::trial("files_have_the_sizes_and_checksums_of_the_table", files_are_those_of_the_table),
        real_data::trial("files_are_recognised_as_the_sets_that_they_are", files_are_recognised),
        real_data::trial("both_layouts_hold_the_same_sets", both_layouts_hold_the_same_sets),
        real_data::trial(
            "cornell_has_features_and_labels_of_texas",
            cornell_has_features_and_labels_of_texas,
        ),
        real_data::trial(
            "authors_and_fields_of_physics_have_names",
            authors_and_fields_of_physics_have_names,
        ),
    ]);
    real_data::run(trials)
}

#[derive(Deserialize)]
struct Fixture {
    sets: BTreeMap<String, Set>,
}

#[derive(Deserialize)]
struct Set {
    nodes: usize,
    edges: usize,
    features: usize,
    classes: usize,
    checksum: String,
    splits: BTreeMap<String, Split>,
}

#[derive(Deserialize)]
struct Split {
    hash: String,
    sizes: [usize; 3],
}

fn fixture() -> BTreeMap<String, Set> {
    let text = include_str!("fixtures/pyg.json");
    serde_json::from_str::<Fixture>(text).expect("the fixture").sets
}

fn is_as_published_and_what_pyg_loads(folder: &Path, name: &str, expected: &Set) {
    let found = loaded(folder, name);
    let published = registry::find(name).expect("a set of the registry").counts;
    let counts =
        [found.graph().nodes(), found.graph().edges(), found.features().cols(), found.labels().width()];
    assert_eq!(counts, [expected.nodes, expected.edges, expected.features, expected.classes]);
    let published = [published.nodes, published.edges, published.features, published.classes];
    assert_eq!(counts.map(|count| count as u64), published, "as published");
    assert_eq!(found.checksum(), expected.checksum);
    assert_eq!(found.splits().len(), expected.splits.len());
    for (split_name, expected) in &expected.splits {
        let split = found.split(split_name).unwrap_or_else(|| panic!("there is no {split_name}"));
        assert_eq!(split.hash(), expected.hash, "{split_name}");
        assert_eq!(split.sets().map(|(_, ids)| ids.len()), expected.sizes, "{split_name}");
    }
}

fn loaded(folder: &Path, name: &str) -> Dataset {
    load(&Threads::one(), name, &Cache::at(folder)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn files_are_those_of_the_table(folder: &Path) {
    let cache = Cache::at(folder);
    let mut present = 0;
    for set in SETS {
        if !set.files.iter().all(|file| cache.installed(set, file).exists()) {
            continue;
        }
        let outcome = get(set, &cache, &Options { offline: true, ..Options::default() }, &mut |_| ());
        let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", set.name));
        assert_eq!((outcome.present, outcome.fetched.len()), (set.files.len(), 0), "{}", set.name);
        present += 1;
    }
    assert!(present >= 3, "only {present} of the datasets were there");
}

/// The files by their own names are the sets of the registry, to the last bit.
fn files_are_recognised(folder: &Path) {
    for (file, set) in [
        ("npz/amazon_electronics_photo.npz", "photo"),
        ("npz/ms_academic_cs.npz", "cs"),
        ("heterophilous/texas.npz", "texas"),
        ("planetoid/ind.cora", "cora"),
        ("planetoid/citeseer", "citeseer"),
        ("geom-gcn/new_data/texas", "texas-geom-gcn"),
        ("geom-gcn/film", "actor-geom-gcn"),
    ] {
        let found = loaded(folder, folder.join(file).to_str().expect("a path in UTF-8"));
        let expected = loaded(folder, set);
        assert_eq!(found.checksum(), expected.checksum(), "{file}");
        assert_eq!(found.splits(), expected.splits(), "{file}");
        assert_eq!(found.edge_columns().len(), 0, "{file}");
    }
    let several =
        load(&Threads::one(), folder.join("planetoid").to_str().expect("UTF-8"), &Cache::at(folder));
    let error = several.expect_err("three sets are in it").to_string();
    assert!(error.contains("found 3: citeseer, cora, pubmed") && error.contains("ind.citeseer"), "{error}");
}

fn both(folder: &Path, set: &str) -> (Dataset, Dataset) {
    (loaded(folder, &format!("{set}-geom-gcn")), loaded(folder, set))
}

fn both_layouts_hold_the_same_sets(folder: &Path) {
    for set in ["texas", "wisconsin", "actor"] {
        let (text, npz) = both(folder, set);
        assert_eq!(text.graph().sources(), npz.graph().sources(), "{set}");
        assert_eq!(text.checksum(), npz.checksum(), "{set}: graph, features and labels");
        assert_eq!(text.splits(), npz.splits(), "{set}");
    }
}

fn cornell_has_features_and_labels_of_texas(folder: &Path) {
    let (text, npz) = both(folder, "cornell");
    let (texas, _) = both(folder, "texas");
    assert_eq!((text.features(), text.labels()), (texas.features(), texas.labels()));
    assert_ne!(text.features(), npz.features());
    assert_ne!(text.labels(), npz.labels());
    // The graph has the same degrees, but its nodes are numbered in another way; the masks are the same numbers.
    let degrees = |dataset: &Dataset| {
        let mut degrees: Vec<usize> =
            dataset.graph().offsets().windows(2).map(|pair| pair[1] - pair[0]).collect();
        degrees.sort_unstable();
        degrees
    };
    assert_eq!((text.graph().edges(), degrees(&text)), (554, degrees(&npz)));
    assert_ne!(text.graph().sources(), npz.graph().sources());
    assert_eq!(text.splits(), npz.splits());
}

fn authors_and_fields_of_physics_have_names(folder: &Path) {
    let physics = loaded(folder, "physics");
    assert_eq!(physics.node_names().expect("names of nodes").get(0), "0000A1B7");
    assert_eq!(physics.class_names().expect("names of classes").get(0), "phys rev d");
}
