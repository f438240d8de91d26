//! `edgepace limit`.

use tempfile::tempdir;

use crate::program::edgepace_in;
use crate::train::json_in;

const GRAPH: &str = "synthetic:homophily=0.3,law=inverse,nodes=300,edges=1500,seed=0";

#[test]
fn the_json_object_has_the_mean_and_each_seed_on_any_number_of_threads() {
    let folder = tempdir().expect("a folder");
    let of = |threads: u8| {
        json_in(folder.path(), &format!("limit {GRAPH} --seeds 0..3 --threads {threads} --json"))
    };
    let output = of(1);
    assert_eq!(output, of(2));
    assert_eq!(output["dataset"], GRAPH);
    let seeds = output["seeds"].as_array().expect("seeds");
    let limits: Vec<f64> = seeds.iter().map(|seed| seed["limit"].as_f64().expect("a limit")).collect();
    let mean = limits.iter().sum::<f64>() / 3.0;
    assert!((output["limit_mean"].as_f64().expect("a mean") - mean).abs() < 1e-9, "{output}");
    assert!(output["limit_sd"].is_number() && output["features_mean"].is_number(), "{output}");
    assert!(limits.iter().all(|limit| (30.0..=100.0).contains(limit)), "{output}");
}

#[test]
fn a_person_gets_a_table() {
    let folder = tempdir().expect("a folder");
    let run = edgepace_in(folder.path(), ["limit", GRAPH]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.stdout);
    assert!(
        lines[0].contains("features alone %") && lines[2].ends_with("of test nodes at most"),
        "{lines:?}"
    );
}

#[test]
fn a_graph_whose_law_nobody_knows_is_refused() {
    let folder = tempdir().expect("a folder");
    let run = edgepace_in(folder.path(), ["limit", "cora"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("`dataset` is `cora`, expected `synthetic:…`"), "{}", run.stderr);
}
