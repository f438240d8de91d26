//! Graphs and models to test with.

use std::sync::Arc;

use edgepace_curriculum::{Curriculum, CurriculumConfig, Feedback};
use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{DenseFeatures, Features, Graph, Threads};

pub(crate) const WIDTH: usize = 6;
pub(crate) const CLASSES: usize = 3;

/// A graph of `nodes` nodes in three classes (node modulo 3), most of its edges within a class.
pub(crate) fn ends(nodes: usize, pairs: usize, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let stream = Stream::new(seed, Purpose::GeneratedEdges, 0);
    (0..pairs as u64)
        .map(|pair| {
            let a = stream.below(3 * pair, nodes as u64);
            let b = stream.below(3 * pair + 1, nodes as u64);
            let same = b - b % 3 + a % 3;
            let b = if stream.uniform(3 * pair + 2) < 0.7 && same < nodes as u64 { same } else { b };
            (a as u32, b as u32)
        })
        .unzip()
}

pub(crate) fn undirected(nodes: usize, pairs: usize, seed: u64) -> Arc<Graph> {
    let (a, b) = ends(nodes, pairs, seed);
    Arc::new(Graph::undirected(nodes, &a, &b).unwrap())
}

pub(crate) fn directed(nodes: usize, pairs: usize, seed: u64) -> Arc<Graph> {
    let (a, b) = ends(nodes, pairs, seed);
    let graph = Graph::from_edges(nodes, &a, &b).unwrap();
    assert!(graph.twins().is_none());
    Arc::new(graph)
}

/// What a model might say: embeddings, logits, features that know the class a little, and losses of every fourth node.
pub(crate) struct Said {
    pub(crate) embeddings: Vec<f32>,
    pub(crate) logits: Vec<f32>,
    pub(crate) features: Features,
    pub(crate) train: Vec<u32>,
    pub(crate) losses: Vec<f32>,
}

impl Said {
    pub(crate) fn new(nodes: usize, seed: u64) -> Said {
        let rows = |index: u32, width: usize, signal: f64| -> Vec<f32> {
            let stream = Stream::new(seed, Purpose::GeneratedNodes, index);
            (0..nodes * width)
                .map(|at| {
                    let own = at / width % 3 == at % width % 3;
                    (stream.normal(at as u64) + if own { signal } else { 0.0 }) as f32
                })
                .collect()
        };
        let train: Vec<u32> = (0..nodes as u32).step_by(4).collect();
        Said {
            embeddings: rows(0, WIDTH, 0.8),
            logits: rows(1, CLASSES, 1.2),
            features: DenseFeatures::new(nodes, 4, rows(2, 4, 0.5)).unwrap().into(),
            losses: train.iter().map(|&node| (node % 7) as f32 * 0.3).collect(),
            train,
        }
    }

    pub(crate) fn feedback(&self) -> Feedback<'_> {
        Feedback::new()
            .embeddings(&self.embeddings, WIDTH)
            .logits(&self.logits, CLASSES)
            .losses(&self.train, &self.losses)
    }
}

/// Every preset, and the settings that no preset has.
pub(crate) fn configs() -> Vec<CurriculumConfig> {
    use edgepace_curriculum::{Confidence, Kernel, MaskForm, Order, Pace};
    let mut configs: Vec<CurriculumConfig> =
        CurriculumConfig::PRESETS.iter().map(|name| CurriculumConfig::preset(name).unwrap()).collect();
    let base = CurriculumConfig::posterior();
    configs.push(CurriculumConfig { order: Order::Random, pace: Pace::Linear, ..base.clone() });
    configs.push(CurriculumConfig {
        pace: Pace::Root,
        smooth: false,
        confidence: Confidence::Off,
        ..base.clone()
    });
    configs.push(CurriculumConfig { mask: MaskForm::Linear, gamma: 0.4, pace: Pace::Lambda, ..base });
    configs.push(CurriculumConfig { kernel: Kernel::Cosine, gamma: 1.0, ..CurriculumConfig::paper() });
    configs
}

/// Runs all updates of `epochs` epochs; each sees another model.
pub(crate) fn run(graph: &Arc<Graph>, config: &CurriculumConfig, epochs: usize) -> Curriculum {
    run_on(&Threads::one(), graph, config, epochs)
}

pub(crate) fn run_on(
    threads: &Threads,
    graph: &Arc<Graph>,
    config: &CurriculumConfig,
    epochs: usize,
) -> Curriculum {
    let first = Said::new(graph.nodes(), 100);
    let mut curriculum =
        Curriculum::new(threads, Arc::clone(graph), Some(&first.features), config, epochs, 9).unwrap();
    advance(&mut curriculum, graph.nodes(), 0..epochs);
    curriculum
}

/// What somebody says of each pair.
pub(crate) fn trust(pairs: usize, epoch: usize) -> Vec<f32> {
    (0..pairs).map(|pair| ((pair * 37 + epoch * 11) % 101) as f32 / 100.0).collect()
}

pub(crate) fn advance(curriculum: &mut Curriculum, nodes: usize, epochs: std::ops::Range<usize>) {
    for epoch in epochs {
        if curriculum.due(epoch) {
            let said = Said::new(nodes, 100 + epoch as u64);
            let trust = trust(curriculum.pairs().len(), epoch);
            curriculum.update(epoch, &said.feedback().trust(&trust)).unwrap();
        }
    }
}
