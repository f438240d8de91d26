//! Random graphs with the size, sparsity and skew of well-known datasets: what costs time, without the data itself.

use anyhow::Result;
use clap::ValueEnum;
use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, Labels, ManyLabels, SparseFeatures, Split,
};

/// Numbers of the random streams, so that no two draw the same.
pub(crate) mod streams {
    pub(crate) const EDGES: u32 = 0;
    pub(crate) const FEATURES: u32 = 1;
    pub(crate) const LABELS: u32 = 2;
    pub(crate) const SPLIT: u32 = 3;
    pub(crate) const CUT: u32 = 4;
    pub(crate) const WEIGHTS: u32 = 5;
}

/// Whose size a benchmark graph has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// Citations: 2708 nodes, 10 556 edges, 1433 features of which 1.3 % are set, 7 classes
    Cora,
    /// The paper's synthetic family: 5000 nodes, 60 000 edges, 2 features, 10 classes
    Synthetic,
    /// Co-purchases: 13 752 nodes, 491 722 edges, 767 features of which 35 % are set, 10 classes
    Computers,
    /// ogbn-arxiv: 169 343 nodes, 2.33 million edges, 128 features, 40 classes
    Arxiv,
    /// ogbn-proteins: 132 534 nodes, 79 million edges, 8 features, 112 binary labels
    Proteins,
}

/// The numbers behind a [`Shape`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) nodes: usize,
    /// Directed edges: twice the undirected ones.
    pub(crate) edges: usize,
    pub(crate) features: usize,
    /// Features that are set per node; `None` for dense ones.
    pub(crate) set: Option<usize>,
    pub(crate) outputs: usize,
    pub(crate) many_labels: bool,
}

impl Shape {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cora => "cora",
            Self::Synthetic => "synthetic",
            Self::Computers => "computers",
            Self::Arxiv => "arxiv",
            Self::Proteins => "proteins",
        }
    }

    pub(crate) fn size(self) -> Size {
        let dense = Size { nodes: 0, edges: 0, features: 0, set: None, outputs: 0, many_labels: false };
        match self {
            Self::Cora => {
                Size { nodes: 2708, edges: 10_556, features: 1433, set: Some(19), outputs: 7, ..dense }
            }
            Self::Synthetic => Size { nodes: 5000, edges: 60_000, features: 2, outputs: 10, ..dense },
            Self::Computers => {
                Size { nodes: 13_752, edges: 491_722, features: 767, set: Some(268), outputs: 10, ..dense }
            }
            Self::Arxiv => Size { nodes: 169_343, edges: 2_330_000, features: 128, outputs: 40, ..dense },
            Self::Proteins => Size {
                nodes: 132_534,
                edges: 79_122_504,
                features: 8,
                outputs: 112,
                many_labels: true,
                ..dense
            },
        }
    }
}

impl Size {
    /// The same density on `times` as many nodes and edges.
    pub(crate) fn times(self, times: usize) -> Self {
        Self { nodes: self.nodes * times, edges: self.edges * times, ..self }
    }

    /// The graph with features, labels and a split of 60 : 20 : 20, the same for the same seed on every machine.
    pub(crate) fn dataset(self, name: &str, seed: u64) -> Result<Dataset> {
        let split = self.split(seed)?;
        Ok(Dataset::new(name, self.graph(seed)?, self.features(seed)?, self.labels(seed)?, vec![split])?)
    }

