//! Tables in Apache Parquet, as pandas, Polars and Spark write them: flat columns of numbers, truth values and text.
//!
//! Row groups are read in batches of rows. The footer and the header of every page are checked against the size of the
//! file before anything is unpacked, because the library takes their word for how much memory to allocate.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use edgepace_graph::{Threads, is_weight};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, FileReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::ColumnDescriptor;

use super::column::{self, Cells, Column, NO_CODE, NO_TRUTH, NO_WHOLE, Places};
use super::delimited::Head;
use super::edges::{EdgeBuilder, EdgeTable, Ends};
use super::ids::{Ids, Named};
use super::pages::{check_footer, check_pages};
use super::roles::find;
use super::{Columns, EdgeValues, WEIGHT};
use crate::DataError;
use crate::error::{Place, excerpt, format_error, io_error};

/// A table by columns.
type Columnar = column::Table;

/// Rows that are decoded at once.
const BATCH: usize = 4096;
/// Cells that a byte of a file may hold, at most: runs of equal values take next to nothing.
const CELLS_PER_BYTE: u64 = 1032;
/// The level of a value that is there, in a flat column that may miss some.
const PRESENT: i16 = 1;
/// The column in which pandas keeps an index that has no name.
const PANDAS_INDEX: &str = "__index_level_";

/// Reads a table, column by column on all threads.
pub(crate) fn read_table(threads: &Threads, file: &Path) -> Result<Columnar, DataError> {
    let open = || File::open(file).map_err(io_error("read", file));
    guarded(file, || columns(threads, file, &open))
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

/// Looks at the first rows of a list of edges; `None` where it cannot be read.
pub(crate) fn head(file: &Path, columns: &Columns, rows: usize) -> Option<Head> {
    let look = || -> Result<Head, DataError> {
        let table = Table::open(file, File::open(file).map_err(io_error("read", file))?)?;
        let header: Vec<&str> = table.names.iter().map(String::as_str).collect();
        let Ends { source, target, weight } = Ends::of(file, &header, columns)?;
        let all: Vec<usize> = (0..table.names.len()).collect();
        let mut head: Vec<Vec<String>> = Vec::new();
        // The end that is asked for is no error.
        let _ = table.rows(&all, |_, cells| {
            let text = |cell: &Cell<'_>| match cell {
                Cell::Text(text) => (*text).to_owned(),
                Cell::Integer(value) => value.to_string(),
                Cell::Number(value) => value.to_string(),
                Cell::Missing => String::new(),
            };
            head.push(cells.iter().map(text).collect());
            if head.len() < rows { Ok(()) } else { Err(format_error(file, Place::Whole, "", "")) }
        });
        Ok(Head { names: table.names, named: true, rows: head, source, target, weight })
    };
    guarded(file, look).ok()
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
    // Clones share their place in the file, which one thread sets before each use.
    let open = || data.try_clone().map_err(io_error("read", file));
    let nodes = guarded(file, || {
        let table = columns(&Threads::one(), file, &open)?;
        super::nodes_of_table(&Threads::one(), &table, &super::Import::default())
    });
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

/// All columns but the index of pandas.
fn columns(
    threads: &Threads,
    file: &Path,
    open: &(impl Fn() -> Result<File, DataError> + Sync),
) -> Result<Columnar, DataError> {
    let table = Table::open(file, open()?)?;
    let wanted: Vec<usize> =
        (0..table.names.len()).filter(|&own| !table.names[own].starts_with(PANDAS_INDEX)).collect();
    let rows = table.check_groups(wanted.len())?;
    // Threads do not share a file, because they would share the place where they read.
    let columns =
        threads.map(wanted.len(), |position| Table::open(file, open()?)?.column(wanted[position], rows));
    let columns = columns.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Columnar { file: file.to_owned(), rows, columns, places: Places::Entries })
}

