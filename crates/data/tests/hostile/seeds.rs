//! Small valid files for every reader.

#[path = "../data/npz_files.rs"]
mod npz_files;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use npz_files::{floats, gnn_benchmark_arrays, heterophilous_arrays, ints, npy, npy_in, npz};

/// Valid inputs of the fuzz target of that name.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "npz" => matrices(),
        "gnn_benchmark" => both(&gnn_benchmark_arrays()),
        "heterophilous" => both(&heterophilous_arrays()),
        "geom_gcn" => vec![
            b"node_id\tfeature\tlabel\n1\t0,1,0\t1\n0\t1,0,0\t0\n2\t0,0,0\t2\n\0node_id\tnode_id\n0\t1\n1\t2\n".to_vec(),
            b"node_id\tfeature(feature_amount:9)\tlabel\n1\t4,2\t0\n0\t9\t1\n\0node_id\tnode_id\n0\t1\n".to_vec(),
        ],
        "ogb_csv" => tables(),
        other => panic!("no seeds for {other}"),
    }
}

fn both(arrays: &[(&str, Vec<u8>)]) -> Vec<Vec<u8>> {
    vec![npz(arrays, false), npz(arrays, true)]
}

fn matrices() -> Vec<Vec<u8>> {
    let sparse = |format: &str, [row, column]: [(&'static str, Vec<u8>); 2]| {
        npz(
            &[
                row,
                column,
                ("format", npy("|S3", "()", format.as_bytes())),
                ("shape", ints("(2,)", &[2, 3])),
                ("data", floats("(2,)", &[1.5, 2.0])),
            ],
            true,
        )
    };
    vec![
        floats("(2, 2)", &[1.0, 2.0, 3.0, 4.0]),
        npy_in("True", ">i2", "(2, 2)", &[0, 1, 0, 2, 0, 3, 0, 4]),
        // Few bytes of input for many values.
        npz(&[("x", npy("|u1", "(300, 300)", &vec![0; 90_000]))], true),
        sparse("csr", [("indices", ints("(2,)", &[2, 0])), ("indptr", ints("(3,)", &[0, 1, 2]))]),
        sparse("csc", [("indices", ints("(2,)", &[1, 0])), ("indptr", ints("(4,)", &[0, 1, 1, 2]))]),
        sparse("coo", [("row", ints("(2,)", &[1, 0])), ("col", ints("(2,)", &[2, 0]))]),
    ]
}

fn tables() -> Vec<Vec<u8>> {
    let plain = [&b"0,1,0\n1,1,0\n0,0,1\n"[..], b"0\n1\n2.0\n1\n"];
    // Few bytes of input for many lines.
    let long = b"0,1\n".repeat(20_000);
    let packed = [plain[0], plain[1], &long].map(|text| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    });
    plain.iter().map(|text| text.to_vec()).chain(packed).collect()
}
