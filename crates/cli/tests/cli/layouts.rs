//! Files and folders that people pass around, as the program meets them.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Run, edgepace_in};

/// A folder with a small graph as MUSAE lays it out, one that is exported, and some that are none.
fn files() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, bytes).expect("a file");
    };
    let (mut edges, mut features, mut target) =
        ("id_1,id_2\n".to_owned(), Vec::new(), "id,target\n".to_owned());
    for node in 0..30 {
        for next in [(node + 2) % 30, (node + 4) % 30] {
            edges.extend([node.to_string(), ",".to_owned(), next.to_string(), "\n".to_owned()]);
        }
        features.push(format!("\"{node}\": [{}, {}]", node % 2, 2 + node % 5));
        target.extend([&node.to_string()[..], ",", ["even", "odd"][node % 2], "\n"]);
    }
    write("pages/pages_edges.csv", edges.as_bytes());
    write("pages/pages_features.json", format!("{{{}}}", features.join(", ")).as_bytes());
    write("pages/pages_target.csv", target.as_bytes());
    for set in ["one", "two"] {
        write(&format!("planetoid/ind.{set}.graph"), b"");
    }
    write("stuff/notes.md", b"nothing");
    write("escape.csv", b"source,target\n\x1b[2J,b\n");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/fixtures");
    for name in ["mat/attributed.mat", "mat/other.mat", "features.npz"] {
        write(
            Path::new(name).file_name().and_then(|name| name.to_str()).expect("a name"),
            &fs::read(fixtures.join(name)).expect("a fixture"),
        );
    }
    folder
}

fn run(folder: &TempDir, line: &str) -> Run {
    edgepace_in(folder.path(), line.split(' '))
}

fn json(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn a_folder_is_imported_trained_on_predicted_and_audited_as_it_is() {
    let folder = files();
    let imported = run(&folder, "data import pages -o pages.graph");
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let checksum = json(&run(&folder, "data info pages.graph --json --verify"))["checksum"].clone();
    let info = json(&run(&folder, "data info pages --json"));
    assert_eq!(info["checksum"], checksum);
    assert_eq!((&info["nodes"], &info["features"], &info["classes"]), (&30.into(), &7.into(), &2.into()));
    let by_names = "data import --edges pages/pages_edges.csv --features pages/pages_features.json \
                    --nodes pages/pages_target.csv -o named.graph";
    assert_eq!(run(&folder, by_names).code, Some(0));
    assert_eq!(json(&run(&folder, "data info named.graph --json"))["checksum"], checksum);

    let trained = run(&folder, "train pages --method vanilla --epochs 20 --out out");
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let predicted = run(&folder, "predict out/seed-0/model.safetensors pages -o p.csv");
    assert_eq!(predicted.code, Some(0), "{}", predicted.stderr);
    let audited = run(&folder, "audit ./pages --epochs 20 --top 3");
    assert_eq!(audited.code, Some(0), "{}", audited.stderr);
    let matlab = json(&run(&folder, "data info attributed.mat --json"));
    assert_eq!((&matlab["features"], &matlab["edge_columns"][0]), (&3.into(), &"weight".into()));
}

#[test]
fn what_is_not_understood_is_said_with_what_was_found_and_what_helps() {
    let folder = files();
    let refused = |line: &str| {
        let run = run(&folder, line);
        assert_eq!(run.code, Some(2), "{}", run.stdout);
        run.stderr.trim_end().to_owned()
    };
    insta::assert_snapshot!(refused("data import planetoid -o x.graph"), @"error: planetoid: expected a folder with one set, found 2: one, two: name one of them, as `planetoid/ind.one`");
    insta::assert_snapshot!(refused("train stuff"), @"error: stuff: expected a folder as Planetoid (`ind.NAME.x` …), Geom-GCN (`out1_node_feature_label.txt`), OGB (`raw/edge.csv.gz`), MUSAE (`NAME_edges.csv`, `NAME_features.json`, `NAME_target.csv`) or `edgepace data export` lay it out, found one with notes.md: name the file of edges with `--edges`");
    insta::assert_snapshot!(refused("data import features.npz -o x.graph"), @"error: features.npz, `shape`: expected a square matrix, the adjacency of the graph, found [3, 2]: features go with `--features`, beside the edges");
    insta::assert_snapshot!(refused("data info other.mat"), @"error: other.mat: expected a square matrix `network`, `adjacency`, `adj`, `adj_matrix`, `A`, `Problem.A`, `graph`, `net`, `W`, the adjacency of the graph, found the variables `left` (2 × 3), `words` (text): save it under one of these names; features may be `features` or `attributes`, labels `labels` or `group`");
    insta::assert_snapshot!(refused("data import attributed.mat --nodes n.csv -o x.graph"), @"error: `nodes` is `n.csv`, expected none: attributed.mat is in MATLAB's format, which holds the nodes itself");
    insta::assert_snapshot!(refused("train nowhere.npz"), @"error: cannot read nowhere.npz: No such file or directory (os error 2)");
    assert!(!folder.path().join("x.graph").exists(), "nothing is written");
}

#[test]
fn names_from_files_cannot_move_the_cursor() {
    let folder = files();
    assert_eq!(run(&folder, "data import escape.csv --name \u{1b}[31mred -o escape.graph").code, Some(0));
    let info = run(&folder, "data info escape.graph");
    assert!(
        !info.stdout.contains('\u{1b}') && info.stdout.starts_with("\\u{1b}[31mred\n"),
        "{:?}",
        info.stdout
    );
    let unknown = run(&folder, "train \u{1b}[31mred");
    assert!(unknown.code == Some(2) && !unknown.stderr.contains('\u{1b}'), "{:?}", unknown.stderr);
}
