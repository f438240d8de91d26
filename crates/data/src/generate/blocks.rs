//! A degree-corrected block model (Karrer and Newman, 2011), for tests of load: communities and hubs at any size.
//!
//! Balanced classes; within each, expected degrees follow a power law. `round(homophily·edges)` edges join two nodes of one
//! class, the others two of different classes; classes are uniform and nodes are drawn by their expected degree. A pair that
//! was drawn before, or a loop, is drawn again until the number of edges is exact; [`Graph::dropped`] tells how many
//! were.
//!
//! [`Graph::dropped`]: edgepace_graph::Graph::dropped

use std::fmt;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Dataset, Dropped, Features, Labels, Threads};

use super::power_law::PowerLaw;
use super::{Dealt, MOST_EDGES, MOST_FEATURES, MOST_NODES, features};
use crate::draw::{Drawn, distinct, merge, scale};
use crate::pairs::{pair, undirected};
use crate::spec::Spec;
use crate::{DataError, error::request_error};

/// A degree-corrected block model.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// `nodes`: default 10 000.
    pub nodes: usize,
    /// `edges`: undirected ones. Default 100 000.
    pub edges: usize,
    /// `classes`: default 10.
    pub classes: usize,
    /// `homophily`: the share of edges within a class, from 0 to 1. Default 0.8.
    pub homophily: f64,
    /// `exponent` of the power law of the degrees, from 2.05 to 20. Default 2.5.
    pub exponent: f64,
    /// `features`: columns, each standard normal around a standard normal centre per class. Default 16.
    pub features: usize,
    /// `seed`: default 0.
    pub seed: u64,
}

impl Blocks {
    pub(super) const NAME: &'static str = "blocks";

    pub(super) fn parse(settings: &str) -> Result<Blocks, DataError> {
        let keys = ["nodes", "edges", "classes", "homophily", "exponent", "features", "seed"];
        let spec = Spec::parse(Self::NAME, settings, &keys)?;
        let nodes = spec.number("nodes", 10_000, 4..=MOST_NODES)?;
        Ok(Blocks {
            nodes,
            edges: spec.number("edges", 100_000, 0..=MOST_EDGES)?,
            classes: spec.number("classes", 10.min(nodes / 2), 2..=nodes / 2)?,
            homophily: spec.number("homophily", 0.8, 0.0..=1.0)?,
            exponent: spec.number("exponent", 2.5, 2.05..=20.0)?,
            features: spec.number("features", 16, 0..=MOST_FEATURES)?,
            seed: spec.number("seed", 0, 0..=u64::MAX)?,
        })
    }

    /// Makes the graph.
    ///
    /// # Errors
    /// More edges than the model can draw.
    pub fn dataset(&self, threads: &Threads) -> Result<Dataset, DataError> {
        let dealt = Dealt::new(threads, self.nodes, self.classes, self.seed);
        let ends = 2.0 * self.edges.max(1) as f64 / self.classes as f64;
        // Class sizes differ by one at most, and the last class has the smallest.
        let small = dealt.size(self.classes - 1);
        let laws = [small, small + 1].map(|size| PowerLaw::new(size, self.exponent, ends));
        let law = |class: usize| &laws[dealt.size(class) - small];
        let within = (self.homophily * self.edges as f64).round() as usize;
        let classes = self.classes as u64;
        let draw = |stream: Stream, same: bool, position: u64| {
            let [a, b, c, d] = stream.block(2 * position);
            let [p, q, r, s] = stream.block(2 * position + 1);
            let from = scale(p, q, classes) as usize;
            let step = if same { 0 } else { 1 + scale(r, s, classes - 1) as usize };
            let to = (from + step) % self.classes;
            pair(dealt.member(from, law(from).rank(a, b)), dealt.member(to, law(to).rank(c, d)))
        };
        let drawn = |index: u32, count: usize| {
            let stream = Stream::new(self.seed, Purpose::GeneratedEdges, index);
            distinct(threads, count, |position| draw(stream, index == 0, position)).map_err(|reached| {
                let kind = if index == 0 { "within" } else { "between" };
                too_dense("blocks: edges", self.edges, &format!("{reached} edges {kind} classes"), count)
            })
        };
        let Drawn { mut keys, repeats, nothing } = drawn(0, within)?;
        let other = drawn(1, self.edges - within)?;
        let dropped = Dropped {
            duplicates: repeats + other.repeats,
            loops: nothing + other.nothing,
            ..Dropped::default()
        };
        merge(&mut keys, other.keys);
        let graph = undirected(self.nodes, &keys, dropped)?;
        drop(keys);
        let labels = dealt.labels();
        let features = Features::from(features(threads, &labels, self.features, self.seed)?);
        Ok(Dataset::new(self.to_string(), graph, features, Labels::from(labels), Vec::new())?)
    }
}

/// The model has no more edges to give.
pub(super) fn too_dense(field: &str, edges: usize, reached: &str, wanted: usize) -> DataError {
    request_error(
        field,
        edges.to_string(),
        format!("fewer: after {reached} of {wanted} hardly a new one is drawn"),
    )
    .with_help("use more nodes, or an exponent that gives smaller hubs")
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Blocks { nodes, edges, classes, homophily, exponent, features, seed } = self;
        write!(
            f,
            "blocks:nodes={nodes},edges={edges},classes={classes},homophily={homophily},exponent={exponent},\
             features={features},seed={seed}"
        )
    }
}
