//! Ranks, and the random order that a curriculum is measured against.

use edgepace_graph::random::{Purpose, Stream};

/// Bits of a digit of [`sort`], and their places: three digits are the upper half of a key.
const DIGIT: u32 = 11;
const PLACES: [u32; 3] = [32, 32 + DIGIT, 32 + 2 * DIGIT];

/// Sets `gaps[i]` = 1 − rank/n for the rank of `keys[i]`'s upper half, 1 being the lowest; equal ones share their mean rank.
///
/// The lower half of a key is the position i. The keys are left sorted; `scratch` is any memory.
pub(crate) fn gaps_by_rank(keys: &mut Vec<u64>, scratch: &mut Vec<u64>, gaps: &mut [f32]) {
    sort(keys, scratch);
    let n = keys.len() as f64;
    let mut start = 0;
    while start < keys.len() {
        let value = keys[start] >> 32;
        let mut end = start + 1;
        while end < keys.len() && keys[end] >> 32 == value {
            end += 1;
        }
        // The mean of the ranks start + 1 to end.
        let rank = (start + 1 + end) as f64 / 2.0;
        for &key in &keys[start..end] {
            gaps[key as u32 as usize] = (1.0 - rank / n) as f32;
        }
        start = end;
    }
}

/// Sorts by the upper halves; equal ones stay in their order. By digits from the last to the first, two passes for each.
fn sort(keys: &mut Vec<u64>, scratch: &mut Vec<u64>) {
    let digit = |key: u64, place: u32| (key >> place) as usize & ((1 << DIGIT) - 1);
    scratch.resize(keys.len(), 0);
    for place in PLACES {
        let mut next = [0_usize; 1 << DIGIT];
        for &key in &*keys {
            next[digit(key, place)] += 1;
        }
        let mut before = 0;
        for count in &mut next {
            before += std::mem::replace(count, before);
        }
        for &key in &*keys {
            let next = &mut next[digit(key, place)];
            scratch[*next] = key;
            *next += 1;
        }
        std::mem::swap(keys, scratch);
    }
}

/// A key that sorts like `score`, with the position in its lower half. NaN has no place here.
#[inline(always)]
pub(crate) fn key(score: f32, position: usize) -> u64 {
    let bits = (score + 0.0).to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    u64::from(ordered) << 32 | position as u64
}

/// The gaps of a random order of `count` edges: each rank once.
pub(crate) fn random_gaps(count: usize, seed: u64) -> Vec<f32> {
    let stream = Stream::new(seed, Purpose::EdgeOrder, 0);
    // Equal 64-bit words keep the order of their positions, so that even then each rank is taken once.
    let mut order: Vec<(u64, u32)> = (0..count).map(|i| (stream.word(i as u64), i as u32)).collect();
    order.sort_unstable();
    let mut gaps = vec![0.0; count];
    for (place, &(_, position)) in order.iter().enumerate() {
        gaps[position as usize] = (1.0 - (place + 1) as f64 / count as f64) as f32;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_in_0_to_1_and_ties_share_their_mean() {
        let scores = [3.0, -1.5, 3.0, 0.0, -0.0, -7.0, f32::INFINITY, 1e-30];
        let mut keys: Vec<u64> = scores.iter().enumerate().map(|(i, &s)| key(s, i)).collect();
        let mut gaps = vec![0.0; scores.len()];
        gaps_by_rank(&mut keys, &mut Vec::new(), &mut gaps);
        assert!(keys.is_sorted());
        for (i, &score) in scores.iter().enumerate() {
            let below = scores.iter().filter(|&&s| s < score).count() as f32;
            let equal = scores.iter().filter(|&&s| s == score).count() as f32;
            let kappa = (below + f32::midpoint(equal, 1.0)) / scores.len() as f32;
            assert!((1.0 - gaps[i] - kappa).abs() < 1e-6, "{i}: {} {kappa}", 1.0 - gaps[i]);
        }
    }

    #[test]
    fn digits_sort_as_comparisons_do() {
        let stream = Stream::new(5, Purpose::Benchmark, 0);
        for count in [0, 1, 2, 5000] {
            let score = |i: usize| f32::from_bits(stream.word(i as u64 / 3) as u32);
            let mut keys: Vec<u64> = (0..count).map(|i| key(score(i), i)).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            sort(&mut keys, &mut vec![7; 3]);
            assert_eq!(keys, expected);
        }
    }

    #[test]
    fn a_random_order_takes_every_rank_once_and_differs_by_seed() {
        let gaps = random_gaps(500, 3);
        let mut sorted = gaps.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        for (place, gap) in sorted.iter().enumerate() {
            assert!((gap - place as f32 / 500.0).abs() < 1e-6);
        }
        assert_eq!(gaps, random_gaps(500, 3));
        assert_ne!(gaps, random_gaps(500, 4));
        assert!(random_gaps(0, 1).is_empty());
    }
}
