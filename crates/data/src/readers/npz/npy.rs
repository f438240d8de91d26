//! One array in NumPy's npy format: a header that is a Python dictionary, then the values.

use std::io::{self, BufReader, Read};
use std::path::Path;

use edgepace_graph::Names;

use super::header::{Header, Kind};
use crate::DataError;
use crate::error::excerpt;
use crate::error::{Place, format_error, io_error};

/// Bytes that are decoded at once.
const CHUNK: usize = 1 << 16;
/// The most characters of an array's name in a message.
const LONGEST_NAME: usize = 64;

/// Values with their shape, in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array<T> {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<T>,
}

/// The array that a message speaks of.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) file: &'a Path,
    pub(super) key: &'a str,
}

impl At<'_> {
    pub(super) fn wrong(self, expected: impl Into<String>, found: impl Into<String>) -> DataError {
        format_error(self.file, Place::Part(self.name()), expected, found)
    }

    fn wrong_entry(self, entry: usize, expected: &str, found: String) -> DataError {
        format_error(self.file, Place::Entry(self.name(), entry as u64), expected, found)
    }

    /// The array's name, cut when long: it may come from the file.
    fn name(self) -> String {
        self.key.chars().take(LONGEST_NAME).collect()
    }

    /// What unpacking said: mostly that the file is damaged.
    pub(super) fn unreadable(self, error: io::Error) -> DataError {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        if let Some(expanded) = crate::expansion::told(self.file, &error) {
            return expanded;
        }
        if matches!(error.kind(), InvalidData | InvalidInput | Other | UnexpectedEof) {
            return self
                .wrong("data that can be unpacked", error.to_string())
                .with_help("the file is damaged or cut short, fetch it again");
        }
        io_error("read", self.file)(error)
    }
}

/// An array whose header has been read and whose values have not.
pub(super) struct Stored<'a, R> {
    at: At<'a>,
    header: Header,
    len: usize,
    data: R,
}

