//! Edges line by line, as NetworkX's `write_edgelist` writes them: `u v`, `u v 3.0` or `u v {'weight': 3.0}`, ends and
//! weight apart by blanks, comments after `#`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use edgepace_graph::is_weight;

use super::Columns;
use super::edges::{EdgeBuilder, EdgeTable};
use super::ids::Ids;
use crate::DataError;
use crate::error::{Place, excerpt, format_error, io_error};
use crate::import::{EdgeValues, WEIGHT};

pub(crate) fn read(
    file: &Path,
    columns: &Columns,
    ids: Option<Ids>,
) -> Result<(EdgeTable, EdgeValues), DataError> {
    let data = File::open(file).map_err(io_error("read", file))?;
    read_lines(file, BufReader::new(data), columns, ids)
}

/// A file that is already in memory.
pub(crate) fn read_bytes(file: &Path, bytes: &[u8]) -> Result<(), DataError> {
    read_lines(file, bytes, &Columns::default(), None).map(drop)
}

fn read_lines(
    file: &Path,
    mut data: impl BufRead,
    columns: &Columns,
    ids: Option<Ids>,
) -> Result<(EdgeTable, EdgeValues), DataError> {
    let weight = columns.weight.as_deref().unwrap_or("weight");
    let mut edges = EdgeBuilder::new(file, ids);
    // The weight comes first, then the other columns that were asked for.
    let keys: Vec<&str> =
        std::iter::once(weight).chain(columns.edge_values.iter().map(String::as_str)).collect();
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); keys.len()];
    let mut text = Vec::new();
    let mut line = 0;
    loop {
        text.clear();
        line += 1;
        if data.read_until(b'\n', &mut text).map_err(io_error("read", file))? == 0 {
            break;
        }
        let at = || Place::Line(line);
        let content = std::str::from_utf8(&text)
            .map_err(|_| format_error(file, at(), "text in UTF-8", excerpt(&text)))?;
        let content = content.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let expected = "`source target`, with a weight or a dictionary behind if any";
        let wrong = || format_error(file, at(), expected, excerpt(content.as_bytes()));
        let (source, rest) = content.split_once(char::is_whitespace).ok_or_else(wrong)?;
        let rest = rest.trim_start();
        let (target, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let data = data.trim_start();
        edges.push(source.as_bytes(), target.as_bytes(), at)?;
        let found = if let Some(inner) = data.strip_prefix('{') {
            let inner = inner.strip_suffix('}').ok_or_else(wrong)?;
            dictionary(inner, &keys).ok_or_else(wrong)?
        } else {
            let first = if data.is_empty() { None } else { Some(data.parse().map_err(|_| wrong())?) };
            std::iter::once(first).chain(keys[1..].iter().map(|_| None)).collect()
        };
        if let Some(&Some(value)) = found.first()
            && !is_weight(value)
        {
            return Err(format_error(file, at(), WEIGHT, value.to_string()));
        }
        for (position, (value, column)) in found.into_iter().zip(&mut values).enumerate() {
            // A column is there for every edge or for none.
            match value {
                Some(value) if column.len() + 1 == edges.len() => column.push(value),
                None if column.is_empty() => {}
                _ => {
                    let expected = format!("`{}` on every line or on none", keys[position]);
                    return Err(format_error(file, at(), expected, excerpt(content.as_bytes())));
                }
            }
        }
    }
    let mut values = values.into_iter();
    let weights = values.next().filter(|weights| !weights.is_empty());
    let table = edges.finish(weights);
    let edges = table.sources.len();
    let mut others = Vec::new();
    for (name, column) in columns.edge_values.iter().zip(values) {
        if column.len() != edges {
            return Err(format_error(file, Place::Whole, format!("`{name}` on every line"), "none"));
        }
        others.push((name.clone(), column));
    }
    Ok((table, others))
}

/// The numbers of `keys` in the inside of a flat Python dictionary; `None` when it is not one.
fn dictionary(mut rest: &str, keys: &[&str]) -> Option<Vec<Option<f32>>> {
    let mut found = vec![None; keys.len()];
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Some(found);
        }
        let (key, after) = quoted(rest)?;
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        let (token, after) = match quoted(value) {
            Some((_, after)) => ("", after),
            None => value.split_at(value.find(',').unwrap_or(value.len())),
        };
        if let Some(position) = keys.iter().position(|own| *own == key) {
            found[position] = Some(token.trim().parse().ok()?);
        }
        let after = after.trim_start();
        rest = if after.is_empty() { after } else { after.strip_prefix(',')? };
    }
}

/// A quoted text at the start, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    let inner = &text[1..];
    let mut escaped = false;
    for (place, letter) in inner.char_indices() {
        if letter == quote && !escaped {
            return Some((&inner[..place], &inner[place + 1..]));
        }
        escaped = letter == '\\' && !escaped;
    }
    None
}
