//! The numbers that kernels compute with: `f32` to train, `f64` to prove gradients by differences. Powers and logarithms are
//! not the system's, which differ from machine to machine in the last bit.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A floating-point number: `f32` or `f64`.
///
/// Every kernel is generic over it, so the code that trains in `f32` is the code whose gradients are
/// proven in `f64`.
pub trait Real:
    Copy
    + Send
    + Sync
    + Debug
    + Display
    + Default
    + PartialOrd
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Into<f64>
    + From<f32>
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The most negative finite number.
    const MIN: Self;
    /// The largest finite number.
    const MAX: Self;

    /// The nearest value to `x`.
    fn of(x: f64) -> Self;
    /// The same numbers, if this is their type.
    fn same(values: &[f32]) -> Option<&[Self]>;
    /// `self · a + b` with one rounding.
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// √self.
    #[must_use]
    fn sqrt(self) -> Self;
    /// e^self. For `f32` a polynomial with an error below 2 units in the last place, which the compiler can
    /// vectorise.
    #[must_use]
    fn exp(self) -> Self;
    /// Natural logarithm.
    #[must_use]
    fn ln(self) -> Self;
    /// Natural logarithm of a positive normal number. For `f32` a polynomial with an error below 4 units in the last place
    /// (absolute 10⁻⁷ next to 1), which the compiler can vectorise.
    #[must_use]
    fn quick_ln(self) -> Self;
    /// The larger of two numbers; NaN when `self` is, so that a diverged model does not look healthy.
    #[inline(always)]
    #[must_use]
    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
    /// The smaller of two numbers; NaN when `self` is.
    #[inline(always)]
    #[must_use]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const MIN: Self = f32::MIN;
    const MAX: Self = f32::MAX;

    #[inline(always)]
    fn of(x: f64) -> Self {
        x as f32
    }
    fn same(values: &[f32]) -> Option<&[Self]> {
        Some(values)
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        f32::mul_add(self, a, b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }
    /// e^x = 2^k · e^r with k = round(x / ln 2) and |r| ≤ ½ ln 2; e^r by its Taylor polynomial of degree 7.
    #[inline(always)]
    fn exp(self) -> Self {
        // ln 2 in two parts: the first has few bits, so `k · LN2_HIGH` is exact.
        const LN2_HIGH: f32 = 0.693_359_4;
        const LN2_LOW: f32 = -2.121_944_4e-4;
        // Adding 1.5 · 2^23 leaves the nearest integer in the last bits, without a branch or a checked cast.
        const ROUND: f32 = 12_582_912.0;
        let x = Real::min(Real::max(self, -87.0), 88.0);
        let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
        let k = shifted - ROUND;
        let r = (-k).mul_add(LN2_LOW, (-k).mul_add(LN2_HIGH, x));
        let mut p = 1.0 / 5040.0;
        for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
            p = f32::mul_add(p, r, c);
        }
        let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127);
        let power = f32::from_bits(exponent << 23);
        p * power
    }
    #[inline(always)]
    fn ln(self) -> Self {
        libm::logf(self)
    }
    /// ln x = k ln 2 + ln m with m between √½ and √2, and ln m = 2 artanh((m − 1) / (m + 1)) by its series.
    #[inline(always)]
    fn quick_ln(self) -> Self {
        const SQRT_HALF: u32 = 0x3f35_04f3;
        let bits = self.to_bits();
        let k = bits.wrapping_sub(SQRT_HALF).cast_signed() >> 23;
        let m = f32::from_bits(bits.wrapping_sub((k << 23).cast_unsigned()));
        let s = (m - 1.0) / (m + 1.0);
        let z = s * s;
        let mut p = 1.0 / 9.0;
        for c in [1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0] {
            p = f32::mul_add(p, z, c);
        }
        f32::mul_add(k as f32, std::f32::consts::LN_2, 2.0 * s * p)
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const MIN: Self = f64::MIN;
    const MAX: Self = f64::MAX;

    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }
    fn same(_: &[f32]) -> Option<&[Self]> {
        None
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        f64::mul_add(self, a, b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        libm::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        libm::log(self)
    }
    #[inline(always)]
    fn quick_ln(self) -> Self {
        libm::log(self)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test may compare with the system's library")]
mod tests {
    use super::Real;

    #[test]
    fn exp_of_f32_is_within_two_units_in_the_last_place() {
        let mut worst = 0.0_f64;
        for step in -870_000..880_000 {
            let x = step as f32 * 1e-4;
            let exact = f64::from(x).exp();
            let error = (f64::from(Real::exp(x)) - exact).abs() / (exact * f64::from(f32::EPSILON));
            worst = worst.max(error);
        }
        assert!(worst < 2.0, "worst error {worst} units");
    }

    #[test]
    fn not_a_number_stays_so_that_divergence_shows() {
        assert!(Real::max(f32::NAN, 0.0).is_nan() && Real::min(f32::NAN, 0.0).is_nan());
        assert!(Real::exp(f32::NAN).is_nan());
    }

    #[test]
    fn quick_logarithm_of_f32_is_close() {
        for step in 1..400_000 {
            let x = step as f32 * 1e-5;
            let exact = f64::from(x).ln();
            let error = (f64::from(Real::quick_ln(x)) - exact).abs();
            assert!(error < 1e-7 + 4.0 * exact.abs() * f64::from(f32::EPSILON), "ln {x}: off by {error}");
        }
        for x in [1e-6_f32, 1e-30, 1e30, f32::MIN_POSITIVE] {
            let exact = f64::from(x).ln();
            assert!((f64::from(Real::quick_ln(x)) / exact - 1.0).abs() < 1e-6, "ln {x}");
        }
    }

    #[test]
    fn exp_of_f32_saturates_instead_of_overflowing() {
        assert!(Real::exp(1e30_f32).is_finite());
        assert!(Real::exp(-1e30_f32) < 1e-37);
    }
}
