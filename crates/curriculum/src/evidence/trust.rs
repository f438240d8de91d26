//! How probable it is that an edge is genuine, rather than one between two nodes at random.
//!
//! Edges are a mixture: a share 1 − ε of them is genuine and a share ε at random. So each kind of evidence x is seen
//! r(x) = p(x | edge) / p(x | random pair) = (1 − ε) g(x) + ε times as often at edges as at random pairs, and speaks for a genuine
//! edge by g(x) = (r(x) − ε) / (1 − ε). Kinds of evidence are taken as independent of each other, given whether an edge is
//! genuine (naive Bayes): τ = (1 − ε) Π g / ((1 − ε) Π g + ε).
//!
//! There are three: what the caller knows of the classes of both ends, as a ratio; the similarity of features; the common
//! neighbours. The latter two are counted in bins, at edges and at degree-matched non-edges. ε is the lowest ratio of the
//! first kind there is that is not an outlier: nothing is seen more rarely at edges than edges at random show it. So an edge
//! between classes that are hardly ever linked counts as one at random, which it is to whoever learns classes.

use edgepace_graph::{Features, Refusal, Threads, WeightedGraph};

use super::check_rows;
use super::non_edges::non_edges;
use super::overlap::Neighbourhoods;
use super::similarity::similarities;
use crate::{CurriculumError, Pairs};

/// The ratios below which there are outliers, as a share of all pairs.
const OUTLIERS: f64 = 0.02;
/// Never is everything taken for noise: something must be left to learn from.
const MOST_NOISE: f64 = 0.95;
/// No evidence counts against an edge by more than this factor.
const LEAST: f64 = 1e-6;
/// Bins of a kind of evidence; fewer where values are equal.
const BINS: usize = 12;

/// What is known of the edges of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Trust {
    /// τ, the probability that each pair is genuine, in the order of [`Pairs`].
    pub genuine: Vec<f32>,
    /// ε, the share of edges that are at random.
    pub noise_rate: f64,
}

/// How far to trust the edges of a graph. `ratios` says for each pair, in the order of [`Pairs`], how much likelier its ends are
/// linked than two nodes at random, by their classes and without the edge itself; none where nodes have no one class. At most
/// `samples` edges, and as many non-edges that `seed` draws, are counted.
///
/// # Errors
/// Ratios that are not one number, at least 0, for each pair; features of another graph.
pub fn trust(
    threads: &Threads,
    graph: &WeightedGraph,
    features: Option<&Features>,
    ratios: Option<&[f32]>,
    samples: usize,
    seed: u64,
) -> Result<Trust, CurriculumError> {
    let pairs = Pairs::new(graph.graph());
    if let Some(ratios) = ratios.filter(|ratios| ratios.len() != pairs.len()) {
        return Err(Refusal::size("ratios", ratios.len(), pairs.len(), "one for each pair").into());
    }
    if let Some(&found) = ratios.into_iter().flatten().find(|ratio| !ratio.is_finite() || **ratio < 0.0) {
        return Err(Refusal::new("ratios", found, "finite numbers, at least 0").into());
    }
    if let Some(features) = features {
        check_rows(graph.graph(), features)?;
    }
    let others = non_edges(graph.graph(), samples.min(pairs.len()), seed);
    let similarity = features.map(|features| {
        let of = |pairs: &[[u32; 2]]| similarities(threads, features, pairs);
        seen_ratios(of(pairs.ends()), &of(&others), samples)
    });
    let neighbourhoods = Neighbourhoods::new(threads, graph)?;
    let [_, common] = neighbourhoods.overlaps(threads, pairs.ends());
    let [_, common_of_others] = neighbourhoods.overlaps(threads, &others);
    let common = seen_ratios(common, &common_of_others, samples);
    let first_kind = ratios.or(similarity.as_deref()).unwrap_or(&common);
    let noise_rate = low_quantile(first_kind).min(MOST_NOISE);
    let speaks = |ratio: f32| ((f64::from(ratio) - noise_rate) / (1.0 - noise_rate)).max(LEAST);
    let genuine = (0..pairs.len()).map(|pair| {
        let by_classes = ratios.map_or(1.0, |ratios| speaks(ratios[pair]));
        let by_features = similarity.as_ref().map_or(1.0, |ratios| speaks(ratios[pair]));
        let odds = (1.0 - noise_rate) * by_classes * by_features * speaks(common[pair]);
        (odds / (odds + noise_rate)) as f32
    });
    Ok(Trust { genuine: genuine.collect(), noise_rate })
}

