//! The gradient that an edge network learns from against differences of the loss, on a small graph. The model computes in
//! `f32`, so steps are large and slopes agree to 0.5 %.

use std::sync::Arc;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Labels, Split};
use edgepace_nn::Threads;

use crate::config::RunConfig;
use crate::learner::Start;
use crate::material::Material;
use crate::network::Network;
use crate::prepare::Preparation;

const NODES: u32 = 60;
const PAIRS: u64 = 240;
const COLUMNS: usize = 5;
const CLASSES: u32 = 3;
/// The epoch whose noise and dropout are held.
pub(crate) const EPOCH: u32 = 3;
/// Length of a step to either side.
const STEP: f32 = 0.01;
/// Random directions beside the gradient's own.
const DIRECTIONS: usize = 8;

/// A dataset with random edges, features and classes, and a config.
pub(crate) struct Case {
    material: Arc<Material>,
    config: RunConfig,
}

impl Case {
    pub(crate) fn new() -> Self {
        let stream = Stream::new(2, Purpose::Benchmark, 0);
        let ends = |end: u64| -> Vec<u32> {
            (0..PAIRS).map(|i| stream.below(2 * i + end, u64::from(NODES)) as u32).collect()
        };
        let nodes = NODES as usize;
        let graph = Graph::undirected(nodes, &ends(0), &ends(1)).unwrap();
        let values = (0..nodes * COLUMNS).map(|i| stream.normal(10_000 + i as u64) as f32).collect();
        let features = Features::from(DenseFeatures::new(nodes, COLUMNS, values).unwrap());
        let labels =
            Labels::from(Classes::new(CLASSES as usize, (0..NODES).map(|i| i % CLASSES).collect()).unwrap());
        let split = Split::new("all", nodes, (0..NODES).collect(), vec![], vec![]).unwrap();
        let dataset = Dataset::new("random", graph, features, labels, vec![split.clone()]).unwrap();
        let config =
            RunConfig { epochs: 10, hidden: Some(8), features: Preparation::None, ..RunConfig::default() };
        Self { material: Material::new(&dataset, &split).unwrap().0, config }
    }

    pub(crate) fn network(&self) -> Network {
        let threads = &Threads::new(1).unwrap();
        let Self { material, config } = self;
        Network::new(&Start { material, config, seed: 1, threads, warm_start: None }).unwrap()
    }
}

/// Asserts that `gradient` is the slope of `loss` at `values`: along itself, and halfway to random directions.
pub(crate) fn assert_slope(values: &[f32], gradient: &[f32], mut loss: impl FnMut(&[f32]) -> f64) {
    let stream = Stream::new(3, Purpose::Benchmark, 1);
    for number in 0..=DIRECTIONS {
        let mut direction = unit(gradient.to_vec());
        if number > 0 {
            let at = |i: usize| stream.normal((number * values.len() + i) as u64) as f32;
            let random = unit((0..values.len()).map(at).collect());
            direction.iter_mut().zip(&random).for_each(|(x, random)| *x += random);
        }
        let direction = unit(direction);
        let slope: f64 = direction.iter().zip(gradient).map(|(d, g)| f64::from(d * g)).sum();
        let mut at = |step: f32| {
            let moved: Vec<f32> = values.iter().zip(&direction).map(|(x, d)| step.mul_add(*d, *x)).collect();
            loss(&moved)
        };
        let numeric = (at(STEP) - at(-STEP)) / f64::from(2.0 * STEP);
        assert!((numeric / slope - 1.0).abs() < 0.005, "direction {number}: {slope} for {numeric}");
    }
}

/// Asserts that an optimiser's first step went down the gradient in every parameter.
pub(crate) fn assert_descent(before: &[f32], after: &[f32], gradient: &[f32]) {
    for ((before, after), slope) in before.iter().zip(after).zip(gradient) {
        assert!(slope.abs() < 1e-6 || (after - before) * slope < 0.0, "{before} to {after} by {slope}");
    }
}

/// The same direction with length 1.
fn unit(direction: Vec<f32>) -> Vec<f32> {
    let length = direction.iter().map(|x| x * x).sum::<f32>().sqrt();
    direction.into_iter().map(|x| x / length).collect()
}
