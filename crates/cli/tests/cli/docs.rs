//! Every command in the documents is run, word for word.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::edgepace;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines that begin with `$ ` in the documents, with the language of the block they stand in.
fn commands() -> Vec<(String, String)> {
    let mut files = vec![root().join("README.md"), root().join("bench/README.md")];
    for folder in ["docs", "docs/results"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("the documents");
        files.extend(entries.map(|entry| entry.expect("a file").path()));
    }
    let mut commands = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "md")) {
        let mut language = String::new();
        for line in std::fs::read_to_string(file).expect("a document").lines() {
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
                let run = edgepace(rest.iter().copied().chain(["--epochs", "x"]));
                assert!(run.stderr.contains("invalid value 'x' for '--epochs"), "{command}: {}", run.stderr);
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