fn edges(
    file: &Path,
    data: File,
    columns: &Columns,
    ids: Option<Ids>,
) -> Result<(EdgeTable, EdgeValues), DataError> {
    let table = Table::open(file, data)?;
    let header: Vec<&str> = table.names.iter().map(String::as_str).collect();
    let Ends { source, target, weight } = Ends::of(file, &header, columns)?;
    let mut wanted = vec![source, target];
    wanted.extend(weight);
    for name in &columns.edge_values {
        wanted.push(find(file, &header, "a value of the edges", name)?);
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
                // pandas makes floats of whole numbers where one is missing.
                Cell::Number(value) if value.fract() == 0.0 && value.abs() < 2_f64.powi(53) => {
                    write!(end, "{}", *value as i64)
                }
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
            let place = || Place::Entry(table.names[wanted[position + 2]].clone(), row);
            values.push(match *cell {
                Cell::Integer(value) => value as f32,
                Cell::Number(value) => value as f32,
                Cell::Text(text) => {
                    return Err(format_error(file, place(), "a number", excerpt(text.as_bytes())));
                }
                Cell::Missing => return Err(format_error(file, place(), "a number", "nothing")),
            });
        }
        // The weight comes first.
        if let (Some(column), Some(&value)) = (weight, values.first().and_then(|weights| weights.last()))
            && !is_weight(value)
        {
            let place = Place::Entry(table.names[column].clone(), row);
            return Err(format_error(file, place, WEIGHT, value.to_string()));
        }
        Ok(())
    })?;
    let mut values = values.into_iter();
    let weights = weight.and_then(|_| values.next());
    Ok((edges.finish(weights), columns.edge_values.iter().cloned().zip(values).collect()))
}

/// One cell of an edge.
#[derive(Debug, Clone, Copy)]
enum Cell<'a> {
    Text(&'a str),
    Integer(i64),
    Number(f64),
    Missing,
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

    /// The number of rows, if the size of the file can account for so many cells.
    fn check_groups(&self, columns: usize) -> Result<usize, DataError> {
        let mut rows = 0_u64;
        for group in 0..self.reader.num_row_groups() {
            let metadata = self.reader.metadata().row_group(group);
            rows = rows.saturating_add(u64::try_from(metadata.num_rows()).unwrap_or(u64::MAX));
            let cells = rows.saturating_mul(columns.max(1) as u64);
            if cells > self.size.saturating_mul(CELLS_PER_BYTE) || metadata.num_columns() != self.names.len()
            {
                let found = format!("{} rows of {} columns", metadata.num_rows(), metadata.num_columns());
                let expected = "as many rows as the size of the file can account for";
                let place = Place::Part(format!("row group {group}"));
                return Err(format_error(self.file, place, expected, found));
            }
        }
        Ok(usize::try_from(rows).unwrap_or(usize::MAX))
    }

    /// A whole column.
    fn column(&self, column: usize, rows: usize) -> Result<Column, DataError> {
        let name = self.names[column].clone();
        let meaning = Meaning::of(&self.reader.metadata().file_metadata().schema_descr().column(column));
        let wrong =
            |reason: String| format_error(self.file, Place::Part(name.clone()), "readable values", reason);
        let mut gathered = Gathered::new(meaning, rows);
        for group in 0..self.reader.num_row_groups() {
            let reader = self.reader.get_row_group(group).map_err(|error| unreadable(self.file, &error))?;
            let rows = usize::try_from(reader.metadata().num_rows()).unwrap_or(usize::MAX);
            self.check_chunk(reader.metadata().column(column), column, rows as u64)?;
            let mut values =
                reader.get_column_reader(column).map_err(|error| unreadable(self.file, &error))?;
            let mut batch = Batch::default();
            let mut left = rows;
            while left > 0 {
                let count = left.min(BATCH);
                batch.fill(&mut values, count).map_err(wrong)?;
                gathered.add(&batch).map_err(wrong)?;
                left -= count;
            }
        }
        Ok(Column { name: self.names[column].clone(), cells: gathered.cells })
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
    Time(Vec<Int96>),
    Fixed(Vec<FixedLenByteArray>),
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
            ColumnReader::Int96ColumnReader(reader) => Values::Time(read(reader, count, levels)?),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                Values::Fixed(read(reader, count, levels)?)
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
            Values::Time(_) | Values::Fixed(_) => Cell::Missing,
        })
    }
}

