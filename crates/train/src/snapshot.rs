//! What a learner was at its best, and what is known of each edge when it is over.

use std::sync::Arc;

use edgepace_graph::Graph;

use crate::error::TrainError;
use crate::state::State;

/// A learner as it was at one epoch: what answers for it later.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// From 0.
    pub epoch: u32,
    /// The validation score as choices compare it, higher being better; none without validation nodes, where the last epoch counts.
    pub validation: Option<f64>,
    /// The name of the structure that it was evaluated on, as `full` or `weighted`.
    pub evaluated_on: String,
    /// All parameters of the network; none where the learner is no network, whose logits then stand for it.
    pub parameters: Vec<f32>,
    /// Those of the epochs before, the earliest first, where a window of epochs answers together: with the mean of their
    /// logits. Empty otherwise.
    pub earlier: Vec<Arc<[f32]>>,
    /// The structure that it was evaluated on.
    pub structure: SavedStructure,
    /// The logits of all nodes, nodes × outputs.
    pub logits: Vec<f32>,
    /// What belief propagation has learned, where it is that.
    pub beliefs: Option<SavedBeliefs>,
}

/// What belief propagation needs, beside the edge-free model that it begins with, to answer for other nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedBeliefs {
    /// What the logits of the edge-free model are divided by.
    pub temperature: f64,
    /// How much likelier two classes are linked than two nodes at random, classes × classes.
    pub compatibility: Vec<f32>,
}

/// A structure as it was when a model was evaluated on it: what a saved model needs to answer the same again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedStructure {
    /// A graph of the method's own; none: the dataset's.
    pub graph: Option<Arc<Graph>>,
    /// All that its edges weigh, the dataset's weights multiplied in; none: what the dataset says, or 1 in a graph of the
    /// method's own.
    pub weights: Option<Arc<[f32]>>,
    /// The weights in the second layer, where they are others than in the first.
    pub second_weights: Option<Arc<[f32]>>,
    /// A weight for every pair of nodes, nodes × nodes, in place of a graph.
    pub matrix: Option<Vec<f32>>,
}

impl SavedStructure {
    /// The same with its matrix, if it has one, as a graph of the pairs that have a weight.
    ///
    /// # Errors
    /// More pairs than a graph can number.
    pub fn as_edges(&self, nodes: usize) -> Result<SavedStructure, TrainError> {
        let Some(matrix) = &self.matrix else { return Ok(self.clone()) };
        let entries = || matrix.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        let sources: Vec<u32> = entries().map(|(at, _)| (at % nodes) as u32).collect();
        let targets: Vec<u32> = entries().map(|(at, _)| (at / nodes) as u32).collect();
        // Entries come by target and then by source: the order of edge ids.
        let graph = Graph::from_edges(nodes, &sources, &targets)?;
        let weights = entries().map(|(_, &weight)| weight).collect();
        Ok(SavedStructure { graph: Some(Arc::new(graph)), weights: Some(weights), ..Self::default() })
    }
}

impl Snapshot {
    /// Keeps all of it.
    ///
    /// # Errors
    /// A value that cannot be written.
    pub(crate) fn save(&self) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_value("epoch", &self.epoch)?;
        state.put_value("validation", &self.validation)?;
        state.put_value("evaluated_on", &self.evaluated_on)?;
        state.put_floats("parameters", &self.parameters);
        state.put_value("earlier", &self.earlier.len())?;
        for (number, parameters) in self.earlier.iter().enumerate() {
            state.put_floats(&format!("parameters.{number}"), parameters);
        }
        state.put_floats("logits", &self.logits);
        if let Some(SavedBeliefs { temperature, compatibility }) = &self.beliefs {
            state.put_value("temperature", temperature)?;
            state.put_floats("compatibility", compatibility);
        }
        let SavedStructure { graph, weights, second_weights, matrix } = &self.structure;
        if let Some(graph) = graph {
            state.put_ids("sources", graph.sources());
            state.put_ids("targets", &graph.targets());
        }
        for (name, weights) in [("weights", weights), ("second_weights", second_weights)] {
            if let Some(weights) = weights {
                state.put_floats(name, weights);
            }
        }
        if let Some(matrix) = matrix {
            state.put_floats("matrix", matrix);
        }
        Ok(state)
    }

    /// What [`Snapshot::save`] kept, of a graph of so many nodes.
    ///
    /// # Errors
    /// Something is missing or does not fit.
    pub(crate) fn restore(state: &State, nodes: usize) -> Result<Self, TrainError> {
        let floats = |name: &str| state.all_floats(name).map(<[f32]>::to_vec);
        let optional = |name: &str| state.has(name).then(|| floats(name)).transpose();
        let graph = if state.has("sources") {
            Some(Arc::new(Graph::from_edges(nodes, state.ids("sources")?, state.ids("targets")?)?))
        } else {
            None
        };
        // Checkpoints of earlier versions have none.
        let beliefs = optional("compatibility")?.map(|compatibility| -> Result<_, TrainError> {
            Ok(SavedBeliefs { temperature: state.value("temperature")?, compatibility })
        });
        Ok(Self {
            epoch: state.value("epoch")?,
            validation: state.value("validation")?,
            evaluated_on: state.value("evaluated_on")?,
            parameters: floats("parameters")?,
            earlier: (0..state.value::<usize>("earlier")?)
                .map(|number| state.all_floats(&format!("parameters.{number}")).map(Into::into))
                .collect::<Result<_, _>>()?,
            logits: floats("logits")?,
            structure: SavedStructure {
                graph,
                weights: optional("weights")?.map(Into::into),
                second_weights: optional("second_weights")?.map(Into::into),
                matrix: optional("matrix")?,
            },
            beliefs: beliefs.transpose()?,
        })
    }
}

/// What a method says about each edge, by edge id; both directions of an undirected edge agree.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeReport {
    /// R_e of the last update: 0 easy, 1 hard.
    pub difficulty: Vec<f32>,
    /// The epoch from which on it was first trained on; `u32::MAX`: never.
    pub first_epoch: Vec<u32>,
    /// Its weight at the end.
    pub weight: Vec<f32>,
}

impl EdgeReport {
    /// That of a method that learns weights in [0, 1]: what is left out is hard.
    pub(crate) fn of_weights(weights: &[f32]) -> Self {
        EdgeReport {
            difficulty: weights.iter().map(|weight| 1.0 - weight).collect(),
            first_epoch: vec![0; weights.len()],
            weight: weights.to_vec(),
        }
    }

    pub(crate) fn save(&self) -> State {
        let mut state = State::default();
        state.put_floats("difficulty", &self.difficulty);
        state.put_ids("first_epoch", &self.first_epoch);
        state.put_floats("weight", &self.weight);
        state
    }

    pub(crate) fn restore(state: &State) -> Result<Self, TrainError> {
        let difficulty = state.all_floats("difficulty")?.to_vec();
        let weight = state.floats("weight", difficulty.len())?.to_vec();
        Ok(Self { first_epoch: state.ids("first_epoch")?.to_vec(), difficulty, weight })
    }
}
