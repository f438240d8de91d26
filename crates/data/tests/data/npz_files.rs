//! Small npy and npz files.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An npy file: a dtype as `<f4`, a shape as `(2, 3)`, and the bytes of the values.
pub(crate) fn npy(dtype: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    npy_in("False", dtype, shape, values)
}

/// As [`npy`]; `fortran` is `True` or `False`.
pub(crate) fn npy_in(fortran: &str, dtype: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(&(header.len() as u16).to_le_bytes());
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(values);
    file
}

/// Whole numbers of 4 bytes.
pub(crate) fn ints(shape: &str, values: &[i32]) -> Vec<u8> {
    npy("<i4", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

/// Numbers of 4 bytes.
pub(crate) fn floats(shape: &str, values: &[f32]) -> Vec<u8> {
    npy("<f4", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

/// An npz file of arrays by name.
pub(crate) fn npz(arrays: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let method = if deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    for (name, array) in arrays {
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file(format!("{name}.npy"), options).expect("a name");
        writer.write_all(array).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

/// The arrays of a gnn-benchmark file: the path 0 - 1 - 2 with a loop at 2, attributes in three columns.
pub(crate) fn gnn_benchmark_arrays() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("adj_data", floats("(3,)", &[1.0, 1.0, 1.0])),
        ("adj_indices", ints("(3,)", &[1, 2, 2])),
        ("adj_indptr", ints("(4,)", &[0, 1, 2, 3])),
        ("adj_shape", ints("(2,)", &[3, 3])),
        ("attr_data", floats("(4,)", &[3.0, 1.0, -1.0, 0.0])),
        ("attr_indices", ints("(4,)", &[2, 0, 1, 0])),
        ("attr_indptr", ints("(4,)", &[0, 2, 3, 4])),
        ("attr_shape", ints("(2,)", &[3, 3])),
        ("labels", ints("(3,)", &[0, 1, 1])),
        ("node_names", npy("|O", "(3,)", b"\x80\x03]q\x00.")),
        ("class_names", npy("<U2", "(2,)", b"a\0\0\0b\0\0\0\xb1\x03\0\0\0\0\0\0")),
    ]
}

/// The arrays of a file in the heterophilous layout: 4 nodes, 2 splits.
pub(crate) fn heterophilous_arrays() -> Vec<(&'static str, Vec<u8>)> {
    let mut features = [0.0; 20];
    (features[1], features[7]) = (0.5, -2.0);
    vec![
        ("node_features", floats("(4, 5)", &features)),
        ("node_labels", ints("(4,)", &[0, 1, 2, 1])),
        ("edges", ints("(4, 2)", &[0, 1, 1, 2, 2, 1, 3, 3])),
        ("train_masks", npy("|b1", "(2, 4)", &[1, 1, 0, 0, 0, 0, 1, 0])),
        ("val_masks", npy("|b1", "(2, 4)", &[0, 0, 1, 0, 1, 0, 0, 0])),
        ("test_masks", npy("|b1", "(2, 4)", &[0, 0, 0, 1, 0, 1, 0, 1])),
    ]
}
