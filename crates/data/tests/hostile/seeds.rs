//! Small valid files for every reader.

#[path = "../data/samples.rs"]
mod samples;

use std::fs;
use std::path::Path;

use edgepace_data::export::{Format, export};
use edgepace_data::native::save;

/// Valid inputs of the fuzz target of that name.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "native" => {
            samples::all().iter().map(|dataset| written(|path| save(dataset, path).unwrap())).collect()
        }
        "parquet" => fixtures(&[
            "edges.parquet",
            "nodes.snappy.parquet",
            "nodes.zstd.parquet",
            "nodes.gzip.parquet",
            "numbers.parquet",
        ]),
        "graphml" => fixtures(&["undirected.graphml", "directed.graphml"]),
        "edge_list" => fixtures(&["dictionary.edgelist", "weighted.edgelist", "plain.edgelist"]),
        "arrays" => {
            let mut files = fixtures(&["arrays.npz", "pairs.npz", "adjacency.npz", "coordinates.npz"]);
            for dataset in samples::all() {
                let folder = tempfile::tempdir().unwrap();
                let written = export(&dataset, folder.path(), Format::Npz, false).unwrap();
                files.push(fs::read(&written[0]).unwrap());
            }
            files
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

/// Files that the programs wrote whose formats we read.
fn fixtures(names: &[&str]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    names.iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}
