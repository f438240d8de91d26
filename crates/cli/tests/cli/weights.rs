//! Weights of a user's own edges, from the file to the result.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::program::edgepace_in;

/// 120 nodes of two classes: two edges each within the class, of strength 1, and two to anywhere, of strength 0.05.
fn write_tables(folder: &Path) {
    let (mut edges, mut nodes) = ("source,target,strength\n".to_owned(), "id,label,x,y\n".to_owned());
    for node in 0..120_usize {
        let noise = |step: usize| ((node * step + 17) % 101) as f64 / 50.0 - 1.0;
        let class = node % 2;
        writeln!(nodes, "{node},{class},{:.2},{:.2}", noise(37) + 0.3 * class as f64, noise(53)).unwrap();
        for hop in [2, 14] {
            writeln!(edges, "{node},{},1", (node + hop) % 120).unwrap();
        }
        for step in [31, 71] {
            let other = (node * step + 45) % 120;
            if other != node {
                writeln!(edges, "{node},{other},0.05").unwrap();
            }
        }
    }
    std::fs::write(folder.join("e.csv"), edges).unwrap();
    std::fs::write(folder.join("n.csv"), nodes).unwrap();
}

const TRAIN: &str = "train --edges e.csv --nodes n.csv --method vanilla --epochs 30 --json --quiet";

/// What a run came to: its scores, and how its training went.
fn result_of(folder: &Path, extra: &str) -> Value {
    let run = edgepace_in(folder, format!("{TRAIN}{extra}").split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let output: Value = serde_json::from_str(&run.stdout).unwrap();
    let result = &output["runs"][0];
    assert!(result["test"].is_number(), "{result}");
    serde_json::json!([result["test"], result["validation"], result["best_epoch"]])
}

#[test]
fn weights_change_the_result_of_a_run_and_the_checksum() {
    let folder = tempdir().unwrap();
    write_tables(folder.path());
    let (without, with) = (result_of(folder.path(), ""), result_of(folder.path(), " --weight strength"));
    assert_eq!(with, result_of(folder.path(), " --weight strength"), "the same again");
    assert_ne!(with, without);
    let checksum = |weight: &str, file: &str| {
        let import = format!("data import --edges e.csv --nodes n.csv{weight} -o {file}");
        let run = edgepace_in(folder.path(), import.split(' '));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let info = edgepace_in(folder.path(), ["data", "info", file, "--json"]);
        serde_json::from_str::<Value>(&info.stdout).unwrap()["checksum"].clone()
    };
    let (plain, weighted) = (checksum("", "plain.graph"), checksum(" --weight strength", "weighted.graph"));
    assert!(plain.is_string() && plain != weighted, "{plain} {weighted}");
}

#[test]
fn the_edge_table_of_a_run_shows_what_was_given() {
    let folder = tempdir().unwrap();
    write_tables(folder.path());
    let command = "train --edges e.csv --nodes n.csv --weight strength --epochs 30 --set period=5 --out run";
    let run = edgepace_in(folder.path(), command.split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let mut tables = Vec::new();
    let mut open = vec![folder.path().join("run")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.file_name().is_some_and(|name| name == "edges.csv") {
            tables.push(std::fs::read_to_string(path).unwrap());
        }
    }
    let header = tables[0].lines().next().unwrap();
    assert!(header.contains("given_weight"), "{header}");
    assert!(tables[0].contains(",0.05,") && tables[0].contains(",1,"), "{:.300}", tables[0]);
}

#[test]
fn what_is_no_weight_ends_with_code_2_and_names_file_and_line() {
    let folder = tempdir().unwrap();
    write_tables(folder.path());
    std::fs::write(folder.path().join("e.csv"), "source,target,strength\n0,1,1\n1,2,NaN\n").unwrap();
    let run = edgepace_in(folder.path(), format!("{TRAIN} --weight strength").split(' '));
    assert_eq!(run.code, Some(2));
    let said = run.stdout + &run.stderr;
    for part in ["e.csv", "line 3", "strength", "a number from 0", "NaN"] {
        assert!(said.contains(part), "{said}");
    }
    std::fs::write(folder.path().join("e.csv"), "source,target,strength\n0,1,1\n1,2,7\n2,3,1\n").unwrap();
    let heavy = format!("{TRAIN} --weight strength").replace("vanilla", "pro-gnn");
    let run = edgepace_in(folder.path(), heavy.split(' '));
    assert_eq!(run.code, Some(2));
    let said = run.stdout + &run.stderr;
    assert!(said.contains("pro-gnn") && said.contains('7') && said.contains("divide"), "{said}");
}
