use super::*;
use crate::pickles;

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
    let found = read(&Threads::one(), Path::new("nowhere"), "cora").expect_err("it is not there").to_string();
    assert!(found.starts_with("cannot read") && found.contains("ind.cora.graph"), "{found}");
}
