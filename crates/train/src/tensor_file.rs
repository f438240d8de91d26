//! Numbers by name in one file (safetensors), with a header that says what they are and a checksum over all of it.

use std::io::{self, Write};
use std::path::Path;

use edgepace_graph::{ContentHasher, files};
use safetensors::tensor::{Dtype, SafeTensors};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::TrainError;
use crate::state::Numbers;

/// The one entry of a file's metadata; a single one, so that equal contents are equal files.
const ENTRY: &str = "edgepace";

/// What a file is.
pub(crate) struct Kind {
    /// Its name, as «model».
    pub(crate) name: &'static str,
    /// Goes up when the meaning of its contents changes.
    pub(crate) version: u32,
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    kind: String,
    version: u32,
    /// SHA-256 of header and tensors.
    checksum: String,
    header: Value,
}

/// Numbers with their shape.
#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) numbers: Numbers,
}

impl Tensor {
    /// Numbers in a row.
    pub(crate) fn row(name: &str, numbers: Numbers) -> Self {
        let length = match &numbers {
            Numbers::F32(numbers) => numbers.len(),
            Numbers::U32(numbers) => numbers.len(),
        };
        Self { name: name.to_owned(), shape: vec![length], numbers }
    }
}

/// Writes a file, whole or not at all.
pub(crate) fn write(
    path: &Path,
    kind: &Kind,
    header: &impl Serialize,
    mut tensors: Vec<Tensor>,
) -> Result<(), TrainError> {
    let failed = |cause: String| TrainError::File { action: "cannot write", path: path.to_owned(), cause };
    tensors.sort_by(|a, b| a.name.cmp(&b.name));
    let header = serde_json::to_value(header).map_err(|error| failed(error.to_string()))?;
    let envelope = Envelope {
        kind: kind.name.to_owned(),
        version: kind.version,
        checksum: checksum(&header, &tensors),
        header,
    };
    let entry = serde_json::to_string(&envelope).map_err(|error| failed(error.to_string()))?;
    let head = head(&entry, &tensors);
    files::write_with(path, |file| {
        file.write_all(&(head.len() as u64).to_le_bytes())?;
        file.write_all(head.as_bytes())?;
        tensors.iter().try_for_each(|tensor| tensor.numbers.write(file))
    })
    .map_err(|error| failed(error.source.to_string()))
}

/// The head of a safetensors file: the metadata, then type, shape and place of each tensor, padded to whole words.
fn head(entry: &str, tensors: &[Tensor]) -> String {
    let mut fields = vec![format!("\"__metadata__\":{}", json!({ ENTRY: entry }))];
    let mut start = 0;
    for Tensor { name, shape, numbers } in tensors {
        let end = start + numbers.bytes();
        let tensor = json!({ "dtype": numbers.name(), "shape": shape, "data_offsets": [start, end] });
        fields.push(format!("{}:{tensor}", Value::from(&name[..])));
        start = end;
    }
    let mut head = format!("{{{}}}", fields.join(","));
    head.push_str(&" ".repeat(head.len().next_multiple_of(8) - head.len()));
    head
}

/// Reads a file of that kind: refused when it is of another kind or version, or when a single bit of it has changed.
pub(crate) fn read<H: DeserializeOwned>(path: &Path, kind: &Kind) -> Result<(H, Vec<Tensor>), TrainError> {
    let failed = |cause: String| TrainError::File { action: "cannot use", path: path.to_owned(), cause };
    let bytes = std::fs::read(path).map_err(|error| TrainError::File {
        action: "cannot read",
        path: path.to_owned(),
        cause: error.to_string(),
    })?;
    let parsed = parse(&bytes, kind)
        .map_err(|reason| failed(format!("it is not a {} of edgepace: {reason}", kind.name)))?;
    let header = H::deserialize(parsed.0).map_err(|error| failed(format!("its header: {error}")))?;
    Ok((header, parsed.1))
}

