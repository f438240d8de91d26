//! Seeds as one types them.

use std::str::FromStr;

/// More runs than anyone means.
const MOST: u64 = 10_000;

/// Seeds, each once, in the order given: `5`, `0,2,7`, or `0..3` for 0, 1 and 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |part: &str| format!("`{part}` is none of `5`, `0,2,7` and `0..3` (which means 0, 1, 2)");
        let mut seeds: Vec<u64> = Vec::new();
        for part in text.split(',') {
            let number = |digits: &str| digits.trim().parse::<u64>().map_err(|_| wrong(part));
            let (first, end) = match part.split_once("..") {
                Some((first, end)) => (number(first)?, number(end)?),
                None => (number(part)?, number(part)?.saturating_add(1)),
            };
            if first >= end {
                return Err(format!("`{part}` has no seed in it: the end is not part of a range"));
            }
            if end - first > MOST || seeds.len() as u64 + (end - first) > MOST {
                return Err(format!("more than {MOST} seeds"));
            }
            seeds.extend(first..end);
        }
        let mut sorted = seeds.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("seed {} is there twice", pair[0])),
            None => Ok(Self(seeds)),
        }
    }
}

/// The seed of what there is one of, as a graph file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OneSeed(pub(crate) u64);

impl FromStr for OneSeed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<Seeds>()?.0[..] {
            [seed] => Ok(Self(seed)),
            _ => Err("expected one seed: here is one graph to make, not one per seed".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_numbers_lists_and_ranges_without_their_end() {
        let seeds = |text: &str| text.parse::<Seeds>().map(|seeds| seeds.0);
        assert_eq!(seeds("5"), Ok(vec![5]));
        assert_eq!(seeds("0..3"), Ok(vec![0, 1, 2]));
        assert_eq!(seeds("7,0..2"), Ok(vec![7, 0, 1]));
        for wrong in ["", "x", "3..3", "0..", "1,1", "0..99999999"] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }
}
