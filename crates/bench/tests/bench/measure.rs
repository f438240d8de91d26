//! What is measured, and how it is told.

use edgepace_data::import::{Import, import};
use edgepace_graph::Threads;
use serde_json::Value;

use crate::program::bench;

fn measured(arguments: &str) -> Value {
    let run = bench(arguments.split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 1, "one JSON object: {}", run.stdout);
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn every_backbone_is_measured_with_the_fields_that_programs_read() {
    for backbone in ["gcn", "gin", "sage", "mlp"] {
        let m = measured(&format!("--shape cora --backbone {backbone} --threads 2 --epochs 3 --json"));
        assert_eq!((&m["shape"], &m["backbone"]), (&"cora".into(), &backbone.into()));
        assert_eq!((&m["nodes"], &m["edges"], &m["threads"]), (&2708.into(), &10_556.into(), &2.into()));
        let number = |field: &str| m[field].as_f64().unwrap_or_else(|| panic!("{field} of {m}"));
        for field in ["train_ms", "eval_ms", "epoch_ms", "roofline_ms", "distance"] {
            assert!(number(field) > 0.0, "{field} of {m}");
        }
        assert!(number("epoch_ms") >= number("train_ms").max(number("eval_ms")), "{m}");
        assert!(number("peak_bytes") > 1e6, "{m}");
        assert!(
            m["machine"]["bandwidth"].as_f64() > Some(0.0) && m["machine"]["gemm"].as_f64() > Some(0.0),
            "{m}"
        );
        let propagates = m["propagated_edges_per_second"].as_f64().is_some();
        assert_eq!(propagates, backbone != "mlp", "{m}");
    }
}

#[test]
fn pna_is_measured_on_narrow_features() {
    let m = measured("--shape synthetic --backbone pna --threads 1 --epochs 2 --json");
    assert_eq!((&m["nodes"], &m["edges"]), (&5000.into(), &60_000.into()));
    let kernels: Vec<&str> =
        m["kernels"].as_array().expect("a list").iter().filter_map(|k| k["kernel"].as_str()).collect();
    assert!(kernels.contains(&"segment") && !kernels.contains(&"propagate"), "{kernels:?}");
}

#[test]
fn people_get_an_aligned_table_and_the_machine_beside_it() {
    let run = bench("--shape cora --threads 1 --epochs 2 --kernels".split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("machine   1 thread, reads "), "{}", run.stdout);
    assert!(lines[1].starts_with("shape ") && lines[2].starts_with("cora "), "{}", run.stdout);
    assert_eq!(lines[1].chars().count(), lines[2].chars().count(), "{}", run.stdout);
    assert!(run.stdout.contains("\n  propagate "), "{}", run.stdout);
    assert!(
        !run.stdout.contains('\u{1b}') && run.stderr.is_empty(),
        "no colour, no bar without a terminal: {run:?}"
    );
}

#[test]
fn growth_prints_three_sizes_and_says_whether_time_is_linear() {
    let run = bench("--shape synthetic --threads 1 --epochs 3 --growth".split(' '));
    let verdict = run.stdout.lines().last().expect("a verdict");
    assert!(run.stdout.contains("synthetic ×16"), "{}", run.stdout);
    let linear = verdict.contains("(linear within 25 %)");
    assert!(linear || verdict.contains("(not linear within 25 %)"), "{verdict}");
    assert_eq!(run.code, Some(i32::from(!linear)), "the exit code is the verdict: {verdict}");
}

#[test]
fn an_exported_shape_is_complete_and_the_same_each_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["first", "second"] {
        let target = path(name);
        let run = bench(["--shape", "cora", "--export", target.to_str().expect("UTF-8")]);
        assert_eq!((run.code, &run.stdout[..]), (Some(0), ""), "{}", run.stderr);
    }
    let files = |name: &str| {
        let mut files: Vec<_> = std::fs::read_dir(path(name))
            .expect("the folder")
            .map(|entry| entry.expect("a file").path())
            .map(|file| (file.file_name().map(ToOwned::to_owned), std::fs::read(&file).expect("its bytes")))
            .collect();
        files.sort();
        files
    };
    assert_eq!(files("first").len(), 2);
    assert!(files("first") == files("second"), "the same bytes");

    let shape: Value =
        serde_json::from_slice(&std::fs::read(path("first/shape.json")).expect("a file")).expect("JSON");
    assert_eq!(
        (&shape["shape"], &shape["outputs"], &shape["hidden"]),
        (&"cora".into(), &7.into(), &64.into())
    );
    let read = import(&Threads::one(), &Import::file(path("first/dataset.npz")), &|_, _| {})
        .expect("a dataset")
        .dataset;
    assert_eq!((read.graph().nodes(), read.graph().edges()), (2708, 10_556));
    assert_eq!((read.features().cols(), read.labels().width()), (1433, 7));
    assert_eq!(read.splits()[0].sets().map(|(_, nodes)| nodes.len()).iter().sum::<usize>(), 2708);
}

#[test]
fn what_cannot_be_done_is_said_with_exit_code_2() {
    let run = bench("--shape cora --threads 0".split(' '));
    assert_eq!(run.code, Some(2));
    insta::assert_snapshot!(run.stderr, @"error: `threads` is 0, expected at least 1");

    let run = bench("--shape pubmed".split(' '));
    assert_eq!(run.code, Some(2));
    insta::assert_snapshot!(run.stderr, @r"
    error: invalid value 'pubmed' for '--shape <SHAPE>'
      [possible values: cora, synthetic, computers, arxiv, proteins]

    For more information, try '--help'.
    ");

    let file = tempfile::NamedTempFile::new().expect("a file");
    let run = bench(["--shape", "cora", "--export", file.path().to_str().expect("UTF-8")]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.starts_with("error: cannot create "), "{}", run.stderr);
}
