//! Graphs at the edge of what a run can be asked for: each run ends with numbers.

use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Labels, Split, UNLABELLED};

use crate::sets::{every_method, trained};

fn dataset(graph: Graph, of: Vec<u32>, classes: usize, split: [&[u32]; 3]) -> (Dataset, Split) {
    let nodes = graph.nodes();
    let values = (0..2 * nodes).map(|i| ((i * 37) % 11) as f32 - 5.0).collect();
    let features = Features::from(DenseFeatures::new(nodes, 2, values).unwrap());
    let labels = Labels::from(Classes::new(classes, of).unwrap());
    let [train, validation, test] = split.map(<[u32]>::to_vec);
    let split = Split::new("corner", nodes, train, validation, test).unwrap();
    (Dataset::new("corner", graph, features, labels, vec![split.clone()]).unwrap(), split)
}

/// Every method ends with finite numbers and, where there are validation and test nodes, scores.
fn ends_with_numbers(set: &(Dataset, Split)) {
    for config in every_method() {
        let trained = trained(set, &config, 1);
        let what = format!("{} {:?}", config.method, config.preset);
        assert!(trained.snapshot.parameters.iter().all(|value| value.is_finite()), "{what}");
        assert!(trained.snapshot.logits.iter().all(|value| value.is_finite()), "{what}");
        assert_eq!(trained.record.result.validation.is_some(), !set.1.validation().is_empty(), "{what}");
        assert_eq!(trained.record.result.test.is_some(), !set.1.test().is_empty(), "{what}");
        if let Some(edges) = &trained.edges {
            assert_eq!(edges.difficulty.len(), set.0.graph().edges(), "{what}");
            assert!(edges.difficulty.iter().chain(&edges.weight).all(|x| (0.0..=1.0).contains(x)), "{what}");
        }
    }
}

#[test]
fn a_class_without_training_nodes_is_defined() {
    let graph = Graph::undirected(6, &[0, 1, 2, 3, 4], &[1, 2, 3, 4, 5]).unwrap();
    ends_with_numbers(&dataset(graph, vec![0, 0, 1, 1, 2, 2], 3, [&[0, 2], &[1, 4], &[3, 5]]));
}

#[test]
fn isolated_nodes_are_defined() {
    let graph = Graph::undirected(6, &[0], &[1]).unwrap();
    ends_with_numbers(&dataset(graph, vec![0, 1, 0, 1, 0, 1], 2, [&[0, 3], &[1, 2], &[4, 5]]));
}

#[test]
fn a_graph_without_edges_is_defined() {
    let graph = Graph::undirected(4, &[], &[]).unwrap();
    ends_with_numbers(&dataset(graph, vec![0, 1, 0, 1], 2, [&[0, 1], &[2], &[3]]));
}

#[test]
fn one_node_is_defined() {
    let graph = Graph::undirected(1, &[], &[]).unwrap();
    ends_with_numbers(&dataset(graph, vec![0], 2, [&[0], &[], &[]]));
}

#[test]
fn one_class_is_defined() {
    let graph = Graph::undirected(5, &[0, 1, 2], &[1, 2, 3]).unwrap();
    ends_with_numbers(&dataset(graph, vec![0; 5], 1, [&[0, 1], &[2], &[3, 4]]));
}

#[test]
fn directed_edges_and_unlabelled_nodes_are_defined() {
    let graph = Graph::from_edges(5, &[0, 1, 2, 4], &[1, 2, 0, 3]).unwrap();
    ends_with_numbers(&dataset(graph, vec![0, 1, 0, UNLABELLED, 1], 2, [&[0, 1], &[2], &[4]]));
}

#[test]
fn without_validation_nodes_the_last_epoch_counts() {
    let graph = Graph::undirected(4, &[0, 1, 2], &[1, 2, 3]).unwrap();
    let set = dataset(graph, vec![0, 1, 0, 1], 2, [&[0, 1], &[], &[2, 3]]);
    for config in every_method() {
        let result = trained(&set, &config, 1).record.result;
        assert_eq!(result.best_epoch, result.epochs - 1, "{} {:?}", config.method, config.preset);
        // Sweeps and rounds are no epochs of a network: they are as many as the method says.
        let own = ["belief", "label-propagation"].contains(&&config.method[..]);
        assert!(result.epochs == config.epochs || own, "{}", config.method);
    }
}
