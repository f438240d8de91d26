//! Small valid files for every reader.

#[path = "../data/samples.rs"]
mod samples;

use std::fs;
use std::path::Path;

use edgepace_data::native::save;

/// Valid inputs of the fuzz target of that name.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "native" => {
            samples::all().iter().map(|dataset| written(|path| save(dataset, path).unwrap())).collect()
        }
        other => panic!("no seeds for {other}"),
    }
}

/// The bytes that `write` puts into a file.
fn written(write: impl FnOnce(&Path)) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed");
    write(&path);
    fs::read(path).unwrap()
}
