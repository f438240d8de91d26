//! The signed-rank test of Wilcoxon.

use statrs::distribution::{ContinuousCDF as _, Normal};

use super::differences;
use super::paired::TestResult;

/// Up to so many differences that are not 0, the distribution of the statistic is counted out.
const EXACT: usize = 50;

/// Wilcoxon's signed-rank test of paired values, two-sided. The statistic is the smaller of the sums of ranks of positive and
/// of negative differences.
///
/// Differences of 0 are left out; equal ones share the mean of their ranks. Up to 50 differences the p-value is exact: the
/// 2ⁿ signs are counted, ties included. Above that it is that of the normal approximation,
/// z = (T − n (n + 1)/4) / √(n (n + 1)(2n + 1)/24 − Σ (t³ − t)/48) over groups of t equal differences, without correction for
/// continuity.
///
/// Where all differences are 0 the p-value is 1. None for no pair, sides of different lengths and values that are not
/// finite.
pub fn wilcoxon(a: &[f64], b: &[f64]) -> Option<TestResult> {
    let mut d = differences(a, b)?;
    d.retain(|&d| d != 0.0);
    if d.is_empty() {
        return Some(TestResult { statistic: 0.0, p_value: 1.0 });
    }
    d.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the rank, which is whole where ranks are shared.
    let mut ranks: Vec<u64> = Vec::with_capacity(d.len());
    let mut ties = 0.0;
    while ranks.len() < d.len() {
        let first = ranks.len();
        let equal = d[first..].iter().take_while(|other| other.abs() == d[first].abs()).count();
        ranks.extend(std::iter::repeat_n((2 * first + equal + 1) as u64, equal));
        ties += (equal as f64).powi(3) - equal as f64;
    }
    let positive: u64 = d.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let all: u64 = ranks.iter().sum();
    let smaller = positive.min(all - positive);
    let statistic = smaller as f64 / 2.0;
    let n = d.len() as f64;
    let p_value = if d.len() <= EXACT {
        2.0 * share_up_to(&ranks, smaller)
    } else {
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
        let z = (statistic - n * (n + 1.0) / 4.0) / variance.sqrt();
        2.0 * Normal::new(0.0, 1.0).ok()?.cdf(z)
    };
    Some(TestResult { statistic, p_value: p_value.min(1.0) })
}

/// The share of all choices of signs whose positive ranks sum to `most` at most.
fn share_up_to(ranks: &[u64], most: u64) -> f64 {
    let mut ways = vec![0.0; most as usize + 1];
    ways[0] = 1.0;
    for &rank in ranks {
        for sum in (rank as usize..ways.len()).rev() {
            ways[sum] += ways[sum - rank as usize];
        }
    }
    ways.iter().sum::<f64>() / 2.0_f64.powi(ranks.len() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_gains_of_five_have_probability_one_in_sixteen() {
        let found = wilcoxon(&[1.0, 2.0, 3.0, 4.0, 5.0], &[0.0; 5]).unwrap();
        assert_eq!(found, TestResult { statistic: 0.0, p_value: 0.0625 });
    }

    #[test]
    fn zeros_say_nothing_and_bad_values_have_no_answer() {
        let none = TestResult { statistic: 0.0, p_value: 1.0 };
        assert_eq!(wilcoxon(&[1.0, 2.0], &[1.0, 2.0]), Some(none));
        assert_eq!(wilcoxon(&[1.0], &[0.0]).map(|test| test.p_value), Some(1.0));
        assert_eq!(wilcoxon(&[], &[]), None);
        assert_eq!(wilcoxon(&[f64::INFINITY], &[1.0]), None);
        let with_zero = wilcoxon(&[1.0, 2.0, 3.0, 7.0], &[0.0, 0.0, 0.0, 7.0]);
        assert_eq!(with_zero, wilcoxon(&[1.0, 2.0, 3.0], &[0.0; 3]));
    }
}
