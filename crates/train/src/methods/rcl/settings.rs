//! What can be set for the curriculum and its ablations.
//!
//! The search values are those of the paper, where it names some, and otherwise those between which validation decided
//! when the presets were made.

use edgepace_curriculum::{CurriculumConfig, Kernel, Order, Pace};

use crate::setting::Setting;

pub(crate) const SETTINGS: &[Setting] = &[
    Setting::fixed("kernel", "how expected an edge is: inner, cosine, posterior, evidence or trust"),
    Setting::fixed("order", "in which order edges come in: learned (by difficulty) or random"),
    Setting {
        name: "average",
        meaning: "weight of the past in the moving average of the difficulty, in [0, 1); 0: none",
        search: &["0", "0.5", "0.8"],
    },
    Setting::fixed("evidence_ridge", "ridge penalty of the evidence model, above 0"),
    Setting::fixed(
        "evidence_samples",
        "edges, and non-edges, that the evidence model is fitted to at most, at least 1",
    ),
    Setting::fixed("mask", "what the mask minimises: quadratic, linear, or adam (linear by steps)"),
    Setting::fixed("beta", "weight of the residuals, above 0"),
    Setting {
        name: "gamma",
        meaning: "weight of the proximal term, at least 0; 0 with mask adam",
        search: &["0", "0.1", "1"],
    },
    Setting::fixed("pace", "how edges come in: lambda, quantile, linear, root or official"),
    Setting {
        name: "full_at",
        meaning: "share of the epochs after which every edge is in, in (0, 1]; the paper's knob k is 4/(k + 3)",
        search: &["0.5", "0.571", "0.8", "1"],
    },
    Setting {
        name: "start_share",
        meaning: "share of edges that pace quantile starts with, in [0, 1]",
        search: &["0", "0.1", "0.3"],
    },
    Setting::fixed(
        "lambda_start",
        "first λ of paces lambda and official, at least 0; unset: one step, or as the formula",
    ),
    Setting::fixed(
        "lambda_step",
        "step of pace lambda, above 0; unset: such that every edge is in at full_at",
    ),
    Setting::fixed("official_base", "last λ of pace official, above 0"),
    Setting::fixed(
        "smooth",
        "ψ: whether an edge weighs as often as it was in; otherwise 1 if it is in now; true or false",
    ),
    Setting {
        name: "confidence",
        meaning: "ρ: when edges of training nodes with a large loss lose weight: off, once or always",
        search: &["off", "always"],
    },
    Setting::fixed(
        "sharpness",
        "power of how expected an edge is that it weighs by, at least 0; unset: it does not weigh by that",
    ),
    Setting {
        name: "period",
        meaning: "epochs from one update to the next, at least 1",
        search: &["5", "10", "20"],
    },
    Setting::fixed("residual_term", "whether the gradient of the residuals joins the loss: off, mean or sum"),
    Setting::fixed("source", "whose embeddings an update sees: current or pretrained"),
    Setting::fixed(
        "warm_start",
        "whether a plain model gives the first embeddings, or isolated nodes do; true or false",
    ),
    Setting::fixed(
        "dropout_in_embeddings",
        "whether dropout stays on while embeddings are made; true or false",
    ),
    Setting::fixed(
        "evaluation",
        "which edges are evaluated: weighted, full, or validated (the better of both)",
    ),
];

/// Settings that have no effect beside the others, and why.
pub(super) fn unread(settings: &CurriculumConfig) -> impl Iterator<Item = (&'static str, &'static str)> {
    let pace = settings.pace;
    let random = settings.order == Order::Random;
    let by_share = matches!(pace, Pace::Linear | Pace::Root);
    let by_lambda = matches!(pace, Pace::Lambda | Pace::Official);
    let rows = [
        ("kernel", random, "a random order asks no kernel"),
        ("average", random, "a random order has no difficulty to average"),
        ("evidence_ridge", random || settings.kernel != Kernel::Evidence, "only kernel evidence reads it"),
        (
            "evidence_samples",
            random || !matches!(settings.kernel, Kernel::Evidence | Kernel::Trust),
            "only kernels evidence and trust read it",
        ),
        ("full_at", by_share, "paces linear and root let every edge in at the end"),
        ("start_share", pace != Pace::Quantile, "only pace quantile reads it"),
        ("lambda_start", !by_lambda, "only paces lambda and official read it"),
        ("lambda_step", pace != Pace::Lambda, "only pace lambda reads it"),
        ("official_base", pace != Pace::Official, "only pace official reads it"),
    ];
    rows.into_iter().filter(|&(_, unread, _)| unread).map(|(key, _, reason)| (key, reason))
}
