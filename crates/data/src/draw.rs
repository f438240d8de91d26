//! Random choices that are the same on every machine and with any number of threads: each is a function of its position
//! in a stream.

use edgepace_graph::Threads;
use edgepace_graph::random::Stream;

/// After so many rounds of drawing again what was drawn before, there is hardly anything left to draw.
const ROUNDS: usize = 256;
/// How many blocks of a stream one draw may try.
const ATTEMPTS: u64 = 16;
/// Stands for a draw that gave nothing; no key is this large.
const NOTHING: u64 = u64::MAX;

/// The numbers below `count` in random order.
pub(crate) fn permutation(threads: &Threads, stream: Stream, count: usize) -> Vec<u32> {
    let mut order: Vec<(u64, u32)> = threads.map(count, |item| (stream.word(item as u64), item as u32));
    threads.sort(&mut order);
    threads.map(count, |place| order[place].1)
}

/// Exactly `count` of `of` items, each set of that size as likely as any other: true for the chosen.
pub(crate) fn choose(stream: Stream, of: usize, count: usize) -> Vec<bool> {
    let mut chosen = vec![false; of];
    let mut order: Vec<(u64, u32)> = (0..of as u32).map(|item| (stream.word(item.into()), item)).collect();
    if count < of {
        order.select_nth_unstable(count);
    }
    order[..count.min(of)].iter().for_each(|&(_, item)| chosen[item as usize] = true);
    chosen
}

/// Distinct keys, ascending.
pub(crate) struct Drawn {
    pub(crate) keys: Vec<u64>,
    /// Draws that repeated an earlier one.
    pub(crate) repeats: usize,
    /// Draws that gave nothing.
    pub(crate) nothing: usize,
}

/// The first `count` distinct keys among `draw(0)`, `draw(1)`, …; on failure how many there were.
///
/// Each round draws exactly as many as are missing, so that the result is what drawing one by one would give, whatever
/// the number of threads. 8 bytes per key and round, sorted in place.
pub(crate) fn distinct(
    threads: &Threads,
    count: usize,
    draw: impl Fn(u64) -> Option<u64> + Sync,
) -> Result<Drawn, usize> {
    let mut drawn = Drawn { keys: Vec::new(), repeats: 0, nothing: 0 };
    let mut position = 0;
    for _ in 0..ROUNDS {
        let missing = count - drawn.keys.len();
        if missing == 0 {
            return Ok(drawn);
        }
        let mut fresh: Vec<u64> =
            threads.map(missing, |next| draw(position + next as u64).unwrap_or(NOTHING));
        position += missing as u64;
        threads.sort(&mut fresh);
        fresh.truncate(fresh.partition_point(|&key| key != NOTHING));
        drawn.nothing += missing - fresh.len();
        let before = drawn.keys.len();
        let useful = fresh.len();
        fresh.dedup();
        remove_known(&mut fresh, &drawn.keys);
        merge(&mut drawn.keys, fresh);
        drawn.repeats += useful - (drawn.keys.len() - before);
    }
    if drawn.keys.len() == count { Ok(drawn) } else { Err(drawn.keys.len()) }
}

/// Exactly `count` of the `available` keys, ascending, each set of them as likely as any other.
///
/// `draw` turns random words into a key or nothing, each available key with the same probability; `all` lists the
/// available keys, and is only asked when a good part of them is wanted.
pub(crate) fn uniform(
    threads: &Threads,
    stream: Stream,
    count: usize,
    available: u64,
    draw: impl Fn([u32; 4]) -> Option<u64> + Sync,
    all: impl FnOnce() -> Vec<u64>,
) -> Vec<u64> {
    let attempts =
        |position| (0..ATTEMPTS).find_map(|attempt| draw(stream.block(position * ATTEMPTS + attempt)));
    if count as u64 <= available / 2
        && let Ok(drawn) = distinct(threads, count, attempts)
    {
        return drawn.keys;
    }
    let mut keys = all();
    keys.sort_unstable();
    let chosen = choose(stream, keys.len(), count);
    let mut position = 0;
    keys.retain(|_| {
        position += 1;
        chosen[position - 1]
    });
    keys
}

