//! SHA-256 of numbers, by their little-endian bytes on every machine.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// A running SHA-256 of numbers and bytes.
#[derive(Debug, Default)]
pub struct ContentHasher(Sha256);

impl ContentHasher {
    /// A count, as 8 bytes.
    pub fn count(&mut self, value: usize) {
        self.0.update((value as u64).to_le_bytes());
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Counts, as 8 bytes each.
    pub fn counts(&mut self, values: &[usize]) {
        self.numbers(values, |&value| (value as u64).to_le_bytes());
    }

    /// Ids, as 4 bytes each.
    pub fn ids(&mut self, values: &[u32]) {
        self.numbers(values, |value| value.to_le_bytes());
    }

    /// Numbers of single precision, as 4 bytes each.
    pub fn floats(&mut self, values: &[f32]) {
        self.numbers(values, |value| value.to_le_bytes());
    }

    fn numbers<T, const BYTES: usize>(&mut self, values: &[T], bytes_of: impl Fn(&T) -> [u8; BYTES]) {
        let mut block = [[0; BYTES]; 512];
        for chunk in values.chunks(block.len()) {
            for (bytes, value) in block.iter_mut().zip(chunk) {
                *bytes = bytes_of(value);
            }
            self.0.update(block[..chunk.len()].as_flattened());
        }
    }

    /// 64 lower-case hexadecimal digits.
    pub fn hex(self) -> String {
        self.0.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a `String` cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}
