//! A part of an experiment, for machines that do not share a store.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::groups;
use crate::experiment::Experiment;

/// One of several parts, as `3/8`: runs that share their data stay together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 1.
    number: usize,
    of: usize,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(number, of)| {
            let part = Self { number: number.parse().ok()?, of: of.parse().ok()? };
            (1..=part.of).contains(&part.number).then_some(part)
        });
        parsed.ok_or_else(|| "expected the number of a part and how many there are, as `3/8`".to_owned())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Experiment {
    /// How many parts it has at most: the groups of runs that share graph, noise, split and seed.
    pub fn most_parts(&self) -> usize {
        groups::of(self).len()
    }

    /// A part of it. Every run is in one of the parts, and in no other.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        let mut own = BTreeSet::new();
        for group in groups::of(&self).iter().skip(part.number - 1).step_by(part.of) {
            own.extend(group.cells.iter().map(|&cell| (cell, group.seed)));
        }
        for (number, cell) in self.cells.iter_mut().enumerate() {
            cell.seeds.retain(|&seed| own.contains(&(number, seed)));
        }
        self
    }

    /// One run of it; none where it has no such cell or seed.
    pub fn only(mut self, cell: usize, seed: u64) -> Option<Self> {
        for (number, other) in self.cells.iter_mut().enumerate() {
            other.seeds.retain(|&own| number == cell && own == seed);
        }
        (self.runs() == 1).then_some(self)
    }
}
