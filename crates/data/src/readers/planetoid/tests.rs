use std::time::{Duration, Instant};

use super::*;
use crate::{files, pickles};

fn small(change: impl FnOnce(&mut [Vec<u8>; 8])) -> Result<Dataset, DataError> {
    let mut parts = pickles::set();
    change(&mut parts);
    from_pieces(parts.each_ref().map(|part| &part[..]))
}

fn refusal(change: impl FnOnce(&mut [Vec<u8>; 8])) -> String {
    small(change).expect_err("it must be refused").to_string()
}

#[test]
fn test_rows_stand_where_test_index_says_and_unknown_nodes_have_class_0() {
    let set = small(|_| ()).expect("valid");
    let Features::Sparse(features) = &**set.features() else { panic!("features are sparse") };
    let Labels::Classes(classes) = &**set.labels() else { panic!("one class per node") };
    for node in 0..507 {
        let entries = features.offsets()[node]..features.offsets()[node + 1];
        let (columns, values) = (&features.columns()[entries.clone()], &features.values()[entries]);
        if node == 505 {
            assert!(columns.is_empty());
            assert_eq!(classes.of()[node], 0);
        } else {
            assert_eq!((columns, values), (&[(node % 3) as u32][..], &[(node + 1) as f32][..]));
            assert_eq!(classes.of()[node], (node % 2) as u32);
        }
    }
}

#[test]
fn loops_and_repeated_edges_are_dropped() {
    let set = small(|_| ()).expect("valid");
    assert_eq!(set.graph().edges(), 2 * 505);
    assert!(set.graph().twins().is_some());
    assert_eq!((set.graph().dropped().loops, set.graph().dropped().duplicates), (1, 1));
}

#[test]
fn splits_are_those_of_the_literature() {
    let set = small(|_| ()).expect("valid");
    let public = set.split("public").expect("it is there");
    assert_eq!((public.train(), public.test()), (&[0, 1][..], &[503, 504, 506][..]));
    assert_eq!(public.validation(), (2..502).collect::<Vec<u32>>());
    let full = set.split("full").expect("it is there");
    assert_eq!((full.train(), full.test()), (&[0, 1, 502, 505][..], public.test()));
    assert_eq!(full.validation(), public.validation());
}

#[test]
fn parts_that_do_not_fit_are_refused_by_name() {
    let found = refusal(|parts| parts[7] = b"506\n503\nx\n".to_vec());
    let expected = "expected a node from 503 (rows of `allx`) to below 507 (nodes of `graph`)";
    assert_eq!(found, format!("ind.pieces.test.index, line 3: {expected}, found `x`"));
    let found = refusal(|parts| parts[7] = b"506\n4000000000\n504\n".to_vec());
    assert_eq!(found, format!("ind.pieces.test.index, line 2: {expected}, found `4000000000`"));
    let found = refusal(|parts| parts[7] = b"506\n503\n506\n".to_vec());
    assert_eq!(found, "ind.pieces.test.index, line 3: expected each test node once, found node 506 again");
    let found = refusal(|parts| parts[7] = b"506\n503\n".to_vec());
    assert_eq!(found, "ind.pieces.test.index: expected 3 nodes, one for each row of `tx`, found 2");
    let found = refusal(|parts| parts[3] = pickles::one_hot(2, [0, 1]));
    assert_eq!(found, "ind.pieces.ty: expected 3 rows, as many as `tx`, found 2");
    let found = refusal(|parts| parts[5] = pickles::one_hot(3, [0; 503]));
    assert_eq!(found, "ind.pieces.ally: expected 2 columns, as `y` has, found 3");
    let found = refusal(|parts| parts[2] = pickles::diagonal(4, &[1.0; 3]));
    assert_eq!(found, "ind.pieces.tx: expected 3 columns, as `allx` has, found 4");
    let found = refusal(|parts| parts[0] = pickles::diagonal(3, &[1.0]));
    assert_eq!(found, "ind.pieces.x: expected 2 rows, as many as `y`, found 1");
    let found = refusal(|parts| parts[6] = pickles::graph([&[1][..], &[0]]));
    assert_eq!(found, "ind.pieces.allx: expected at most 2 rows, the number of nodes in `graph`, found 503");
    let found = refusal(|parts| parts.swap(5, 6));
    let dictionary = "expected a dictionary from nodes to lists of neighbours, found an array of i1";
    assert!(found.starts_with("ind.pieces.graph, byte ") && found.ends_with(dictionary), "{found}");
}

