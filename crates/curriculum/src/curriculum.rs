use std::sync::Arc;

use edgepace_graph::{Features, Graph, Refusal, Threads, Transpose, WeightedGraph};

use crate::config::{Confidence, CurriculumConfig, MaskForm, Pace, ResidualTerm};
use crate::each::{PIECE, each, each_piece, pieces};
use crate::evidence::check_rows;
use crate::feedback::Feedback;
use crate::history::{History, NEVER, UpdateRecord};
use crate::kernel::Difficulty;
use crate::mask::{self, Steps, is_in};
use crate::{CurriculumError, EvidenceFit, Objective, Pairs, State, gradient, pace, weights};

/// Decides which edges are in, when, and with which weight.
///
/// Feed it what the model makes of the nodes whenever an update is [due](Curriculum::due), and train on
/// [`Curriculum::weights`]. Before the first update no edge is in.
///
/// An update costs O(edges · width) and allocates nothing after the first one, when it runs inside [`Threads::run`]
/// (outside, the way to the threads does). Results are the same bits on any number of threads.
#[derive(Debug)]
pub struct Curriculum {
    threads: Threads,
    graph: Arc<Graph>,
    config: CurriculumConfig,
    epochs: usize,
    seed: u64,
    pairs: Pairs,
    difficulty: Difficulty,
    /// The edges by source, for the gradient in a graph without twins.
    outgoing: Option<Transpose>,

    // Memory, per pair but for `rho`, per node.
    lambda: f64,
    gaps: Vec<f32>,
    residuals: Vec<f32>,
    mask: Vec<f32>,
    /// Of the form `adam` alone.
    steps: Vec<Steps>,
    selected: Vec<bool>,
    times_in: Vec<u32>,
    first_epoch: Vec<u32>,
    rho: Vec<f32>,
    updates: Vec<UpdateRecord>,

    // What follows from the memory.
    pair_weights: Vec<f32>,
    weights: Vec<f32>,
    evaluation_weights: Vec<f32>,

    // Scratch.
    thresholds: Vec<f32>,
    partial: Vec<Partial>,
}

/// What a piece of pairs adds to an update's record.
#[derive(Debug, Clone, Copy, Default)]
struct Partial {
    before: Objective,
    after: Objective,
    selected: usize,
}

impl Curriculum {
    /// A curriculum over `epochs` epochs, which uses `threads` now and at every update. `features` are for the evidence kernel, which does without them where they are
    /// not given; `seed` is for its non-edges and for the random order.
    ///
    /// What edges weigh by themselves, the evidence kernel reads as strength of neighbourhoods. The weights that come out are the
    /// curriculum's alone: whoever trains multiplies both.
    ///
    /// # Errors
    /// Settings that [`CurriculumConfig::check`] refuses, no epochs, or features of another graph.
    pub fn new(
        threads: &Threads,
        graph: impl Into<WeightedGraph>,
        features: Option<&Features>,
        config: &CurriculumConfig,
        epochs: usize,
        seed: u64,
    ) -> Result<Curriculum, CurriculumError> {
        config.check()?;
        if epochs == 0 || u32::try_from(epochs).is_err() {
            let expected = "between 1 and 4294967295";
            return Err(Refusal::new("epochs", epochs, expected).into());
        }
        let weighted = graph.into();
        let graph = Arc::clone(weighted.graph());
        if let Some(features) = features {
            check_rows(&graph, features)?;
        }
        let pairs = Pairs::new(&graph);
        let difficulty = Difficulty::new(threads, &weighted, &pairs, features, config, seed)?;
        let wants_gradient = config.residual_term != ResidualTerm::Off;
        let outgoing = (wants_gradient && graph.twins().is_none()).then(|| graph.transpose());
        let (nodes, edges, count) = (graph.nodes(), graph.edges(), pairs.len());
        Ok(Curriculum {
            threads: threads.clone(),
            graph,
            config: config.clone(),
            epochs,
            seed,
            pairs,
            difficulty,
            outgoing,
            lambda: pace::lambda_steps(config, epochs).0,
            gaps: vec![0.0; count],
            residuals: vec![0.0; count],
            mask: vec![0.0; count],
            steps: vec![Steps::default(); if config.mask == MaskForm::Adam { count } else { 0 }],
            selected: vec![false; count],
            times_in: vec![0; count],
            first_epoch: vec![NEVER; count],
            rho: vec![1.0; nodes],
            updates: Vec::with_capacity((epochs / config.period + 2).min(1 << 16)),
            pair_weights: vec![0.0; count],
            weights: vec![0.0; edges],
            evaluation_weights: vec![0.0; edges],
            thresholds: Vec::new(),
            partial: vec![Partial::default(); pieces(count)],
        })
    }

