use std::path::Path;

use edgepace_graph::{DenseFeatures, Features};

use super::{Npz, features_of};
use crate::DataError;
use crate::npz_files::{floats, ints, npy, npy_in, npz};

fn open(bytes: &[u8]) -> Npz<std::io::Cursor<&[u8]>> {
    Npz::from_bytes(Path::new("x.npz"), bytes).unwrap()
}

fn read_features(bytes: &[u8]) -> Result<Features, DataError> {
    features_of(&mut Npz::from_bytes(Path::new("x.npz"), bytes)?)
}

fn message<T>(result: Result<T, DataError>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn every_number_type_in_both_byte_orders_reads_the_same() {
    let arrays = [
        ("|i1", vec![1, 2]),
        ("|u1", vec![1, 2]),
        ("<i2", vec![1, 0, 2, 0]),
        (">u2", vec![0, 1, 0, 2]),
        ("<u4", vec![1, 0, 0, 0, 2, 0, 0, 0]),
        (">i4", vec![0, 0, 0, 1, 0, 0, 0, 2]),
        ("<i8", [1_i64, 2].iter().flat_map(|value| value.to_le_bytes()).collect()),
        (">u8", [1_u64, 2].iter().flat_map(|value| value.to_be_bytes()).collect()),
        ("<f2", vec![0, 0x3c, 0, 0x40]),
        (">f4", [1_f32, 2.0].iter().flat_map(|value| value.to_be_bytes()).collect()),
        ("<f8", [1_f64, 2.0].iter().flat_map(|value| value.to_le_bytes()).collect()),
    ];
    for (dtype, values) in arrays {
        let bytes = npz(&[("a", npy(dtype, "(2,)", &values))], true);
        let mut npz = open(&bytes);
        assert_eq!(npz.ids("a", &[None]).unwrap().values, [1, 2], "{dtype}");
        assert_eq!(npz.counts("a", &[Some(2)]).unwrap().values, [1, 2], "{dtype}");
        assert_eq!(npz.floats("a", &[None]).unwrap().values, [1.0, 2.0], "{dtype}");
    }
}

#[test]
fn fortran_order_is_turned_row_major() {
    let columns: Vec<u8> =
        [1_f32, 4.0, 2.0, 5.0, 3.0, 6.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let array = npy_in("True", "<f4", "(2, 3)", &columns);
    let read = open(&array).floats(super::ONLY, &[None, None]).unwrap();
    assert_eq!((read.shape, read.values), (vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
}

#[test]
fn only_the_array_that_is_asked_for_is_touched() {
    let mut bytes = npz(&[("bad", npy("<i4", "(9,)", b"garbage")), ("good", ints("(1,)", &[7]))], false);
    // Damage in the first array, which would fail its checksum.
    let place = bytes.windows(7).position(|piece| piece == b"garbage").unwrap();
    bytes[place] = b'!';
    let mut npz = open(&bytes);
    assert_eq!(npz.names(), ["bad", "good"]);
    assert_eq!(npz.ids("good", &[Some(1)]).unwrap().values, [7]);
    assert_eq!(
        message(npz.ids("bad", &[None])),
        "x.npz, `bad`: expected the bytes of shape [9] and dtype `<i4`, found 7 bytes"
    );
    assert!(!npz.has("none"));
    assert_eq!(message(npz.floats("none", &[])), "x.npz, `none`: expected an array of this name, found none");
}

#[test]
fn a_damaged_array_fails_its_checksum() {
    let mut bytes = npz(&[("a", npy("|u1", "(7,)", b"garbage"))], false);
    let place = bytes.windows(7).position(|piece| piece == b"garbage").unwrap();
    bytes[place] = b'!';
    assert!(message(open(&bytes).floats("a", &[None])).contains("`a`: expected data that can be unpacked"));
}

#[test]
fn text_is_read_and_pickled_objects_are_left_alone() {
    let bytes = npz(
        &[
            ("unicode", npy(">U2", "(2,)", b"\0\0\0a\0\0\0b\0\0\x03\xb1\0\0\0\0")),
            ("bytes", npy("|S3", "(1,)", b"csr")),
            ("objects", npy("|O", "(2,)", b"\x80\x03cos\nsystem\n.")),
            ("surrogate", npy("<U1", "(1,)", b"\0\xd8\0\0")),
            ("empty", npy("<U0", "(99999999999,)", b"")),
        ],
        true,
    );
    let mut npz = open(&bytes);
    let names = npz.strings("unicode", &[Some(2)]).unwrap().unwrap();
    assert_eq!(names.iter().collect::<Vec<_>>(), ["ab", "α"]);
    assert_eq!(npz.strings("bytes", &[None]).unwrap().unwrap().get(0), "csr");
    assert_eq!(npz.strings("objects", &[None]).unwrap(), None);
    assert_eq!(npz.strings("absent", &[None]).unwrap(), None);
    assert_eq!(message(npz.ids("objects", &[None])), "x.npz, `objects`: expected numbers, found dtype `|O`");
    assert_eq!(
        message(npz.strings("surrogate", &[None])),
        "x.npz, `surrogate`[0]: expected Unicode characters, found code 0xd800"
    );
    assert!(message(npz.strings("empty", &[None])).contains("expected text, found dtype `<U0`"));
}

#[test]
fn values_that_cannot_be_are_named_with_their_place() {
    let bytes = npz(
        &[
            ("negative", ints("(2,)", &[1, -1])),
            ("half", floats("(2,)", &[1.0, 1.5])),
            ("huge", npy("<u8", "(1,)", &[0xff; 8])),
        ],
        true,
    );
    let mut npz = open(&bytes);
    let ids = "expected a whole number from 0 to 4294967294";
    assert_eq!(message(npz.ids("negative", &[None])), format!("x.npz, `negative`[1]: {ids}, found -1"));
    assert_eq!(message(npz.ids("half", &[None])), format!("x.npz, `half`[1]: {ids}, found 1.5"));
    assert!(npz.ids("huge", &[None]).is_err());
    assert_eq!(message(npz.mask("half", &[None])), "x.npz, `half`[1]: expected 0 or 1, found 1.5");
    assert_eq!(
        message(npz.mask("half", &[None, None])),
        "x.npz, `half`: expected shape [any, any], found [2]"
    );
}

#[test]
fn a_size_beyond_what_can_be_unpacked_is_refused_before_anything_is_read() {
    let bytes = npz(&[("a", npy("|u1", "(4000000000,)", b"zz"))], true);
    assert!(message(open(&bytes).floats("a", &[None])).contains("shape [4000000000]"));
    // The same lie in the directory of the zip file: the size stands 24 bytes after its signature.
    let mut bytes = npz(&[("a", npy("|u1", "(2,)", b"zz"))], true);
    let entry = bytes.windows(4).position(|piece| piece == b"PK\x01\x02").unwrap();
    bytes[entry + 24..entry + 28].copy_from_slice(&4_000_000_000_u32.to_le_bytes());
    assert!(
        message(open(&bytes).floats("a", &[None])).contains("a size that its packed bytes can unpack to")
    );
}

#[test]
fn rows_that_no_byte_accounts_for_are_refused() {
    let dense = npz(&[("x", floats("(4000000000, 0)", &[]))], true);
    assert!(message(read_features(&dense)).contains("found 4000000000"));
    let sparse = npz(
        &[
            ("row", ints("(0,)", &[])),
            ("col", ints("(0,)", &[])),
            ("format", npy("|S3", "()", b"coo")),
            ("shape", npy("<i8", "(2,)", &[0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])),
            ("data", floats("(0,)", &[])),
        ],
        true,
    );
    assert!(message(read_features(&sparse)).contains("`shape`: expected at most"));
}

#[test]
fn csr_csc_and_coo_are_the_same_matrix() {
    // [[0, 0, 5], [1, 0, 2]], with the 5 in two parts and row 1 unsorted.
    let matrix = |format: &str, index: [(&'static str, Vec<u8>); 2], data: &[f32]| {
        let [row, column] = index;
        let format = (
            "format",
            npy("<U3", "()", &format.bytes().flat_map(|byte| [byte, 0, 0, 0]).collect::<Vec<_>>()),
        );
        let (shape, data) = (("shape", ints("(2,)", &[2, 3])), ("data", floats("(4,)", data)));
        read_features(&npz(&[row, column, format, shape, data], true)).unwrap()
    };
    let csr = [("indices", ints("(4,)", &[2, 2, 2, 0])), ("indptr", ints("(3,)", &[0, 2, 4]))];
    let csr = matrix("csr", csr, &[3.0, 2.0, 2.0, 1.0]);
    let csc = [("indices", ints("(4,)", &[1, 0, 1, 0])), ("indptr", ints("(4,)", &[0, 1, 1, 4]))];
    let csc = matrix("csc", csc, &[1.0, 3.0, 2.0, 2.0]);
    let coo = [("row", ints("(4,)", &[1, 0, 0, 1])), ("col", ints("(4,)", &[2, 2, 2, 0]))];
    let coo = matrix("coo", coo, &[2.0, 3.0, 2.0, 1.0]);
    let Features::Sparse(sparse) = &csr else { panic!("a sparse matrix stays sparse") };
    assert_eq!((sparse.offsets(), sparse.columns()), (&[0, 1, 3][..], &[2, 0, 2][..]));
    assert_eq!(sparse.values(), [5.0, 1.0, 2.0]);
    assert_eq!((&csc, &coo), (&csr, &csr));
}

#[test]
fn a_single_matrix_is_read_from_npy_and_npz_files() {
    let folder = tempfile::tempdir().unwrap();
    let array = floats("(2, 2)", &[1.0, 2.0, 3.0, 0.0]);
    let expected = Features::from(DenseFeatures::new(2, 2, vec![1.0, 2.0, 3.0, 0.0]).unwrap());
    for (name, bytes) in [("x.npy", array.clone()), ("x.npz", npz(&[("any", array)], true))] {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(features_of(&mut Npz::open(&file).unwrap()).unwrap(), expected);
    }
    let two = npz(&[("a", ints("(1, 1)", &[1])), ("b", ints("(1, 1)", &[1]))], true);
    assert!(message(read_features(&two)).contains("found 2 arrays (`a`, `b`)"));
    assert!(matches!(Npz::open(&folder.path().join("none.npy")), Err(DataError::Io { .. })));
    assert!(message(read_features(&floats("(1, 1)", &[f32::NAN]))).contains("x.npz"));
}
