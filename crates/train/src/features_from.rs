//! Where features come from: the dataset, or, for graphs without any, what their structure says of each node.

use std::fmt;
use std::sync::Arc;

use edgepace_graph::bytes::{array, total};
use edgepace_graph::{DenseFeatures, Features, SparseFeatures, WeightedGraph};
use edgepace_nn::{Backbone, EdgeMatrix, Threads};
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::linalg::{LanczosConfig, Operator, lanczos_svd};
use crate::prepare::{Preparation, Profile};
use crate::word_counts;

/// Nodes that get a column each at most, unless asked for. With 16 hidden units a model of as many columns has 1.6 million parameters,
/// of which training keeps five copies: 32 MB.
const MOST_COLUMNS: usize = 100_000;
/// Eigenvectors of the adjacency that stand in for features.
const EIGENVECTORS: usize = 64;
/// How precisely: features need no more.
const TOLERANCE: f64 = 1e-3;
/// Of the random block at the start of Lanczos' method; fixed, so that all seeds of a run learn from the same features.
const SEED: u64 = 0;
/// Nodes without features are filled in where they are more than this share of all.
const MANY_EMPTY: f64 = 0.25;

/// Where the features of a run come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeaturesFrom {
    /// `given` where the dataset has features, `filled` where more than a quarter of its nodes has none. Without features (no columns, or
    /// none in which nodes differ) `identity` up to 100 000 nodes, then `spectral`; on the backbone `pna`, which has parameters by the
    /// square of the columns, always `spectral`.
    #[default]
    Auto,
    /// Those of the dataset.
    Given,
    /// Those of the dataset, and a column of its own for each node that has none, or the columns of `spectral` for all where those are
    /// more than 100 000.
    Filled,
    /// A column for each node, 1 for itself. What is learned of a node is then what its neighbours learn from.
    Identity,
    /// ln(1 + degree), the sum of the weights where edges have them.
    Degree,
    /// The 64 leading eigenvectors of the adjacency with its weights, normalised by degrees, and ln(1 + degree).
    Spectral,
    /// One column of ones: all nodes are alike but for their neighbours' number.
    None,
}

