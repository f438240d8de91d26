//! What a model is made of.

use crate::error::NnError;
use edgepace_graph::Refusal;

/// Which convolution a model is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backbone {
    /// Graph convolutional network (Kipf and Welling, 2017).
    Gcn,
    /// Graph isomorphism network (Xu et al., 2019).
    Gin,
    /// GraphSAGE with the mean (Hamilton et al., 2017).
    Sage,
    /// Principal neighbourhood aggregation (Corso et al., 2020).
    Pna,
    /// No edges at all: the control that tells what the graph is worth.
    Mlp,
}

impl Backbone {
    /// Every backbone.
    pub const ALL: [Self; 5] = [Self::Gcn, Self::Gin, Self::Sage, Self::Pna, Self::Mlp];

    /// Its name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gcn => "gcn",
            Self::Gin => "gin",
            Self::Sage => "sage",
            Self::Pna => "pna",
            Self::Mlp => "mlp",
        }
    }
}

/// Units or outputs at most: more is a mistake, and would overflow sizes.
const WIDEST: usize = 1 << 20;

/// Settings of a [`Model`](crate::Model); the defaults are the paper's.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// The convolution.
    pub backbone: Backbone,
    /// Units of the hidden layer and of the embedding, at least 1.
    pub hidden: usize,
    /// Share of hidden units that are dropped in training, in [0, 1).
    pub dropout: f64,
    /// Share of the values of the features that are dropped in training, in [0, 1).
    pub input_dropout: f64,
    /// Whether the hidden units of each node are brought to mean 0 and variance 1 before the ReLU.
    pub layer_norm: bool,
    /// ε of GIN: a node's own share is 1 + ε.
    pub gin_epsilon: f64,
    /// δ of PNA, the mean of ln(degree + 1), above 0; none: that of the graph that the model is made for. A model that meets
    /// another graph keeps that of its training.
    pub mean_log_degree: Option<f64>,
}

impl ModelConfig {
    /// The paper's settings for a backbone.
    pub fn new(backbone: Backbone) -> Self {
        Self {
            backbone,
            hidden: 64,
            dropout: 0.5,
            input_dropout: 0.0,
            layer_norm: false,
            gin_epsilon: 0.1,
            mean_log_degree: None,
        }
    }

    /// Refuses settings out of their range, and a model without outputs.
    pub(crate) fn check(&self, outputs: usize) -> Result<(), NnError> {
        let refuse = |field: &'static str, found: String, expected: &'static str| {
            Err(Refusal::new(field, found, expected).into())
        };
        if !(1..=WIDEST).contains(&self.hidden) {
            return refuse("hidden", self.hidden.to_string(), "between 1 and 1048576");
        }
        for (field, rate) in [("dropout", self.dropout), ("input_dropout", self.input_dropout)] {
            if !(0.0..1.0).contains(&rate) {
                return refuse(field, rate.to_string(), "in [0, 1)");
            }
        }
        if !(self.gin_epsilon as f32).is_finite() {
            return refuse(
                "gin_epsilon",
                self.gin_epsilon.to_string(),
                "a finite number of single precision",
            );
        }
        if let Some(mean) = self.mean_log_degree.filter(|mean| !(*mean > 0.0 && mean.is_finite())) {
            return refuse("mean_log_degree", mean.to_string(), "a finite number above 0");
        }
        if !(1..=WIDEST).contains(&outputs) {
            let expected = "between 1 and 1048576: the number of classes or labels";
            return refuse("outputs", outputs.to_string(), expected);
        }
        Ok(())
    }
}
