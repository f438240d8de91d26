//! numpy's arrays of numbers.

use std::fmt;

use super::{Heap, Id, Object, Pickle, Value};
use crate::DataError;
use crate::error::{Place, format_error};

/// What one entry of an array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dtype {
    kind: Kind,
    /// Bytes per entry.
    size: usize,
    big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

/// An array of one or two dimensions, its numbers still bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    pub(super) rows: usize,
    /// None for an array of one dimension.
    pub(super) cols: Option<usize>,
    pub(super) dtype: Dtype,
    /// Whether columns follow each other, and not rows.
    pub(super) by_column: bool,
    data: Id,
}

impl Dtype {
    pub(super) const EXPECTED: &str = "a numpy type out of b1, i1, i2, i4, i8, u1, u2, u4, u8, f4, f8";

    /// The little-endian type of that name, as `f4`.
    pub(super) fn named(name: &[u8]) -> Option<Dtype> {
        let (kind, size) = match name {
            b"b1" => (Kind::Bool, 1),
            [b'i', size @ (b'1' | b'2' | b'4' | b'8')] => (Kind::Signed, size - b'0'),
            [b'u', size @ (b'1' | b'2' | b'4' | b'8')] => (Kind::Unsigned, size - b'0'),
            [b'f', size @ (b'4' | b'8')] => (Kind::Float, size - b'0'),
            _ => return None,
        };
        Some(Dtype { kind, size: usize::from(size), big_endian: false })
    }

    /// The same type in the byte order that numpy writes as `<`, `>` or, for single bytes, `|`.
    pub(super) fn ordered(self, order: &[u8]) -> Option<Dtype> {
        match order {
            b"<" => Some(Dtype { big_endian: false, ..self }),
            b">" => Some(Dtype { big_endian: true, ..self }),
            b"|" if self.size == 1 => Some(self),
            _ => None,
        }
    }

    /// The number in `bytes`, if they are exactly one.
    pub(super) fn scalar(self, bytes: &[u8]) -> Option<Value> {
        if bytes.len() != self.size {
            return None;
        }
        match self.kind {
            Kind::Float => self.floats(bytes).first().map(|&number| Value::Float(number)),
            _ => self.integers(bytes).first().map(|&number| Value::Int(number)),
        }
    }

    /// Whole numbers; those beyond `i64` become the largest, which no count or id can be.
    fn integers(self, bytes: &[u8]) -> Vec<i64> {
        let largest = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        match (self.kind, self.size) {
            (Kind::Bool, _) => self.entries(bytes, |[byte]| i64::from(byte != 0)),
            (Kind::Signed, 1) => self.entries(bytes, |entry| i8::from_le_bytes(entry).into()),
            (Kind::Signed, 2) => self.entries(bytes, |entry| i16::from_le_bytes(entry).into()),
            (Kind::Signed, 4) => self.entries(bytes, |entry| i32::from_le_bytes(entry).into()),
            (Kind::Signed, _) => self.entries(bytes, i64::from_le_bytes),
            (Kind::Unsigned, 1) => self.entries(bytes, |[byte]| byte.into()),
            (Kind::Unsigned, 2) => self.entries(bytes, |entry| u16::from_le_bytes(entry).into()),
            (Kind::Unsigned, 4) => self.entries(bytes, |entry| u32::from_le_bytes(entry).into()),
            (Kind::Unsigned, _) => self.entries(bytes, |entry| largest(u64::from_le_bytes(entry))),
            (Kind::Float, _) => Vec::new(),
        }
    }

    fn floats(self, bytes: &[u8]) -> Vec<f64> {
        match (self.kind, self.size) {
            (Kind::Float, 4) => self.entries(bytes, |entry| f32::from_le_bytes(entry).into()),
            (Kind::Float, _) => self.entries(bytes, f64::from_le_bytes),
            _ => self.integers(bytes).into_iter().map(|number| number as f64).collect(),
        }
    }

    fn entries<const SIZE: usize, T>(self, bytes: &[u8], number: impl Fn([u8; SIZE]) -> T) -> Vec<T> {
        let little = |mut entry: [u8; SIZE]| {
            if self.big_endian {
                entry.reverse();
            }
            number(entry)
        };
        bytes.as_chunks().0.iter().copied().map(little).collect()
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Bool => 'b',
            Kind::Signed => 'i',
            Kind::Unsigned => 'u',
            Kind::Float => 'f',
        };
        write!(f, "{kind}{}", self.size)
    }
}

impl Array {
    /// The array of that shape (a tuple of one or two sizes), type and content (a byte string), if they are that.
    pub(super) fn new(
        heap: &Heap<'_>,
        shape: Value,
        dtype: Value,
        by_column: bool,
        data: Value,
    ) -> Option<Array> {
        let (rows, cols) = match *heap.tuple(shape)? {
            [Value::Int(rows)] => (rows, None),
            [Value::Int(rows), Value::Int(cols)] => (rows, Some(usize::try_from(cols).ok()?)),
            _ => return None,
        };
        let rows = usize::try_from(rows).ok()?;
        match (dtype, data) {
            (Value::Object(dtype), Value::Object(data)) => match (heap.get(dtype), heap.get(data)) {
                (Object::Dtype(dtype), Object::Bytes(_) | Object::Latin(_)) => {
                    Some(Array { rows, cols, dtype: *dtype, by_column, data })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl Pickle<'_> {
    /// The entries of an array of whole numbers, in the order of the file.
    pub(super) fn integers(&self, part: &str, array: &Array) -> Result<Vec<i64>, DataError> {
        if array.dtype.kind == Kind::Float {
            let found = format!("an array of {}", array.dtype);
            return Err(format_error(
                self.file,
                Place::Part(part.into()),
                "an array of whole numbers",
                found,
            ));
        }
        self.numbers(array, Dtype::integers)
    }

    /// The entries of an array, in the order of the file.
    pub(super) fn floats(&self, array: &Array) -> Result<Vec<f64>, DataError> {
        self.numbers(array, Dtype::floats)
    }

    fn numbers<T>(&self, array: &Array, convert: fn(Dtype, &[u8]) -> Vec<T>) -> Result<Vec<T>, DataError> {
        let place = Place::Byte(self.heap.place(array.data) as u64);
        let Some(bytes) = self.heap.bytes(array.data) else {
            return Err(format_error(self.file, place, "bytes of an array", "characters beyond Latin-1"));
        };
        let (rows, cols, size) = (array.rows, array.cols.unwrap_or(1), array.dtype.size);
        if rows.checked_mul(cols).and_then(|entries| entries.checked_mul(size)) != Some(bytes.len()) {
            let expected = format!("{rows} × {cols} entries of {size} bytes");
            return Err(format_error(self.file, place, expected, format!("{} bytes", bytes.len())));
        }
        Ok(convert(array.dtype, &bytes))
    }
}
