//! The end of a run: what is kept of it, what the judge says, and the warnings.

use std::sync::Arc;

use edgepace_graph::Labels;
use edgepace_nn::Metric;

use super::{Finished, Run};
use crate::advice::{of_material, of_period};
use crate::compare::{Comparison, standard_error};
use crate::config::RunConfig;
use crate::error::TrainError;
use crate::ground::Ground;
use crate::material::Judge;
use crate::memory::peak_bytes;
use crate::record::{DataRecord, Kept, RECORD_SCHEMA, RunRecord, RunResult, SearchCost, SplitSizes};
use crate::scoring::{all_scores, reported, temperature};
use crate::spec::{Course, NUMERICS};
use crate::trained::Trained;
use crate::warning::{LARGEST_ERROR, Warning};

/// What is kept of a run, and what it was chosen from.
struct Choice {
    /// With the edges of the method, whatever was kept.
    kept: Trained,
    /// The settings that bring it back.
    recorded: RunConfig,
    part: Kept,
    /// The validation scores of the warm start and of the method, as choices compare them, where there were both.
    validation: [Option<f64>; 2],
    /// The ground of the warm start where it is not that of the run.
    plain_ground: Option<Ground>,
    warnings: Vec<Warning>,
}

impl Run {
    /// Ends the run with what it has and lets the judge see it. `stopped` says why it ends before its time, if it does.
    ///
    /// # Errors
    /// Nothing has been trained yet.
    pub fn finish(mut self, judge: &Judge, stopped: Option<&str>) -> Result<Finished, TrainError> {
        self.end_training()?;
        let (pool, experts) = self.pool_experts(judge)?;
        let Some(choice) = self.choice() else {
            return Err(TrainError::refused("epochs", "0 done", "at least 1"));
        };
        let Choice { kept, recorded, part, validation, plain_ground, warnings: of_choice } = choice;
        let mut warnings = of_material(&self.material, self.spec.config(), &self.threads)?;
        let chooses = self.chooser.chooses();
        let (mut seconds, mut warm_start_seconds) = (self.seconds, self.warm_start_seconds);
        if chooses {
            (seconds, warm_start_seconds) = (seconds + warm_start_seconds, 0.0);
        }
        let split = self.material.split();
        let metric = self.spec.metric();
        let snapshot = &kept.snapshot;
        let temperature = temperature(&self.material, &snapshot.logits);
        let metrics = all_scores(&self.material, judge, &snapshot.logits, temperature);
        let accuracy = metrics.get(Metric::Accuracy.name()).and_then(|scores| scores.validation);
        let error = accuracy.and_then(|accuracy| self.validation_error(accuracy));
        warnings.extend(error.filter(|&error| error > LARGEST_ERROR).map(|standard_error| {
            Warning::SmallValidation { nodes: split.validation().len(), standard_error }
        }));
        warnings.extend(of_choice);
        let read = |score: Option<f64>| score.map(|score| reported(metric, score));
        let result = RunResult {
            id: self.spec.id().to_owned(),
            seed: self.spec.seed(),
            split: split.name().to_owned(),
            split_hash: split.hash().to_owned(),
            split_sizes: Some(SplitSizes {
                train: split.train().len(),
                validation: split.validation().len(),
                test: split.test().len(),
                labelled: self.material.labelled(),
            }),
            test: metrics.get(metric.name()).and_then(|scores| scores.test),
            validation: read(snapshot.validation),
            validation_se: error.filter(|_| metric == Metric::Accuracy),
            kept: part,
            warm_start_validation: read(validation[0]),
            plain_ground,
            method_validation: read(validation[1]),
            best_epoch: snapshot.epoch,
            evaluated_on: snapshot.evaluated_on.clone(),
            chosen: chooses.then(|| kept.label.clone()),
            search: chooses.then(|| SearchCost::of(self.chooser.trials())),
            pool,
            stopped: stopped.map(ToOwned::to_owned),
            features: Some(self.material.used_features(&kept.config)),
            epochs: kept.curve.loss.len() as u32,
            seconds,
            warm_start_seconds,
            peak_bytes: peak_bytes(),
            edges_history: kept.edges_history,
            metric: metric.name().to_owned(),
            temperature,
            metrics,
            warnings,
        };
        let graph = self.material.graph();
        let record = RunRecord {
            schema: RECORD_SCHEMA,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            numerics: NUMERICS,
            data: DataRecord {
                name: self.material.name().to_owned(),
                noise: self.material.noise().to_owned(),
                checksum: self.material.checksum().to_owned(),
                nodes: graph.nodes(),
                edges: graph.edges(),
            },
            config: recorded,
            result,
            history: kept.curve,
            trials: if chooses { self.chooser.trials().to_vec() } else { Vec::new() },
        };
        Ok(Finished { record, config: kept.config, snapshot: kept.snapshot, experts, edges: kept.edges })
    }

