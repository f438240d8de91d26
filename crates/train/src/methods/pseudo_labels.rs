//! Pseudo-labels (Lee, 2013): a network learns from nodes without a label, too, and takes for one what belief propagation says of
//! them.
//!
//! With p the probability of the likeliest class of a node, calibrated on validation, the node counts share · p³ beside a training
//! node's 1: what is said with certainty counts, and what is little more than a guess hardly does. Where beliefs are no good, the
//! calibration says so. Labels of validation nodes serve for calibration, and for the epoch of the network that beliefs begin
//! with; those of test nodes for nothing.

use std::sync::Arc;

use edgepace_graph::bytes::{array, total};
use edgepace_graph::{Classes, Labels};
use edgepace_nn::{Task, argmax};

use crate::calibration::{Answers, Calibration};
use crate::error::TrainError;
use crate::learner::Start;
use crate::material::Material;
use crate::methods::belief;

/// How much less a node counts the less is known of it.
const CAUTION: f64 = 3.0;

/// What a network is trained for that learns from beliefs, which begin with the warm start; none where it does not.
///
/// # Errors
/// Nodes of many labels, or no warm start.
pub(crate) fn task(start: &Start<'_>) -> Result<Option<Task<f32>>, TrainError> {
    let &Start { material, config, threads, .. } = start;
    let share = config.pseudo_labels();
    let Labels::Classes(classes) = &**material.labels() else { return Ok(None) };
    if share == 0.0 {
        return Ok(None);
    }
    let said = belief::log_probabilities(material, &start.warm_start()?.logits, threads)?;
    let (labels, split) = (material.labels(), material.split());
    let calibration = Calibration::fit(labels, split.validation(), &said);
    let said = calibration.log_probabilities(Answers::of(labels), &said);
    let (mut of, mut weights): (Vec<u32>, Vec<f32>) = said
        .chunks_exact(classes.width())
        .map(|row| {
            let class = argmax(row);
            (class as u32, (share * libm::exp(CAUTION * row[class])) as f32)
        })
        .unzip();
    for &node in split.train() {
        of[node as usize] = classes.of()[node as usize];
        weights[node as usize] = 1.0;
    }
    let labels = Arc::new(Labels::from(Classes::new(classes.width(), of)?));
    Ok(Some(Task::weighted(labels, weights)?.smoothed(config.label_smoothing)?))
}

/// The bytes of the labels and of how much nodes count.
pub(crate) fn bytes(material: &Material) -> u64 {
    array::<u32>(&[2, material.graph().nodes()])
}

/// The bytes while they are made, before there is a network: messages, and what they say.
pub(crate) fn making_bytes(material: &Material) -> u64 {
    let said = array::<f32>(&[material.graph().nodes(), material.labels().width()]);
    total([belief::message_bytes(material), said])
}
