//! The loop: written once, for every method.

use crate::error::TrainError;
use crate::event::{Event, Listener, Phase};
use crate::method::{Kept, Method};
use crate::session::Session;

/// The epoch of the best validation score, and what the model was then.
pub struct Best {
    /// From 0.
    pub epoch: u32,
    /// Validation score; none without validation nodes, where the last epoch counts.
    pub validation: Option<f64>,
    /// The name of the structure that it was evaluated on.
    pub evaluated_on: &'static str,
    /// All parameters of the model.
    pub parameters: Vec<f32>,
    /// That structure.
    pub structure: Kept,
    /// The logits of all nodes, nodes × outputs.
    pub logits: Vec<f32>,
}

/// What training left behind.
pub(crate) struct Fitted {
    pub(crate) best: Best,
    /// The directed edges in the training structure, at each change.
    pub(crate) edges_history: Vec<(u32, usize)>,
    pub(crate) epochs: u32,
}

/// Trains with `method` and keeps the epoch of best validation.
pub(crate) fn fit(
    session: &mut Session<'_>,
    method: &mut dyn Method,
    phase: Phase,
    listener: &mut dyn Listener,
) -> Result<Fitted, TrainError> {
    let epochs = session.config.epochs;
    let mut best: Option<Best> = None;
    let mut edges_history = Vec::new();
    let mut done = 0;
    let mut stopped = false;
    for epoch in 0..epochs {
        if let Some(update) = method.before(epoch, session)? {
            edges_history.push((epoch, update.edges));
            stopped |=
                !listener.on(&Event::Update { epoch, edges: update.edges, objective: update.objective });
        }
        let loss = method.step(epoch, session)?;
        method.after(epoch, session)?;
        let validation = evaluate(session, method, epoch, &mut best)?;
        done = epoch + 1;
        let edges = method.edges_in(session);
        // A structure that is learned changes in the step itself.
        if edges != edges_history.last().map_or(session.graph.edges(), |&(_, edges)| edges) {
            edges_history.push((epoch, edges));
        }
        stopped |= !listener.on(&Event::Epoch { phase, epoch, epochs, loss, validation, edges });
        let best_epoch = best.as_ref().map_or(epoch, |best| best.epoch);
        let patience = session.config.patience;
        if stopped || (patience > 0 && epoch - best_epoch >= patience) {
            break;
        }
    }
    let best = best.ok_or_else(|| TrainError::Config {
        field: "epochs".into(),
        found: "0".into(),
        expected: "at least 1".into(),
    })?;
    Ok(Fitted { best, edges_history, epochs: done })
}

/// Evaluates on every structure that the method names; returns the better validation score of this epoch.
fn evaluate(
    session: &mut Session<'_>,
    method: &dyn Method,
    epoch: u32,
    best: &mut Option<Best>,
) -> Result<Option<f64>, TrainError> {
    let mut of_epoch = None;
    for on in method.evaluated_on() {
        let validation = session.model.on(on.structure).score(&session.known, session.validation)?;
        of_epoch = of_epoch.max_by_score(validation);
        let better = best.as_ref().is_none_or(|best| match (validation, best.validation) {
            (Some(new), Some(old)) => new > old,
            (Some(_) | None, None) => true,
            (None, Some(_)) => false,
        });
        if better {
            let kept = best.take();
            let (mut parameters, mut logits, matrix) = kept.map_or_else(Default::default, |kept| {
                (kept.parameters, kept.logits, kept.structure.matrix.unwrap_or_default())
            });
            session.model.evaluate().copy_logits(&mut logits);
            parameters.clear();
            parameters.extend_from_slice(session.model.parameter_values());
            let mut structure = method.kept(on);
            if let Some(now) = session.model.matrix() {
                let mut matrix = matrix;
                matrix.clear();
                matrix.extend_from_slice(now);
                structure.matrix = Some(matrix);
            }
            *best = Some(Best { epoch, validation, evaluated_on: on.name, parameters, structure, logits });
        }
    }
    Ok(of_epoch)
}

trait MaxByScore {
    fn max_by_score(self, other: Self) -> Self;
}

impl MaxByScore for Option<f64> {
    fn max_by_score(self, other: Self) -> Self {
        match (self, other) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }
}
