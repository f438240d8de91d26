//! Scores as choices compare them, and as people read them.

use std::collections::BTreeMap;

use edgepace_nn::{CALIBRATION_BINS, Logits, Metric, expected_calibration_error, fit_temperature};
use serde::{Deserialize, Serialize};

use crate::material::{Judge, Material};

/// One metric on both sets of nodes; none where there are none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Of the validation nodes.
    pub validation: Option<f64>,
    /// Of the test nodes.
    pub test: Option<f64>,
}

/// What the calibration error is called among the metrics: of the probabilities as the model gives them, and after its
/// temperature.
const CALIBRATION: &str = "calibration-error";
const CALIBRATED: &str = "calibration-error-calibrated";

/// A metric's score as choices compare it: higher is better.
pub(crate) fn comparable(metric: Metric, score: f64) -> f64 {
    if metric.higher_is_better() { score } else { -score }
}

/// A comparable score as people read it: in percent, or as it is where it is no share.
pub(crate) fn reported(metric: Metric, comparable: f64) -> f64 {
    match metric {
        Metric::LogLoss => -comparable,
        _ => 100.0 * comparable,
    }
}

/// The temperature that validation asks for; none without validation nodes.
pub(crate) fn temperature(material: &Material, logits: &[f32]) -> Option<f64> {
    let labels = material.labels();
    fit_temperature(labels, material.split().validation(), Logits::new(logits, labels.width()))
}

/// Logits after a temperature.
pub(crate) fn calibrated(logits: &[f32], temperature: Option<f64>) -> Vec<f32> {
    let by = temperature.unwrap_or(1.0);
    logits.iter().map(|&logit| (f64::from(logit) / by) as f32).collect()
}

/// Every metric that fits the labels, and the calibration error before and after the temperature, as people read them. Here
/// the judge is asked.
pub(crate) fn all_scores(
    material: &Material,
    judge: &Judge,
    logits: &[f32],
    temperature: Option<f64>,
) -> BTreeMap<String, Scores> {
    let labels = material.labels();
    let nodes = material.split().validation();
    let rows = Logits::new(logits, labels.width());
    let read = |metric, score: Option<f64>| score.map(|score| reported(metric, comparable(metric, score)));
    let fitting = Metric::ALL.into_iter().filter(|metric| metric.fits(labels));
    let mut scores: BTreeMap<String, Scores> = fitting
        .map(|metric| {
            let validation = read(metric, metric.score(labels, nodes, rows));
            let test = read(metric, judge.score(metric, logits));
            (metric.name().to_owned(), Scores { validation, test })
        })
        .collect();
    let percent = |error: Option<f64>| error.map(|error| 100.0 * error);
    let mut insert = |name: &str, logits: &[f32]| {
        let rows = Logits::new(logits, labels.width());
        let validation = percent(expected_calibration_error(labels, nodes, rows, CALIBRATION_BINS));
        let test = percent(judge.calibration_error(logits));
        scores.insert(name.to_owned(), Scores { validation, test });
    };
    insert(CALIBRATION, logits);
    insert(CALIBRATED, &calibrated(logits, temperature));
    scores
}