    /// Whether an update is due before epoch `epoch` is trained; epochs count from 0, and the first update is before the
    /// first epoch.
    pub fn due(&self, epoch: usize) -> bool {
        epoch.is_multiple_of(self.config.period)
    }

    /// One update: new residuals from the feedback, a new mask, new weights. `epoch` is the number of epochs trained so
    /// far, which is t of the paces.
    ///
    /// # Errors
    /// Feedback that lacks what the kernel reads, has a wrong size or a number that is not finite. The error names the
    /// node, and the curriculum stays as it was.
    pub fn update(&mut self, epoch: usize, feedback: &Feedback<'_>) -> Result<(), CurriculumError> {
        let (threads, nodes) = (&self.threads, self.graph.nodes());
        let (config, first) = (&self.config, self.updates.is_empty());
        // All checks come before the first change: the losses are checked here, the rest inside `gaps`.
        let takes_losses = match config.confidence {
            Confidence::Off => false,
            Confidence::Once => first,
            Confidence::Always => true,
        };
        if let (true, Some((nodes, losses))) = (takes_losses, feedback.losses) {
            weights::check(nodes, losses, self.rho.len())?;
        }
        self.thresholds.resize(self.pairs.len(), 0.0);
        self.difficulty.gaps(threads, nodes, &self.pairs, feedback, &mut self.thresholds)?;
        if let (true, Some((nodes, losses))) = (takes_losses, feedback.losses) {
            weights::confidence(nodes, losses, &mut self.rho);
        }

        let past = if first { 0.0 } else { config.average };
        let fresh = &self.thresholds;
        let columns = (&mut self.gaps[..], &mut self.residuals[..]);
        threads.columns(columns, PIECE, |first, (gaps, residuals)| {
            for ((gap, residual), &fresh) in gaps.iter_mut().zip(residuals).zip(&fresh[first..]) {
                *gap = (past * f64::from(*gap) + (1.0 - past) * f64::from(fresh)) as f32;
                *residual = (f64::from(*gap) * f64::from(*gap)) as f32;
            }
        });

        let lambda = match (config.pace, pace::share(config, epoch, self.epochs)) {
            (_, Some(share)) => pace::lambda_of_share(
                threads,
                config,
                share,
                &self.residuals,
                &self.mask,
                &mut self.thresholds,
            ),
            (Pace::Official, None) => match config.lambda_start {
                Some(start) if first => start,
                _ => pace::official(config, epoch, self.epochs),
            },
            _ => self.lambda,
        };
        self.step(epoch, lambda);
        self.reweigh();
        Ok(())
    }

