//! Help fits a terminal of 80 columns, teaches, and is the same in the manual.

use std::process::Command;

use tempfile::tempdir;

use crate::program::{edgepace, edgepace_in};

const COMMANDS: [&str; 27] = [
    "",
    "train",
    "audit",
    "predict",
    "report",
    "demo",
    "sweep",
    "runs",
    "runs list",
    "runs show",
    "runs compare",
    "runs export",
    "runs import",
    "runs remove",
    "limit",
    "methods",
    "reproduce",
    "completions",
    "man",
    "data",
    "data list",
    "data get",
    "data info",
    "data path",
    "data import",
    "data save",
    "data export",
];

fn help(command: &str, columns: &str, flag: &str) -> String {
    let words = command.split_whitespace().chain([flag]);
    let run = Command::new(env!("CARGO_BIN_EXE_edgepace")).args(words).env("COLUMNS", columns).output();
    String::from_utf8(run.expect("the program starts").stdout).expect("UTF-8")
}

/// From a line that begins so to the next blank line.
fn section<'a>(text: &'a str, begin: &str) -> Vec<&'a str> {
    text.lines().skip_while(|line| !line.starts_with(begin)).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn no_line_of_any_help_is_wider_than_80_columns() {
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let text = help(command, "80", flag);
            assert!(text.contains("Usage: edgepace"), "{command} {flag}: {text}");
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{command} {flag}: {line}");
            }
        }
    }
}

#[test]
fn examples_and_lists_are_not_broken_at_80_columns() {
    let own = |command: &&&str| !["audit", "predict", "data import"].contains(*command);
    for command in COMMANDS.iter().filter(own) {
        let (narrow, wide) = (help(command, "80", "--help"), help(command, "200", "--help"));
        for begin in ["Examples:", "Settings of the run", "Exit codes:"] {
            assert_eq!(section(&narrow, begin), section(&wide, begin), "{command}");
        }
        // Words are whole: the same ones in the same order, however wide the terminal.
        let words = |text: &str| text.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&narrow), words(&wide), "{command}");
    }
}

#[test]
fn the_help_of_train_is_grouped_and_has_every_setting_of_the_run_with_its_default() {
    let text = help("train", "80", "--help");
    let heads: Vec<&str> =
        text.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
    let expected =
        ["Arguments:", "Options:", "What:", "How:", "Where:", "Own files:", "Everywhere:", "Examples:"];
    let at = |head: &str| heads.iter().position(|found| *found == head);
    for head in expected {
        assert!(at(head).is_some(), "{head}: {heads:?}");
    }
    assert!(at("What:") < at("How:") && at("How:") < at("Where:"), "{heads:?}");
    let settings = section(&text, "Settings of the run").join("\n");
    for (name, default) in [
        ("backbone", "[default: gcn]"),
        ("method", "[default: rcl]"),
        ("epochs", "[default: 150]"),
        ("lr", "unset: 0.01"),
        ("weight_decay", "unset: 0 on the paper"),
        ("ground", "unset: strong for"),
        ("hidden", "unset: 64"),
        ("dropout", "[default: 0.5]"),
        ("features", "[default: "),
        ("patience", "[default: 0]"),
        ("metric", "roc-auc"),
        ("preset", "unset"),
        ("search", "[default: false]"),
    ] {
        let of = settings.split(&format!("\n  {name} ")).nth(1).unwrap_or_default();
        let own: Vec<&str> = of
            .lines()
            .enumerate()
            .take_while(|(place, line)| *place == 0 || line.starts_with("   "))
            .map(|(_, line)| line)
            .collect();
        assert!(own.join(" ").contains(default), "{name}: {own:?}");
    }
}

#[test]
fn every_shell_gets_completions_with_commands_flags_and_names() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = edgepace(["completions", shell]);
        assert_eq!((run.code, &run.stderr[..]), (Some(0), ""), "{shell}");
        for word in ["audit", "overwrite", "memory-limit"] {
            assert!(run.stdout.contains(word), "{shell}: {word}");
        }
        // Not every shell completes values, and fish none of arguments without a flag.
        let values: &[&str] = match shell {
            "bash" | "zsh" => &["pro-gnn-sparse", "balanced-accuracy", "citeseer"],
            "fish" => &["pro-gnn-sparse", "balanced-accuracy"],
            _ => &[],
        };
        for name in values {
            assert!(run.stdout.contains(name), "{shell}: {name}");
        }
    }
    let unknown = edgepace(["completions", "bsh"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("'bash'"), "{}", unknown.stderr);
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let folder = tempdir().expect("a folder");
    let run = edgepace_in(folder.path(), ["man", "--out", "man1"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for command in COMMANDS {
        let name = ["edgepace"].into_iter().chain(command.split_whitespace()).collect::<Vec<_>>().join("-");
        let page = std::fs::read_to_string(folder.path().join("man1").join(format!("{name}.1")));
        let page = page.unwrap_or_else(|_| panic!("no page {name}"));
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    assert_eq!(
        edgepace_in(folder.path(), ["man", "--out", "man1"]).code,
        Some(2),
        "nothing is overwritten unasked"
    );
    let page = edgepace(["man"]);
    assert!(page.stdout.contains(".TH edgepace 1"), "{}", page.stdout);
}
