use std::path::Path;

use edgepace_graph::{Dataset, Features, Threads};

use super::read_from;
use crate::DataError;
use crate::npz_files::{gnn_benchmark_arrays, ints, npz};
use crate::readers::npz::Npz;

fn parse(arrays: &[(&str, Vec<u8>)]) -> Result<Dataset, DataError> {
    let bytes = npz(arrays, true);
    read_from(&Threads::one(), &mut Npz::from_bytes(Path::new("x.npz"), &bytes)?, "x")
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
