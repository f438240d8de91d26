//! Many methods on many datasets: ranks, and how far apart they have to be.

use statrs::distribution::{ChiSquared, Continuous as _, ContinuousCDF as _, Normal};

/// What ranks of methods over datasets say.
#[derive(Clone, Debug, PartialEq)]
pub struct Friedman {
    /// The mean rank of each method, 1 being the best.
    pub ranks: Vec<f64>,
    /// χ² of Friedman's test that all methods are alike, corrected for ties.
    pub statistic: f64,
    /// Its p-value, of χ² with one degree of freedom fewer than there are methods.
    pub p_value: f64,
    /// Nemenyi's critical difference at 5 %: mean ranks that are further apart differ.
    pub critical_difference: f64,
}

/// Friedman's test and Nemenyi's critical difference. A row of `scores` is a dataset, a column a method, higher being
/// better; equal scores share the mean of their ranks.
///
/// With N rows, k columns and R_j the sum of ranks of column j: χ² = (12/(N k (k+1)) Σ R_j² − 3 N (k+1)) / (1 − Σ(t³ − t)/(N k (k² − 1))),
/// CD = q(0.95; k, ∞)/√2 · √(k (k+1)/(6N)), q being a quantile of the studentised range (Demšar: Statistical Comparisons of
/// Classifiers over Multiple Data Sets, 2006).
///
/// Where all scores of each row are equal, χ² is 0 and the p-value 1. None for fewer than two columns, no rows, rows of
/// different lengths, and scores that are no number.
pub fn friedman(scores: &[Vec<f64>]) -> Option<Friedman> {
    let (rows, columns) = (scores.len(), scores.first()?.len());
    if columns < 2 || scores.iter().any(|row| row.len() != columns || row.iter().any(|s| s.is_nan())) {
        return None;
    }
    let (n, k) = (rows as f64, columns as f64);
    let mut sums = vec![0.0; columns];
    let mut ties = 0.0;
    for row in scores {
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
        let mut first = 0;
        while first < columns {
            let equal = order[first..].iter().take_while(|&&at| row[at] == row[order[first]]).count();
            let rank = first as f64 + (equal as f64 + 1.0) / 2.0;
            order[first..first + equal].iter().for_each(|&at| sums[at] += rank);
            ties += (equal as f64).powi(3) - equal as f64;
            first += equal;
        }
    }
    let correction = 1.0 - ties / (n * k * (k * k - 1.0));
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let raw = 12.0 / (n * k * (k + 1.0)) * squares - 3.0 * n * (k + 1.0);
    let statistic = if correction > 0.0 { raw.max(0.0) / correction } else { 0.0 };
    Some(Friedman {
        ranks: sums.iter().map(|sum| sum / n).collect(),
        statistic,
        p_value: ChiSquared::new(k - 1.0).ok()?.sf(statistic),
        critical_difference: range_quantile(columns)? / 2.0_f64.sqrt() * (k * (k + 1.0) / (6.0 * n)).sqrt(),
    })
}

/// q with P(range of k normal values ≤ q) = 0.95, where P = k ∫ φ(z) (Φ(z + q) − Φ(z))^(k − 1) dz, by Simpson's rule and
/// halving.
fn range_quantile(k: usize) -> Option<f64> {
    const STEPS: usize = 2000;
    const REACH: f64 = 8.5;
    let normal = Normal::new(0.0, 1.0).ok()?;
    let step = 2.0 * REACH / STEPS as f64;
    let nodes: Vec<(f64, f64, f64)> = (0..=STEPS)
        .map(|place| {
            let z = -REACH + step * place as f64;
            let weight = match place {
                0 | STEPS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            (z, normal.cdf(z), weight * normal.pdf(z) * step / 3.0)
        })
        .collect();
    let within = |q: f64| {
        let power = i32::try_from(k - 1).unwrap_or(i32::MAX);
        let sum: f64 = nodes.iter().map(|(z, below, w)| w * (normal.cdf(z + q) - below).powi(power)).sum();
        k as f64 * sum
    };
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if within(middle) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_are_always_alike_share_their_rank() {
        let found = friedman(&[vec![1.0, 1.0, 1.0], vec![2.0, 2.0, 2.0]]).unwrap();
        assert_eq!(found.ranks, [2.0; 3]);
        assert_eq!((found.statistic, found.p_value), (0.0, 1.0));
    }

    #[test]
    fn tables_without_an_answer_have_none() {
        assert_eq!(friedman(&[]), None);
        assert_eq!(friedman(&[vec![1.0]]), None);
        assert_eq!(friedman(&[vec![1.0, 2.0], vec![1.0]]), None);
        assert_eq!(friedman(&[vec![1.0, f64::NAN]]), None);
    }

    /// Table 5(a) of Demšar 2006 has q/√2.
    #[test]
    fn critical_values_are_the_published_ones() {
        for (k, published) in [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)] {
            let found = range_quantile(k).unwrap() / 2.0_f64.sqrt();
            assert!((found - published).abs() < 0.001, "{k}: {found}");
        }
    }
}
