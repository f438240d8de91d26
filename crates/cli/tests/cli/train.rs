//! `edgepace train` and `edgepace methods`.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::program::{edgepace, edgepace_in};

pub(crate) const GRAPH: &str = "synthetic:nodes=200,edges=600,homophily=0.3";

/// The JSON object that a command prints.
pub(crate) fn json_in(folder: &Path, arguments: &str) -> Value {
    let run = edgepace_in(folder, arguments.split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stderr, "", "nothing but the object");
    assert_eq!(run.stdout.lines().count(), 1, "one JSON object: {}", run.stdout);
    serde_json::from_str(&run.stdout).expect("JSON")
}

fn json(arguments: &str) -> Value {
    json_in(tempdir().expect("a folder").path(), arguments)
}

/// The runs without what differs from one time to the next.
fn results(mut output: Value) -> Value {
    for run in output["runs"].as_array_mut().expect("runs") {
        let run = run.as_object_mut().expect("a run");
        for changing in ["seconds", "warm_start_seconds", "peak_bytes"] {
            assert!(run.remove(changing).is_some_and(|value| value.is_number()), "{changing}");
        }
    }
    output
}

#[test]
fn the_json_object_has_what_programs_read() {
    let output =
        json(&format!("train {GRAPH} --backbone gcn --method rcl --epochs 30 --seeds 0..3 --jobs 2 --json"));
    assert_eq!(output["dataset"], GRAPH);
    for (field, expected) in
        [("backbone", "gcn"), ("method", "rcl"), ("preset", "trust"), ("split", "thirds")]
    {
        assert_eq!(output[field], expected, "{field}");
    }
    assert_eq!(output["noise"], Value::Null);
    let runs = output["runs"].as_array().expect("runs");
    assert_eq!(runs.iter().map(|run| run["seed"].as_u64()).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
    let tests: Vec<f64> = runs.iter().map(|run| run["test"].as_f64().expect("a score")).collect();
    for run in runs {
        assert!((0.0..=100.0).contains(&run["validation"].as_f64().expect("a score")), "{run}");
        assert!(run["best_epoch"].as_u64() < Some(30), "{run}");
        let last = run["edges_history"].as_array().and_then(|history| history.last()).expect("updates");
        assert!(last[0].as_u64() > Some(0) && last[1].as_u64() <= Some(1200), "{run}");
    }
    let mean = tests.iter().sum::<f64>() / 3.0;
    let sd = (tests.iter().map(|test| (test - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    assert!((output["test_mean"].as_f64().expect("a mean") - mean).abs() < 1e-9, "{output}");
    assert!((output["test_sd"].as_f64().expect("a deviation") - sd).abs() < 1e-9, "{output}");
}

#[test]
fn results_are_in_the_order_of_seeds_and_the_same_with_one_job_and_with_two() {
    let with = |jobs: &str| {
        results(json(&format!(
            "train {GRAPH} --noise fake=1 --split kfold:5:0 --epochs 12 --seeds 7,0..2 {jobs} --json"
        )))
    };
    let one = with("--jobs 1");
    assert_eq!(one, with("--jobs 2"));
    assert_eq!(one, with("--jobs 1 --threads 2"));
    let splits: Vec<&str> =
        one["runs"].as_array().expect("runs").iter().filter_map(|run| run["split"].as_str()).collect();
    assert_eq!(
        splits,
        ["kfold:5:0:seed=7", "kfold:5:0:seed=0", "kfold:5:0:seed=1"],
        "splits follow the seed"
    );
    assert_eq!((&one["noise"], &one["split"]), (&"fake=1".into(), &"kfold:5:0".into()));
    let fixed =
        json(&format!("train {GRAPH} --split kfold:5:0:seed=1 --method mlp --epochs 2 --seeds 3 --json"));
    assert_eq!(fixed["runs"][0]["split"], "kfold:5:0:seed=1");
    assert_eq!(
        (&fixed["test_sd"], &fixed["preset"], &fixed["backbone"]),
        (&Value::Null, &Value::Null, &"mlp".into())
    );
}

#[test]
fn people_get_a_line_per_seed_and_the_mean() {
    let run = edgepace(format!("train {GRAPH} --method vanilla --epochs 5 --seeds 0..2").split(' '));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].ends_with(": gcn with vanilla"), "{}", run.stdout);
    assert_eq!(lines[1], "67 training, 67 validation and 66 test nodes, of 200 labelled; split thirds");
    assert_eq!(lines[2], "features: 2 columns, columns of mean 0 and deviation 1");
    assert!(lines[3].starts_with("seed ") && lines[3].contains(" validation ± se "), "{}", run.stdout);
    assert!(lines[4].starts_with("0 ") && lines[5].starts_with("1 "), "{}", run.stdout);
    assert!(lines[6].starts_with("mean ") && lines[6].contains(" ± "), "{}", run.stdout);
    assert_eq!(lines[7], "± of a mean is the standard deviation over seeds");
    assert!(lines[8].starts_with("se: standard error"), "{}", run.stdout);
    assert!(lines[1..].iter().all(|line| line.chars().count() <= 80), "{}", run.stdout);
}

#[test]
fn a_run_leaves_its_files_behind_and_is_not_overwritten_unasked() {
    let folder = tempdir().expect("a folder");
    let here = |arguments: &str| edgepace_in(folder.path(), arguments.split(' '));
    let arguments = format!("train {GRAPH} --epochs 8 --set hidden=7 --seeds 1,4 --out run");
    let first = here(&arguments);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let read = |file: &str| std::fs::read_to_string(folder.path().join("run").join(file)).expect("a file");
    let result: Value = serde_json::from_str(&read("result.json")).expect("JSON");
    assert_eq!(result["runs"][1]["seed"], 4);
    for seed in ["seed-1", "seed-4"] {
        // Plain training on two grounds, the warm start, an update, and the run.
        let events: Vec<Value> = read(&format!("{seed}/history.jsonl"))
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(events.iter().filter(|event| event["event"] == "epoch").count(), 32);
        let edges = read(&format!("{seed}/edges.csv"));
        assert!(edges.starts_with("source,target,suspicion,difficulty,first_epoch,weight,source_class,target_class,feature_similarity,jaccard\n"));
        assert_eq!(edges.lines().count(), 601);
        assert!(folder.path().join("run").join(seed).join("model.safetensors").exists());
    }
    let again = here(&arguments);
    assert_eq!(again.code, Some(2));
    insta::assert_snapshot!(again.stderr, @"error: run has a run in it: choose another folder, or give `--overwrite`");
    assert_eq!(here(&format!("{arguments} --overwrite")).code, Some(0));
    let left: Vec<_> = std::fs::read_dir(folder.path().join("run")).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 4, "nothing unfinished is left: {left:?}");
}

#[test]
fn own_tables_are_trained_on_directly() {
    let folder = tempdir().expect("a folder");
    let (mut edges, mut nodes) = ("source,target\n".to_owned(), "id,label,x\n".to_owned());
    for node in 0..30 {
        let (class, x) = (["red", "blue"][node % 2], node % 2 * 3 + node % 5);
        writeln!(nodes, "n{node},{class},{x}").expect("text");
        writeln!(edges, "n{node},n{}", (node + 2) % 30).expect("text");
    }
    std::fs::write(folder.path().join("e.csv"), edges).expect("written");
    std::fs::write(folder.path().join("n.csv"), nodes).expect("written");
    let output = json_in(folder.path(), "train --edges e.csv --nodes n.csv --epochs 5 --out run --json");
    assert_eq!(output["split"], "kfold:5:0:seed=0");
    let table = std::fs::read_to_string(folder.path().join("run/seed-0/edges.csv")).expect("a table");
    assert!(table.starts_with("source,target,source_name,target_name,"), "{table}");
    assert!(table.contains(",n0,n2,") && (table.contains("red") || table.contains("blue")), "{table}");
}

#[test]
fn what_no_run_can_do_is_refused_with_the_field_and_what_is_legal() {
    let refused = |arguments: &str| {
        let run = edgepace(["train", GRAPH].into_iter().chain(arguments.split(' ')));
        assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "{arguments}");
        run.stderr
    };
    let all: Vec<String> = [
        "--method magic",
        "--backbone cnn",
        "--backbone mlp --method rcl",
        "--preset fast",
        "--epochs 0",
        "--set hidden=many",
        "--set speed=9",
        "--set hidden",
        "--config none.toml",
        "--split half",
        "--jobs 0",
        "--threads 0",
        "--features none",
        "--edges mine.csv",
    ]
    .into_iter()
    .map(|arguments| format!("{arguments}\n  {}", refused(arguments)))
    .collect();
    insta::assert_snapshot!(all.concat());
    insta::assert_snapshot!(refused("--seeds 3..3"));
    let no_dataset = edgepace(["train"]);
    assert_eq!(no_dataset.code, Some(2));
}

