//! The paper's synthetic family: classes on a circle, where close classes look alike and link more often than far ones.
//!
//! Balanced classes c = 0 … K − 1 have centres R·(cos 2πc/K, sin 2πc/K); a node's two features are its centre plus normal
//! noise of standard deviation σ. The share h of the edges (homophily) joins two nodes of one class. Of the others, a node
//! of class c links to class c′ ≠ c with probability law(d) / Σ law, d the distance of the labels around the circle. The
//! paper's text says that the probability is «inversely proportional to the distance» (`inverse`, 1/d, which gives its
//! figures) and its formula e^−d (`exp`). The number of edges of every distance is its expectation, rounded; which
//! nodes they join is random, without loops and repeats.

use std::fmt;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Classes, Dataset, DenseFeatures, Dropped, Features, Labels, Threads};

use super::{Dealt, MOST_EDGES, MOST_NODES};
use crate::draw::{scale, uniform};
use crate::pairs::{ends, forward_edges, key, pair, pairs_of, undirected};
use crate::spec::Spec;
use crate::splits::{self, Sizes};
use crate::{DataError, error::request_error};

/// A graph of the paper's synthetic family. The defaults are the paper's sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthetic {
    /// `homophily`: the share of edges within a class, from 0 to 1. Default 0.3.
    pub homophily: f64,
    /// `law`: how links between classes fall with their distance. Default `inverse`.
    pub law: Law,
    /// `seed`: default 0.
    pub seed: u64,
    /// `nodes`: default 5000.
    pub nodes: usize,
    /// `edges`: undirected ones. Default 30 000.
    pub edges: usize,
    /// `classes`: default 10.
    pub classes: usize,
    /// `radius`: distance of the class centres from the origin. Default 300.
    pub radius: f64,
    /// `sigma`: standard deviation of each feature around its centre. Default 100.
    pub sigma: f64,
}

/// How the probability of a link between two classes falls with their distance d on the circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// `inverse`: 1/d.
    Inverse,
    /// `exp`: e^−d.
    Exp,
}

impl Law {
    /// The weight of a class at distance `d` ≥ 1.
    pub fn weight(self, d: usize) -> f64 {
        match self {
            Law::Inverse => 1.0 / d as f64,
            Law::Exp => libm::exp(-(d as f64)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Law::Inverse => "inverse",
            Law::Exp => "exp",
        }
    }
}

impl Default for Synthetic {
    fn default() -> Synthetic {
        Synthetic {
            homophily: 0.3,
            law: Law::Inverse,
            seed: 0,
            nodes: 5000,
            edges: 30_000,
            classes: 10,
            radius: 300.0,
            sigma: 100.0,
        }
    }
}

impl Synthetic {
    pub(super) const NAME: &'static str = "synthetic";
    /// The name of its split: equal thirds at random, as in the paper.
    pub const SPLIT: &'static str = "thirds";

    pub(super) fn parse(settings: &str) -> Result<Synthetic, DataError> {
        let keys = ["homophily", "law", "seed", "nodes", "edges", "classes", "radius", "sigma"];
        let spec = Spec::parse(Self::NAME, settings, &keys)?;
        let default = Synthetic::default();
        let law = match spec.text("law") {
            None => default.law,
            Some("inverse") => Law::Inverse,
            Some("exp") => Law::Exp,
            Some(other) => return Err(spec.error("law", other, "`inverse` or `exp`")),
        };
        let nodes = spec.number("nodes", default.nodes, 3..=MOST_NODES)?;
        Ok(Synthetic {
            homophily: spec.number("homophily", default.homophily, 0.0..=1.0)?,
            law,
            seed: spec.number("seed", default.seed, 0..=u64::MAX)?,
            nodes,
            edges: spec.number("edges", default.edges, 0..=MOST_EDGES)?,
            classes: spec.number("classes", default.classes.min(nodes), 2..=nodes)?,
            radius: spec.number("radius", default.radius, 0.0..=1e9)?,
            sigma: spec.number("sigma", default.sigma, 0.0..=1e9)?,
        })
    }

    /// How far two classes are apart on the circle.
    pub fn distance(&self, a: usize, b: usize) -> usize {
        let apart = a.abs_diff(b);
        apart.min(self.classes - apart)
    }