/// What the numbers of a column mean.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    Plain,
    Unsigned,
    /// To be multiplied by this.
    Decimal(f64),
    /// So many to a day.
    Date(i64),
}

impl Meaning {
    fn of(column: &ColumnDescriptor) -> Meaning {
        const MILLIS: i64 = 86_400_000;
        const MICROS: i64 = 1000 * MILLIS;
        let unit = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => MILLIS,
            TimeUnit::MICROS => MICROS,
            TimeUnit::NANOS => 1000 * MICROS,
        };
        let decimal = |scale: i32| Meaning::Decimal(10_f64.powi(-scale.clamp(-300, 300)));
        match column.logical_type_ref() {
            Some(LogicalType::Date) => Meaning::Date(1),
            Some(LogicalType::Timestamp(time)) => Meaning::Date(unit(&time.unit)),
            Some(LogicalType::Integer(whole)) if !whole.is_signed => Meaning::Unsigned,
            Some(LogicalType::Decimal(number)) => decimal(number.scale),
            Some(_) => Meaning::Plain,
            None => match column.converted_type() {
                ConvertedType::DATE => Meaning::Date(1),
                ConvertedType::TIMESTAMP_MILLIS => Meaning::Date(MILLIS),
                ConvertedType::TIMESTAMP_MICROS => Meaning::Date(MICROS),
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => Meaning::Unsigned,
                ConvertedType::DECIMAL => decimal(column.type_scale()),
                _ => Meaning::Plain,
            },
        }
    }
}

/// A column as far as it has been read.
struct Gathered {
    meaning: Meaning,
    rows: usize,
    cells: Cells,
    recent: Recent,
}

/// Short texts that were met last, with their codes: categories are found here, without a search.
#[derive(Default)]
struct Recent {
    /// By a hash of the text; empty until the first.
    slots: Vec<(ShortText, u32)>,
}

/// A text of 1 to 16 bytes: its length, its first 8 bytes and its last 8, which tell it from all others.
type ShortText = (u8, u64, u64);

impl Recent {
    const SLOTS: usize = 256;

