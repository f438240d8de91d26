use std::path::Path;

use super::*;
use crate::pickles;

/// [[1.5, 0], [0, -2]] as scipy 1.17 and numpy 2.4 under Python 3 write it with the protocols 0, 2 and 5.
const CSR_OF_PYTHON_3: [&[u8]; 3] = [
    b"ccopy_reg\n_reconstructor\np0\n(cscipy.sparse._csr\ncsr_matrix\np1\nc__builtin__\nobject\np2\nNt\
      p3\nRp4\n(dp5\nV_shape\np6\n(I2\nI2\ntp7\nsVmaxprint\np8\nI50\nsVindptr\np9\ncnumpy._core.multia\
      rray\n_reconstruct\np10\n(cnumpy\nndarray\np11\n(I0\ntp12\nc_codecs\nencode\np13\n(Vb\np14\nVlat\
      in1\np15\ntp16\nRp17\ntp18\nRp19\n(I1\n(I3\ntp20\ncnumpy\ndtype\np21\n(Vi4\np22\nI00\nI01\ntp23\
      \nRp24\n(I3\nV<\np25\nNNNI-1\nI-1\nI0\ntp26\nbI00\ng13\n(V\\u0000\\u0000\\u0000\\u0000\x01\\u000\
      0\\u0000\\u0000\x02\\u0000\\u0000\\u0000\np27\ng15\ntp28\nRp29\ntp30\nbsVindices\np31\ng10\n(g11\
      \n(I0\ntp32\ng17\ntp33\nRp34\n(I1\n(I2\ntp35\ng24\nI00\ng13\n(V\\u0000\\u0000\\u0000\\u0000\x01\
      \\u0000\\u0000\\u0000\np36\ng15\ntp37\nRp38\ntp39\nbsVdata\np40\ng10\n(g11\n(I0\ntp41\ng17\ntp42\
      \nRp43\n(I1\n(I2\ntp44\ng21\n(Vf4\np45\nI00\nI01\ntp46\nRp47\n(I3\ng25\nNNNI-1\nI-1\nI0\ntp48\nb\
      I00\ng13\n(V\\u0000\\u0000\xc0?\\u0000\\u0000\\u0000\xc0\np49\ng15\ntp50\nRp51\ntp52\nbsb.",
    b"\x80\x02cscipy.sparse._csr\ncsr_matrix\nq\x00)\x81q\x01}q\x02(X\x06\x00\x00\x00_shapeq\x03K\x02K\
      \x02\x86q\x04X\x08\x00\x00\x00maxprintq\x05K2X\x06\x00\x00\x00indptrq\x06cnumpy._core.multiarray\
      \n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00\x85q\x09c_codecs\nencode\nq\nX\x01\x00\x00\x00b\
      q\x0bX\x06\x00\x00\x00latin1q\x0c\x86q\x0dRq\x0e\x87q\x0fRq\x10(K\x01K\x03\x85q\x11cnumpy\ndtype\
      \nq\x12X\x02\x00\x00\x00i4q\x13\x89\x88\x87q\x14Rq\x15(K\x03X\x01\x00\x00\x00<q\x16NNNJ\xff\xff\
      \xff\xffJ\xff\xff\xff\xffK\x00tq\x17b\x89h\nX\x0c\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\
      \x02\x00\x00\x00q\x18h\x0c\x86q\x19Rq\x1atq\x1bbX\x07\x00\x00\x00indicesq\x1ch\x07h\x08K\x00\x85\
      q\x1dh\x0e\x87q\x1eRq\x1f(K\x01K\x02\x85q h\x15\x89h\nX\x08\x00\x00\x00\x00\x00\x00\x00\x01\x00\
      \x00\x00q!h\x0c\x86q\"Rq#tq$bX\x04\x00\x00\x00dataq%h\x07h\x08K\x00\x85q&h\x0e\x87q'Rq((K\x01K\
      \x02\x85q)h\x12X\x02\x00\x00\x00f4q*\x89\x88\x87q+Rq,(K\x03h\x16NNNJ\xff\xff\xff\xffJ\xff\xff\
      \xff\xffK\x00tq-b\x89h\nX\n\x00\x00\x00\x00\x00\xc3\x80?\x00\x00\x00\xc3\x80q.h\x0c\x86q/Rq0tq1b\
      ub.",
    b"\x80\x05\x95E\x01\x00\x00\x00\x00\x00\x00\x8c\x11scipy.sparse._csr\x94\x8c\ncsr_matrix\x94\x93\
      \x94)\x81\x94}\x94(\x8c\x06_shape\x94K\x02K\x02\x86\x94\x8c\x08maxprint\x94K2\x8c\x06indptr\x94\
      \x8c\x13numpy._core.numeric\x94\x8c\x0b_frombuffer\x94\x93\x94(\x96\x0c\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x94\x8c\x05numpy\x94\x8c\x05dtype\x94\x93\
      \x94\x8c\x02i4\x94\x89\x88\x87\x94R\x94(K\x03\x8c\x01<\x94NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\
      \x00t\x94bK\x03\x85\x94\x8c\x01C\x94t\x94R\x94\x8c\x07indices\x94h\x0b(\x96\x08\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x94h\x12K\x02\x85\x94h\x16t\x94R\x94\x8c\x04data\
      \x94h\x0b(\x96\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc0?\x00\x00\x00\xc0\x94h\x0f\x8c\x02f4\
      \x94\x89\x88\x87\x94R\x94(K\x03h\x13NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t\x94bK\x02\x85\
      \x94h\x16t\x94R\x94ub.",
];

