//! Seeds as one types them.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// More runs than anyone means.
const MOST: u64 = 10_000;

/// Seeds, each once, in the order given: `5`, `0,2,7`, or `0..3` for 0, 1 and 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(Vec<u64>);

impl Seeds {
    /// These seeds.
    ///
    /// # Errors
    /// No seed, too many, or one that is there twice.
    pub fn new(seeds: Vec<u64>) -> Result<Self, String> {
        if seeds.is_empty() {
            return Err("there is no seed".to_owned());
        }
        if seeds.len() as u64 > MOST {
            return Err(format!("more than {MOST} seeds"));
        }
        let mut sorted = seeds.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("seed {} is there twice", pair[0])),
            None => Ok(Self(seeds)),
        }
    }

    /// One seed.
    pub fn one(seed: u64) -> Self {
        Self(vec![seed])
    }

    /// One by one.
    pub fn into_vec(self) -> Vec<u64> {
        self.0
    }

    /// One by one.
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |part: &str| format!("`{part}` is none of `5`, `0,2,7` and `0..3` (which means 0, 1, 2)");
        let mut seeds: Vec<u64> = Vec::new();
        for part in text.split(',') {
            let number = |digits: &str| digits.trim().parse::<u64>().map_err(|_| wrong(part));
            let Some((first, end)) = part.split_once("..") else {
                seeds.push(number(part)?);
                continue;
            };
            let (first, end) = (number(first)?, number(end)?);
            if first >= end {
                return Err(format!("`{part}` has no seed in it: the end is not part of a range"));
            }
            if end - first > MOST || seeds.len() as u64 + (end - first) > MOST {
                return Err(format!("more than {MOST} seeds"));
            }
            seeds.extend(first..end);
        }
        Self::new(seeds)
    }
}

/// Three or more that follow each other are a range.
impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = &self.0[..];
        let mut comma = "";
        while let Some(&first) = rest.first() {
            let follows = |(step, &seed): (usize, &u64)| first.checked_add(step as u64) == Some(seed);
            let run = rest.iter().enumerate().take_while(|&pair| follows(pair)).count();
            match first.checked_add(run as u64) {
                Some(end) if run > 2 => {
                    write!(f, "{comma}{first}..{end}")?;
                    rest = &rest[run..];
                }
                _ => {
                    write!(f, "{comma}{first}")?;
                    rest = &rest[1..];
                }
            }
            comma = ",";
        }
        Ok(())
    }
}

impl Serialize for Seeds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// As text, as a number, or as a list of numbers.
impl<'de> Deserialize<'de> for Seeds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Seeds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("seeds as `\"0..3\"`, `5` or `[0, 2, 7]`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Seeds, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_u64<E: Error>(self, seed: u64) -> Result<Seeds, E> {
                Seeds::new(vec![seed]).map_err(E::custom)
            }

            fn visit_i64<E: Error>(self, seed: i64) -> Result<Seeds, E> {
                let seed = u64::try_from(seed);
                seed.map_err(|_| E::custom("a seed is at least 0")).and_then(|seed| self.visit_u64(seed))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Seeds, A::Error> {
                let mut seeds = Vec::new();
                while let Some(seed) = list.next_element()? {
                    seeds.push(seed);
                }
                Seeds::new(seeds).map_err(A::Error::custom)
            }
        }

        deserializer.deserialize_any(Any)
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
        assert_eq!(seeds("18446744073709551615"), Ok(vec![u64::MAX]));
        for wrong in ["", "x", "3..3", "0..", "1,1", "0..99999999"] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn seeds_are_written_as_they_are_read() {
        for text in ["5", "0..3", "7,0,1", "0,1", "3..6,0..3", "18446744073709551614,18446744073709551615"] {
            assert_eq!(text.parse::<Seeds>().unwrap().to_string(), text);
        }
    }
}