    /// The S-step, and what the history keeps of it.
    fn step(&mut self, epoch: usize, lambda: f64) {
        let (config, residuals, updates) = (&self.config, &self.residuals, self.updates.len());
        each(&self.threads, &mut self.steps, |pair, steps| {
            steps.ten_more(config.beta * f64::from(residuals[pair]) - lambda, updates)
        });
        let twice = self.pairs.edges_per_pair();
        let mut update = UpdateRecord {
            epoch: u32::try_from(epoch).unwrap_or(NEVER - 1),
            lambda,
            selected: 0,
            before: Objective::default(),
            after: Objective::default(),
        };
        let (by_steps, steps) = (config.mask == MaskForm::Adam, &self.steps);
        let decisions = (&mut self.mask[..], &mut self.selected[..]);
        let history = (&mut self.times_in[..], &mut self.first_epoch[..]);
        each_piece(
            &self.threads,
            (decisions, history),
            &mut self.partial,
            #[inline(always)]
            |first, ((mask, selected), (times, first_epoch)), sums: &mut Partial| {
                let residuals = &residuals[first..];
                for (at, (s, selected)) in mask.iter_mut().zip(&mut *selected).enumerate() {
                    let (residual, previous) = (residuals[at], *s);
                    (*s, *selected) = if by_steps {
                        (steps[first + at].mask, steps[first + at].is_in())
                    } else {
                        let selected = is_in(config, lambda, residual, previous);
                        (mask::mask(config, lambda, residual, previous), selected)
                    };
                    sums.before.add(config, lambda, residual, previous, previous);
                    sums.after.add(config, lambda, residual, previous, *s);
                    sums.selected += usize::from(*selected);
                }
                for (times, &selected) in times.iter_mut().zip(&*selected) {
                    *times += u32::from(selected);
                }
                for (first, &selected) in first_epoch.iter_mut().zip(&*selected) {
                    *first = if *first == NEVER && selected { update.epoch } else { *first };
                }
            },
        );
        for partial in &self.partial {
            update.before = update.before.plus(&partial.before, twice as f64);
            update.after = update.after.plus(&partial.after, twice as f64);
            update.selected += twice * partial.selected;
        }
        if config.pace == Pace::Lambda {
            // Algorithm 1 raises λ until the structure is the input. Then λ is as if it had grown on for ever, so that
            // a residual that grows later does not throw an edge out again.
            self.lambda = if update.selected == self.graph.edges() {
                lambda.max(pace::enough(config))
            } else {
                lambda + pace::lambda_steps(config, self.epochs).1
            };
        }
        self.updates.push(update);
    }

    /// The weights that follow from times, confidence and selection.
    fn reweigh(&mut self) {
        let updates = self.updates.len().max(1) as f64;
        let (smooth, times, rho, ends) = (self.config.smooth, &self.times_in, &self.rho, self.pairs.ends());
        let (selected, gaps, sharpness) = (&self.selected, &self.gaps, self.config.sharpness);
        each(
            &self.threads,
            &mut self.pair_weights,
            #[inline(always)]
            |pair, _| {
                let psi = if smooth {
                    f64::from(times[pair]) / updates
                } else {
                    f64::from(u8::from(selected[pair]))
                };
                let by_expectation = weights::sharpened(1.0 - f64::from(gaps[pair]), sharpness);
                weights::weight(psi * by_expectation, rho, ends[pair])
            },
        );
        let (pair_of, pair_weights) = (self.pairs.pair_of(), &self.pair_weights);
        let columns = (&mut self.evaluation_weights[..], &mut self.weights[..]);
        self.threads.columns(columns, PIECE, |first, (evaluation, weights)| {
            for ((evaluation, weight), &pair) in evaluation.iter_mut().zip(weights).zip(&pair_of[first..]) {
                *evaluation = pair_weights[pair as usize];
                *weight = if selected[pair as usize] { *evaluation } else { 0.0 };
            }
        });
    }

    /// Sets `out` to the gradient of β Σ S R (by [`CurriculumConfig::residual_term`] the mean or the sum over directed
    /// edges) by the embeddings, or for the kernel `posterior` by the class logits. One row per
    /// node, as in the feedback. S is the mask of the last update, R belongs to the feedback (no moving average).
    ///
    /// # Errors
    /// A kernel without gradient, `residual_term` off, or feedback as [`Curriculum::update`] refuses it.
    pub fn residual_gradient(
        &mut self,
        feedback: &Feedback<'_>,
        out: &mut [f32],
    ) -> Result<(), CurriculumError> {
        let edges = self.graph.edges().max(1) as f64;
        let factor = match self.config.residual_term {
            ResidualTerm::Mean => self.config.beta / edges,
            ResidualTerm::Sum => self.config.beta,
            ResidualTerm::Off => {
                let (field, expected) = ("residual_term", "mean or sum for a gradient");
                return Err(Refusal::new(field, "off", expected).into());
            }
        };
        let values = self.difficulty.prepare_gradient(&self.threads, self.graph.nodes(), feedback)?;
        if out.len() != values.values.len() {
            let (found, expected) = (out.len(), values.values.len());
            let reason = "as many as embeddings or logits";
            return Err(Refusal::size("gradient", found, expected, reason).into());
        }
        gradient::residual_gradient(
            &self.threads,
            (&self.graph, self.outgoing.as_ref()),
            &self.pairs,
            &self.mask,
            factor,
            (&self.difficulty, values),
            out,
        );
        Ok(())
    }

