//! `edgepace audit`.

use std::fmt::Write as _;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use tempfile::tempdir;

use crate::program::{edgepace, edgepace_in};
use crate::train::{GRAPH, json_in};

#[test]
fn fake_edges_are_judged_and_the_most_suspicious_edges_listed() {
    let folder = tempdir().expect("a folder");
    let arguments = "--noise fake=1.0 --epochs 20 --seeds 0..2 --jobs 2 --top 3 --csv edges.csv --parquet edges.parquet --json";
    let output = json_in(folder.path(), &format!("audit {GRAPH} {arguments}"));
    let runs = output["runs"].as_array().expect("runs");
    let mut sum = 0.0;
    for (seed, run) in runs.iter().enumerate() {
        assert_eq!(run["seed"], seed);
        assert_eq!(run["fakes"], 600);
        for field in ["auc", "auc_feature_cosine", "auc_jaccard", "precision_at_fakes"] {
            assert!(
                run[field].as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)),
                "{field} of {run}"
            );
        }
        assert!(run["auc"].as_f64() > Some(0.55), "better than chance: {run}");
        sum += run["auc"].as_f64().expect("a number");
    }
    assert!((output["auc_mean"].as_f64().expect("a mean") - sum / 2.0).abs() < 1e-12);
    let table = std::fs::read_to_string(folder.path().join("edges.csv")).expect("a table");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows[0].join(","),
        "source,target,suspicion,difficulty,first_epoch,weight,source_class,target_class,feature_similarity,jaccard,fake"
    );
    assert_eq!(rows.len(), 1201, "every undirected edge once");
    let suspicion: Vec<f64> = rows[1..].iter().map(|row| row[2].parse().expect("a number")).collect();
    assert!(suspicion.is_sorted_by(|a, b| a >= b), "the most suspicious first");
    assert!(suspicion[0] <= 1.0 && suspicion[1199] >= 0.0);
    assert_eq!(rows[1..].iter().filter(|row| row[10] == "true").count(), 600);
    let top = output["top"].as_array().expect("a list");
    assert_eq!(top.len(), 3);
    assert_eq!(top[0]["source"].to_string(), rows[1][0], "the same order in both");
    let parquet = parquet_rows(&folder.path().join("edges.parquet"));
    assert_eq!(parquet.len(), rows.len());
    for (parquet, csv) in parquet.iter().zip(&rows) {
        assert_eq!(parquet, csv, "the same row in both formats");
    }
}

