use std::path::Path;

use edgepace_graph::{Classes, Features, Graph, Threads};

use super::{Style, read, read_edges, read_nodes};
use crate::DataError;
use crate::readers::text::Lines;

const HEADER: &str = "node_id\tfeature\tlabel\n";

fn nodes(text: &str, style: Style) -> Result<(Features, Classes), DataError> {
    read_nodes(Lines::new(Path::new("nodes.txt"), text.as_bytes()), style)
}

fn edges(text: &str) -> Result<Graph, DataError> {
    read_edges(&Threads::one(), Lines::new(Path::new("edges.txt"), text.as_bytes()), 3)
}

#[test]
fn nodes_in_any_order_end_up_in_theirs() {
    let (features, classes) =
        nodes(&format!("{HEADER}2\t0,0,1\t0\n0\t1,0,1\t1\r\n1\t0,0,0\t2\n"), Style::Values).unwrap();
    let Features::Sparse(sparse) = features else { panic!("features are sparse") };
    assert_eq!((sparse.offsets(), sparse.columns()), (&[0, 2, 2, 3][..], &[0, 2, 2][..]));
    assert_eq!(classes.of(), [1, 2, 0]);
}

#[test]
fn lists_of_columns_may_be_unsorted_repeated_or_empty() {
    let (features, _) = nodes(&format!("{HEADER}0\t7,3,7\t0\n1\t\t0\n"), Style::Columns).unwrap();
    let Features::Sparse(sparse) = features else { panic!("features are sparse") };
    assert_eq!((sparse.cols(), sparse.offsets(), sparse.columns()), (8, &[0, 2, 2][..], &[3, 7][..]));
}

#[test]
fn edges_become_symmetric() {
    let graph = edges("node_id\tnode_id\n0\t1\n1\t0\n1\t2\n2\t2\n").unwrap();
    assert_eq!((graph.edges(), graph.dropped().loops, graph.dropped().duplicates), (4, 1, 1));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let values = [
        ("0\t1,0\t0\n0\t1,0\t0\n", "nodes.txt, line 3: expected each node once, found node 0 as on line 2"),
        (
            "0\t1,0\t0\n2\t1,0\t0\n",
            "nodes.txt, line 3: expected a node below 2, the number of lines with nodes, found 2",
        ),
        ("0\t1,0\t0\n1\t1\t0\n", "nodes.txt, line 3: expected 2 features, as on the lines before, found 1"),
        ("0\t1,x\t0\n", "nodes.txt, line 2: expected a finite number, found `x`"),
        ("0\t1,0\n", "nodes.txt, line 2: expected 3 fields, found 2"),
        ("0\t1,0\t7\n", "nodes.txt, `label`[0]: expected a class below the number of nodes, 1, found 7"),
    ];
    for (text, message) in values {
        assert_eq!(nodes(&format!("{HEADER}{text}"), Style::Values).unwrap_err().to_string(), message);
    }
    let announced = "node_id\tfeature(feature_amount:4)\tlabel\n0\t5\t0\n";
    assert_eq!(
        nodes(announced, Style::Columns).unwrap_err().to_string(),
        "nodes.txt, line 2: expected a whole number below 5, the number of columns, found `5`"
    );
    assert_eq!(
        edges("a\tb\n0\t1\n0\t3\n").unwrap_err().to_string(),
        "edges.txt, line 3: expected a whole number below 3, the number of nodes, found `3`"
    );
}

#[test]
fn a_set_without_features_says_so() {
    // The archive has no features of two sets.
    let message = read(&Threads::one(), Path::new("nowhere"), "squirrel").unwrap_err().to_string();
    assert!(message.contains("expected the features of squirrel, found no such file"), "{message}");
}
