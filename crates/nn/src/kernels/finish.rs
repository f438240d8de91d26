//! What is done to an output row while it is still in the cache: fused bias, ReLU, dropout, and their gradient.

use crate::dropout::Dropout;
use crate::real::Real;

/// The last touch to a row `y` of a product.
#[derive(Clone, Copy)]
pub(crate) enum Finish<'a, T> {
    /// y
    Keep,
    /// y + b
    Bias(&'a [T]),
    /// relu(y + b)
    Relu(&'a [T]),
    /// dropout(relu(y + b)): units that stay are scaled by 1 / (1 − rate)
    ReluDropout(&'a [T], Dropout),
    /// The gradient through `ReluDropout` or `Relu`: y · scale where the unit's output `hidden` is positive, 0
    /// elsewhere. A dropped unit's output is 0, so no mask is stored.
    Gate {
        /// Output of the activation, of the same shape as the product.
        hidden: &'a [T],
        /// 1 / (1 − rate), or 1 without dropout.
        scale: T,
    },
}

impl<T: Real> Finish<'_, T> {
    /// Finishes row number `row`.
    #[inline(always)]
    pub(crate) fn apply(&self, row: usize, y: &mut [T]) {
        match *self {
            Finish::Keep => {}
            Finish::Bias(bias) => {
                for (y, &b) in y.iter_mut().zip(bias) {
                    *y += b;
                }
            }
            Finish::Relu(bias) => {
                for (y, &b) in y.iter_mut().zip(bias) {
                    *y = (*y + b).max(T::ZERO);
                }
            }
            Finish::ReluDropout(bias, dropout) => {
                let scale = T::of(dropout.scale);
                for (block, (y, bias)) in y.chunks_mut(64).zip(bias.chunks(64)).enumerate() {
                    let mask = dropout.mask(row, block);
                    let halves = [mask as u32, (mask >> 32) as u32];
                    for ((y, bias), half) in y.chunks_mut(32).zip(bias.chunks(32)).zip(halves) {
                        for (unit, (y, &b)) in y.iter_mut().zip(bias).enumerate() {
                            let active = (*y + b).max(T::ZERO) * scale;
                            *y = if half >> (unit as u32) & 1 == 1 { active } else { T::ZERO };
                        }
                    }
                }
            }
            Finish::Gate { hidden, scale } => {
                let hidden = &hidden[row * y.len()..][..y.len()];
                for (y, &h) in y.iter_mut().zip(hidden) {
                    *y = if h > T::ZERO { *y * scale } else { T::ZERO };
                }
            }
        }
    }
}
