//! The table of datasets, held against itself and what PyTorch Geometric loads.

use std::collections::BTreeSet;

use edgepace_data::registry::{Layout, SETS, find, suggest};

#[test]
fn every_entry_is_sound() {
    let names: BTreeSet<_> = SETS.iter().map(|set| set.name).collect();
    assert_eq!(names.len(), SETS.len(), "a name twice");
    let mut paths = BTreeSet::new();
    for set in SETS {
        assert!(!set.files.is_empty() && !set.origin.mirrors.is_empty(), "{}", set.name);
        for text in [set.title, set.description, set.edge_rule, set.split, set.reference, set.licence] {
            assert!(!text.is_empty() && !text.contains("  ") && !text.contains('\n'), "{}: {text}", set.name);
        }
        for mirror in set.origin.mirrors {
            assert!(mirror.starts_with("https://") && mirror.ends_with('/'), "{mirror}");
        }
        for file in set.files {
            assert!(paths.insert(set.path_of(file)), "{} belongs to two datasets", file.name);
            assert!(file.bytes.is_none_or(|bytes| bytes <= file.limit), "{}", file.name);
            assert!(file.sha256.is_none_or(
                |hash| hash.len() == 64 && hash.bytes().all(|b| b"0123456789abcdef".contains(&b))
            ));
            assert_eq!(file.unpack.is_some(), set.layout == Layout::Ogb, "{}", file.name);
        }
    }
}

#[test]
fn names_are_found_and_slips_are_understood() {
    assert_eq!(find("cora").unwrap().title, "Cora");
    assert_eq!(find(" Ogbn_Arxiv ").unwrap().name, "ogbn-arxiv");
    assert!(find("coral").is_none());
    for (slip, meant) in
        [("coar", "cora"), ("citesser", "citeseer"), ("arxiv", "ogbn-arxiv"), ("romanempire", "roman-empire")]
    {
        assert_eq!(suggest(slip), Some(meant));
    }
    assert_eq!(suggest(""), None);
    assert_eq!(suggest("something else altogether"), None);
    assert_eq!(suggest(&"x".repeat(1 << 20)), None);
}

/// The registry refuses files whose content is not the published one; it knows the content by what PyG loads.
#[test]
fn checksums_are_those_of_what_pyg_loads() {
    let fixture: serde_json::Value =
        serde_json::from_str(include_str!("../fixtures/pyg.json")).expect("the fixture");
    let sets = fixture["sets"].as_object().expect("sets");
    assert!(sets.len() >= 10, "only {} sets", sets.len());
    for (name, expected) in sets {
        let set = find(name).expect("a set of the registry");
        assert_eq!(set.checksum, expected["checksum"].as_str(), "{name}");
    }
}
