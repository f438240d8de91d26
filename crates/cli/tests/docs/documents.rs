//! What stands in the documents. The tests of the program and those of the benchmark both read it.

use std::path::{Path, PathBuf};

/// How a command of the benchmark begins.
pub(crate) const COMMAND_OF_BENCH: &str = "cargo run --release -p edgepace-bench -- ";

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Markdown file with its text.
pub(crate) fn documents() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for folder in [".", "bench", "docs", "docs/methods", "docs/results", "fuzz"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder of documents");
        files.extend(entries.map(|entry| entry.expect("a file").path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.into_iter().map(|file| (file.clone(), std::fs::read_to_string(file).expect("a document"))).collect()
}

/// A fenced block of a document: what stands after the backticks, and its lines.
pub(crate) fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                blocks.push((language.to_owned(), Vec::new()));
            }
        } else if inside && let Some((_, lines)) = blocks.last_mut() {
            lines.push(line.to_owned());
        }
    }
    blocks
}
