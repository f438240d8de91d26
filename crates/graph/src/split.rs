use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::GraphError;
use crate::error::{check_ids, check_node_count};

/// Disjoint sets of nodes to learn from, to choose by and to report on; nodes in none of them are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    name: String,
    nodes: usize,
    train: Vec<u32>,
    validation: Vec<u32>,
    test: Vec<u32>,
}

impl Split {
    /// A split of a graph with `nodes` nodes. The sets may come in any order and are stored sorted.
    ///
    /// # Errors
    /// An id that is not below `nodes`, a node that is in one set twice or in two sets, an empty training set,
    /// or more than `u32::MAX - 1` nodes.
    pub fn new(
        name: impl Into<String>,
        nodes: usize,
        train: Vec<u32>,
        validation: Vec<u32>,
        test: Vec<u32>,
    ) -> Result<Split, GraphError> {
        check_node_count("nodes", nodes)?;
        let mut split = Split { name: name.into(), nodes, train, validation, test };
        for (field, ids) in split.sets() {
            check_ids(field, ids, nodes)?;
        }
        if split.train.is_empty() {
            return Err(GraphError::EmptyTrainingSet { split: split.name });
        }
        split.check_disjoint()?;
        split.train.sort_unstable();
        split.validation.sort_unstable();
        split.test.sort_unstable();
        Ok(split)
    }

    fn check_disjoint(&self) -> Result<(), GraphError> {
        let sets = self.sets();
        // For each node 0, or 1 + the position of the set that holds it.
        let mut holder = vec![0_u8; self.nodes];
        for (own, (field, ids)) in (1_u8..).zip(sets) {
            for (position, &value) in ids.iter().enumerate() {
                let before = std::mem::replace(&mut holder[value as usize], own);
                if before == 0 {
                    continue;
                }
                let split = self.name.clone();
                return Err(if before == own {
                    GraphError::RepeatedNode { split, field, position, value }
                } else {
                    let other = sets[before as usize - 1].0;
                    GraphError::OverlappingSets { split, field, position, value, other }
                });
            }
        }
        Ok(())
    }

    /// The three sets with their names, in the order train, validation, test.
    pub fn sets(&self) -> [(&'static str, &[u32]); 3] {
        [("train", &self.train), ("validation", &self.validation), ("test", &self.test)]
    }

    /// The split's name; it is not part of the hash.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of nodes of the graph that the split is for.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The nodes to learn from, ascending.
    pub fn train(&self) -> &[u32] {
        &self.train
    }

    /// The nodes to choose epochs and parameters by, ascending.
    pub fn validation(&self) -> &[u32] {
        &self.validation
    }

    /// The nodes to report on, ascending.
    pub fn test(&self) -> &[u32] {
        &self.test
    }

    /// SHA-256 of the split as 64 lower-case hexadecimal digits; equal sets give equal hashes under any name.
    ///
    /// The bytes, all little endian: the number of nodes as `u64`, then for train, validation and test in turn
    /// the number of ids as `u64` and each id, ascending, as `u32`.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update((self.nodes as u64).to_le_bytes());
        for (_, ids) in self.sets() {
            hasher.update((ids.len() as u64).to_le_bytes());
            for id in ids {
                hasher.update(id.to_le_bytes());
            }
        }
        hasher.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a `String` cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}