    /// The centre of a class: what the features of its nodes are around.
    pub fn centre(&self, class: usize) -> [f64; 2] {
        let angle = std::f64::consts::TAU * class as f64 / self.classes as f64;
        [self.radius * libm::cos(angle), self.radius * libm::sin(angle)]
    }

    /// For each distance 0 … K/2, the probability that an edge at a node of class c leads to one given class at that
    /// distance from c: h for d = 0, (1 − h)·law(d) / Σ law over the other classes for d ≥ 1. Over all classes they
    /// add up to 1. This is the edge column [`Dataset::PROBABILITY`]. (Below a homophily of about 0.2 a neighbouring class
    /// is a likelier target than one's own.)
    pub fn probabilities(&self) -> Vec<f64> {
        let other = |d| self.law.weight(d);
        let total: f64 = (1..=self.classes / 2).map(|d| self.classes_at(d) as f64 * other(d)).sum();
        let between = (1..=self.classes / 2).map(|d| (1.0 - self.homophily) * other(d) / total);
        std::iter::once(self.homophily).chain(between).collect()
    }

    /// How many classes are at distance `d` of a class.
    fn classes_at(&self, d: usize) -> usize {
        if d == 0 || 2 * d == self.classes { 1 } else { 2 }
    }

    /// For each distance 0 … K/2, the exact number of edges: `round(h·edges)` within classes, and the others in proportion
    /// to their probabilities by largest remainder.
    pub fn edge_counts(&self) -> Vec<usize> {
        let within = (self.homophily * self.edges as f64).round() as usize;
        let between = self.edges - within;
        let weights = (1..=self.classes / 2).map(|d| self.classes_at(d) as f64 * self.law.weight(d));
        let total: f64 = weights.clone().sum();
        let exact: Vec<f64> = weights.map(|weight| weight / total * between as f64).collect();
        let mut counts: Vec<usize> = exact.iter().map(|&count| count as usize).collect();
        let mut order: Vec<usize> = (0..exact.len()).collect();
        order.sort_by(|&a, &b| (exact[b].fract()).total_cmp(&exact[a].fract()).then(a.cmp(&b)));
        let missing = between.saturating_sub(counts.iter().sum());
        order.iter().cycle().take(missing).for_each(|&d| counts[d] += 1);
        std::iter::once(within).chain(counts).collect()
    }

    /// For each distance, how many pairs of nodes there are.
    fn room(&self, dealt: &Dealt) -> Vec<u64> {
        let mut room = vec![0; self.classes / 2 + 1];
        room[0] = (0..self.classes).map(|class| pairs_of(dealt.size(class))).sum();
        for d in 1..=self.classes / 2 {
            let size = |class: usize| dealt.size(class % self.classes) as u64;
            let ordered: u64 = (0..self.classes).map(|class| size(class) * size(class + d)).sum();
            room[d] = if self.classes_at(d) == 2 { ordered } else { ordered / 2 };
        }
        room
    }

    /// Checks that there are enough pairs of nodes at every distance.
    fn check_room(&self, counts: &[usize], room: &[u64]) -> Result<(), DataError> {
        let Some(d) = (0..counts.len()).find(|&d| counts[d] as u64 > room[d]) else { return Ok(()) };
        let probabilities = self.probabilities();
        let share = |d: usize| self.classes_at(d) as f64 * probabilities[d];
        let most = (0..counts.len()).map(|d| room[d] as f64 / share(d)).fold(f64::INFINITY, f64::min);
        // The homophilies for which both the edges within and those between classes have room.
        let edges = self.edges as f64;
        let high = (room[0] as f64 / edges).min(1.0);
        let least = |d: usize| 1.0 - room[d] as f64 * (1.0 - self.homophily) / (share(d) * edges);
        let low = (1..counts.len()).filter(|&d| share(d) > 0.0).map(least).fold(0.0, f64::max);
        let range =
            if low <= high { format!("from {low:.4} to {high:.4}") } else { "none at all".to_owned() };
        let expected = format!(
            "at most about {}: {} of them join classes at distance {d}, which have {} pairs of nodes",
            most.floor(),
            counts[d],
            room[d]
        );
        Err(request_error("synthetic: edges", self.edges.to_string(), expected)
            .with_help(format!("legal homophilies for so many edges: {range}")))
    }