impl FeaturesFrom {
    /// All of them, as a person may ask for them.
    pub const ALL: [FeaturesFrom; 7] = [
        FeaturesFrom::Auto,
        FeaturesFrom::Given,
        FeaturesFrom::Filled,
        FeaturesFrom::Identity,
        FeaturesFrom::Degree,
        FeaturesFrom::Spectral,
        FeaturesFrom::None,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            FeaturesFrom::Auto => "auto",
            FeaturesFrom::Given => "given",
            FeaturesFrom::Filled => "filled",
            FeaturesFrom::Identity => "identity",
            FeaturesFrom::Degree => "degree",
            FeaturesFrom::Spectral => "spectral",
            FeaturesFrom::None => "none",
        }
    }

    /// Whether nodes that a model was not trained on have such features too. A column of a node's own says nothing of another, and
    /// eigenvectors of another graph have other meanings.
    pub fn fits_new_nodes(self) -> bool {
        matches!(self, FeaturesFrom::Given | FeaturesFrom::Degree | FeaturesFrom::None)
    }

    /// What it is for these features; never `Auto`.
    ///
    /// # Errors
    /// Features of the dataset are asked for, and it has none.
    pub(crate) fn resolved(self, profile: &Profile, backbone: Backbone) -> Result<Self, TrainError> {
        let expected = "auto, identity, degree, spectral or none: the dataset has no features";
        Ok(match self {
            FeaturesFrom::Auto if !profile.tells_nodes_apart => {
                if backbone == Backbone::Pna || profile.rows > MOST_COLUMNS {
                    FeaturesFrom::Spectral
                } else {
                    FeaturesFrom::Identity
                }
            }
            FeaturesFrom::Auto if profile.empty_rows as f64 > MANY_EMPTY * profile.rows as f64 => {
                FeaturesFrom::Filled
            }
            FeaturesFrom::Auto => FeaturesFrom::Given,
            FeaturesFrom::Given | FeaturesFrom::Filled if profile.columns == 0 => {
                return Err(TrainError::refused("features_from", self.name(), expected));
            }
            chosen => chosen,
        })
    }

    /// The step that `auto` takes for such features.
    pub(crate) fn preparation(self, asked: Preparation, profile: &Profile) -> Preparation {
        match (asked, self) {
            (Preparation::Auto, FeaturesFrom::Identity | FeaturesFrom::None) => Preparation::None,
            (Preparation::Auto, FeaturesFrom::Degree | FeaturesFrom::Spectral) => Preparation::Standardise,
            _ => asked.resolved(profile),
        }
    }

    /// Columns of such features, and how many of their numbers are stored once they are prepared; none: all, as they are dense.
    pub(crate) fn extent(self, profile: &Profile, step: Preparation) -> (usize, Option<usize>) {
        let nodes = profile.rows;
        let (columns, stored) = match self {
            FeaturesFrom::Auto | FeaturesFrom::Given => (profile.columns, profile.stored(step)),
            FeaturesFrom::Identity => (nodes, Features::is_sparse(nodes, nodes, nodes).then_some(nodes)),
            FeaturesFrom::Degree | FeaturesFrom::None => (1, None),
            FeaturesFrom::Spectral => (eigenvectors(nodes) + 1, None),
            FeaturesFrom::Filled => {
                let (added, more) = match profile.empty_rows {
                    empty if empty <= MOST_COLUMNS => (empty, empty),
                    _ => (eigenvectors(nodes) + 1, (eigenvectors(nodes) + 1) * nodes),
                };
                let columns = profile.columns + added;
                let own = profile.stored(step).unwrap_or(profile.columns * nodes);
                (columns, Features::is_sparse(own + more, nodes, columns).then_some(own + more))
            }
        };
        match step {
            Preparation::Counts => {
                (columns + word_counts::COLUMNS, stored.map(|stored| stored + word_counts::STORED * nodes))
            }
            _ => (columns, stored),
        }
    }

    /// The bytes in use while such features are made, before they are prepared.
    pub(crate) fn making_bytes(self, profile: &Profile, edges: usize) -> u64 {
        let nodes = profile.rows;
        let spectral = || {
            let config = lanczos(nodes);
            total([
                array::<f32>(&[nodes, config.dimension(nodes) + 3 * config.rank]),
                array::<f32>(&[2, edges]),
            ])
        };
        match self {
            FeaturesFrom::Spectral => spectral(),
            FeaturesFrom::Filled if profile.empty_rows > MOST_COLUMNS => spectral(),
            _ => 0,
        }
    }

    /// The features, before they are prepared. The same bits for any number of threads.
    ///
    /// # Errors
    /// More columns than there are ids, or a graph whose eigenvectors cannot be had.
    pub(crate) fn make(
        self,
        threads: &Threads,
        graph: &WeightedGraph,
        given: &Arc<Features>,
    ) -> Result<Arc<Features>, TrainError> {
        let nodes = graph.graph().nodes();
        let dense = |columns, values| -> Result<Arc<Features>, TrainError> {
            Ok(Arc::new(DenseFeatures::new(nodes, columns, values)?.into()))
        };
        match self {
            FeaturesFrom::Auto | FeaturesFrom::Given => Ok(Arc::clone(given)),
            FeaturesFrom::Identity => {
                let columns = (0..nodes as u32).collect();
                let own =
                    SparseFeatures::new(nodes, nodes, (0..=nodes).collect(), columns, vec![1.0; nodes])?;
                Ok(Arc::new(own.into()))
            }
            FeaturesFrom::Degree => dense(1, log_degrees(graph).collect()),
            FeaturesFrom::None => dense(1, vec![1.0; nodes]),
            FeaturesFrom::Spectral => Ok(Arc::new(spectral(threads, graph)?.into())),
            FeaturesFrom::Filled => filled(threads, graph, given),
        }
    }
}

