//! A file of records as TensorFlow writes it (TFRecord): the length of a record in 8 bytes, a checksum of these, the bytes of
//! the record, a checksum of those; all numbers little endian.
//!
//! A checksum is CRC-32C, turned right by 15 bits, plus a constant.

/// Bytes of the length and its checksum.
const HEAD: usize = 12;
/// Bytes of a checksum.
const CHECKSUM: usize = 4;
/// CRC-32C (Castagnoli), its bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;
/// What TensorFlow adds to a checksum.
const MASK: u32 = 0xa282_ead8;

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8);
    !bytes.iter().fold(!0, step)
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    crc32c(bytes).rotate_right(15).wrapping_add(MASK).to_le_bytes()
}

/// Adds a record to a file.
pub(super) fn append(file: &mut Vec<u8>, record: &[u8]) {
    let length = (record.len() as u64).to_le_bytes();
    for part in [&length[..], &checksum(&length), record, &checksum(record)] {
        file.extend_from_slice(part);
    }
}

/// The first record of a file and what follows; none where the file ends or is damaged.
pub(super) fn split_first(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = file.split_first_chunk::<{ size_of::<u64>() }>()?;
    if rest.get(..CHECKSUM)? != checksum(length) {
        return None;
    }
    let record = file.get(HEAD..)?.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let rest = &file[HEAD + record.len()..];
    (rest.get(..CHECKSUM)? == checksum(record)).then(|| (record, &rest[CHECKSUM..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3720, B.4, and the check value of the catalogue of CRCs.
    #[test]
    fn checksums_are_those_of_the_standard() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&std::array::from_fn::<u8, 32, _>(|place| place as u8)), 0x46dd_794e);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    /// The bytes that TensorFlow's writer makes of an empty record.
    #[test]
    fn a_record_is_framed_as_tensorflow_does() {
        let mut file = Vec::new();
        append(&mut file, b"");
        assert_eq!(file, [0, 0, 0, 0, 0, 0, 0, 0, 0x29, 3, 0x98, 7, 0xd8, 0xea, 0x82, 0xa2]);
    }

    #[test]
    fn records_are_read_back_until_one_is_damaged_or_cut() {
        let mut file = Vec::new();
        append(&mut file, b"one");
        let first = file.len();
        append(&mut file, b"two");
        let (one, rest) = split_first(&file).expect("a record");
        assert_eq!((one, split_first(rest)), (&b"one"[..], Some((&b"two"[..], &b""[..]))));
        for bit in 0..first * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(split_first(&damaged), None, "bit {bit}");
        }
        for length in 0..first {
            assert_eq!(split_first(&file[..length]), None, "{length} bytes");
        }
    }
}
