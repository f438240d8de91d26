//! How much memory a model will take, known before any of it is made.

use edgepace_graph::bytes::{array, graph, total};
use edgepace_graph::{Features, Graph};

use crate::config::{Backbone, ModelConfig};
use crate::fold::padded;
use crate::kernels::columns::most_pieces;
use crate::kernels::dense::{packed_bytes, partial_bytes};
use crate::kernels::segment::{SPREAD, STATISTICS};

/// The sizes that the memory of a model follows from.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Nodes of the graph.
    pub nodes: usize,
    /// Its directed edges.
    pub edges: usize,
    /// Whether every edge has its twin.
    pub symmetric: bool,
    /// Whether twins weigh differently by themselves.
    pub uneven: bool,
    /// Columns of the features.
    pub columns: usize,
    /// The values that sparse features store; none: the features are dense.
    pub stored: Option<usize>,
    /// Classes or labels.
    pub outputs: usize,
}

impl Extent {
    /// Of a graph with these features, whose twins weigh the same.
    pub fn new(graph: &Graph, features: &Features, outputs: usize) -> Self {
        let stored = match features {
            Features::Dense(_) => None,
            Features::Sparse(sparse) => Some(sparse.values().len()),
        };
        let (nodes, edges, symmetric) = (graph.nodes(), graph.edges(), graph.twins().is_some());
        Self { nodes, edges, symmetric, uneven: false, columns: features.cols(), stored, outputs }
    }
}

/// The bytes of a [`Model`](crate::Model) of `f32` and of its parts. No sum overflows: what is too large for any machine
/// is [`u64::MAX`].
///
/// With n nodes, e edges, c columns, h hidden units, w outputs filled up to a multiple of 8, p parameters, in numbers:
///
/// - [`parameters`](Footprint::parameters), p: GCN and MLP c·h + h², GIN c·h + 3h², GraphSAGE 2c·h + 2h², PNA 2c² + 13c·h +
///   17h², each with h·outputs for the decoder, and biases;
/// - [`model`](Footprint::model): 2p (values, gradient), 2n·h (hidden units and their gradient), n·(w + 2¼) (logits,
///   predictions, losses, scored nodes), 2h·w to 4h·w + 3h·w (the folded decoder), the transpose of sparse features, the
///   first structure, n·(h + 1) more with layer normalisation, and what the two layers keep. A layer from i to o numbers per node keeps
///   - GCN: n·o, n·o more for the gradient in the first layer; or, where dense inputs are narrow (i ≤ o, first layer i ≤ 2o),
///     n·i per structure, and n·i for the gradient in the second;
///   - GraphSAGE: the same, and n·o for the node's own part where inputs are mapped first;
///   - GIN: GCN's with o = h, and 2n·h for the units between its maps;
///   - PNA: n·(18i + 3h + 2): two products, 4 statistics, their gradients, and 6 numbers that are spread along edges;
///   - and scratch that does not grow with n: packed weights and up to 16 partial sums of their gradients;
/// - [`structure`](Footprint::structure): e + 2n, e more where twins differ in value (GraphSAGE, and any graph without
///   twins, which has 2e + 2n for its transpose as well).
#[derive(Clone, Debug)]
pub struct Footprint {
    config: ModelConfig,
    extent: Extent,
}

/// A layer that propagates and maps.
#[derive(Clone, Copy)]
struct Layer {
    inputs: usize,
    width: usize,
    /// The first layer reads features, the second hidden units.
    first: bool,
}

impl Footprint {
    /// Of a model with these settings.
    pub fn new(config: ModelConfig, extent: Extent) -> Self {
        Self { config, extent }
    }

    /// The sizes it follows from.
    pub fn extent(&self) -> &Extent {
        &self.extent
    }

    /// One number per node and hidden unit.
    pub fn units(&self) -> u64 {
        array::<f32>(&[self.extent.nodes, self.config.hidden])
    }

    /// The logits of all nodes, one after another.
    pub fn logits(&self) -> u64 {
        array::<f32>(&[self.extent.nodes, self.extent.outputs])
    }

    /// One copy of all parameters.
    pub fn parameters(&self) -> u64 {
        let Extent { columns, outputs, .. } = self.extent;
        let h = self.config.hidden;
        let layer = |i: usize| match self.config.backbone {
            Backbone::Gcn | Backbone::Mlp => total([array::<f32>(&[i, h]), array::<f32>(&[h])]),
            Backbone::Gin => total([array::<f32>(&[i, h]), array::<f32>(&[h, h]), array::<f32>(&[2, h])]),
            Backbone::Sage => total([array::<f32>(&[2, i, h]), array::<f32>(&[h])]),
            Backbone::Pna => total([
                array::<f32>(&[2, i, i]),
                array::<f32>(&[i]),
                array::<f32>(&[1 + 3 * STATISTICS, i, h]),
                array::<f32>(&[h, h]),
                array::<f32>(&[2, h]),
            ]),
        };
        total([layer(columns), layer(h), array::<f32>(&[h, outputs])])
    }