/// What a run learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedFeatures {
    /// Their columns.
    pub columns: usize,
    /// Where they came from; never `auto`.
    pub from: FeaturesFrom,
    /// What was done to them; never `auto`.
    pub preparation: Preparation,
}

impl fmt::Display for UsedFeatures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = format!("{} column{}", self.columns, if self.columns == 1 { "" } else { "s" });
        match self.from {
            FeaturesFrom::Auto | FeaturesFrom::Given => write!(out, "{columns}")?,
            FeaturesFrom::Filled => write!(out, "{columns}, with some for the nodes that have none")?,
            FeaturesFrom::Identity => write!(out, "{columns}, one for each node")?,
            FeaturesFrom::Degree => write!(out, "{columns}, the logarithm of the degree")?,
            FeaturesFrom::Spectral => write!(out, "{columns}, eigenvectors of the adjacency and the degree")?,
            FeaturesFrom::None => write!(out, "{columns} of ones")?,
        }
        match self.preparation {
            Preparation::Auto | Preparation::None => Ok(()),
            step => write!(out, ", {}", step.outcome()),
        }
    }
}

fn log_degrees(graph: &WeightedGraph) -> impl Iterator<Item = f32> {
    let degree = |row: &[usize]| match graph.weights() {
        None => (row[1] - row[0]) as f64,
        Some(weights) => weights[row[0]..row[1]].iter().map(|&weight| f64::from(weight)).sum(),
    };
    graph.graph().offsets().windows(2).map(move |row| libm::log1p(degree(row)) as f32)
}

fn eigenvectors(nodes: usize) -> usize {
    EIGENVECTORS.min(nodes)
}

fn lanczos(nodes: usize) -> LanczosConfig {
    LanczosConfig { rank: eigenvectors(nodes), tolerance: TOLERANCE, seed: SEED }
}

/// D_τ^-½ (A + Aᵀ)/2 D_τ^-½ with D_τ = D + τ, τ being the mean degree (Qin and Rohe, 2013): without τ the leading eigenvectors of a
/// sparse graph are those of its smallest components.
struct Adjacency {
    edges: EdgeMatrix<f32>,
    symmetric: bool,
}

impl Adjacency {
    fn new(threads: &Threads, weighted: &WeightedGraph) -> Result<Self, TrainError> {
        let graph = weighted.graph();
        let nodes = graph.nodes();
        // Where the two directions of an edge weigh differently, half of either is one.
        let symmetric = graph.twins().is_some() && !weighted.is_uneven();
        let weight = |edge: usize| weighted.weights().map_or(1.0, |weights| f64::from(weights[edge]));
        let ends = || graph.sources().iter().zip(graph.targets()).enumerate();
        let mut degrees = vec![0.0_f64; nodes];
        let mut all = 0.0;
        for (edge, (source, target)) in ends() {
            degrees[*source as usize] += 0.5 * weight(edge);
            degrees[target as usize] += 0.5 * weight(edge);
            all += weight(edge);
        }
        let regular = all / nodes.max(1) as f64;
        let scale = |node: u32| (degrees[node as usize] + regular).sqrt().recip();
        let values: Vec<f32> = ends()
            .map(|(edge, (&source, target))| (weight(edge) * (scale(source) * scale(target))) as f32)
            .collect();
        Ok(Self { edges: EdgeMatrix::new(threads, Arc::clone(graph), &values)?, symmetric })
    }
}

impl Operator for Adjacency {
    fn rows(&self) -> usize {
        self.edges.graph().nodes()
    }

    fn apply(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]) {
        self.edges.multiply(threads, x, width, out);
        if !self.symmetric {
            let mut back = vec![0.0; out.len()];
            self.edges.multiply_transposed(threads, x, width, &mut back);
            out.iter_mut().zip(&back).for_each(|(there, back)| *there = f32::midpoint(*there, *back));
        }
    }

    fn apply_transposed(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]) {
        self.apply(threads, x, width, out);
    }
}

