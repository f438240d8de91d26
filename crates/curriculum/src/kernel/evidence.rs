//! `evidence`: how expected an edge is, learned without labels.
//!
//! Edges are compared with degree-matched random non-edges by four columns: the logit of the posterior agreement, the
//! similarity of features, and Jaccard and ln(1 + Adamic–Adar) of the neighbourhoods. A ridge logistic regression tells
//! edges from non-edges, refitted at every update; κ_e is the rank of the edge's score among all edges, in (0, 1], equal
//! scores sharing their mean rank. Overlaps count edges by what they weigh themselves. So it finds by itself that overlap means nothing in a random graph and much in a
//! citation graph.

use edgepace_graph::{Features, Threads, WeightedGraph};
use serde::{Deserialize, Serialize};

use super::posterior::Posterior;
use crate::CurriculumError;
use crate::config::CurriculumConfig;
use crate::each::{PIECE, each, each_product};
use crate::evidence::logistic::{COLUMNS, Coefficients, Logistic, standardise, standards};
use crate::evidence::{non_edges::non_edges, overlap::Neighbourhoods, similarity::similarities};
use crate::feedback::Outputs;
use crate::math::{dot, ln};
use crate::order::{gaps_by_rank, key};
use crate::pairs::Pairs;

/// Agreement is kept this far from 0 and 1, where its logit is infinite.
const LEAST: f64 = 1e-6;

/// What the evidence model found at an update: the weight of each kind of evidence on standardised columns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EvidenceFit {
    /// Of the logit of the posterior agreement.
    pub agreement: f64,
    /// Of the similarity of features.
    pub similarity: f64,
    /// Of the Jaccard overlap of the neighbourhoods.
    pub jaccard: f64,
    /// Of ln(1 + Adamic–Adar).
    pub adamic_adar: f64,
    /// The intercept.
    pub intercept: f64,
    /// Edges in the fit.
    pub edges: usize,
    /// Non-edges in the fit. Where there are none, as in a complete graph, edges rank by agreement alone.
    pub non_edges: usize,
}

impl EvidenceFit {
    pub(crate) fn coefficients(&self) -> Coefficients {
        [self.agreement, self.similarity, self.jaccard, self.adamic_adar, self.intercept]
    }
}

/// The columns that do not change from update to update.
#[derive(Debug)]
struct Fixed {
    similarity: Vec<f32>,
    jaccard: Vec<f32>,
    adamic_adar: Vec<f32>,
}

impl Fixed {
    fn new(
        threads: &Threads,
        neighbourhoods: &Neighbourhoods,
        features: Option<&Features>,
        pairs: &[[u32; 2]],
    ) -> Fixed {
        let similarity = features
            .map_or_else(|| vec![0.0; pairs.len()], |features| similarities(threads, features, pairs));
        let [jaccard, adamic_adar] = neighbourhoods.overlaps(threads, pairs);
        Fixed { similarity, jaccard, adamic_adar }
    }

    #[inline(always)]
    fn row(&self, agreement: f32, pair: usize) -> [f32; COLUMNS] {
        [agreement, self.similarity[pair], self.jaccard[pair], self.adamic_adar[pair]]
    }
}

/// The kernel with its buffers.
#[derive(Debug)]
pub(crate) struct Evidence {
    ridge: f64,
    /// How many edges are in the fit, spread evenly over all.
    sampled: usize,
    edges: Fixed,
    non_edges: Vec<[u32; 2]>,
    non_edge_columns: Fixed,
    posterior: Posterior,
    /// The rows of the fit: edges, then non-edges.
    sample: Vec<[f32; COLUMNS]>,
    keys: Vec<u64>,
    sorted: Vec<u64>,
    logistic: Logistic,
    fit: Option<EvidenceFit>,
}

impl Evidence {
    pub(crate) fn new(
        threads: &Threads,
        graph: &WeightedGraph,
        pairs: &Pairs,
        features: Option<&Features>,
        config: &CurriculumConfig,
        seed: u64,
    ) -> Result<Evidence, CurriculumError> {
        let neighbourhoods = Neighbourhoods::new(threads, graph)?;
        let most = config.evidence_samples.min(pairs.len());
        let non_edges = non_edges(graph.graph(), most, seed);
        Ok(Evidence {
            ridge: config.evidence_ridge,
            sampled: most,
            edges: Fixed::new(threads, &neighbourhoods, features, pairs.ends()),
            non_edge_columns: Fixed::new(threads, &neighbourhoods, features, &non_edges),
            non_edges,
            posterior: Posterior::default(),
            sample: Vec::new(),
            keys: Vec::new(),
            sorted: Vec::new(),
            logistic: Logistic::default(),
            fit: None,
        })
    }

