//! Pro-GNN, dense and on a sparse support. That runs are defined at the corners and the same on any number of threads, is
//! tested with every other method's.

use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Labels, Split};
use edgepace_nn::Threads;
use edgepace_train::{Material, Silent, TrainError, train};

use crate::sets::{config, small, trained};

/// Settings under which S moves far in few epochs.
const FAST: [(&str, &str); 4] =
    [("structure_lr", "0.1"), ("gnn", "100"), ("smoothness", "0.1"), ("nuclear_every", "2")];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    FAST.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn the_dense_matrix_stays_symmetric_within_0_and_1_and_without_a_diagonal() {
    let set = small();
    let nodes = set.0.graph().nodes();
    for exact in ["false", "true"] {
        let config = config(&with(&[("method", "pro-gnn"), ("exact", exact), ("epochs", "12")]));
        let trained = trained(&set, &config, 2);
        let matrix = trained.snapshot.structure.matrix.as_deref().unwrap();
        assert_eq!(matrix.len(), nodes * nodes);
        assert!(matrix.iter().all(|s| (0.0..=1.0).contains(s)));
        for i in 0..nodes {
            assert_eq!(matrix[i * nodes + i], 0.0);
            for j in 0..i {
                assert_eq!(matrix[i * nodes + j].to_bits(), matrix[j * nodes + i].to_bits(), "{i} {j}");
            }
        }
        let weights = trained.edges.unwrap().weight;
        assert!(weights.iter().any(|&w| w < 0.9), "some edges lose weight");
    }
}

#[test]
fn a_kept_matrix_is_the_graph_of_its_entries() {
    let set = small();
    let nodes = set.0.graph().nodes();
    let config = config(&with(&[("method", "pro-gnn"), ("epochs", "6")]));
    let structure = trained(&set, &config, 1).snapshot.structure;
    let (edges, matrix) = (structure.as_edges(nodes).unwrap(), structure.matrix.unwrap());
    let (graph, weights) = (edges.graph.unwrap(), edges.weights.unwrap());
    assert_eq!(weights.len(), matrix.iter().filter(|&&s| s > 0.0).count());
    for target in 0..nodes {
        for edge in graph.in_edges(target) {
            assert_eq!(weights[edge], matrix[target * nodes + graph.sources()[edge] as usize]);
        }
    }
}

#[test]
fn the_sparse_form_learns_on_edges_and_neighbours_alike_in_both_directions() {
    let set = small();
    let config = config(&with(&[("method", "pro-gnn-sparse"), ("epochs", "12")]));
    let trained = trained(&set, &config, 2);
    let (graph, weights) = (
        trained.snapshot.structure.graph.as_ref().unwrap(),
        trained.snapshot.structure.weights.as_ref().unwrap(),
    );
    let own = set.0.graph();
    let new = |edge: usize| {
        let target = graph.offsets().partition_point(|&start| start <= edge) - 1;
        own.edge_id(graph.sources()[edge], target as u32).is_none()
    };
    assert!((0..graph.edges()).any(|edge| new(edge) && weights[edge] > 0.0), "neighbours gain weight");
    assert!((0..graph.edges()).any(|edge| !new(edge) && weights[edge] < 0.9), "edges lose weight");
    for (edge, &twin) in graph.twins().unwrap().iter().enumerate() {
        assert_eq!(weights[edge].to_bits(), weights[twin as usize].to_bits());
    }
}

#[test]
fn both_forms_train_every_backbone_that_they_name() {
    let set = small();
    for method in ["pro-gnn", "pro-gnn-sparse"] {
        for backbone in edgepace_train::find_method(method).unwrap().backbones {
            let config = config(&with(&[("method", method), ("backbone", backbone), ("epochs", "8")]));
            let trained = trained(&set, &config, 1);
            assert!(trained.snapshot.logits.iter().all(|x| x.is_finite()), "{method} {backbone}");
        }
    }
}

#[test]
fn with_step_size_0_the_graph_stays_as_it_is() {
    let set = small();
    for method in ["pro-gnn", "pro-gnn-sparse"] {
        let config = config(&[("method", method), ("structure_lr", "0"), ("epochs", "8")]);
        let vanilla = trained(&set, &crate::sets::config(&[("method", "vanilla"), ("epochs", "8")]), 1);
        let trained = trained(&set, &config, 1);
        assert!(trained.edges.unwrap().weight.iter().all(|&w| w == 1.0));
        for (ours, plain) in trained.snapshot.logits.iter().zip(&vanilla.snapshot.logits) {
            assert!((ours - plain).abs() < 1e-3, "{method}: {ours} {plain}");
        }
    }
}

#[test]
fn a_graph_too_large_for_a_matrix_is_refused_with_what_to_use_instead() {
    let nodes = 2_000_000;
    let graph = Graph::undirected(nodes, &[0], &[1]).unwrap();
    let features = DenseFeatures::new(nodes, 1, vec![1.0; nodes]).unwrap();
    let labels = Classes::new(2, vec![0; nodes]).unwrap();
    let dataset =
        Dataset::new("large", graph, Features::from(features), Labels::from(labels), Vec::new()).unwrap();
    let split = Split::new("one", nodes, vec![0], vec![], vec![]).unwrap();
    let (material, _) = Material::new(&dataset, &split).unwrap();
    let check = |method: &str| {
        let spec = config(&[("method", method)]).check().unwrap().spec(&material, 0).unwrap();
        spec.check_memory(&material, 1, Some(1 << 40))
    };
    match check("pro-gnn") {
        Err(TrainError::Memory { needed, instead, .. }) => {
            let matrices = 16 * (nodes as u64).pow(2);
            assert!((matrices..matrices + matrices / 1000).contains(&needed), "{needed}");
            assert_eq!(instead, "method `pro-gnn-sparse`");
        }
        other => panic!("{other:?}"),
    }
    check("pro-gnn-sparse").unwrap();
}

#[test]
fn training_that_diverges_says_so_and_what_to_lower() {
    let (dataset, split) = small();
    for method in ["pro-gnn", "pro-gnn-sparse"] {
        let config = config(&[("method", method), ("lr", "1e30")]);
        let threads = Threads::new(1).unwrap();
        let error = train(&dataset, &split, &config, 3, &threads, &mut Silent).map(|_| ()).unwrap_err();
        let expected = "the predictions are not finite in epoch 0: training diverges, try a smaller `lr` or `structure_lr`";
        assert_eq!(error.to_string(), expected, "{method}");
    }
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    for (method, key, value) in [
        ("pro-gnn", "inner", "0"),
        ("pro-gnn", "nuclear", "-1"),
        ("pro-gnn", "neighbours", "5"),
        ("pro-gnn-sparse", "rank", "0"),
        ("pro-gnn-sparse", "exact", "true"),
    ] {
        let error = config(&[("method", method), (key, value)]).check().unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}
