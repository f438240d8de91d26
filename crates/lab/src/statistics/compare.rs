//! Many comparisons at once.

/// The p-values of several tests as they have to be for all of them to hold together: sorted, the i-th smallest of m is
/// multiplied by m − i + 1, never below its predecessor and 1 at most (Holm: A Simple Sequentially Rejective Multiple Test
/// Procedure, 1979). A p-value that is no number in [0, 1] stays out of it and becomes NaN.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> =
        (0..p_values.len()).filter(|&place| (0.0..=1.0).contains(&p_values[place])).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut least = 0.0_f64;
    for (place, &test) in order.iter().enumerate() {
        least = least.max((order.len() - place) as f64 * p_values[test]).min(1.0);
        adjusted[test] = least;
    }
    adjusted
}

/// How often one side is ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WinTieLoss {
    /// Pairs where the first side is ahead by more than the margin.
    pub wins: usize,
    /// Pairs within the margin.
    pub ties: usize,
    /// Pairs where the second side is ahead by more than the margin.
    pub losses: usize,
}

/// How often `a` is ahead of `b` by more than `margin`. A pair with a value that is no number is not counted.
pub fn win_tie_loss(a: &[f64], b: &[f64], margin: f64) -> WinTieLoss {
    let mut count = WinTieLoss::default();
    for difference in a.iter().zip(b).map(|(a, b)| a - b).filter(|difference| !difference.is_nan()) {
        match difference {
            d if d > margin => count.wins += 1,
            d if d < -margin => count.losses += 1,
            _ => count.ties += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_leaves_one_test_alone_and_never_passes_one() {
        assert_eq!(holm(&[0.03]), [0.03]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
        let with_nan = holm(&[0.01, f64::NAN, 0.04]);
        assert_eq!((with_nan[0], with_nan[2]), (0.02, 0.04));
        assert!(with_nan[1].is_nan());
    }

    #[test]
    fn what_is_within_the_margin_is_a_tie() {
        let found = win_tie_loss(&[1.0, 2.0, 3.0, f64::NAN], &[2.0, 1.95, 1.0, 1.0], 0.1);
        assert_eq!(found, WinTieLoss { wins: 1, ties: 1, losses: 1 });
    }
}
