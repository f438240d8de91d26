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
    /// Which nodes a generator makes: classes, positions, features.
    GeneratedNodes = 4,
    /// Which edges a generator makes.
    GeneratedEdges = 5,
    /// Which edges noise adds.
    FakeEdges = 6,
    /// Which edges noise deletes.
    DeletedEdges = 7,
    /// Which labels noise flips, and to what.
    FlippedLabels = 8,
    /// What noise adds to features.
    PerturbedFeatures = 9,
    /// Which nodes a split puts where.
    Split = 10,
    /// Which non-edges the evidence model compares edges with.
    NonEdges = 11,
    /// The random order of edges that a curriculum is measured against.
    EdgeOrder = 12,
    /// Initial values of a network that scores edges; the stream index is the network's number.
    EdgeNetwork = 30,
    /// What is added to scores of edges when some are sampled; the stream index is the epoch.
    EdgeSamples = 31,
    /// Which edges are left out of a training step; the stream index is the epoch.
    DroppedEdges = 32,
    /// Which pairs a bootstrap draws; the stream index is the resample.
    Resamples = 33,
    /// Which values of the features are dropped; the stream index is the epoch.
    InputDropout = 34,
    /// Which combinations of settings a search tries.
    Search = 40,
    /// The random block from which singular vectors are found.
    Spectrum = 20,
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
        let counter = [position, position >> 32, self.high[0].into(), self.high[1].into()];
        philox(counter.map(|word| [word]), self.key).map(|[word]| word as u32)
    }

    /// A 64-bit word.
    pub fn word(&self, position: u64) -> u64 {
        let [a, b, _, _] = self.block(position);
        u64::from(a) | u64::from(b) << 32
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&self, position: u64) -> f64 {
        unit(self.word(position))
    }

    /// [`Stream::uniform`] at several positions. Within [`with_simd`](crate::with_simd) they are drawn side by side.
    #[inline(always)]
    pub fn uniforms<const N: usize>(&self, positions: [u64; N]) -> [f64; N] {
        let [low, high] = [positions, positions.map(|position| position >> 32)];
        let purpose = self.high.map(|word| [u64::from(word); N]);
        let [a, b, _, _] = philox([low, high, purpose[0], purpose[1]], self.key);
        std::array::from_fn(|lane| unit(a[lane] & LOW | b[lane] << 32))
    }

    /// Uniform in 0..bound (Lemire's multiplication; the bias is below bound / 2^64).
    pub fn below(&self, position: u64, bound: u64) -> u64 {
        ((u128::from(self.word(position)) * u128::from(bound)) >> 64) as u64
    }

    /// Normal with mean 0 and variance 1 (Box–Muller), the same bits on every machine.
    pub fn normal(&self, position: u64) -> f64 {
        let [a, b, c, d] = self.block(position);
        let unit = |low: u32, high: u32| unit(u64::from(low) | u64::from(high) << 32);
        let radius = (-2.0 * libm::log(1.0 - unit(a, b))).sqrt();
        radius * libm::cos(std::f64::consts::TAU * unit(c, d))
    }
}

/// The highest 53 bits of a word as a number in [0, 1).
#[inline(always)]
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

/// The lower half of a word.
const LOW: u64 = u32::MAX as u64;

/// The blocks of N counters, side by side: the first words of all, then the second ones and so on. Of each word only the lower
/// half counts, of what comes out too: so a vector unit multiplies without taking words apart.
#[inline(always)]
fn philox<const N: usize>([mut a, mut b, mut c, mut d]: [[u64; N]; 4], mut key: [u32; 2]) -> [[u64; N]; 4] {
    for _ in 0..10 {
        for lane in 0..N {
            let first = (a[lane] & LOW) * 0xD251_1F53;
            let second = (c[lane] & LOW) * 0xCD9E_8D57;
            a[lane] = (second >> 32) ^ b[lane] ^ u64::from(key[0]);
            b[lane] = second;
            c[lane] = (first >> 32) ^ d[lane] ^ u64::from(key[1]);
            d[lane] = first;
        }
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that the authors of Philox publish with it.
    #[test]
    fn philox_gives_its_published_known_answers() {
        let block = |counter: [u32; 4], key: [u32; 2]| {
            philox(counter.map(|word| [word.into()]), key).map(|[word]| word as u32)
        };
        assert_eq!(block([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(block([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            block([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn numbers_that_are_drawn_side_by_side_are_those_drawn_alone() {
        let stream = Stream::new(7 << 40 | 3, Purpose::DroppedEdges, 5);
        let positions: [u64; 11] = std::array::from_fn(|i| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        assert_eq!(stream.uniforms(positions), positions.map(|position| stream.uniform(position)));
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
}
