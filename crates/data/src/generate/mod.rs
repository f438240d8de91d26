//! Graphs made to measure. A generated graph is a pure function of its description: the same bits on every machine and
//! with any number of threads, because every random number is drawn by its position and every transcendental function
//! is computed in software.

mod blocks;
mod circle;
mod power_law;
mod scale_free;

use std::fmt;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Classes, Dataset, DenseFeatures, Threads};

pub use blocks::Blocks;
pub use circle::{Law, Synthetic};
pub use scale_free::ScaleFree;

use crate::DataError;
use crate::draw::permutation;

/// An edge's two directions must be nameable by `u32`.
const MOST_EDGES: usize = u32::MAX as usize / 2;
/// Nodes must be nameable by `u32`.
const MOST_NODES: usize = u32::MAX as usize - 1;
/// A width that no one needs, to keep sizes from overflowing.
const MOST_FEATURES: usize = 1 << 16;

/// A graph described by its name, as in `synthetic:homophily=0.3,law=inverse,seed=0`.
#[derive(Debug, Clone, PartialEq)]
pub enum Generator {
    /// `synthetic:…`, the paper's synthetic family.
    Synthetic(Synthetic),
    /// `blocks:…`, a degree-corrected block model.
    Blocks(Blocks),
    /// `scale-free:…`, a graph of power-law degrees without communities.
    ScaleFree(ScaleFree),
}

impl Generator {
    /// What descriptions begin with.
    pub const NAMES: [&'static str; 3] = [Synthetic::NAME, Blocks::NAME, ScaleFree::NAME];

    /// Reads a description; `None` when `name` does not start with the name of a generator. Settings that are not given
    /// have their defaults.
    ///
    /// # Errors
    /// An unknown setting, or a value out of range.
    pub fn parse(name: &str) -> Result<Option<Generator>, DataError> {
        let (kind, settings) = name.trim().split_once(':').unwrap_or((name.trim(), ""));
        Ok(Some(match kind {
            Synthetic::NAME => Generator::Synthetic(Synthetic::parse(settings)?),
            Blocks::NAME => Generator::Blocks(Blocks::parse(settings)?),
            ScaleFree::NAME => Generator::ScaleFree(ScaleFree::parse(settings)?),
            _ => return Ok(None),
        }))
    }

    /// Makes the graph. Its name is the full description, every setting in fixed order.
    ///
    /// # Errors
    /// Settings that no graph can have, as more edges than there are pairs of nodes.
    pub fn dataset(&self, threads: &Threads) -> Result<Dataset, DataError> {
        match self {
            Generator::Synthetic(synthetic) => synthetic.dataset(threads),
            Generator::Blocks(blocks) => blocks.dataset(threads),
            Generator::ScaleFree(scale_free) => scale_free.dataset(threads),
        }
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Generator::Synthetic(synthetic) => synthetic.fmt(f),
            Generator::Blocks(blocks) => blocks.fmt(f),
            Generator::ScaleFree(scale_free) => scale_free.fmt(f),
        }
    }
}

/// The graph that `name` describes; `None` when `name` does not start with the name of a generator.
///
/// # Errors
/// As [`Generator::parse`] and [`Generator::dataset`].
pub fn generate(threads: &Threads, name: &str) -> Result<Option<Dataset>, DataError> {
    Generator::parse(name)?.map(|generator| generator.dataset(threads)).transpose()
}

/// Nodes in random order with classes dealt out in turn: class sizes differ by one at most, and ids tell nothing.
struct Dealt {
    order: Vec<u32>,
    classes: usize,
}

impl Dealt {
    fn new(threads: &Threads, nodes: usize, classes: usize, seed: u64) -> Dealt {
        let stream = Stream::new(seed, Purpose::GeneratedNodes, 0);
        Dealt { order: permutation(threads, stream, nodes), classes }
    }

    /// How many nodes the class has.
    fn size(&self, class: usize) -> usize {
        (self.order.len() + self.classes - 1 - class) / self.classes
    }

    /// The node of that rank in its class.
    fn member(&self, class: usize, rank: usize) -> u32 {
        self.order[rank * self.classes + class]
    }

    fn labels(&self) -> Classes {
        let mut of = vec![0; self.order.len()];
        for (position, &node) in self.order.iter().enumerate() {
            of[node as usize] = (position % self.classes) as u32;
        }
        Classes::trusted(self.classes, of)
    }
}

/// Standard normal values around a standard normal centre per class.
fn features(
    threads: &Threads,
    labels: &Classes,
    columns: usize,
    seed: u64,
) -> Result<DenseFeatures, DataError> {
    let centres = Stream::new(seed, Purpose::GeneratedNodes, 1);
    let spread = Stream::new(seed, Purpose::GeneratedNodes, 2);
    let value = |position: usize| {
        let (node, column) = (position / columns, position % columns);
        let class = labels.of()[node] as usize;
        (centres.normal((class * columns + column) as u64) + spread.normal(position as u64)) as f32
    };
    let values = threads.map(labels.nodes() * columns, value);
    Ok(DenseFeatures::new(labels.nodes(), columns, values)?)
}