/// Two numbers below `bound`, from four random words.
pub(crate) fn two_below([a, b, c, d]: [u32; 4], bound: u64) -> (u32, u32) {
    (scale(a, b, bound) as u32, scale(c, d, bound) as u32)
}

/// A number below `bound`, from two random words.
pub(crate) fn scale(low: u32, high: u32, bound: u64) -> u64 {
    let word = u64::from(low) | u64::from(high) << 32;
    ((u128::from(word) * u128::from(bound)) >> 64) as u64
}

/// Uniform in [0, 1), from two random words.
pub(crate) fn unit(low: u32, high: u32) -> f64 {
    ((u64::from(low) | u64::from(high) << 32) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Removes from `fresh` what `known` holds; both are ascending.
fn remove_known(fresh: &mut Vec<u64>, known: &[u64]) {
    let mut rest = known;
    fresh.retain(|&key| {
        // Long jumps when few are fresh, short ones when many are.
        let mut stride = 1;
        while stride < rest.len() && rest[stride] < key {
            stride *= 2;
        }
        let end = (stride + 1).min(rest.len());
        rest = &rest[rest[..end].partition_point(|&other| other < key)..];
        rest.first() != Some(&key)
    });
}

/// Adds `fresh` to `keys`; both are ascending and have nothing in common.
pub(crate) fn merge(keys: &mut Vec<u64>, fresh: Vec<u64>) {
    if keys.is_empty() {
        *keys = fresh;
        return;
    }
    let (mut old, mut new) = (keys.len(), fresh.len());
    keys.resize(old + new, 0);
    while new > 0 {
        let place = old + new - 1;
        if old > 0 && keys[old - 1] > fresh[new - 1] {
            keys[place] = keys[old - 1];
            old -= 1;
        } else {
            keys[place] = fresh[new - 1];
            new -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use edgepace_graph::random::Purpose;

    use super::*;

    #[test]
    fn distinct_keys_are_those_of_drawing_one_by_one() {
        let stream = Stream::new(3, Purpose::GeneratedEdges, 0);
        let draw = |position| Some(stream.below(position, 1000)).filter(|key| key % 7 > 0);
        let drawn = distinct(&Threads::one(), 700, draw).unwrap();
        let (mut expected, mut position) = (std::collections::BTreeSet::new(), 0);
        while expected.len() < 700 {
            expected.extend(draw(position));
            position += 1;
        }
        assert_eq!(drawn.keys, Vec::from_iter(expected));
        assert_eq!(drawn.repeats + drawn.nothing + 700, position as usize);
        assert_eq!(distinct(&Threads::one(), 900, draw).err(), Some(857));
    }

    #[test]
    fn few_and_many_of_the_available_are_equally_likely() {
        for count in [3, 9] {
            let mut times = [0_u32; 10];
            for seed in 0..4000 {
                let stream = Stream::new(seed, Purpose::GeneratedEdges, 0);
                let draw = |[a, b, ..]: [u32; 4]| Some(scale(a, b, 12)).filter(|&key| key < 10);
                let keys = uniform(&Threads::one(), stream, count, 10, draw, || (0..10).collect());
                assert_eq!(keys.len(), count);
                for key in keys {
                    times[key as usize] += 1;
                }
            }
            // Five standard deviations of a binomial.
            let (mean, spread) = (400.0 * count as f64, (40.0 * count as f64 * (10 - count) as f64).sqrt());
            assert!(times.iter().all(|&n| (f64::from(n) - mean).abs() < 5.0 * spread), "{count}: {times:?}");
        }
    }

    #[test]
    fn a_choice_and_a_permutation_have_their_size() {
        let stream = Stream::new(1, Purpose::Split, 0);
        for count in 0..=20 {
            assert_eq!(choose(stream, 20, count).iter().filter(|&&chosen| chosen).count(), count);
        }
        let mut order = permutation(&Threads::one(), stream, 100);
        assert_ne!(order, (0..100).collect::<Vec<u32>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<u32>>());
    }
}
