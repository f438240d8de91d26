//! Tables in Apache Parquet, as pandas, Polars and Spark write them: flat columns of numbers, truth values and text.
//!
//! Row groups are read in batches of rows. The footer and the header of every page are checked against the size of the
//! file before anything is unpacked, because the library takes their word for how much memory to allocate.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, FileReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::edges::{EdgeBuilder, EdgeTable};
use super::ids::Ids;
use super::nodes::{Cell, NodeTable, NodesBuilder};
use super::pages::{check_footer, check_pages};
use super::{Columns, EdgeValues};
use crate::DataError;
use crate::error::{Place, excerpt, format_error, io_error};

/// Rows that are decoded at once.
const BATCH: usize = 4096;
/// Cells that a byte of a file may hold, at most: runs of equal values take next to nothing.
const CELLS_PER_BYTE: u64 = 1032;
/// The level of a value that is there, in a flat column that may miss some.
const PRESENT: i16 = 1;
/// The column in which pandas keeps an index that has no name.
const PANDAS_INDEX: &str = "__index_level_";

/// Reads a table of nodes.
pub(crate) fn read_nodes(file: &Path, columns: &Columns) -> Result<NodeTable, DataError> {
    let data = File::open(file).map_err(io_error("read", file))?;
    guarded(file, || nodes(file, data, columns))
}

/// Reads a list of edges.
pub(crate) fn read_edges(
    file: &Path,
    columns: &Columns,
    ids: Option<Ids>,
) -> Result<(EdgeTable, EdgeValues), DataError> {
    let data = File::open(file).map_err(io_error("read", file))?;
    guarded(file, || edges(file, data, columns, ids))
}

/// A file that is already in memory, as nodes or as edges.
pub(crate) fn read_bytes(file: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let open = || -> std::io::Result<File> {
        let mut data = tempfile::tempfile()?;
        data.write_all(bytes)?;
        Ok(data)
    };
    let data = open().map_err(io_error("write", file))?;
    let again = data.try_clone().map_err(io_error("read", file))?;
    let nodes = guarded(file, || nodes(file, data, &Columns::default()));
    let edges = guarded(file, || edges(file, again, &Columns::default(), None));
    nodes.map(drop).or(edges.map(drop))
}

/// The library is known to panic on some damaged files; that is no reason for us to.
fn guarded<T>(file: &Path, read: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(format_error(file, Place::Whole, "a Parquet file", "one that the Parquet library cannot decode")
            .with_help("the file is damaged: write it again"))
    })
}

fn nodes(file: &Path, data: File, columns: &Columns) -> Result<NodeTable, DataError> {
    let table = Table::open(file, data)?;
    let all: Vec<usize> =
        (0..table.names.len()).filter(|&own| !table.names[own].starts_with(PANDAS_INDEX)).collect();
    let header: Vec<&str> = all.iter().map(|&own| &table.names[own][..]).collect();
    let mut nodes = NodesBuilder::new(file, &header, columns)?;
    table.rows(&all, |row, cells| {
        nodes.push(cells.iter().copied(), |column| Place::Entry(column.unwrap_or("row").to_owned(), row))
    })?;
    nodes.finish()
}

fn edges(
    file: &Path,
    data: File,
    columns: &Columns,
    ids: Option<Ids>,
) -> Result<(EdgeTable, EdgeValues), DataError> {
    let table = Table::open(file, data)?;
    let find = |name: &str| table.names.iter().position(|own| own == name);
    let named = |given: &Option<String>, usual: &str, otherwise: Option<usize>| match given {
        Some(name) => find(name).map(Some).ok_or_else(|| table.without(name)),
        None => Ok(find(usual).or(otherwise.filter(|&column| column < table.names.len()))),
    };
    let source = named(&columns.source, "source", Some(0))?.ok_or_else(|| table.without("source"))?;
    let target = named(&columns.target, "target", Some(1))?.ok_or_else(|| table.without("target"))?;
    let weight = named(&columns.weight, "weight", None)?;
    let mut wanted = vec![source, target];
    wanted.extend(weight);
    for name in &columns.edge_values {
        wanted.push(find(name).ok_or_else(|| table.without(name))?);
    }
    let mut edges = EdgeBuilder::new(file, ids);
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); wanted.len() - 2];
    let mut ends = [Vec::new(), Vec::new()];
    table.rows(&wanted, |row, cells| {
        for (cell, (end, &column)) in cells.iter().zip(ends.iter_mut().zip(&wanted)) {
            end.clear();
            // Writing to memory cannot fail.
            let _ = match cell {
                Cell::Integer(value) => write!(end, "{value}"),
                Cell::Text(text) => end.write_all(text.as_bytes()),
                Cell::Number(_) | Cell::Missing => {
                    let place = Place::Entry(table.names[column].clone(), row);
                    return Err(format_error(
                        file,
                        place,
                        "the id of a node: a whole number or text",
                        "something else",
                    ));
                }
            };
        }
        edges.push(&ends[0], &ends[1], || Place::Entry("row".to_owned(), row))?;
        for (position, (cell, values)) in cells[2..].iter().zip(&mut values).enumerate() {
            values.push(match *cell {
                Cell::Integer(value) => value as f32,
                Cell::Number(value) => value as f32,
                Cell::Text(_) | Cell::Missing => {
                    let place = Place::Entry(table.names[wanted[position + 2]].clone(), row);
                    return Err(format_error(file, place, "a number", "something else"));
                }
            });
        }
        Ok(())
    })?;
    let mut values = values.into_iter();
    let weights = weight.and_then(|_| values.next());
    Ok((edges.finish(weights), columns.edge_values.iter().cloned().zip(values).collect()))
}

