//! `edgepace demo`.

use tempfile::tempdir;

use crate::program::edgepace_in;

#[test]
fn the_demo_compares_draws_and_leaves_files() {
    let folder = tempdir().expect("a folder");
    let arguments = "demo --nodes 400 --seeds 0..2 --epochs 60 --out tried";
    let run = edgepace_in(folder.path(), arguments.split(' '));
    assert_eq!((run.code, &run.stderr[..]), (Some(0), ""));
    for part in ["MLP (no edges)", "GCN (all edges)", "GCN + RCL", " ± ", "easy (same class)", "█"] {
        assert!(run.stdout.contains(part), "no {part} in {}", run.stdout);
    }
    assert!(!run.stdout.contains('\u{1b}'), "no colour where there is no terminal");
    assert!(run.stdout.contains("The graph to look at: tried/report.html"), "{}", run.stdout);
    for file in ["report.html", "mlp/seed-0/model.safetensors", "rcl/seed-1/edges.csv", "vanilla/config.toml"]
    {
        assert!(folder.path().join("tried").join(file).exists(), "{file}");
    }
    let again = format!("{arguments} --overwrite");
    let again = edgepace_in(folder.path(), again.split(' '));
    assert_eq!(again.stdout, run.stdout, "the same again, into the same folder");
    let refused = edgepace_in(folder.path(), arguments.split(' '));
    assert_eq!((refused.code, &refused.stdout[..]), (Some(2), ""), "{}", refused.stderr);
}

#[test]
fn the_demo_writes_a_page_and_nothing_else_unless_it_is_told_where_and_speaks_json() {
    let folder = tempdir().expect("a folder");
    let run = edgepace_in(folder.path(), "demo --nodes 200 --seeds 0..2 --epochs 10 --json".split(' '));
    assert_eq!((run.code, &run.stderr[..]), (Some(0), ""));
    let told: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(told["methods"][2]["method"], "rcl");
    assert_eq!(told["methods"][2]["tests"].as_array().map(Vec::len), Some(2));
    assert_eq!(told["report"], "edgepace-demo.html");
    let page = std::fs::read_to_string(folder.path().join("edgepace-demo.html")).expect("a page");
    assert!(page.contains("<section id=\"graph\"") && page.contains("<section id=\"comparison\""));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    let again = edgepace_in(folder.path(), "demo --nodes 200 --seeds 0 --epochs 10 --json".split(' '));
    let told: serde_json::Value = serde_json::from_str(&again.stdout).expect("JSON");
    assert_eq!(told["report"], "edgepace-demo-2.html", "the first one stays");
}
