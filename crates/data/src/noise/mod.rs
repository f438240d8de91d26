//! Damage to a graph, in exact amounts and with a record of what was damaged.
//!
//! The parts are applied in this order, whatever the order in which they are written: `delete`, `dice`, `fake`, `flip`,
//! `perturb`. Every amount is a share of what the graph had before any noise. An undirected edge counts once, and both of its
//! directions share its fate; the edges of a directed graph are damaged one by one.

mod features;
mod labels;
mod links;

use std::fmt;
use std::str::FromStr;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Classes, Dataset, Labels, Threads};

use crate::spec::Spec;
use crate::{DataError, error::request_error};
use links::Links;

/// What noise does to a graph, written as `fake=1,delete=0.1,dice=0.2,flip=0.05,perturb=0.1,seed=7`; what is not named does
/// not happen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Noise {
    /// Edges removed, a share of all from 0 to 1.
    pub delete: f64,
    /// DICE, «delete internally, connect externally» (Waniek et al., 2018): a share of the number of edges, of which one
    /// half (rounded down) are edges within a class to be removed and the others pairs of different classes to be
    /// joined. It knows all labels, as an attacker might.
    pub dice: f64,
    /// Fake edges added: so many per edge, drawn uniformly from the pairs that never were an edge.
    pub fake: f64,
    /// Labels changed to another class at random, a share of the *training* nodes of the split. Validation and test
    /// labels stay true: scores would mean nothing otherwise.
    pub flip: f64,
    /// Dense features: normal noise of so many standard deviations of the column. Sparse features: the share of each
    /// row's stored values that moves to random columns where the row had none.
    pub perturb: f64,
    /// The seed, or none for that of the run.
    pub seed: Option<u64>,
}

impl Noise {
    /// Whether it does nothing.
    pub fn is_none(&self) -> bool {
        [self.delete, self.dice, self.fake, self.flip, self.perturb] == [0.0; 5]
    }

    /// The noise with the seed that it has in a run of that seed, as in `fake=1,seed=3`; empty when it does nothing.
    pub fn record(&self, seed: u64) -> String {
        if self.is_none() {
            return String::new();
        }
        Noise { seed: Some(self.seed.unwrap_or(seed)), ..*self }.to_string()
    }

    /// The dataset with this noise, drawn from its own seed or else from `seed`. Its name is the old one, `+` and the
    /// [`record`](Noise::record).
    ///
    /// Edge columns follow their edges and are 0 for an added edge, but for [`Dataset::WEIGHT`]: an added edge weighs as much
    /// as an edge of the original graph that is drawn for it, all being equally likely. With `fake` or `dice` the column
    /// [`Dataset::FAKE`] is 1 for every added edge and, unless it was there before, 0 for the others. `flip` needs the name
    /// of one of the dataset's splits. Cost: O(edges log edges), 16 bytes per edge beside the graphs.
    ///
    /// # Errors
    /// Not enough edges to remove or pairs to join, `flip` without a split, `flip` or `dice` without one class per
    /// node, or a share of sparse features above 1.
    pub fn apply(
        &self,
        threads: &Threads,
        dataset: Dataset,
        split: Option<&str>,
        seed: u64,
    ) -> Result<Dataset, DataError> {
        if self.is_none() {
            return Ok(dataset);
        }
        let name = format!("{}+{}", dataset.name(), self.record(seed));
        let seed = self.seed.unwrap_or(seed);
        let dataset = self.structure(threads, dataset, seed)?;
        let dataset = if self.flip > 0.0 { labels::flip(dataset, self.flip, split, seed)? } else { dataset };
        let dataset = if self.perturb > 0.0 {
            features::perturb(threads, dataset, self.perturb, seed)?
        } else {
            dataset
        };
        Ok(dataset.renamed(name))
    }

    /// Everything that is done to edges.
    fn structure(&self, threads: &Threads, dataset: Dataset, seed: u64) -> Result<Dataset, DataError> {
        if [self.delete, self.dice, self.fake] == [0.0; 3] {
            return Ok(dataset);
        }
        let graph = std::sync::Arc::clone(dataset.graph());
        let mut links = Links::of(&graph);
        let edges = links.len();
        let amount = |share: f64| (share * edges as f64).round() as usize;
        if self.delete > 0.0 {
            links.delete(
                "noise: delete",
                amount(self.delete),
                stream(seed, Purpose::DeletedEdges, 0),
                |_, _| true,
            )?;
        }
        if self.dice > 0.0 {
            let classes = one_class_per_node(&dataset, "noise: dice")?;
            let budget = amount(self.dice);
            let inside = budget / 2;
            let within =
                |a, b| classes.of()[a as usize] == classes.of()[b as usize] && is_labelled(&dataset, a);
            let across = |a, b| !within(a, b) && is_labelled(&dataset, a) && is_labelled(&dataset, b);
            links.delete("noise: dice", inside, stream(seed, Purpose::DeletedEdges, 1), within)?;
            let pairs = labels::pairs_across(classes);
            links.connect(
                threads,
                "noise: dice",
                budget - inside,
                stream(seed, Purpose::FakeEdges, 1),
                pairs,
                across,
            )?;
        }
        if self.fake > 0.0 {
            let pairs = crate::pairs::pairs_of(graph.nodes());
            links.connect(
                threads,
                "noise: fake",
                amount(self.fake),
                stream(seed, Purpose::FakeEdges, 0),
                pairs,
                |_, _| true,
            )?;
        }
        let mark = self.fake > 0.0 || self.dice > 0.0;
        links.into_dataset(threads, dataset, stream(seed, Purpose::FakeEdges, WEIGHTS_STREAM), mark)
    }
}

/// The stream of weights of added edges: those before it say which edges are added.
const WEIGHTS_STREAM: u32 = 2;

fn stream(seed: u64, purpose: Purpose, index: u32) -> Stream {
    Stream::new(seed, purpose, index)
}

fn is_labelled(dataset: &Dataset, node: u32) -> bool {
    dataset.labels().is_labelled(node as usize)
}

fn one_class_per_node<'a>(dataset: &'a Dataset, field: &str) -> Result<&'a Classes, DataError> {
    match &**dataset.labels() {
        Labels::Classes(classes) => Ok(classes),
        Labels::Many(_) => {
            Err(request_error(field, "above 0", "0: this dataset has many labels per node, not one class"))
        }
    }
}

impl FromStr for Noise {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Noise, DataError> {
        let spec = Spec::parse("noise", text, &["fake", "delete", "flip", "perturb", "dice", "seed"])?;
        Ok(Noise {
            delete: spec.number("delete", 0.0, 0.0..=1.0)?,
            dice: spec.number("dice", 0.0, 0.0..=2.0)?,
            fake: spec.number("fake", 0.0, 0.0..=1e6)?,
            flip: spec.number("flip", 0.0, 0.0..=1.0)?,
            perturb: spec.number("perturb", 0.0, 0.0..=1e6)?,
            seed: spec.given("seed", 0..=u64::MAX)?,
        })
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("delete", self.delete),
            ("dice", self.dice),
            ("fake", self.fake),
            ("flip", self.flip),
            ("perturb", self.perturb),
        ];
        let mut comma = "";
        for (key, value) in parts.into_iter().filter(|&(_, value)| value != 0.0) {
            write!(f, "{comma}{key}={value}")?;
            comma = ",";
        }
        self.seed.map_or(Ok(()), |seed| write!(f, "{comma}seed={seed}"))
    }
}
