//! The end of a run whose experts answer together: the pool, or the one that is picked.

use super::Run;
use crate::compare::Comparison;
use crate::config::RunConfig;
use crate::error::TrainError;
use crate::material::Judge;
use crate::pool::{Expert, Pool, PooledExpert};
use crate::scoring::{comparable, reported};
use crate::snapshot::Snapshot;
use crate::spec::{Course, RunSpec};
use crate::trained::Trained;

impl Run {
    /// Makes what is kept of the experts, where there are any. Says how much each counts in it, and which of them answer for other
    /// nodes.
    pub(super) fn pool_experts(
        &mut self,
        judge: &Judge,
    ) -> Result<(Vec<Expert>, Vec<PooledExpert>), TrainError> {
        let Course::Pool { pick, .. } = *self.spec.course() else { return Ok((Vec::new(), Vec::new())) };
        let experts = std::mem::take(&mut self.experts);
        if experts.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let metric = self.spec.metric();
        let logits: Vec<&[f32]> = experts.iter().map(|expert| &expert.snapshot.logits[..]).collect();
        let mut pool = Pool::new(&self.threads, &self.material, metric, &logits);
        let picked = pick.then(|| self.simplest(&experts));
        let weight = |number: usize| match picked {
            None => pool.weights[number],
            Some(picked) => f64::from(u8::from(number == picked)),
        };
        let read = |score: f64| reported(metric, score);
        let said = |(number, expert): (usize, &Trained)| Expert {
            expert: expert.label.clone(),
            weight: weight(number),
            validation: expert.snapshot.validation.map(read),
            test: judge.score(metric, &expert.snapshot.logits).map(|score| read(comparable(metric, score))),
        };
        let records: Vec<Expert> = experts.iter().enumerate().map(said).collect();
        if let Some(picked) = picked {
            self.best = experts.into_iter().nth(picked);
            return Ok((records, Vec::new()));
        }
        let order = |one: &usize, other: &usize| pool.weights[*one].total_cmp(&pool.weights[*other]);
        // How the training of the expert went that counts most, and how the one let edges in that orders them.
        let most = (0..experts.len()).rev().max_by(order).unwrap_or(0);
        let largest = &experts[most];
        let ordered = experts.iter().find(|expert| expert.edges.is_some()).unwrap_or(largest);
        self.best = Some(Trained {
            label: "pool".to_owned(),
            config: RunConfig { features: experts[0].config.features, ..self.spec.config().clone() },
            snapshot: Snapshot {
                epoch: largest.snapshot.epoch,
                validation: pool.validation,
                evaluated_on: "pool".to_owned(),
                logits: std::mem::take(&mut pool.logits),
                ..Snapshot::default()
            },
            edges: ordered.edges.clone(),
            curve: largest.curve.clone(),
            edges_history: ordered.edges_history.clone(),
        });
        Ok((records, self.for_other_nodes(experts, &pool)?))
    }

    /// Those of a pool that are needed to answer for other nodes: all that count, and those that these begin with. What knows the
    /// labels of its own graph alone is left out; the weights of the others stay as they are. None where nothing else counts, or
    /// where one of the others cannot answer.
    fn for_other_nodes(&self, experts: Vec<Trained>, pool: &Pool) -> Result<Vec<PooledExpert>, TrainError> {
        let Course::Pool { experts: specs, .. } = self.spec.course() else { return Ok(Vec::new()) };
        let first = |number: usize| -> Result<Option<usize>, TrainError> {
            if experts[number].snapshot.beliefs.is_none() {
                return Ok(None);
            }
            let warm_start = specs[number].1.warm_starts()?.pop();
            Ok(specs[..number]
                .iter()
                .position(|(_, spec)| Some(spec.id()) == warm_start.as_ref().map(RunSpec::id)))
        };
        let begins_with = (0..experts.len()).map(first).collect::<Result<Vec<_>, _>>()?;
        let knows_labels_alone = |number: usize| experts[number].config.method == "label-propagation";
        // Where no expert counts at all, one of them stands for the answer that all classes are as likely.
        let none_counts = pool.weights.iter().all(|&weight| weight == 0.0);
        let counts = |number: usize| {
            let counts = pool.weights[number] > 0.0 || (none_counts && number == 0);
            counts && !knows_labels_alone(number)
        };
        let is_needed = |number: usize| {
            let begins = |other: usize| counts(other) && begins_with[other] == Some(number);
            counts(number) || (0..experts.len()).any(begins)
        };
        let needed: Vec<usize> = (0..experts.len()).filter(|&number| is_needed(number)).collect();
        let can_answer = |&number: &usize| {
            begins_with[number].is_some() || !experts[number].snapshot.parameters.is_empty()
        };
        if !needed.iter().all(can_answer) || !self.spec.config().features_from.fits_new_nodes() {
            return Ok(Vec::new());
        }
        let place = |number: usize| needed.iter().position(|&one| one == number);
        let pooled = |(number, expert): (usize, Trained)| PooledExpert {
            name: expert.label,
            weight: pool.weights[number],
            calibration: pool.calibrations[number],
            config: expert.config,
            snapshot: Snapshot { logits: Vec::new(), ..expert.snapshot },
            begins_with: begins_with[number].and_then(place),
        };
        let answering = experts.into_iter().enumerate().filter(|(number, _)| needed.contains(number));
        Ok(answering.map(pooled).collect())
    }

    /// The first expert, which is the simplest, that validates within one standard error of the best.
    fn simplest(&self, experts: &[Trained]) -> usize {
        let metric = self.spec.metric();
        let score = |expert: &Trained| expert.snapshot.validation.unwrap_or(f64::NEG_INFINITY);
        let best = experts.iter().max_by(|one, other| score(one).total_cmp(&score(other)));
        let as_good = |expert: &&Trained| {
            best.is_none_or(|best| {
                Comparison::new(&self.material, metric, &expert.snapshot, &best.snapshot)
                    .is_none_or(|compared| compared.keeps_plain())
            })
        };
        experts.iter().position(|expert| as_good(&expert)).unwrap_or(0)
    }
}
