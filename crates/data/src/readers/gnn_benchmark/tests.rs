use std::path::Path;

use edgepace_graph::{Dataset, Features, Labels};

use super::{read, read_from};
use crate::DataError;
use crate::files::real_data;
use crate::npz_files::{gnn_benchmark_arrays, ints, npz};
use crate::readers::npz::Npz;

fn parse(arrays: &[(&str, Vec<u8>)]) -> Result<Dataset, DataError> {
    let bytes = npz(arrays, true);
    read_from(&mut Npz::from_bytes(Path::new("x.npz"), &bytes)?, "x")
}

#[test]
fn edges_become_symmetric_without_loops_and_attributes_binary() {
    let dataset = parse(&gnn_benchmark_arrays()).unwrap();
    assert_eq!(dataset.graph().edges(), 4);
    assert!(dataset.graph().edge_id(1, 0).is_some() && dataset.graph().edge_id(2, 1).is_some());
    let Features::Sparse(sparse) = &**dataset.features() else { panic!("attributes are sparse") };
    // The row of node 0 comes unsorted; a stored 0 is left out, a negative value stays, as in PyTorch Geometric.
    assert_eq!((sparse.columns(), sparse.values()), (&[0, 2, 1][..], &[1.0, 1.0, -1.0][..]));
    assert_eq!(dataset.node_names(), None, "pickled names are skipped");
    assert_eq!(dataset.class_names().unwrap().iter().collect::<Vec<_>>(), ["ab", "α"]);
}

#[test]
fn older_names_of_the_arrays_are_understood() {
    let arrays = gnn_benchmark_arrays();
    let rename = |(name, array): &(&'static str, Vec<u8>)| {
        let name = name.replace("adj_", "adj_matrix.").replace("attr_", "attr_matrix.");
        (name, array.clone())
    };
    let renamed: Vec<(String, Vec<u8>)> = arrays.iter().map(rename).collect();
    let renamed: Vec<(&str, Vec<u8>)> =
        renamed.iter().map(|(name, array)| (&name[..], array.clone())).collect();
    assert_eq!(parse(&renamed).unwrap(), parse(&arrays).unwrap());
}

#[test]
fn what_does_not_fit_is_named_with_its_array() {
    let cases = [
        (
            "adj_indices",
            ints("(3,)", &[1, 3, 2]),
            "x.npz, `adj_indices`[1]: expected an id below the number of columns, 3, found 3",
        ),
        (
            "adj_indptr",
            ints("(4,)", &[0, 2, 1, 3]),
            "x.npz, `adj_indptr`: expected running totals from 0 to 3, the number of indices, found other numbers",
        ),
        (
            "adj_shape",
            ints("(2,)", &[3, 4]),
            "x.npz, `adj_shape`: expected [3, 3], the number of labels, found [3, 4]",
        ),
        ("attr_indptr", ints("(3,)", &[0, 2, 4]), "x.npz, `attr_indptr`: expected shape [4], found [3]"),
        ("attr_data", ints("(3,)", &[1, 1, 1]), "x.npz, `attr_data`: expected shape [4], found [3]"),
        (
            "labels",
            ints("(3,)", &[0, -1, 1]),
            "x.npz, `labels`[1]: expected a whole number from 0 to 4294967294, found -1",
        ),
        (
            "labels",
            ints("(3,)", &[0, 9, 1]),
            "x.npz, `labels`[1]: expected a class below the number of nodes, 3, found 9",
        ),
    ];
    for (key, array, message) in cases {
        let mut arrays = gnn_benchmark_arrays();
        arrays.iter_mut().find(|(name, _)| *name == key).unwrap().1 = array;
        assert_eq!(parse(&arrays).unwrap_err().to_string(), message);
    }
    let mut arrays = gnn_benchmark_arrays();
    arrays.retain(|(name, _)| *name != "adj_indptr");
    assert_eq!(
        parse(&arrays).unwrap_err().to_string(),
        "x.npz, `adj_indptr`: expected an array of this name, found none"
    );
}

#[test]
fn real_sets_have_their_published_sizes() {
    let Some(folder) = real_data() else { return };
    // Nodes, directed edges, features, classes, stored features; checksum of what PyTorch Geometric 2.8's `read_npz` gives.
    let sets = [
        (
            "amazon_electronics_photo",
            [7650, 238_162, 745, 8],
            1_979_909,
            "36409deeae705abee7c6480a6ac96ca400f9cc3db6ba5e9ed7ceb3f94571e7d0",
        ),
        (
            "amazon_electronics_computers",
            [13752, 491_722, 767, 10],
            3_675_081,
            "564b8e117bef53e3ba8fdad77117860143be7e015c96f103f21eacd177071115",
        ),
        (
            "ms_academic_cs",
            [18333, 163_788, 6805, 15],
            1_092_079,
            "2f259f2aad0e56e1fefdc68a73289db336d6a16665c148d19fd80704154e8c13",
        ),
        (
            "ms_academic_phy",
            [34493, 495_924, 8415, 5],
            1_137_311,
            "dfb37cba6fdf7958f850c2ea3680b0488f5274789b579998b3f669af7e292794",
        ),
    ];
    for (name, [nodes, edges, features, classes], stored, checksum) in sets {
        let dataset = read(&folder.join(format!("npz/{name}.npz")), name).unwrap();
        assert_eq!((dataset.graph().nodes(), dataset.graph().edges()), (nodes, edges), "{name}");
        assert!(dataset.graph().twins().is_some());
        let Features::Sparse(sparse) = &**dataset.features() else { panic!("{name} is sparse") };
        assert_eq!((sparse.cols(), sparse.values().len()), (features, stored), "{name}");
        assert!(sparse.values().iter().all(|&value| value == 1.0));
        let Labels::Classes(labels) = &**dataset.labels() else { panic!("{name} has classes") };
        assert_eq!(labels.width(), classes, "{name}");
        assert!((0..classes as u32).all(|class| labels.of().contains(&class)), "{name} has every class");
        assert_eq!(dataset.class_names().unwrap().len(), classes);
        assert_eq!(dataset.checksum(), checksum, "{name}");
        assert!(dataset.splits().is_empty());
    }
    let physics = read(&folder.join("npz/ms_academic_phy.npz"), "physics").unwrap();
    assert_eq!(physics.node_names().unwrap().get(0), "0000A1B7");
    assert_eq!(physics.class_names().unwrap().get(0), "phys rev d");
}

#[test]
#[ignore = "a measurement: cargo test --release -p edgepace-data --lib gnn_benchmark -- --ignored --nocapture"]
fn seconds_per_set() {
    let Some(folder) = real_data() else { return };
    for name in ["amazon_electronics_computers", "ms_academic_phy"] {
        let start = std::time::Instant::now();
        let dataset = read(&folder.join(format!("npz/{name}.npz")), name).unwrap();
        eprintln!("{name}: {} edges in {:.3} s", dataset.graph().edges(), start.elapsed().as_secs_f64());
    }
}
