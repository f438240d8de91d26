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
    pub(crate) weight_decay: f64,
    pub(crate) decay_on: DecayOn,
    pub(crate) input_dropout: f64,
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

/// What a ground looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// How many words or tags the features are: of many columns that are mostly 0, some can be missed. Few coordinates cannot;
    /// none where they are such.
    pub(crate) words: Option<usize>,
    /// Training nodes.
    pub(crate) train: usize,
    /// Whether edges may be left out of a step: the network reads some, and the method does not decide on them itself in
    /// each step.
    pub(crate) drops_edges: bool,
}

impl Ground {
    pub(crate) fn settings(self, situation: Situation) -> GroundSettings {
        let Situation { words, drops_edges, train } = situation;
        match self {
            Ground::Paper => GroundSettings {
                weight_decay: 0.0,
                decay_on: DecayOn::All,
                input_dropout: 0.0,
                drop_edge: 0.0,
                epoch_rule: EpochRule::Accuracy,
                restart_after: 0,
            },
            Ground::Strong => GroundSettings {
                weight_decay: words.map_or(5e-4, |_| (OBSERVATIONS / train.max(1) as f64).min(2e-3)),
                decay_on: words.map_or(DecayOn::First, |_| DecayOn::All),
                // Where each word is met often, less needs to be done against learning it by heart.
                input_dropout: words.map_or(0.0, |words| if 2 * words < train { 0.2 } else { 0.5 }),
                drop_edge: if drops_edges { 0.3 } else { 0.0 },
                epoch_rule: EpochRule::Window,
                restart_after: if words.is_some() && train >= ENOUGH { RESTART_AFTER } else { 0 },
            },
        }
    }
}