impl<'a, R: Read> Stored<'a, R> {
    /// Reads the header. `size` is the number of bytes of header and values, which must fit the shape.
    pub(super) fn open(at: At<'a>, mut data: R, size: u64) -> Result<Stored<'a, R>, DataError> {
        let (header, header_size) = Header::read(at, &mut data)?;
        let len = header.shape.iter().try_fold(1_usize, |len, &dim| len.checked_mul(dim));
        let bytes = len.and_then(|len| (len as u64).checked_mul(header.item_size as u64));
        let found = size.saturating_sub(header_size);
        // The size of pickled objects is not known from their number, and records are refused by who asks for values.
        match (len, bytes) {
            (Some(len), Some(bytes))
                if bytes == found || matches!(header.kind, Kind::Object | Kind::Other) =>
            {
                Ok(Stored { at, header, len, data })
            }
            _ => {
                let expected = format!("the bytes of shape {:?} and dtype {}", header.shape, header.descr());
                Err(at.wrong(expected, format!("{found} bytes")))
            }
        }
    }

    pub(super) fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// Shape and type, for a message.
    pub(super) fn summary(&self) -> String {
        let sizes: Vec<String> = self.header.shape.iter().map(usize::to_string).collect();
        let sizes = if sizes.is_empty() { "one value".to_owned() } else { sizes.join(" × ") };
        format!("{sizes}, {}", self.header.dtype.escape_debug().take(16).collect::<String>())
    }

    /// Requires a number of dimensions, and a size where one is given.
    pub(super) fn check_shape(&self, dims: &[Option<usize>]) -> Result<(), DataError> {
        let shape = self.shape();
        let fits = |(&found, expected): (&usize, &Option<usize>)| expected.is_none_or(|size| size == found);
        if shape.len() == dims.len() && shape.iter().zip(dims).all(fits) {
            return Ok(());
        }
        let dims = dims.iter().map(|dim| dim.map_or_else(|| "any".to_owned(), |size| size.to_string()));
        let expected = format!("shape [{}]", dims.collect::<Vec<_>>().join(", "));
        Err(self.at.wrong(expected, format!("{shape:?}")))
    }

    /// All values, each made from a whole number or from a floating-point one. `expected` says what values are legal;
    /// `None` from `whole` or `float` means that one is not.
    pub(super) fn numbers<T: Copy>(
        mut self,
        expected: &str,
        whole: impl Fn(i64) -> Option<T>,
        float: impl Fn(f64) -> Option<T>,
    ) -> Result<Array<T>, DataError> {
        let whole = |value: i64| whole(value).ok_or_else(|| value.to_string());
        let float = |value: f64| float(value).ok_or_else(|| value.to_string());
        let values = match (self.header.kind, self.header.item_size) {
            (Kind::Bool, 1) => self.each(expected, |[byte]: [u8; 1]| whole(i64::from(byte != 0))),
            (Kind::Int, 1) => self.each(expected, |bytes| whole(i8::from_le_bytes(bytes).into())),
            (Kind::Int, 2) => self.each(expected, |bytes| whole(i16::from_le_bytes(bytes).into())),
            (Kind::Int, 4) => self.each(expected, |bytes| whole(i32::from_le_bytes(bytes).into())),
            (Kind::Int, 8) => self.each(expected, |bytes| whole(i64::from_le_bytes(bytes))),
            (Kind::Uint, 1) => self.each(expected, |bytes| whole(u8::from_le_bytes(bytes).into())),
            (Kind::Uint, 2) => self.each(expected, |bytes| whole(u16::from_le_bytes(bytes).into())),
            (Kind::Uint, 4) => self.each(expected, |bytes| whole(u32::from_le_bytes(bytes).into())),
            (Kind::Uint, 8) => self.each(expected, |bytes| {
                let value = u64::from_le_bytes(bytes);
                i64::try_from(value).map_or_else(|_| float(value as f64), whole)
            }),
            (Kind::Float, 2) => self.each(expected, |bytes| float(half(u16::from_le_bytes(bytes)))),
            (Kind::Float, 4) => self.each(expected, |bytes| float(f32::from_le_bytes(bytes).into())),
            (Kind::Float, 8) => self.each(expected, |bytes| float(f64::from_le_bytes(bytes))),
            _ => Err(self.at.wrong("numbers", format!("dtype {}", self.header.descr()))),
        }?;
        let shape = self.header.shape;
        if !self.header.fortran || shape.len() < 2 {
            return Ok(Array { shape, values });
        }
        let &[rows, cols] = &shape[..] else {
            let found = format!("Fortran order with shape {shape:?}");
            return Err(self.at.wrong("C order beyond two dimensions", found));
        };
        let by_row = (0..rows).flat_map(|row| (0..cols).map(move |column| column * rows + row));
        let values = by_row.map(|position| values[position]).collect();
        Ok(Array { shape, values })
    }

    /// Decodes all values of `N` bytes. Memory grows as they arrive.
    fn each<const N: usize, T>(
        &mut self,
        expected: &str,
        decode: impl Fn([u8; N]) -> Result<T, String>,
    ) -> Result<Vec<T>, DataError> {
        let mut values = Vec::new();
        let mut buffer = vec![0; CHUNK.min(self.len.saturating_mul(N))];
        while values.len() < self.len {
            let bytes = CHUNK.min((self.len - values.len()).saturating_mul(N));
            let buffer = &mut buffer[..bytes];
            self.data.read_exact(buffer).map_err(|error| self.at.unreadable(error))?;
            for item in buffer.as_chunks::<N>().0 {
                let mut item = *item;
                if self.header.big_endian {
                    item.reverse();
                }
                let value = decode(item);
                values.push(value.map_err(|found| self.at.wrong_entry(values.len(), expected, found))?);
            }
        }
        self.finish()?;
        Ok(values)
    }

    /// The values as text, or nothing when they are pickled objects, which are never unpickled.
    pub(super) fn strings(mut self) -> Result<Option<Names>, DataError> {
        let size = self.header.item_size;
        let mut buffer = Vec::new();
        let mut text = String::new();
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        match self.header.kind {
            Kind::Object => return Ok(None),
            Kind::Text | Kind::Bytes if size > 0 => {}
            _ => return Err(self.at.wrong("text", format!("dtype {}", self.header.descr()))),
        }
        let mut data = BufReader::with_capacity(CHUNK, &mut self.data);
        for entry in 0..self.len {
            buffer.clear();
            let read = (&mut data).take(size as u64).read_to_end(&mut buffer);
            if read.map_err(|error| self.at.unreadable(error))? < size {
                return Err(self.at.unreadable(io::ErrorKind::UnexpectedEof.into()));
            }
            text.clear();
            if self.header.kind == Kind::Bytes {
                text.push_str(&String::from_utf8_lossy(&buffer));
            } else {
                for &item in buffer.as_chunks::<4>().0 {
                    let code = if self.header.big_endian {
                        u32::from_be_bytes(item)
                    } else {
                        u32::from_le_bytes(item)
                    };
                    let character = char::from_u32(code).ok_or_else(|| {
                        self.at.wrong_entry(entry, "Unicode characters", format!("code {code:#x}"))
                    })?;
                    text.push(character);
                }
            }
            // NumPy fills short strings up with zeros.
            bytes.extend_from_slice(text.trim_end_matches('\0').as_bytes());
            offsets.push(bytes.len() as u64);
        }
        drop(data);
        self.finish()?;
        Ok(Some(Names::trusted(offsets, bytes)))
    }

    /// Asks for one byte more, at which a packed entry compares its checksum.
    fn finish(&mut self) -> Result<(), DataError> {
        match self.data.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.at.wrong("nothing after the values", "more bytes")),
            Err(error) => Err(self.at.unreadable(error)),
        }
    }
}

/// The value of an IEEE 754 half-precision number: 1 sign bit, 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// A dtype for a message.
impl Header {
    pub(super) fn descr(&self) -> String {
        excerpt(self.dtype.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn half_precision_has_its_textbook_values() {
        let cases = [(0x3c00, 1.0), (0xc000, -2.0), (0x0001, 2_f64.powi(-24)), (0x7bff, 65504.0), (0, 0.0)];
        for (bits, value) in cases {
            assert_eq!(half(bits), value);
        }
        assert_eq!(half(0xfc00), f64::NEG_INFINITY);
        assert!(half(0x7e00).is_nan());
    }
}
