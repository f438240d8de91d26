//! The few functions of numbers that the formulas share. No fused multiply-add and no system library: the same bits
//! on every machine.

/// ln 2 in two parts; the first has so few digits that whole multiples of it are exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// e^x, within two units in the last place; 0 below −708, and finite above 708.
///
/// Free of branches, so that loops over it are vectorised.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    /// Adding it rounds to a whole number, which then stands in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let clamped = x.clamp(-708.0, 708.0);
    let shifted = clamped * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (clamped - k * LN2_HIGH) - k * LN2_LOW;
    // |r| ≤ ln 2 / 2: the Taylor series ends below the last place after r^13.
    let sum = polynomial(
        r,
        [
            1.0 / 6_227_020_800.0,
            1.0 / 479_001_600.0,
            1.0 / 39_916_800.0,
            1.0 / 3_628_800.0,
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
            1.0,
        ],
    );
    let scale = f64::from_bits((shifted.to_bits().wrapping_add(1023)) << 52);
    if x < -708.0 { 0.0 } else { sum * scale }
}

/// ln x of a positive, finite x that is not subnormal, within 4 · 10⁻¹⁶ · max(1, |ln x|).
///
/// Free of branches, so that loops over it are vectorised.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    const ROOT_OF_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const ONE: u64 = 1.0_f64.to_bits();
    /// With a small whole number in its low bits it is that much larger.
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
    // x = m · 2^k with √½ ≤ m < √2.
    let biased = x.to_bits().wrapping_sub(ROOT_OF_HALF).wrapping_add(ONE) >> 52;
    let k = f64::from_bits(biased | TWO_TO_52.to_bits()) - (TWO_TO_52 + 1023.0);
    let m = f64::from_bits(x.to_bits().wrapping_sub(biased << 52).wrapping_add(ONE));
    // ln m = 2 artanh s, |s| ≤ 0.172: the series ends below the last place after s^21.
    let s = (m - 1.0) / (m + 1.0);
    let odd = [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0];
    let sum = polynomial(s * s, odd.map(|power| 1.0 / power));
    k * LN2_HIGH + (2.0 * s * sum + k * LN2_LOW)
}

/// Σ a_i x^i, given the highest coefficient first.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = coefficients[0];
    for coefficient in &coefficients[1..] {
        sum = sum * x + coefficient;
    }
    sum
}

/// σ(x) = 1 / (1 + e^−x).
#[inline(always)]
pub(crate) fn sigmoid(x: f64) -> f64 {
    let small = exp(-x.abs());
    (if x >= 0.0 { 1.0 } else { small }) / (1.0 + small)
}

/// a · b, summed in eight interleaved parts.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0_f64; LANES];
    let (a_whole, a_rest) = a.as_chunks::<LANES>();
    let (b_whole, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_whole.iter().zip(b_whole) {
        for lane in 0..LANES {
            sums[lane] += f64::from(a[lane]) * f64::from(b[lane]);
        }
    }
    for (lane, (&a, &b)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[lane] += f64::from(a) * f64::from(b);
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_within_two_units_in_the_last_place() {
        for i in -7_000_000..=7_000_000_i32 {
            if i % 37 != 0 {
                continue;
            }
            let x = f64::from(i) * 1.01e-4;
            let (ours, exact) = (exp(x), libm::exp(x));
            assert!((ours - exact).abs() <= 2.0 * f64::EPSILON * exact, "{x}: {ours} {exact}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e9), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert!(exp(1e9).is_finite());
    }

    #[test]
    fn ln_is_within_its_bound_and_exact_at_one() {
        for i in -300_000..=300_000_i32 {
            let x = libm::exp(f64::from(i) * 2.3e-3);
            let (ours, exact) = (ln(x), libm::log(x));
            assert!((ours - exact).abs() <= 4e-16 * exact.abs().max(1.0), "{x}: {ours} {exact}");
        }
        assert_eq!(ln(1.0), 0.0);
        for x in [f64::MIN_POSITIVE, f64::MAX, std::f64::consts::SQRT_2, std::f64::consts::FRAC_1_SQRT_2] {
            assert!((ln(x) / libm::log(x) - 1.0).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn sigmoid_is_symmetric_and_keeps_small_values() {
        for x in [0.0, 0.3, 5.0, 40.0, 700.0] {
            assert!((sigmoid(x) + sigmoid(-x) - 1.0).abs() < 1e-15);
            assert!((sigmoid(-x) / (libm::exp(-x) / (1.0 + libm::exp(-x))) - 1.0).abs() < 1e-14, "{x}");
        }
    }

    #[test]
    fn dot_is_the_sum_of_products() {
        for len in [0, 1, 7, 8, 9, 40, 63] {
            let a: Vec<f32> = (0..len).map(|i| (i * 7 % 5) as f32 - 2.0).collect();
            let b: Vec<f32> = (0..len).map(|i| (i * 3 % 7) as f32 - 3.0).collect();
            let plain: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), f64::from(plain));
        }
    }
}
