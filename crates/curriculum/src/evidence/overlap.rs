//! Overlap of neighbourhoods: Jaccard and Adamic–Adar, by intersection of sorted neighbour lists. Where edges weigh something by
//! themselves, Jaccard is that of weighted sets (Ružička), and a common neighbour counts as much as the weaker of the two edges
//! that lead to it.

use std::sync::Arc;

use edgepace_graph::{Graph, Refusal, Threads, WeightedGraph};

use crate::CurriculumError;
use crate::each::PIECE;

/// The longer list is searched, not walked, when it is this many times longer than the shorter one.
const MUCH_LONGER: usize = 12;

/// The neighbourhoods of a graph, directions left aside.
#[derive(Debug)]
pub(crate) struct Neighbourhoods {
    graph: Arc<Graph>,
    strengths: Option<Strengths>,
    /// 1 / ln(degree) of each node; 0 for a degree below 2, which no common neighbour has.
    rarity: Vec<f32>,
}

/// What edges weigh, in multiples of their mean.
#[derive(Debug)]
struct Strengths {
    of_edges: Vec<f64>,
    /// Σ over the neighbours of each node.
    of_nodes: Vec<f64>,
}

impl Strengths {
    fn new(graph: &Graph, weights: &[f32]) -> Self {
        let mut of_edges: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
        let mean = of_edges.iter().sum::<f64>() / of_edges.len().max(1) as f64;
        if mean > 0.0 {
            for strength in &mut of_edges {
                *strength /= mean;
            }
        }
        let of_nodes = (0..graph.nodes()).map(|node| of_edges[graph.in_edges(node)].iter().sum()).collect();
        Self { of_edges, of_nodes }
    }
}

impl Neighbourhoods {
    pub(crate) fn new(threads: &Threads, graph: &WeightedGraph) -> Result<Self, CurriculumError> {
        let expected = "one whose edges fit twice into u32 ids, for the evidence kernel";
        let both = graph.undirected(threads).map_err(|error| Refusal::new("graph", error, expected))?;
        let graph = Arc::clone(both.graph());
        let strengths = both.weights().map(|weights| Strengths::new(&graph, weights));
        let rarity = (0..graph.nodes())
            .map(|node| match graph.in_edges(node).len() {
                0 | 1 => 0.0,
                degree => (1.0 / libm::log(degree as f64)) as f32,
            })
            .collect();
        Ok(Self { graph, strengths, rarity })
    }

    fn neighbours(&self, node: u32) -> &[u32] {
        &self.graph.sources()[self.graph.in_edges(node as usize)]
    }

    /// Jaccard |N_i ∩ N_j| / |N_i ∪ N_j| and ln(1 + Σ_{k ∈ N_i ∩ N_j} 1 / ln |N_k|) of two different nodes.
    ///
    /// If they are neighbours, each is left out of the other's neighbourhood: the edge must not speak for itself.
    fn overlap(&self, [i, j]: [u32; 2]) -> (f32, f32) {
        if let Some(strengths) = &self.strengths {
            return self.weighted_overlap(strengths, [i, j]);
        }
        let (a, b) = (self.neighbours(i), self.neighbours(j));
        let (shorter, longer, other) = if a.len() <= b.len() { (a, b, j) } else { (b, a, i) };
        let mut common = 0;
        let mut adamic_adar = 0.0_f64;
        intersect(shorter, longer, |node, _| {
            common += 1;
            adamic_adar += f64::from(self.rarity[node as usize]);
        });
        let adjacent = shorter.binary_search(&other).is_ok();
        let union = a.len() + b.len() - common - if adjacent { 2 } else { 0 };
        let jaccard = if common == 0 { 0.0 } else { common as f64 / union as f64 };
        (jaccard as f32, libm::log1p(adamic_adar) as f32)
    }

