//! `edgepace predict`.

use serde_json::Value;
use tempfile::tempdir;

use crate::program::edgepace_in;
use crate::train::{GRAPH, json_in};

#[test]
fn a_saved_model_predicts_what_its_run_did_noise_and_edge_weights_included() {
    // One graph, whatever the seed of the run.
    let graph = format!("{GRAPH},seed=0");
    let own = ["gnn-svd", "pro-gnn", "pro-gnn-sparse", "neural-sparse", "ptdnet", "prune-features"];
    let own = own.map(|name| format!("--method {name}"));
    let plain = ["--method rcl", "--method vanilla --backbone sage", "--method mlp", "--backbone pna"];
    for method in plain.into_iter().chain(own.iter().map(String::as_str)) {
        let folder = tempdir().expect("a folder");
        let arguments = format!(
            "train {graph} {method} --noise fake=0.5,flip=0.1 --epochs 25 --seeds 3 --out run --json"
        );
        let run = json_in(folder.path(), &arguments);
        let predicted =
            json_in(folder.path(), &format!("predict run/seed-3/model.safetensors {graph} --json"));
        // The generator deals out true classes; noise flips training labels only, so test nodes keep theirs.
        let info =
            edgepace_in(folder.path(), ["data", "export", &graph, "--out", "graph", "--format", "csv"]);
        assert_eq!(info.code, Some(0), "{}", info.stderr);
        let nodes = std::fs::read_to_string(folder.path().join("graph/nodes.csv")).expect("a table");
        let head: Vec<&str> = nodes.lines().next().expect("a head").split(',').collect();
        let column = |name: &str| head.iter().position(|column| *column == name).expect("a column");
        let (label, split) = (column("label"), column("split:thirds"));
        let (mut right, mut all) = (0, 0);
        for (node, line) in nodes.lines().skip(1).enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            if cells[split] == "test" {
                all += 1;
                let class = predicted["predictions"][node]["class"].as_u64();
                right += usize::from(class == cells[label].parse().ok());
            }
        }
        let score = 100.0 * right as f64 / all as f64;
        assert!(
            (run["runs"][0]["test"].as_f64().expect("a score") - score).abs() < 1e-9,
            "{method}: {score}"
        );
        // The edge table has the run's own predictions of the ends of edges.
        if let Ok(edges) = std::fs::read_to_string(folder.path().join("run/seed-3/edges.csv")) {
            for line in edges.lines().skip(1) {
                let cells: Vec<&str> = line.split(',').collect();
                let node: usize = cells[0].parse().expect("a node");
                assert_eq!(predicted["predictions"][node]["class"].to_string(), cells[5], "{line}");
            }
        }
    }
}

#[test]
fn predictions_are_written_as_a_table_and_probabilities_add_up() {
    let folder = tempdir().expect("a folder");
    json_in(folder.path(), &format!("train {GRAPH} --epochs 3 --out run --json"));
    let run = edgepace_in(folder.path(), ["predict", "run/seed-0/model.safetensors", "-o", "p.csv"]);
    assert_eq!((run.code, &run.stdout[..]), (Some(0), "wrote p.csv: 200 nodes\n"), "{}", run.stderr);
    let table = std::fs::read_to_string(folder.path().join("p.csv")).expect("a table");
    assert!(table.starts_with("node,class,probability\n0,"), "{table}");
    let json = json_in(folder.path(), "predict run/seed-0/model.safetensors --json");
    for prediction in json["predictions"].as_array().expect("a list") {
        let total: f64 =
            prediction["probabilities"].as_array().expect("a list").iter().filter_map(Value::as_f64).sum();
        assert!((total - 1.0).abs() < 1e-5, "{prediction}");
    }
}

#[test]
fn another_graph_and_a_file_that_is_no_model_are_refused() {
    let folder = tempdir().expect("a folder");
    json_in(folder.path(), &format!("train {GRAPH} --epochs 2 --out run --json"));
    let here = |arguments: &str| edgepace_in(folder.path(), arguments.split(' '));
    let other = here(&format!("predict run/seed-0/model.safetensors {GRAPH},seed=1 --json"));
    assert_eq!((other.code, &other.stdout[..]), (Some(2), ""));
    assert!(other.stderr.contains("expected that of the model: `synthetic:"), "{}", other.stderr);
    let model = std::fs::read(folder.path().join("run/seed-0/model.safetensors")).expect("a model");
    for (name, bytes) in
        [("cut", &model[..model.len() / 2]), ("empty", &[]), ("other", &b"GIF89a and more"[..])]
    {
        std::fs::write(folder.path().join(name), bytes).expect("written");
        let run = here(&format!("predict {name} {GRAPH} --json"));
        assert_eq!(run.code, Some(2), "{name}");
        assert!(
            run.stderr.starts_with(&format!("error: cannot use {name}: it is not a model of edgepace: ")),
            "{}",
            run.stderr
        );
    }
}
