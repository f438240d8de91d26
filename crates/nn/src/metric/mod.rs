//! How good a model is, as one number: each metric is a value that a caller can name, parse and hand on.
//!
//! One file per metric, with its formula. All read the logits of the nodes that are scored and of no other.

pub(crate) mod accuracy;
mod balanced_accuracy;
mod calibration;
mod counts;
mod log_loss;
mod macro_f1;
mod roc_auc;
mod temperature;

use std::fmt;
use std::str::FromStr;

use edgepace_graph::{Labels, Refusal, Threads};

use crate::error::NnError;
use crate::real::Real;

pub use calibration::{CALIBRATION_BINS, expected_calibration_error};
pub use roc_auc::roc_auc;
pub use temperature::fit_temperature;

/// A way to say how good a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Share of nodes whose class is predicted; of many labels the mean over labels. In [0, 1].
    Accuracy,
    /// Mean F1 score of the classes or labels. In [0, 1].
    MacroF1,
    /// Mean recall of the classes; of many labels the mean over labels. In [0, 1].
    BalancedAccuracy,
    /// Area under the ROC curve, mean over the classes or labels. In [0, 1].
    RocAuc,
    /// Mean cross-entropy in nats: at least 0, and lower is better.
    LogLoss,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 5] =
        [Self::Accuracy, Self::MacroF1, Self::BalancedAccuracy, Self::RocAuc, Self::LogLoss];

    /// Its name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::MacroF1 => "macro-f1",
            Self::BalancedAccuracy => "balanced-accuracy",
            Self::RocAuc => "roc-auc",
            Self::LogLoss => "log-loss",
        }
    }

    /// Whether a better model has the higher score.
    pub fn higher_is_better(self) -> bool {
        self != Self::LogLoss
    }

    /// Whether it can tell models apart on such labels: each needs a class or label, and ROC-AUC, which ranks nodes of
    /// one class against those of others, needs two classes.
    pub fn fits(self, labels: &Labels) -> bool {
        match labels {
            Labels::Classes(classes) if self == Self::RocAuc => classes.width() > 1,
            _ => labels.width() > 0,
        }
    }

    /// What papers report on such labels: accuracy of classes, ROC-AUC of many labels.
    pub fn default_for(labels: &Labels) -> Self {
        match labels {
            Labels::Classes(_) => Self::Accuracy,
            Labels::Many(_) => Self::RocAuc,
        }
    }

    /// The score of `nodes`; `None` where it is not defined: without nodes, or for ROC-AUC where no class or label
    /// separates them.
    ///
    /// # Panics
    /// When a node has no label or logits, or the labels are not as wide as the logits, as indexing does.
    /// [`Model::score`](crate::Model::score) and [`Evaluation::score`](crate::Evaluation::score) check that.
    pub fn score<T: Real>(self, labels: &Labels, nodes: &[u32], logits: Logits<'_, T>) -> Option<f64> {
        match self {
            Self::Accuracy => accuracy::accuracy(labels, nodes, logits),
            Self::MacroF1 => macro_f1::macro_f1(labels, nodes, logits),
            Self::BalancedAccuracy => balanced_accuracy::balanced_accuracy(labels, nodes, logits),
            Self::RocAuc => roc_auc::mean_roc_auc(labels, nodes, logits),
            Self::LogLoss => log_loss::log_loss(labels, nodes, logits),
        }
    }

    /// [`Metric::score`] to the same bits, on several threads where that is worth it.
    ///
    /// # Panics
    /// As [`Metric::score`] does.
    pub fn score_on<T: Real>(
        self,
        threads: &Threads,
        labels: &Labels,
        nodes: &[u32],
        logits: Logits<'_, T>,
    ) -> Option<f64> {
        match self {
            Self::LogLoss => log_loss::log_loss_on(threads, labels, nodes, logits),
            _ => self.score(labels, nodes, logits),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Metric {
    type Err = NnError;

    fn from_str(name: &str) -> Result<Self, NnError> {
        Self::ALL
            .into_iter()
            .find(|metric| metric.name() == name)
            .ok_or_else(|| Refusal::unknown("metric", name, "a metric", Self::ALL.map(Metric::name)).into())
    }
}

/// The logits of all nodes: one row per node, of which the first `outputs` numbers count.
#[derive(Clone, Copy, Debug)]
pub struct Logits<'a, T> {
    /// Row after row.
    pub(crate) values: &'a [T],
    /// Numbers from one row to the next.
    pub(crate) stride: usize,
    pub(crate) outputs: usize,
}

impl<'a, T: Real> Logits<'a, T> {
    /// Rows that follow each other without a gap, each with a logit per class or label.
    pub fn new(values: &'a [T], outputs: usize) -> Self {
        Self { values, stride: outputs, outputs }
    }

    /// Number of logits per node: classes, or labels.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The logits of a node.
    ///
    /// # Panics
    /// When there is no such node, as indexing does.
    pub fn of(&self, node: usize) -> &'a [T] {
        &self.values[node * self.stride..][..self.outputs]
    }
}

/// The mean, or `None` of no numbers.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (total, count) = values.fold((0.0, 0_usize), |(total, count), value| (total + value, count + 1));
    (count > 0).then(|| total / count as f64)
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, ManyLabels};

    use super::*;

    #[test]
    fn a_metric_is_parsed_from_its_name() {
        for metric in Metric::ALL {
            assert_eq!(metric.to_string().parse::<Metric>().unwrap(), metric);
        }
        let error = "f1".parse::<Metric>().unwrap_err().to_string();
        for metric in Metric::ALL {
            assert!(error.contains(metric.name()), "{error}");
        }
        assert!(error.contains("`f1`"), "{error}");
    }

    #[test]
    fn only_of_log_loss_less_is_better() {
        let lower: Vec<Metric> =
            Metric::ALL.into_iter().filter(|metric| !metric.higher_is_better()).collect();
        assert_eq!(lower, [Metric::LogLoss]);
    }

    #[test]
    fn only_roc_auc_needs_two_classes() {
        let fitting = |labels: Labels| Metric::ALL.into_iter().filter(move |metric| metric.fits(&labels));
        assert_eq!(fitting(Classes::new(2, vec![0, 1]).unwrap().into()).count(), 5);
        assert!(fitting(Classes::new(1, vec![0, 0]).unwrap().into()).all(|metric| metric != Metric::RocAuc));
        assert_eq!(fitting(ManyLabels::new(2, 1, vec![0, 1]).unwrap().into()).count(), 5);
        assert_eq!(fitting(ManyLabels::new(2, 0, vec![]).unwrap().into()).count(), 0);
    }
}
