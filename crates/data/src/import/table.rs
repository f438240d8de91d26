//! A table of nodes in delimited columns, plain or gzipped.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::Columns;
use super::nodes::{Cell, NodeTable, NodesBuilder};
use crate::error::{excerpt, format_error, io_error};
use crate::expansion::Limited;
use crate::{DataError, Place};

/// Reads a table of nodes whose first line names its columns.
pub(crate) fn read(file: &Path, delimiter: u8, columns: &Columns) -> Result<NodeTable, DataError> {
    let data = File::open(file).map_err(io_error("read", file))?;
    let gz = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    if gz {
        let packed = data.metadata().map_err(io_error("read", file))?.len();
        read_from(file, Limited::new(MultiGzDecoder::new(data), packed), delimiter, columns)
    } else {
        read_from(file, data, delimiter, columns)
    }
}

fn read_from(file: &Path, data: impl Read, delimiter: u8, columns: &Columns) -> Result<NodeTable, DataError> {
    let mut reader = csv_reader(data, delimiter);
    let mut record = csv::ByteRecord::new();
    let mut nodes: Option<NodesBuilder<'_>> = None;
    while reader.read_byte_record(&mut record).map_err(csv_error(file))? {
        let line = record.position().map_or(0, csv::Position::line);
        let mut fields = Vec::with_capacity(record.len());
        for field in &record {
            let text = std::str::from_utf8(field);
            fields.push(
                text.map_err(|_| format_error(file, Place::Line(line), "text in UTF-8", excerpt(field)))?,
            );
        }
        match &mut nodes {
            None => nodes = Some(NodesBuilder::new(file, &fields, columns)?),
            Some(nodes) => nodes.push(fields.into_iter().map(Cell::Text), |column| match column {
                Some(name) => Place::Field(line, name.to_owned()),
                None => Place::Line(line),
            })?,
        }
    }
    nodes
        .ok_or_else(|| {
            format_error(file, Place::Whole, "a first line with the names of the columns", "nothing")
        })?
        .finish()
}

pub(crate) fn csv_reader<R: Read>(data: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(data)
}

pub(crate) fn csv_error(file: &Path) -> impl Fn(csv::Error) -> DataError + '_ {
    move |error| {
        let line = error.position().map_or(Place::Whole, |position| Place::Line(position.line()));
        match error.into_kind() {
            csv::ErrorKind::Io(error) if error.kind() != std::io::ErrorKind::InvalidInput => {
                io_error("read", file)(error)
            }
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format_error(
                file,
                line,
                format!("{expected_len} columns as in the first line"),
                format!("{len}"),
            ),
            other => format_error(file, line, "delimited text", format!("{other:?}")),
        }
    }
}
