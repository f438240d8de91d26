//! Simple rivals of a curriculum: drop the edges that look worst, then train plainly on the rest.
//!
//! **`prune-features`** drops the edges whose ends have the least similar features (cosine of bags of words, minus the
//! standardised distance of measurements; as Jaccard pruning in Wu, Wang, Tyshetskiy, Docherty, Lu, Zhu: Adversarial
//! Examples on Graph Data, IJCAI 2019, does with binary features), **`prune-overlap`** those whose ends share the fewest
//! neighbours, |N_i ∩ N_j| / |N_i ∪ N_j|, counted by what edges weigh. Those that stay keep their weight.
//!
//! ⌊share · edges⌋ undirected edges are dropped, the lowest scores first; of equal scores those that a random order of the
//! seed names first, because the order of edge ids favours some nodes. The share is chosen on validation.

use std::sync::Arc;

use edgepace_curriculum::{NEVER, Pairs, feature_similarity, neighbourhood_overlap};
use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{
    Features, WeightedGraph,
    bytes::{self, array, total},
};
use edgepace_nn::{StructureId, Threads};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::audit::ranks;
use crate::candidates::{Candidate, Candidates};
use crate::config::{RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::{Learner, Recipe, Start, StructureChange};
use crate::material::Material;
use crate::network::{EvaluatedOn, Method, Network, NetworkLearner};
use crate::setting::Setting;
use crate::snapshot::{EdgeReport, SavedStructure};

/// Settings of `prune-features` and `prune-overlap`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PruneConfig {
    /// The share of edges that is dropped, in [0, 1]; unset: chosen on validation.
    drop: Option<f64>,
}

/// What can be set.
pub(crate) const SETTINGS: &[Setting] = &[Setting {
    name: "drop",
    meaning: "share of edges that is dropped, in [0, 1]; unset: the best on validation of 0, 0.1, …, 0.9",
    search: &["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"],
}];

/// The shares that are chosen among. 0 is plain training, so that the rival is as strong as it can be.
const SHARES: [(&str, f64); 10] = [
    ("drop 0", 0.0),
    ("drop 0.1", 0.1),
    ("drop 0.2", 0.2),
    ("drop 0.3", 0.3),
    ("drop 0.4", 0.4),
    ("drop 0.5", 0.5),
    ("drop 0.6", 0.6),
    ("drop 0.7", 0.7),
    ("drop 0.8", 0.8),
    ("drop 0.9", 0.9),
];

pub(crate) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&PruneConfig::default())
}

/// Every share, unless one is set. Without validation nothing speaks for dropping an edge.
pub(crate) fn candidates(config: &RunConfig) -> Option<Candidates> {
    if config.settings.contains_key("drop") {
        return None;
    }
    let candidate = |(label, share)| {
        let mut config = config.clone();
        config.settings.insert("drop".into(), Value::Float(share));
        Candidate { label, config }
    };
    Some(Candidates { list: SHARES.into_iter().map(candidate).collect(), alone: 0 })
}

/// `prune-features` with the settings of a run.
pub(crate) fn by_features(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    recipe(config, |threads, graph, features| Ok(feature_similarity(threads, graph.graph(), features)?))
}

/// `prune-overlap` with the settings of a run.
pub(crate) fn by_overlap(config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
    recipe(config, |threads, graph, _| Ok(neighbourhood_overlap(threads, graph)?.jaccard))
}

/// What speaks for each undirected edge.
type Score = fn(&Threads, &WeightedGraph, &Features) -> Result<Vec<f32>, TrainError>;

fn recipe(config: &RunConfig, score: Score) -> Result<Arc<dyn Recipe>, TrainError> {
    let PruneConfig { drop } = config.settings_over(&PruneConfig::default())?;
    let share = drop.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&share) {
        return Err(TrainError::refused("drop", share, "in [0, 1]"));
    }
    Ok(Arc::new(Prune { score, share }))
}

#[derive(Debug)]
struct Prune {
    score: Score,
    share: f64,
}

