//! What holds for every command: JSON, messages, files.

use serde_json::Value;
use tempfile::tempdir;

use crate::program::{Run, edgepace, edgepace_in};
use crate::train::GRAPH;

/// The error object on standard error, where standard output must be empty.
fn error_of(run: &Run) -> Value {
    assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "{}", run.stderr);
    let object: Value = serde_json::from_str(&run.stderr).expect("one JSON object");
    assert!(object["error"]["message"].is_string() && object["error"]["causes"].is_array(), "{object}");
    object["error"].clone()
}

#[test]
fn errors_under_json_are_objects_on_standard_error_those_of_the_parser_included() {
    let unknown = error_of(&edgepace(["train", "coar", "--json"]));
    assert!(
        unknown["message"].as_str().is_some_and(|text| text.contains("did you mean `cora`?")),
        "{unknown}"
    );
    let flag = error_of(&edgepace(["--json", "train", "cora", "--epoch", "3"]));
    assert_eq!(flag["message"], "unexpected argument '--epoch' found");
    assert!(flag["help"].as_str().is_some_and(|help| help.contains("'--epochs'")), "{flag}");
    let none = error_of(&edgepace(["data", "info", "no.graph", "--json"]));
    assert_eq!(none["message"], "cannot open no.graph");
    assert!(none["causes"][0].as_str().is_some_and(|cause| cause.starts_with("No such file")), "{none}");
    let folder = tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.graph"), "mine").expect("written");
    let line = format!("data save {GRAPH} -o a.graph --json");
    let there = error_of(&edgepace_in(folder.path(), line.split(' ')));
    assert_eq!(there["message"], "`--output` is `a.graph`, which is there already");
    assert_eq!(there["help"], "choose another name, or give `--overwrite`");
    assert_eq!(std::fs::read(folder.path().join("a.graph")).expect("a file"), b"mine");
}

#[test]
fn help_and_version_are_no_errors_whatever_else_is_asked_for() {
    for line in
        ["--help --json", "train --help --json", "data info --help", "--version", "data save --version"]
    {
        let run = edgepace(line.split(' '));
        assert_eq!((run.code, &run.stderr[..]), (Some(0), ""), "{line}");
        assert!(run.stdout.contains("edgepace"), "{line}: {}", run.stdout);
    }
}

#[test]
fn quiet_says_the_result_alone_and_verbose_what_is_done() {
    let train =
        |more: &str| edgepace(format!("train {GRAPH} --method vanilla --epochs 3 {more}").trim().split(' '));
    let quiet = train("--quiet");
    assert_eq!((quiet.code, &quiet.stderr[..]), (Some(0), ""));
    assert!(quiet.stdout.contains("test %"), "{}", quiet.stdout);
    let verbose = train("-v");
    for part in ["note: synthetic:", "200 nodes, 1200 directed edges", "note: seed 0: 3 epochs"] {
        assert!(verbose.stderr.contains(part), "{part}: {}", verbose.stderr);
    }
    let objects = train("-v --json");
    assert_eq!(objects.stdout.lines().count(), 1);
    for line in objects.stderr.lines() {
        let object: Value = serde_json::from_str(line).expect("JSON");
        let told = ["note", "warning"].iter().any(|kind| object[kind]["message"].is_string());
        assert!(told, "{object}");
    }
    assert_eq!(train("-q -v").code, Some(2), "both at once make no sense");
}

#[test]
fn every_command_that_writes_refuses_what_is_there_unless_it_is_told_to_overwrite() {
    let folder = tempdir().expect("a folder");
    for line in [
        format!("train {GRAPH} --method mlp --epochs 2 --out run"),
        format!("data save {GRAPH} -o saved.graph"),
        format!("data export {GRAPH} --out tables"),
        format!("data export {GRAPH} --out arrays --format npz"),
    ] {
        let run = |line: &str| edgepace_in(folder.path(), line.split(' '));
        assert_eq!(run(&line).code, Some(0), "{line}");
        let again = run(&line);
        assert_eq!(again.code, Some(2), "{line}");
        assert!(again.stderr.contains("--overwrite"), "{line}: {}", again.stderr);
        assert_eq!(run(&format!("{line} --overwrite")).code, Some(0), "{line}");
    }
}