    /// The model with every buffer of plain training and evaluation on its first structure; no optimiser.
    pub fn model(&self) -> u64 {
        let Extent { nodes, edges, outputs, .. } = self.extent;
        let (h, w) = (self.config.hidden, padded(outputs));
        let depth = if self.config.backbone == Backbone::Sage { 2 } else { 1 };
        let nodes_alone = total([
            array::<f32>(&[nodes, w]),
            array::<f32>(&[nodes, 2]),
            array::<bool>(&[nodes]),
            array::<f32>(&[2, depth, h, w]),
            array::<f32>(&[3, h, w]),
            partial_bytes(depth.saturating_mul(h), h, w),
        ]);
        total([
            self.parameters().saturating_mul(2),
            self.units().saturating_mul(2),
            nodes_alone,
            self.inputs(),
            self.dropped_inputs(),
            self.structure(edges, self.extent.symmetric),
            self.propagated_inputs(),
            self.norm(),
            self.layers(),
        ])
    }

    /// The normalised hidden units, and what each node's were scaled by.
    fn norm(&self) -> u64 {
        if self.config.layer_norm { total([self.units(), array::<f32>(&[self.extent.nodes])]) } else { 0 }
    }

    /// The model when it has been made and not used yet.
    pub fn made(&self) -> u64 {
        total([
            self.parameters().saturating_mul(2),
            self.inputs(),
            self.structure(self.extent.edges, self.extent.symmetric),
        ])
    }

    /// The transpose of sparse features.
    fn inputs(&self) -> u64 {
        self.extent.stored.map_or(0, |stored| {
            total([
                array::<usize>(&[self.extent.columns.saturating_add(1)]),
                array::<u32>(&[stored]),
                array::<f32>(&[stored]),
            ])
        })
    }

    /// The features with values dropped, sparse ones also transposed.
    fn dropped_inputs(&self) -> u64 {
        let Extent { nodes, columns, stored, .. } = self.extent;
        match stored {
            _ if self.config.input_dropout == 0.0 => 0,
            Some(stored) => array::<f32>(&[2, stored]),
            None => array::<f32>(&[nodes, columns]),
        }
    }

    /// Another structure of so many directed edges, beside its graph.
    pub fn structure(&self, edges: usize, symmetric: bool) -> u64 {
        let nodes = self.extent.nodes;
        let per_node = array::<f32>(&[nodes, 2]);
        if self.config.backbone == Backbone::Mlp {
            return total([per_node, graph(nodes, 0, true)]);
        }
        let differ = !symmetric || self.extent.uneven || self.config.backbone == Backbone::Sage;
        let transpose = if symmetric { 0 } else { total([graph(nodes, edges, true)]) };
        total([per_node, array::<f32>(&[edges, if differ { 2 } else { 1 }]), transpose])
    }

    /// What the first layer keeps for each structure that it works on: the propagated features, where they are dense and
    /// narrow.
    pub fn propagated_inputs(&self) -> u64 {
        let first = self.first();
        if self.config.backbone == Backbone::Pna || self.maps_first(first) {
            return 0;
        }
        array::<f32>(&[self.extent.nodes, first.inputs])
    }

    /// What [`Model::embeddings`](crate::Model::embeddings) needs beside training.
    pub fn embeddings(&self) -> u64 {
        let h = self.config.hidden;
        let scratch = total([packed_bytes(h, h), partial_bytes(self.extent.nodes, h, h)]);
        let kept = match self.config.backbone {
            // The second layer then is as wide as its input, and propagates first.
            Backbone::Gcn | Backbone::Mlp | Backbone::Sage if self.maps_first(self.second()) => self.units(),
            _ => 0,
        };
        total([self.units(), kept, scratch])
    }

    /// What [`Model::add_embedding_gradient`](crate::Model::add_embedding_gradient) needs beside the embeddings.
    pub fn embedding_gradient(&self) -> u64 {
        let by_input = match self.config.backbone {
            Backbone::Gcn | Backbone::Mlp | Backbone::Sage if self.maps_first(self.second()) => self.units(),
            _ => 0,
        };
        total([self.parameters(), by_input])
    }

