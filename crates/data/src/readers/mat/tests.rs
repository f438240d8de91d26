use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write as _;

use super::{Dense, Mat, Sparse, Value};

/// An element with its type, size and padding.
fn element(kind: u32, bytes: &[u8]) -> Vec<u8> {
    let mut all = [kind.to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
    all.extend_from_slice(bytes);
    if kind != 15 {
        all.resize(all.len().next_multiple_of(8), 0);
    }
    all
}

fn wholes(values: &[i32]) -> Vec<u8> {
    element(5, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

/// A variable of that class.
fn variable(class: u8, shape: &[i32], name: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let flags = element(6, &[class, 0, 0, 0, 0, 0, 0, 0]);
    element(14, &[[flags, wholes(shape), element(1, name.as_bytes())].concat(), parts.concat()].concat())
}

fn file(variables: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file".to_vec();
    bytes.resize(124, b' ');
    bytes.extend_from_slice(b"\x00\x01IM");
    bytes.extend(variables.concat());
    bytes
}

fn read(bytes: &[u8]) -> Result<Mat, String> {
    Mat::from_bytes(Path::new("x.mat"), bytes).map_err(|error| error.to_string())
}

fn refusal(variables: &[Vec<u8>]) -> String {
    read(&file(variables)).err().expect("a file that is refused")
}

#[test]
fn numbers_are_read_from_whatever_type_they_are_stored_in() {
    let dense = variable(6, &[2, 3], "x", &[element(2, &[1, 2, 3, 4, 5, 255])]);
    let mat = read(&file(&[dense])).unwrap();
    let expected = Value::Dense(Dense { shape: vec![2, 3], values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 255.0] });
    assert_eq!(mat.variables, [("x".to_owned(), expected)]);
}

#[test]
fn a_sparse_matrix_may_have_room_for_more_and_no_values_at_all() {
    let parts = [wholes(&[1, 0, 0, 0]), wholes(&[0, 1, 2])];
    let mat = read(&file(&[variable(5, &[2, 2], "s", &parts)])).unwrap();
    let expected =
        Value::Sparse(Sparse { rows: 2, offsets: vec![0, 1, 2], row_of: vec![1, 0], values: vec![1.0, 1.0] });
    assert_eq!(mat.find(&["S"]), Some(("s", &expected)));
}

#[test]
fn big_endian_files_are_understood() {
    let mut bytes = b"MATLAB 5.0 MAT-file".to_vec();
    bytes.resize(124, b' ');
    bytes.extend_from_slice(b"\x01\x00MI");
    let part = |kind: u32, bytes: &[u8]| {
        [&kind.to_be_bytes()[..], &(bytes.len() as u32).to_be_bytes(), bytes].concat()
    };
    let inner = [
        part(6, &[0, 0, 0, 9, 0, 0, 0, 0]),
        part(5, &[0, 0, 0, 1, 0, 0, 0, 2]),
        // Small: type and size in four bytes.
        vec![0, 1, 0, 1, b'v', 0, 0, 0],
        part(3, &[1, 0, 0, 2, 0, 0, 0, 0])[..4].to_vec(),
        4_u32.to_be_bytes().to_vec(),
        vec![1, 0, 0, 2, 0, 0, 0, 0],
    ];
    bytes.extend(part(14, &inner.concat()));
    let mat = read(&bytes).unwrap();
    let expected = Value::Dense(Dense { shape: vec![1, 2], values: vec![256.0, 2.0] });
    assert_eq!(mat.variables, [("v".to_owned(), expected)]);
}

#[test]
fn what_is_wrong_is_said() {
    assert!(read(b"MATLAB 7.3 MAT-file").err().unwrap().contains("version 7.3, which is HDF5"));
    assert!(read(b"MATLAB").err().unwrap().contains("a file of 6 bytes"));
    assert!(read(&[0; 200]).err().unwrap().contains("an older version"));
    let six = element(2, &[0; 6]);
    assert!(refusal(&[variable(6, &[2, 4], "x", std::slice::from_ref(&six))]).contains("as many values"));
    assert!(
        refusal(&[variable(6, &[i32::MAX; 3], "x", std::slice::from_ref(&six))]).contains("as many values")
    );
    assert!(refusal(&[variable(6, &[-1, 2], "x", &[six])]).contains("at least 0"));
    assert!(refusal(&[variable(77, &[1, 1], "x", &[])]).contains("a class of variables"));
    assert!(refusal(&[element(9, &[0; 8])]).contains("expected a variable"));
    let sparse = |rows: &[i32], offsets: &[i32]| {
        refusal(&[variable(5, &[2, 2], "s", &[wholes(rows), wholes(offsets), element(9, &[0; 16])])])
    };
    assert!(sparse(&[0, 2], &[0, 1, 2]).contains("a row below 2"));
    assert!(sparse(&[0, 1], &[0, 2, 1]).contains("running totals"));
    assert!(sparse(&[0, 1], &[0, 1, 9]).contains("running totals"));
    assert!(sparse(&[0, 1], &[0, 1]).contains("running totals"));
    let huge = [14_u32.to_le_bytes(), u32::MAX.to_le_bytes()].concat();
    assert!(refusal(&[huge]).contains("one of 4294967295 bytes where 8 are left"));
}

#[test]
fn a_variable_that_unpacks_to_too_much_is_refused() {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..300 {
        packed.write_all(&zeros).unwrap();
    }
    let error = refusal(&[element(15, &packed.finish().unwrap())]);
    assert!(error.contains("at most 268435456 bytes") && error.contains("--max-expansion"), "{error}");
}

#[test]
fn structures_are_read_a_few_levels_deep_and_no_deeper() {
    let mut inner = variable(6, &[1, 1], "", &[element(2, &[7])]);
    for _ in 0..40 {
        let names = [element(5, &2_i32.to_le_bytes()), element(1, b"a\0")];
        inner = variable(2, &[1, 1], "s", &[names.concat(), inner]);
    }
    let mat = read(&file(&[inner])).unwrap();
    assert_eq!(mat.variables, [("s.a.a.a.a".to_owned(), Value::Other("an array of structures"))]);
}
