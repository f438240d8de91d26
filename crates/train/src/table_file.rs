//! A table as a file: CSV, Parquet, JSON or JSON lines, each as pandas reads it without options.

mod parquet;

use std::io::{self, Write};
use std::path::Path;

use edgepace_graph::files;
use serde::Serialize;

use crate::error::TrainError;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated, with a head.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// One list of an object per row.
    Json,
    /// An object per row, each on a line of its own.
    JsonLines,
}

impl TableFormat {
    /// The format that a file's extension tells.
    ///
    /// # Errors
    /// An extension that tells none.
    pub fn of(path: &Path) -> Result<Self, TrainError> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match &extension[..] {
            "csv" => Ok(Self::Csv),
            "parquet" | "pq" => Ok(Self::Parquet),
            "json" => Ok(Self::Json),
            "jsonl" | "ndjson" => Ok(Self::JsonLines),
            _ => {
                let expected = "a file whose extension tells its format: csv, parquet, json or jsonl";
                Err(TrainError::refused("table", path.display(), expected))
            }
        }
    }
}

/// The cells of a column; none where there is nothing to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers of nodes or epochs.
    Ids(Vec<Option<u32>>),
    /// Measurements.
    Numbers(Vec<Option<f32>>),
    /// Text.
    Texts(Vec<Option<String>>),
    /// Yes or no.
    Flags(Vec<Option<bool>>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Ids(cells) => cells.len(),
            Cells::Numbers(cells) => cells.len(),
            Cells::Texts(cells) => cells.len(),
            Cells::Flags(cells) => cells.len(),
        }
    }

    /// A cell as CSV has it.
    fn text(&self, row: usize) -> String {
        match self {
            Cells::Ids(cells) => cells[row].map_or_else(String::new, |id| id.to_string()),
            // As JSON writes it: the shortest that is read as the same number.
            Cells::Numbers(cells) => cells[row]
                .filter(|number| number.is_finite())
                .map_or_else(String::new, |number| serde_json::to_string(&number).unwrap_or_default()),
            Cells::Texts(cells) => cells[row].clone().unwrap_or_default(),
            Cells::Flags(cells) => cells[row].map_or_else(String::new, |flag| flag.to_string()),
        }
    }

    /// A cell as JSON has it.
    fn json(&self, row: usize, out: &mut impl Write) -> io::Result<()> {
        fn put(out: &mut impl Write, cell: &impl Serialize) -> io::Result<()> {
            serde_json::to_writer(out, cell).map_err(io::Error::from)
        }
        match self {
            Cells::Ids(cells) => put(out, &cells[row]),
            Cells::Numbers(cells) => put(out, &cells[row]),
            Cells::Texts(cells) => put(out, &cells[row]),
            Cells::Flags(cells) => put(out, &cells[row]),
        }
    }
}

/// A named column of a table, or of a piece of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// One per row.
    pub cells: Cells,
}

impl Column {
    /// A column.
    pub fn new(name: impl Into<String>, cells: Cells) -> Self {
        Self { name: name.into(), cells }
    }
}

/// Rows of a table that are written at a time.
pub(crate) const PIECE: usize = 1 << 16;

/// Writes a table that comes in pieces, each with the same columns, whole or not at all.
///
/// # Errors
/// A file that cannot be written, or the first error of a piece.
pub fn write_table(
    path: &Path,
    format: TableFormat,
    pieces: impl IntoIterator<Item = Result<Vec<Column>, TrainError>>,
) -> Result<(), TrainError> {
    let mut wrong = None;
    let written = files::write_with(path, |file| {
        // What is wrong with a piece ends the file as an error of its own.
        let pieces = pieces.into_iter().map_while(|piece| piece.map_err(|error| wrong = Some(error)).ok());
        write_table_to(file, format, pieces)?;
        if wrong.is_some() { Err(io::ErrorKind::InvalidData.into()) } else { Ok(()) }
    });
    match (written, wrong) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(TrainError::File {
            action: "cannot write",
            path: path.to_owned(),
            cause: error.source.to_string(),
        }),
        (Ok(()), None) => Ok(()),
    }
}

