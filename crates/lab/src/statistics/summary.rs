//! Mean, spread, and how sure the mean is.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// What several runs come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation as of a sample (divided by n − 1); none for one value.
    pub sd: Option<f64>,
    /// Half the width of the 95 % interval of the mean, t(0.975; n − 1) · sd / √n; none for one value.
    pub half_interval: Option<f64>,
}

impl Summary {
    /// The summary of values; none where there is none, or one that is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let sd = (n > 1).then(|| (squares / (n - 1) as f64).sqrt());
        let half_interval = sd.and_then(|sd| {
            let t = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?;
            Some(t.inverse_cdf(0.975) * sd / (n as f64).sqrt())
        });
        Some(Self { n, mean, sd, half_interval })
    }
}

/// The mean; none when there is none of some value, or no value.
pub fn mean(values: &[Option<f64>]) -> Option<f64> {
    let values: Option<Vec<f64>> = values.iter().copied().collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample; none for fewer than two values.
pub fn standard_deviation(values: &[Option<f64>]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().flatten().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample_and_needs_two_values() {
        assert_eq!(standard_deviation(&[Some(1.0), Some(3.0)]), Some(2.0_f64.sqrt()));
        assert_eq!(standard_deviation(&[Some(1.0)]), None);
        assert_eq!(mean(&[Some(1.0), None]), None);
    }

    #[test]
    fn one_value_has_a_mean_and_no_spread_and_none_has_nothing() {
        let one = Summary { n: 1, mean: 4.0, sd: None, half_interval: None };
        assert_eq!(Summary::of(&[4.0]), Some(one));
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[2.0; 3]).and_then(|summary| summary.half_interval), Some(0.0));
    }
}