#[test]
fn a_table_that_cannot_be_written_is_refused_before_anything_runs_and_no_folder_is_made() {
    let folder = tempdir().expect("a folder");
    // Epochs that would take hours.
    let arguments = format!("audit {GRAPH} --epochs 1000000 --csv no/such/edges.csv");
    let run = edgepace_in(folder.path(), arguments.split(' '));
    assert_eq!((run.code, &run.stdout[..]), (Some(2), ""));
    insta::assert_snapshot!(run.stderr, @"error: cannot write no/such/edges.csv: there is no folder no/such");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

/// Names and cells of a Parquet file as the CSV writes them.
fn parquet_rows(file: &Path) -> Vec<Vec<String>> {
    let file = std::fs::File::open(file).expect("a table");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    let schema = reader.metadata().file_metadata().schema();
    let names = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
    let cells = reader.get_row_iter(None).expect("rows").map(|row| {
        let row = row.expect("a row");
        row.get_column_iter().map(|(_, cell)| cell_text(cell)).collect()
    });
    std::iter::once(names).chain(cells).collect()
}

fn cell_text(cell: &Field) -> String {
    match cell {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Float(number) => serde_json::to_string(number).expect("a number"),
        Field::UInt(id) => id.to_string(),
        Field::Bool(flag) => flag.to_string(),
        other => panic!("no such column: {other:?}"),
    }
}

#[test]
fn without_marked_edges_there_is_nothing_to_judge() {
    let folder = tempdir().expect("a folder");
    let output = json_in(folder.path(), &format!("audit {GRAPH} --epochs 5 --json"));
    assert!(output["auc_mean"].is_null() && output["runs"][0]["auc"].is_null(), "{output}");
    let run = edgepace(["audit", GRAPH, "--epochs", "5", "--top", "2"]);
    assert!(run.stdout.contains("The 2 most suspicious edges of seed 0"), "{}", run.stdout);
    assert!(!run.stdout.contains("AUC"), "{}", run.stdout);
}

#[test]
fn a_method_without_an_order_of_edges_is_refused() {
    let run = edgepace(["audit", GRAPH, "--method", "vanilla"]);
    assert_eq!(run.code, Some(2));
    insta::assert_snapshot!(run.stderr, @"error: `method` is `vanilla`, expected one that orders edges: rcl, auto, belief, pro-gnn, pro-gnn-sparse, neural-sparse, ptdnet, prune-features, prune-overlap, curriculum-linear, curriculum-root, random, random-linear, random-root, rcl-no-appearance, rcl-no-confidence, rcl-no-pretrain");
}

#[test]
fn a_run_that_is_over_is_audited_without_training_again_and_says_the_same() {
    let folder = tempdir().expect("a folder");
    let here = |arguments: &str| edgepace_in(folder.path(), arguments.split(' '));
    let what = format!("{GRAPH} --noise fake=0.5 --epochs 20 --seeds 3,1 --jobs 2");
    json_in(folder.path(), &format!("train {what} --out run --json"));
    let mut trained = json_in(folder.path(), &format!("audit {what} -o trained.csv --json"));
    let mut read = json_in(folder.path(), "audit run -o read.csv --json");
    for output in [&mut trained, &mut read] {
        for run in output["runs"].as_array_mut().expect("runs") {
            assert!(run.as_object_mut().and_then(|run| run.remove("seconds")).is_some());
        }
    }
    assert_eq!(trained, read);
    assert_eq!(read["runs"][0]["seed"], 3, "in the order of the run");
    let table = |name: &str| std::fs::read(folder.path().join(name)).expect("a table");
    assert!(table("trained.csv") == table("read.csv"));
    assert!(table("read.csv") == table("run/seed-3/edges.csv"), "and so does train");
    // One seed, by number or by its folder.
    for one in ["audit run --seeds 1 --top 4 --json", "audit run/seed-1 --top 4 --json"] {
        let output = json_in(folder.path(), one);
        assert_eq!(
            (&output["runs"][0]["seed"], output["runs"].as_array().map(Vec::len)),
            (&1.into(), Some(1))
        );
        assert_eq!(output["runs"][0]["auc"], read["runs"][1]["auc"]);
        assert_eq!(output["top"].as_array().map(Vec::len), Some(4));
    }
    let as_table = here("audit run --top 2");
    assert!(as_table.stdout.contains("The 2 most suspicious edges of seed 3"), "{}", as_table.stdout);
    let mut errors = String::new();
    for arguments in
        ["audit run --epochs 3", "audit run --seeds 2", "audit run -o read.csv", "audit run -o x.txt"]
    {
        let run = here(arguments);
        assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "{arguments}");
        write!(errors, "{arguments}\n  {}", run.stderr).expect("text");
    }
    insta::assert_snapshot!(errors);
    std::fs::remove_file(folder.path().join("run/seed-3/edges.csv")).expect("removed");
    let gone = here("audit run");
    assert!(
        gone.code == Some(2) && gone.stderr.contains("cannot read run/seed-3/edges.csv"),
        "{}",
        gone.stderr
    );
}

#[test]
fn control_characters_in_names_do_not_reach_the_terminal() {
    let folder = tempdir().expect("a folder");
    let mut nodes = String::from("id,x,label\n");
    let mut edges = String::from("source,target\n");
    for node in 0..30 {
        writeln!(nodes, "\u{1b}[31mn{node},{},{}", node % 2, ["\u{7}a", "b"][node % 2]).expect("text");
        writeln!(edges, "\u{1b}[31mn{node},\u{1b}[31mn{}", (node + 2) % 30).expect("text");
    }
    std::fs::write(folder.path().join("nodes.csv"), nodes).expect("written");
    std::fs::write(folder.path().join("edges.csv"), edges).expect("written");
    let run = edgepace_in(
        folder.path(),
        "audit --edges edges.csv --nodes nodes.csv --epochs 40 --top 3".split(' '),
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("\\u{1b}[31mn") && !run.stdout.contains('\u{1b}'), "{}", run.stdout);
    assert!(!run.stdout.contains('\u{7}') && !run.stderr.contains('\u{1b}'), "{}", run.stdout);
}
