//! The documents keep their word: commands work (slow ones at least parse, Python scripts at least start), links lead
//! somewhere.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::edgepace;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Markdown file with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for folder in [".", "bench", "docs", "docs/results"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder of documents");
        files.extend(entries.map(|entry| entry.expect("a file").path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.into_iter().map(|file| (file.clone(), std::fs::read_to_string(file).expect("a document"))).collect()
}

/// The lines that begin with `$ ` in the documents, with the language of the block they stand in.
fn commands() -> Vec<(String, String)> {
    let mut commands = Vec::new();
    for (_, text) in documents() {
        let mut language = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("```") {
                rest.clone_into(&mut language);
            } else if let Some(command) = line.strip_prefix("$ ") {
                commands.push((language.clone(), command.to_owned()));
            }
        }
    }
    commands
}

#[test]
fn every_documented_command_works() {
    let mut seen = 0;
    for (language, command) in commands() {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            // Minutes, or gigabytes: whether the program knows the arguments.
            ["edgepace", ref rest @ ..] if language == "console slow" => {
                let run = edgepace(rest.iter().copied().chain(["--seconds", "x"]));
                assert!(run.stderr.contains("invalid value 'x' for '--seconds"), "{command}: {}", run.stderr);
            }
            ["edgepace", ref rest @ ..] | ["cargo", "run", "--release", "--", ref rest @ ..] => {
                let run = edgepace(rest.iter().copied());
                assert_eq!(run.code, Some(0), "{command}: {}", run.stderr);
            }
            ["python3", script, ..] => {
                let help = Command::new("python3").args([script, "--help"]).current_dir(root()).output();
                assert!(help.expect("Python 3").status.success(), "{command}");
            }
            // The command that runs this test, and the one that fetches the source.
            ["./check"] | ["git", "clone", ..] => {}
            _ => panic!("a document has a command that no test runs: {command}"),
        }
        seen += 1;
    }
    assert!(seen >= 3, "the documents have commands");
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
