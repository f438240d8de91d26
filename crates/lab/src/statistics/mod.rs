//! Numbers over several runs: what they are on average, how sure that is, and whether one method beats another.
//!
//! Tests compare *pairs*: two methods on the same seed, hence the same split and noise. Every function says what it does with
//! values for which its formula is not defined, and none of them panics.

mod compare;
mod friedman;
mod paired;
mod summary;
mod wilcoxon;

pub use compare::{WinTieLoss, holm, win_tie_loss};
pub use friedman::{Friedman, friedman};
pub use paired::{Bootstrap, TestResult, paired_bootstrap, paired_t};
pub use summary::{Summary, mean, standard_deviation};
pub use wilcoxon::wilcoxon;

/// The differences of pairs; none where there is no pair, where one side has more values, or where one is not finite.
fn differences(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let sound = !a.is_empty() && a.len() == b.len() && differences.iter().all(|value| value.is_finite());
    sound.then_some(differences)
}
