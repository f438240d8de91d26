//! Whether the mean of paired differences is other than 0.

use edgepace_graph::random::{Purpose, Stream};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::differences;

/// What a test found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestResult {
    /// The test's own statistic.
    pub statistic: f64,
    /// How probable a statistic at least as far out would be if there were no difference, on either side.
    pub p_value: f64,
}

/// Student's t test of paired values: t = mean(d) · √n / sd(d) with n − 1 degrees of freedom, two-sided.
///
/// Where all differences are 0 the p-value is 1. None for fewer than two pairs, sides of different lengths, values that are
/// not finite, and differences that are all alike and not 0, for which t has no value.
pub fn paired_t(a: &[f64], b: &[f64]) -> Option<TestResult> {
    let d = differences(a, b).filter(|d| d.len() > 1)?;
    if d.iter().all(|&d| d == 0.0) {
        return Some(TestResult { statistic: 0.0, p_value: 1.0 });
    }
    let n = d.len() as f64;
    let mean = d.iter().sum::<f64>() / n;
    let sd = (d.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    // What differs by rounding alone is alike.
    if sd <= 1e-12 * mean.abs() {
        return None;
    }
    let statistic = mean * n.sqrt() / sd;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    Some(TestResult { statistic, p_value: (2.0 * t.cdf(-statistic.abs())).min(1.0) })
}

/// What resampling the pairs says about the mean difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// The mean difference.
    pub mean: f64,
    /// Its 95 % interval: the 2.5th and 97.5th percentile of resampled means.
    pub interval: [f64; 2],
    /// The share of resamples of d − mean(d) whose mean is as far from 0 as mean(d), (1 + hits) / (1 + resamples).
    pub p_value: f64,
}

/// The bootstrap of paired values: differences are drawn with replacement, `resamples` times. The draw is a function of
/// the seed, the same everywhere.
///
/// None for fewer than two pairs, no resamples, sides of different lengths, and values that are not finite.
pub fn paired_bootstrap(a: &[f64], b: &[f64], resamples: u32, seed: u64) -> Option<Bootstrap> {
    let d = differences(a, b).filter(|d| d.len() > 1 && resamples > 0)?;
    let (n, count) = (d.len() as u64, d.len() as f64);
    let mean = d.iter().sum::<f64>() / count;
    // A mean that is as large but for rounding counts.
    let far = mean.abs() - 1e-12 * d.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
    let mut hits = 0_u32;
    let mut means: Vec<f64> = (0..resamples)
        .map(|resample| {
            let stream = Stream::new(seed, Purpose::Resamples, resample);
            let sum: f64 = (0..n).map(|place| d[stream.below(place, n) as usize]).sum();
            let found = sum / count;
            hits += u32::from((found - mean).abs() >= far);
            found
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    Some(Bootstrap {
        mean,
        interval: [0.025, 0.975].map(|share| percentile(&means, share)),
        p_value: f64::from(1 + hits) / (1.0 + f64::from(resamples)),
    })
}

/// A percentile of sorted values, with linear interpolation between the two next to it.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_t_value_is_none_and_no_difference_is_no_evidence() {
        assert_eq!(paired_t(&[1.0], &[2.0]), None);
        assert_eq!(paired_t(&[1.0, 2.0], &[2.0]), None);
        assert_eq!(paired_t(&[1.0, f64::NAN], &[2.0, 2.0]), None);
        assert_eq!(paired_t(&[1.1, 2.1, 3.1], &[1.0, 2.0, 3.0]), None, "alike but for rounding");
        let none = TestResult { statistic: 0.0, p_value: 1.0 };
        assert_eq!(paired_t(&[1.0, 2.0], &[1.0, 2.0]), Some(none));
    }

    #[test]
    fn the_bootstrap_is_the_same_each_time_and_defined_for_equal_differences() {
        let (a, b) = ([3.0, 5.0, 4.0, 6.5], [2.0, 5.5, 3.0, 4.0]);
        let once = paired_bootstrap(&a, &b, 999, 1);
        assert_eq!(once, paired_bootstrap(&a, &b, 999, 1));
        assert_ne!(once, paired_bootstrap(&a, &b, 999, 2));
        let equal = paired_bootstrap(&[2.0, 3.0], &[1.0, 2.0], 99, 1).unwrap();
        assert_eq!((equal.interval, equal.p_value), ([1.0, 1.0], 0.01));
        assert_eq!(paired_bootstrap(&[0.0; 3], &[0.0; 3], 99, 1).unwrap().p_value, 1.0);
        assert_eq!(paired_bootstrap(&a, &b, 0, 1), None);
        assert_eq!(paired_bootstrap(&[1.0], &[2.0], 9, 1), None);
    }
}
