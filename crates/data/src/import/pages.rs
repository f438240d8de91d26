//! The headers of Parquet's pages (Thrift, compact protocol), read only to learn whether their sizes can be true.

use std::io::Read;

/// What a page may unpack to, whatever its packed size: twice the usual size of a page.
const PAGE: u64 = 2 << 20;
/// How many bytes a packed byte may become beyond that; deflate's limit.
const EXPANSION: u64 = 1032;
/// Structures within structures; Parquet's own have 3.
const DEPTH: u32 = 8;

/// Checks all pages of a column chunk of `length` bytes that says to hold `values` values.
pub(super) fn check_pages(mut data: impl Read, length: u64, values: i64) -> Result<(), String> {
    let mut left = length;
    let mut seen = 0_i64;
    while left > 0 && seen < values {
        let mut header = Header { data: &mut data, left, values: 0, entries: 0, sizes: [-1; 2] };
        header.structure(0, 0)?;
        let Header { left: after, values: count, entries, sizes: [unpacked, packed], .. } = header;
        let (Ok(unpacked), Ok(packed)) = (u64::try_from(unpacked), u64::try_from(packed)) else {
            return Err("a page without a size".to_owned());
        };
        if packed > after || unpacked > PAGE + packed.saturating_mul(EXPANSION) || count < 0 {
            return Err(format!("a page of {packed} bytes that unpacks to {unpacked}"));
        }
        // An entry of a dictionary takes 4 bytes at least, and more in memory.
        if u64::try_from(entries).is_ok_and(|entries| entries > unpacked / 4) {
            return Err(format!("a dictionary of {entries} entries in {unpacked} bytes"));
        }
        let skipped = std::io::copy(&mut (&mut data).take(packed), &mut std::io::sink());
        if skipped.ok() != Some(packed) {
            return Err("a page that is cut short".to_owned());
        }
        left = after - packed;
        seen = seen.saturating_add(count);
    }
    Ok(())
}

struct Header<'a, R> {
    data: &'a mut R,
    left: u64,
    /// The number of values of a data page.
    values: i64,
    /// The number of entries of a dictionary.
    entries: i64,
    /// Bytes unpacked and packed.
    sizes: [i64; 2],
}

impl<R: Read> Header<'_, R> {
    fn byte(&mut self) -> Result<u8, String> {
        let mut byte = [0];
        self.left = self.left.checked_sub(1).ok_or("a page header beyond its chunk")?;
        self.data.read_exact(&mut byte).map_err(|_| "a page header that is cut short")?;
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
        Err("a page header with an endless number".to_owned())
    }

    /// A structure; `within` is the field of the page header that it is the value of, 0 for the page header itself.
    fn structure(&mut self, within: i16, depth: u32) -> Result<(), String> {
        if depth > DEPTH {
            return Err("a page header that is nested too deep".to_owned());
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
            self.value(head & 0x0f, within, field, depth)?;
        }
    }

    fn value(&mut self, kind: u8, within: i16, field: i16, depth: u32) -> Result<(), String> {
        match kind {
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => {
                let value = unzigzag(self.varint()?);
                match (within, field) {
                    (0, 2) => self.sizes[0] = value,
                    (0, 3) => self.sizes[1] = value,
                    // The first field of either kind of data page header.
                    (5 | 8, 1) => self.values = value,
                    (7, 1) => self.entries = value,
                    _ => {}
                }
            }
            7 => self.skip(8)?,
            8 => {
                let length = self.varint()?;
                self.skip(length)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..count {
                    // Every element takes a byte at least, so that the chunk's end ends this.
                    match head & 0x0f {
                        1 | 2 => drop(self.byte()?),
                        kind => self.value(kind, -1, 0, depth + 1)?,
                    }
                }
            }
            12 => self.structure(if depth == 0 { field } else { -1 }, depth + 1)?,
            _ => return Err("a page header of an unknown type".to_owned()),
        }
        if depth > DEPTH { Err("a page header that is nested too deep".to_owned()) } else { Ok(()) }
    }

    fn skip(&mut self, bytes: u64) -> Result<(), String> {
        self.left = self.left.checked_sub(bytes).ok_or("a page header beyond its chunk")?;
        let skipped = std::io::copy(&mut (&mut *self.data).take(bytes), &mut std::io::sink());
        if skipped.ok() == Some(bytes) { Ok(()) } else { Err("a page header that is cut short".to_owned()) }
    }
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