/// The leading eigenvectors, each of mean square 1, and ln(1 + degree).
fn spectral(threads: &Threads, graph: &WeightedGraph) -> Result<DenseFeatures, TrainError> {
    let nodes = graph.graph().nodes();
    let rank = eigenvectors(nodes);
    let svd = lanczos_svd(threads, &Adjacency::new(threads, graph)?, true, lanczos(nodes))?;
    let length = (nodes as f32).sqrt();
    let mut values = Vec::with_capacity(nodes * (rank + 1));
    for (node, degree) in log_degrees(graph).enumerate() {
        values.extend(svd.right[node * rank..(node + 1) * rank].iter().map(|x| x * length));
        values.push(degree);
    }
    Ok(DenseFeatures::new(nodes, rank + 1, values)?)
}

/// The given features with further columns for nodes that have none.
fn filled(
    threads: &Threads,
    graph: &WeightedGraph,
    given: &Arc<Features>,
) -> Result<Arc<Features>, TrainError> {
    let (nodes, cols) = (given.rows(), given.cols());
    let mut offsets = Vec::with_capacity(nodes + 1);
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    let spectral =
        if Profile::of(given).empty_rows > MOST_COLUMNS { Some(spectral(threads, graph)?) } else { None };
    offsets.push(0);
    let mut empty = 0;
    for node in 0..nodes {
        let before = values.len();
        match &**given {
            Features::Dense(dense) => {
                let row = dense.values()[node * cols..(node + 1) * cols].iter().enumerate();
                for (column, &x) in row.filter(|(_, x)| **x != 0.0) {
                    columns.push(column as u32);
                    values.push(x);
                }
            }
            Features::Sparse(sparse) => {
                for at in sparse.offsets()[node]..sparse.offsets()[node + 1] {
                    if sparse.values()[at] != 0.0 {
                        columns.push(sparse.columns()[at]);
                        values.push(sparse.values()[at]);
                    }
                }
            }
        }
        match &spectral {
            Some(spectral) => {
                let more = spectral.cols();
                columns.extend((0..more).map(|column| (cols + column) as u32));
                values.extend_from_slice(&spectral.values()[node * more..(node + 1) * more]);
            }
            None if values.len() == before => {
                columns.push((cols + empty) as u32);
                values.push(1.0);
                empty += 1;
            }
            None => {}
        }
        offsets.push(values.len());
    }
    let width = cols + spectral.map_or(empty, |spectral| spectral.cols());
    let sparse = Features::from(SparseFeatures::new(nodes, width, offsets, columns, values)?);
    Ok(Features::compact(&Arc::new(sparse)))
}

#[cfg(test)]
mod tests {
    use edgepace_graph::Graph;

    use super::*;

    /// Two cliques of `size` nodes that one edge joins.
    fn cliques(size: u32) -> Arc<Graph> {
        let (mut sources, mut targets) = (vec![0], vec![size]);
        for first in [0, size] {
            for i in first..first + size {
                for j in first..i {
                    sources.push(i);
                    targets.push(j);
                }
            }
        }
        Arc::new(Graph::undirected(2 * size as usize, &sources, &targets).unwrap())
    }

    fn none(nodes: usize) -> Arc<Features> {
        Arc::new(DenseFeatures::new(nodes, 0, Vec::new()).unwrap().into())
    }

    fn resolved(asked: FeaturesFrom, features: &Features, backbone: Backbone) -> FeaturesFrom {
        asked.resolved(&Profile::of(features), backbone).unwrap()
    }

