//! Settings of a curriculum, and the presets.

use edgepace_graph::Refusal;
use serde::{Deserialize, Serialize};

use crate::CurriculumError;

/// How expected an edge is: κ_e, of which the difficulty is R_e = (1 − κ_e)².
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    /// σ(z_i · z_j), the paper's.
    Inner,
    /// (1 + cos(z_i, z_j)) / 2, of the authors' code.
    Cosine,
    /// Σ_c p_i(c) p_j(c), p being the softmax of the logits.
    Posterior,
    /// The rank of the edge by a model of edges against non-edges; see [`EvidenceFit`](crate::EvidenceFit).
    Evidence,
    /// What the loop says of each edge, as the probability that it is genuine ([`Feedback::trust`](crate::Feedback::trust)).
    Trust,
}

impl Kernel {
    /// Its name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Inner => "inner",
            Kernel::Cosine => "cosine",
            Kernel::Posterior => "posterior",
            Kernel::Evidence => "evidence",
            Kernel::Trust => "trust",
        }
    }
}

/// In which order edges come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By difficulty.
    Learned,
    /// By a random rank that never changes: what a curriculum is measured against.
    Random,
}

/// What the mask S minimises on [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaskForm {
    /// β S R + λ (S − 1)² + γ/2 (S − S_prev)², exactly.
    Quadratic,
    /// β S R − λ S + γ/2 (S − S_prev)², exactly.
    Linear,
    /// The linear form by ten more clamped Adam steps of rate 0.1 at each update: the authors' code. The steps remember, so
    /// that an edge whose difficulty changes comes in or goes out an update late.
    Adam,
}

/// How the age parameter λ grows. t is the epoch and T the number of epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// λ ← λ + μ after each update until every edge is in (Algorithm 1).
    Lambda,
    /// λ such that the share q(t) = q0 + (1 − q0) · t / (full_at · T) of edges is in.
    Quantile,
    /// The share t / T of edges.
    Linear,
    /// The share √(t / T) of edges.
    Root,
    /// λ = base / (full_at · T + 1 − t), and base from t = full_at · T on, `lambda_start` at t = 0 if set: the authors' code.
    Official,
}

/// When the confidence ρ of nodes is taken from their losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Never: ρ = 1.
    Off,
    /// At the first update only, from the pretrained model (the authors' code).
    Once,
    /// At every update.
    Always,
}

/// Whose embeddings and logits the loop feeds to an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingSource {
    /// Those of the model in training (the paper).
    Current,
    /// Those of the frozen pretrained model, evaluated on the current training structure.
    Pretrained,
}

/// Which graph the loop evaluates on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationGraph {
    /// All edges with weights π.
    Weighted,
    /// All edges with weight 1.
    Full,
    /// Both are evaluated, the better on validation counts.
    Validated,
}

/// Whether the gradient of β Σ S R joins the loss (Algorithm 1, step 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResidualTerm {
    /// It does not.
    Off,
    /// The mean over all edges, which stands well beside a mean node loss.
    Mean,
    /// The sum over all edges, for a loss that is a sum too.
    Sum,
}

/// Settings of a [`Curriculum`](crate::Curriculum). The default is [`CurriculumConfig::edgepace`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CurriculumConfig {
    /// How expected an edge is.
    pub kernel: Kernel,
    /// In which order edges come in.
    pub order: Order,
    /// Weight of the past in the moving average of κ over updates, in [0, 1); 0: no average.
    pub average: f64,
    /// Ridge penalty of the evidence model on standardised columns, above 0.
    pub evidence_ridge: f64,
    /// Edges, and non-edges, that the evidence model is fitted to at most, at least 1. Every edge is scored. With
    /// 8192 of each, the standard error of a coefficient is about 0.016 where columns are not correlated.
    pub evidence_samples: usize,
    /// What the mask minimises.
    pub mask: MaskForm,
    /// β, the weight of the residuals, above 0.
    pub beta: f64,
    /// γ, the weight of the proximal term, at least 0.
    pub gamma: f64,
    /// How λ grows.
    pub pace: Pace,
    /// Share of the epochs after which every edge is in, in (0, 1]. See [`CurriculumConfig::full_at_of_knob`].
    pub full_at: f64,
    /// q0, the share of edges that the pace `quantile` starts with, in [0, 1].
    pub start_share: f64,
    /// First λ of the paces `lambda` and `official`, at least 0; unset: one step, or what the formula says.
    pub lambda_start: Option<f64>,
    /// μ, the step of the pace `lambda`, above 0; unset: such that any edge is in at `full_at`.
    pub lambda_step: Option<f64>,
    /// Last λ of the pace `official`, above 0.
    pub official_base: f64,
    /// ψ: whether an edge weighs as often as it was selected; otherwise ψ is 1 for edges that are selected now and 0 for others.
    pub smooth: bool,
    /// ρ: whether edges weigh less at training nodes with a large loss.
    pub confidence: Confidence,
    /// The power of κ that an edge weighs by, at least 0; unset: not by κ.
    pub sharpness: Option<f64>,
    /// Epochs from one update to the next, at least 1.
    pub period: usize,
    /// Whether the gradient of the residuals joins the loss.
    pub residual_term: ResidualTerm,
    /// For the loop: whose embeddings and logits an update sees.
    pub source: EmbeddingSource,
    /// For the loop: whether a vanilla model, at its epoch of best validation, gives the first embeddings. Without it
    /// they come from isolated nodes.
    pub warm_start: bool,
    /// For the loop: whether dropout stays on while embeddings are made (the authors' code).
    pub dropout_in_embeddings: bool,
    /// For the loop: which graph is evaluated.
    pub evaluation: EvaluationGraph,
}

