//! What went wrong when edges and nodes do not find each other, and which setting would help.

use std::collections::HashSet;

use super::column::{Markers, Table};
use super::delimited::Head;
use super::edges::NO_SUCH_NODE;
use super::roles::{Given, Roles};
use super::{Format, Import};
use crate::DataError;
use crate::error::excerpt;

/// Rows of the edges that are looked at.
const LOOKED_AT: usize = 100;
/// The share of values that must be found for two columns to belong together.
const FITS: f64 = 0.9;

/// The first rows of the edges; `None` where they are in no table.
pub(super) fn head_of_edges(format: Format, request: &Import, rows: usize) -> Option<Head> {
    match format {
        Format::Csv | Format::Tsv => {
            super::delimited::head(&request.edges, &super::layout(format, request), rows)
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => super::parquet::head(&request.edges, &request.columns, rows),
        _ => None,
    }
}

/// Where no column is called an id, takes the one that the edges use: the names of nodes, or else the only column without a
/// gap or a repeat that has all ends of the first edges. Not where numbers of rows would do as well.
pub(super) fn adopt_ids(table: &Table, roles: &mut Roles, format: Format, request: &Import) {
    if roles.of.contains(&Given::Id) {
        return;
    }
    let Some(head) = head_of_edges(format, request, LOOKED_AT) else { return };
    let ends = ends(&head);
    if ends.is_empty() {
        return;
    }
    let name = roles.of.iter().position(|role| *role == Given::Name);
    if let Some(column) = name.filter(|&column| share(&ends, &texts(table, column)) >= FITS) {
        roles.of[column] = Given::Id;
        return;
    }
    let is_row = |end: &&str| end.parse::<usize>().is_ok_and(|row| row < table.rows);
    if ends.iter().any(is_row) {
        return;
    }
    let names_all = |column: &usize| {
        // Most columns have not even the first.
        let mut has_first = false;
        table.columns[*column].cells.for_each(Markers(&[]), |_, cell| has_first |= cell.text() == ends[0]);
        if !has_first {
            return false;
        }
        let texts = texts(table, *column);
        texts.len() == table.rows && ends.iter().all(|end| texts.contains(*end))
    };
    let free = (0..roles.of.len()).filter(|&column| roles.of[column] == Given::Perhaps);
    if let [column] = free.filter(names_all).collect::<Vec<_>>()[..] {
        roles.of[column] = Given::Id;
    }
}

/// Adds to an error about the end of an edge that no node has which setting would help.
pub(super) fn unknown_node(
    error: DataError,
    table: Option<&Table>,
    roles: Option<&Roles>,
    format: Format,
    request: &Import,
) -> DataError {
    let DataError::Format { file, place, expected, found, help } = error else { return error };
    let (NO_SUCH_NODE, Some(table), Some(roles)) = (&expected[..], table, roles) else {
        return DataError::Format { file, place, expected, found, help };
    };
    let help = advice(table, roles, format, request).unwrap_or(help);
    DataError::Format { file, place, expected, found, help }
}

fn advice(table: &Table, roles: &Roles, format: Format, request: &Import) -> Option<String> {
    let head = head_of_edges(format, request, LOOKED_AT)?;
    let id = roles.of.iter().position(|role| *role == Given::Id);
    let ids: HashSet<String> = match id {
        Some(column) => texts(table, column),
        None => (0..table.rows).map(|row| row.to_string()).collect(),
    };
    let ends = ends(&head);
    let begins = || {
        let rows = head.rows.iter().take(2).map(|row| excerpt(row.join(",").as_bytes()));
        let names = head.named.then(|| excerpt(head.names.join(",").as_bytes()));
        format!("the edges begin with {}", names.into_iter().chain(rows).collect::<Vec<_>>().join(", "))
    };
    // The ids may be in another column of the nodes, or the ends in other columns of the edges; the latter is the less
    // likely where the ids are the numbers of rows, because other columns have small numbers as well.
    let own = share(&ends, &ids);
    let (other_id, other_ends) = (|| other_id(table, id, &ends, own), || other_ends(&head, &ids, own));
    let other = if id.is_some() { other_ends().or_else(other_id) } else { other_id().or_else(other_ends) };
    if other.is_some() {
        return other;
    }
    if !head.named && head.rows.len() > 1 && share(ends.get(2..).unwrap_or_default(), &ids) >= FITS {
        return Some(format!("is the first line a header? Set `header=true`; {}", begins()));
    }
    if own < 1.0 - FITS {
        return Some(format!(
            "set `id=…` to name the column of the table that the edges use, or `source=…` and `target=…` to name \
             theirs; {}",
            begins()
        ));
    }
    None
}

/// The column of the nodes that the edges use for their ids.
fn other_id(table: &Table, id: Option<usize>, ends: &[&str], own: f64) -> Option<String> {
    let others = (0..table.columns.len()).filter(|column| Some(*column) != id);
    let shares = others.map(|column| (share(ends, &texts(table, column)), column));
    let (fit, column) = shares.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    if fit < FITS || fit <= own {
        return None;
    }
    let name = &table.columns[column].name;
    let instead = match id {
        Some(id) => format!("column `{}`", table.columns[id].name),
        None => "the numbers of the rows, because no column is called `id`".to_owned(),
    };
    Some(format!(
        "the ids of the table are {instead}, but the edges name nodes by its column `{name}`: set `id={name}`"
    ))
}

/// The two columns of the edges whose values are ids of the table.
fn other_ends(head: &Head, ids: &HashSet<String>, own: f64) -> Option<String> {
    let fits = |column: &usize| {
        let values: Vec<&str> =
            head.rows.iter().filter_map(|row| row.get(*column)).map(|text| text.trim()).collect();
        !values.is_empty() && share(&values, ids) >= FITS
    };
    let fitting: Vec<&str> =
        (0..head.names.len()).filter(fits).map(|column| &head.names[column][..]).collect();
    let ([source, target], true) = (&fitting[..], own < FITS) else { return None };
    Some(format!(
        "the columns of the edges whose values are ids of the table are `{source}` and `{target}`: set \
         `source={source}` and `target={target}`"
    ))
}

fn ends(head: &Head) -> Vec<&str> {
    head.rows
        .iter()
        .flat_map(|row| [row.get(head.source), row.get(head.target)])
        .flatten()
        .map(|text| text.trim())
        .collect()
}

fn share(values: &[&str], of: &HashSet<String>) -> f64 {
    let found = values.iter().filter(|value| of.contains(**value)).count();
    found as f64 / values.len().max(1) as f64
}

fn texts(table: &Table, column: usize) -> HashSet<String> {
    let mut texts = HashSet::new();
    table.columns[column].cells.for_each(Markers(&[]), |_, cell| {
        texts.insert(cell.text().into_owned());
    });
    texts
}
