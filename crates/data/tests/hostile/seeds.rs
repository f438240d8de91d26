//! Small valid files for every reader.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Valid inputs of the fuzz target of that name.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "unpack" => vec![archive(&[("top/a.csv", b"1,2\n3,4\n"), ("top/b/c.txt", &[7; 4000])]), archive(&[])],
        other => panic!("no seeds for {other}"),
    }
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
