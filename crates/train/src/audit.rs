//! How suspicious each edge is, and how well that finds edges that are known to be fake.

use edgepace_curriculum::{Pairs, feature_similarity, neighbourhood_overlap};
use edgepace_graph::{Dataset, Features};
use edgepace_nn::{Threads, roc_auc};
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::snapshot::EdgeReport;

/// What is known about each edge, by edge id; both directions of an undirected edge agree.
#[derive(Clone, Debug)]
pub struct Audit {
    /// In [0, 1]: the share of all other edges that are better supported, equals counting half. 0 is the best supported edge, 1 the
    /// least; an edge of suspicion 0.9 is among the tenth with the least support. It is a rank, not a probability of being
    /// fake: half of the edges of a graph without a single fake one are above 0.5.
    ///
    /// Support is the mean of three ranks, so that none of them needs a scale: how hard the curriculum found the edge, how
    /// alike the features of its ends are, and how far their neighbourhoods overlap.
    pub suspicion: Vec<f32>,
    /// Cosine of the features of the two ends, or minus their standardised distance for dense measurements.
    pub feature_similarity: Vec<f32>,
    /// Jaccard overlap of the neighbourhoods of the two ends, the edge itself left out; by weights where edges have them.
    pub jaccard: Vec<f32>,
    /// Why: what makes up the suspicion.
    pub reasons: Vec<Reasons>,
    pairs: Pairs,
}

/// Why an edge is suspicious: its rank in each of three ways, in [0, 1], as the share of other edges that are better
/// supported in it, equals counting half. Their mean, ranked among those of all edges, is the suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reasons {
    /// How hard the method found the edge: how little its model expects its ends to be joined.
    pub disagreement: f32,
    /// How little alike the features of its ends are.
    pub features: f32,
    /// How little the neighbourhoods of its ends overlap.
    pub neighbourhood: f32,
}

impl Reasons {
    /// Those of edges whose difficulty, feature similarity and neighbourhood overlap are known. Each undirected edge has to be
    /// there once, or each twice.
    pub fn of(difficulty: &[f32], feature_similarity: &[f32], jaccard: &[f32]) -> Vec<Self> {
        three_ranks(difficulty, feature_similarity, jaccard).into_iter().map(Self::from).collect()
    }
}

impl From<[f64; 3]> for Reasons {
    fn from(ranks: [f64; 3]) -> Self {
        let [disagreement, features, neighbourhood] = ranks.map(|rank| rank as f32);
        Self { disagreement, features, neighbourhood }
    }
}

/// The rank of each edge by difficulty, by dissimilarity of features and by lack of overlap.
fn three_ranks(difficulty: &[f32], similarity: &[f32], jaccard: &[f32]) -> Vec<[f64; 3]> {
    let signed =
        |values: &[f32], sign: f64| values.iter().map(|&value| sign * f64::from(value)).collect::<Vec<f64>>();
    let [a, b, c] = [signed(difficulty, 1.0), signed(similarity, -1.0), signed(jaccard, -1.0)]
        .map(|values| ranks(&values));
    a.into_iter().zip(b).zip(c).map(|((a, b), c)| [a, b, c]).collect()
}

/// How well edges that are marked as fake were found. Each undirected edge counts once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Detection {
    /// Edges that are marked.
    pub fakes: usize,
    /// The probability that a fake edge is more suspicious than a true one.
    pub auc: f64,
    /// The same with feature similarity alone.
    pub auc_feature_cosine: f64,
    /// The same with neighbourhood overlap alone.
    pub auc_jaccard: f64,
    /// The share of fakes among as many most suspicious edges as there are fakes.
    pub precision_at_fakes: f64,
}

/// What is known of one edge whose truth is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeScores {
    pub(crate) suspicion: f32,
    pub(crate) similarity: f32,
    pub(crate) jaccard: f32,
    pub(crate) fake: bool,
}

impl Detection {
    /// Holds suspicion and the two baselines against what is fake. None unless there are both fake and true edges.
    pub(crate) fn of(edges: &[EdgeScores]) -> Option<Self> {
        let scored = |of: fn(&EdgeScores) -> f32, sign: f64| -> Vec<(f64, bool)> {
            edges.iter().map(|edge| (sign * f64::from(of(edge)), edge.fake)).collect()
        };
        let fakes = edges.iter().filter(|edge| edge.fake).count();
        let mut by_suspicion = scored(|edge| edge.suspicion, 1.0);
        Some(Self {
            fakes,
            auc: roc_auc(&mut by_suspicion)?,
            auc_feature_cosine: roc_auc(&mut scored(|edge| edge.similarity, -1.0))?,
            auc_jaccard: roc_auc(&mut scored(|edge| edge.jaccard, -1.0))?,
            precision_at_fakes: precision_at(&mut by_suspicion, fakes),
        })
    }
}