    /// The same by what edges weigh: Σ_k min(w_ik, w_jk) / Σ_k max(w_ik, w_jk) and ln(1 + Σ_k min(w_ik, w_jk) / ln |N_k|).
    fn weighted_overlap(&self, strengths: &Strengths, [i, j]: [u32; 2]) -> (f32, f32) {
        let (shorter, longer) =
            if self.neighbours(i).len() <= self.neighbours(j).len() { (i, j) } else { (j, i) };
        let [start, other_start] = [shorter, longer].map(|node| self.graph.in_edges(node as usize).start);
        let (mut common, mut adamic_adar) = (0.0_f64, 0.0_f64);
        intersect(self.neighbours(shorter), self.neighbours(longer), |node, [at, other_at]| {
            let strength = strengths.of_edges[start + at].min(strengths.of_edges[other_start + other_at]);
            common += strength;
            adamic_adar += strength * f64::from(self.rarity[node as usize]);
        });
        let between = self.graph.edge_id(i, j).map_or(0.0, |edge| strengths.of_edges[edge as usize]);
        // min + max is the sum of both.
        let union = strengths.of_nodes[i as usize] + strengths.of_nodes[j as usize] - common - 2.0 * between;
        let jaccard = if common == 0.0 { 0.0 } else { (common / union).min(1.0) };
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

/// Calls `found` on each number that both ascending lists hold, with its place in each, in ascending order.
fn intersect(shorter: &[u32], longer: &[u32], mut found: impl FnMut(u32, [usize; 2])) {
    if shorter.len() * MUCH_LONGER < longer.len() {
        let mut at = 0;
        for (place, &value) in shorter.iter().enumerate() {
            at += gallop(&longer[at..], value);
            match longer.get(at) {
                None => return,
                Some(&first) if first == value => found(value, [place, at]),
                Some(_) => {}
            }
        }
        return;
    }
    let (mut s, mut l) = (0, 0);
    while s < shorter.len() && l < longer.len() {
        let (a, b) = (shorter[s], longer[l]);
        if a == b {
            found(a, [s, l]);
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
            let graph = Arc::new(graph).into();
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

    /// A directed and an undirected graph with weights, and what each pair of nodes is joined by, the heavier direction.
    fn weighted(scale: f32) -> [(WeightedGraph, Vec<Vec<f64>>); 2] {
        let (a, b) = random_graph(60, 400, 6);
        [Graph::from_edges(60, &a, &b), Graph::undirected(60, &a, &b)].map(|graph| {
            let graph = Arc::new(graph.unwrap());
            let weights: Vec<f32> = (0..graph.edges()).map(|e| scale * (0.1 + (e * 7 % 13) as f32)).collect();
            let mut joined = vec![vec![0.0_f64; 60]; 60];
            for ((target, &source), &weight) in graph.targets().into_iter().zip(graph.sources()).zip(&weights)
            {
                for [i, j] in [[source, target], [target, source]].map(|ends| ends.map(|node| node as usize))
                {
                    joined[i][j] = joined[i][j].max(weight.into());
                }
            }
            (WeightedGraph::new(graph, weights).unwrap(), joined)
        })
    }

    #[test]
    fn weighted_overlap_is_that_of_weighted_sets() {
        let threads = Threads::one();
        for (graph, joined) in weighted(1.0) {
            let entries: Vec<f64> = joined.iter().flatten().copied().filter(|&w| w > 0.0).collect();
            let mean = entries.iter().sum::<f64>() / entries.len() as f64;
            let pairs: Vec<[u32; 2]> =
                (0..60).flat_map(|i| (0..60).map(move |j| [i, j])).filter(|[i, j]| i != j).collect();
            let neighbourhoods = Neighbourhoods::new(&threads, &graph).unwrap();
            let [jaccards, adamic_adars] = neighbourhoods.overlaps(&threads, &pairs);
            for ((&[i, j], jaccard), adamic_adar) in pairs.iter().zip(jaccards).zip(adamic_adars) {
                let others = || (0..60).filter(|&k| k != i as usize && k != j as usize);
                let (own, other) = (&joined[i as usize], &joined[j as usize]);
                let smaller: f64 = others().map(|k| own[k].min(other[k])).sum();
                let larger: f64 = others().map(|k| own[k].max(other[k])).sum();
                let expected = if smaller == 0.0 { 0.0 } else { smaller / larger };
                assert!((f64::from(jaccard) - expected).abs() < 1e-6, "{i} {j}: {jaccard} {expected}");
                let degree = |k: usize| joined[k].iter().filter(|&&w| w > 0.0).count() as f64;
                let term = |k: usize| own[k].min(other[k]) / mean / libm::log(degree(k));
                let sum: f64 = others().filter(|&k| own[k].min(other[k]) > 0.0).map(term).sum();
                assert!((f64::from(adamic_adar) - libm::log1p(sum)).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn a_constant_factor_on_all_weights_changes_no_overlap_and_equal_weights_are_none() {
        let threads = Threads::one();
        let overlaps = |graph: &WeightedGraph| {
            let pairs = crate::Pairs::new(graph.graph());
            Neighbourhoods::new(&threads, graph).unwrap().overlaps(&threads, pairs.ends())
        };
        for ((graph, _), (scaled, _)) in weighted(1.0).iter().zip(&weighted(4.0)) {
            assert_eq!(overlaps(graph), overlaps(scaled));
            let plain = Arc::clone(graph.graph());
            let equal = WeightedGraph::new(Arc::clone(&plain), vec![2.0; plain.edges()]).unwrap();
            assert!(equal.weights().is_some());
            assert_eq!(overlaps(&equal), overlaps(&plain.into()));
            assert_ne!(overlaps(&equal), overlaps(graph));
        }
    }

    #[test]
    fn galloping_finds_what_merging_finds() {
        let longer: Vec<u32> = (0..5000).map(|i| i * 3 + i % 2).collect();
        for shorter in
            [vec![], vec![0], vec![14_999, 15_000], vec![1, 4, 6, 9_000, 9_004, 14_998], vec![20_000]]
        {
            let mut galloped = Vec::new();
            intersect(&shorter, &longer, |value, [s, l]| {
                assert_eq!([shorter[s], longer[l]], [value; 2]);
                galloped.push(value);
            });
            let plain: Vec<u32> = shorter.iter().copied().filter(|value| longer.contains(value)).collect();
            assert_eq!(galloped, plain);
        }
        for value in [0, 1, 2, 7_500, 14_998, 40_000] {
            assert_eq!(gallop(&longer, value), longer.partition_point(|&other| other < value));
        }
        assert_eq!(gallop(&[], 3), 0);
    }
}
