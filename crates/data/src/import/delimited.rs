//! Edge lists with delimited columns, plain or gzipped.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::Progress;
use super::edges::{EdgeBuilder, EdgeTable};
use super::ids::Ids;
use crate::error::{excerpt, format_error, io_error};
use crate::{DataError, Place};

/// How the columns of an edge list are found.
#[derive(Debug, Clone)]
pub(crate) struct Delimited {
    /// What stands between columns.
    pub(crate) delimiter: u8,
    /// Whether the first line names the columns; found out unless told.
    pub(crate) header: Option<bool>,
    /// The column of the source; `source` or the first one unless told.
    pub(crate) source: Option<String>,
    /// The column of the target; `target` or the second one unless told.
    pub(crate) target: Option<String>,
    /// The column of the weight; `weight`, if there is one, unless told.
    pub(crate) weight: Option<String>,
}

/// Reads an edge list. With `ids`, both ends of every edge must be among them.
pub(crate) fn read_edges(
    file: &Path,
    layout: &Delimited,
    ids: Option<Ids>,
    progress: Progress<'_>,
) -> Result<EdgeTable, DataError> {
    let data = File::open(file).map_err(io_error("read", file))?;
    let size = data.metadata().map_err(io_error("read", file))?.len();
    let gz = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let data: Box<dyn Read> = if gz { Box::new(MultiGzDecoder::new(data)) } else { Box::new(data) };
    let table = read(file, data, layout, ids);
    progress(size, size);
    table
}

fn read(file: &Path, data: impl Read, layout: &Delimited, ids: Option<Ids>) -> Result<EdgeTable, DataError> {
    let mut reader = super::table::csv_reader(data, layout.delimiter);
    let mut record = csv::ByteRecord::new();
    let mut edges = EdgeBuilder::new(file, ids);
    let mut weights = Vec::new();
    let (mut source, mut target, mut weight) = (0, 1, None);
    let mut first = true;
    while reader.read_byte_record(&mut record).map_err(super::table::csv_error(file))? {
        let line = record.position().map_or(0, csv::Position::line);
        if std::mem::take(&mut first) {
            let is = |field: &[u8], names: &[&str]| {
                names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes()))
            };
            let find = |given: &Option<String>, usual: &[&str]| match given {
                Some(name) => {
                    record.iter().position(|field| field == name.as_bytes()).map(Some).ok_or_else(|| {
                        format_error(
                            file,
                            Place::Line(line),
                            format!("a column `{name}`"),
                            "none of that name",
                        )
                    })
                }
                None => Ok(record.iter().position(|field| is(field, usual))),
            };
            let usual = [&["source", "src", "from"][..], &["target", "dst", "to"], &["weight"]];
            let named = record.iter().any(|field| is(field, usual[0]) || is(field, usual[1]));
            if layout.header.unwrap_or(named) {
                source = find(&layout.source, usual[0])?.unwrap_or(0);
                target = find(&layout.target, usual[1])?.unwrap_or(1);
                weight = find(&layout.weight, usual[2])?;
                continue;
            }
        }
        let (Some(from), Some(to)) = (record.get(source), record.get(target)) else {
            let found = format!("{} columns", record.len());
            return Err(format_error(file, Place::Line(line), "a source and a target", found));
        };
        edges.push(from, to, || Place::Line(line))?;
        if let Some(weight) = weight {
            let field = record.get(weight).unwrap_or_default();
            let value = std::str::from_utf8(field).ok().and_then(|text| text.trim().parse::<f32>().ok());
            weights.push(
                value.ok_or_else(|| format_error(file, Place::Line(line), "a number", excerpt(field)))?,
            );
        }
    }
    Ok(edges.finish(weight.map(|_| weights)))
}
