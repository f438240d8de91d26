//! A run between two epochs, as a file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::TrainError;
use crate::spec::{NUMERICS, RunSpec};
use crate::state::State;
use crate::tensor_file::{self, Kind, Tensor};

const KIND: Kind = Kind { name: "checkpoint", version: 1 };

/// What a checkpoint is of.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Header {
    id: String,
    program: String,
    numerics: u32,
    /// What determined the id, so that a difference can be named.
    identity: Value,
    /// The length of the history up to here, in bytes.
    history_bytes: u64,
    values: std::collections::BTreeMap<String, Value>,
}

/// Writes what [`Run::save`](crate::Run::save) gave, whole or not at all. `history_bytes` is how long the run's history was
/// then.
///
/// # Errors
/// A file that cannot be written.
pub fn write_checkpoint(
    path: &Path,
    spec: &RunSpec,
    state: State,
    history_bytes: u64,
) -> Result<(), TrainError> {
    let State { numbers, values } = state;
    let header = Header {
        id: spec.id().to_owned(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        numerics: NUMERICS,
        identity: spec.identity()?,
        history_bytes,
        values,
    };
    let tensors = numbers.into_iter().map(|(name, numbers)| Tensor::row(&name, numbers)).collect();
    tensor_file::write(path, &KIND, &header, tensors)
}

/// Reads a checkpoint of a run with this spec: its state, and the length of its history in bytes.
///
/// # Errors
/// A file that cannot be read, is damaged, or is of another run, data, settings or version: the difference is named.
pub fn read_checkpoint(path: &Path, spec: &RunSpec) -> Result<(State, u64), TrainError> {
    let (header, tensors): (Header, _) = tensor_file::read(path, &KIND)?;
    if header.id != spec.id() {
        let differences = differences(&header.identity, &spec.identity()?);
        let cause = format!("it is of another run: {}", differences.join("; "));
        return Err(TrainError::File { action: "cannot go on from", path: path.to_owned(), cause });
    }
    let numbers = tensors.into_iter().map(|tensor| (tensor.name, tensor.numbers)).collect();
    Ok((State { numbers, values: header.values }, header.history_bytes))
}

/// What differs, as «`config.lr` is 0.1, expected 0.01».
fn differences(found: &Value, expected: &Value) -> Vec<String> {
    let mut all = Vec::new();
    compare("", found, expected, &mut all);
    if all.is_empty() {
        all.push("what it is made of has changed".to_owned());
    }
    all
}

fn compare(name: &str, found: &Value, expected: &Value, all: &mut Vec<String>) {
    let within = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let [a, b] = [a, b].map(|of| of.get(key).unwrap_or(&Value::Null));
                compare(&within(key), a, b, all);
            }
        }
        (a, b) if a != b => all.push(format!("`{name}` is {a}, expected {b}")),
        _ => {}
    }
}
