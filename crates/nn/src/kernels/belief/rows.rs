//! Rows of one number per class, a batch of them at a time.
//!
//! A row is as long as there are classes, and the next one follows it at once. Powers and logarithms are taken of a whole batch
//! as one long list. What concerns a row alone is done by tiles of W numbers in registers, of which the last reaches into the
//! rows that follow: what it reads there is not used, and what it writes there is written again after it.

use crate::real::Real;
use crate::simd::prefetch;

use super::Compatibility;

/// Rows of a batch.
pub(super) const BATCH: usize = 32;

/// Rows that are multiplied together.
pub(super) const TOGETHER: usize = 4;

/// Ψ in tiles of W numbers, and zeros after the last class.
pub(super) struct Padded<T, const W: usize> {
    pub(super) classes: usize,
    /// The first tile of each row, then the second of each.
    pub(super) values: Vec<[T; W]>,
    /// For each tile of a row: ∞ where there is a class, and the least number after the last. The smaller of a number and its
    /// limit is then the number, or nothing that could be the largest.
    limits: Vec<[T; W]>,
}

impl<T: Real, const W: usize> Padded<T, W> {
    pub(super) fn new(by: Compatibility<'_, T>) -> Self {
        let classes = by.classes;
        let (mut values, mut limits) = (Vec::new(), Vec::new());
        for first in (0..classes).step_by(W) {
            let count = usize::min(W, classes - first);
            let padded = |row: &[T], padding: T| -> [T; W] {
                std::array::from_fn(|lane| if lane < count { row[first + lane] } else { padding })
            };
            values.extend(by.values.chunks_exact(classes).map(|row| padded(row, T::ZERO)));
            limits.push(padded(&vec![T::of(f64::INFINITY); classes], T::MIN));
        }
        Self { classes, values, limits }
    }

    /// Tiles of a row.
    pub(super) fn tiles(&self) -> usize {
        self.limits.len()
    }

    /// Room for the rows of a batch, and for the last tile to reach beyond.
    pub(super) fn rows(&self) -> Vec<T> {
        vec![T::ZERO; BATCH * self.classes + W]
    }

    /// `mixed` = τ·qΨ + 1 − τ, a row for each row of q.
    #[inline(always)]
    pub(super) fn mix(&self, q: &[T], rows: usize, trust: Option<&[f32]>, mixed: &mut [T]) {
        let mut row = 0;
        while row + TOGETHER <= rows {
            self.mix_rows::<TOGETHER>(q, row, trust, mixed);
            row += TOGETHER;
        }
        while row < rows {
            self.mix_rows::<1>(q, row, trust, mixed);
            row += 1;
        }
    }

    /// The same for R rows from `first` on.
    #[inline(always)]
    fn mix_rows<const R: usize>(&self, q: &[T], first: usize, trust: Option<&[f32]>, mixed: &mut [T]) {
        let classes = self.classes;
        let q: [&[T]; R] = std::array::from_fn(|r| &q[(first + r) * classes..][..classes]);
        // From the last tile to the first: where one reaches beyond its row, what belongs there is written after it.
        for tile in (0..self.tiles()).rev() {
            let values = &self.values[tile * classes..][..classes];
            let mut sums = [[T::ZERO; W]; R];
            for d in 0..classes {
                for r in 0..R {
                    for lane in 0..W {
                        sums[r][lane] = q[r][d].mul_add(values[d][lane], sums[r][lane]);
                    }
                }
            }
            for (r, mut sums) in sums.into_iter().enumerate() {
                if let Some(trust) = trust {
                    let trust = T::of(f64::from(trust[first + r]));
                    sums = sums.map(|ratio| trust.mul_add(ratio, T::ONE - trust));
                }
                store(mixed, (first + r) * classes + tile * W, sums);
            }
        }
    }
}

/// What nodes believe without one of their neighbours each: a batch of rows, one after the other.
pub(super) struct Cavities<T, const W: usize> {
    classes: usize,
    limits: Vec<[T; W]>,
    /// What is not yet normalised.
    powers: Vec<T>,
    pub(super) rows: Vec<T>,
}

impl<T: Real, const W: usize> Cavities<T, W> {
    pub(super) fn new(by: &Padded<T, W>) -> Self {
        Self { classes: by.classes, limits: by.limits.clone(), powers: by.rows(), rows: by.rows() }
    }

    /// q ∝ exp(sums − message), which adds up to 1, of each pair of a node and a message.
    #[inline(always)]
    pub(super) fn fill(
        &mut self,
        (sums, messages): (&[T], &[T]),
        count: usize,
        pair: impl Fn(usize) -> (usize, usize),
    ) {
        let classes = self.classes;
        for row in 0..count {
            let (node, message) = pair(row);
            prefetch(&sums[node * classes..][..classes]);
            prefetch(&messages[message * classes..][..classes]);
        }
        let (mut of_sums, mut of_messages) = ([T::ZERO; W], [T::ZERO; W]);
        let mut end = 0;
        for row in 0..count {
            let (node, message) = pair(row);
            let (node, message) = (node * classes, message * classes);
            let mut peaks = [T::MIN; W];
            let mut at = 0;
            for limits in &self.limits {
                let sums = tile(sums, node + at, &mut of_sums);
                let messages = tile(messages, message + at, &mut of_messages);
                let mut rest = [T::ZERO; W];
                for lane in 0..W {
                    rest[lane] = sums[lane] - messages[lane];
                    peaks[lane] = peaks[lane].max(rest[lane].min(limits[lane]));
                }
                store(&mut self.powers, end + at, rest);
                at += W;
            }
            let peak = largest(peaks);
            let mut at = 0;
            while at < classes {
                let rest: [T; W] = load(&self.powers, end + at);
                store(&mut self.powers, end + at, rest.map(|x| x - peak));
                at += W;
            }
            end += classes;
        }
        for power in &mut self.powers[..end] {
            *power = power.exp();
        }
        let mut start = 0;
        while start < end {
            let total = self.powers[start..][..classes].iter().fold(T::ZERO, |total, &power| total + power);
            let share = T::ONE / total;
            let mut at = 0;
            while at < classes {
                let powers: [T; W] = load(&self.powers, start + at);
                store(&mut self.rows, start + at, powers.map(|power| power * share));
                at += W;
            }
            start += classes;
        }
    }
}

/// W numbers from position `at` on: a tile of a row, with whatever follows the row. At the end of the slice they are put into
/// `spare`: which place is read is then all that differs, and the numbers go to registers together.
#[inline(always)]
pub(super) fn tile<'a, T: Real, const W: usize>(
    values: &'a [T],
    at: usize,
    spare: &'a mut [T; W],
) -> &'a [T; W] {
    let rest = &values[at..];
    rest.first_chunk().unwrap_or_else(|| {
        spare[..rest.len()].copy_from_slice(rest);
        spare
    })
}

/// The same where the slice goes on far enough.
#[inline(always)]
pub(super) fn load<T: Real, const W: usize>(values: &[T], at: usize) -> [T; W] {
    let mut tile = [T::ZERO; W];
    tile.copy_from_slice(&values[at..at + W]);
    tile
}

/// Writes a tile to position `at`.
#[inline(always)]
fn store<T: Real, const W: usize>(values: &mut [T], at: usize, tile: [T; W]) {
    values[at..at + W].copy_from_slice(&tile);
}

/// The largest of some numbers; NaN does not count.
#[inline(always)]
fn largest<T: Real, const W: usize>(mut lanes: [T; W]) -> T {
    let mut half = W / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = lanes[lane].max(lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}