    #[test]
    fn a_graph_without_features_gets_a_column_for_each_node_up_to_a_limit() {
        let auto = |nodes, backbone| resolved(FeaturesFrom::Auto, &none(nodes), backbone);
        assert_eq!(auto(MOST_COLUMNS, Backbone::Gcn), FeaturesFrom::Identity);
        assert_eq!(auto(MOST_COLUMNS + 1, Backbone::Gcn), FeaturesFrom::Spectral);
        assert_eq!(auto(10, Backbone::Pna), FeaturesFrom::Spectral);
        let constant = Features::from(DenseFeatures::new(4, 1, vec![1.0; 4]).unwrap());
        assert_eq!(resolved(FeaturesFrom::Auto, &constant, Backbone::Gcn), FeaturesFrom::Identity);
        let error = FeaturesFrom::Given.resolved(&Profile::of(&none(3)), Backbone::Gcn).unwrap_err();
        assert!(error.to_string().contains("features_from"), "{error}");
    }

    #[test]
    fn given_features_stay_unless_many_nodes_have_none() {
        let of = |values: Vec<f32>| Features::from(DenseFeatures::new(4, 1, values).unwrap());
        let auto = |values| resolved(FeaturesFrom::Auto, &of(values), Backbone::Gcn);
        assert_eq!(auto(vec![1.0, 2.0, 3.0, 0.0]), FeaturesFrom::Given);
        assert_eq!(auto(vec![1.0, 2.0, 0.0, 0.0]), FeaturesFrom::Filled);
        let asked = resolved(FeaturesFrom::Degree, &of(vec![1.0, 2.0, 3.0, 4.0]), Backbone::Gcn);
        assert_eq!(asked, FeaturesFrom::Degree, "what is asked for is used instead");
    }

    #[test]
    fn nodes_without_features_get_columns_of_their_own_beside_those_of_the_others() {
        let graph = cliques(2);
        let given = Arc::new(Features::from(DenseFeatures::new(4, 1, vec![5.0, 0.0, 0.0, 7.0]).unwrap()));
        let made = FeaturesFrom::Filled.make(&Threads::one(), &graph.into(), &given).unwrap();
        let (offsets, values) = (vec![0, 1, 2, 3, 4], vec![5.0, 1.0, 1.0, 7.0]);
        assert_eq!(*made, SparseFeatures::new(4, 3, offsets, vec![0, 1, 2, 0], values).unwrap().into());
    }

    #[test]
    fn the_second_eigenvector_parts_two_cliques() {
        let graph = WeightedGraph::from(cliques(20));
        let made = FeaturesFrom::Spectral.make(&Threads::one(), &graph, &none(40)).unwrap();
        let Features::Dense(made) = &*made else { panic!("dense features") };
        assert_eq!(made.cols(), 41);
        let second: Vec<f32> = made.values().chunks_exact(41).map(|row| row[1]).collect();
        assert!(second[..20].iter().all(|x| x.signum() == second[0].signum()));
        assert!(second[20..].iter().all(|x| x.signum() == -second[0].signum()));
        assert!(made.values().chunks_exact(41).all(|row| (row[40] - libm::logf(20.0)).abs() < 0.1));
        let other = FeaturesFrom::Spectral.make(&Threads::new(3).unwrap(), &graph, &none(40)).unwrap();
        assert_eq!(Features::Dense(made.clone()), *other, "the same bits on three threads");
    }

    #[test]
    fn eigenvectors_of_a_directed_graph_see_edges_both_ways() {
        let both = cliques(6);
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        for (&source, target) in both.sources().iter().zip(both.targets()).filter(|(s, t)| *s < t) {
            sources.push(source);
            targets.push(target);
        }
        let one_way = Arc::new(Graph::from_edges(12, &sources, &targets).unwrap());
        let Features::Dense(made) =
            &*FeaturesFrom::Spectral.make(&Threads::one(), &one_way.into(), &none(12)).unwrap()
        else {
            panic!("dense features")
        };
        let second: Vec<f32> = made.values().chunks_exact(13).map(|row| row[1]).collect();
        assert!(second[..6].iter().all(|x| x.signum() == second[0].signum()));
        assert!(second[6..].iter().all(|x| x.signum() == -second[0].signum()));
    }

