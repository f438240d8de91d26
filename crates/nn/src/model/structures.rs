//! The graphs that a model works on, in turn or one per layer.

use std::sync::Arc;

use edgepace_graph::{Graph, Refusal, WeightedGraph, check_weights};

use crate::config::{Backbone, ModelConfig};
use crate::error::NnError;
use crate::model::Model;
use crate::real::Real;
use crate::structure::{Normalisation, Structure};

/// One of the graphs that a model works on: see [`Model::add_structure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructureId(pub(super) usize);

impl StructureId {
    /// The graph that the model was made for.
    pub const FIRST: StructureId = StructureId(0);
}

/// The structures that the two layers work on. Mostly both work on one; methods that drop other edges in each layer give
/// each its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers(pub [StructureId; 2]);

impl From<StructureId> for Layers {
    fn from(structure: StructureId) -> Self {
        Self([structure; 2])
    }
}

impl Layers {
    /// Whether both layers work on the same structure.
    pub(super) fn shared(self) -> bool {
        self.0[0] == self.0[1]
    }
}

impl<T: Real> Model<T> {
    /// Adds another graph of the same nodes, every edge with the weight that it has by itself, to work on in turn with the
    /// first: to train on some edges and to evaluate on others without setting weights to and fro. What [`Model::on`] chooses,
    /// keeps its weights.
    ///
    /// # Errors
    /// The graph has another number of nodes.
    pub fn add_structure(&mut self, graph: impl Into<WeightedGraph<T>>) -> Result<StructureId, NnError> {
        let (graph, number) = (graph.into(), self.structures.len());
        let structure = self.structure(&graph, number)?;
        self.structures.push((Arc::clone(graph.graph()), structure));
        Ok(StructureId(number))
    }

    /// Adds a structure with a weight for every pair of nodes, at first that of the edge that this graph has in either
    /// direction: for methods that learn the whole matrix. Nodes² numbers, as many again for the gradient.
    ///
    /// [`Model::matrix`] shows it, [`Model::update_matrix`] changes it; it has no edges, and takes no edge weights.
    ///
    /// # Errors
    /// The graph has another number of nodes, or the backbone is PNA, which takes minima and maxima over edges, or the MLP,
    /// which has none.
    pub fn add_dense_structure(
        &mut self,
        graph: impl Into<WeightedGraph<T>>,
    ) -> Result<StructureId, NnError> {
        let graph = graph.into();
        self.check_nodes(graph.graph())?;
        let backbone = self.config.backbone;
        if matches!(backbone, Backbone::Pna | Backbone::Mlp) {
            let expected = "gcn, gin or sage on a dense structure";
            return Err(Refusal::new("backbone", backbone.name(), expected).into());
        }
        let number = self.structures.len();
        let structure = Structure::dense(&self.threads, &graph, normalisation(&self.config), number)?;
        self.structures.push((Arc::clone(structure.graph()), structure));
        Ok(StructureId(number))
    }

    /// The weights of all pairs of nodes, row-major, if the structure that it works on now is dense.
    pub fn matrix(&self) -> Option<&[T]> {
        self.structures[self.current.0[0].0].1.matrix()
    }

    /// The same of any of its structures.
    pub fn matrix_of(&self, structure: StructureId) -> Option<&[T]> {
        self.structures.get(structure.0)?.1.matrix()
    }

    /// Changes the weights of all pairs of nodes: `change` gets them, and the latest gradient by them if one was asked for
    /// (each entry on its own; empty otherwise). It must leave a symmetric matrix with a diagonal of zeros. Nothing happens
    /// on a structure that is not dense.
    ///
    /// # Errors
    /// A weight is negative, not a number or above [`MAX_EDGE_WEIGHT`](edgepace_graph::MAX_EDGE_WEIGHT) then.
    pub fn update_matrix(&mut self, change: impl FnOnce(&mut [T], &[T])) -> Result<(), NnError> {
        let gradient = if self.gradients.latest.edges { &self.gradients.edges.values[..] } else { &[] };
        let structure = &mut self.structures[self.current.0[0].0].1;
        Ok(structure.update_matrix(&self.threads, |weights| change(weights, gradient))?)
    }

    /// The model on one of its structures, or with one per layer, which stays until the next call. Weights and graph are
    /// then set of the first layer's.
    ///
    /// # Panics
    /// When an id comes from another model with more structures.
    pub fn on(&mut self, layers: impl Into<Layers>) -> &mut Self {
        let layers = layers.into();
        assert!(layers.0.iter().all(|id| id.0 < self.structures.len()), "a structure of another model");
        if self.current != layers {
            self.current = layers;
            self.gradients.latest.edges = false;
        }
        self
    }

