use edgepace_graph::{GraphError, Split};

#[test]
fn sets_are_stored_sorted_under_their_name() {
    let split = Split::new("public", 6, vec![3, 0], vec![1], vec![5, 2]).unwrap();
    assert_eq!((split.name(), split.nodes()), ("public", 6));
    assert_eq!(split.train(), [0, 3]);
    assert_eq!(split.validation(), [1]);
    assert_eq!(split.test(), [2, 5]);
}

#[test]
fn the_hash_is_the_sha_256_of_the_documented_bytes() {
    // Computed with Python's hashlib and struct from the layout in the documentation.
    let split = Split::new("public", 6, vec![3, 0], vec![1], vec![5, 2]).unwrap();
    assert_eq!(split.hash(), "d4fd1251657e65063ec1aa21bf2e8ef32663c6da9063e61b3801d41be632b380");
}

#[test]
fn the_hash_follows_the_sets_and_nothing_else() {
    let hash = |name: &str, nodes, sets: [&[u32]; 3]| {
        Split::new(name, nodes, sets[0].to_vec(), sets[1].to_vec(), sets[2].to_vec())
            .unwrap()
            .hash()
            .to_owned()
    };
    let reference = hash("a", 6, [&[0, 3], &[1], &[2]]);
    assert_eq!(hash("b", 6, [&[3, 0], &[1], &[2]]), reference);
    assert_ne!(hash("a", 7, [&[0, 3], &[1], &[2]]), reference);
    assert_ne!(hash("a", 6, [&[0], &[3, 1], &[2]]), reference);
    assert_ne!(hash("a", 6, [&[0, 3], &[2], &[1]]), reference);
}

#[test]
fn validation_and_test_may_be_empty_but_the_training_set_may_not() {
    assert!(Split::new("train only", 1, vec![0], vec![], vec![]).is_ok());
    let error = Split::new("public", 3, vec![], vec![1], vec![2]).unwrap_err();
    assert_eq!(error, GraphError::EmptyTrainingSet { split: "public".into() });
    assert_eq!(
        error.to_string(),
        "split `public` has no training nodes: put at least one labelled node in `train`"
    );
}

#[test]
fn a_node_out_of_range_is_refused_in_each_set() {
    let out_of_range =
        |field, position, value| GraphError::NodeOutOfRange { field, position, value, nodes: 3 };
    let error = Split::new("s", 3, vec![0, 3], vec![], vec![]).unwrap_err();
    assert_eq!(error, out_of_range("train", 1, 3));
    assert_eq!(
        error.to_string(),
        "`train`[1] is node 3, but there are 3 nodes: \
         ids count from 0 and must be below the number of nodes"
    );
    assert_eq!(Split::new("s", 3, vec![0], vec![4], vec![]), Err(out_of_range("validation", 0, 4)));
    assert_eq!(Split::new("s", 3, vec![0], vec![1], vec![2, 9]), Err(out_of_range("test", 1, 9)));
    let too_many = u32::MAX as usize;
    assert_eq!(
        Split::new("s", too_many, vec![0], vec![], vec![]),
        Err(GraphError::TooMany { field: "nodes", found: too_many, limit: too_many - 1 })
    );
}

#[test]
fn a_repeated_node_is_refused_where_it_appears_again() {
    let error = Split::new("s", 6, vec![0], vec![5, 2, 5], vec![]).unwrap_err();
    assert_eq!(
        error,
        GraphError::RepeatedNode { split: "s".into(), field: "validation", position: 2, value: 5 }
    );
    assert_eq!(
        error.to_string(),
        "split `s`: `validation`[2] repeats node 5: list each node once, repeats would count double"
    );
}

#[test]
fn a_node_in_two_sets_is_refused_with_both_sets() {
    let overlap = |field, position, value, other| GraphError::OverlappingSets {
        split: "s".into(),
        field,
        position,
        value,
        other,
    };
    let error = Split::new("s", 6, vec![0, 1], vec![2], vec![3, 1]).unwrap_err();
    assert_eq!(error, overlap("test", 1, 1, "train"));
    assert_eq!(
        error.to_string(),
        "split `s`: `test`[1] is node 1, which is also in `train`: \
         keep it in one of the two, or scores are measured on what was learned from"
    );
    assert_eq!(Split::new("s", 6, vec![0], vec![0], vec![]), Err(overlap("validation", 0, 0, "train")));
    assert_eq!(Split::new("s", 6, vec![0], vec![4], vec![4]), Err(overlap("test", 0, 4, "validation")));
}