impl Recipe for Prune {
    fn settings(&self) -> Result<Table, TrainError> {
        to_table(&PruneConfig { drop: Some(self.share) })
    }

    /// The pruned graph, its structure, and the report of the edges, twice at the end.
    fn extra_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let graph = material.graph();
        let symmetric = graph.twins().is_some();
        let kept = ((1.0 - self.share) * graph.edges() as f64) as usize;
        total([
            bytes::graph(graph.nodes(), kept, symmetric),
            material.footprint(config).structure(kept, symmetric),
            array::<[f32; 3]>(&[2, graph.edges()]),
        ])
    }

    /// The same with pairs, their scores, order and ranks, and the ids of the edges that stay.
    fn starting_bytes(&self, material: &Material, config: &RunConfig) -> u64 {
        let graph = material.graph();
        let symmetric = graph.twins().is_some();
        let (edges, kept) = (graph.edges(), ((1.0 - self.share) * graph.edges() as f64) as usize);
        let pairs = if symmetric { edges / 2 } else { edges };
        total([
            bytes::graph(graph.nodes(), kept, symmetric),
            material.footprint(config).structure(kept, symmetric),
            array::<[u32; 2]>(&[pairs]),
            array::<u32>(&[2, edges]),
            array::<[f64; 3]>(&[pairs]),
            array::<[f32; 3]>(&[edges]),
            array::<f32>(&[pairs]),
        ])
    }

    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        NetworkLearner::boxed(start, |network| {
            let pairs = Pairs::new(&network.graph);
            let threads = network.model.threads();
            let scores = (self.score)(threads, &network.weighted, &network.features)?;
            let kept = kept_pairs(&scores, self.share, start.seed);
            let selected = network.graph.select_on(threads, |edge| kept[pairs.pair_of()[edge] as usize]);
            let graph = match network.weighted.weights() {
                None => WeightedGraph::from(Arc::new(selected.graph)),
                Some(own) => {
                    let left: Vec<f32> = selected.edge_of.iter().map(|&edge| own[edge as usize]).collect();
                    WeightedGraph::new(Arc::new(selected.graph), left)?
                }
            };
            let structure = network.model.add_structure(graph.clone())?;
            Ok(Pruned { structure, graph, report: report(&pairs, &scores, &kept) })
        })
    }
}

/// The pruned graph is the same in every epoch and follows from graph and seed: there is nothing to save.
struct Pruned {
    structure: StructureId,
    graph: WeightedGraph,
    report: EdgeReport,
}

impl Method for Pruned {
    fn before(&mut self, epoch: u32, _: &mut Network) -> Result<Option<StructureChange>, TrainError> {
        Ok((epoch == 0).then(|| StructureChange { edges: self.graph.graph().edges(), objective: None }))
    }

    fn step(&mut self, epoch: u32, network: &mut Network) -> Result<f64, TrainError> {
        network.train_on(self.structure, epoch)
    }

    fn evaluated_on(&self) -> Vec<EvaluatedOn> {
        vec![EvaluatedOn { structure: self.structure.into(), name: "pruned" }]
    }

    fn saved_structure(&self, _: EvaluatedOn, _: &Network) -> SavedStructure {
        let (graph, weights) = (Some(Arc::clone(self.graph.graph())), self.graph.weights().cloned());
        SavedStructure { graph, weights, ..SavedStructure::default() }
    }

    fn edges_in(&self, _: &Network) -> usize {
        self.graph.graph().edges()
    }

    fn edges(&self) -> Option<EdgeReport> {
        Some(self.report.clone())
    }
}

