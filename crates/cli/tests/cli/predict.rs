//! `edgepace predict`.

use std::fmt::Write as _;
use std::path::Path;

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
    let plain = [
        "--method rcl",
        "--method vanilla --backbone sage",
        "--method mlp",
        "--backbone pna",
        "--method auto",
    ];
    for method in plain.into_iter().chain(own.iter().map(String::as_str)) {
        let folder = tempdir().expect("a folder");
        let arguments = format!(
            "train {graph} {method} --noise fake=0.5,flip=0.1 --epochs 25 --seeds 3 --out run --json"
        );
        let run = json_in(folder.path(), &arguments);
        let predicted =
            json_in(folder.path(), &format!("predict run/seed-3/model.safetensors {graph} --raw --json"));
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
                assert_eq!(predicted["predictions"][node]["class"].to_string(), cells[6], "{line}");
            }
        }
    }
}

#[test]
fn predictions_are_written_as_a_table_and_probabilities_add_up() {
    let folder = tempdir().expect("a folder");
    json_in(folder.path(), &format!("train {GRAPH} --epochs 3 --out run --json"));
    let run = edgepace_in(folder.path(), ["predict", "run/seed-0/model.safetensors", "-o", "p.csv"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stdout, "wrote p.csv: 200 nodes\n");
    let table = std::fs::read_to_string(folder.path().join("p.csv")).expect("a table");
    assert!(table.starts_with("node,class,probability,label,split\n0,"), "{table}");
    let json = json_in(folder.path(), "predict run/seed-0/model.safetensors --json");
    for prediction in json["predictions"].as_array().expect("a list") {
        let total: f64 =
            prediction["probabilities"].as_array().expect("a list").iter().filter_map(Value::as_f64).sum();
        assert!((total - 1.0).abs() < 1e-5, "{prediction}");
    }
}

#[test]
fn a_file_that_is_no_model_is_refused() {
    let folder = tempdir().expect("a folder");
    json_in(folder.path(), &format!("train {GRAPH} --epochs 2 --out run --json"));
    let here = |arguments: &str| edgepace_in(folder.path(), arguments.split(' '));
    let model = std::fs::read(folder.path().join("run/seed-0/model.safetensors")).expect("a model");
    for (name, bytes) in
        [("cut", &model[..model.len() / 2]), ("empty", &[]), ("other", &b"GIF89a and more"[..])]
    {
        std::fs::write(folder.path().join(name), bytes).expect("written");
        let run = here(&format!("predict {name} {GRAPH}"));
        assert_eq!(run.code, Some(2), "{name}");
        assert!(
            run.stderr.contains(&format!("cannot use {name}: it is not a model of edgepace: ")),
            "{}",
            run.stderr
        );
    }
}

/// A table as its head and its rows.
fn csv(file: &Path) -> (String, Vec<Vec<String>>) {
    let text = std::fs::read_to_string(file).expect("a table");
    let mut lines = text.lines();
    let head = lines.next().expect("a head").to_owned();
    (head, lines.map(|line| line.split(',').map(ToOwned::to_owned).collect()).collect())
}

/// Two groups of items that are bought together, of which every third has a category.
fn items(folder: &Path, new: bool) {
    let mut nodes = String::from("id,price,weight,category\n");
    let mut edges = String::from("source,target\n");
    let (first, last) = if new { (60, 90) } else { (0, 60) };
    for item in first..last {
        let group = item % 2;
        let price = 10 * (1 + group) + item % 7;
        let category = match (new, item % 3) {
            (false, 0) => ["book", "toy"][group],
            _ => "",
        };
        writeln!(nodes, "item-{item},{price},{},{category}", 1 + item % 5).expect("text");
        for step in [2, 4] {
            if item + step < last {
                writeln!(edges, "item-{item},item-{}", item + step).expect("text");
            }
        }
    }
    let name = if new { "new-" } else { "" };
    std::fs::write(folder.join(format!("{name}nodes.csv")), nodes).expect("written");
    std::fs::write(folder.join(format!("{name}edges.csv")), edges).expect("written");
}

const OWN: &str = "--edges edges.csv --nodes nodes.csv --id id --label category";

#[test]
fn a_run_on_own_files_knows_them_from_anywhere() {
    let folder = tempdir().expect("a folder");
    let here = |arguments: &str| edgepace_in(folder.path(), arguments.split(' '));
    items(folder.path(), false);
    let train = here(&format!("train {OWN} --split fraction:0.5:0.25 --epochs 30 --seeds 0..2 --out run"));
    assert_eq!(train.code, Some(0), "{}", train.stderr);
    std::fs::create_dir(folder.path().join("elsewhere")).expect("a folder");
    let elsewhere = folder.path().join("elsewhere");
    let arguments = ["predict", "../run", "--proba", "--unlabelled", "-o", "p.csv"];
    let run = edgepace_in(&elsewhere, arguments);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.starts_with("mean of seeds 0, 1\nprobabilities are calibrated, temperature "),
        "{}",
        run.stderr
    );
    assert_eq!(run.stdout, "wrote p.csv: 40 nodes\n");
    let (head, rows) = csv(&elsewhere.join("p.csv"));
    assert_eq!(head, "node,name,class,probability,label,p_book,p_toy");
    assert_eq!(rows.len(), 40, "those without a category");
    for row in &rows {
        let group: usize = row[1].strip_prefix("item-").expect("a name").parse().expect("a number");
        assert_eq!((&row[2][..], &row[4][..]), (["book", "toy"][group % 2], ""), "{row:?}");
        let p: Vec<f64> = [&row[5], &row[6]].map(|p| p.parse().expect("a number")).to_vec();
        assert!((p[0] + p[1] - 1.0).abs() < 1e-6, "{row:?}");
        assert_eq!(row[3], row[5 + usize::from(row[2] == "toy")]);
    }
    // One seed by name, its folder, or its model are the same; the mean of both is between them.
    for path in ["run --seeds 1", "run/seed-1", "run/seed-1/model.safetensors"] {
        let name = format!("{}.csv", path.replace(['/', ' '], "-"));
        assert_eq!(here(&format!("predict {path} -o {name}")).code, Some(0), "{path}");
    }
    let one = std::fs::read(folder.path().join("run---seeds-1.csv")).expect("a table");
    for other in ["run-seed-1.csv", "run-seed-1-model.safetensors.csv"] {
        assert!(one == std::fs::read(folder.path().join(other)).expect("a table"), "{other}");
    }
    // Without an output: CSV, and what is to be known beside it.
    let out = here("predict run --raw");
    assert!(out.stdout.starts_with("node,name,class,probability,label\n0,item-0,"), "{}", out.stdout);
    assert_eq!(out.stderr, "mean of seeds 0, 1\nprobabilities are not calibrated\n");
    // The files are gone: which, and what to do.
    std::fs::remove_file(folder.path().join("nodes.csv")).expect("removed");
    let gone = here("predict run");
    assert_eq!(gone.code, Some(2));
    assert!(
        gone.stderr.contains("cannot read the data of the run")
            && gone.stderr.contains("edges.csv")
            && gone.stderr.contains("nodes.csv")
            && gone.stderr.contains("give `--edges`"),
        "{}",
        gone.stderr
    );
}

