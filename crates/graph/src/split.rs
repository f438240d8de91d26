use crate::digest::ContentHasher;
use crate::error::{check_ids, check_node_count};
use crate::{Buffer, GraphError, Threads};

/// Disjoint sets of nodes to learn from, to choose by and to report on; nodes in none of them are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    name: String,
    nodes: usize,
    train: Buffer<u32>,
    validation: Buffer<u32>,
    test: Buffer<u32>,
    /// Computed once: large splits are hashed again and again otherwise.
    hash: String,
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
        let name = name.into();
        let mut sets = [("train", train), ("validation", validation), ("test", test)];
        for (field, ids) in &sets {
            check_ids(&Threads::one(), field, ids, nodes)?;
        }
        if sets[0].1.is_empty() {
            return Err(GraphError::EmptyTrainingSet { split: name });
        }
        check_disjoint(&name, nodes, &sets)?;
        for (_, ids) in &mut sets {
            ids.sort_unstable();
        }
        let hash = hash(nodes, sets.each_ref().map(|(_, ids)| &ids[..]));
        let [train, validation, test] = sets.map(|(_, ids)| ids.into());
        Ok(Split { name, nodes, train, validation, test, hash })
    }

    /// A split whose sets were taken from a correct one, as a file of our own keeps them: O(1), nothing is read. The
    /// caller vouches for the sets and for the hash.
    pub fn trusted(
        name: impl Into<String>,
        nodes: usize,
        [train, validation, test]: [Buffer<u32>; 3],
        hash: impl Into<String>,
    ) -> Split {
        Split { name: name.into(), nodes, train, validation, test, hash: hash.into() }
    }

    /// The same sets under another name.
    #[must_use]
    pub fn renamed(self, name: impl Into<String>) -> Split {
        Split { name: name.into(), ..self }
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
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The hash that the sets have, for a split that was taken on trust.
    pub(crate) fn computed_hash(&self) -> String {
        hash(self.nodes, self.sets().map(|(_, ids)| ids))
    }
}

fn hash(nodes: usize, sets: [&[u32]; 3]) -> String {
    let mut hasher = ContentHasher::default();
    hasher.count(nodes);
    for ids in sets {
        hasher.count(ids.len());
        hasher.ids(ids);
    }
    hasher.hex()
}

fn check_disjoint(name: &str, nodes: usize, sets: &[(&'static str, Vec<u32>); 3]) -> Result<(), GraphError> {
    // For each node 0, or 1 + the position of the set that holds it.
    let mut holder = vec![0_u8; nodes];
    for (own, (field, ids)) in (1_u8..).zip(sets) {
        for (position, &value) in ids.iter().enumerate() {
            let before = std::mem::replace(&mut holder[value as usize], own);
            if before == 0 {
                continue;
            }
            let split = name.to_owned();
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