    fn check_nodes(&self, graph: &Graph) -> Result<(), NnError> {
        let (found, expected) = (graph.nodes(), self.graph().nodes());
        if found == expected {
            return Ok(());
        }
        let reason = "the nodes of the graph that the model was made for";
        Err(Refusal::size("graph", found, expected, reason).into())
    }

    fn structure(&self, graph: &WeightedGraph<T>, number: usize) -> Result<Structure<T>, NnError> {
        self.check_nodes(graph.graph())?;
        let pattern = structure_graph(&self.config, graph)?;
        Ok(Structure::new(&self.threads, &pattern, normalisation(&self.config), number))
    }

    /// Gives back the memory of what was propagated along a structure and kept. It is computed again when needed: for a
    /// structure that rests for long.
    pub fn release_memory(&mut self, structure: StructureId) {
        for convolution in &mut self.convolutions {
            convolution.release_memory(structure.0);
        }
    }

    /// Takes one weight per edge id, which multiplies what the edge weighs by itself, and re-normalises; 0 means that the edge
    /// is not there.
    ///
    /// # Errors
    /// Not one weight per edge, or one that is negative, not a number or, by itself or multiplied, above
    /// [`MAX_EDGE_WEIGHT`](edgepace_graph::MAX_EDGE_WEIGHT).
    pub fn set_edge_weights(&mut self, weights: &[T]) -> Result<(), NnError> {
        if self.config.backbone == Backbone::Mlp {
            check_weights(self.graph(), weights)?;
        } else {
            self.structures[self.current.0[0].0].1.set_weights(&self.threads, weights)?;
        }
        Ok(())
    }

    /// Goes on with the same parameters on another graph of the same nodes, every edge with the weight that it has by itself.
    /// PNA keeps the mean degree of the graph that it was made for.
    ///
    /// # Errors
    /// The graph has another number of nodes.
    pub fn set_graph(&mut self, graph: impl Into<WeightedGraph<T>>) -> Result<(), NnError> {
        let graph = graph.into();
        let structure = self.structure(&graph, self.current.0[0].0)?;
        self.replace_structure(Arc::clone(graph.graph()), structure);
        Ok(())
    }

    /// The same with one weight per edge id of the other graph, all that the edge weighs; 0 means that it is not there. The
    /// weights are not kept: the next ones that are set replace them.
    ///
    /// # Errors
    /// The graph has another number of nodes, or the weights are refused as by [`Model::set_edge_weights`].
    pub fn set_weighted_graph(&mut self, graph: Arc<Graph>, weights: &[T]) -> Result<(), NnError> {
        let number = self.current.0[0].0;
        let structure = if self.config.backbone == Backbone::Mlp {
            check_weights(&graph, weights)?;
            self.structure(&Arc::clone(&graph).into(), number)?
        } else {
            self.check_nodes(&graph)?;
            let normalisation = normalisation(&self.config);
            Structure::weighted(&self.threads, (Arc::clone(&graph), weights), normalisation, number)?
        };
        self.replace_structure(graph, structure);
        Ok(())
    }

    fn replace_structure(&mut self, graph: Arc<Graph>, mut structure: Structure<T>) {
        let number = self.current.0[0].0;
        let current = &mut self.structures[number];
        structure.succeed(current.1.version());
        *current = (graph, structure);
        self.gradients.latest.edges = false;
    }
}

pub(super) fn normalisation(config: &ModelConfig) -> Normalisation {
    match config.backbone {
        Backbone::Gcn | Backbone::Mlp => Normalisation::Symmetric,
        Backbone::Gin => Normalisation::Sum { epsilon: config.gin_epsilon },
        Backbone::Sage => Normalisation::Mean,
        Backbone::Pna => Normalisation::Plain,
    }
}

/// The graph that a backbone propagates along: the MLP is a GCN whose nodes are alone.
pub(super) fn structure_graph<T: Real>(
    config: &ModelConfig,
    graph: &WeightedGraph<T>,
) -> Result<WeightedGraph<T>, NnError> {
    match config.backbone {
        Backbone::Mlp => Ok(Arc::new(Graph::from_edges(graph.graph().nodes(), &[], &[])?).into()),
        _ => Ok(graph.clone()),
    }
}
