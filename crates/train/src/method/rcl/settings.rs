//! What can be set for the curriculum and its ablations.
//!
//! The search values are those of the paper, where it names some, and otherwise those between which validation decided
//! when the presets were made.

use crate::method::Setting;

/// A setting that is not worth a search.
const fn fixed(name: &'static str, meaning: &'static str) -> Setting {
    Setting { name, meaning, search: &[] }
}

pub(in crate::method) const SETTINGS: &[Setting] = &[
    fixed("kernel", "how expected an edge is: inner, cosine, posterior or evidence"),
    fixed("order", "in which order edges come in: learned (by difficulty) or random"),
    Setting {
        name: "average",
        meaning: "weight of the past in the moving average of the difficulty, in [0, 1); 0: none",
        search: &[0.0, 0.5, 0.8],
    },
    fixed("evidence_ridge", "ridge penalty of the evidence model, above 0"),
    fixed(
        "evidence_samples",
        "edges, and non-edges, that the evidence model is fitted to at most, at least 1",
    ),
    fixed("mask", "what the mask minimises: quadratic, linear, or adam (linear by steps)"),
    Setting { name: "beta", meaning: "weight of the residuals, above 0", search: &[0.5, 1.0, 2.0] },
    Setting {
        name: "gamma",
        meaning: "weight of the proximal term, at least 0; 0 with mask adam",
        search: &[0.0, 0.1, 1.0],
    },
    fixed("pace", "how edges come in: lambda, quantile, linear, root or official"),
    Setting {
        name: "full_at",
        meaning: "share of the epochs after which every edge is in, in (0, 1]; the paper's knob k is 4/(k + 3)",
        search: &[0.5, 0.571, 0.667, 0.8, 1.0],
    },
    Setting {
        name: "start_share",
        meaning: "share of edges that pace quantile starts with, in [0, 1]",
        search: &[0.0, 0.1, 0.3],
    },
    fixed(
        "lambda_start",
        "first λ of paces lambda and official, at least 0; unset: one step, or as the formula",
    ),
    fixed("lambda_step", "step of pace lambda, above 0; unset: such that every edge is in at full_at"),
    fixed("official_base", "last λ of pace official, above 0"),
    fixed(
        "smooth",
        "ψ: whether an edge weighs as often as it was in; otherwise 1 if it is in now; true or false",
    ),
    fixed("confidence", "ρ: when edges of training nodes with a large loss lose weight: off, once or always"),
    Setting {
        name: "period",
        meaning: "epochs from one update to the next, at least 1",
        search: &[5.0, 10.0, 20.0],
    },
    fixed("residual_term", "whether the gradient of the residuals joins the loss: off, mean or sum"),
    fixed("source", "whose embeddings an update sees: current or pretrained"),
    fixed(
        "warm_start",
        "whether a plain model gives the first embeddings, or isolated nodes do; true or false",
    ),
    fixed("dropout_in_embeddings", "whether dropout stays on while embeddings are made; true or false"),
    fixed("evaluation", "which edges are evaluated: weighted, full, or validated (the better of both)"),
];