#[test]
fn a_file_in_a_folder_that_is_not_there_is_refused_and_no_folder_made() {
    let folder = tempdir().expect("a folder");
    let run = edgepace_in(folder.path(), ["data", "save", GRAPH, "-o", "no/such/x.graph"]);
    assert_eq!((run.code, &run.stdout[..]), (Some(2), ""));
    assert!(run.stderr.contains("there is no folder no/such"), "{}", run.stderr);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn what_was_written_is_said_in_json_too() {
    let folder = tempdir().expect("a folder");
    let json = |line: String| {
        let run = edgepace_in(folder.path(), line.split(' '));
        assert_eq!((run.code, &run.stderr[..]), (Some(0), ""), "{line}");
        serde_json::from_str::<Value>(&run.stdout).expect("JSON")
    };
    assert_eq!(json(format!("data save {GRAPH} -o x.graph --seeds 4 --json"))["wrote"][0], "x.graph");
    let exported = json("data export x.graph --out arrays --format npz --json".to_owned());
    assert_eq!(exported["wrote"][0], "arrays/dataset.npz");
    assert!(json("data path --json".to_owned())["path"].is_string());
    // As one said it before.
    assert_eq!(json("data export x.graph tables --json".to_owned())["wrote"][0], "tables/nodes.csv");
    assert_eq!(json(format!("data save {GRAPH} -o y.graph --seed 4 --json"))["wrote"][0], "y.graph");
    let two = edgepace_in(folder.path(), format!("data save {GRAPH} -o z.graph --seeds 0..2").split(' '));
    assert_eq!(two.code, Some(2));
    assert!(two.stderr.contains("'--seeds <SEED>': expected one seed"), "{}", two.stderr);
}

#[test]
fn a_dry_run_tells_what_would_be_done_how_long_and_with_how_much_memory_and_writes_nothing() {
    let folder = tempdir().expect("a folder");
    let run = |line: String| edgepace_in(folder.path(), line.split(' '));
    let told = run(format!(
        "train {GRAPH} --noise fake=1 --epochs 40 --seeds 0..3 --jobs 2 --out run --dry-run --json"
    ));
    assert_eq!((told.code, &told.stderr[..]), (Some(0), ""));
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(
        (&told["dataset"], &told["nodes"], &told["edges"]),
        (&GRAPH.into(), &200.into(), &1200.into())
    );
    assert_eq!(
        (&told["method"], &told["preset"], &told["noise"]),
        (&"rcl".into(), &"trust".into(), &"fake=1".into())
    );
    let split = &told["split"];
    assert_eq!((&split["name"], &split["train"]), (&"thirds".into(), &67.into()));
    assert_eq!(
        split["train"]
            .as_u64()
            .zip(split["test"].as_u64())
            .zip(split["validation"].as_u64())
            .map(|((a, b), c)| a + b + c),
        Some(200)
    );
    assert_eq!(told["config"]["epochs"], 40);
    assert!(told["config"]["settings"]["period"].is_number(), "{told}");
    assert_eq!(told["seeds"], serde_json::json!([0, 1, 2]));
    let time = &told["time"];
    assert!(time["seconds_per_run"].as_f64() > Some(0.0), "{time}");
    // Three runs, two at a time.
    assert_eq!(time["seconds"].as_f64(), time["seconds_per_run"].as_f64().map(|seconds| 2.0 * seconds));
    assert!(told["memory"]["bytes_per_run"].as_u64() > Some(10_000), "{told}");
    let text = run(format!("audit {GRAPH} --dry-run"));
    assert_eq!(text.code, Some(0), "{}", text.stderr);
    for part in ["Dry run", "split     thirds: 67 nodes to train on", "epochs=150", "memory", "time"] {
        assert!(text.stdout.contains(part), "{part}: {}", text.stdout);
    }
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 80), "{}", text.stdout);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}