#[test]
fn new_nodes_of_the_same_features_are_predicted_and_other_columns_refused() {
    let folder = tempdir().expect("a folder");
    let here = |arguments: &str| edgepace_in(folder.path(), arguments.split(' '));
    items(folder.path(), false);
    items(folder.path(), true);
    let train = here(&format!("train {OWN} --split fraction:0.5:0.25 --epochs 30 --out run"));
    assert_eq!(train.code, Some(0), "{}", train.stderr);
    let new = "predict run --edges new-edges.csv --nodes new-nodes.csv --id id --label category";
    let run = here(&format!("{new} -o new.csv"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains("new data: the model was trained on edges, not on new-edges"),
        "{}",
        run.stderr
    );
    let (_, rows) = csv(&folder.path().join("new.csv"));
    let right = rows.iter().filter(|row| {
        let item: usize = row[1].strip_prefix("item-").expect("a name").parse().expect("a number");
        row[2] == ["book", "toy"][item % 2]
    });
    assert_eq!((rows.len(), right.count()), (30, 30), "all of them");
    let table = std::fs::read_to_string(folder.path().join("new-nodes.csv")).expect("a table");
    let changed = |changes: &[(&str, &str)]| {
        let text = changes.iter().fold(table.clone(), |text, (from, to)| text.replace(from, to));
        std::fs::write(folder.path().join("new-nodes.csv"), text).expect("written");
        let run = here(&format!("{new} -o other.csv"));
        assert_eq!(run.code, Some(2), "{}", run.stdout);
        assert!(!folder.path().join("other.csv").exists());
        run.stderr
    };
    // By name, not by place.
    let missing = changed(&[("id,price", "id,cost")]);
    assert!(missing.contains("expected a column `price`"), "{missing}");
    let unknown = changed(&[("category", "category,colour"), (",\n", ",,red\n")]);
    assert!(unknown.contains("`colour`") && unknown.contains("--drop colour"), "{unknown}");
}

#[test]
fn another_graph_is_new_data_and_the_training_graph_by_name_is_not() {
    let folder = tempdir().expect("a folder");
    json_in(folder.path(), &format!("train {GRAPH},seed=0 --epochs 20 --out run --json"));
    let own = json_in(folder.path(), "predict run --json");
    let named = json_in(folder.path(), &format!("predict run {GRAPH},seed=0 --json"));
    assert!(own == named && own["new_data"] == false, "the same bits");
    let other = json_in(folder.path(), &format!("predict run {GRAPH},seed=1 --json"));
    assert_eq!(other["new_data"], true);
    assert_ne!(other["predictions"], own["predictions"]);
    assert_ne!(other["checksum"], own["checksum"]);
}

#[test]
fn a_pool_predicts_for_another_graph_and_says_what_edges_weigh_to_whom() {
    let folder = tempdir().expect("a folder");
    let graph = "synthetic:nodes=200,edges=800,homophily=0.8,classes=3";
    let train = format!("train {graph},seed=0 --method auto --epochs 60 --seeds 0..2 --out run --json");
    json_in(folder.path(), &train);
    let own = json_in(folder.path(), "predict run --json");
    let named = json_in(folder.path(), &format!("predict run {graph},seed=0 --json"));
    assert!(own == named && own["new_data"] == false, "the same bits");
    let other = edgepace_in(folder.path(), ["predict", "run", &format!("{graph},seed=1"), "-o", "other.csv"]);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    let note = other.stderr.lines().next().expect("a note");
    assert!(note.contains("edges have weight 1 (0.") && note.contains(" for rcl)"), "{note}");
    let (head, rows) = csv(&folder.path().join("other.csv"));
    assert_eq!(head, "node,class,probability,label");
    let right = rows.iter().filter(|row| row[1] == row[3]).count();
    assert!(rows.len() == 200 && right > 150, "{right} of {}", rows.len());
}

#[test]
fn what_cannot_be_written_or_averaged_is_refused_before_any_work() {
    let folder = tempdir().expect("a folder");
    let here = |arguments: &str| edgepace_in(folder.path(), arguments.split(' '));
    json_in(folder.path(), &format!("train {GRAPH} --epochs 2 --seeds 0..2 --out run --json"));
    std::fs::write(folder.path().join("there.csv"), "mine").expect("written");
    let mut errors = String::new();
    for arguments in [
        "predict run -o there.csv",
        "predict run -o no/such/p.csv",
        "predict run -o p.xlsx",
        "predict run",
        "predict run --seeds 7",
        "predict nowhere",
        "predict .",
        "predict run/seed-1/model.safetensors --seeds 0",
        "predict run/seed-0 cora-that-is-not",
    ] {
        let run = here(arguments);
        assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "{arguments}");
        writeln!(errors, "{arguments}\n  {}", run.stderr.trim_end()).expect("text");
    }
    insta::assert_snapshot!(errors);
    assert_eq!(std::fs::read_to_string(folder.path().join("there.csv")).expect("a file"), "mine");
    assert!(!folder.path().join("no").exists());
    assert_eq!(here("predict run --seeds 0 -o there.csv --overwrite").code, Some(0));
}