    /// What the gradient by edge weights of a structure of so many edges needs beside training.
    pub fn edge_gradient(&self, edges: usize) -> u64 {
        total([array::<f32>(&[edges]), array::<f32>(&[self.extent.nodes]), self.propagated_inputs()])
    }

    fn first(&self) -> Layer {
        Layer { inputs: self.extent.columns, width: self.config.hidden, first: true }
    }

    fn second(&self) -> Layer {
        let width = match self.config.backbone {
            Backbone::Gin => self.config.hidden,
            _ => padded(self.extent.outputs),
        };
        Layer { inputs: self.config.hidden, width, first: false }
    }

    /// As `Propagated` decides.
    fn maps_first(&self, layer: Layer) -> bool {
        let sparse = layer.first && self.extent.stored.is_some();
        let narrow = if layer.first { layer.width.saturating_mul(2) } else { layer.width };
        sparse || layer.inputs > narrow
    }

    /// What both layers keep, but for the propagated inputs of the first.
    fn layers(&self) -> u64 {
        let (h, w) = (self.config.hidden, padded(self.extent.outputs));
        let nodes = self.extent.nodes;
        let each = [self.first(), self.second()].map(|layer| match self.config.backbone {
            Backbone::Gcn | Backbone::Mlp => self.propagated(layer, false),
            Backbone::Sage => self.propagated(layer, true),
            Backbone::Gin => {
                let width = if layer.first { h } else { w };
                total([
                    self.propagated(layer, false),
                    self.units().saturating_mul(2),
                    packed_bytes(h, width).max(packed_bytes(width, h)),
                    partial_bytes(nodes, h, width),
                ])
            }
            Backbone::Pna => self.pna(layer),
        });
        total(each)
    }

    fn propagated(&self, layer: Layer, root: bool) -> u64 {
        let Layer { inputs, width, first } = layer;
        let nodes = self.extent.nodes;
        let mapped = array::<f32>(&[nodes, width]);
        let kept = if self.maps_first(layer) {
            mapped.saturating_mul(1 + u64::from(first) + u64::from(root))
        } else if first {
            0
        } else {
            array::<f32>(&[2, nodes, inputs])
        };
        let dense = !first || self.extent.stored.is_none();
        let scratch = if dense {
            let back = if first { 0 } else { packed_bytes(width, inputs) };
            total([packed_bytes(inputs, width).max(back), partial_bytes(nodes, inputs, width)])
        } else {
            array::<f32>(&[most_pieces(nodes), width])
        };
        total([kept, scratch])
    }

    fn pna(&self, Layer { inputs, first, .. }: Layer) -> u64 {
        let (nodes, h) = (self.extent.nodes, self.config.hidden);
        let width = if first { h } else { padded(self.extent.outputs) };
        let per_node = total([
            array::<f32>(&[nodes, 4 + 2 * STATISTICS + SPREAD, inputs]),
            array::<f32>(&[nodes, 3, h]),
            array::<f32>(&[nodes, 2]),
        ]);
        let packed = packed_bytes(STATISTICS.saturating_mul(inputs), h)
            .max(packed_bytes(h, STATISTICS.saturating_mul(inputs)));
        let partial = partial_bytes(nodes, STATISTICS.saturating_mul(inputs), h)
            .max(partial_bytes(nodes, h, width))
            .max(partial_bytes(nodes, inputs, inputs.max(h)));
        total([per_node, packed, partial])
    }
}

/// The bytes of an [`EdgeNetwork`](crate::EdgeNetwork) of `f32` with its optimiser, for nodes of so many columns, sparse or
/// dense: with k hidden units 8k·columns for its parameters, their gradient and moments, 4k·nodes, and a score per edge.
pub fn edge_network_bytes(extent: &Extent, columns: usize, sparse: bool, hidden: usize) -> u64 {
    let Extent { nodes, edges, symmetric, .. } = *extent;
    let width = hidden.saturating_mul(2);
    let scratch =
        if sparse { 0 } else { total([packed_bytes(columns, width), partial_bytes(nodes, columns, width)]) };
    total([
        array::<f32>(&[4, columns, width]),
        array::<f32>(&[2, nodes, width]),
        array::<f32>(&[edges]),
        if symmetric { 0 } else { graph(nodes, edges, true) },
        scratch,
    ])
}

/// The bytes of an [`EdgeMatrix`](crate::EdgeMatrix) of `f32`, beside its graph.
pub fn edge_matrix_bytes(nodes: usize, edges: usize, symmetric: bool) -> u64 {
    total([array::<f32>(&[2, edges]), if symmetric { 0 } else { graph(nodes, edges, true) }])
}