fn read(bytes: &[u8]) -> Result<Pickle<'_>, DataError> {
    Pickle::read(Path::new("file"), bytes)
}

/// The message with which `bytes` are refused, at the latest when neighbours are asked for.
fn refusal(bytes: &[u8]) -> String {
    read(bytes).and_then(|pickle| pickle.adjacency()).expect_err("it must be refused").to_string()
}

fn matrix_refusal(bytes: &[u8]) -> String {
    read(bytes).and_then(|pickle| pickle.matrix()).expect_err("it must be refused").to_string()
}

#[test]
fn matrices_of_every_protocol_are_read() {
    for bytes in CSR_OF_PYTHON_3 {
        let sparse = read(bytes).and_then(|pickle| pickle.sparse()).expect("valid");
        assert_eq!((sparse.rows(), sparse.cols(), sparse.offsets()), (2, 2, &[0, 1, 2][..]));
        assert_eq!((sparse.columns(), sparse.values()), (&[0, 1][..], &[1.5, -2.0][..]));
    }
}

#[test]
fn unsorted_columns_are_sorted_and_repeated_ones_added_up() {
    let bytes = pickles::csr(2, 4, &[0, 3, 4], &[2, 0, 2, 1], &[1.0, 5.0, 0.5, 7.0]);
    let sparse = read(&bytes).and_then(|pickle| pickle.sparse()).expect("valid");
    assert_eq!(sparse.offsets(), [0, 2, 3]);
    assert_eq!((sparse.columns(), sparse.values()), (&[0, 2, 1][..], &[5.0, 1.5, 7.0][..]));
}