/// An open file whose footer has been checked.
struct Table<'a> {
    file: &'a Path,
    reader: SerializedFileReader<File>,
    data: File,
    names: Vec<String>,
    size: u64,
}

impl<'a> Table<'a> {
    fn open(file: &'a Path, data: File) -> Result<Table<'a>, DataError> {
        let size = data.metadata().map_err(io_error("read", file))?.len();
        let again = data.try_clone().map_err(io_error("read", file))?;
        footer(file, &again, size)?;
        let reader = SerializedFileReader::new(data).map_err(|error| unreadable(file, &error))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let mut names = Vec::new();
        for column in schema.columns() {
            let name = column.path().string();
            if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
                let place = Place::Part(name);
                return Err(format_error(
                    file,
                    place,
                    "a flat column of numbers or text",
                    "lists or records",
                )
                .with_help("write one column per number, or put the features into an npy file"));
            }
            names.push(name);
        }
        Ok(Table { file, reader, data: again, names, size })
    }

    fn without(&self, name: &str) -> DataError {
        let some: Vec<String> = self.names.iter().take(8).map(|name| excerpt(name.as_bytes())).collect();
        let found = format!("{} columns: {}", self.names.len(), some.join(", "));
        format_error(self.file, Place::Whole, format!("a column `{name}`"), found)
    }

