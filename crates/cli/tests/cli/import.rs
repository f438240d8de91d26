//! `edgepace data import` as its users meet it: what became of each column, and what to do about mistakes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::parquet_file::{Values, write};
use crate::program::edgepace_in;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn json(folder: &Path, line: &str) -> Value {
    let run = edgepace_in(folder, line.split(' '));
    assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    serde_json::from_str(&run.stdout).expect("one JSON object")
}

/// Items that are bought together: ids that are text, labels for three of ten, a date, a category, prices with gaps.
fn items() -> TempDir {
    let folder = folder(&[]);
    let rows = 200_usize;
    let asin = |row: usize| format!("B{:05}", row * 7919 % 100_000);
    let label = |row: usize| (row % 10 < 3).then(|| ["book", "toy"][row % 10 % 2].to_owned());
    let price = |row: usize| (!row.is_multiple_of(8)).then_some(row as f64 * 0.25);
    let brand = |row: usize| ["acme", "bolt", "core"][(row % 10 + row / 10) % 3].to_owned();
    let day = |row: usize| 17_897 + i32::try_from(row % 28).expect("small");
    let mut nodes = String::from("asin,label,price,brand,listed,title\n");
    let mut edges = String::from("from_asin,to_asin\n");
    for row in 0..rows {
        let (label, price) =
            (label(row).unwrap_or_default(), price(row).map_or(String::new(), |price| price.to_string()));
        // 17 897 days after 1970 is the first of January 2019.
        let date = format!("2019-01-{:02}", row % 28 + 1);
        writeln!(nodes, "{},{label},{price},{},{date},item number {row}", asin(row), brand(row))
            .expect("memory");
        writeln!(edges, "{},{}", asin(row), asin((row + 10) % rows)).expect("memory");
    }
    fs::write(folder.path().join("n.csv"), nodes).expect("a file");
    fs::write(folder.path().join("e.csv"), edges).expect("a file");
    let texts = |text: &dyn Fn(usize) -> Option<String>| Values::Text((0..rows).map(text).collect());
    write(
        &folder.path().join("n.parquet"),
        &[
            ("asin", texts(&|row| Some(asin(row)))),
            ("label", texts(&label)),
            ("price", Values::Double((0..rows).map(price).collect())),
            ("brand", texts(&|row| Some(brand(row)))),
            ("listed", Values::Date((0..rows).map(|row| Some(day(row))).collect())),
            ("title", texts(&|row| Some(format!("item number {row}")))),
        ],
    );
    write(
        &folder.path().join("e.parquet"),
        &[
            ("from_asin", texts(&|row| Some(asin(row)))),
            ("to_asin", texts(&|row| Some(asin((row + 10) % rows)))),
        ],
    );
    folder
}

