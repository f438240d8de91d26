//! The documents keep their word: commands work (slow ones at least parse, Python scripts at least start) and print what is
//! shown, links lead somewhere.

mod documents;
#[path = "../cli/program.rs"]
#[allow(dead_code, reason = "other tests start the program in other ways")]
mod program;
#[path = "../../../data/tests/shared/real_data.rs"]
mod real_data;

use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::Trial;

use crate::documents::{COMMAND_OF_BENCH, blocks, documents, root};
use crate::program::edgepace_in;

fn main() -> ExitCode {
    let claim = |name: &str, claim: fn()| {
        Trial::test(name, move || {
            claim();
            Ok(())
        })
    };
    let mut trials = vec![
        claim("every_link_to_a_file_leads_to_it", every_link_to_a_file_leads_to_it),
        claim("the_index_of_methods_has_a_row_for_each", the_index_of_methods_has_a_row_for_each),
    ];
    for (file, text) in documents() {
        let has = |language: &str| blocks(&text).iter().any(|(found, _)| found.starts_with(language));
        if !has("console") {
            continue;
        }
        let name = format!("commands of {}", file.strip_prefix(root()).unwrap_or(&file).display());
        if has("console data") && !real_data::is_there() {
            let (file, text) = (file.clone(), text.clone());
            trials.push(real_data::trial(format!("{name} on datasets"), move |_| follow(&file, &text)));
        }
        trials.push(Trial::test(name, move || {
            follow(&file, &text);
            Ok(())
        }));
    }
    assert!(trials.len() >= 10, "the documents have commands");
    real_data::run(trials)
}

/// Runs a document from top to bottom in a folder of its own: a block `csv NAME`, `toml NAME` or `python NAME` is a file there, a
/// block `console` is commands, which find the repository's `examples` beside them. `console slow` (minutes, or gigabytes) is
/// only parsed, and so is `console data` without the real datasets. Every line of a block `text output` but `…` is among those
/// that the last block of commands printed.
fn follow(file: &Path, text: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::os::unix::fs::symlink(root().join("examples"), folder.path().join("examples")).expect("a link");
    let mut printed = None;
    for (language, lines) in blocks(text) {
        let file_name = ["csv ", "toml ", "python "].iter().find_map(|kind| language.strip_prefix(kind));
        if let Some(name) = file_name {
            std::fs::write(folder.path().join(name), lines.join("\n") + "\n").expect("a file");
        }
        if language.starts_with("console") {
            let commands = lines.iter().filter_map(|line| line.strip_prefix("$ "));
            printed = commands.map(|command| works(folder.path(), &language, command, file)).collect();
        }
        if language == "text output" {
            // None where a command was only parsed.
            let Some::<String>(printed) = &printed else { continue };
            for line in lines.iter().filter(|line| *line != "…") {
                let found = printed.lines().any(|found| found.trim_end() == line.trim_end());
                assert!(found, "{}: `{line}` is not in\n{printed}", file.display());
            }
        }
    }
}

/// The words of a command; what stands in double quotes is one.
fn words_of(command: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for letter in command.chars() {
        match letter {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            letter => words.iter_mut().last().expect("a word").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What the command prints; none where it is not run.
fn works(folder: &Path, language: &str, command: &str, document: &Path) -> Option<String> {
    // The tests of that program run these.
    if command.starts_with(COMMAND_OF_BENCH) {
        return None;
    }
    let words = words_of(command);
    let words: Vec<&str> = words.iter().map(|word| &word[..]).collect();
    let claim = format!("{}: {command}", document.display());
    match words[..] {
        ["edgepace", ref rest @ ..] | ["cargo", "run", "--release", "--", ref rest @ ..] => {
            let parse_only =
                language == "console slow" || (language == "console data" && !real_data::is_there());
            // `--help` after arguments that are not known is an error, and otherwise the end.
            let help = parse_only.then_some("--help");
            let run = edgepace_in(folder, rest.iter().copied().chain(help));
            assert_eq!(run.code, Some(0), "{claim}: {}", run.stderr);
            return (!parse_only).then_some(run.stdout);
        }
        // A script of the document itself, whose files are only there after commands that were run.
        ["python3", script, ref rest @ ..] if folder.join(script).exists() => {
            if language != "console data" || real_data::is_there() {
                let run = Command::new("python3").arg(script).args(rest).current_dir(folder).output();
                let run = run.expect("Python 3");
                assert!(run.status.success(), "{claim}: {}", String::from_utf8_lossy(&run.stderr));
                return String::from_utf8(run.stdout).ok();
            }
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
        // The long form of a test that `./check` runs, or one that only measures.
        [setting, "cargo", "test", "-p", "edgepace-cli", "--test", test, ..]
            if setting.starts_with("EDGEPACE_") =>
        {
            assert!(root().join("crates/cli/tests").join(test).join("main.rs").exists(), "{claim}");
        }
        ["cargo", "test", "-p", "edgepace-cli", "--test", test, ..] => {
            assert!(root().join("crates/cli/tests").join(test).join("main.rs").exists(), "{claim}");
        }
        ["RUSTC_BOOTSTRAP=1", "cargo", "fuzz", "run", target, ..] => {
            assert!(root().join(format!("fuzz/fuzz_targets/{target}.rs")).exists(), "{claim}");
        }
        ["cargo", "test", "-p", "edgepace-data", "--test", test, ..] => {
            assert!(root().join(format!("crates/data/tests/{test}.rs")).exists(), "{claim}");
        }
        // The command that runs this test, and the one that fetches the source.
        ["./check"] | ["git", "clone", ..] => {}
        _ => panic!("a document has a command that no test runs: {claim}"),
    }
    None
}

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