/// Whether each pair stays when ⌊share · pairs⌋ of the lowest score go.
fn kept_pairs(scores: &[f32], share: f64, seed: u64) -> Vec<bool> {
    // A share that is whole but for rounding must not keep an edge more.
    let dropped = ((share * scores.len() as f64 + 1e-9).floor() as usize).min(scores.len());
    let stream = Stream::new(seed, Purpose::EdgeOrder, 0);
    let mut order: Vec<(f32, u64, usize)> =
        scores.iter().enumerate().map(|(pair, &score)| (score, stream.word(pair as u64), pair)).collect();
    // −0 and 0 are equal scores.
    order
        .sort_unstable_by(|a, b| (a.0 + 0.0).total_cmp(&(b.0 + 0.0)).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut kept = vec![true; scores.len()];
    order[..dropped].iter().for_each(|&(_, _, pair)| kept[pair] = false);
    kept
}

/// Difficulty is 1 − rank of the score, so that an audit can take it up.
fn report(pairs: &Pairs, scores: &[f32], kept: &[bool]) -> EdgeReport {
    let scores: Vec<f64> = scores.iter().map(|&score| f64::from(score) + 0.0).collect();
    let ranks = ranks(&scores);
    let of_pairs = || pairs.pair_of().iter().map(|&pair| pair as usize);
    EdgeReport {
        difficulty: of_pairs().map(|pair| (1.0 - ranks[pair]) as f32).collect(),
        first_epoch: of_pairs().map(|pair| if kept[pair] { 0 } else { NEVER }).collect(),
        weight: of_pairs().map(|pair| if kept[pair] { 1.0 } else { 0.0 }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use edgepace_graph::Graph;

    use super::*;

    #[test]
    fn exactly_the_stated_number_of_lowest_scores_is_dropped() {
        let scores = [0.5, -1.0, 0.25, 2.0, 0.0];
        assert_eq!(kept_pairs(&scores, 0.0, 0), [true; 5]);
        assert_eq!(kept_pairs(&scores, 0.39, 0), [true, false, true, true, true]);
        assert_eq!(kept_pairs(&scores, 0.4, 0), [true, false, true, true, false]);
        assert_eq!(kept_pairs(&scores, 0.6, 0), [true, false, false, true, false]);
        assert_eq!(kept_pairs(&scores, 1.0, 0), [false; 5]);
        assert!(kept_pairs(&[], 0.5, 0).is_empty());
    }

    #[test]
    fn equal_scores_go_in_a_random_order_that_the_seed_fixes() {
        let mut scores = vec![0.0; 1000];
        // −0 is no lower than 0.
        scores[..500].fill(-0.0);
        let kept = kept_pairs(&scores, 0.5, 7);
        assert_eq!(kept.iter().filter(|&&kept| kept).count(), 500);
        assert_eq!(kept, kept_pairs(&scores, 0.5, 7));
        assert_ne!(kept, kept_pairs(&scores, 0.5, 8));
        let early = kept[..500].iter().filter(|&&kept| kept).count();
        assert!((200..300).contains(&early), "{early} of the first half stay");
    }

    #[test]
    fn a_smaller_share_drops_a_part_of_what_a_larger_one_drops() {
        let scores: Vec<f32> = (0..100).map(|pair| (pair % 7) as f32).collect();
        let (few, many) = (kept_pairs(&scores, 0.3, 1), kept_pairs(&scores, 0.6, 1));
        assert!(few.iter().zip(&many).all(|(&few, &many)| few || !many));
    }

    #[test]
    fn both_directions_are_one_decision_and_difficulty_falls_with_the_score() {
        let graph = Graph::undirected(4, &[0, 1, 2], &[1, 2, 3]).unwrap();
        let pairs = Pairs::new(&graph);
        let scores = [0.9, 0.1, 0.5];
        let report = report(&pairs, &scores, &kept_pairs(&scores, 0.34, 0));
        let of = |a, b| graph.edge_id(a, b).unwrap() as usize;
        for (a, b, difficulty, weight) in [(0, 1, 0.0, 1.0), (1, 2, 1.0, 0.0), (2, 3, 0.5, 1.0)] {
            for edge in [of(a, b), of(b, a)] {
                assert_eq!((report.difficulty[edge], report.weight[edge]), (difficulty, weight));
                assert_eq!(report.first_epoch[edge] == NEVER, weight == 0.0);
            }
        }
    }
}
