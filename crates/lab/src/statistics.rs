//! Numbers over several runs.

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
}
