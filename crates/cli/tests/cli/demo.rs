//! `edgepace demo`.

use tempfile::tempdir;

use crate::program::edgepace_in;

#[test]
fn the_demo_compares_draws_and_leaves_files() {
    let folder = tempdir().expect("a folder");
    let arguments = "demo --nodes 400 --seeds 0..2 --epochs 60";
    let run = edgepace_in(folder.path(), arguments.split(' '));
    assert_eq!((run.code, &run.stderr[..]), (Some(0), ""));
    for part in
        ["MLP (no edges)", "GCN (all edges)", "GCN + RCL", " ± ", "easy (same class)", "█", "edgepace-demo"]
    {
        assert!(run.stdout.contains(part), "no {part} in {}", run.stdout);
    }
    assert!(!run.stdout.contains('\u{1b}'), "no colour where there is no terminal");
    for file in ["mlp/seed-0/model.safetensors", "rcl/seed-1/edges.csv", "vanilla/config.toml"] {
        assert!(folder.path().join("edgepace-demo").join(file).exists(), "{file}");
    }
    let again = edgepace_in(folder.path(), arguments.split(' '));
    assert_eq!(again.stdout, run.stdout, "the same again, into the same folder");
}
