use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, GraphError, Labels, ManyLabels, Names, SparseFeatures,
    Split, UNLABELLED,
};

fn path(nodes: u32) -> Graph {
    let starts: Vec<u32> = (1..nodes).map(|node| node - 1).collect();
    let ends: Vec<u32> = (1..nodes).collect();
    Graph::undirected(nodes as usize, &starts, &ends).unwrap()
}

fn features(rows: usize) -> Features {
    DenseFeatures::new(rows, 1, vec![1.0; rows]).unwrap().into()
}

/// Classes of which the last node has none.
fn labels(nodes: usize) -> Labels {
    let mut of = vec![0; nodes];
    of[nodes - 1] = UNLABELLED;
    Classes::new(1, of).unwrap().into()
}

fn split(name: &str, nodes: usize, test: Vec<u32>) -> Split {
    Split::new(name, nodes, vec![0], vec![1], test).unwrap()
}

#[test]
fn a_dataset_gives_its_parts_back() {
    let splits = vec![split("first", 4, vec![2]), split("second", 4, vec![])];
    let dataset = Dataset::new("path", path(4), features(4), labels(4), splits.clone()).unwrap();
    assert_eq!(dataset.name(), "path");
    assert_eq!(**dataset.graph(), path(4));
    assert_eq!(**dataset.features(), features(4));
    assert_eq!(**dataset.labels(), labels(4));
    assert_eq!(dataset.splits(), splits);
    assert_eq!(dataset.split("second"), Some(&splits[1]));
    assert_eq!(dataset.split("third"), None);
}

#[test]
fn features_must_have_one_row_per_node() {
    let error = Dataset::new("path", path(4), features(3), labels(4), vec![]).unwrap_err();
    assert_eq!(error, GraphError::NodeCount { field: "features", found: 3, expected: 4 });
    assert_eq!(
        error.to_string(),
        "features cover 3 nodes, but the graph has 4: check that both were read from the same dataset"
    );
}

#[test]
fn labels_must_have_one_row_per_node() {
    for (labels, found) in [(labels(5), 5), (ManyLabels::new(2, 1, vec![0, 1]).unwrap().into(), 2)] {
        let error = Dataset::new("path", path(4), features(4), labels, vec![]).unwrap_err();
        assert_eq!(error, GraphError::NodeCount { field: "labels", found, expected: 4 });
    }
}

#[test]
fn a_split_for_another_number_of_nodes_is_refused() {
    let splits = vec![split("right", 4, vec![2]), split("wrong", 9, vec![2])];
    let error = Dataset::new("path", path(4), features(4), labels(4), splits).unwrap_err();
    assert_eq!(error, GraphError::SplitNodeCount { split: "wrong".into(), found: 9, expected: 4 });
    assert_eq!(
        error.to_string(),
        "split `wrong` was made for 9 nodes, but the graph has 4: make the split for this dataset"
    );
}

#[test]
fn every_node_of_a_split_must_be_labelled() {
    let splits = vec![split("public", 4, vec![2, 3])];
    let error = Dataset::new("path", path(4), features(4), labels(4), splits.clone()).unwrap_err();
    assert_eq!(error, GraphError::UnlabelledNode { split: "public".into(), field: "test", value: 3 });
    assert_eq!(
        error.to_string(),
        "split `public`: node 3 of `test` has no class: take it out of the split or label it"
    );
    let many: Labels = ManyLabels::new(4, 2, vec![0; 8]).unwrap().into();
    assert!(Dataset::new("path", path(4), features(4), many, splits).is_ok());
}

#[test]
fn two_splits_of_one_name_are_refused() {
    let splits = ["a", "b", "a"].map(|name| split(name, 4, vec![])).to_vec();
    let error = Dataset::new("path", path(4), features(4), labels(4), splits).unwrap_err();
    assert_eq!(error, GraphError::RepeatedSplitName { first: 0, position: 2, value: "a".into() });
    assert_eq!(error.to_string(), "splits 0 and 2 are both named `a`: give each split its own name");
}

#[test]
fn edges_and_features_can_be_exchanged_for_others_that_fit() {
    let dataset =
        Dataset::new("path", path(4), features(4), labels(4), vec![split("s", 4, vec![2])]).unwrap();
    let other = Graph::undirected(4, &[0], &[3]).unwrap();
    let exchanged = dataset.clone().with_graph(other.clone()).unwrap();
    assert_eq!((&**exchanged.graph(), exchanged.splits()), (&other, dataset.splits()));
    let sparse = Features::from(SparseFeatures::new(4, 7, vec![0; 5], vec![], vec![]).unwrap());
    assert_eq!(**dataset.clone().with_features(sparse.clone()).unwrap().features(), sparse);

    assert_eq!(
        dataset.clone().with_graph(path(5)),
        Err(GraphError::NodeCount { field: "features", found: 4, expected: 5 })
    );
    assert_eq!(
        dataset.with_features(features(1)),
        Err(GraphError::NodeCount { field: "features", found: 1, expected: 4 })
    );
}

#[test]
fn names_of_features_and_their_encoding_stay_as_long_as_the_columns_do() {
    let plain = Dataset::new("path", path(4), features(4), labels(4), vec![]).unwrap();
    let width = plain.features().cols();
    let names = Names::new((0..width).map(|column| format!("f{column}")));
    let named = plain.clone().with_feature_names(names.clone()).unwrap().with_encoding("{}");
    assert_eq!(named.checksum(), plain.checksum());
    let moved = named.clone().with_graph(path(4)).unwrap().with_labels(labels(4)).unwrap();
    let moved = moved.with_splits(vec![]).unwrap().renamed("other").with_features(features(4)).unwrap();
    assert_eq!((moved.feature_names(), moved.encoding()), (Some(&names), Some("{}")));
    let wider = Features::from(SparseFeatures::new(4, width + 1, vec![0; 5], vec![], vec![]).unwrap());
    let wider = named.with_features(wider).unwrap();
    assert_eq!((wider.feature_names(), wider.encoding()), (None, None));
    let error = plain.with_feature_names(Names::new(["one", "too", "many", "names", "here"])).unwrap_err();
    assert!(error.to_string().contains("one name per feature"), "{error}");
}

#[test]
fn a_dataset_without_nodes_is_fine() {
    let nothing: Labels = Classes::new(0, vec![]).unwrap().into();
    let dataset = Dataset::new("nothing", path(0), features(0), nothing, vec![]).unwrap();
    assert_eq!(dataset.graph().nodes(), 0);
}
