//! TOML with errors that say where: file, line, field, and the name that was probably meant.

use std::ops::Range;
use std::path::Path;

use edgepace_graph::nearest;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::LabError;

/// The text as a table, of which each part knows where it stands. `path` is what errors call it.
pub(crate) fn table<'a>(path: &Path, text: &'a str) -> Result<Spanned<DeTable<'a>>, LabError> {
    DeTable::parse(text).map_err(|error| wrong(path, text, error.span(), ".".to_owned(), error.message()))
}

/// The text as a value.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, LabError> {
    let read = toml::Deserializer::parse(text)
        .map_err(|error| wrong(path, text, error.span(), ".".to_owned(), error.message()))?;
    serde_path_to_error::deserialize(read).map_err(|error| {
        let field = error.path().to_string();
        let error = error.into_inner();
        wrong(path, text, error.span(), field, error.message())
    })
}

fn wrong(path: &Path, text: &str, span: Option<Range<usize>>, field: String, reason: &str) -> LabError {
    LabError::Plan {
        path: path.to_owned(),
        line: span.map(|span| line(text, span.start)),
        field: Some(field).filter(|field| field != "."),
        reason: readable(reason),
    }
}

/// What the reader of TOML says, in words of the field, with the name that was probably meant.
fn readable(reason: &str) -> String {
    let reason = reason.trim().replace('\n', " ");
    if let Some((found, legal)) = reason.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'))
        && let Some(near) = nearest(found, legal.split('`').skip(1).step_by(2))
    {
        return format!("there is no such field: did you mean `{near}`?");
    }
    let kinds = [("u32", "a whole number"), ("usize", "a whole number"), ("f64", "a number")];
    let kind = kinds.iter().find_map(|(kind, words)| Some((reason.strip_suffix(kind)?, words)));
    kind.map_or(reason.clone(), |(begin, words)| format!("{begin}{words}"))
}

/// The line of a byte, from 1.
pub(crate) fn line(text: &str, byte: usize) -> usize {
    1 + text.char_indices().take_while(|(at, _)| *at < byte).filter(|(_, letter)| *letter == '\n').count()
}

/// A step on the way to a part of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// An item of a list, from 0.
    Item(usize),
}

/// The line of a part of a text, or of the nearest part above it that is there.
pub(crate) fn line_of(text: &str, way: &[Step<'_>]) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let mut found = None;
    let mut table = Some(root.get_ref());
    let mut value: Option<&DeValue<'_>> = None;
    for step in way {
        let next = match step {
            Step::Key(name) => {
                let entry = table.and_then(|table| table.iter().find(|(key, _)| key.get_ref() == name));
                entry.map(|(key, value)| (key.span().start, value))
            }
            Step::Item(number) => match value {
                Some(DeValue::Array(items)) => items.get(*number).map(|item| (item.span().start, item)),
                _ => None,
            },
        };
        let Some((at, inner)) = next else { break };
        found = Some(line(text, at));
        value = Some(inner.get_ref());
        table = match inner.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => None,
        };
    }
    found
}

/// Whether a table has something at the end of that way.
pub(crate) fn has(table: &DeTable<'_>, keys: &[&str]) -> bool {
    let [key, rest @ ..] = keys else { return true };
    match table.iter().find(|(found, _)| found.get_ref() == key).map(|(_, value)| value.get_ref()) {
        Some(DeValue::Table(inner)) => has(inner, rest),
        Some(_) => rest.is_empty(),
        None => false,
    }
}