    /// The code of a text, asked for where it is not known.
    fn code(&mut self, text: &[u8], ask: impl FnOnce() -> Result<u32, String>) -> Result<u32, String> {
        let Some(short) = short(text) else { return ask() };
        if self.slots.is_empty() {
            self.slots = vec![((0, 0, 0), NO_CODE); Self::SLOTS];
        }
        let mixed =
            (short.1 ^ short.2.rotate_left(23) ^ u64::from(short.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = &mut self.slots[(mixed >> 56) as usize];
        if slot.0 != short {
            *slot = (short, ask()?);
        }
        Ok(slot.1)
    }
}

fn short(text: &[u8]) -> Option<ShortText> {
    let number = |bytes: &[u8]| {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(eight)
    };
    match text.len() {
        length @ 1..=8 => Some((length as u8, number(text), 0)),
        length @ 9..=16 => Some((length as u8, number(&text[..8]), number(&text[8..]))),
        _ => None,
    }
}

impl Gathered {
    fn new(meaning: Meaning, rows: usize) -> Gathered {
        Gathered { meaning, rows, cells: Cells::Number(Vec::new()), recent: Recent::default() }
    }

    fn add(&mut self, batch: &Batch) -> Result<(), String> {
        let rows = &batch.position;
        let meaning = self.meaning;
        match &batch.values {
            Values::Truth(values) => {
                let out = self.truths();
                out.extend(rows.iter().map(|row| row.map_or(NO_TRUTH, |at| u8::from(values[at as usize]))));
            }
            Values::Int(values) => self.whole(rows, |at| match meaning {
                Meaning::Unsigned => i64::from(values[at].cast_unsigned()),
                _ => i64::from(values[at]),
            }),
            Values::Long(values) if meaning == Meaning::Unsigned => {
                self.numbers(rows, |at| values[at].cast_unsigned() as f64);
            }
            Values::Long(values) => self.whole(rows, |at| values[at]),
            Values::Float(values) => self.numbers(rows, |at| f64::from(values[at])),
            Values::Double(values) => self.numbers(rows, |at| values[at]),
            Values::Time(values) => {
                self.days(rows, |at| values[at].to_millis() as f64 / 86_400_000.0);
            }
            Values::Fixed(values) => {
                let Meaning::Decimal(unit) = meaning else {
                    return Err("a type that is neither number nor text".to_owned());
                };
                self.numbers(rows, |at| big_endian(values[at].data()) * unit);
            }
            Values::Text(values) => {
                if let Meaning::Decimal(unit) = meaning {
                    self.numbers(rows, |at| big_endian(values[at].data()) * unit);
                    return Ok(());
                }
                let mut recent = std::mem::take(&mut self.recent);
                let (distinct, of) = self.texts();
                for row in rows {
                    let Some(at) = row else {
                        of.push(NO_CODE);
                        continue;
                    };
                    let text = values[*at as usize].data();
                    of.push(recent.code(text, || {
                        if std::str::from_utf8(text).is_err() {
                            return Err("text that is not in UTF-8".to_owned());
                        }
                        distinct.intern(text).ok_or_else(|| "too many different texts".to_owned())
                    })?);
                }
                self.recent = recent;
            }
        }
        Ok(())
    }

    /// Whole numbers, or what they mean.
    fn whole(&mut self, rows: &[Option<u32>], value: impl Fn(usize) -> i64) {
        match self.meaning {
            Meaning::Date(unit) => self.days(rows, |at| {
                // Days and the rest apart, as text has them: neither loses a digit.
                let value = value(at);
                value.div_euclid(unit) as f64 + value.rem_euclid(unit) as f64 / unit as f64
            }),
            Meaning::Decimal(unit) => self.numbers(rows, |at| value(at) as f64 * unit),
            Meaning::Plain | Meaning::Unsigned => {
                if !matches!(self.cells, Cells::Whole(_)) {
                    self.cells = Cells::Whole(Vec::with_capacity(self.rows));
                }
                if let Cells::Whole(out) = &mut self.cells {
                    out.extend(rows.iter().map(|row| row.map_or(NO_WHOLE, |at| value(at as usize))));
                }
            }
        }
    }

    fn numbers(&mut self, rows: &[Option<u32>], value: impl Fn(usize) -> f64) {
        if let Cells::Number(out) = &mut self.cells {
            out.reserve_exact(self.rows - out.len());
            out.extend(rows.iter().map(|row| row.map_or(f64::NAN, |at| value(at as usize))));
        }
    }

    fn days(&mut self, rows: &[Option<u32>], value: impl Fn(usize) -> f64) {
        if !matches!(self.cells, Cells::Date(_)) {
            self.cells = Cells::Date(Vec::with_capacity(self.rows));
        }
        if let Cells::Date(out) = &mut self.cells {
            out.extend(rows.iter().map(|row| row.map_or(f64::NAN, |at| value(at as usize))));
        }
    }

    fn truths(&mut self) -> &mut Vec<u8> {
        if !matches!(self.cells, Cells::Truth(_)) {
            self.cells = Cells::Truth(Vec::with_capacity(self.rows));
        }
        match &mut self.cells {
            Cells::Truth(out) => out,
            _ => unreachable!("the cells were just made so"),
        }
    }

    fn texts(&mut self) -> (&mut Named, &mut Vec<u32>) {
        if !matches!(self.cells, Cells::Coded { .. }) {
            self.cells = Cells::Coded { values: Named::default(), of: Vec::with_capacity(self.rows) };
        }
        match &mut self.cells {
            Cells::Coded { values, of } => (values, of),
            _ => unreachable!("the cells were just made so"),
        }
    }
}

/// A whole number of any length in two's complement.
fn big_endian(bytes: &[u8]) -> f64 {
    let negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
    let digit = |byte: u8| f64::from(if negative { !byte } else { byte });
    let value = bytes.iter().fold(0.0, |value, &byte| value * 256.0 + digit(byte));
    if negative { -value - 1.0 } else { value }
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
            Values::Time(values) => values.len(),
            Values::Fixed(values) => values.len(),
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
