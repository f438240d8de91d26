//! `edgepace reproduce`, and tables of `edgepace sweep`.

use serde_json::Value;
use tempfile::tempdir;

use crate::program::{edgepace, edgepace_in};

#[test]
fn experiments_are_listed_for_people_and_for_programs() {
    let run = edgepace(["reproduce", "--list"]);
    assert_eq!((run.code, &run.stderr[..]), (Some(0), ""));
    let told: Value =
        serde_json::from_str(&edgepace(["reproduce", "--list", "--json"]).stdout).expect("JSON");
    let names: Vec<&str> =
        told.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    let expected = [
        "table1",
        "table2",
        "robustness",
        "ablation",
        "curriculum",
        "synthetic-data",
        "heterophily",
        "pna",
        "pna-robustness",
        "time",
        "sensitivity",
        "smoothing",
    ];
    assert_eq!(names, expected);
    for name in expected {
        assert!(run.stdout.lines().any(|line| line.starts_with(name)), "{name}: {}", run.stdout);
    }
}

#[test]
fn a_mistyped_experiment_is_answered_with_what_was_meant_and_leaves_nothing() {
    let folder = tempdir().expect("a folder");
    let run = edgepace_in(folder.path(), ["reproduce", "tabel1"]);
    assert_eq!((run.code, &run.stdout[..]), (Some(2), ""));
    assert!(run.stderr.contains("did you mean `table1`?"), "{}", run.stderr);
    let run = edgepace_in(folder.path(), ["reproduce", "time", "--only-stored"]);
    assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "there is no store");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn what_was_run_is_written_in_every_form_and_not_run_again() {
    let folder = tempdir().expect("a folder");
    let words = "reproduce synthetic-data --seeds 0..2 --jobs 2 --store s.sqlite --out out --json";
    let run = edgepace_in(folder.path(), words.split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("12 runs, 0 in the store; 12 to do take about"), "{}", run.stderr);
    let cells: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let cells = cells.as_array().expect("a list");
    assert_eq!(cells.len(), 6, "three graphs, two methods");
    for cell in cells {
        assert_eq!(
            (&cell["table"], &cell["backbone"], &cell["n"]),
            (&"synthetic-data".into(), &"gcn".into(), &2.into())
        );
        assert!(cell["mean"].as_f64().is_some_and(|mean| mean > 30.0 && mean < 100.0), "{cell}");
        assert!(cell["sd"].is_f64() && cell["paper"].is_null() && cell["p_value"].is_f64(), "{cell}");
    }
    for file in
        ["README.md", "synthetic-data.csv", "synthetic-data.tex", "synthetic-data.svg", "synthetic-data.png"]
    {
        assert!(folder.path().join("out").join(file).exists(), "{file}");
    }
    let stored = edgepace_in(folder.path(), format!("{words} --only-stored").split(' '));
    assert_eq!(stored.code, Some(0), "{}", stored.stderr);
    assert_eq!(stored.stdout, run.stdout, "the store knows all of it");
    let again = edgepace_in(folder.path(), words.split(' '));
    assert!(again.stderr.contains("12 in the store; 0 to do"), "{}", again.stderr);
    assert_eq!(again.stdout, run.stdout);
}

#[test]
fn datasets_that_cannot_be_had_are_named_and_left_out() {
    let folder = tempdir().expect("a folder");
    let words = "reproduce sensitivity --quick --seeds 0 --offline --data nowhere --store s.sqlite --out out";
    let run = edgepace_in(folder.path(), words.split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for name in ["Cora", "Citeseer"] {
        assert!(run.stderr.contains(&format!("sensitivity: {name}: left out")), "{}", run.stderr);
    }
    assert!(run.stdout.contains("synthetic-0.3"), "{}", run.stdout);
    let page = std::fs::read_to_string(folder.path().join("out/README.md")).expect("a page");
    assert!(page.contains("Not measured:") && page.contains("on Cora"), "{page}");
}

const PLAN: &str = r#"
seeds = "0..2"
[run]
epochs = 10
[[graphs]]
name = "small"
dataset = "synthetic:nodes=200,edges=600"
[[methods]]
method = "vanilla"
[[methods]]
method = "mlp"
"#;

#[test]
fn a_sweep_writes_a_table_with_differences() {
    let folder = tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.toml"), PLAN).expect("a plan");
    let run = |words: &str| edgepace_in(folder.path(), words.split(' '));
    let done = run("sweep plan.toml --store s.sqlite --table table.md --against vanilla");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let table = std::fs::read_to_string(folder.path().join("table.md")).expect("a table");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "| graph | seeds | vanilla | mlp | mlp − vanilla |");
    assert!(
        lines[2].starts_with("| small | 2 | ") && lines[2].contains("**") && lines[2].contains(" ± "),
        "{table}"
    );
    let wrong = run("sweep plan.toml --store s.sqlite --table table.md --against vanila");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("did you mean `vanilla`?"), "{}", wrong.stderr);
}