    /// Both ends of an edge are drawn so that a node's expected degree falls with the root of its rank: a few hubs and
    /// many small nodes, as in grown networks. Ranks are scattered over the ids.
    fn graph(self, seed: u64) -> Result<Graph> {
        let wanted = self.edges / 2;
        let stream = Stream::new(seed, Purpose::Benchmark, streams::EDGES);
        let step = scatter(self.nodes);
        let end = |u: f64| {
            let rank = (u * u * self.nodes as f64) as usize;
            ((rank * step) % self.nodes) as u32
        };
        // Pairs that repeat or join a node with itself drop out: take some more, and cut what is too much.
        let mut draw = wanted + wanted / 20 + 16;
        loop {
            let (mut a, mut b) = (Vec::with_capacity(draw), Vec::with_capacity(draw));
            for pair in 0..draw as u64 {
                let [x, y, z, w] = stream.block(pair);
                let unit = |low: u32, high: u32| {
                    (f64::from(low) + f64::from(high) / 4_294_967_296.0) / 4_294_967_296.0
                };
                a.push(end(unit(x, y)));
                b.push(end(unit(z, w)));
            }
            let graph = Graph::undirected(self.nodes, &a, &b)?;
            drop((a, b));
            let Some(excess) = graph.edges().checked_sub(self.edges) else {
                draw += wanted / 5;
                continue;
            };
            return Ok(without(&graph, excess / 2, seed));
        }
    }

    fn features(self, seed: u64) -> Result<Features> {
        let stream = Stream::new(seed, Purpose::Benchmark, streams::FEATURES);
        let Some(set) = self.set else {
            let values = (0..(self.nodes * self.features) as u64).map(|i| stream.normal(i) as f32).collect();
            return Ok(DenseFeatures::new(self.nodes, self.features, values)?.into());
        };
        let (mut offsets, mut columns) = (vec![0], Vec::with_capacity(self.nodes * set));
        for node in 0..self.nodes {
            // Each column stays with the chance that still fills the row: exactly `set` distinct, ascending columns.
            let mut left = set;
            for column in 0..self.features {
                let draw =
                    stream.below((node * self.features + column) as u64, (self.features - column) as u64);
                if (draw as usize) < left {
                    columns.push(column as u32);
                    left -= 1;
                }
            }
            offsets.push(columns.len());
        }
        let values = vec![1.0 / set as f32; columns.len()];
        Ok(SparseFeatures::new(self.nodes, self.features, offsets, columns, values)?.into())
    }

    fn labels(self, seed: u64) -> Result<Labels> {
        let stream = Stream::new(seed, Purpose::Benchmark, streams::LABELS);
        let draw = |i: usize, bound: usize| stream.below(i as u64, bound as u64) as u32;
        if self.many_labels {
            let values = (0..self.nodes * self.outputs).map(|i| draw(i, 2) as u8).collect();
            return Ok(ManyLabels::new(self.nodes, self.outputs, values)?.into());
        }
        let of = (0..self.nodes).map(|i| draw(i, self.outputs)).collect();
        Ok(Classes::new(self.outputs, of)?.into())
    }

    fn split(self, seed: u64) -> Result<Split> {
        let stream = Stream::new(seed, Purpose::Benchmark, streams::SPLIT);
        let mut sets = [Vec::new(), Vec::new(), Vec::new()];
        for node in 0..self.nodes as u32 {
            let set = match stream.below(u64::from(node), 5) {
                0..3 => 0,
                3 => 1,
                _ => 2,
            };
            sets[set].push(node);
        }
        let [train, validation, test] = sets;
        Ok(Split::new("random", self.nodes, train, validation, test)?)
    }
}

/// A multiplier that walks through all ids: odd steps of about the golden ratio, coprime to the number of nodes.
fn scatter(nodes: usize) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (nodes * 618 / 1000..nodes).find(|&step| step > 0 && gcd(step, nodes) == 1).unwrap_or(1)
}

/// The graph without `excess` of its undirected edges, picked at random.
fn without(graph: &Graph, excess: usize, seed: u64) -> Graph {
    let stream = Stream::new(seed, Purpose::Benchmark, streams::CUT);
    let Some(twins) = graph.twins() else { return graph.clone() };
    let mut gone = std::collections::BTreeSet::new();
    let mut draw = 0;
    while gone.len() < 2 * excess {
        let edge = stream.below(draw, graph.edges() as u64) as u32;
        gone.insert(edge);
        gone.insert(twins[edge as usize]);
        draw += 1;
    }
    graph.select(|edge| !gone.contains(&(edge as u32))).graph
}
