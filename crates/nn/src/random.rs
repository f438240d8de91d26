//! Random numbers by counter: each is a pure function of (seed, purpose, position), so no thread, order or
//! earlier draw can change it.

/// What a stream of random numbers is for. Streams of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Initial values of parameters; the stream index is the parameter's number.
    Parameters = 1,
    /// Which hidden units are dropped; the stream index is the epoch.
    Dropout = 2,
    /// Synthetic shapes of the benchmark.
    Benchmark = 3,
}

/// A stream of random numbers, read at any position: Philox4x32-10 (Salmon et al., 2011).
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    key: [u32; 2],
    high: [u32; 2],
}

impl Stream {
    /// The stream number `index` for `purpose` under `seed`.
    pub fn new(seed: u64, purpose: Purpose, index: u32) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], high: [purpose as u32, index] }
    }

    /// Four independent 32-bit words.
    pub fn block(&self, position: u64) -> [u32; 4] {
        philox([position as u32, (position >> 32) as u32, self.high[0], self.high[1]], self.key)
    }

    /// A 64-bit word.
    pub fn word(&self, position: u64) -> u64 {
        let [a, b, _, _] = self.block(position);
        u64::from(a) | u64::from(b) << 32
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&self, position: u64) -> f64 {
        (self.word(position) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in 0..bound (Lemire's multiplication; the bias is below bound / 2^64).
    pub fn below(&self, position: u64, bound: u64) -> u64 {
        ((u128::from(self.word(position)) * u128::from(bound)) >> 64) as u64
    }

    /// Normal with mean 0 and variance 1 (Box–Muller).
    pub fn normal(&self, position: u64) -> f64 {
        let [a, b, c, d] = self.block(position);
        let unit = |low: u32, high: u32| {
            ((u64::from(low) | u64::from(high) << 32) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let radius = (-2.0 * (1.0 - unit(a, b)).ln()).sqrt();
        radius * (std::f64::consts::TAU * unit(c, d)).cos()
    }
}

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(counter[0]) * 0xD251_1F53;
        let b = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

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
        let keep = ((1.0 - rate) * 65_536.0).round().max(1.0);
        (keep < 65_536.0).then(|| Self {
            key: Stream::new(seed, Purpose::Dropout, epoch).word(0),
            keep: keep as u16,
            scale: 65_536.0 / keep,
        })
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

    /// The known answers that the authors of Philox publish with it.
    #[test]
    fn philox_gives_its_published_known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn uniform_and_normal_have_their_moments() {
        let stream = Stream::new(7, Purpose::Parameters, 0);
        let n = 100_000_u64;
        let uniform = (0..n).map(|i| stream.uniform(i)).sum::<f64>() / n as f64;
        let normal: Vec<f64> = (0..n).map(|i| stream.normal(i)).collect();
        let mean = normal.iter().sum::<f64>() / n as f64;
        let variance = normal.iter().map(|x| x * x).sum::<f64>() / n as f64;
        assert!((uniform - 0.5).abs() < 0.005, "{uniform}");
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

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