    /// Hands every row to `take`, with the cells of `columns` in their order.
    fn rows(
        &self,
        columns: &[usize],
        mut take: impl FnMut(u64, &[Cell<'_>]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let wrong = |error: ParquetError| unreadable(self.file, &error);
        let mut row = 0;
        let mut cells_left = self.size.saturating_mul(CELLS_PER_BYTE);
        for group in 0..self.reader.num_row_groups() {
            let reader = self.reader.get_row_group(group).map_err(wrong)?;
            let metadata = reader.metadata();
            let rows = usize::try_from(metadata.num_rows()).unwrap_or(usize::MAX);
            let cells = (rows as u64).saturating_mul(columns.len().max(1) as u64);
            if cells > cells_left || metadata.num_columns() != self.names.len() {
                let found = format!("{} rows of {} columns", metadata.num_rows(), metadata.num_columns());
                let expected = "as many rows as the size of the file can account for";
                return Err(format_error(
                    self.file,
                    Place::Part(format!("row group {group}")),
                    expected,
                    found,
                ));
            }
            cells_left -= cells;
            let mut batches = Vec::new();
            for &column in columns {
                self.check_chunk(metadata.column(column), column, rows as u64)?;
                batches.push((column, reader.get_column_reader(column).map_err(wrong)?, Batch::default()));
            }
            let mut left = rows;
            while left > 0 {
                let count = left.min(BATCH);
                for (column, reader, batch) in &mut batches {
                    batch.fill(reader, count).map_err(|reason| {
                        format_error(
                            self.file,
                            Place::Part(self.names[*column].clone()),
                            "readable values",
                            reason,
                        )
                    })?;
                }
                let mut line = Vec::with_capacity(columns.len());
                for within in 0..count {
                    line.clear();
                    for (column, _, batch) in &batches {
                        line.push(batch.cell(within).ok_or_else(|| {
                            let place = Place::Entry(self.names[*column].clone(), row);
                            format_error(self.file, place, "text in UTF-8", "other bytes")
                        })?);
                    }
                    take(row, &line)?;
                    row += 1;
                }
                left -= count;
            }
        }
        Ok(())
    }

    /// Checks where a column chunk lies and what its pages say about themselves.
    fn check_chunk(&self, chunk: &ColumnChunkMetaData, column: usize, rows: u64) -> Result<(), DataError> {
        let place = || Place::Part(self.names[column].clone());
        let start =
            chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()).min(chunk.data_page_offset());
        let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
        let range = range.and_then(|(start, length)| Some(start..start.checked_add(length)?));
        let Some(range) = range.filter(|range| range.end <= self.size) else {
            let found = format!("{} bytes at {start}", chunk.compressed_size());
            return Err(format_error(self.file, place(), "data inside of the file", found));
        };
        let data = self.data.get_read(range.start).map_err(|error| unreadable(self.file, &error))?;
        check_pages(data, range.end - range.start, rows)
            .map_err(|found| format_error(self.file, place(), "pages of a plausible size", found))
    }
}

/// Checks the footer: its bytes, their number in 4 bytes, and `PAR1` are the end of the file.
fn footer(file: &Path, data: &File, size: u64) -> Result<(), DataError> {
    let wrong = |found: String| format_error(file, Place::Whole, "a Parquet file", found);
    let mut end = [0; 8];
    let start = size.checked_sub(8).ok_or_else(|| wrong(format!("a file of {size} bytes")))?;
    let read = |start| data.get_read(start).map_err(|error| unreadable(file, &error));
    read(start)?.read_exact(&mut end).map_err(io_error("read", file))?;
    let [a, b, c, d, magic @ ..] = end;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if magic != *b"PAR1" || length > start {
        return Err(
            wrong("a file that does not end as one".to_owned()).with_help("it is damaged or cut short")
        );
    }
    check_footer(read(start - length)?, length).map_err(wrong)
}

fn unreadable(file: &Path, error: &ParquetError) -> DataError {
    let text: String = error.to_string().chars().take(160).collect();
    format_error(file, Place::Whole, "a Parquet file", text)
}

/// Some rows of one column.
#[derive(Default)]
struct Batch {
    values: Values,
    /// For each row the position of its value, unless it is missing.
    position: Vec<Option<u32>>,
    levels: Vec<i16>,
}

enum Values {
    Truth(Vec<bool>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Default for Values {
    fn default() -> Values {
        Values::Int(Vec::new())
    }
}

impl Batch {
    fn fill(&mut self, reader: &mut ColumnReader, count: usize) -> Result<(), String> {
        self.levels.clear();
        let levels = &mut self.levels;
        let values = match reader {
            ColumnReader::BoolColumnReader(reader) => Values::Truth(read(reader, count, levels)?),
            ColumnReader::Int32ColumnReader(reader) => Values::Int(read(reader, count, levels)?),
            ColumnReader::Int64ColumnReader(reader) => Values::Long(read(reader, count, levels)?),
            ColumnReader::FloatColumnReader(reader) => Values::Float(read(reader, count, levels)?),
            ColumnReader::DoubleColumnReader(reader) => Values::Double(read(reader, count, levels)?),
            ColumnReader::ByteArrayColumnReader(reader) => Values::Text(read(reader, count, levels)?),
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                return Err("a type that is neither number nor text".to_owned());
            }
        };
        self.values = values;
        self.position.clear();
        let mut next = 0;
        let stored = self.values.len();
        for row in 0..count {
            // A column that must have values keeps no levels.
            let there = self.levels.get(row).is_none_or(|&level| level >= PRESENT);
            self.position.push(there.then_some(next));
            next += u32::from(there);
        }
        if next as usize == stored { Ok(()) } else { Err(format!("{stored} values for {next} cells")) }
    }

    /// A cell; `None` for text that is none.
    fn cell(&self, row: usize) -> Option<Cell<'_>> {
        let Some(position) = self.position[row] else { return Some(Cell::Missing) };
        let position = position as usize;
        Some(match &self.values {
            Values::Truth(values) => Cell::Integer(i64::from(values[position])),
            Values::Int(values) => Cell::Integer(i64::from(values[position])),
            Values::Long(values) => Cell::Integer(values[position]),
            Values::Float(values) => Cell::Number(f64::from(values[position])),
            Values::Double(values) => Cell::Number(values[position]),
            Values::Text(values) => Cell::Text(std::str::from_utf8(values[position].data()).ok()?),
        })
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Truth(values) => values.len(),
            Values::Int(values) => values.len(),
            Values::Long(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Double(values) => values.len(),
            Values::Text(values) => values.len(),
        }
    }
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    count: usize,
    levels: &mut Vec<i16>,
) -> Result<Vec<T::T>, String> {
    let mut values = Vec::new();
    let short = |error: ParquetError| error.to_string().chars().take(160).collect::<String>();
    let (rows, ..) = reader.read_records(count, Some(levels), None, &mut values).map_err(short)?;
    if rows == count { Ok(values) } else { Err(format!("{rows} of {count} rows")) }
}