/// The value below which [`OUTLIERS`] of all lie; 0 without any.
fn low_quantile(values: &[f32]) -> f64 {
    let mut values = values.to_vec();
    let place = (OUTLIERS * values.len() as f64) as usize;
    if values.is_empty() {
        return 0.0;
    }
    let (_, &mut value, _) = values.select_nth_unstable_by(place, f32::total_cmp);
    f64::from(value)
}

/// How much more often each value of an edge is seen at edges than at non-edges; 1 where there are no non-edges.
fn seen_ratios(of_edges: Vec<f32>, of_others: &[f32], samples: usize) -> Vec<f32> {
    if of_others.is_empty() || of_edges.is_empty() {
        return vec![1.0; of_edges.len()];
    }
    let counted = samples.clamp(1, of_edges.len());
    let counted: Vec<f32> = (0..counted).map(|place| of_edges[place * of_edges.len() / counted]).collect();
    let mut all: Vec<f32> = counted.iter().chain(of_others).map(|value| value + 0.0).collect();
    all.sort_unstable_by(f32::total_cmp);
    // Where bins begin, the first one apart.
    let mut starts: Vec<f32> = (1..BINS).map(|bin| all[bin * all.len() / BINS]).collect();
    starts.dedup();
    starts.retain(|&start| start > all[0]);
    let bin_of = |value: f32| starts.partition_point(|&start| start <= value);
    let shares = |values: &[f32]| -> Vec<f64> {
        // One more in each: what was never seen is not impossible.
        let mut counts = vec![1.0; starts.len() + 1];
        for &value in values {
            counts[bin_of(value)] += 1.0;
        }
        let total: f64 = counts.iter().sum();
        counts.iter().map(|count| count / total).collect()
    };
    let (edges, others) = (shares(&counted), shares(of_others));
    let ratios: Vec<f32> = edges.iter().zip(&others).map(|(edge, other)| (edge / other) as f32).collect();
    of_edges.into_iter().map(|value| ratios[bin_of(value)]).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use edgepace_graph::random::{Purpose, Stream};
    use edgepace_graph::{DenseFeatures, Graph};

    use super::*;

    /// Two classes of nodes; most edges are within a class, and some are between any two nodes.
    fn mixture(genuine: u64, random: u64) -> (WeightedGraph, Features, Vec<bool>) {
        let (nodes, stream) = (400_u64, Stream::new(3, Purpose::NonEdges, 9));
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for edge in 0..genuine + random {
            let [i, j] = [2 * edge, 2 * edge + 1].map(|place| stream.below(place, nodes) as u32);
            // Classes are even and odd nodes.
            let j = if edge < genuine { j - j % 2 + i % 2 } else { j };
            if i != j {
                a.push(i);
                b.push(j);
            }
        }
        let graph = Graph::undirected(nodes as usize, &a, &b).unwrap();
        let values = (0..nodes).flat_map(|node| {
            let noise = stream.below(10_000 + node, 1000) as f32 / 1000.0;
            [(node % 2) as f32 + noise, 1.0]
        });
        let features = DenseFeatures::new(nodes as usize, 2, values.collect()).unwrap();
        let within = Pairs::new(&graph).ends().iter().map(|[i, j]| i % 2 == j % 2).collect();
        (WeightedGraph::from(Arc::new(graph)), Features::from(features), within)
    }

    /// What somebody who knows the classes for sure says, where edges are a mixture.
    fn ratios(within: &[bool], noise: f32) -> Vec<f32> {
        within.iter().map(|&within| if within { 2.0 - noise } else { noise }).collect()
    }

    /// How far the edges within a class, or those between classes, are trusted.
    fn mean_trust(found: &Trust, within: &[bool], of: bool) -> f32 {
        let those = found.genuine.iter().zip(within).filter(|(_, within)| **within == of);
        let (sum, count) = those.fold((0.0, 0), |(sum, count), (tau, _)| (sum + tau, count + 1));
        sum / count as f32
    }

    #[test]
    fn a_noise_rate_is_found_and_edges_are_as_genuine_as_it_says() {
        let (graph, features, within) = mixture(1500, 1500);
        let threads = Threads::one();
        let found =
            trust(&threads, &graph, Some(&features), Some(&ratios(&within, 0.5)), 1 << 13, 0).unwrap();
        assert!((found.noise_rate - 0.5).abs() < 1e-6, "{}", found.noise_rate);
        let mean = |of| mean_trust(&found, &within, of);
        // Of the edges within a class three quarters are genuine, of those between classes none.
        assert!(mean(true) > 0.6 && mean(true) < 0.9, "{}", mean(true));
        assert!(mean(false) < 0.01, "{}", mean(false));
        let two = Threads::new(2).unwrap();
        let again = trust(&two, &graph, Some(&features), Some(&ratios(&within, 0.5)), 1 << 13, 0).unwrap();
        assert_eq!(found, again);
    }

    #[test]
    fn without_classes_features_and_neighbours_tell() {
        let (graph, features, within) = mixture(1500, 1500);
        let found = trust(&Threads::one(), &graph, Some(&features), None, 1 << 13, 0).unwrap();
        assert!((0.3..0.8).contains(&found.noise_rate), "{}", found.noise_rate);
        let mean = |of| mean_trust(&found, &within, of);
        assert!(mean(true) > 1.5 * mean(false), "{} and {}", mean(true), mean(false));
        let alone = trust(&Threads::one(), &graph, None, None, 1 << 13, 0).unwrap();
        assert!(alone.genuine.iter().all(|tau| (0.0..=1.0).contains(tau)));
    }

    #[test]
    fn without_noise_every_edge_is_genuine() {
        let (graph, features, within) = mixture(1500, 0);
        assert!(within.iter().all(|&within| within));
        let found = trust(&Threads::one(), &graph, Some(&features), Some(&vec![0.0; within.len()]), 100, 0);
        assert!(found.unwrap().genuine.iter().all(|&tau| tau == 1.0));
    }

    #[test]
    fn where_nothing_speaks_all_edges_are_alike() {
        let (graph, _, within) = mixture(0, 1500);
        let Trust { genuine, noise_rate } =
            trust(&Threads::one(), &graph, None, Some(&vec![1.0; within.len()]), 0, 0).unwrap();
        assert!((noise_rate - MOST_NOISE).abs() < 1e-6);
        assert!(genuine.iter().all(|&tau| (tau - 0.05).abs() < 1e-6));
    }

    #[test]
    fn few_edges_none_and_wrong_ratios_are_defined() {
        let none = WeightedGraph::from(Arc::new(Graph::undirected(3, &[], &[]).unwrap()));
        assert!(trust(&Threads::one(), &none, None, Some(&[]), 10, 0).unwrap().genuine.is_empty());
        let complete = WeightedGraph::from(Arc::new(Graph::undirected(3, &[0, 1, 2], &[1, 2, 0]).unwrap()));
        let found = trust(&Threads::one(), &complete, None, Some(&[1.0, 1.0, 0.0]), 10, 0).unwrap();
        assert_eq!(found.genuine, [1.0; 3]);
        for wrong in [&[1.0, 1.0][..], &[1.0, f32::NAN, 1.0], &[-1.0, 1.0, 1.0]] {
            assert!(trust(&Threads::one(), &complete, None, Some(wrong), 10, 0).is_err());
        }
    }

    #[test]
    fn ratios_are_those_of_what_is_counted() {
        let edges: Vec<f32> = (0..900).map(|place| (place % 3) as f32).collect();
        let others: Vec<f32> = (0..900).map(|place| if place % 9 == 0 { 2.0 } else { 0.0 }).collect();
        let ratios = seen_ratios(edges.clone(), &others, 900);
        // Values 0, 1, 2: each a third of the edges, and 8/9, 0, 1/9 of the others.
        let expected = [301.0 / 903.0 / (801.0 / 903.0), 301.0, 301.0 / 101.0];
        for (value, ratio) in edges.iter().zip(&ratios) {
            assert!((ratio / expected[*value as usize] - 1.0).abs() < 1e-5, "{value}: {ratio}");
        }
    }
}
