//! What the layer tests inside the crate and the model tests outside it share: draws, graphs, differences, fixtures.

use std::collections::BTreeMap;

use edgepace_graph::Graph;
use serde::Deserialize;

/// Reproducible numbers (SplitMix64).
pub(crate) struct Draws(u64);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in [-1, 1).
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    pub(crate) fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.signed()).collect()
    }
}

/// How the two directions of an edge relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Every edge has its twin, with the same weight.
    TwinsAlike,
    /// Every edge has its twin, with another weight.
    TwinsApart,
    /// Some edge has no twin.
    Directed,
}

impl Shape {
    pub(crate) const ALL: [Self; 3] = [Self::TwinsAlike, Self::TwinsApart, Self::Directed];

    /// A graph of about `pairs` random pairs; its last node is isolated.
    pub(crate) fn graph(self, nodes: usize, pairs: usize, draws: &mut Draws) -> Graph {
        let mut ends = || (0..pairs).map(|_| draws.below(nodes - 1) as u32).collect::<Vec<_>>();
        let (a, b) = (ends(), ends());
        let graph = match self {
            Self::Directed => Graph::from_edges(nodes, &a, &b).unwrap(),
            Self::TwinsAlike | Self::TwinsApart => Graph::undirected(nodes, &a, &b).unwrap(),
        };
        assert_eq!(graph.twins().is_none(), self == Self::Directed, "the draw has the wrong shape");
        graph
    }

    /// Weights between 0.2 and 2.
    pub(crate) fn weights(self, graph: &Graph, draws: &mut Draws) -> Vec<f64> {
        let mut weights: Vec<f64> = (0..graph.edges()).map(|_| 0.2 + 1.8 * draws.unit()).collect();
        if let (Self::TwinsAlike, Some(twins)) = (self, graph.twins()) {
            for (edge, &twin) in twins.iter().enumerate() {
                weights[edge] = weights[edge.min(twin as usize)];
            }
        }
        weights
    }
}

/// ‖found − expected‖ / max(‖expected‖, 10⁻³): below that the error is absolute, so that a zero gradient counts.
pub(crate) fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len(), "different sizes");
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>().sqrt();
    let difference = norm(&mut found.iter().zip(expected).map(|(a, b)| a - b));
    difference / norm(&mut expected.iter().copied()).max(1e-3)
}

/// Panics unless `found` is `expected` within `tolerance`; otherwise raises `worst` to the error.
pub(crate) fn assert_close(claim: &str, found: &[f64], expected: &[f64], tolerance: f64, worst: &mut f64) {
    let error = relative_error(found, expected);
    // A comparison with NaN is false, so NaN fails.
    assert!(
        error <= tolerance,
        "{claim}: relative error {error:e}\nfound    {found:?}\nexpected {expected:?}"
    );
    *worst = worst.max(error);
}

/// The gradient of `loss` at `values`: (loss(x + h) − loss(x − h)) / 2h, one coordinate after another.
pub(crate) fn central_differences(
    values: &[f64],
    step: f64,
    mut loss: impl FnMut(&[f64]) -> f64,
) -> Vec<f64> {
    let mut moved = values.to_vec();
    (0..values.len())
        .map(|i| {
            let mut at = |value| {
                moved[i] = value;
                loss(&moved)
            };
            let slope = (at(values[i] + step) - at(values[i] - step)) / (2.0 * step);
            moved[i] = values[i];
            slope
        })
        .collect()
}

/// What PyTorch Geometric computed for a backbone: see `fixtures/generate.py`.
#[derive(Deserialize)]
pub(crate) struct Fixtures {
    pub(crate) backbone: String,
    pub(crate) layers: Vec<Fixture<LayerResult>>,
    pub(crate) models: Vec<Fixture<ModelResult>>,
}

#[derive(Deserialize)]
pub(crate) struct Fixture<R> {
    pub(crate) name: String,
    pub(crate) nodes: usize,
    pub(crate) sources: Vec<u32>,
    pub(crate) targets: Vec<u32>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) x: Vec<Vec<f64>>,
    pub(crate) hidden: usize,
    pub(crate) params: BTreeMap<String, Tensor>,
    pub(crate) mean_log_degree: Option<f64>,
    pub(crate) epsilon: Option<f64>,
    pub(crate) gradients: BTreeMap<String, Tensor>,
    #[serde(flatten)]
    pub(crate) result: R,
}

#[derive(Deserialize)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

#[derive(Deserialize)]
pub(crate) struct LayerResult {
    pub(crate) output: Vec<Vec<f64>>,
    pub(crate) cotangent: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
pub(crate) struct ModelResult {
    pub(crate) classes: Option<Vec<u32>>,
    pub(crate) multilabels: Option<Vec<Vec<u8>>>,
    pub(crate) train: Vec<u32>,
    pub(crate) embeddings: Vec<Vec<f64>>,
    pub(crate) logits: Vec<Vec<f64>>,
    pub(crate) loss: f64,
}

impl Fixtures {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let texts = [
            include_str!("../fixtures/gcn.json"),
            include_str!("../fixtures/gin.json"),
            include_str!("../fixtures/sage.json"),
            include_str!("../fixtures/pna.json"),
            include_str!("../fixtures/mlp.json"),
        ];
        texts.into_iter().map(|text| serde_json::from_str(text).unwrap())
    }
}

impl<R> Fixture<R> {
    pub(crate) fn graph(&self) -> Graph {
        let graph = Graph::from_edges(self.nodes, &self.sources, &self.targets).unwrap();
        assert_eq!((graph.sources(), graph.targets()), (&self.sources[..], self.targets.clone()), "edge ids");
        graph
    }

    /// A parameter or its gradient by our name. Our GraphSAGE has one weight, the neighbours' above the node's own.
    pub(crate) fn named(tensors: &BTreeMap<String, Tensor>, name: &str) -> Vec<f64> {
        if let Some(tensor) = tensors.get(name) {
            return tensor.values.clone();
        }
        let part = |part| {
            let theirs = format!("{}{part}.weight", name.strip_suffix("weight").expect("a weight"));
            &tensors[&theirs].values[..]
        };
        [part("neighbour"), part("root")].concat()
    }
}
