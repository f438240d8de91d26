//! Nothing is allocated inside an epoch once the first one has grown every buffer.

#[path = "../../graph/tests/shared/counting.rs"]
mod counting;

use std::sync::Arc;

use edgepace_graph::{Classes, DenseFeatures, Features, Graph, Labels, SparseFeatures, WeightedGraph};
use edgepace_nn::{Adam, AdamConfig, Backbone, Extra, Metric, Model, ModelConfig, Task, Threads};

const NODES: usize = 1000;
const COLUMNS: usize = 24;
const CLASSES: u32 = 5;

/// A ring with chords: enough work for kernels to cut it into pieces.
fn graph() -> Arc<Graph> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for node in 0..NODES {
        for hop in [1, 17, 291, 640] {
            a.push(node as u32);
            b.push(((node + hop) % NODES) as u32);
        }
    }
    Arc::new(Graph::undirected(NODES, &a, &b).unwrap())
}

/// The same with edges that weigh something by themselves.
fn weighted() -> WeightedGraph {
    let graph = graph();
    let weights: Vec<f32> = (0..graph.edges()).map(|edge| 0.5 + (edge % 11) as f32).collect();
    WeightedGraph::new(graph, weights).unwrap()
}

fn value(node: usize, column: usize) -> f32 {
    ((node * 31 + column * 17) % 23) as f32 / 23.0
}

fn dense() -> Features {
    let values = (0..NODES * COLUMNS).map(|i| value(i / COLUMNS, i % COLUMNS)).collect();
    DenseFeatures::new(NODES, COLUMNS, values).unwrap().into()
}

/// Every third column of the dense features.
fn sparse() -> Features {
    let offsets = (0..=NODES).map(|node| node * COLUMNS / 3).collect();
    let columns = (0..NODES).flat_map(|_| (0..COLUMNS as u32).step_by(3)).collect();
    let values = (0..NODES).flat_map(|node| (0..COLUMNS).step_by(3).map(move |c| value(node, c))).collect();
    SparseFeatures::new(NODES, COLUMNS, offsets, columns, values).unwrap().into()
}

/// Allocations of each of 21 epochs: new edge weights, a training step, every gradient, the embeddings, an evaluation and
/// its accuracy, and a score.
fn allocations(
    (backbone, layer_norm): (Backbone, bool),
    graph: WeightedGraph,
    features: &Features,
    threads: &Threads,
) -> Vec<usize> {
    let truth = Classes::new(CLASSES as usize, (0..NODES as u32).map(|i| i % CLASSES).collect()).unwrap();
    let labels: Arc<Labels> = Arc::new(truth.into());
    let train: Vec<u32> = (0..NODES as u32).step_by(3).collect();
    let task = Task::new(Arc::clone(&labels), &train).unwrap();
    let config = ModelConfig { hidden: 16, layer_norm, ..ModelConfig::new(backbone) };
    let mut weights = vec![1.0_f32; graph.graph().edges()];
    let mut model =
        Model::new(graph, Arc::new(features.clone()), CLASSES as usize, config, 1, threads).unwrap();
    let mut adam = Adam::new(AdamConfig::default(), model.parameter_count()).unwrap();
    let mut counts = vec![0; 21];
    threads.run(|| {
        // A worker allocates when it takes over work for the first time, which on a busy machine may be epochs later.
        let idle = || std::thread::sleep(std::time::Duration::from_millis(2));
        (0..5).for_each(|_| threads.on_each(idle));
        for (epoch, count) in counts.iter_mut().enumerate() {
            let before = counting::allocations();
            weights.iter_mut().enumerate().for_each(|(e, w)| *w = ((e + epoch) % 7) as f32 / 7.0);
            model.set_edge_weights(&weights).unwrap();
            model.train(&task, &mut adam, epoch as u32).unwrap();
            model.gradients(&task, None, Extra { edges: true, inputs: true }).unwrap();
            model.embeddings(None);
            assert!(model.evaluate().score(Metric::Accuracy, &labels, &train).unwrap().is_some());
            assert!(model.score(Metric::Accuracy, &labels, &train).unwrap().is_some());
            *count = counting::allocations() - before;
        }
    });
    counts
}

/// One test, so that no other runs beside it and is counted.
#[test]
fn after_the_first_epoch_no_epoch_allocates() {
    for count in [1, 2] {
        let threads = Threads::new(count).unwrap();
        for backbone in Backbone::ALL {
            for (features, graph, layer_norm) in [
                (dense(), graph().into(), false),
                (sparse(), graph().into(), false),
                (sparse(), graph().into(), true),
                (dense(), weighted(), false),
            ] {
                let counts = allocations((backbone, layer_norm), graph, &features, &threads);
                assert!(counts[0] > 0, "the first epoch grows the buffers, so the counter must have seen it");
                assert_eq!(counts[1..], [0; 20], "{backbone:?} with {count} threads");
            }
        }
    }
}