    /// The weight to train with, by edge id: π of edges that are in, 0 of the others. Twins have the same weight.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// π of all edges by edge id, whether they are in or not: the evaluation graph `weighted`.
    pub fn evaluation_weights(&self) -> &[f32] {
        &self.evaluation_weights
    }

    /// Number of directed edges that are in.
    pub fn selected(&self) -> usize {
        self.updates.last().map_or(0, |update| update.selected)
    }

    /// Whether each pair is in.
    pub fn selected_pairs(&self) -> &[bool] {
        &self.selected
    }

    /// R of each pair, as of the last update.
    pub fn residuals(&self) -> &[f32] {
        &self.residuals
    }

    /// S of each pair.
    pub fn mask(&self) -> &[f32] {
        &self.mask
    }

    /// ρ of each node.
    pub fn confidence(&self) -> &[f32] {
        &self.rho
    }

    /// The undirected edges about which decisions are made.
    pub fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// The settings.
    pub fn config(&self) -> &CurriculumConfig {
        &self.config
    }

    /// What became of each pair and update.
    pub fn history(&self) -> History<'_> {
        History {
            first_epoch: &self.first_epoch,
            times_in: &self.times_in,
            residuals: &self.residuals,
            weights: &self.pair_weights,
            updates: &self.updates,
        }
    }

    /// The S-part of the joint objective after the last update; `None` before the first.
    pub fn objective(&self) -> Option<Objective> {
        self.updates.last().map(|update| update.after)
    }

    /// What the evidence kernel found at the last update; `None` for other kernels and before the first update.
    pub fn evidence(&self) -> Option<&EvidenceFit> {
        self.difficulty.fit()
    }

    /// All that is needed to continue later, to the same bits.
    pub fn save(&self) -> State {
        State {
            config: self.config.clone(),
            epochs: self.epochs,
            seed: self.seed,
            lambda: self.lambda,
            gaps: self.gaps.clone(),
            residuals: self.residuals.clone(),
            mask: self.mask.clone(),
            steps: self.steps.clone(),
            selected: self.selected.clone(),
            times_in: self.times_in.clone(),
            first_epoch: self.first_epoch.clone(),
            confidence: self.rho.clone(),
            evidence: self.evidence().copied(),
            updates: self.updates.clone(),
        }
    }

    /// Goes back to a saved state, of a curriculum with the same graph, features, config, epochs and seed.
    ///
    /// # Errors
    /// A state of another curriculum or a damaged one; the curriculum stays as it was.
    pub fn restore(&mut self, state: &State) -> Result<(), CurriculumError> {
        let sizes = (self.pairs.len(), self.graph.nodes());
        state.check(&self.config, (self.epochs, self.seed), sizes)?;
        self.lambda = state.lambda;
        self.gaps.copy_from_slice(&state.gaps);
        self.residuals.copy_from_slice(&state.residuals);
        self.mask.copy_from_slice(&state.mask);
        self.steps.copy_from_slice(&state.steps);
        self.selected.copy_from_slice(&state.selected);
        self.times_in.copy_from_slice(&state.times_in);
        self.first_epoch.copy_from_slice(&state.first_epoch);
        self.rho.copy_from_slice(&state.confidence);
        self.difficulty.set_fit(state.evidence);
        self.updates.clone_from(&state.updates);
        if self.updates.is_empty() {
            self.pair_weights.fill(0.0);
            self.weights.fill(0.0);
            self.evaluation_weights.fill(0.0);
        } else {
            self.reweigh();
        }
        Ok(())
    }
}
