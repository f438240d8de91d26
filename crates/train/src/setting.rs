//! A setting of a method, as a person meets it.

use serde::Serialize;
use toml::Value;

use crate::config::literal;

/// A setting of a method.
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
