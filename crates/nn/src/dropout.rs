use edgepace_graph::random::{Purpose, Stream};

/// Dropout that stores no mask: which of 64 neighbouring units stay is a word of random bits, a hash of their place.
///
/// Units stay with a probability of k / 2^16. A word with that share of ones is made of plain random words, one per
/// binary digit of the probability: from the last digit to the first, `or` for a 1 and `and` for a 0. The usual rate ½
/// takes one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropout {
    key: u64,
    /// Binary digits of the probability to stay, the first after the point in the highest bit.
    keep: u16,
    /// 1 / probability to stay, by which units that stay are scaled.
    pub(crate) scale: f64,
}

impl Dropout {
    /// Drops units with probability `rate` in [0, 1), to the nearest 2^-16. `None` when nothing is ever dropped.
    pub(crate) fn new(seed: u64, epoch: u32, rate: f64) -> Option<Self> {
        Self::from(Stream::new(seed, Purpose::Dropout, epoch), rate)
    }

    /// The same for the values of features, which are dropped one by one ([`Dropout::keeps`]).
    pub(crate) fn of_inputs(seed: u64, epoch: u32, rate: f64) -> Option<Self> {
        Self::from(Stream::new(seed, Purpose::InputDropout, epoch), rate)
    }

    fn from(stream: Stream, rate: f64) -> Option<Self> {
        let keep = ((1.0 - rate) * 65_536.0).round().max(1.0);
        (keep < 65_536.0).then(|| Self { key: stream.word(0), keep: keep as u16, scale: 65_536.0 / keep })
    }

    /// Whether the value of a column stays, by itself: sparse rows have few values in 64 neighbouring columns.
    #[inline(always)]
    pub(crate) fn keeps(self, row: u32, column: u32) -> bool {
        let place = mix(self.key ^ mix(u64::from(row) << 32 | u64::from(column)));
        ((place >> 48) as u16) < self.keep
    }

    /// Which of the units `64 · block ..` of a row stay: bit c is unit 64 · block + c.
    #[inline(always)]
    pub(crate) fn mask(self, row: usize, block: usize) -> u64 {
        let place = mix(self.key ^ mix((row as u64) << 16 | block as u64));
        let mut mask = 0;
        for digit in self.keep.trailing_zeros()..u16::BITS {
            let random = mix(place.wrapping_add(u64::from(digit).wrapping_mul(GOLDEN)));
            mask = if self.keep >> digit & 1 == 1 { mask | random } else { mask & random };
        }
        mask
    }
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The output function of SplitMix64 (Steele et al., 2014).
#[inline(always)]
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropout_drops_its_share_in_every_row_and_column() {
        for rate in [0.2, 0.5, 0.9] {
            let dropout = Dropout::new(3, 11, rate).unwrap();
            let (rows, columns) = (4000, 64);
            let mut by_column = vec![0; columns];
            let mut total = 0;
            for row in 0..rows {
                let mask = dropout.mask(row, 0);
                for (column, count) in by_column.iter_mut().enumerate() {
                    if mask >> column & 1 == 0 {
                        *count += 1;
                        total += 1;
                    }
                }
            }
            let share = f64::from(total) / (rows * columns) as f64;
            assert!((share - rate).abs() < 0.005, "{share} dropped at rate {rate}");
            for count in by_column {
                let share = f64::from(count) / rows as f64;
                assert!((share - rate).abs() < 0.04, "a column drops {share} at rate {rate}");
            }
        }
    }

    #[test]
    fn values_are_dropped_at_their_rate_each_by_itself() {
        for rate in [0.2, 0.5, 0.9] {
            let [first, second] = [11, 12].map(|epoch| Dropout::of_inputs(3, epoch, rate).unwrap());
            let (mut dropped, mut beside, mut below, mut later, n) = (0, 0, 0, 0, 200_000_u32);
            for i in 0..n {
                let (row, column) = (i / 400, i % 400);
                let gone = |dropout: Dropout, row, column| u32::from(!dropout.keeps(row, column));
                let this = gone(first, row, column);
                dropped += this;
                beside += this * gone(first, row, column + 1);
                below += this * gone(first, row + 1, column);
                later += this * gone(second, row, column);
            }
            let share = |count: u32| f64::from(count) / f64::from(n);
            assert!((share(dropped) - rate).abs() < 0.005, "{} at {rate}", share(dropped));
            for both in [beside, below, later] {
                assert!((share(both) - rate * rate).abs() < 0.005, "{} at {rate}", share(both));
            }
        }
    }

    #[test]
    fn neighbouring_units_and_epochs_are_dropped_independently() {
        let (first, second) = (Dropout::new(3, 1, 0.5).unwrap(), Dropout::new(3, 2, 0.5).unwrap());
        let (mut same_epoch, mut same_unit, mut same_row, n) = (0, 0, 0, 20_000_u32);
        for row in 0..n {
            let unit = |d: Dropout, r: u32, c: u32| d.mask(r as usize, 0) >> c & 1;
            same_epoch += u32::from(unit(first, row, 5) == unit(second, row, 5));
            same_unit += u32::from(unit(first, row, 5) == unit(first, row, 6));
            same_row += u32::from(unit(first, row, 5) == unit(first, row + 1, 5));
        }
        for agree in [same_epoch, same_unit, same_row] {
            let share = f64::from(agree) / f64::from(n);
            assert!((share - 0.5).abs() < 0.02, "agreement {share}");
        }
    }
}
