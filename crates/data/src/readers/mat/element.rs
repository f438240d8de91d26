//! The elements of a MATLAB file: a type, a size, and as many bytes; numbers in them are stored in the smallest type that
//! holds them all, whatever the type of the matrix.

use std::io::Read as _;
use std::path::Path;

use flate2::read::ZlibDecoder;

use super::{Dense, Sparse, Value};
use crate::DataError;
use crate::error::{Place, format_error, io_error};
use crate::expansion;

/// Types of elements that are not numbers.
const MATRIX: u32 = 14;
pub(super) const COMPRESSED: u32 = 15;

/// How deep structures may lie in each other.
const DEPTH: usize = 4;
/// The most variables and fields of a file: more are no graph, and each costs memory that its bytes do not account for.
const MOST_VARIABLES: usize = 4096;

/// One element after the other.
#[derive(Clone, Copy)]
pub(super) struct Elements<'a> {
    pub(super) file: &'a Path,
    pub(super) bytes: &'a [u8],
    /// Where they start, in the file or in what was unpacked; for messages.
    pub(super) start: usize,
    pub(super) big_endian: bool,
}

/// An element, and where it is from.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) kind: u32,
    bytes: &'a [u8],
    from: Elements<'a>,
}

impl<'a> Elements<'a> {
    /// The next element; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Element<'a>>, DataError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let at = *self;
        let wrong = |found: String| Err(at.wrong("an element that ends within the file", found));
        let (Some(first), second) = (self.number(0), self.number(4)) else {
            return wrong(format!("{} bytes", self.bytes.len()));
        };
        // Four bytes or fewer stand beside their type and size.
        let (kind, size, skip) = if first >> 16 == 0 {
            let Some(size) = second else { return wrong("none".to_owned()) };
            (first, size as usize, 8)
        } else {
            (first & 0xffff, (first >> 16) as usize, 4)
        };
        let end = skip + size;
        let Some(bytes) = self.bytes.get(skip..end).filter(|_| skip == 8 || size <= 4) else {
            return wrong(format!("one of {size} bytes where {} are left", self.bytes.len()));
        };
        // Elements start at multiples of eight bytes, but for compressed ones, which lie side by side.
        let padded = match (skip, kind) {
            (4, _) => 8,
            (_, COMPRESSED) => end,
            _ => end.next_multiple_of(8),
        };
        let padded = padded.min(self.bytes.len());
        self.bytes = &self.bytes[padded..];
        self.start += padded;
        Ok(Some(Element { kind, bytes, from: Elements { bytes, start: at.start + skip, ..at } }))
    }

    /// The next element, which must be there.
    fn need(&mut self, what: &'static str) -> Result<Element<'a>, DataError> {
        let at = *self;
        self.next()?.ok_or_else(|| at.wrong(what, "the end of the variable"))
    }

    fn number(&self, at: usize) -> Option<u32> {
        let bytes: [u8; 4] = self.bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn wrong(&self, expected: impl Into<String>, found: impl Into<String>) -> DataError {
        format_error(self.file, Place::Byte(self.start as u64), expected, found)
            .with_help("the file is damaged or cut short, fetch it again")
    }
}

impl<'a> Element<'a> {
    /// Elements within this one, of which the bytes are to be set.
    pub(super) fn within(&self) -> Elements<'a> {
        self.from
    }

    pub(super) fn wrong(&self, expected: impl Into<String>, found: impl Into<String>) -> DataError {
        self.from.wrong(expected, found)
    }

    /// The content of a compressed element.
    pub(super) fn inflate(&self, packed: u64, unpacked: &mut u64) -> Result<Vec<u8>, DataError> {
        let left = expansion::limit(packed).saturating_sub(*unpacked);
        let mut bytes = Vec::new();
        let read = ZlibDecoder::new(self.bytes).take(left.saturating_add(1)).read_to_end(&mut bytes);
        if let Err(error) = read {
            return Err(if error.raw_os_error().is_some() {
                io_error("read", self.from.file)(error)
            } else {
                self.wrong("data that can be unpacked", error.to_string())
            });
        }
        if bytes.len() as u64 > left {
            return Err(expansion::refusal(self.from.file, Place::Byte(self.from.start as u64), packed));
        }
        *unpacked += bytes.len() as u64;
        Ok(bytes)
    }

    /// Adds the variable that this is, with the fields of a structure as variables of their own.
    pub(super) fn variable(&self, variables: &mut Vec<(String, Value)>) -> Result<(), DataError> {
        self.matrix("", DEPTH, variables)
    }

    fn matrix(
        &self,
        prefix: &str,
        depth: usize,
        variables: &mut Vec<(String, Value)>,
    ) -> Result<(), DataError> {
        if self.kind != MATRIX {
            return Err(self.wrong("a variable", format!("an element of type {}", self.kind)));
        }
        if variables.len() >= MOST_VARIABLES {
            return Err(self.wrong(format!("at most {MOST_VARIABLES} variables"), "more"));
        }
        let mut parts = self.from;
        // An empty cell of a structure may have no parts at all.
        if parts.bytes.is_empty() {
            variables.push((prefix.to_owned(), Value::Other("empty")));
            return Ok(());
        }
        let flags = parts.need("the flags of a variable")?;
        let Some(class) = flags.from.number(0).map(|flags| flags & 0xff) else {
            return Err(flags.wrong("the flags of a variable", "none"));
        };
        // Classes whose parts follow no common rule: their names cannot be told.
        if matches!(class, 3 | 16 | 17) {
            variables.push((prefix.to_owned(), Value::Other("an object")));
            return Ok(());
        }
        let mut shape = Vec::new();
        for size in parts.need("the size of a variable")?.wholes()? {
            shape.push(size);
        }
        let name = parts.need("the name of a variable")?;
        let mut text = prefix.to_owned();
        // A field has its name from its structure.
        if prefix.is_empty() {
            text = String::from_utf8_lossy(name.bytes).into_owned();
        }
        let value = match class {
            1 => Value::Other("a cell array"),
            2 if shape.iter().all(|&size| size == 1) && depth > 0 => {
                return fields(&text, parts, depth - 1, variables);
            }
            2 => Value::Other("an array of structures"),
            4 => Value::Other("text"),
            5 => Value::Sparse(self.sparse(&shape, &mut parts)?),
            6..=15 => {
                let values = parts.need("the values of a variable")?;
                let found = values.floats()?;
                let expected = shape.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
                if expected != Some(found.len()) {
                    return Err(values.wrong(
                        format!("as many values as a size of {shape:?} says"),
                        found.len().to_string(),
                    ));
                }
                Value::Dense(Dense { shape, values: found })
            }
            other => return Err(flags.wrong("a class of variables from 1 to 17", other.to_string())),
        };
        variables.push((text, value));
        Ok(())
    }

    fn sparse(&self, shape: &[usize], parts: &mut Elements<'a>) -> Result<Sparse, DataError> {
        let &[rows, cols] = shape else {
            return Err(
                self.wrong("a sparse matrix of rows and columns", format!("{} dimensions", shape.len()))
            );
        };
        let (inner, outer) = (parts.need("the rows of a sparse matrix")?, parts.need("its columns")?);
        let offsets = outer.wholes()?;
        let mut row_of = inner.wholes()?;
        let stored = offsets.last().copied().unwrap_or(0);
        let running =
            offsets.is_sorted() && offsets.first() == Some(&0) && cols.checked_add(1) == Some(offsets.len());
        if !running || stored > row_of.len() {
            let expected = format!("{cols} columns as running totals from 0 to at most {}", row_of.len());
            return Err(outer.wrong(expected, "other numbers"));
        }
        // Room for more entries than there are is part of the file.
        row_of.truncate(stored);
        if let Some(&row) = row_of.iter().find(|&&row| row >= rows.min(u32::MAX as usize)) {
            return Err(inner.wrong(format!("a row below {rows}"), row.to_string()));
        }
        // A pattern of truth values may be stored without any.
        let mut values = match parts.next()? {
            Some(values) => values.floats()?,
            None => vec![1.0; stored],
        };
        if values.len() < stored {
            return Err(self.wrong(format!("{stored} values of a sparse matrix"), values.len().to_string()));
        }
        values.truncate(stored);
        Ok(Sparse { rows, offsets, row_of: row_of.into_iter().map(|row| row as u32).collect(), values })
    }

    /// Whole numbers that are not negative.
    fn wholes(&self) -> Result<Vec<usize>, DataError> {
        let whole = |value: i64| usize::try_from(value).ok();
        self.numbers(whole, |value| {
            (value.fract() == 0.0 && value.abs() < 2_f64.powi(53)).then_some(value as usize)
        })
    }

    fn floats(&self) -> Result<Vec<f32>, DataError> {
        self.numbers(|value| Some(value as f32), |value| Some(value as f32))
    }

    /// All numbers, whatever type they are stored in.
    fn numbers<T>(
        &self,
        whole: impl Fn(i64) -> Option<T>,
        float: impl Fn(f64) -> Option<T>,
    ) -> Result<Vec<T>, DataError> {
        match self.kind {
            1 => self.each(|[byte]: [u8; 1]| whole(byte.cast_signed().into())),
            2 => self.each(|[byte]: [u8; 1]| whole(byte.into())),
            3 => self.each(|bytes| whole(i16::from_le_bytes(bytes).into())),
            4 => self.each(|bytes| whole(u16::from_le_bytes(bytes).into())),
            5 => self.each(|bytes| whole(i32::from_le_bytes(bytes).into())),
            6 => self.each(|bytes| whole(u32::from_le_bytes(bytes).into())),
            7 => self.each(|bytes| float(f32::from_le_bytes(bytes).into())),
            9 => self.each(|bytes| float(f64::from_le_bytes(bytes))),
            12 => self.each(|bytes| whole(i64::from_le_bytes(bytes))),
            13 => self.each(|bytes| {
                let value = u64::from_le_bytes(bytes);
                i64::try_from(value).map_or_else(|_| float(value as f64), &whole)
            }),
            other => Err(self.wrong("numbers", format!("an element of type {other}"))),
        }
    }

    fn each<const N: usize, T>(&self, decode: impl Fn([u8; N]) -> Option<T>) -> Result<Vec<T>, DataError> {
        let (items, rest) = self.bytes.as_chunks::<N>();
        if !rest.is_empty() {
            return Err(self.wrong(format!("numbers of {N} bytes"), format!("{} bytes", self.bytes.len())));
        }
        let mut values = Vec::with_capacity(items.len());
        for &item in items {
            let mut item = item;
            if self.from.big_endian {
                item.reverse();
            }
            values.push(
                decode(item).ok_or_else(|| self.wrong("a whole number that is at least 0", "another"))?,
            );
        }
        Ok(values)
    }
}

/// Adds the fields of a structure as variables of their own.
fn fields(
    prefix: &str,
    mut parts: Elements<'_>,
    depth: usize,
    variables: &mut Vec<(String, Value)>,
) -> Result<(), DataError> {
    let length = parts.need("the length of field names")?;
    let Some(&width) = length.wholes()?.first().filter(|&&width| (1..=1024).contains(&width)) else {
        return Err(length.wrong("the length of field names, from 1 to 1024", "another"));
    };
    let names = parts.need("the names of fields")?;
    for name in names.bytes.chunks_exact(width) {
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(width);
        let name = String::from_utf8_lossy(&name[..end]);
        parts.need("the value of a field")?.matrix(&format!("{prefix}.{name}"), depth, variables)?;
    }
    Ok(())
}
