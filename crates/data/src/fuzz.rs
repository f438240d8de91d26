//! Every reader as a function of bytes, for `fuzz/` and `tests/hostile.rs`. Not part of the public interface.

use std::path::Path;

use crate::readers::{pickle::Pickle, planetoid};
use crate::{DataError, Generator, Noise, SplitRule};

/// A reader that takes whatever bytes it is given.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is also that of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Reads, and throws away what was read.
    pub read: fn(&[u8]) -> Result<(), DataError>,
    /// How many bytes of memory it may need per byte of input, at most: a few, or a thousand where the format is
    /// compressed.
    pub expansion: usize,
}

/// All readers.
pub const TARGETS: &[Target] = &[
    Target { name: "pickle", read: pickle, expansion: PICKLE },
    Target { name: "planetoid", read: planetoid, expansion: PICKLE },
    Target { name: "specs", read: specs, expansion: 64 },
];

/// An instruction of one byte may make an object, put it on the stack and into the memo, and all three grow by doubling.
const PICKLE: usize = 256;

/// Whatever the file holds, and whether it can be converted: a matrix, a sparse matrix, neighbours.
fn pickle(bytes: &[u8]) -> Result<(), DataError> {
    let pickle = Pickle::read(Path::new("fuzz"), bytes)?;
    let (matrix, sparse) = (pickle.matrix().map(drop), pickle.sparse().map(drop));
    matrix.or(sparse).or_else(|_| pickle.adjacency().map(drop))
}

/// The eight parts of a set one after the other, each after its size in 4 bytes, little endian.
fn planetoid(mut bytes: &[u8]) -> Result<(), DataError> {
    let mut pieces = [&[][..]; 8];
    for piece in &mut pieces {
        let (size, rest) = bytes.split_first_chunk().unwrap_or((&[0; 4], &[]));
        (*piece, bytes) = rest.split_at((u32::from_le_bytes(*size) as usize).min(rest.len()));
    }
    planetoid::from_pieces(pieces).map(drop)
}

/// Descriptions of a generated graph, of noise and of a split, one per line. They must read what they write.
fn specs(bytes: &[u8]) -> Result<(), DataError> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let [generator, noise, split] = [(); 3].map(|()| lines.next().unwrap_or_default());
    if let Some(generator) = Generator::parse(generator)? {
        assert_eq!(Generator::parse(&generator.to_string())?, Some(generator));
    }
    let noise: Noise = noise.parse()?;
    assert_eq!(noise.to_string().parse::<Noise>()?, noise);
    let split: SplitRule = split.parse()?;
    assert_eq!(split.to_string().parse::<SplitRule>()?, split);
    Ok(())
}
