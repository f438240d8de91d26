//! The real files hold what PyTorch Geometric finds in them, to the last bit; see `fixtures/pyg.py`.

use std::collections::BTreeMap;

use edgepace_data::{Cache, load, registry};
use serde::Deserialize;

use crate::files::real_data;

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
    let text = include_str!("../fixtures/pyg.json");
    serde_json::from_str::<Fixture>(text).expect("the fixture").sets
}

#[test]
fn every_real_set_has_the_published_counts_and_is_what_pyg_loads() {
    let Some(folder) = real_data() else { return };
    let cache = Cache::at(folder);
    for (name, expected) in fixture() {
        let found = load(&name, &cache).unwrap_or_else(|error| panic!("{name}: {error}"));
        let published = registry::find(&name).expect("a set of the registry").counts;
        let counts =
            [found.graph().nodes(), found.graph().edges(), found.features().cols(), found.labels().width()];
        assert_eq!(counts, [expected.nodes, expected.edges, expected.features, expected.classes], "{name}");
        let published = [published.nodes, published.edges, published.features, published.classes];
        assert_eq!(counts.map(|count| count as u64), published, "{name}: as published");
        assert_eq!(found.checksum(), expected.checksum, "{name}");
        assert_eq!(found.splits().len(), expected.splits.len(), "{name}");
        for (split_name, expected) in expected.splits {
            let split = found.split(&split_name).unwrap_or_else(|| panic!("{name} has no {split_name}"));
            assert_eq!(split.hash(), expected.hash, "{name}, {split_name}");
            assert_eq!(split.sets().map(|(_, ids)| ids.len()), expected.sizes, "{name}, {split_name}");
        }
    }
}

/// The registry refuses files whose content is not the published one; it knows the content by what PyG loads.
#[test]
fn the_registry_knows_the_checksums_of_what_pyg_loads() {
    for (name, expected) in fixture() {
        let set = registry::find(&name).expect("a set of the registry");
        assert_eq!(set.checksum, Some(&expected.checksum[..]), "{name}");
    }
}
