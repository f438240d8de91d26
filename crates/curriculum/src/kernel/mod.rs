//! Difficulty: how far each edge is from being expected.
//!
//! Kernels give the *gap* 1 − κ_e instead of κ_e, because that is what the residual R_e = (1 − κ_e)² squares, and near
//! κ = 1 it keeps digits that κ would lose.

mod cosine;
pub(crate) mod evidence;
mod inner;
pub(crate) mod posterior;

use edgepace_graph::{Features, Refusal, Threads, WeightedGraph};

use crate::config::{CurriculumConfig, Kernel, Order};
use crate::each::{each, each_product};
use crate::feedback::{Feedback, Outputs, Rows};
use crate::order::random_gaps;
use crate::pairs::Pairs;
use crate::{CurriculumError, EvidenceFit};
use cosine::InverseNorms;
use evidence::Evidence;
use posterior::Posterior;

/// A kernel with its buffers.
#[derive(Debug)]
pub(crate) enum Difficulty {
    Inner,
    Cosine(InverseNorms),
    Posterior(Posterior),
    Evidence(Box<Evidence>),
    /// What is told.
    Trust,
    /// The random order: gaps that never change.
    Random(Vec<f32>),
}

impl Difficulty {
    pub(crate) fn new(
        threads: &Threads,
        graph: &WeightedGraph,
        pairs: &Pairs,
        features: Option<&Features>,
        config: &CurriculumConfig,
        seed: u64,
    ) -> Result<Difficulty, CurriculumError> {
        if config.order == Order::Random {
            return Ok(Difficulty::Random(random_gaps(pairs.len(), seed)));
        }
        Ok(match config.kernel {
            Kernel::Inner => Difficulty::Inner,
            Kernel::Cosine => Difficulty::Cosine(InverseNorms::default()),
            Kernel::Posterior => Difficulty::Posterior(Posterior::default()),
            Kernel::Evidence => {
                let evidence = Evidence::new(threads, graph, pairs, features, config, seed)?;
                Difficulty::Evidence(Box::new(evidence))
            }
            Kernel::Trust => Difficulty::Trust,
        })
    }

    /// Whether the kernel of these settings fits the evidence at every update.
    pub(crate) fn fits(config: &CurriculumConfig) -> bool {
        config.order != Order::Random && config.kernel == Kernel::Evidence
    }

    /// Writes 1 − κ of every pair. Nothing changes where the feedback is refused.
    pub(crate) fn gaps(
        &mut self,
        threads: &Threads,
        nodes: usize,
        pairs: &Pairs,
        feedback: &Feedback<'_>,
        out: &mut [f32],
    ) -> Result<(), CurriculumError> {
        let ends = pairs.ends();
        match self {
            Difficulty::Inner => {
                let z = embeddings(feedback, Kernel::Inner)?;
                z.check(threads, "embeddings", nodes, false)?;
                each_product(
                    threads,
                    out,
                    z,
                    ends,
                    #[inline(always)]
                    |_, _, product| inner::gap(product) as f32,
                );
            }
            Difficulty::Cosine(norms) => {
                let z = embeddings(feedback, Kernel::Cosine)?;
                norms.refresh(threads, z, nodes)?;
                each_product(
                    threads,
                    out,
                    z,
                    ends,
                    #[inline(always)]
                    |i, j, product| norms.gap(i, j, product) as f32,
                );
            }
            Difficulty::Posterior(posterior) => {
                posterior.refresh(threads, outputs(threads, feedback, Kernel::Posterior, nodes)?, nodes);
                each_product(
                    threads,
                    out,
                    posterior.rows(),
                    ends,
                    #[inline(always)]
                    |_, _, product| (1.0 - posterior.agreement(product)) as f32,
                );
            }
            Difficulty::Evidence(evidence) => {
                evidence.gaps(
                    threads,
                    outputs(threads, feedback, Kernel::Evidence, nodes)?,
                    nodes,
                    pairs,
                    out,
                );
            }
            Difficulty::Trust => {
                let missing = CurriculumError::Missing { field: "trust", kernel: Kernel::Trust.name() };
                let genuine = feedback.trust.ok_or(missing)?;
                if genuine.len() != ends.len() {
                    return Err(Refusal::size("trust", genuine.len(), ends.len(), "one for each pair").into());
                }
                if let Some(&found) = genuine.iter().find(|tau| !(0.0..=1.0).contains(*tau)) {
                    return Err(Refusal::new("trust", found, "a number between 0 and 1").into());
                }
                each(threads, out, |pair, _| 1.0 - genuine[pair]);
            }
            Difficulty::Random(gaps) => out.copy_from_slice(gaps),
        }
        Ok(())
    }

