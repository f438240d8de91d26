//! Overlap of neighbourhoods: Jaccard and Adamic–Adar, by intersection of sorted neighbour lists.

use std::borrow::Cow;

use edgepace_graph::{Graph, Refusal, Threads};

use crate::CurriculumError;
use crate::each::PIECE;

/// The longer list is searched, not walked, when it is this many times longer than the shorter one.
const MUCH_LONGER: usize = 12;

/// The neighbourhoods of a graph, directions left aside.
#[derive(Debug)]
pub(crate) struct Neighbourhoods<'a> {
    graph: Cow<'a, Graph>,
    /// 1 / ln(degree) of each node; 0 for a degree below 2, which no common neighbour has.
    rarity: Vec<f32>,
}

impl<'a> Neighbourhoods<'a> {
    pub(crate) fn new(threads: &Threads, graph: &'a Graph) -> Result<Self, CurriculumError> {
        let graph = if graph.twins().is_some() {
            Cow::Borrowed(graph)
        } else {
            let both = Graph::undirected_on(threads, graph.nodes(), graph.sources(), &graph.targets());
            let expected = "one whose edges fit twice into u32 ids, for the evidence kernel";
            Cow::Owned(both.map_err(|error| Refusal::new("graph", error, expected))?)
        };
        let rarity = (0..graph.nodes())
            .map(|node| match graph.in_edges(node).len() {
                0 | 1 => 0.0,
                degree => (1.0 / libm::log(degree as f64)) as f32,
            })
            .collect();
        Ok(Self { graph, rarity })
    }

    fn neighbours(&self, node: u32) -> &[u32] {
        &self.graph.sources()[self.graph.in_edges(node as usize)]
    }

    /// Jaccard |N_i ∩ N_j| / |N_i ∪ N_j| and ln(1 + Σ_{k ∈ N_i ∩ N_j} 1 / ln |N_k|) of two different nodes.
    ///
    /// If they are neighbours, each is left out of the other's neighbourhood: the edge must not speak for itself.
    fn overlap(&self, [i, j]: [u32; 2]) -> (f32, f32) {
        let (a, b) = (self.neighbours(i), self.neighbours(j));
        let (shorter, longer, other) = if a.len() <= b.len() { (a, b, j) } else { (b, a, i) };
        let mut common = 0;
        let mut adamic_adar = 0.0_f64;
        intersect(shorter, longer, |node| {
            common += 1;
            adamic_adar += f64::from(self.rarity[node as usize]);
        });
        let adjacent = shorter.binary_search(&other).is_ok();
        let union = a.len() + b.len() - common - if adjacent { 2 } else { 0 };
        let jaccard = if common == 0 { 0.0 } else { common as f64 / union as f64 };
        (jaccard as f32, libm::log1p(adamic_adar) as f32)
    }

    /// Both for each of `pairs`: O(Σ min(degrees) · log), once per graph.
    pub(crate) fn overlaps(&self, threads: &Threads, pairs: &[[u32; 2]]) -> [Vec<f32>; 2] {
        // Interleaved while threads write, one column each afterwards.
        let mut both = vec![[0.0_f32; 2]; pairs.len()];
        threads.rows(&mut both, 1, PIECE / 4, |first, piece| {
            for (out, &ends) in piece.iter_mut().zip(&pairs[first..]) {
                let (jaccard, adamic_adar) = self.overlap(ends);
                *out = [jaccard, adamic_adar];
            }
        });
        [0, 1].map(|column| both.iter().map(|row| row[column]).collect())
    }
}

/// Calls `found` on each number that both ascending lists hold, in ascending order.
fn intersect(shorter: &[u32], longer: &[u32], mut found: impl FnMut(u32)) {
    if shorter.len() * MUCH_LONGER < longer.len() {
        let mut rest = longer;
        for &value in shorter {
            rest = &rest[gallop(rest, value)..];
            match rest.first() {
                None => return,
                Some(&first) if first == value => found(value),
                Some(_) => {}
            }
        }
        return;
    }
    let (mut s, mut l) = (0, 0);
    while s < shorter.len() && l < longer.len() {
        let (a, b) = (shorter[s], longer[l]);
        if a == b {
            found(a);
        }
        // Without branches: which list moves on is a coin toss that no predictor wins.
        s += usize::from(a <= b);
        l += usize::from(b <= a);
    }
}

/// The first position whose value is not below `value`: doubling steps, then halving ones.
fn gallop(sorted: &[u32], value: u32) -> usize {
    let mut step = 1;
    while step < sorted.len() && sorted[step] < value {
        step *= 2;
    }
    let low = step / 2;
    let high = (step + 1).min(sorted.len());
    low + sorted[low..high].partition_point(|&other| other < value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use edgepace_graph::random::{Purpose, Stream};

    use super::*;

    fn random_graph(nodes: u64, edges: u64, seed: u64) -> (Vec<u32>, Vec<u32>) {
        let stream = Stream::new(seed, Purpose::Benchmark, 0);
        // Squares favour small ids: hubs.
        let node = |at| ((stream.uniform(at).powi(3)) * nodes as f64) as u32;
        (0..edges).map(|e| (node(2 * e), node(2 * e + 1))).unzip()
    }

    #[test]
    fn overlap_is_that_of_sets() {
        for directed in [false, true] {
            let (a, b) = random_graph(120, 700, 5);
            let graph =
                if directed { Graph::from_edges(120, &a, &b) } else { Graph::undirected(120, &a, &b) }
                    .unwrap();
            let mut sets = vec![BTreeSet::new(); 120];
            for (target, source) in graph.targets().into_iter().zip(graph.sources()) {
                sets[target as usize].insert(*source);
                sets[*source as usize].insert(target);
            }
            let pairs: Vec<[u32; 2]> =
                (0..120).flat_map(|i| (0..120).map(move |j| [i, j])).filter(|[i, j]| i != j).collect();
            let threads = Threads::one();
            let neighbourhoods = Neighbourhoods::new(&threads, &graph).unwrap();
            let [jaccards, adamic_adars] = neighbourhoods.overlaps(&threads, &pairs);
            for ((&[i, j], jaccard), adamic_adar) in pairs.iter().zip(jaccards).zip(adamic_adars) {
                let mut own = sets[i as usize].clone();
                let mut other = sets[j as usize].clone();
                own.remove(&j);
                other.remove(&i);
                let common: Vec<u32> = own.intersection(&other).copied().collect();
                let union = own.union(&other).count();
                let expected = if union == 0 { 0.0 } else { common.len() as f64 / union as f64 };
                assert!((f64::from(jaccard) - expected).abs() < 1e-6, "{i} {j}: {jaccard} {expected}");
                let sum: f64 = common.iter().map(|&k| 1.0 / libm::log(sets[k as usize].len() as f64)).sum();
                assert!((f64::from(adamic_adar) - libm::log1p(sum)).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn galloping_finds_what_merging_finds() {
        let longer: Vec<u32> = (0..5000).map(|i| i * 3 + i % 2).collect();
        for shorter in
            [vec![], vec![0], vec![14_999, 15_000], vec![1, 4, 6, 9_000, 9_004, 14_998], vec![20_000]]
        {
            let mut galloped = Vec::new();
            intersect(&shorter, &longer, |value| galloped.push(value));
            let plain: Vec<u32> = shorter.iter().copied().filter(|value| longer.contains(value)).collect();
            assert_eq!(galloped, plain);
        }
        for value in [0, 1, 2, 7_500, 14_998, 40_000] {
            assert_eq!(gallop(&longer, value), longer.partition_point(|&other| other < value));
        }
        assert_eq!(gallop(&[], 3), 0);
    }
}