#[test]
fn methods_are_listed_with_backbones_and_presets() {
    let run = edgepace(["methods", "--json"]);
    let methods: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let rcl = methods.as_array().expect("a list").iter().find(|method| method["name"] == "rcl").expect("rcl");
    assert_eq!(rcl["presets"][0], "trust");
    assert!(rcl["summary"].as_str().is_some_and(|summary| !summary.is_empty()));
    let run = edgepace(["methods"]);
    assert!(
        run.stdout.contains("Use these\n  rcl ") && run.stdout.contains("\n  vanilla "),
        "{}",
        run.stdout
    );
}

#[test]
fn a_method_is_shown_with_each_setting_its_default_and_values_to_try() {
    let shown = edgepace(["methods", "clnode"]).stdout;
    for word in ["CLNode", "mlp", "alpha", "start_share", "geometric", "0.25, 0.5, 0.75"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let shown = edgepace(["methods", "rcl"]).stdout;
    assert!(shown.contains("presets    trust, edgepace, posterior") && shown.contains("unset"), "{shown}");
    let shown = edgepace(["methods", "vanilla"]).stdout;
    assert!(shown.contains("no settings"), "{shown}");
    let json: Value =
        serde_json::from_str(&edgepace(["methods", "prune-overlap", "--json"]).stdout).expect("JSON");
    assert_eq!(json["settings"][0]["name"], "drop");
    assert_eq!(json["settings"][0]["default"], Value::Null);
    let unknown = edgepace(["methods", "magic"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("clnode") && unknown.stderr.contains("magic"), "{}", unknown.stderr);
}

#[test]
fn the_list_of_methods_fits_a_terminal_and_has_them_all() {
    let run = edgepace(["methods"]);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    let json: Value = serde_json::from_str(&edgepace(["methods", "--json"]).stdout).expect("JSON");
    for method in json.as_array().expect("a list") {
        let name = method["name"].as_str().expect("a name");
        assert!(run.stdout.lines().any(|line| line.starts_with(&format!("  {name} "))), "{name}");
    }
}

#[test]
fn help_teaches_with_the_meaning_of_results_and_examples() {
    for (command, meaning) in [
        ("train", "epoch of best validation"),
        ("audit", "not a probability of being wrong"),
        ("predict", "of predictions with 0.9 about nine in ten are right"),
        ("demo", "three edges of ten"),
        ("methods", "its default"),
    ] {
        let help = edgepace([command, "--help"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(meaning) && help.contains("Examples: edgepace"), "{command}: {help}");
    }
}

#[test]
fn the_graph_of_a_generator_follows_the_seed_unless_its_name_has_one() {
    let runs = |graph: &str, seeds: &str| {
        let line = format!("train {graph} --method vanilla --epochs 5 --seeds {seeds} --json");
        results(json(&line))["runs"].clone()
    };
    assert_eq!(runs(GRAPH, "0..3")[2], runs(&format!("{GRAPH},seed=2"), "2")[0]);
    assert_ne!(runs(GRAPH, "2"), runs(&format!("{GRAPH},seed=0"), "2"));
}

#[test]
fn what_needs_more_memory_than_there_is_is_refused_before_the_first_epoch() {
    // 2^20 hidden units: 2^40 numbers in the second layer alone.
    let run = edgepace(format!("train {GRAPH} --method vanilla --set hidden=1048576").split(' '));
    assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "{}", run.stderr);
    let begin = "error: method vanilla needs ";
    assert!(run.stderr.starts_with(begin), "{}", run.stderr);
    for part in [" GB on 200 nodes, and ", " are free: use a smaller `hidden`", "--memory-limit"] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    for (limit, code) in [("100KB", 2), ("1GB", 0)] {
        let command =
            format!("train {GRAPH} --method rcl --epochs 2 --set hidden=512 --memory-limit {limit} --json");
        let run = edgepace(command.split(' '));
        assert_eq!(run.code, Some(code), "{limit}: {}", run.stderr);
        assert_eq!(run.stderr.contains("and 0.1 MB are free"), code == 2, "{}", run.stderr);
    }
    let command = format!("train {GRAPH} --epochs 2 --set hidden=512 --memory-limit 1MB");
    let run = edgepace(command.split(' '));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("and 1.0 MB are free"), "{}", run.stderr);
}
