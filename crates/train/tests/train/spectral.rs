//! The truncated SVD against a dense one.

use std::sync::Arc;

use edgepace_graph::Graph;
use edgepace_graph::random::{Purpose, Stream};
use edgepace_nn::{EdgeMatrix, Threads};
use edgepace_train::{Svd, SvdConfig, truncated_svd};
use faer::Mat;

const CONFIG: SvdConfig = SvdConfig { rank: 12, oversampling: 12, iterations: 30, seed: 7 };

fn random_graph(nodes: u64, pairs: u64, symmetric: bool) -> Arc<Graph> {
    let stream = Stream::new(3, Purpose::Benchmark, 0);
    let ends = |end: u64| (0..pairs).map(|i| stream.below(2 * i + end, nodes) as u32).collect::<Vec<_>>();
    let (a, b) = (ends(0), ends(1));
    let nodes = nodes as usize;
    Arc::new(
        if symmetric { Graph::undirected(nodes, &a, &b) } else { Graph::from_edges(nodes, &a, &b) }.unwrap(),
    )
}

/// The graph with signed values that are not symmetric, as a matrix to multiply with and as a dense one.
fn matrix(threads: &Threads, graph: &Arc<Graph>) -> (EdgeMatrix<f32>, Mat<f64>) {
    let stream = Stream::new(4, Purpose::Benchmark, 1);
    let values: Vec<f32> = (0..graph.edges()).map(|e| stream.normal(e as u64) as f32 + 0.5).collect();
    let mut dense = Mat::zeros(graph.nodes(), graph.nodes());
    for (edge, (&source, target)) in graph.sources().iter().zip(graph.targets()).enumerate() {
        dense[(target as usize, source as usize)] = f64::from(values[edge]);
    }
    (EdgeMatrix::new(threads, Arc::clone(graph), &values).unwrap(), dense)
}

/// ‖M − U·diag(σ)·Vᵀ‖² in Frobenius' norm.
fn squared_error(dense: &Mat<f64>, svd: &Svd) -> f64 {
    let (n, k) = (dense.nrows(), svd.rank());
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..n {
            let term = |c: usize| {
                f64::from(svd.left[i * k + c]) * f64::from(svd.values[c]) * f64::from(svd.right[j * k + c])
            };
            sum += (dense[(i, j)] - (0..k).map(term).sum::<f64>()).powi(2);
        }
    }
    sum
}

#[test]
fn singular_values_and_the_reconstruction_are_those_of_a_dense_svd() {
    let threads = Threads::new(2).unwrap();
    for symmetric in [true, false] {
        let (operator, dense) = matrix(&threads, &random_graph(120, 500, symmetric));
        let exact = dense.svd().unwrap();
        let exact: Vec<f64> = (0..120).map(|c| exact.S()[c]).collect();
        let svd = truncated_svd(&threads, &operator, CONFIG, None).unwrap();
        assert_eq!(svd.rank(), 12);
        for (found, exact) in svd.values.iter().zip(&exact) {
            assert!((f64::from(*found) - exact).abs() < 1e-4 * exact, "{found} {exact}");
        }
        let optimum: f64 = exact[12..].iter().map(|s| s * s).sum();
        let error = squared_error(&dense, &svd);
        assert!((error - optimum).abs() < 1e-4 * optimum, "{error} {optimum}");
    }
}

#[test]
fn a_rank_beyond_the_rows_gives_all_singular_values_and_the_matrix_itself() {
    let threads = Threads::new(1).unwrap();
    let (operator, dense) = matrix(&threads, &random_graph(13, 30, false));
    let svd = truncated_svd(&threads, &operator, SvdConfig { rank: 50, ..CONFIG }, None).unwrap();
    assert_eq!((svd.rank(), svd.left.len(), svd.right.len()), (13, 169, 169));
    assert!(squared_error(&dense, &svd) < 1e-6);
}

#[test]
fn a_matrix_of_smaller_rank_than_asked_for_has_zeros_beyond_it_and_none_is_not_a_number() {
    let threads = Threads::new(1).unwrap();
    // A star: rank 2, singular values √leaves twice.
    let star = Arc::new(
        Graph::undirected(40, &[0; 16], &std::array::from_fn::<u32, 16, _>(|i| i as u32 + 1)).unwrap(),
    );
    let ones = vec![1.0; star.edges()];
    let svd =
        truncated_svd(&threads, &EdgeMatrix::new(&threads, star, &ones).unwrap(), CONFIG, None).unwrap();
    assert!(svd.values[..2].iter().all(|s| (s - 4.0).abs() < 1e-4), "{:?}", svd.values);
    assert_eq!(svd.values[2..], [0.0; 10]);
    assert!(svd.left.iter().chain(&svd.right).all(|x| x.is_finite()));

    let empty = Arc::new(Graph::from_edges(9, &[], &[]).unwrap());
    let svd = truncated_svd(&threads, &EdgeMatrix::new(&threads, empty, &[]).unwrap(), CONFIG, None).unwrap();
    assert_eq!((svd.values, svd.left, svd.right), (vec![0.0; 9], vec![0.0; 81], vec![0.0; 81]));
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let threads = Threads::new(1).unwrap();
    let graph = random_graph(30, 60, true);
    let mut values = vec![1.0; graph.edges()];
    values[5] = f32::NAN;
    let operator = EdgeMatrix::new(&threads, graph, &values).unwrap();
    assert!(truncated_svd(&threads, &operator, CONFIG, None).is_err());
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let graph = random_graph(3000, 9000, false);
    let found = [1, 2, 8].map(|count| {
        let threads = Threads::new(count).unwrap();
        let ones = vec![1.0; graph.edges()];
        let operator = EdgeMatrix::new(&threads, Arc::clone(&graph), &ones).unwrap();
        truncated_svd(&threads, &operator, SvdConfig { iterations: 2, ..CONFIG }, None).unwrap()
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

#[test]
fn a_start_from_the_vectors_of_a_similar_matrix_needs_one_iteration() {
    let threads = Threads::new(1).unwrap();
    let (mut operator, dense) = matrix(&threads, &random_graph(200, 800, true));
    let before = truncated_svd(&threads, &operator, CONFIG, None).unwrap();
    let once = SvdConfig { iterations: 1, ..CONFIG };
    let values: Vec<f32> = operator.values().iter().map(|x| 1.001 * x).collect();
    operator.set_values(&threads, &values).unwrap();
    let warm = truncated_svd(&threads, &operator, once, Some(&before.right)).unwrap();
    let cold = truncated_svd(&threads, &operator, once, None).unwrap();
    let optimum = squared_error(&dense, &before);
    assert!(squared_error(&dense, &warm) < 1.001 * optimum);
    assert!(squared_error(&dense, &cold) > 1.02 * optimum);
}
