//! A table in delimited columns, plain or gzipped, whose first line names them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::column::{Cells, Column, Places, Table, Texts};
use crate::error::{excerpt, format_error, io_error};
use crate::expansion::Limited;
use crate::{DataError, Place};

/// What can separate the columns of a table, the usual first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Bytes of a file that are looked at for the delimiter.
const HEAD: usize = 1 << 16;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a table. Its first line tells what separates its columns; `usual` does where it has only one.
pub(crate) fn read(file: &Path, usual: u8) -> Result<Table, DataError> {
    let data = File::open(file).map_err(io_error("read", file))?;
    let mut data = BufReader::with_capacity(HEAD, data);
    let gz = data.fill_buf().map_err(io_error("read", file))?.starts_with(&[0x1f, 0x8b]);
    if gz {
        let packed = data.get_ref().metadata().map_err(io_error("read", file))?.len();
        let text = Limited::new(MultiGzDecoder::new(data), packed);
        read_from(file, BufReader::with_capacity(HEAD, text), usual)
    } else {
        read_from(file, data, usual)
    }
}

/// A file that is already in memory.
pub(crate) fn read_bytes(file: &Path, bytes: &[u8]) -> Result<Table, DataError> {
    read_from(file, bytes, b',')
}

fn read_from(file: &Path, mut data: impl BufRead, usual: u8) -> Result<Table, DataError> {
    let head = data.fill_buf().map_err(io_error("read", file))?;
    let marked = head.starts_with(BYTE_ORDER_MARK);
    let delimiter = guess_delimiter(head, usual);
    if marked {
        data.consume(BYTE_ORDER_MARK.len());
    }
    let mut reader = csv_reader(data, delimiter);
    let mut record = csv::ByteRecord::new();
    let mut columns: Vec<(String, Texts)> = Vec::new();
    let mut lines = Vec::new();
    let mut named = false;
    while reader.read_byte_record(&mut record).map_err(csv_error(file))? {
        let line = record.position().map_or(0, csv::Position::line);
        let texts = record.iter().map(|field| {
            let text = std::str::from_utf8(field);
            text.map_err(|_| format_error(file, Place::Line(line), "text in UTF-8", excerpt(field)))
        });
        if !named {
            for name in texts {
                columns.push((name?.trim().to_owned(), Texts::default()));
            }
            named = true;
            continue;
        }
        for (text, (_, column)) in texts.zip(&mut columns) {
            column.push(lines.len(), text?);
        }
        lines.push(line);
    }
    if !named {
        let expected = "a first line with the names of the columns";
        return Err(format_error(file, Place::Whole, expected, "nothing"));
    }
    let columns = columns.into_iter().map(|(name, texts)| Column { name, cells: Cells::Text(texts) });
    Ok(Table {
        file: file.to_owned(),
        rows: lines.len(),
        columns: columns.collect(),
        places: Places::Lines(lines),
    })
}

/// The delimiter that the first line has most of, outside of quotes.
fn guess_delimiter(head: &[u8], usual: u8) -> u8 {
    let line =
        head.split(|byte| matches!(byte, b'\n' | b'\r')).find(|line| !line.is_empty()).unwrap_or_default();
    let mut inside = false;
    let plain: Vec<u8> = line
        .iter()
        .copied()
        .filter(|&byte| {
            inside ^= byte == b'"';
            !inside
        })
        .collect();
    let count = |delimiter: u8| plain.split(|&byte| byte == delimiter).count() - 1;
    let most = DELIMITERS.into_iter().max_by_key(|&delimiter| (count(delimiter), delimiter == usual));
    most.filter(|&delimiter| count(delimiter) > 0).unwrap_or(usual)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::column::Markers;

    fn cells(text: &str) -> Vec<(String, Vec<String>)> {
        let table = read_from(Path::new("n.csv"), text.as_bytes(), b',').unwrap();
        let texts = |column: &Column| column.cells.raw_texts(table.rows);
        table.columns.iter().map(|column| (column.name.clone(), texts(column))).collect()
    }

    #[test]
    fn every_delimiter_line_end_and_byte_order_mark_gives_the_same_table() {
        let expected = [
            ("id".to_owned(), vec!["a".to_owned(), "b".to_owned()]),
            ("x".into(), vec!["1".into(), String::new()]),
        ];
        for text in [
            "id,x\na,1\nb,\n",
            "id;x\na;1\nb;\n",
            "id|x\na|1\nb|\n",
            "id\tx\na\t1\nb\t\n",
            "\u{feff}id,x\r\na,1\r\nb,\r\n",
            "id,x\ra,1\rb,\r",
            "\"id\";\"x\"\na;1\nb;",
        ] {
            assert_eq!(cells(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_comma_inside_of_quotes_is_no_delimiter() {
        assert_eq!(cells("\"a,b,c\";d\n1;2\n")[0].0, "a,b,c");
        let table = read_from(Path::new("n.csv"), &b"x\n 5 \n"[..], b',').unwrap();
        table.columns[0].cells.for_each(Markers(&[]), |_, cell| assert_eq!(cell.text(), "5"));
    }
}
