use edgepace_graph::{Classes, GraphError, Labels, ManyLabels, UNLABELLED};

#[test]
fn classes_may_leave_nodes_unlabelled() {
    let classes = Classes::new(3, vec![2, UNLABELLED, 0]).unwrap();
    assert_eq!(classes.of(), [2, UNLABELLED, 0]);
    let labels = Labels::from(classes);
    assert_eq!((labels.nodes(), labels.width()), (3, 3));
    assert_eq!([0, 1, 2, 3].map(|node| labels.is_labelled(node)), [true, false, true, false]);
}

#[test]
fn a_class_out_of_range_is_refused_with_its_node() {
    let error = Classes::new(3, vec![0, 2, 3]).unwrap_err();
    assert_eq!(error, GraphError::ClassOutOfRange { position: 2, value: 3, classes: 3 });
    assert_eq!(
        error.to_string(),
        "class of node 2 is 3, but there are 3 classes: \
         classes count from 0; mark a node without a class as `UNLABELLED`"
    );
}

#[test]
fn many_labels_are_as_wide_as_a_node_has_labels() {
    let many = ManyLabels::new(2, 3, vec![0, 1, 0, 1, 1, 0]).unwrap();
    assert_eq!(many.values(), [0, 1, 0, 1, 1, 0]);
    let labels = Labels::from(many);
    assert_eq!((labels.nodes(), labels.width()), (2, 3));
    assert_eq!([0, 1, 2].map(|node| labels.is_labelled(node)), [true, true, false]);
}

#[test]
fn many_labels_of_the_wrong_length_are_refused() {
    let error = ManyLabels::new(2, 3, vec![0; 7]).unwrap_err();
    let rule = "nodes × labels values, node after node";
    assert_eq!(error, GraphError::Length { field: "values", found: 7, expected: 6, rule });
    assert_eq!(
        error.to_string(),
        "`values` has 7 entries, expected 6: pass nodes × labels values, node after node"
    );
}

#[test]
fn a_label_that_is_neither_yes_nor_no_is_refused_with_its_node() {
    let error = ManyLabels::new(2, 3, vec![0, 1, 0, 1, 2, 0]).unwrap_err();
    assert_eq!(error, GraphError::LabelNotBinary { position: 4, node: 1, label: 1, value: 2 });
    assert_eq!(error.to_string(), "label `values`[4] (node 1, label 1) is 2: binary labels are 0 or 1");
}

#[test]
fn no_nodes_and_no_labels_are_fine() {
    assert_eq!(Classes::new(0, vec![]).unwrap().nodes(), 0);
    assert_eq!(ManyLabels::new(0, 5, vec![]).unwrap().width(), 5);
    assert_eq!(ManyLabels::new(5, 0, vec![]).unwrap().nodes(), 5);
}
