//! How a run searches for its settings, as a person writes it.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Trainings that `halving` begins with.
pub(crate) const HALVING_BEGINS_WITH: u32 = 27;
/// Fewer would have no second round.
const HALVING_NEEDS: u32 = 9;
/// More trainings than anyone means.
const MOST: u32 = 10_000;

/// How a run searches for its settings; the choice is made on validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Not at all.
    #[default]
    Off,
    /// One setting after the other, each with the best of what was tried before: `true` or `settings`.
    Settings,
    /// Every combination of the paper's space: `grid`.
    Grid,
    /// So many combinations, drawn at random by the seed of the run: `random:20`.
    Random(u32),
    /// Successive halving: many combinations for a few epochs, the best third of them for three times as many, and so on:
    /// `halving`, or `halving:27` for the number that it begins with.
    Halving(u32),
}

impl Search {
    /// Whether there is one.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

impl From<bool> for Search {
    fn from(searches: bool) -> Self {
        if searches { Self::Settings } else { Self::Off }
    }
}

impl FromStr for Search {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, number) = text.split_once(':').map_or((text, None), |(kind, number)| (kind, Some(number)));
        let wrong = || {
            format!(
                "`{text}` is none of `settings`, `grid`, `random:N` (N from 2 to {MOST}), `halving` and `halving:N` (N from \
                 {HALVING_NEEDS} to {MOST})"
            )
        };
        let number = number.map(|number| match number.trim().parse::<u32>() {
            Ok(number) if number <= MOST => Ok(number),
            _ => Err(wrong()),
        });
        match (kind.trim(), number.transpose()?) {
            ("settings" | "true", None) => Ok(Self::Settings),
            ("off" | "false", None) => Ok(Self::Off),
            ("grid", None) => Ok(Self::Grid),
            ("random", Some(number)) if number >= 2 => Ok(Self::Random(number)),
            ("halving", None) => Ok(Self::Halving(HALVING_BEGINS_WITH)),
            ("halving", Some(number)) if number >= HALVING_NEEDS => Ok(Self::Halving(number)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("false"),
            Self::Settings => f.write_str("true"),
            Self::Grid => f.write_str("grid"),
            Self::Random(number) => write!(f, "random:{number}"),
            Self::Halving(number) => write!(f, "halving:{number}"),
        }
    }
}

/// `false` and `true` are written as such, so that ids stay what they were.
impl Serialize for Search {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Settings => serializer.serialize_bool(true),
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for Search {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Kind;
        impl Visitor<'_> for Kind {
            type Value = Search;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, `grid`, `random:N` or `halving`")
            }

            fn visit_bool<E: Error>(self, searches: bool) -> Result<Search, E> {
                Ok(searches.into())
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Search, E> {
                text.parse().map_err(|reason: String| E::custom(format!("invalid search: {reason}")))
            }
        }
        deserializer.deserialize_any(Kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_written_as_they_are_read_and_true_stays_true() {
        for text in ["true", "false", "grid", "random:20", "halving:9"] {
            assert_eq!(text.parse::<Search>().unwrap().to_string(), text);
        }
        assert_eq!("halving".parse::<Search>(), Ok(Search::Halving(HALVING_BEGINS_WITH)));
        assert_eq!(serde_json::to_string(&Search::Settings).unwrap(), "true");
        assert_eq!(serde_json::from_str::<Search>("\"grid\"").unwrap(), Search::Grid);
        for wrong in ["", "gird", "random", "random:1", "random:x", "grid:3", "halving:8", "halving:100000"] {
            assert!(wrong.parse::<Search>().is_err(), "{wrong}");
        }
    }
}