    /// What the method made, or its warm start; none where there is neither.
    fn choice(&mut self) -> Option<Choice> {
        let [latest, plain] = [self.plain_to_keep(), self.best_warm_start.take()]
            .map(|warm_start| warm_start.map(|(_, plain)| plain));
        self.warm_starts.clear();
        let Some(mut best) = self.best.take() else {
            let kept = Arc::unwrap_or_clone(latest?);
            return Some(Choice {
                validation: [kept.snapshot.validation, None],
                plain_ground: self.other_ground(&kept),
                recorded: kept.config.clone(),
                kept,
                part: Kept::WarmStart,
                warnings: Vec::new(),
            });
        };
        let mut warnings = self.warnings_of(&best);
        let reported_edges = self.report.take().map(|(_, edges)| edges);
        // A choice among several has plain training among them.
        let plain = plain.filter(|_| self.spec.config().keep.is_some());
        let metric = self.spec.metric();
        let compared = plain
            .as_ref()
            .and_then(|plain| Comparison::new(&self.material, metric, &plain.snapshot, &best.snapshot));
        let plain_kept = self.spec.keeps_best() && compared.is_some_and(|compared| compared.keeps_plain());
        if let Some(compared) = compared.filter(Comparison::is_certain) {
            let points = reported(metric, compared.lead).abs();
            let (metric, orders_edges) = (metric.name().to_owned(), best.edges.is_some());
            warnings.push(Warning::DidNotPay { points, metric, plain_kept, orders_edges });
        }
        let validation =
            plain.as_ref().map_or([None; 2], |plain| [plain.snapshot.validation, best.snapshot.validation]);
        let plain_ground = plain.as_ref().and_then(|plain| self.other_ground(plain));
        let (kept, recorded, part) = match plain.filter(|_| plain_kept) {
            None => {
                best.edges = best.edges.or(reported_edges);
                // Experts of a pool need not have the same features, which a pool's settings leave open.
                let is_pool = matches!(self.spec.course(), Course::Pool { pick: false, .. });
                let recorded = if is_pool { self.spec.config() } else { &best.config }.clone();
                (best, recorded, Kept::Method)
            }
            Some(plain) => {
                // The settings of the run bring it back, plain training and all.
                let recorded = if self.chooser.chooses() { plain.config.clone() } else { best.config };
                let (edges, edges_history) = (best.edges.or(reported_edges), best.edges_history);
                let kept = Trained { edges, edges_history, ..Arc::unwrap_or_clone(plain) };
                (kept, recorded, Kept::WarmStart)
            }
        };
        Some(Choice { kept, recorded, part, validation, plain_ground, warnings })
    }

    /// The ground of a training where it is not that of the run.
    fn other_ground(&self, trained: &Trained) -> Option<Ground> {
        let ground = trained.config.stands_on();
        (ground != self.spec.config().stands_on()).then_some(ground)
    }

    /// What there is to say of how the method let edges in.
    fn warnings_of(&self, best: &Trained) -> Vec<Warning> {
        if matches!(self.spec.course(), Course::Pool { pick: false, .. }) {
            // One expert's edges are not all that a pool has learned from.
            return Vec::new();
        }
        let history = &best.edges_history;
        let never = self.material.graph().edges() > 0
            && history.first().is_some_and(|&(epoch, _)| epoch == 0)
            && history.iter().all(|&(_, edges)| edges == 0);
        let never = never.then_some(Warning::NoEdgeEverIn { epochs: best.curve.loss.len() as u32 });
        of_period(&best.config).into_iter().chain(never).collect()
    }

    /// The standard error of an accuracy on validation, both in percent; none where nodes have many labels.
    fn validation_error(&self, accuracy: f64) -> Option<f64> {
        match **self.material.labels() {
            Labels::Classes(_) => {
                Some(100.0 * standard_error(accuracy / 100.0, self.material.split().validation().len()))
            }
            Labels::Many(_) => None,
        }
    }
}
