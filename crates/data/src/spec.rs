//! Settings written as `key=value,key=value`, as names of generated graphs and descriptions of noise are.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use edgepace_graph::Refusal;

use crate::DataError;
use crate::error::request_error;

/// How much of a wrong text an error repeats.
const QUOTED: usize = 80;

/// Settings by key, each known and given once. Their values are read, and checked, one by one.
pub(crate) struct Spec<'a> {
    /// What the settings are for, as in "synthetic".
    what: &'static str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Spec<'a> {
    /// Reads `key=value,…`, which may be empty; `keys` are the legal keys.
    pub(crate) fn parse(what: &'static str, text: &'a str, keys: &[&str]) -> Result<Spec<'a>, DataError> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(request_error(what, quote(part), "`key=value` between commas")
                    .with_help(format!("the keys are {}", keys.join(", "))));
            };
            let (key, value) = (key.trim(), value.trim());
            if !keys.contains(&key) {
                let refusal = Refusal::unknown(what, &quote(key), "one of its keys", keys.iter().copied());
                return Err(DataError::Request { refusal, help: String::new() });
            }
            if pairs.iter().any(|&(known, _)| known == key) {
                return Err(request_error(what, quote(part), format!("`{key}` only once")));
            }
            pairs.push((key, value));
        }
        Ok(Spec { what, pairs })
    }

    /// The value of `key` as it was written.
    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|&&(known, _)| known == key).map(|&(_, value)| value)
    }

    /// The value of `key` as a number within `legal`, if it was given.
    pub(crate) fn given<T>(&self, key: &str, legal: RangeInclusive<T>) -> Result<Option<T>, DataError>
    where
        T: FromStr + PartialOrd + Display,
    {
        let Some(text) = self.text(key) else { return Ok(None) };
        // A NaN is in no range.
        match text.parse::<T>() {
            Ok(value) if legal.contains(&value) => Ok(Some(value)),
            _ => {
                let expected = format!("a number from {} to {}", legal.start(), legal.end());
                Err(self.error(key, text, expected))
            }
        }
    }

    /// The value of `key` as a number within `legal`, or `default`.
    pub(crate) fn number<T>(&self, key: &str, default: T, legal: RangeInclusive<T>) -> Result<T, DataError>
    where
        T: FromStr + PartialOrd + Display,
    {
        Ok(self.given(key, legal)?.unwrap_or(default))
    }

    /// An error about the value of `key`.
    pub(crate) fn error(&self, key: &str, found: &str, expected: impl Into<String>) -> DataError {
        request_error(format!("{}: {key}", self.what), quote(found), expected)
    }
}

/// The text, cut where it gets long.
pub(crate) fn quote(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_by_key() {
        let spec = Spec::parse("test", " a = 3, b=0.5 ", &["a", "b", "c"]).unwrap();
        assert_eq!(spec.number("a", 1_usize, 0..=9).unwrap(), 3);
        assert_eq!(spec.number("b", 0.0, 0.0..=1.0).unwrap(), 0.5);
        assert_eq!(spec.number("c", 7_u64, 0..=9).unwrap(), 7);
        assert!(Spec::parse("test", "", &["a"]).unwrap().text("a").is_none());
    }

    #[test]
    fn what_is_wrong_is_named_with_what_would_be_right() {
        let error = |text| match Spec::parse("test", text, &["a", "b"]) {
            Err(error) => error.to_string(),
            Ok(spec) => spec.number("a", 1.0, 0.0..=9.0).unwrap_err().to_string(),
        };
        assert_eq!(error("c=1"), "`test` is `c`, expected one of its keys: a, b");
        let slip = Spec::parse("test", "homophilly=1", &["nodes", "homophily"]).err().unwrap();
        assert_eq!(
            slip.to_string(),
            "`test` is `homophilly`, expected one of its keys: did you mean `homophily`?"
        );
        assert_eq!(error("a=1,a=2"), "`test` is `a=2`, expected `a` only once");
        assert_eq!(error("a"), "`test` is `a`, expected `key=value` between commas: the keys are a, b");
        assert_eq!(error("a=10"), "`test: a` is `10`, expected a number from 0 to 9");
        assert_eq!(error("a=NaN"), "`test: a` is `NaN`, expected a number from 0 to 9");
        assert!(error(&"x=".repeat(5000)).len() < 300);
    }
}