impl Audit {
    /// Audits the edges of `dataset` after a run on it left `report` behind. O(edges · (log edges + degree + features)).
    ///
    /// # Errors
    /// A report on another graph, or features that do not fit.
    pub fn new(threads: &Threads, dataset: &Dataset, report: &EdgeReport) -> Result<Audit, TrainError> {
        let graph = dataset.graph();
        if report.difficulty.len() != graph.edges() {
            let found = format!("on {} edges", report.difficulty.len());
            let expected = format!("on the {} edges of the graph", graph.edges());
            return Err(TrainError::refused("report", found, expected));
        }
        let pairs = Pairs::new(graph);
        let similarity = feature_similarity(threads, graph, &Features::compact(dataset.features()))?;
        let overlap = neighbourhood_overlap(threads, &dataset.weighted_graph()?)?;
        let mut difficulty = vec![0.0; pairs.len()];
        for (&pair, &value) in pairs.pair_of().iter().zip(&report.difficulty) {
            difficulty[pair as usize] = value;
        }
        let why = three_ranks(&difficulty, &similarity, &overlap.jaccard);
        let sums: Vec<f64> = why.iter().map(|[a, b, c]| a + b + c).collect();
        let suspicion = ranks(&sums);
        let per_edge = |value: &dyn Fn(usize) -> f32| {
            pairs.pair_of().iter().map(|&pair| value(pair as usize)).collect::<Vec<f32>>()
        };
        Ok(Audit {
            suspicion: per_edge(&|pair| suspicion[pair] as f32),
            feature_similarity: per_edge(&|pair| similarity[pair]),
            jaccard: per_edge(&|pair| overlap.jaccard[pair]),
            reasons: pairs.pair_of().iter().map(|&pair| Reasons::from(why[pair as usize])).collect(),
            pairs,
        })
    }

    /// Holds suspicion and the two baselines against a mark per edge id, not 0 for a fake one. None unless there are both
    /// fake and true edges, and one mark per edge.
    pub fn against(&self, fake: &[f32]) -> Option<Detection> {
        if fake.len() != self.suspicion.len() {
            return None;
        }
        // One edge per pair: the first that has it.
        let mut scores: Vec<EdgeScores> = Vec::with_capacity(self.pairs.len());
        for (edge, &pair) in self.pairs.pair_of().iter().enumerate() {
            if pair as usize == scores.len() {
                scores.push(EdgeScores {
                    suspicion: self.suspicion[edge],
                    similarity: self.feature_similarity[edge],
                    jaccard: self.jaccard[edge],
                    fake: fake[edge] != 0.0,
                });
            }
        }
        Detection::of(&scores)
    }
}

/// The share of positives among the `count` highest scores; of equal scores at the cut each has the same chance.
fn precision_at(scored: &mut [(f64, bool)], count: usize) -> f64 {
    scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let (mut left, mut hits) = (count, 0.0);
    for tied in scored.chunk_by(|a, b| a.0 == b.0) {
        let positives = tied.iter().filter(|(_, positive)| *positive).count() as f64;
        let taken = tied.len().min(left);
        hits += positives * taken as f64 / tied.len() as f64;
        left -= taken;
    }
    hits / count.max(1) as f64
}

/// The rank of each value in [0, 1]: the share of the other values that are smaller, equals counting half. A single value
/// has rank 0.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let others = values.len().saturating_sub(1).max(1) as f64;
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0;
    for tied in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        let rank = (below as f64 + (tied.len() - 1) as f64 / 2.0) / others;
        for &place in tied {
            ranks[place] = rank;
        }
        below += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_shares_of_smaller_values_and_equals_share_theirs() {
        assert_eq!(ranks(&[3.0, 1.0, 2.0]), [1.0, 0.0, 0.5]);
        assert_eq!(ranks(&[5.0, 5.0, 5.0]), [0.5; 3]);
        assert_eq!(ranks(&[7.0]), [0.0]);
        assert_eq!(ranks(&[]), [0.0; 0]);
    }

    #[test]
    fn precision_counts_ties_at_the_cut_by_chance() {
        let mut sure = [(0.9, true), (0.8, false), (0.7, true), (0.1, false)];
        assert_eq!(precision_at(&mut sure, 2), 0.5);
        let mut tied = [(0.5, true), (0.5, false), (0.5, false), (0.5, true)];
        assert_eq!(precision_at(&mut tied, 2), 0.5);
        assert_eq!(precision_at(&mut [], 0), 0.0);
    }
}