    /// Every node of a ring of 40 knows the next ten on either side; edges between its halves weigh next to nothing. Without
    /// the weights all cuts of a ring are alike.
    #[test]
    fn eigenvectors_and_degrees_follow_the_weights_of_edges() {
        let ends = |step: u32| (0..40).map(move |node| (node, (node + step) % 40));
        let (sources, targets): (Vec<u32>, Vec<u32>) = (1..=10).flat_map(ends).unzip();
        let ring = Arc::new(Graph::undirected(40, &sources, &targets).unwrap());
        // The cut is not where a ring without weights happens to be cut.
        let half = |node: u32| (node + 7) % 40 < 20;
        let weight = |(&a, b): (&u32, u32)| if half(a) == half(b) { 2.0 } else { 0.01 };
        let weights: Vec<f32> = ring.sources().iter().zip(ring.targets()).map(weight).collect();
        let weighted = WeightedGraph::new(Arc::clone(&ring), weights).unwrap();
        let make = |graph: &WeightedGraph, from: FeaturesFrom| match &*from
            .make(&Threads::one(), graph, &none(40))
            .unwrap()
        {
            Features::Dense(made) => made.clone(),
            Features::Sparse(_) => panic!("dense features"),
        };
        let made = make(&weighted, FeaturesFrom::Spectral);
        let second: Vec<f32> = made.values().chunks_exact(41).map(|row| row[1]).collect();
        let same = |node: usize| (second[node] > 0.0) == (second[20] > 0.0);
        assert!((0..40).all(|node| same(node) == (half(node as u32) == half(20))), "{second:?}");
        let degrees = make(&weighted, FeaturesFrom::Degree);
        // Node 3 is in the middle of its half: ten neighbours on either side are in it but for one.
        let inside = |node: u32| {
            (1..=10)
                .flat_map(|s| [(node + s) % 40, (node + 40 - s) % 40])
                .filter(|&n| half(n) == half(node))
                .count()
        };
        let expected = 2.0 * inside(3) as f64 + 0.01 * (20 - inside(3)) as f64;
        assert!((f64::from(degrees.values()[3]) - libm::log1p(expected)).abs() < 1e-6);
        let ones = WeightedGraph::new(Arc::clone(&ring), vec![1.0_f32; ring.edges()]).unwrap();
        let plain = make(&ring.into(), FeaturesFrom::Spectral);
        assert_eq!(make(&ones, FeaturesFrom::Spectral), plain, "weights of 1 are none");
    }

    #[test]
    fn sizes_are_known_before_anything_is_made() {
        let graph = WeightedGraph::from(cliques(20));
        let given = |empty: usize| -> Arc<Features> {
            let values = (0..80).map(|i| if i < 2 * empty { 0.0 } else { i as f32 - 3.0 }).collect();
            Arc::new(DenseFeatures::new(40, 2, values).unwrap().into())
        };
        for (features, asked) in [
            (none(40), FeaturesFrom::Identity),
            (none(40), FeaturesFrom::Degree),
            (none(40), FeaturesFrom::Spectral),
            (none(40), FeaturesFrom::None),
            (given(0), FeaturesFrom::Given),
            (given(13), FeaturesFrom::Filled),
            (given(3), FeaturesFrom::Filled),
        ] {
            let profile = Profile::of(&features);
            let step = asked.preparation(Preparation::Auto, &profile);
            let made = asked.make(&Threads::one(), &graph, &features).unwrap();
            let prepared = step.apply(&made).unwrap();
            let stored = match &*prepared {
                Features::Dense(_) => None,
                Features::Sparse(sparse) => Some(sparse.values().len()),
            };
            assert_eq!((prepared.cols(), stored), asked.extent(&profile, step), "{asked:?} {step:?}");
        }
    }
}