    /// The pairs at distance `d`, ascending.
    fn pairs_at(
        &self,
        threads: &Threads,
        d: usize,
        (count, room): (usize, u64),
        dealt: &Dealt,
        labels: &Classes,
    ) -> Vec<u64> {
        let class_of = |node: u32| labels.of()[node as usize] as usize;
        let draw = |[a, b, low, high]: [u32; 4]| {
            let from = scale(a, b, self.nodes as u64) as u32;
            // Both sides of the circle are equally likely; the lowest bit means nothing to the node.
            let step = if low & 1 == 0 { d } else { self.classes - d };
            let class = (class_of(from) + step) % self.classes;
            pair(from, dealt.member(class, scale(low, high, dealt.size(class) as u64) as usize))
        };
        let all = || {
            let nodes = self.nodes as u32;
            let at = |a: u32, b: u32| self.distance(class_of(a), class_of(b)) == d;
            (1..nodes)
                .flat_map(|high| (0..high).filter(move |&low| at(low, high)).map(move |low| key(low, high)))
                .collect()
        };
        let stream = Stream::new(self.seed, Purpose::GeneratedEdges, d as u32);
        uniform(threads, stream, count, room, draw, all)
    }

    /// Makes the graph, with the edge column [`Dataset::PROBABILITY`] (see [`Synthetic::probabilities`]) and the split
    /// [`Synthetic::SPLIT`].
    ///
    /// # Errors
    /// More edges at some distance than there are pairs of nodes.
    pub fn dataset(&self, threads: &Threads) -> Result<Dataset, DataError> {
        let dealt = Dealt::new(threads, self.nodes, self.classes, self.seed);
        let labels = dealt.labels();
        let (counts, room) = (self.edge_counts(), self.room(&dealt));
        self.check_room(&counts, &room)?;
        let mut keys = Vec::with_capacity(self.edges);
        for d in 0..counts.len() {
            keys.extend(self.pairs_at(threads, d, (counts[d], room[d]), &dealt, &labels));
        }
        keys.sort_unstable();
        let graph = undirected(self.nodes, &keys, Dropped::default())?;

        let probabilities = self.probabilities();
        let mut column = vec![0.0_f32; graph.edges()];
        for (edge, (low, high)) in forward_edges(&graph).zip(keys.iter().map(|&key| ends(key))) {
            let [a, b] = [low, high].map(|node| labels.of()[node as usize] as usize);
            let probability = probabilities[self.distance(a, b)] as f32;
            column[edge] = probability;
            column[graph.twins().unwrap_or_default()[edge] as usize] = probability;
        }
        let features = self.features(&labels)?;
        let labels = Labels::from(labels);
        let thirds = Sizes::Fraction { train: 1.0 / 3.0, validation: 1.0 / 3.0 };
        let split = splits::draw(threads, Self::SPLIT, thirds, false, &labels, self.seed)?;
        let dataset = Dataset::new(self.to_string(), graph, Features::from(features), labels, vec![split])?;
        Ok(dataset.with_edge_column(Dataset::PROBABILITY, column)?)
    }

    fn features(&self, labels: &Classes) -> Result<DenseFeatures, DataError> {
        let noise = Stream::new(self.seed, Purpose::GeneratedNodes, 1);
        let mut values = Vec::with_capacity(2 * self.nodes);
        for (node, &class) in (0_u64..).zip(labels.of()) {
            let [x, y] = self.centre(class as usize);
            values.push((x + self.sigma * noise.normal(2 * node)) as f32);
            values.push((y + self.sigma * noise.normal(2 * node + 1)) as f32);
        }
        Ok(DenseFeatures::new(self.nodes, 2, values)?)
    }
}

impl fmt::Display for Synthetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Synthetic { homophily, law, seed, nodes, edges, classes, radius, sigma } = self;
        write!(
            f,
            "synthetic:homophily={homophily},law={},seed={seed},nodes={nodes},edges={edges},classes={classes},\
             radius={radius},sigma={sigma}",
            law.name()
        )
    }
}
