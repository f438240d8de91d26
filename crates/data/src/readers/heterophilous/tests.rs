use std::path::Path;

use edgepace_graph::{Dataset, Features, Labels, Split};

use super::{read, read_from};
use crate::DataError;
use crate::files::real_data;
use crate::npz_files::{floats, heterophilous_arrays, ints, npy, npz};
use crate::readers::npz::Npz;

fn parse(arrays: &[(&str, Vec<u8>)]) -> Result<Dataset, DataError> {
    let bytes = npz(arrays, true);
    read_from(&mut Npz::from_bytes(Path::new("x.npz"), &bytes)?, "x")
}

fn with(key: &str, array: Vec<u8>) -> Vec<(&'static str, Vec<u8>)> {
    let mut arrays = heterophilous_arrays();
    arrays.iter_mut().find(|(name, _)| *name == key).unwrap().1 = array;
    arrays
}

#[test]
fn a_small_file_gives_its_graph_features_and_splits() {
    let dataset = parse(&heterophilous_arrays()).unwrap();
    assert_eq!((dataset.graph().edges(), dataset.labels().width()), (4, 3));
    let Features::Sparse(sparse) = &**dataset.features() else { panic!("2 of 20 values are stored sparse") };
    assert_eq!((sparse.columns(), sparse.values()), (&[1, 2][..], &[0.5, -2.0][..]));
    let names: Vec<&str> = dataset.splits().iter().map(Split::name).collect();
    assert_eq!(names, ["geom:0", "geom:1"]);
    let second = dataset.split("geom:1").unwrap();
    assert_eq!((second.train(), second.validation(), second.test()), (&[2][..], &[0][..], &[1, 3][..]));
}

#[test]
fn a_quarter_of_values_is_enough_to_stay_dense() {
    let mut values = [0.0; 20];
    values[..5].fill(1.0);
    let dense = parse(&with("node_features", floats("(4, 5)", &values))).unwrap();
    assert!(matches!(&**dense.features(), Features::Dense(_)));
    values[0] = 0.0;
    let sparse = parse(&with("node_features", floats("(4, 5)", &values))).unwrap();
    assert!(matches!(&**sparse.features(), Features::Sparse(_)));
}

#[test]
fn masks_may_come_node_by_node() {
    let turned = [
        ("train_masks", [1, 0, 1, 0, 0, 1, 0, 0]),
        ("val_masks", [0, 1, 0, 0, 1, 0, 0, 0]),
        ("test_masks", [0, 0, 0, 1, 0, 0, 1, 1]),
    ];
    let mut arrays = heterophilous_arrays();
    for (key, values) in turned {
        arrays.iter_mut().find(|(name, _)| *name == key).unwrap().1 = npy("|u1", "(4, 2)", &values);
    }
    assert_eq!(parse(&arrays).unwrap(), parse(&heterophilous_arrays()).unwrap());
}

#[test]
fn what_does_not_fit_is_named_with_its_array() {
    let cases = [
        (
            "edges",
            ints("(1, 2)", &[0, 4]),
            "x.npz, `edges`[1]: expected an id below the number of nodes, 4, found 4",
        ),
        ("edges", ints("(2, 1)", &[0, 1]), "x.npz, `edges`: expected shape [any, 2], found [2, 1]"),
        (
            "node_features",
            floats("(3, 1)", &[0.0; 3]),
            "x.npz, `node_features`: expected shape [4, any], found [3, 1]",
        ),
        (
            "val_masks",
            npy("|b1", "(1, 4)", &[0; 4]),
            "x.npz, `val_masks`: expected 2 splits, as in `train_masks`, found 1",
        ),
        (
            "test_masks",
            npy("|u1", "(2, 4)", &[0, 0, 0, 2, 0, 0, 0, 0]),
            "x.npz, `test_masks`[3]: expected 0 or 1, found 2",
        ),
        (
            "train_masks",
            npy("|b1", "(3, 3)", &[0; 9]),
            "x.npz, `train_masks`: expected shape [any, 4], found [3, 3]",
        ),
    ];
    for (key, array, message) in cases {
        assert_eq!(parse(&with(key, array)).unwrap_err().to_string(), message);
    }
}

#[test]
fn real_sets_have_their_published_sizes() {
    let Some(folder) = real_data() else { return };
    // Nodes, edges in both directions, features, classes; sizes of the first split; checksum of what PyTorch Geometric 2.8
    // makes of the file (`to_undirected`, without self-loops).
    let sets = [
        (
            "texas",
            [183, 558, 1703, 5],
            [87, 59, 37],
            "dd17a866d629534d29f309ff9fe521e86675c68fda3d3e562328759229bdb9e6",
        ),
        (
            "wisconsin",
            [251, 900, 1703, 5],
            [120, 80, 51],
            "c3ecd42cb57d10d6f6de718d9e5388606f0f76f79a0574efc0e0be18f9eee6c5",
        ),
        (
            "cornell",
            [183, 554, 1703, 5],
            [87, 59, 37],
            "ea04ee61802c27211f563137b476de6d9a09577633447de1e9b047abb84e40cb",
        ),
        (
            "actor",
            [7600, 53318, 932, 5],
            [3648, 2432, 1520],
            "6fb5a222fa182b0ef917df605c5ba2493bc5357b8e39c9e053d6a14720117b85",
        ),
        (
            "chameleon_directed",
            [2277, 62742, 2325, 5],
            [1092, 729, 456],
            "d0455042c4e1279896a3570a7ba84c29dfc07483335977b8818cdde26203053d",
        ),
        (
            "squirrel_directed",
            [5201, 396_706, 2089, 5],
            [2496, 1664, 1041],
            "9864c613a608619245e252af9c28ed0c61bfe979e7dc24b6f0bf8b051af77ec6",
        ),
    ];
    for (name, [nodes, edges, features, classes], sizes, checksum) in sets {
        let dataset = read(&folder.join(format!("heterophilous/{name}.npz")), name).unwrap();
        assert_eq!((dataset.graph().nodes(), dataset.graph().edges()), (nodes, edges), "{name}");
        assert!(
            matches!(&**dataset.features(), Features::Sparse(sparse) if sparse.cols() == features),
            "{name}"
        );
        let Labels::Classes(labels) = &**dataset.labels() else { panic!("{name} has classes") };
        assert_eq!(labels.width(), classes, "{name}");
        assert!((0..classes as u32).all(|class| labels.of().contains(&class)), "{name} has every class");
        assert_eq!(dataset.checksum(), checksum, "{name}");
        assert_eq!(dataset.splits().len(), 10, "{name}");
        let first = dataset.split("geom:0").unwrap();
        assert_eq!(first.sets().map(|(_, ids)| ids.len()), sizes, "{name}");
    }
}
