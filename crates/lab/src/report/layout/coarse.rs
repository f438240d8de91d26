//! Coarser and coarser graphs: neighbours merged in pairs.

/// A graph at one level of coarseness, in rows.
pub(super) struct Level {
    offsets: Vec<usize>,
    links: Vec<(u32, f64)>,
    /// How many nodes of the finest level each stands for.
    pub(super) masses: Vec<f64>,
    /// `u32::MAX` for none.
    pub(super) groups: Vec<u32>,
    /// The node of the next coarser level that each is merged into; empty at the coarsest.
    pub(super) parents: Vec<u32>,
}

/// A graph of so many nodes is not made coarser.
const COARSEST: usize = 80;
/// Nor one that would keep more than this share of its nodes.
const SHRINKS: f64 = 0.9;

/// The levels of a graph, the finest first.
pub(super) fn levels(nodes: usize, links: &[[u32; 2]], groups: Option<&[u32]>) -> Vec<Level> {
    let pairs = links
        .iter()
        .filter(|[a, b]| a != b && (*a as usize) < nodes && (*b as usize) < nodes)
        .map(|&[a, b]| ([a.min(b), a.max(b)], 1.0));
    let groups = groups.map_or_else(|| vec![u32::MAX; nodes], <[u32]>::to_vec);
    // An edge that is there in both directions is one.
    let mut level = Level::new(pairs.collect(), vec![1.0; nodes], groups, true);
    let mut levels = Vec::new();
    while level.nodes() > COARSEST {
        let (parents, count) = level.merged();
        if count as f64 > SHRINKS * level.nodes() as f64 {
            break;
        }
        let mut masses = vec![0.0; count];
        let mut groups = vec![u32::MAX; count];
        let mut heaviest = vec![0.0; count];
        for (node, &parent) in parents.iter().enumerate() {
            let parent = parent as usize;
            masses[parent] += level.masses[node];
            if level.masses[node] > heaviest[parent] {
                (heaviest[parent], groups[parent]) = (level.masses[node], level.groups[node]);
            }
        }
        let mut pairs = Vec::new();
        for node in 0..level.nodes() {
            for (other, weight) in level.neighbours(node) {
                let [a, b] = [parents[node], parents[other]];
                if a < b {
                    pairs.push(([a, b], weight));
                }
            }
        }
        level.parents = parents;
        let coarser = Level::new(pairs, masses, groups, false);
        levels.push(std::mem::replace(&mut level, coarser));
    }
    levels.push(level);
    levels
}

impl Level {
    fn new(mut pairs: Vec<([u32; 2], f64)>, masses: Vec<f64>, groups: Vec<u32>, once: bool) -> Self {
        pairs.sort_unstable_by_key(|pair| pair.0);
        pairs.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same && !once {
                kept.1 += next.1;
            }
            same
        });
        let nodes = masses.len();
        let mut offsets = vec![0; nodes + 1];
        for ([a, b], _) in &pairs {
            offsets[*a as usize + 1] += 1;
            offsets[*b as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut links = vec![(0, 0.0); 2 * pairs.len()];
        for ([a, b], weight) in pairs {
            for [from, to] in [[a, b], [b, a]] {
                links[next[from as usize]] = (to, weight);
                next[from as usize] += 1;
            }
        }
        Self { offsets, links, masses, groups, parents: Vec::new() }
    }

    pub(super) fn nodes(&self) -> usize {
        self.masses.len()
    }

    pub(super) fn neighbours(&self, node: usize) -> impl Iterator<Item = (usize, f64)> {
        let own = &self.links[self.offsets[node]..self.offsets[node + 1]];
        own.iter().map(|&(other, weight)| (other as usize, weight))
    }

    /// The middle of each group.
    pub(super) fn middles(&self, places: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let groups = self.groups.iter().filter(|&&group| group != u32::MAX).max();
        let count = groups.map_or(0, |&most| most as usize + 1);
        let mut sums = vec![[0.0; 3]; count];
        for ((place, &mass), &group) in places.iter().zip(&self.masses).zip(&self.groups) {
            if let Some(sum) = sums.get_mut(group as usize) {
                *sum = [sum[0] + mass * place[0], sum[1] + mass * place[1], sum[2] + mass];
            }
        }
        sums.iter().map(|[x, y, mass]| [x / mass.max(1e-9), y / mass.max(1e-9)]).collect()
    }

    /// Merges each node with the neighbour that it has most in common with, which is still alone: the number of the merged node
    /// of each, and how many there are. Leaves join what their only neighbour is merged into.
    fn merged(&self) -> (Vec<u32>, usize) {
        const ALONE: u32 = u32::MAX;
        let mut order: Vec<u32> = (0..self.nodes() as u32).collect();
        let degree = |node: u32| self.offsets[node as usize + 1] - self.offsets[node as usize];
        order.sort_by_key(|&node| degree(node));
        let mut merged = vec![ALONE; self.nodes()];
        let mut count = 0;
        for node in order {
            let node = node as usize;
            if merged[node] != ALONE {
                continue;
            }
            let fits = |other: usize, weight: f64| {
                let same = f64::from(u8::from(self.groups[node] == self.groups[other]));
                (weight + 0.5 * same) / self.masses[other]
            };
            let free = self.neighbours(node).filter(|&(other, _)| merged[other] == ALONE);
            let best = free.max_by(|a, b| fits(a.0, a.1).total_cmp(&fits(b.0, b.1)).then(b.0.cmp(&a.0)));
            let joined = match (best, self.neighbours(node).next()) {
                (None, Some((only, _))) if degree(node as u32) == 1 => Some(merged[only]),
                _ => None,
            };
            merged[node] = joined.unwrap_or_else(|| {
                count += 1;
                count - 1
            });
            if let Some((other, _)) = best {
                merged[other] = merged[node];
            }
        }
        (merged, count as usize)
    }
}