/// The same to whatever takes bytes.
///
/// # Errors
/// What it says.
pub fn write_table_to<W: Write + Send>(
    out: &mut W,
    format: TableFormat,
    pieces: impl Iterator<Item = Vec<Column>>,
) -> io::Result<()> {
    match format {
        TableFormat::Csv => write_csv(out, pieces),
        TableFormat::Parquet => parquet::write(out, pieces).map_err(io::Error::other),
        TableFormat::Json => {
            out.write_all(b"[")?;
            write_objects(out, pieces, b"\n", b",\n")?;
            out.write_all(b"\n]\n")
        }
        TableFormat::JsonLines => {
            write_objects(out, pieces, b"", b"\n")?;
            out.write_all(b"\n")
        }
    }
}

fn rows(piece: &[Column]) -> usize {
    piece.first().map_or(0, |column| column.cells.len())
}

fn write_csv(out: &mut impl Write, pieces: impl Iterator<Item = Vec<Column>>) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    for (number, piece) in pieces.enumerate() {
        if number == 0 {
            csv.write_record(piece.iter().map(|column| &column.name)).map_err(io::Error::from)?;
        }
        for row in 0..rows(&piece) {
            csv.write_record(piece.iter().map(|column| column.cells.text(row))).map_err(io::Error::from)?;
        }
    }
    csv.flush()
}

fn write_objects(
    out: &mut impl Write,
    pieces: impl Iterator<Item = Vec<Column>>,
    before: &[u8],
    between: &[u8],
) -> io::Result<()> {
    let mut first = true;
    for piece in pieces {
        for row in 0..rows(&piece) {
            out.write_all(if first { before } else { between })?;
            first = false;
            for (place, column) in piece.iter().enumerate() {
                out.write_all(if place == 0 { b"{" } else { b"," })?;
                serde_json::to_writer(&mut *out, &column.name)?;
                out.write_all(b":")?;
                column.cells.json(row, out)?;
            }
            out.write_all(b"}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(rows: u32) -> Vec<Column> {
        let cells = |of: fn(u32) -> Option<f32>| Cells::Numbers((0..rows).map(of).collect());
        let names = (0..rows).map(|row| (row != 1).then(|| format!("a \"{row}\", b")));
        vec![
            Column::new("node", Cells::Ids((0..rows).map(Some).collect())),
            Column::new("name", Cells::Texts(names.collect())),
            Column::new("p", cells(|row| (row != 0).then_some(row as f32 * 0.1))),
            Column::new("fake", Cells::Flags((0..rows).map(|row| Some(row == 1)).collect())),
        ]
    }

    fn text(format: TableFormat, pieces: Vec<Vec<Column>>) -> String {
        let mut bytes = Vec::new();
        write_table_to(&mut bytes, format, pieces.into_iter()).expect("memory");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn pieces_follow_each_other_under_one_head() {
        let csv = text(TableFormat::Csv, vec![piece(2), piece(1)]);
        assert_eq!(
            csv,
            "node,name,p,fake\n0,\"a \"\"0\"\", b\",,false\n1,,0.1,true\n0,\"a \"\"0\"\", b\",,false\n"
        );
        let lines = text(TableFormat::JsonLines, vec![piece(1), piece(1)]);
        let line = r#"{"node":0,"name":"a \"0\", b","p":null,"fake":false}"#;
        assert_eq!(lines, format!("{line}\n{line}\n"));
        let json: serde_json::Value =
            serde_json::from_str(&text(TableFormat::Json, vec![piece(2), piece(1)])).expect("JSON");
        assert_eq!((json.as_array().map(Vec::len), &json[1]["name"]), (Some(3), &serde_json::Value::Null));
    }

    #[test]
    fn a_table_without_rows_has_its_head() {
        assert_eq!(text(TableFormat::Csv, vec![piece(0)]), "node,name,p,fake\n");
        let json: serde_json::Value =
            serde_json::from_str(&text(TableFormat::Json, vec![piece(0)])).expect("JSON");
        assert_eq!(json, serde_json::json!([]));
    }

    #[test]
    fn an_error_in_a_piece_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        let broken = || vec![Ok(piece(2)), Err(TrainError::NotFinite { what: "rows" })];
        let error = write_table(&path, TableFormat::Csv, broken()).unwrap_err().to_string();
        assert!(error.contains("rows"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn the_extension_tells_the_format() {
        assert_eq!(TableFormat::of(Path::new("a.b/x.PQ")).expect("known"), TableFormat::Parquet);
        let error = TableFormat::of(Path::new("x.xlsx")).unwrap_err().to_string();
        assert!(error.contains("x.xlsx") && error.contains("csv, parquet, json or jsonl"), "{error}");
    }
}
