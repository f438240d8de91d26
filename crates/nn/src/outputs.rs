//! What a row of logits says: a class, or probabilities. Probabilities are computed in `f64` without the system's
//! mathematical library: the same bits on every machine.

use crate::real::Real;

/// The place of the largest number, the first one among equals; 0 where there is none.
///
/// NaN is larger than nothing, and in the first place nothing is larger than it.
#[inline]
pub fn argmax<T: Real>(values: &[T]) -> usize {
    let Some((&first, rest)) = values.split_first() else { return 0 };
    let mut best = (0, first);
    for (place, &value) in rest.iter().enumerate() {
        if value > best.1 {
            best = (place + 1, value);
        }
    }
    best.0
}

/// e^l / Σ e^l of each logit: the probability of each class.
pub fn softmax<T: Real>(logits: &[T]) -> impl Iterator<Item = f64> {
    let peak = peak(logits);
    let power = move |&logit: &T| libm::exp(logit.into() - peak);
    let total: f64 = logits.iter().map(power).sum();
    logits.iter().map(move |logit| power(logit) / total)
}

/// 1 / (1 + e^−x): the probability of a label.
pub fn sigmoid<T: Real>(x: T) -> f64 {
    let x: f64 = x.into();
    // Of a negative number, so that nothing overflows and small probabilities keep their digits.
    let small = libm::exp(-x.abs());
    (if x >= 0.0 { 1.0 } else { small }) / (1.0 + small)
}

/// The largest logit.
pub(crate) fn peak<T: Real>(logits: &[T]) -> f64 {
    logits.get(argmax(logits)).map_or(0.0, |&peak| peak.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argmax_is_the_first_among_equals() {
        assert_eq!(argmax(&[0.5_f32, 0.5, 0.25]), 0);
        assert_eq!(argmax(&[0.0_f32, 0.75, 0.75]), 1);
        assert_eq!(argmax(&[-3.0_f64, -2.0, -1.0]), 2);
        assert_eq!(argmax(&[f32::NEG_INFINITY; 3]), 0);
        assert_eq!(argmax::<f32>(&[]), 0);
    }

    #[test]
    fn not_a_number_is_larger_than_nothing() {
        assert_eq!(argmax(&[0.0, f32::NAN, 1.0]), 2);
        assert_eq!(argmax(&[f32::NAN, 1.0]), 0);
    }

    #[test]
    fn softmax_sums_to_one_and_overflows_for_no_finite_logit() {
        let odds = |logits: &[f32]| softmax(logits).collect::<Vec<f64>>();
        assert_eq!(odds(&[2.0, 2.0]), [0.5, 0.5]);
        assert_eq!(odds(&[f32::MAX, f32::MIN]), [1.0, 0.0]);
        assert!(odds(&[]).is_empty());
        let thirds = odds(&[1.0, 1.0 + std::f32::consts::LN_2]);
        assert!((thirds[0] - 1.0 / 3.0).abs() < 1e-7 && (thirds[0] + thirds[1] - 1.0).abs() < 1e-15);
        assert!(odds(&[0.0, f32::NAN]).iter().all(|p| p.is_nan()));
    }

    #[test]
    fn sigmoid_is_symmetric_and_keeps_small_values() {
        assert_eq!(sigmoid(0.0_f32), 0.5);
        for x in [0.3, 5.0, 40.0, 700.0] {
            assert!((sigmoid(x) + sigmoid(-x) - 1.0).abs() < 1e-15, "{x}");
            assert!((sigmoid(-x) / (libm::exp(-x) / (1.0 + libm::exp(-x))) - 1.0).abs() < 1e-14, "{x}");
        }
        assert_eq!((sigmoid(f32::MAX), sigmoid(f32::MIN)), (1.0, 0.0));
        assert!(sigmoid(f32::NAN).is_nan());
    }
}
