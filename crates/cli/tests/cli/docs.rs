//! The documents keep their word: commands work (slow ones at least parse, Python scripts at least start), links lead
//! somewhere.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::edgepace_in;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Markdown file with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for folder in [".", "bench", "docs", "docs/methods", "docs/results", "fuzz"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder of documents");
        files.extend(entries.map(|entry| entry.expect("a file").path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.into_iter().map(|file| (file.clone(), std::fs::read_to_string(file).expect("a document"))).collect()
}

/// A fenced block of a document: what stands after the backticks, and its lines.
fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
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

/// Runs a document from top to bottom in a folder of its own: a block `csv NAME` is a file there, a block `console` is
/// commands. `console slow` (minutes, or gigabytes) is only parsed, `console data` runs where the real datasets are.
#[test]
fn every_documented_command_works() {
    let mut seen = 0;
    for (file, text) in documents() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (language, lines) in blocks(&text) {
            if let Some(name) = language.strip_prefix("csv ") {
                std::fs::write(folder.path().join(name), lines.join("\n") + "\n").expect("a file");
            }
            for command in lines.iter().filter_map(|line| line.strip_prefix("$ ")) {
                works(folder.path(), &language, command, &file);
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "the documents have commands");
}

fn works(folder: &Path, language: &str, command: &str, document: &Path) {
    let words: Vec<&str> = command.split_whitespace().collect();
    let claim = format!("{}: {command}", document.display());
    match words[..] {
        ["edgepace", ref rest @ ..] | ["cargo", "run", "--release", "--", ref rest @ ..] => {
            let parse_only =
                language == "console slow" || (language == "console data" && real_data().is_none());
            // `--help` after arguments that are not known is an error, and otherwise the end.
            let help = parse_only.then_some("--help");
            let run = edgepace_in(folder, rest.iter().copied().chain(help));
            assert_eq!(run.code, Some(0), "{claim}: {}", run.stderr);
        }
        ["python3", script, ..] => {
            let help = Command::new("python3").args([script, "--help"]).current_dir(root()).output();
            assert!(help.expect("Python 3").status.success(), "{claim}");
        }
        // Heavy: whether there is such an example is enough.
        ["cargo", "run", "--release", "-p", package, "--example", example, ..] => {
            let package = package.trim_start_matches("edgepace-");
            let file = root().join(format!("crates/{package}/examples/{example}.rs"));
            assert!(file.exists(), "{claim}");
        }
        // The command that runs this test, and the one that fetches the source.
        ["./check"] | ["git", "clone", ..] => {}
        _ => panic!("a document has a command that no test runs: {claim}"),
    }
}

/// The real datasets, where they are; the program finds them by itself in the environment.
fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("EDGEPACE_DATA")
        .map_or_else(|| root().join("../shared/data"), PathBuf::from)
        .canonicalize()
        .ok()?;
    folder.join("planetoid").is_dir().then_some(folder)
}

#[test]
fn the_index_of_methods_has_a_row_for_each() {
    let index = std::fs::read_to_string(root().join("docs/methods.md")).expect("the index");
    let list = edgepace_in(&root(), ["methods", "--json"]).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    for method in list.as_array().expect("a list") {
        let name = method["name"].as_str().expect("a name");
        let row = |line: &str| {
            line.starts_with(&format!("| `{name}`")) || line.starts_with(&format!("| [`{name}`]"))
        };
        assert!(index.lines().any(row), "docs/methods.md has no row for {name}");
    }
}

#[test]
fn every_link_to_a_file_leads_to_it() {
    let mut seen = 0;
    for (file, text) in documents() {
        for rest in text.split("](").skip(1) {
            let target = rest.split([')', '#']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let folder = file.parent().expect("a folder");
            assert!(folder.join(target).exists(), "{}: there is no {target}", file.display());
            seen += 1;
        }
    }
    assert!(seen >= 10, "the documents have links");
}
