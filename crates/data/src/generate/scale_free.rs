//! A graph whose degrees follow a power law and that has no communities (Chung and Lu, 2002), for tests of load.
//!
//! Both ends of an edge are drawn by their expected degree. A pair that was drawn before, or a loop, is drawn again until the
//! number of edges is exact; [`Graph::dropped`] tells how many were. Classes are balanced and show in the features only.
//!
//! [`Graph::dropped`]: edgepace_graph::Graph::dropped

use std::fmt;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Dataset, Dropped, Features, Labels, Threads};

use super::blocks::too_dense;
use super::power_law::PowerLaw;
use super::{Dealt, MOST_EDGES, MOST_FEATURES, MOST_NODES, features};
use crate::DataError;
use crate::draw::distinct;
use crate::pairs::{pair, undirected};
use crate::spec::Spec;

/// A graph of power-law degrees.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleFree {
    /// `nodes`: default 10 000.
    pub nodes: usize,
    /// `edges`: undirected ones. Default 100 000.
    pub edges: usize,
    /// `classes`: default 10.
    pub classes: usize,
    /// `exponent` of the power law of the degrees, from 2.05 to 20. Default 2.5.
    pub exponent: f64,
    /// `features`: columns, each standard normal around a standard normal centre per class. Default 16.
    pub features: usize,
    /// `seed`: default 0.
    pub seed: u64,
}

impl ScaleFree {
    pub(super) const NAME: &'static str = "scale-free";

    pub(super) fn parse(settings: &str) -> Result<ScaleFree, DataError> {
        let keys = ["nodes", "edges", "classes", "exponent", "features", "seed"];
        let spec = Spec::parse(Self::NAME, settings, &keys)?;
        let nodes = spec.number("nodes", 10_000, 2..=MOST_NODES)?;
        Ok(ScaleFree {
            nodes,
            edges: spec.number("edges", 100_000, 0..=MOST_EDGES)?,
            classes: spec.number("classes", 10.min(nodes), 1..=nodes)?,
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
        let law = PowerLaw::new(self.nodes, self.exponent, 2.0 * self.edges.max(1) as f64);
        let stream = Stream::new(self.seed, Purpose::GeneratedEdges, 0);
        let draw = |position| {
            let [a, b, c, d] = stream.block(position);
            pair(dealt.order[law.rank(a, b)], dealt.order[law.rank(c, d)])
        };
        let drawn = distinct(threads, self.edges, draw).map_err(|reached| {
            too_dense("scale-free: edges", self.edges, &format!("{reached} edges"), self.edges)
        })?;
        let dropped = Dropped { duplicates: drawn.repeats, loops: drawn.nothing, ..Dropped::default() };
        let graph = undirected(self.nodes, &drawn.keys, dropped)?;
        drop(drawn);
        let labels = dealt.labels();
        let features = Features::from(features(threads, &labels, self.features, self.seed)?);
        Ok(Dataset::new(self.to_string(), graph, features, Labels::from(labels), Vec::new())?)
    }
}

impl fmt::Display for ScaleFree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScaleFree { nodes, edges, classes, exponent, features, seed } = self;
        write!(
            f,
            "scale-free:nodes={nodes},edges={edges},classes={classes},exponent={exponent},features={features},seed={seed}"
        )
    }
}