    pub(crate) fn fit(&self) -> Option<&EvidenceFit> {
        self.fit.as_ref()
    }

    pub(crate) fn set_fit(&mut self, fit: Option<EvidenceFit>) {
        self.fit = fit;
    }

    /// Writes 1 − κ of every pair. `out` first holds the odds of the agreement, then their logarithms.
    pub(crate) fn gaps(
        &mut self,
        threads: &Threads,
        outputs: Outputs<'_>,
        nodes: usize,
        pairs: &Pairs,
        out: &mut [f32],
    ) {
        self.posterior.refresh(threads, outputs, nodes);
        let (posterior, ends) = (&self.posterior, pairs.ends());
        each_product(
            threads,
            out,
            posterior.rows(),
            ends,
            #[inline(always)]
            |_, _, product| odds_of_agreement(posterior, product),
        );
        each(threads, out, |_, odds| logit(odds));
        let slopes = self.refit(threads, out);
        self.keys.resize(pairs.len(), 0);
        let (agreement, columns) = (&*out, &self.edges);
        each(threads, &mut self.keys, |pair, _| {
            let row = columns.row(agreement[pair], pair);
            let mut score = 0.0;
            for column in 0..COLUMNS {
                score += slopes[column] * f64::from(row[column]);
            }
            key(score as f32, pair)
        });
        gaps_by_rank(&mut self.keys, &mut self.sorted, out);
    }

    /// Fits edges against non-edges and gives the slope of the score by each column as it is, not standardised.
    fn refit(&mut self, threads: &Threads, agreement: &[f32]) -> [f64; COLUMNS] {
        let (edges, all) = (self.sampled, agreement.len());
        self.sample.resize(edges + self.non_edges.len(), [0.0; COLUMNS]);
        let posterior = &self.posterior;
        let row = |node: u32| posterior.rows().row(node as usize);
        let product = |[i, j]: [u32; 2]| dot(row(i), row(j));
        let (columns, non_edges, non_columns) = (&self.edges, &self.non_edges, &self.non_edge_columns);
        threads.rows(&mut self.sample, 1, PIECE, |first, piece| {
            for (within, row) in piece.iter_mut().enumerate() {
                let place = first + within;
                *row = if place < edges {
                    let pair = place * all / edges;
                    columns.row(agreement[pair], pair)
                } else {
                    let place = place - edges;
                    non_columns.row(logit(odds_of_agreement(posterior, product(non_edges[place]))), place)
                };
            }
        });
        let standards = standards(&self.sample);
        standardise(threads, &mut self.sample, &standards);
        // From one update to the next little changes, so the last fit is near the new one.
        let start = self.fit.map_or([0.0; COLUMNS + 1], |fit| fit.coefficients());
        let mut weights = self.logistic.fit(threads, &self.sample, edges, self.ridge, &start);
        let mut slopes = std::array::from_fn(|column| weights[column] * standards[column].1);
        if self.non_edges.is_empty() {
            weights = [0.0; COLUMNS + 1];
            slopes = [1.0, 0.0, 0.0, 0.0];
        }
        let [agreement, similarity, jaccard, adamic_adar, intercept] = weights;
        self.fit = Some(EvidenceFit {
            agreement,
            similarity,
            jaccard,
            adamic_adar,
            intercept,
            edges,
            non_edges: self.non_edges.len(),
        });
        slopes
    }
}

/// The logarithm of odds.
#[inline(always)]
fn logit(odds: f32) -> f32 {
    ln(f64::from(odds)) as f32
}

/// a / (1 − a) of the agreement a of two nodes, by the product of their rows.
#[inline(always)]
fn odds_of_agreement(posterior: &Posterior, product: f64) -> f32 {
    let agreement = posterior.agreement(product).clamp(LEAST, 1.0 - LEAST);
    (agreement / (1.0 - agreement)) as f32
}
