//! `edgepace data` as its users meet it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Run, edgepace, edgepace_in};

const TINY: &str = "synthetic:nodes=60,edges=150,classes=3,homophily=0.5";

fn json(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// A folder with a small graph in two tables.
fn tables() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write(
        "e.csv",
        "source,target,weight\nann,bob,1\nbob,cem,2\ncem,ann,0.5\ncem,dan,1\nbob,ann,1\ndan,dan,1\n",
    );
    write(
        "n.csv",
        "id,label,age,height\nann,red,30,1.7\nbob,blue,31,1.8\ncem,red,32,1.9\ndan,,33,1.6\neve,blue,34,1.5\n",
    );
    folder
}

#[test]
fn info_tells_counts_homophily_splits_and_checksum() {
    let info = json(&edgepace(["data", "info", TINY, "--json"]));
    assert_eq!((&info["nodes"], &info["edges"], &info["classes"]), (&60.into(), &300.into(), &3.into()));
    assert_eq!((&info["features"], &info["homophily"]), (&2.into(), &0.5.into()));
    let split = &info["splits"][0];
    assert_eq!((&split["name"], &split["train"]), (&"thirds".into(), &20.into()));
    assert_eq!(split["hash"].as_str().map(str::len), Some(64));
    assert_eq!(info["checksum"].as_str().map(str::len), Some(64));
    assert_eq!(json(&edgepace(["data", "info", TINY, "--json"])), info, "the same each time");
}

#[test]
fn a_dataset_without_splits_is_shown_with_five_folds() {
    let info = json(&edgepace(["data", "info", "blocks:nodes=50,edges=100,classes=2", "--json"]));
    let names: Vec<_> =
        info["splits"].as_array().expect("splits").iter().map(|split| &split["test"]).collect();
    assert_eq!(names, [10, 10, 10, 10, 10]);
}

#[test]
fn an_imported_graph_is_a_dataset_name_and_can_be_exported_and_imported_again() {
    let folder = tables();
    let run = |line: &str| edgepace_in(folder.path(), line.split(' '));
    let import =
        run("data import --edges e.csv --nodes n.csv --split fraction:0.5:0.25:stratified -o my.graph");
    assert_eq!(import.code, Some(0), "{}", import.stderr);
    insta::assert_snapshot!("import", import.stdout);
    let info = json(&run("data info my.graph --verify --json"));
    assert_eq!(
        (&info["nodes"], &info["edges"], &info["edge_columns"][0]),
        (&5.into(), &8.into(), &"weight".into())
    );
    assert_eq!(info["record"], "imported from e.csv");

    for format in ["csv", "npz"] {
        let exported = run(&format!("data export my.graph --out {format} --format {format}"));
        assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    }
    assert_eq!(run("data export my.graph --out csv").code, Some(2), "nothing is overwritten unless told");
    let again = run("data import --edges npz/dataset.npz -o again.graph");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(json(&run("data info again.graph --json"))["checksum"], info["checksum"]);
}

#[test]
fn saved_noise_is_recorded_and_marked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let line = format!("data save {TINY} --noise fake=1.0 --seeds 3 -o noisy.graph");
    assert_eq!(edgepace_in(folder.path(), line.split(' ')).code, Some(0));
    let info = json(&edgepace_in(folder.path(), "data info noisy.graph --json".split(' ')));
    assert_eq!(info["edges"], 600);
    assert!(info["edge_columns"].as_array().expect("columns").contains(&"fake".into()));
    assert!(
        info["record"].as_str().expect("a record").ends_with("noise fake=1,seed=3"),
        "{}",
        info["record"]
    );
}

#[test]
fn list_shows_every_name_and_path_where_they_are() {
    let list = json(&edgepace(["data", "list", "--json"]));
    let names: Vec<&str> =
        list.as_array().expect("sets").iter().filter_map(|set| set["name"].as_str()).collect();
    for name in "cora citeseer pubmed cs physics photo computers ogbn-arxiv ogbn-proteins texas cornell wisconsin actor \
        chameleon squirrel tolokers minesweeper roman-empire amazon-ratings questions"
        .split_whitespace()
    {
        assert!(names.contains(&name), "{name}");
    }
    let path = edgepace(["data", "path", "photo", "--data", "/somewhere"]);
    assert_eq!(Path::new(path.stdout.trim()), Path::new("/somewhere/npz/amazon_electronics_photo.npz"));
}

#[test]
fn what_cannot_be_had_is_said_with_exit_code_2() {
    let folder = tables();
    let refused = |line: &str| {
        let run = edgepace_in(folder.path(), line.split(' '));
        assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "{line}: {}", run.stderr);
        run.stderr
    };
    insta::assert_snapshot!(refused("data info coar"), @"error: `dataset` is `coar`, expected the name of a known set, `synthetic:…`, or a file or folder with a graph: did you mean `cora`? (`edgepace data list` shows the names, `edgepace data import` makes files of tables)");
    insta::assert_snapshot!(refused("data info no.graph"), @"error: cannot open no.graph: No such file or directory (os error 2)");
    let offline = refused("data get cora --offline --data nowhere");
    assert!(offline.contains("offline") && offline.contains("ind.cora.x"), "{offline}");
    let unknown = refused("data info synthetic:homo=0.3");
    assert!(unknown.contains("homophily"), "legal keys are named: {unknown}");
    fs::write(folder.path().join("bad.csv"), "a,b\nann,bob\nann\n").expect("a file");
    insta::assert_snapshot!(refused("data import --edges bad.csv -o bad.graph"), @"error: bad.csv, line 3: expected 2 fields, as in line 1, found 1: complete the line, quote fields that hold the delimiter, or name another delimiter");
    fs::write(folder.path().join("empty.csv"), "").expect("a file");
    insta::assert_snapshot!(refused("data import --edges empty.csv -o bad.graph"), @"error: empty.csv has no edges, and no table names nodes: is it the right file?");
    assert!(!folder.path().join("bad.graph").exists(), "nothing half-written");
}

/// A large graph file is mapped. Who cuts it short while a run is in progress gets an error that names it, and no result;
/// a small one is read at the beginning, and nobody notices.
#[test]
fn a_graph_file_that_is_cut_short_during_a_run_is_named_and_a_small_one_does_not_matter() {
    for (features, harmed) in [(1700, true), (20, false)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = format!("blocks:nodes=10000,edges=20000,classes=2,features={features},seed=1");
        let saved = edgepace_in(folder.path(), ["data", "save", &name, "-o", "big.graph"]);
        assert_eq!(saved.code, Some(0), "{}", saved.stderr);
        let line = "train big.graph --method vanilla --epochs 40 --set patience=0 --out run --threads 1";
        let running = Command::new(env!("CARGO_BIN_EXE_edgepace"))
            .args(line.split(' '))
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let history = folder.path().join("run/seed-0/history.jsonl");
        for _ in 0..6000 {
            if fs::metadata(&history).is_ok_and(|file| file.len() > 0) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let file =
            fs::OpenOptions::new().write(true).open(folder.path().join("big.graph")).expect("the file");
        file.set_len(4096).expect("a file that can be cut");
        let run = Run::from(running.wait_with_output().expect("an end"));
        assert_eq!(run.code, Some(if harmed { 2 } else { 0 }), "{}{}", run.stdout, run.stderr);
        assert_eq!(run.stderr.contains("big.graph"), harmed, "{}", run.stderr);
        assert_eq!(folder.path().join("run/seed-0/record.json").exists(), !harmed);
    }
}