#[test]
fn numbers_of_every_type_and_byte_order_are_read() {
    let cases: [(&str, char, Vec<u8>); 12] = [
        ("b1", '|', vec![0, 1]),
        ("i1", '|', vec![0, 1]),
        ("u1", '|', vec![0, 1]),
        ("i2", '<', [0_i16.to_le_bytes(), 1_i16.to_le_bytes()].concat()),
        ("u2", '>', [0_u16.to_be_bytes(), 1_u16.to_be_bytes()].concat()),
        ("i4", '>', [0_i32.to_be_bytes(), 1_i32.to_be_bytes()].concat()),
        ("u4", '<', [0_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat()),
        ("i8", '<', [0_i64.to_le_bytes(), 1_i64.to_le_bytes()].concat()),
        ("u8", '>', [0_u64.to_be_bytes(), 1_u64.to_be_bytes()].concat()),
        ("f4", '<', [0_f32.to_le_bytes(), 1_f32.to_le_bytes()].concat()),
        ("f4", '>', [0_f32.to_be_bytes(), 1_f32.to_be_bytes()].concat()),
        ("f8", '>', [0_f64.to_be_bytes(), 1_f64.to_be_bytes()].concat()),
    ];
    for (dtype, order, raw) in cases {
        let bytes = pickles::pickle(&pickles::array(dtype, order, &[1, 2], &raw));
        let matrix = read(&bytes).and_then(|pickle| pickle.matrix()).expect(dtype);
        assert_eq!((matrix.rows, matrix.cols, &matrix.values[..]), (1, 2, &[0.0, 1.0][..]), "{dtype}");
    }
}

#[test]
fn arrays_that_store_columns_first_are_turned() {
    let mut bytes = pickles::pickle(&pickles::array("i1", '|', &[2, 3], &[1, 2, 3, 4, 5, 6]));
    let order = bytes.iter().rposition(|&byte| byte == 0x89).expect("the order is False");
    bytes[order] = 0x88;
    let matrix = read(&bytes).and_then(|pickle| pickle.matrix()).expect("valid");
    assert_eq!(matrix.values, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
}

#[test]
fn protocol_0_of_python_2_is_read() {
    let array = b"cnumpy.core.multiarray\n_reconstruct\np0\n(cnumpy\nndarray\np1\n(I0\ntp2\nS'b'\np3\ntp4\nRp5\n(I1\n(I1\nI2\n\
        tp6\ncnumpy\ndtype\np7\n(S'i2'\np8\nI0\nI1\ntp9\nRp10\n(I3\nS'<'\np11\nNNNI-1\nI-1\nI0\ntp12\nbI00\n\
        S'\\x01\\x00\\n\\001'\np13\ntp14\nb.";
    let matrix = read(array).and_then(|pickle| pickle.matrix()).expect("valid");
    assert_eq!(matrix.values, [1.0, 266.0]);
    let graph = b"ccollections\ndefaultdict\np0\n(c__builtin__\nlist\np1\ntp2\nRp3\nI0\n(lp4\nI1\nasL1L\n(lp5\nI0\naI1\nas.";
    let adjacency = read(graph).and_then(|pickle| pickle.adjacency()).expect("valid");
    assert_eq!((adjacency.nodes, &adjacency.sources[..]), (2, &[0, 1, 1][..]));
    assert_eq!(adjacency.targets, [1, 0, 1]);
}

#[test]
fn a_pickle_that_would_run_a_program_is_refused_by_name() {
    let message = "file, byte 0: expected numbers, texts, lists, numpy arrays and scipy CSR matrices, found the Python name \
        `os.system`: only data is read, and nothing is executed; do not open this file with Python";
    assert_eq!(refusal(b"cos\nsystem\n(S'true'\ntR."), message);
    let stacked = refusal(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.");
    assert!(stacked.contains("byte 18") && stacked.contains("`builtins.eval`"), "{stacked}");
    let old_class = refusal(b"(ios\nsystem\n.");
    assert!(
        old_class.contains("byte 1: expected an instruction that makes data, found the instruction `i`"),
        "{old_class}"
    );
}

#[test]
fn allowed_names_are_only_called_as_their_libraries_do() {
    assert!(refusal(b"c__builtin__\nobject\n)R.").contains("expected arguments of `object`"));
    assert!(refusal(b"c_codecs\nencode\n(V1\nVrot13\ntR.").contains("expected arguments of `encode`"));
    assert!(refusal(b"I1\n)R.").contains("byte 4: expected a function to call, found 1"));
    assert!(
        refusal(b"]}b.")
            .contains("byte 2: expected an array, a numpy type or a CSR matrix to give a state to")
    );
}

#[test]
fn a_list_that_holds_itself_is_no_neighbour() {
    let found = refusal(b"}K\0]q\0h\0as.");
    assert_eq!(found, "file, `graph`[0]: expected a node from 0 to 0, one for each entry, found a list of 1");
}

#[test]
fn deep_nesting_needs_no_stack() {
    let deep = [&b"]".repeat(100_000)[..], &b"a".repeat(99_999), b"."].concat();
    assert_eq!(
        refusal(&deep),
        "file, byte 0: expected a dictionary from nodes to lists of neighbours, found a list of 1"
    );
}

#[test]
fn a_list_that_doubles_a_hundred_times_is_held_once() {
    let mut bytes = b"]q\0".to_vec();
    for level in 1..100 {
        bytes.extend([b'h', level - 1, b'h', level - 1, 0x86, b'q', level]);
    }
    bytes.push(b'.');
    assert!(refusal(&bytes).ends_with("found a tuple of 2"));
}

#[test]
fn neighbours_that_all_nodes_share_do_not_multiply() {
    let mut bytes = b"}(](".to_vec();
    bytes.extend((0..1000).flat_map(|_| pickles::int(0)));
    bytes.extend(b"eq\0");
    // The list is taken off again: it stays in the memo.
    bytes.push(b'0');
    for node in 0..1000 {
        bytes.extend([pickles::int(node), b"h\0".to_vec()].concat());
    }
    bytes.extend(b"u.");
    let found = refusal(&bytes);
    assert!(
        found.contains("neighbours, as many as the file has bytes") && found.contains("share one list"),
        "{found}"
    );
}

#[test]
fn declared_sizes_are_not_believed() {
    assert_eq!(
        refusal(b"\x80\x02T\xff\xff\xff\x7fabc."),
        "file, byte 2: expected 2147483647 more bytes, found 4 until the end of the file"
    );
    assert!(
        refusal(b"\x8e\xff\xff\xff\xff\xff\xff\xff\xff.")
            .contains("expected 18446744073709551615 more bytes")
    );
    assert!(
        refusal(b"Nr\xff\xff\xff\xff.")
            .contains("byte 1: expected a position of the memo up to 7, the size of the file")
    );
    let huge = pickles::pickle(&pickles::array("f8", '<', &[2_000_000_000, 2_000_000_000], b"12345678"));
    let found = matrix_refusal(&huge);
    assert!(found.contains("expected 2000000000 × 2000000000 entries of 8 bytes, found 8 bytes"), "{found}");
}

#[test]
fn types_other_than_numbers_are_refused() {
    let found = matrix_refusal(&pickles::pickle(&pickles::array("O8", '|', &[1, 1], b"12345678")));
    assert!(
        found.contains("expected a numpy type out of b1, i1") && found.contains("found the text `O8`"),
        "{found}"
    );
    let floats = pickles::csr(1, 1, &[0, 0], &[], &[]);
    let place = floats.windows(2).position(|pair| pair == b"i4").expect("the type of indptr");
    let mut floats = floats.clone();
    floats[place] = b'f';
    let found = read(&floats).and_then(|pickle| pickle.sparse()).expect_err("refused").to_string();
    assert_eq!(found, "file, `indptr`: expected an array of whole numbers, found an array of f4");
}

#[test]
fn a_pickle_cut_short_anywhere_is_refused() {
    for bytes in CSR_OF_PYTHON_3 {
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn broken_matrices_are_refused_with_the_entry() {
    let refusal = |bytes: Vec<u8>| {
        read(&bytes).and_then(|pickle| pickle.sparse()).expect_err("it must be refused").to_string()
    };
    let found = refusal(pickles::csr(2, 2, &[0, 2, 1], &[0], &[1.0]));
    assert_eq!(found, "file, `indptr`[2]: expected at least 2, the entry before, found 1");
    let found = refusal(pickles::csr(1, 2, &[0, 2], &[0, 2], &[1.0, 1.0]));
    assert_eq!(found, "file, `indices`[1]: expected a column below 2, found 2");
    let found = refusal(pickles::csr(1, 2, &[0, 2], &[0, 1], &[1.0]));
    assert_eq!(found, "file, `data`: expected 2 entries, the last of `indptr`, found 1");
    let found = refusal(pickles::csr(3, 2, &[0, 1], &[0], &[1.0]));
    assert_eq!(found, "file, `indptr`: expected one entry per row of 3 and a last one, found 2");
}
