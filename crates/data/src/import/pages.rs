//! What Parquet's footer and page headers (Thrift, compact protocol) say about sizes, read only to learn whether it can be
//! true.

use std::io::{Read, Seek, copy, sink};

/// What a page may unpack to, whatever its packed size: twice the usual size of a page.
const PAGE: u64 = 2 << 20;
/// How many bytes a packed byte may become beyond that; deflate's limit.
const EXPANSION: u64 = 1032;
/// Structures within structures, at most.
const DEPTH: u32 = 16;

/// Columns of a schema that have parts of their own; the library follows them by recursion.
const GROUPS: u32 = 100;

/// Checks the footer of `length` bytes: no column of the schema has more children than there are columns.
pub(super) fn check_footer(mut data: impl Read, length: u64) -> Result<(), String> {
    /// The list of the schema's elements, and the number of an element's children.
    const SCHEMA: (i16, i16) = (2, 5);
    let (mut most, mut groups, mut bytes) = (0, 0, length);
    Thrift {
        data: &mut data,
        left: &mut bytes,
        note: |within, field, value: i64| {
            if (within, field) == SCHEMA {
                most = value.max(most);
                groups += u32::from(value > 0);
            }
        },
    }
    .structure(0, 0)?;
    if groups > GROUPS {
        return Err(format!("{groups} columns of lists or records"));
    }
    // Every element takes more than a byte.
    if u64::try_from(most).is_ok_and(|most| most > length) {
        return Err(format!("a column of {most} parts in a footer of {length} bytes"));
    }
    Ok(())
}

/// Checks the pages of a column chunk of `length` bytes, as many as are needed for `rows` values.
/// The caller knows that these bytes are there.
pub(super) fn check_pages(mut data: impl Read + Seek, length: u64, rows: u64) -> Result<(), String> {
    let (mut left, mut seen) = (length, 0_u64);
    while left > 0 && seen < rows {
        let [mut unpacked, mut packed] = [-1; 2];
        let (mut values, mut entries) = (0, 0);
        Thrift {
            data: &mut data,
            left: &mut left,
            note: |within, field, value| match (within, field) {
                (0, 2) => unpacked = value,
                (0, 3) => packed = value,
                // The first field of the headers of both kinds of data page, and of a dictionary.
                (5 | 8, 1) => values = value,
                (7, 1) => entries = value,
                _ => {}
            },
        }
        .structure(0, 0)?;
        let [Ok(unpacked), Ok(packed), Ok(values), Ok(entries)] =
            [unpacked, packed, values, entries].map(u64::try_from)
        else {
            return Err("a page without a size".to_owned());
        };
        if packed > left || unpacked > PAGE + packed.saturating_mul(EXPANSION) {
            return Err(format!("a page of {packed} bytes that unpacks to {unpacked}"));
        }
        // An entry of a dictionary takes 4 bytes at least, and more in memory.
        if entries > unpacked / 4 {
            return Err(format!("a dictionary of {entries} entries in {unpacked} bytes"));
        }
        let skipped = i64::try_from(packed).ok().and_then(|packed| data.seek_relative(packed).ok());
        skipped.ok_or("a page that is cut short")?;
        left -= packed;
        seen = seen.saturating_add(values);
    }
    Ok(())
}

struct Thrift<'a, R, N> {
    data: &'a mut R,
    /// Bytes that may still be read.
    left: &'a mut u64,
    /// Told every whole number: the field of the outermost structure that it is inside of (0 for none, -1 for deeper
    /// ones), its own field, its value.
    note: N,
}

impl<R: Read, N: FnMut(i16, i16, i64)> Thrift<'_, R, N> {
    fn byte(&mut self) -> Result<u8, String> {
        let mut byte = [0];
        *self.left = self.left.checked_sub(1).ok_or("a header beyond its end")?;
        self.data.read_exact(&mut byte).map_err(|_| "a header that is cut short")?;
        Ok(byte[0])
    }

    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a header with an endless number".to_owned())
    }

    fn structure(&mut self, within: i16, depth: u32) -> Result<(), String> {
        if depth > DEPTH {
            return Err("a header that is nested too deep".to_owned());
        }
        let mut field = 0_i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => unzigzag(self.varint()?) as i16,
                step => field.wrapping_add(i16::from(step)),
            };
            // The truth values of fields are in their type.
            if !matches!(head & 0x0f, 1 | 2) {
                self.value(head & 0x0f, within, field, depth)?;
            }
        }
    }

    fn value(&mut self, kind: u8, within: i16, field: i16, depth: u32) -> Result<(), String> {
        match kind {
            1..=3 => drop(self.byte()?),
            4..=6 => {
                let value = unzigzag(self.varint()?);
                (self.note)(within, field, value);
            }
            7 => self.skip(8)?,
            8 => {
                let length = self.varint()?;
                self.skip(length)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                // Every element takes a byte at least, so that the end of the bytes ends this.
                for _ in 0..count {
                    match head & 0x0f {
                        9 | 10 => return Err("a list of lists".to_owned()),
                        12 => self.structure(if depth == 0 { field } else { -1 }, depth + 1)?,
                        kind => self.value(kind, -1, 0, depth)?,
                    }
                }
            }
            12 => self.structure(if depth == 0 { field } else { -1 }, depth + 1)?,
            _ => return Err("a header of an unknown type".to_owned()),
        }
        Ok(())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), String> {
        *self.left = self.left.checked_sub(bytes).ok_or("a header beyond its end")?;
        let skipped = copy(&mut (&mut *self.data).take(bytes), &mut sink());
        if skipped.ok() == Some(bytes) { Ok(()) } else { Err("a header that is cut short".to_owned()) }
    }
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
