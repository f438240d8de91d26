//! A setting of a run or of its method, as a person meets it.

use serde::Serialize;
use toml::Value;

/// A setting of a run or of its method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What it means and which values are legal.
    pub meaning: &'static str,
    /// Values worth trying, as one types them, the choice being made on validation; empty where a search is not worth its time.
    pub search: &'static [&'static str],
}

impl Setting {
    /// One that is not worth a search.
    pub(crate) const fn fixed(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, search: &[] }
    }

    /// The values worth trying.
    pub fn trials(&self) -> impl Iterator<Item = Value> {
        self.search.iter().map(|text| literal(text))
    }
}

/// A value as one types it: a number, true or false, or else text.
pub(crate) fn literal(text: &str) -> Value {
    if let Ok(integer) = text.parse::<i64>() {
        Value::Integer(integer)
    } else if let Ok(float) = text.parse::<f64>() {
        Value::Float(float)
    } else {
        text.parse().map_or_else(|_| Value::String(text.into()), Value::Boolean)
    }
}
