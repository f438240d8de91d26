use std::path::Path;

use edgepace_graph::{Dataset, Features, Split, Threads};

use super::read_from;
use crate::DataError;
use crate::npz_files::{floats, heterophilous_arrays, ints, npy, npz};
use crate::readers::npz::Npz;

fn parse(arrays: &[(&str, Vec<u8>)]) -> Result<Dataset, DataError> {
    let bytes = npz(arrays, true);
    read_from(&Threads::one(), &mut Npz::from_bytes(Path::new("x.npz"), &bytes)?, "x")
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
