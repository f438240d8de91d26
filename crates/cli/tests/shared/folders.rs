//! What two folders of runs have in common.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// All files below a folder by name, without what differs between equal runs: times and memory.
pub(crate) fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(next).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("below").display().to_string();
            let mut bytes = std::fs::read(&path).expect("a file");
            if path.extension().is_some_and(|extension| extension == "json") {
                let mut value: Value = serde_json::from_slice(&bytes).expect("JSON");
                without_times(&mut value);
                bytes = value.to_string().into_bytes();
            }
            files.insert(name, bytes);
        }
    }
    files
}

pub(crate) fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["seconds", "warm_start_seconds", "peak_bytes", "created"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(without_times);
        }
        Value::Array(values) => values.iter_mut().for_each(without_times),
        _ => {}
    }
}

pub(crate) fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (contents(one), contents(other));
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other), "the same files");
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{name} differs");
    }
}