    /// Takes what [`Difficulty::gradient_by`] reads: the rows that the gradient is by.
    pub(crate) fn prepare_gradient<'a>(
        &mut self,
        threads: &Threads,
        nodes: usize,
        feedback: &Feedback<'a>,
    ) -> Result<Rows<'a>, CurriculumError> {
        let refuse =
            |found: &'static str, expected: &'static str| Err(Refusal::new("kernel", found, expected).into());
        match self {
            Difficulty::Inner => {
                let z = embeddings(feedback, Kernel::Inner)?;
                z.check(threads, "embeddings", nodes, false)?;
                Ok(z)
            }
            Difficulty::Cosine(norms) => {
                let z = embeddings(feedback, Kernel::Cosine)?;
                norms.refresh(threads, z, nodes)?;
                Ok(z)
            }
            Difficulty::Posterior(posterior) => {
                let outputs = outputs(threads, feedback, Kernel::Posterior, nodes)?;
                let Outputs::ClassLogits(logits) = outputs else {
                    return refuse(
                        "posterior without class logits",
                        "given class logits: the gradient is by them",
                    );
                };
                posterior.refresh(threads, outputs, nodes);
                Ok(logits)
            }
            Difficulty::Evidence(_) => {
                refuse("evidence", "inner, cosine or posterior: a rank has no gradient")
            }
            Difficulty::Trust => {
                refuse("trust", "inner, cosine or posterior: what is told has no gradient by embeddings")
            }
            Difficulty::Random(_) => refuse("random", "inner, cosine or posterior: a rank has no gradient"),
        }
    }

    /// Adds `factor` · ∂R_ij/∂(row of i) to `out`.
    #[inline(always)]
    pub(crate) fn add_gradient(&self, factor: f64, rows: Rows<'_>, i: usize, j: usize, out: &mut [f32]) {
        match self {
            Difficulty::Inner => inner::add_gradient(factor, rows.row(i), rows.row(j), out),
            Difficulty::Cosine(norms) => norms.add_gradient(factor, rows, i, j, out),
            Difficulty::Posterior(posterior) => posterior.add_gradient(factor, i, j, out),
            Difficulty::Evidence(_) | Difficulty::Trust | Difficulty::Random(_) => {}
        }
    }

    pub(crate) fn fit(&self) -> Option<&EvidenceFit> {
        match self {
            Difficulty::Evidence(evidence) => evidence.fit(),
            _ => None,
        }
    }

    pub(crate) fn set_fit(&mut self, fit: Option<EvidenceFit>) {
        if let Difficulty::Evidence(evidence) = self {
            evidence.set_fit(fit);
        }
    }
}

fn embeddings<'a>(feedback: &Feedback<'a>, kernel: Kernel) -> Result<Rows<'a>, CurriculumError> {
    feedback.embeddings.ok_or(CurriculumError::Missing { field: "embeddings", kernel: kernel.name() })
}

fn outputs<'a>(
    threads: &Threads,
    feedback: &Feedback<'a>,
    kernel: Kernel,
    nodes: usize,
) -> Result<Outputs<'a>, CurriculumError> {
    let missing = CurriculumError::Missing { field: "logits or probabilities", kernel: kernel.name() };
    let outputs = feedback.outputs.ok_or(missing)?;
    outputs.check(threads, nodes)?;
    Ok(outputs)
}
