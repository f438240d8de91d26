//! What a friend would say about a run: on standard error, each thing once, and in the result.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::program::{edgepace, edgepace_in};
use crate::train::json_in;

const NODES: usize = 600;

/// A table of nodes on a ring: two features, three classes, and a split, of which a test changes what it is about.
struct Nodes {
    label: fn(usize) -> &'static str,
    split: fn(usize) -> &'static str,
    features: fn(usize) -> [f64; 2],
}

impl Default for Nodes {
    fn default() -> Self {
        Self {
            label: |node| ["red", "green", "blue"][node * 3 / NODES],
            split: |node| ["train", "val", "test"][node % 3],
            features: |node| [(node * 3 / NODES) as f64 + (node % 7) as f64 / 7.0, (node % 5) as f64],
        }
    }
}

impl Nodes {
    fn write(&self, folder: &Path) {
        let mut nodes = String::from("id,label,split,a,b\n");
        let mut edges = String::from("source,target\n");
        for node in 0..NODES {
            let [a, b] = (self.features)(node);
            writeln!(nodes, "{node},{},{},{a},{b}", (self.label)(node), (self.split)(node)).expect("a line");
            writeln!(edges, "{node},{}\n{node},{}", (node + 1) % NODES, (node + 2) % NODES).expect("a line");
        }
        std::fs::write(folder.join("n.csv"), nodes).expect("written");
        std::fs::write(folder.join("e.csv"), edges).expect("written");
    }

    /// The warnings of a run, and what its result has of them.
    fn warnings(&self, settings: &str) -> (String, Value) {
        let folder = tempdir().expect("a folder");
        self.write(folder.path());
        let arguments = format!("train --edges e.csv --nodes n.csv {settings}");
        let run = edgepace_in(folder.path(), arguments.split(' '));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let mut output = json_in(folder.path(), &format!("{arguments} --json"));
        (run.stderr, output["warnings"].take())
    }
}

const USUAL: &str = "--epochs 40 --seeds 0";

#[test]
fn a_run_that_is_as_it_should_be_has_no_warnings() {
    let (said, listed) = Nodes::default().warnings(USUAL);
    assert_eq!((&said[..], listed), ("", Value::Array(Vec::new())));
}

#[test]
fn each_thing_that_one_would_want_to_know_is_said() {
    let by_default = Nodes::default;
    let cases = [
        ("fewer epochs than two periods", by_default(), "--epochs 20"),
        ("one class", Nodes { label: |_| "red", ..by_default() }, "--epochs 40"),
        (
            "a class without training nodes",
            Nodes {
                split: |node| if node * 3 / NODES == 1 { "val" } else { ["train", "val", "test"][node % 3] },
                ..by_default()
            },
            "--epochs 40",
        ),
        (
            "no features",
            Nodes { features: |_| [1.0, 2.0], ..by_default() },
            "--epochs 40 --features-from none",
        ),
        (
            "features of very different size",
            Nodes { features: |node| [node as f64 * 1e9, (node % 5) as f64], ..by_default() },
            "--epochs 40 --set features=none --method vanilla --lr 1e-9",
        ),
        (
            "few validation nodes",
            Nodes { split: |node| ["val", "train", "test"][(node % 60).min(1 + node % 2)], ..by_default() },
            "--epochs 40",
        ),
        (
            "no validation nodes",
            Nodes { split: |node| ["train", "test"][node % 2], ..by_default() },
            "--epochs 40",
        ),
        ("no test nodes", Nodes { split: |node| ["train", "val"][node % 2], ..by_default() }, "--epochs 40"),
    ];
    let mut said = String::new();
    for (case, nodes, settings) in cases {
        let (lines, listed) = nodes.warnings(settings);
        writeln!(said, "{case}\n{lines}").expect("a line");
        let listed = listed.as_array().expect("a list").clone();
        let messages: Vec<String> = listed
            .iter()
            .map(|one| format!("warning: {}\n", one["message"].as_str().expect("text")))
            .collect();
        assert_eq!(messages.concat(), lines, "{case}: the result has what was said");
        assert!(!listed.is_empty() && listed.iter().all(|one| one["kind"].is_string()), "{case}");
    }
    insta::assert_snapshot!(said);
}

#[test]
fn a_curriculum_that_does_not_pay_is_said_once_for_all_seeds_and_plain_training_is_kept() {
    let graph = "synthetic:homophily=0.9,sigma=900,nodes=600,edges=3600,classes=4";
    let run =
        edgepace(format!("train {graph} --preset edgepace --seeds 0..2 --epochs 60 --threads 1").split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let said: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(said.len(), 1, "{}", run.stderr);
    assert!(said[0].starts_with("warning: plain training validates "), "{}", run.stderr);
    assert!(said[0].ends_with(" (seed 0; also 1)"), "{}", run.stderr);
    assert_eq!(run.stdout.lines().filter(|line| line.ends_with("  plain")).count(), 2, "{}", run.stdout);
    assert!(run.stdout.lines().skip(1).all(|line| line.chars().count() <= 80), "{}", run.stdout);
    let folder = tempdir().expect("a folder");
    let of = |settings: &str| {
        json_in(
            folder.path(),
            &format!("train {graph} --seeds 0..2 --epochs 60 --threads 1 --json{settings}"),
        )
    };
    let (default, vanilla, method) =
        (of(" --preset edgepace"), of(" --method vanilla"), of(" --preset edgepace --set keep=method"));
    assert_eq!(default["test_mean"], vanilla["test_mean"]);
    for (run, plain) in
        default["runs"].as_array().expect("runs").iter().zip(vanilla["runs"].as_array().expect("runs"))
    {
        assert_eq!((&run["kept"], &plain["kept"]), (&"warm start".into(), &"method".into()));
        assert_eq!(run["warm_start_validation"], plain["validation"]);
        assert!(run["method_validation"].as_f64() < run["validation"].as_f64(), "{run}");
        let sizes = &run["split_sizes"];
        assert_eq!(
            (&sizes["train"], &sizes["validation"], &sizes["test"]),
            (&200.into(), &200.into(), &200.into())
        );
        assert_eq!(sizes["labelled"], 600);
        assert!(run["validation_se"].as_f64() > Some(0.5), "{run}");
    }
    assert_eq!(method["runs"][0]["kept"], "method");
    assert!(method["test_mean"].as_f64() < vanilla["test_mean"].as_f64(), "what the default gave before");
}

#[test]
fn quiet_says_nothing_but_the_result() {
    let run = edgepace("train synthetic:nodes=60,edges=200 --epochs 5 --quiet".split(' '));
    assert_eq!((run.code, &run.stderr[..]), (Some(0), ""));
}
