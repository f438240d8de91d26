//! Zip archives as no honest program writes them.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// An entry of an archive.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Kind and rights, as Unix has them.
    pub(crate) mode: u32,
    /// The size that the archive declares, if it lies.
    pub(crate) declared: Option<u32>,
}

pub(crate) fn file(name: &'static str, bytes: &[u8]) -> Entry {
    Entry { name, bytes: bytes.to_vec(), mode: 0o100_644, declared: None }
}

/// An archive with these entries, compressed.
pub(crate) fn zip(entries: &[Entry]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&entry.bytes).unwrap();
        let packed = encoder.finish().unwrap();
        let mut crc = Crc::new();
        crc.update(&entry.bytes);
        let mut common = Vec::new();
        // Version, flags (UTF-8), method (deflate), time and date.
        for field in [20u16, 0x800, 8, 0, 0x21] {
            common.extend(field.to_le_bytes());
        }
        for field in [crc.sum(), packed.len() as u32, entry.declared.unwrap_or(entry.bytes.len() as u32)] {
            common.extend(field.to_le_bytes());
        }
        common.extend((entry.name.len() as u16).to_le_bytes());
        common.extend(0u16.to_le_bytes());

        let start = archive.len() as u32;
        archive.extend(b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(entry.name.as_bytes());
        archive.extend(packed);

        directory.extend(b"PK\x01\x02");
        // Made on Unix.
        directory.extend((20u16 + 3 * 256).to_le_bytes());
        directory.extend(common);
        // No comment, first disk, no internal attributes.
        directory.extend([0; 6]);
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(start.to_le_bytes());
        directory.extend(entry.name.as_bytes());
    }
    let start = archive.len() as u32;
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend((entries.len() as u16).to_le_bytes());
    archive.extend((entries.len() as u16).to_le_bytes());
    archive.extend((directory.len() as u32).to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0; 2]);
    archive
}