#[test]
fn a_missing_file_is_named() {
    let found = read(Path::new("nowhere"), "cora").expect_err("it is not there").to_string();
    assert!(found.starts_with("cannot read") && found.contains("ind.cora.graph"), "{found}");
}

/// Counts as published; checksums of what PyTorch Geometric 2.8 loads, hashed as `Dataset::checksum` and `Split::hash`
/// say.
#[test]
fn real_sets_are_those_of_pytorch_geometric() {
    let Some(folder) = files::real_data() else { return };
    let sets = [
        (
            ("cora", 2708, 10556, 1433, 7, 140, 1208),
            "1a163544d8e66200351856578c296e6abe47ad47c4822f9dbd432e3f1a3e58dd",
            "ddec5ef94986fe172fb143bfec90c17ccc7fbaede0e19decc1aef8813edd1c0c",
            "9834821a5b303b9c7272a1cba80d30581812a73ecf054323343308d0e81b6c1c",
        ),
        (
            ("citeseer", 3327, 9104, 3703, 6, 120, 1827),
            "322a648280f1d2ef57357d83731f88f54adf136f4adae9ef3e309cc8131985e7",
            "36b39060031fcede991f9d1eed1226064159ef1b04cd649c845b558ae9c552e5",
            "1d60c4fb8a391fb64a9ca27102d38db0c3702a58750f2267a7187ac25fb7ba00",
        ),
        (
            ("pubmed", 19717, 88648, 500, 3, 60, 18217),
            "add1dd0fd157d836aa509b947d7497c32fb76528ccf6d0a500f58ed4ee063013",
            "ea491a4d0aceaffd7dd69df479bb694bf3140ca424901178b947a3478a472a6a",
            "e67055870c609b53670b07e1b38beb1c3bbcce8870469fe80a141cc464e9e76e",
        ),
    ];
    for ((name, nodes, edges, features, classes, train, train_full), checksum, public_hash, full_hash) in sets
    {
        let set = read(&folder.join("planetoid"), name).expect(name);
        assert_eq!((set.graph().nodes(), set.graph().edges()), (nodes, edges), "{name}");
        assert_eq!((set.features().cols(), set.labels().width()), (features, classes), "{name}");
        assert!(set.graph().twins().is_some(), "{name}: every edge has its reverse");
        let sizes = |split: &str| {
            set.split(split).map(|split| [split.train().len(), split.validation().len(), split.test().len()])
        };
        assert_eq!(sizes("public"), Some([train, 500, 1000]), "{name}");
        assert_eq!(sizes("full"), Some([train_full, 500, 1000]), "{name}");
        assert_eq!(set.checksum(), checksum, "{name}");
        let hashes = ["public", "full"].map(|split| set.split(split).map(Split::hash));
        assert_eq!(hashes, [Some(public_hash), Some(full_hash)], "{name}");
    }
}

/// `cargo test --release -p edgepace-data --lib pubmed -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn pubmed_is_read_in_less_than_0_3_seconds() {
    let Some(folder) = files::real_data() else { return };
    let times = [(); 5].map(|()| {
        let start = Instant::now();
        read(&folder.join("planetoid"), "pubmed").expect("pubmed");
        start.elapsed()
    });
    eprintln!("pubmed: {times:?}");
    assert!(times.into_iter().min() < Some(Duration::from_millis(300)));
}
