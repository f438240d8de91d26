//! The header of an npy file: magic bytes, version, length, and `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}`.
//!
//! Written by hand because a general parser of Python literals descends as deep as the input tells it to.

use std::io::Read;

use super::npy::At;
use crate::DataError;
use crate::error::excerpt;

/// What an npy file starts with.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
/// The longest header that is read; NumPy's own are 118 bytes for all but structured arrays.
const LIMIT: usize = 1 << 16;
/// The most dimensions that NumPy knows.
const MOST_DIMENSIONS: usize = 64;

/// What kind of values an array holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    /// Characters of 4 bytes.
    Text,
    Bytes,
    /// Pickled Python objects.
    Object,
    /// Complex numbers, dates, records.
    Other,
}

#[derive(Debug, PartialEq)]
pub(super) struct Header {
    /// As in the file, for messages.
    pub(super) dtype: String,
    pub(super) kind: Kind,
    pub(super) big_endian: bool,
    /// Bytes per value; 0 for objects.
    pub(super) item_size: usize,
    /// Whether values are stored column after column.
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

impl Header {
    /// Reads a header; also gives the number of bytes that it takes.
    pub(super) fn read(at: At<'_>, data: &mut impl Read) -> Result<(Header, u64), DataError> {
        let mut start = [0; 8];
        data.read_exact(&mut start).map_err(|error| at.unreadable(error))?;
        if !start.starts_with(MAGIC) {
            return Err(
                at.wrong("an array in npy format", format!("bytes that start with {}", excerpt(&start)))
            );
        }
        let mut length = [0; 4];
        let length_size = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(at.wrong("npy version 1, 2 or 3", version.to_string())),
        };
        data.read_exact(&mut length[..length_size]).map_err(|error| at.unreadable(error))?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LIMIT {
            return Err(at.wrong(format!("a header of at most {LIMIT} bytes"), format!("{length} bytes")));
        }
        let mut text = vec![0; length];
        data.read_exact(&mut text).map_err(|error| at.unreadable(error))?;
        let header = parse(&text).ok_or_else(|| {
            at.wrong("a header with `descr`, `fortran_order` and `shape`", excerpt(text.trim_ascii()))
        })?;
        Ok((header, (start.len() + length_size + length) as u64))
    }
}

fn parse(text: &[u8]) -> Option<Header> {
    let mut scanner = Scanner(text);
    let (mut dtype, mut fortran, mut shape) = (None, None, None);
    scanner.token(b"{")?;
    while scanner.token(b"}").is_none() {
        let key = scanner.string()?;
        scanner.token(b":")?;
        match key {
            b"descr" => dtype = Some(scanner.string().or_else(|| scanner.list())?),
            b"fortran_order" => fortran = Some(scanner.boolean()?),
            b"shape" => shape = Some(scanner.shape()?),
            _ => return None,
        }
        if scanner.token(b",").is_none() && !scanner.0.starts_with(b"}") {
            return None;
        }
    }
    let dtype = String::from_utf8(dtype?.to_vec()).ok()?;
    let (kind, big_endian, item_size) = parse_dtype(&dtype);
    Some(Header { dtype, kind, big_endian, item_size, fortran: fortran?, shape: shape? })
}

/// Kind, byte order and bytes per value of a dtype as `<f4`; anything unusual is [`Kind::Other`] of a single byte.
fn parse_dtype(dtype: &str) -> (Kind, bool, usize) {
    const OTHER: (Kind, bool, usize) = (Kind::Other, false, 1);
    let Some((order @ (b'<' | b'>' | b'|' | b'='), rest)) = dtype.as_bytes().split_first() else {
        return OTHER;
    };
    let Some((kind, size)) = rest.split_first() else { return OTHER };
    let size = str::from_utf8(size).ok().and_then(|size| size.parse().ok());
    let (kind, size) = match (kind, size) {
        (b'O', _) => (Kind::Object, Some(0)),
        (b'b', size) => (Kind::Bool, size),
        (b'i', size) => (Kind::Int, size),
        (b'u', size) => (Kind::Uint, size),
        (b'f', size) => (Kind::Float, size),
        (b'S', size) => (Kind::Bytes, size),
        (b'U', size) => (Kind::Text, size.and_then(|size: usize| size.checked_mul(4))),
        _ => return OTHER,
    };
    size.map_or(OTHER, |size| (kind, *order == b'>', size))
}

struct Scanner<'a>(&'a [u8]);

impl<'a> Scanner<'a> {
    /// Takes `token`, with any space around it.
    fn token(&mut self, token: &[u8]) -> Option<()> {
        self.0 = self.0.trim_ascii_start().strip_prefix(token)?.trim_ascii_start();
        Some(())
    }

    fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let length = self.0.iter().position(|&byte| byte == end)?;
        let (text, rest) = self.0.split_at(length);
        self.0 = rest[1..].trim_ascii_start();
        Some(text)
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        let quote = *self.0.first().filter(|byte| matches!(byte, b'\'' | b'"'))?;
        self.0 = &self.0[1..];
        self.until(quote)
    }

    /// The list of fields of a structured array: only to be able to say what was found.
    fn list(&mut self) -> Option<&'a [u8]> {
        self.0 = self.0.strip_prefix(b"[")?;
        self.until(b']')
    }

    fn boolean(&mut self) -> Option<bool> {
        self.token(b"True").map(|()| true).or_else(|| self.token(b"False").map(|()| false))
    }

    fn shape(&mut self) -> Option<Vec<usize>> {
        self.token(b"(")?;
        let dims = self.until(b')')?.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        // Python 2 writes an L behind long numbers.
        let dims = dims.filter(|dim| !dim.is_empty()).map(|dim| dim.strip_suffix(b"L").unwrap_or(dim));
        let shape: Option<Vec<usize>> =
            dims.take(MOST_DIMENSIONS + 1).map(|dim| str::from_utf8(dim).ok()?.parse().ok()).collect();
        shape.filter(|shape| shape.len() <= MOST_DIMENSIONS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_pythons_are_understood() {
        let header = parse(b"{'descr': '>f8', 'fortran_order': True, 'shape': (3L, 4L), }   \n").unwrap();
        assert_eq!(
            (header.kind, header.big_endian, header.item_size, header.fortran, &header.shape[..]),
            (Kind::Float, true, 8, true, &[3, 4][..])
        );
        let header = parse(b"{\"shape\":(),\"fortran_order\":False,\"descr\":\"<U19\"}").unwrap();
        assert_eq!((header.kind, header.item_size, header.shape.len()), (Kind::Text, 76, 0));
        let header = parse(b"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (5,), }").unwrap();
        assert_eq!(header.kind, Kind::Other);
    }

    #[test]
    fn what_is_not_a_header_is_none() {
        let nested = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {}", "(".repeat(60_000));
        let texts: [&[u8]; 5] = [
            b"",
            b"{",
            b"{'descr': '<f4'}",
            b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            nested.as_bytes(),
        ];
        for text in texts {
            assert_eq!(parse(text), None);
        }
    }
}