fn parse(bytes: &[u8], kind: &Kind) -> Result<(Value, Vec<Tensor>), String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let entry = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY));
    let entry = entry.ok_or_else(|| format!("its metadata has no entry `{ENTRY}`"))?;
    let envelope: Envelope = serde_json::from_str(entry).map_err(|error| error.to_string())?;
    let Envelope { kind: found, version, checksum: expected, header } = envelope;
    if (&found[..], version) != (kind.name, kind.version) {
        return Err(format!(
            "it is a {found} of version {version}, expected {} of version {}",
            kind.name, kind.version
        ));
    }
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let mut tensors = Vec::new();
    for (name, view) in file.iter() {
        let words = view.data().chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
        let numbers = match view.dtype() {
            Dtype::F32 => Numbers::F32(words.map(f32::from_le_bytes).collect::<Vec<_>>().into()),
            Dtype::U32 => Numbers::U32(words.map(u32::from_le_bytes).collect::<Vec<_>>().into()),
            other => return Err(format!("tensor `{name}` is of type {other:?}, expected F32 or U32")),
        };
        tensors.push(Tensor { name: name.to_owned(), shape: view.shape().to_vec(), numbers });
    }
    tensors.sort_by(|a, b| a.name.cmp(&b.name));
    let found = checksum(&header, &tensors);
    if found != expected {
        return Err(format!("it is damaged: its checksum is {found}, expected {expected}"));
    }
    Ok((header, tensors))
}

/// SHA-256 of the header as JSON, then of each tensor by name: its name, shape and numbers.
fn checksum(header: &Value, tensors: &[Tensor]) -> String {
    let mut hasher = ContentHasher::default();
    hasher.bytes(header.to_string().as_bytes());
    for tensor in tensors {
        hasher.bytes(tensor.name.as_bytes());
        hasher.counts(&tensor.shape);
        match &tensor.numbers {
            Numbers::F32(numbers) => hasher.floats(numbers),
            Numbers::U32(numbers) => hasher.ids(numbers),
        }
    }
    hasher.hex()
}

impl Numbers {
    /// What safetensors calls the type.
    fn name(&self) -> &'static str {
        match self {
            Numbers::F32(_) => "F32",
            Numbers::U32(_) => "U32",
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Numbers::F32(numbers) => size_of_val(&numbers[..]),
            Numbers::U32(numbers) => size_of_val(&numbers[..]),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Numbers::F32(numbers) => write_words(out, numbers, |number| number.to_le_bytes()),
            Numbers::U32(numbers) => write_words(out, numbers, |number| number.to_le_bytes()),
        }
    }
}

/// Writes numbers piece by piece, so that no copy of all of them is needed.
fn write_words<T>(out: &mut impl Write, numbers: &[T], bytes_of: impl Fn(&T) -> [u8; 4]) -> io::Result<()> {
    let mut bytes = [[0; 4]; 4096];
    for piece in numbers.chunks(bytes.len()) {
        for (bytes, number) in bytes.iter_mut().zip(piece) {
            *bytes = bytes_of(number);
        }
        out.write_all(bytes[..piece.len()].as_flattened())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const KIND: Kind = Kind { name: "test", version: 1 };

    #[test]
    fn what_was_written_is_read_again_by_anyone_who_knows_the_format() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.safetensors");
        let floats: Vec<f32> = (0..10_001).map(|i| i as f32 * 0.1).collect();
        let tensors = || {
            let ids = Tensor::row("ids \"quoted\"", Numbers::U32(vec![7, u32::MAX].into()));
            let empty = Tensor::row("empty", Numbers::F32(Arc::default()));
            let shape = vec![73, 137];
            let matrix = Tensor { name: "a".into(), shape, numbers: Numbers::F32(floats[..].into()) };
            vec![ids, empty, matrix]
        };
        write(&path, &KIND, &"head", tensors()).unwrap();
        let (header, read): (String, _) = read(&path, &KIND).unwrap();
        assert_eq!(header, "head");
        assert_eq!(read.len(), 3);
        for own in tensors() {
            let other = read.iter().find(|tensor| tensor.name == own.name).unwrap();
            assert_eq!((&other.shape, &other.numbers), (&own.shape, &own.numbers));
        }
        // The library's own writer agrees on where everything is.
        let bytes = std::fs::read(&path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(file.tensor("a").unwrap().shape(), [73, 137]);
    }
}