impl Default for CurriculumConfig {
    fn default() -> Self {
        Self::edgepace()
    }
}

impl CurriculumConfig {
    /// The presets by name.
    pub const PRESETS: [&'static str; 6] = ["paper", "official", "cosine", "posterior", "edgepace", "trust"];

    /// The best that we know: evidence kernel with a moving average, quantile pace, full after two thirds.
    pub fn edgepace() -> Self {
        Self {
            kernel: Kernel::Evidence,
            order: Order::Learned,
            average: 0.5,
            evidence_ridge: 1.0,
            evidence_samples: 1 << 13,
            mask: MaskForm::Quadratic,
            beta: 1.0,
            gamma: 0.0,
            pace: Pace::Quantile,
            full_at: 2.0 / 3.0,
            start_share: 0.0,
            lambda_start: None,
            lambda_step: None,
            official_base: 1.0,
            smooth: true,
            confidence: Confidence::Always,
            sharpness: None,
            period: 20,
            residual_term: ResidualTerm::Off,
            source: EmbeddingSource::Pretrained,
            warm_start: true,
            dropout_in_embeddings: false,
            evaluation: EvaluationGraph::Validated,
        }
    }

    /// [`CurriculumConfig::edgepace`] with the posterior kernel.
    pub fn posterior() -> Self {
        Self { kernel: Kernel::Posterior, ..Self::edgepace() }
    }

    /// By the probability that an edge is genuine: those that surely are come in at once, doubtful ones late, and each weighs by
    /// it. A heavy proximal term holds edges back, so that the best epoch may be one with few of them where most mislead, and all
    /// edges alike are evaluated where that validates better.
    pub fn trust() -> Self {
        Self {
            kernel: Kernel::Trust,
            average: 0.0,
            gamma: 3.0,
            pace: Pace::Lambda,
            confidence: Confidence::Off,
            sharpness: Some(1.0),
            source: EmbeddingSource::Current,
            ..Self::edgepace()
        }
    }

    /// Cosine of the pretrained embeddings at the pace of the authors' code, with the exact mask: edges come in by how alike
    /// their ends are, not by a share of all edges, so that many come in early where most edges are good.
    pub fn cosine() -> Self {
        Self {
            kernel: Kernel::Cosine,
            average: 0.0,
            mask: MaskForm::Linear,
            pace: Pace::Official,
            ..Self::edgepace()
        }
    }

    /// The text of the paper: inner product of the current embeddings, λ grows by a step, proximal term and gradient of
    /// the residuals on.
    pub fn paper() -> Self {
        Self {
            kernel: Kernel::Inner,
            average: 0.0,
            gamma: 0.1,
            pace: Pace::Lambda,
            residual_term: ResidualTerm::Mean,
            source: EmbeddingSource::Current,
            evaluation: EvaluationGraph::Weighted,
            ..Self::edgepace()
        }
    }

    /// The authors' code with the values of its run scripts: cosine of the pretrained embeddings with dropout on, mask by
    /// Adam, ρ once, first λ 0.001.
    pub fn official() -> Self {
        Self {
            kernel: Kernel::Cosine,
            average: 0.0,
            mask: MaskForm::Adam,
            pace: Pace::Official,
            lambda_start: Some(1e-3),
            confidence: Confidence::Once,
            dropout_in_embeddings: true,
            evaluation: EvaluationGraph::Weighted,
            ..Self::edgepace()
        }
    }

    /// A preset by its name.
    ///
    /// # Errors
    /// A name that is not in [`CurriculumConfig::PRESETS`].
    pub fn preset(name: &str) -> Result<Self, CurriculumError> {
        match name {
            "paper" => Ok(Self::paper()),
            "official" => Ok(Self::official()),
            "cosine" => Ok(Self::cosine()),
            "posterior" => Ok(Self::posterior()),
            "edgepace" => Ok(Self::edgepace()),
            "trust" => Ok(Self::trust()),
            _ => {
                let expected = "paper, official, cosine, posterior, edgepace or trust";
                Err(Refusal::new("preset", format_args!("`{name}`"), expected).into())
            }
        }
    }

    /// `full_at` for the paper's knob: 4 / (knob + 3). 1: every edge is in at the end, 3: after two thirds, 5: after half.
    ///
    /// # Errors
    /// A knob below 1 or not finite.
    pub fn full_at_of_knob(knob: f64) -> Result<f64, CurriculumError> {
        if knob.is_finite() && knob >= 1.0 {
            return Ok(4.0 / (knob + 3.0));
        }
        Err(Refusal::new("knob", knob, "at least 1 (the paper: 1 to 5)").into())
    }

    /// Whether it is to be told how far to trust each edge.
    pub fn reads_trust(&self) -> bool {
        self.kernel == Kernel::Trust && self.order == Order::Learned
    }

    /// Refuses settings out of their range or in contradiction.
    ///
    /// # Errors
    /// Names the first such field and what is legal.
    pub fn check(&self) -> Result<(), CurriculumError> {
        let above_0 = |x: f64| x.is_finite() && x > 0.0;
        let at_least_0 = |x: f64| x.is_finite() && x >= 0.0;
        let (positive, not_negative) = ("a finite number above 0", "a finite number, at least 0");
        let ranges = [
            ("average", self.average, (0.0..1.0).contains(&self.average), "in [0, 1)"),
            ("evidence_ridge", self.evidence_ridge, above_0(self.evidence_ridge), positive),
            ("beta", self.beta, above_0(self.beta), positive),
            (
                "sharpness",
                self.sharpness.unwrap_or(0.0),
                at_least_0(self.sharpness.unwrap_or(0.0)),
                not_negative,
            ),
            ("gamma", self.gamma, at_least_0(self.gamma), not_negative),
            ("full_at", self.full_at, self.full_at > 0.0 && self.full_at <= 1.0, "in (0, 1]"),
            ("start_share", self.start_share, (0.0..=1.0).contains(&self.start_share), "in [0, 1]"),
            ("official_base", self.official_base, above_0(self.official_base), positive),
            (
                "lambda_start",
                self.lambda_start.unwrap_or(0.0),
                at_least_0(self.lambda_start.unwrap_or(0.0)),
                not_negative,
            ),
            (
                "lambda_step",
                self.lambda_step.unwrap_or(1.0),
                above_0(self.lambda_step.unwrap_or(1.0)),
                positive,
            ),
        ];
        for (field, found, legal, expected) in ranges {
            if !legal {
                return Err(Refusal::new(field, found, expected).into());
            }
        }
        for (field, found) in [("evidence_samples", self.evidence_samples), ("period", self.period)] {
            if found == 0 {
                return Err(Refusal::new(field, "0", "at least 1").into());
            }
        }
        let refuse = |field: &'static str, found: &'static str, expected: &'static str| {
            Err(Refusal::new(field, found, expected).into())
        };
        let by_share = matches!(self.pace, Pace::Quantile | Pace::Linear | Pace::Root);
        if self.mask == MaskForm::Adam && (self.gamma != 0.0 || by_share) {
            let expected = "quadratic or linear, or else with gamma 0 and the pace lambda or official";
            return refuse("mask", "adam", expected);
        }
        if self.residual_term != ResidualTerm::Off {
            let has_none = matches!(self.kernel, Kernel::Evidence | Kernel::Trust);
            if has_none || self.order == Order::Random {
                let expected =
                    "off: there is no gradient by embeddings (kernels evidence and trust, order random)";
                return refuse("residual_term", "on", expected);
            }
            if self.source == EmbeddingSource::Pretrained {
                return refuse(
                    "residual_term",
                    "on",
                    "off where the source is pretrained: a frozen model does not learn",
                );
            }
        }
        Ok(())
    }
}
