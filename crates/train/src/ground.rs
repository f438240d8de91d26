//! The ground that a method stands on: how a network is regularised, and which of its epochs count. Two grounds have names.
//!
//! `paper` has the settings of the paper's experiments: dropout between the layers alone, and the epoch of best validation
//! accuracy. `strong` is what lifted every kind of network on most graphs that it was tried on: input dropout (Kipf and Welling,
//! 2017) and much weight decay for words and tags, little of it on the first layer for other features, `DropEdge` (Rong et
//! al., 2020), and a window of epochs. Its numbers were chosen on validation, over ten graphs (`docs/research.md`).

use serde::{Deserialize, Serialize};

/// A named set of the settings below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ground {
    /// The settings of the paper's experiments.
    Paper,
    /// Regularised, with a window of epochs.
    Strong,
}

/// Which parameters weight decay pulls to 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecayOn {
    /// All of them.
    #[default]
    All,
    /// Those of the first layer.
    First,
}

/// Which epochs of a training count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EpochRule {
    /// The one of the best validation score, whatever the metric is.
    #[default]
    Accuracy,
    /// The last [`WINDOW`] epochs together, which predict with the mean of their log-probabilities, at the time of the least
    /// log-loss on validation.
    Window,
}

/// Epochs that a window is of.
pub const WINDOW: usize = 10;

/// What a ground says of each setting that is left open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GroundSettings {
    pub(crate) lr: f64,
    pub(crate) hidden: usize,
    pub(crate) weight_decay: f64,
    pub(crate) decay_on: DecayOn,
    pub(crate) input_dropout: f64,
    pub(crate) layer_norm: bool,
    pub(crate) drop_edge: f64,
    pub(crate) epoch_rule: EpochRule,
    pub(crate) restart_after: u32,
}

/// How many training nodes weight decay counts as: the more there are, the less it says beside them.
const OBSERVATIONS: f64 = 4.0;

/// Epochs without a better window after which a network that reads words alone may begin anew (`restart.rs`).
const RESTART_AFTER: u32 = 40;

/// Training nodes that there must be for that: where nodes are few, an early best is as often chance.
const ENOUGH: usize = 500;

/// Training nodes from which on a network that reads words is wider, normalised, and learns more slowly, if each word is met
/// seldom.
const MANY: usize = 10_000;
/// Units of such a network.
const UNITS_OF_WIDE: usize = 128;
/// Its step size.
const STEP_SIZE_OF_WIDE: f64 = 0.002;

/// Units of the hidden layer in the paper's experiments.
pub(crate) const UNITS: usize = 64;
/// The step size of Adam there.
pub(crate) const STEP_SIZE: f64 = 0.01;

/// The step size where none is set.
pub(crate) fn step_size(normalises: bool) -> f64 {
    if normalises { STEP_SIZE_OF_WIDE } else { STEP_SIZE }
}

/// The units where none are set.
pub(crate) fn units(normalises: bool) -> usize {
    if normalises { UNITS_OF_WIDE } else { UNITS }
}

/// What a ground looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// How many words or tags the features are: of many columns that are mostly 0, some can be missed. Few coordinates cannot;
    /// none where they are such.
    pub(crate) words: Option<usize>,
    /// Training nodes.
    pub(crate) train: usize,
    /// Whether hidden units are to be normalised, where someone has said so.
    pub(crate) layer_norm: Option<bool>,
    /// Whether edges may be left out of a step: the network reads some, and the method does not decide on them itself in
    /// each step.
    pub(crate) drops_edges: bool,
}

impl Ground {
    pub(crate) fn settings(self, situation: Situation) -> GroundSettings {
        let Situation { words, train, layer_norm, drops_edges } = situation;
        // Words that are each met seldom, and yet nodes enough to learn from them.
        let seldom = words.is_some_and(|words| 2 * words >= train);
        let normalises = layer_norm.unwrap_or(seldom && train >= MANY);
        match self {
            Ground::Paper => GroundSettings {
                lr: STEP_SIZE,
                hidden: UNITS,
                weight_decay: 0.0,
                decay_on: DecayOn::All,
                input_dropout: 0.0,
                layer_norm: false,
                drop_edge: 0.0,
                epoch_rule: EpochRule::Accuracy,
                restart_after: 0,
            },
            Ground::Strong => GroundSettings {
                lr: step_size(normalises),
                hidden: units(normalises),
                weight_decay: words.map_or(5e-4, |_| (OBSERVATIONS / train.max(1) as f64).min(2e-3)),
                decay_on: words.map_or(DecayOn::First, |_| DecayOn::All),
                // Where each word is met often, less needs to be done against learning it by heart.
                input_dropout: words.map_or(0.0, |_| if seldom { 0.5 } else { 0.2 }),
                layer_norm: normalises,
                drop_edge: if drops_edges { 0.3 } else { 0.0 },
                epoch_rule: EpochRule::Window,
                restart_after: if words.is_some() && train >= ENOUGH { RESTART_AFTER } else { 0 },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strong(words: Option<usize>, train: usize, layer_norm: Option<bool>) -> GroundSettings {
        Ground::Strong.settings(Situation { words, train, layer_norm, drops_edges: true })
    }

    #[test]
    fn many_nodes_with_many_words_are_normalised_in_a_wider_layer() {
        let wide = strong(Some(7000), 11_000, None);
        assert_eq!((wide.layer_norm, wide.hidden, wide.lr), (true, UNITS_OF_WIDE, STEP_SIZE_OF_WIDE));
        for (words, train) in [(Some(7000), MANY - 1), (Some(3000), 11_000), (None, 11_000)] {
            let usual = strong(words, train, None);
            assert_eq!(
                (usual.layer_norm, usual.hidden, usual.lr),
                (false, UNITS, STEP_SIZE),
                "{words:?} {train}"
            );
        }
        // What was said counts, and what goes with it comes along.
        assert_eq!(strong(Some(7000), 11_000, Some(false)).hidden, UNITS);
        assert_eq!(strong(None, 100, Some(true)).lr, STEP_SIZE_OF_WIDE);
        let paper = Ground::Paper.settings(Situation {
            words: Some(7000),
            train: 11_000,
            layer_norm: Some(true),
            drops_edges: true,
        });
        assert_eq!((paper.layer_norm, paper.hidden, paper.lr), (false, UNITS, STEP_SIZE));
    }
}
