//! What two stores have in common.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::folders::without_times;
use crate::program::edgepace_in;

/// All runs of a store by id, complete, without what differs between equal runs: times and memory.
pub(crate) fn contents(store: &Path) -> BTreeMap<String, Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store.display().to_string();
    let run = edgepace_in(folder.path(), ["runs", "export", "all.jsonl", "--store", &store]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = std::fs::read_to_string(folder.path().join("all.jsonl")).expect("a file");
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        without_times(&mut line);
        (line["run"]["id"].as_str().expect("an id").to_owned(), line)
    });
    lines.collect()
}
