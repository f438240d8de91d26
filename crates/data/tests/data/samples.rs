//! Small datasets that have a bit of everything.

use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, Labels, ManyLabels, Names, SparseFeatures, Split,
    UNLABELLED,
};

/// Undirected, sparse features, two splits, weights, names for everything.
pub(crate) fn citations() -> Dataset {
    let traced = Graph::undirected_traced(5, &[0, 1, 2, 2, 2, 0], &[1, 2, 0, 3, 2, 1]).unwrap();
    let weights = traced.carry(&[0.5, 1.0, 2.0, 0.25, 9.0, 9.0]).unwrap();
    let features = SparseFeatures::new(
        5,
        7,
        vec![0, 2, 2, 3, 5, 6],
        vec![1, 6, 0, 2, 3, 6],
        vec![1.0, 0.5, 1.0, 0.0, 0.1, -2.5],
    );
    let labels = Classes::new(3, vec![0, 2, 0, 2, UNLABELLED]).unwrap();
    let splits = vec![
        Split::new("public", 5, vec![0, 1], vec![2], vec![3]).unwrap(),
        Split::new("7", 5, vec![3], vec![], vec![1, 0]).unwrap(),
    ];
    Dataset::new(
        "citations",
        traced.into_graph(),
        Features::from(features.unwrap()),
        Labels::from(labels),
        splits,
    )
    .and_then(|dataset| dataset.with_edge_column(Dataset::WEIGHT, weights))
    .and_then(|dataset| dataset.with_node_names(Names::new(["α, β", "b\"q\"", "", "d\ne", "e"])))
    .and_then(|dataset| dataset.with_class_names(Names::new(["theory", "empty", "a,b"])))
    .and_then(|dataset| dataset.with_feature_names(Names::new(["a", "a", "", "é", "id", "y\n", "z"])))
    .unwrap()
    .with_encoding("{\"how\": \"as they are, é\"}")
}

/// Directed, dense features with names (one of which is that of another column), many labels, no other names.
pub(crate) fn proteins() -> Dataset {
    let graph = Graph::from_edges(4, &[0, 1, 3], &[1, 2, 0]).unwrap();
    let features = DenseFeatures::new(4, 2, vec![0.1, -0.0, 3e-8, 1.5e30, 7.0, 8.0, 1.0, 0.0]).unwrap();
    let labels = ManyLabels::new(4, 3, vec![1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1]).unwrap();
    let splits = vec![Split::new("species", 4, vec![0], vec![1], vec![2, 3]).unwrap()];
    Dataset::new("proteins", graph, Features::from(features), Labels::from(labels), splits)
        .and_then(|dataset| dataset.with_edge_column("reliability", vec![0.5, 0.75, 1.0]))
        .and_then(|dataset| dataset.with_feature_names(Names::new(["mass, in kg", "id"])))
        .unwrap()
        .with_encoding("{}")
}

/// No edges, no feature columns, no classes.
pub(crate) fn nothing() -> Dataset {
    let graph = Graph::undirected(2, &[], &[]).unwrap();
    let features = DenseFeatures::new(2, 0, Vec::new()).unwrap();
    let labels = Classes::new(0, vec![UNLABELLED; 2]).unwrap();
    Dataset::new("nothing", graph, Features::from(features), Labels::from(labels), Vec::new()).unwrap()
}

pub(crate) fn all() -> [Dataset; 3] {
    [citations(), proteins(), nothing()]
}