#[test]
fn data_that_has_changed_since_is_not_taken_for_that_of_the_training() {
    let folder = tempdir().expect("a folder");
    let here = |arguments: &str| edgepace_in(folder.path(), arguments.split(' '));
    items(folder.path(), false);
    let train = here(&format!("train {OWN} --split fraction:0.5:0.25 --epochs 3 --out run"));
    assert_eq!(train.code, Some(0), "{}", train.stderr);
    let edges = std::fs::read_to_string(folder.path().join("edges.csv")).expect("a table");
    std::fs::write(folder.path().join("edges.csv"), edges + "item-0,item-1\n").expect("written");
    let run = here("predict run");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("the data of the run has changed"), "{}", run.stderr);
    let run = here(&format!("predict run {OWN}"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.starts_with("new data: "), "{}", run.stderr);
}

/// Every table that the program writes, read by Python: with pandas where it is, and with what comes with Python otherwise.
#[test]
fn pandas_reads_every_table_without_options() {
    let folder = tempdir().expect("a folder");
    items(folder.path(), false);
    let here = |arguments: &str| {
        let run = edgepace_in(folder.path(), arguments.split(' '));
        assert_eq!(run.code, Some(0), "{arguments}: {}", run.stderr);
    };
    here(&format!("train {OWN} --split fraction:0.5:0.25 --epochs 30 --noise fake=0.1 --out run"));
    for name in ["p.csv", "p.json", "p.jsonl", "p.parquet"] {
        here(&format!("predict run --proba -o {name}"));
    }
    for name in ["e.csv", "e.json", "e.jsonl", "e.parquet"] {
        here(&format!("audit run -o {name}"));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/read_tables.py");
    let python = std::env::var("EDGEPACE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let run =
        std::process::Command::new(python).arg(script).current_dir(folder.path()).output().expect("Python 3");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
