//! What speaks for an edge, besides what the model thinks of its ends.

pub(crate) mod logistic;
pub(crate) mod non_edges;
pub(crate) mod overlap;
pub(crate) mod similarity;
pub(crate) mod trust;

use edgepace_graph::{Features, Graph, Refusal, Threads, WeightedGraph};

use crate::{CurriculumError, Pairs};

/// Overlap of the neighbourhoods of the two ends of each pair, the edge itself left out.
///
/// Edges that weigh something by themselves count by it, in multiples of their mean: w_ik is that of the edge between i and k,
/// the heavier of its two directions, and 0 where there is none. A constant factor on all weights changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    /// |N_i ∩ N_j| / |N_i ∪ N_j|, with weights Σ_k min(w_ik, w_jk) / Σ_k max(w_ik, w_jk); 0 where both are empty.
    pub jaccard: Vec<f32>,
    /// ln(1 + Σ 1 / ln |N_k|) over the common neighbours k, with weights ln(1 + Σ min(w_ik, w_jk) / ln |N_k|).
    pub adamic_adar: Vec<f32>,
}

/// The overlap of every pair of a graph, in the order of [`Pairs`]: what the evidence kernel sees of it.
///
/// # Errors
/// A graph without twins that has too many edges to be doubled.
pub fn neighbourhood_overlap(threads: &Threads, graph: &WeightedGraph) -> Result<Overlap, CurriculumError> {
    let neighbourhoods = overlap::Neighbourhoods::new(threads, graph)?;
    let [jaccard, adamic_adar] = neighbourhoods.overlaps(threads, Pairs::new(graph.graph()).ends());
    Ok(Overlap { jaccard, adamic_adar })
}

/// The similarity of features of every pair of a graph, in the order of [`Pairs`]: what the evidence kernel sees of it.
/// Cosine for sparse or binary features and for dense bags of words, minus the standardised distance for other dense ones.
///
/// # Errors
/// Features of another graph.
pub fn feature_similarity(
    threads: &Threads,
    graph: &Graph,
    features: &Features,
) -> Result<Vec<f32>, CurriculumError> {
    check_rows(graph, features)?;
    Ok(similarity::similarities(threads, features, Pairs::new(graph).ends()))
}

/// Refuses features of another graph.
pub(crate) fn check_rows(graph: &Graph, features: &Features) -> Result<(), CurriculumError> {
    let (found, expected) = (features.rows(), graph.nodes());
    if found == expected {
        return Ok(());
    }
    Err(Refusal::size("features", found, expected, "one row per node").into())
}