#[test]
fn every_column_is_accounted_for() {
    let folder = items();
    let line = "data import --edges e.parquet --nodes n.parquet --id asin -o items.graph";
    let run = edgepace_in(folder.path(), line.split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    insta::assert_snapshot!("every_column_is_accounted_for", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "no line is too long");
}

#[test]
fn parquet_and_csv_give_the_same_graph_and_the_same_report() {
    let folder = items();
    for dates in ["drop", "days", "year", "cyclic"] {
        let [csv, parquet] = ["csv", "parquet"].map(|kind| {
            let graph = format!("{dates}-{kind}.graph");
            let line = format!(
                "data import --json --edges e.{kind} --nodes n.{kind} --id asin --dates {dates} --name items -o {graph}"
            );
            let mut report = json(folder.path(), &line);
            report.as_object_mut().expect("an object").remove("wrote");
            (report, json(folder.path(), &format!("data info {graph} --json"))["checksum"].clone())
        });
        assert_eq!(csv, parquet, "{dates}");
    }
    let report =
        json(folder.path(), "data import --json --edges e.csv --nodes n.csv --id asin -o again.graph");
    let columns = report["columns"].as_array().expect("columns");
    for column in columns {
        for field in ["name", "role", "kind", "missing", "note"] {
            assert!(column.get(field).is_some_and(|value| !value.is_null()), "{column}: {field}");
        }
    }
    let of = |name: &str| columns.iter().find(|column| column["name"] == name).expect("the column");
    assert_eq!((&of("listed")["role"], &of("listed")["kind"]), (&"dropped".into(), &"date".into()));
    assert_eq!(of("brand")["features"], serde_json::json!(["brand=acme", "brand=bolt", "brand=core"]));
    assert_eq!(of("price")["missing"], 0.125);
    assert_eq!(report["graph"]["labelled_share"], 0.3);
    assert_eq!(
        report["graph"]["classes"],
        serde_json::json!([{"name": "book", "nodes": 40}, {"name": "toy", "nodes": 20}])
    );
}

#[test]
fn names_of_features_reach_the_export() {
    let folder = items();
    let run = |line: &str| {
        let run = edgepace_in(folder.path(), line.split(' '));
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    };
    run("data import --edges e.csv --nodes n.csv --id asin -o items.graph");
    run("data export items.graph --out tables");
    let nodes = fs::read_to_string(folder.path().join("tables/nodes.csv")).expect("a file");
    assert_eq!(
        nodes.lines().next(),
        Some("id,name,label,price,price:missing,brand=acme,brand=bolt,brand=core")
    );
}

#[test]
fn a_shuffled_table_trains_on_the_same_features() {
    let rows: Vec<String> = (0..60).map(|row| format!("{row},{}", ["a", "b"][row % 2])).collect();
    let table = |order: &dyn Fn(usize) -> usize| {
        let rows: Vec<&str> = (0..60).map(|row| &rows[order(row)][..]).collect();
        format!("id,label\n{}\n", rows.join("\n"))
    };
    let edges = (0..60).map(|node| format!("{node},{}", (node + 2) % 60)).collect::<Vec<_>>().join("\n");
    let features: Vec<f32> =
        (0..120).map(|value| if value / 2 % 2 == value % 2 { 1.0 } else { -0.5 }).collect();
    let folder = folder(&[
        ("e.csv", &edges),
        ("sorted.csv", &table(&|row| row)),
        ("shuffled.csv", &table(&|row| row * 7 % 60)),
    ]);
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    npy.extend(format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (60, 2), }").bytes());
    npy.extend(features.iter().flat_map(|value| value.to_le_bytes()));
    fs::write(folder.path().join("x.npy"), npy).expect("a file");
    let [sorted, shuffled] = ["sorted", "shuffled"].map(|table| {
        let own = format!("--edges e.csv --nodes {table}.csv --features x.npy");
        json(folder.path(), &format!("data import {own} --json -o {table}.graph"));
        let train = format!("train {own} --split fraction:0.5:0.25 --method vanilla --epochs 5 --json");
        let run = edgepace_in(folder.path(), train.split(' '));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let results: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let checksum = json(folder.path(), &format!("data info {table}.graph --json"))["checksum"].clone();
        let test = results["test_mean"].as_f64().expect("a score");
        (checksum, test.to_bits())
    });
    assert_eq!(sorted, shuffled);
}

#[test]
fn graphml_of_networkx_says_what_its_keys_became() {
    let networkx = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="d4" for="edge" attr.name="weight" attr.type="double" />
  <key id="d3" for="node" attr.name="since" attr.type="string" />
  <key id="d2" for="node" attr.name="captain" attr.type="boolean" />
  <key id="d1" for="node" attr.name="age" attr.type="long" />
  <key id="d0" for="node" attr.name="club" attr.type="string" />
  <graph edgedefault="undirected">
    <node id="ann"><data key="d0">red</data><data key="d1">30</data><data key="d2">True</data><data key="d3">2019-01-01</data></node>
    <node id="bob"><data key="d0">blue</data><data key="d2">False</data><data key="d3">2018-05-01</data></node>
    <node id="cem"><data key="d1">32</data><data key="d2">False</data></node>
    <edge source="ann" target="bob"><data key="d4">0.5</data></edge>
    <edge source="bob" target="cem"><data key="d4">2.0</data></edge>
  </graph>
</graphml>
"#;
    let csv =
        "id,since,captain,age,club\nann,2019-01-01,True,30,red\nbob,2018-05-01,False,,blue\ncem,,False,32,\n";
    let edges = "source,target,weight\nann,bob,0.5\nbob,cem,2.0\n";
    let folder = folder(&[("club.graphml", networkx), ("n.csv", csv), ("e.csv", edges)]);
    let run = edgepace_in(
        folder.path(),
        "data import --edges club.graphml --label club --dates year -o club.graph".split(' '),
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    insta::assert_snapshot!("graphml_of_networkx", run.stdout);
    json(
        folder.path(),
        "data import --edges e.csv --nodes n.csv --label club --dates year --json -o csv.graph",
    );
    let checksum =
        |graph: &str| json(folder.path(), &format!("data info {graph} --json"))["checksum"].clone();
    assert_eq!(checksum("club.graph"), checksum("csv.graph"), "the same as from tables");
}

/// A file of one's own is a dataset wherever one is named, and its columns can be named beside it.
#[test]
fn a_file_of_ones_own_is_trained_on_without_an_import() {
    let node = |node: usize| {
        let club = if node.is_multiple_of(2) { "red" } else { "blue" };
        format!(r#"<node id="n{node}"><data key="c">{club}</data><data key="x">{}.5</data></node>"#, node % 7)
    };
    let edge = |node: usize| format!(r#"<edge source="n{node}" target="n{}" />"#, (node + 2) % 40);
    let (nodes, edges): (String, String) = ((0..40).map(node).collect(), (0..40).map(edge).collect());
    let keys = r#"<key id="c" for="node" attr.name="club" attr.type="string" /><key id="x" for="node" attr.name="age" attr.type="double" />"#;
    let graph = format!(r#"<graphml>{keys}<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>"#);
    let folder = folder(&[("club.graphml", &graph)]);
    let run = |line: &str| edgepace_in(folder.path(), line.split(' '));
    let refused = run("train club.graphml --epochs 5");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("no labels") && refused.stderr.contains("`--label …`; it may be `club`"),
        "{}",
        refused.stderr
    );
    let trained = run("train club.graphml --label club --epochs 5 --out run");
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let (own, named) = (run("predict run"), run("predict run club.graphml --label club"));
    assert_eq!((own.code, &own.stdout), (Some(0), &named.stdout), "{}", named.stderr);
    let known = run("train cora --label club");
    assert_eq!(known.code, Some(2), "{}", known.stderr);
    assert!(known.stderr.contains("`cora` says itself"), "{}", known.stderr);
}

#[test]
fn what_names_hold_does_not_reach_the_terminal_raw() {
    let folder = folder(&[
        ("e.csv", "source,target\n0,1\n"),
        ("n.csv", "id,\u{1b}[31mred,label\n0,1,a\u{7}\n1,2,b\n"),
    ]);
    let run = edgepace_in(folder.path(), "data import --edges e.csv --nodes n.csv -o x.graph".split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(!run.stdout.contains(['\u{1b}', '\u{7}']), "{:?}", run.stdout);
    assert!(run.stdout.contains("\\u{1b}[31mred"), "{}", run.stdout);
}

#[test]
fn every_mistake_is_answered_with_what_to_do() {
    let lines = |rows: usize, line: fn(usize) -> String| -> String {
        (0..rows).map(|row| line(row) + "\n").collect()
    };
    let (numbers, words) =
        (lines(100, |row| format!("{row},{}.5", row * 3)), lines(100_000, |row| format!("{row},w{row}")));
    let folder = folder(&[
        ("e.csv", "source,target\np1,p2\np2,p3\n"),
        ("ids.csv", "id,asin,label,x\n1,p1,a,5\n2,p2,b,6\n3,p3,a,7\n"),
        ("no-id.csv", "asin,sku,label,x\np1,p1,a,5\np2,p2,b,6\np3,p3,a,7\n"),
        ("n.csv", "id,label,colour,x\np1,a,red,5\np2,b,blue,6\np3,a,red,7\n"),
        ("buys.csv", "day,buyer,seller,price\n1,p1,p2,3\n2,p2,p3,4\n"),
        ("wrong-ends.csv", "source,target,buyer,seller\n7,8,p1,p2\n8,9,p2,p3\n"),
        ("header.csv", "who,whom\np1,p2\np2,p3\n"),
        ("numbers.csv", &format!("id,y\n{numbers}")),
        ("words.csv", &format!("id,word\n{words}")),
        ("plain.csv", "0,1\n1,2\n"),
        ("nan.csv", "source,target,weight\n0,1,NaN\n"),
        ("inf.csv", "source,target,weight\n0,1,inf\n"),
        ("minus.csv", "source,target,weight\n0,1,-3\n"),
        ("infinite.csv", "id,x\n0,1\n1,inf\n2,3\n"),
        ("stray.csv", "id,x\n0,1\n1,n.d.\n2,3\n"),
        ("twice.csv", "id,x\n0,1\n0,2\n"),
        ("fold.csv", "id,label,split\n0,a,train\n1,b,holdout\n2,a,test\n"),
        ("graph.docx", "0,1\n"),
        ("there.graph", "mine"),
        ("lonely.csv", "alone\n"),
    ]);
    let mistakes = [
        ("the column of ids is not named", "--edges e.csv --nodes ids.csv"),
        ("no column is called id", "--edges e.csv --nodes no-id.csv"),
        ("the ends are not named", "--edges buys.csv --nodes n.csv"),
        ("the ends are other columns", "--edges wrong-ends.csv --nodes n.csv"),
        ("the header is taken for an edge", "--edges header.csv --nodes n.csv"),
        ("a typing error in --label", "--edges e.csv --nodes n.csv --label lable"),
        ("a typing error in --one-hot", "--edges e.csv --nodes n.csv --one-hot color"),
        ("a typing error in --source", "--edges buys.csv --source byer --target seller"),
        ("one-hot of 100 000 values", "--edges plain.csv --nodes words.csv --one-hot word"),
        ("a weight that is NaN", "--edges nan.csv"),
        ("a weight that is infinite", "--edges inf.csv"),
        ("a weight below 0", "--edges minus.csv"),
        ("labels that are measurements", "--edges plain.csv --nodes numbers.csv"),
        ("an infinite feature", "--edges plain.csv --nodes infinite.csv"),
        ("a word among numbers", "--edges plain.csv --nodes stray.csv"),
        ("an id twice", "--edges plain.csv --nodes twice.csv"),
        ("an unknown set of a split", "--edges plain.csv --nodes fold.csv"),
        ("an unknown extension", "--edges graph.docx"),
        ("a single column", "--edges lonely.csv"),
        ("a node table that is none", "--edges plain.csv --nodes there.graph"),
    ];
    let mut answers = String::new();
    let mut refuse = |mistake: &str, line: &str| {
        let run = edgepace_in(folder.path(), line.split(' '));
        assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "{mistake}: {}", run.stderr);
        writeln!(answers, "# {mistake}\n$ edgepace {line}\n{}", run.stderr).expect("memory");
    };
    for (mistake, flags) in mistakes {
        refuse(mistake, &format!("data import {flags} -o new.graph"));
    }
    refuse("a file that is there", "data import --edges plain.csv -o there.graph");
    refuse("a folder that is not there", "data import --edges plain.csv -o no/new.graph");
    insta::assert_snapshot!("mistakes", answers);
    assert!(
        !folder.path().join("new.graph").exists() && !folder.path().join("no").exists(),
        "nothing is written"
    );
    assert_eq!(fs::read_to_string(folder.path().join("there.graph")).expect("a file"), "mine");
}
