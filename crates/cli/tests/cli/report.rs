//! `edgepace report`, and `--report` of train and audit.

use std::path::Path;

use tempfile::tempdir;

use crate::program::{Run, edgepace_in};

const GRAPH: &str = "synthetic:homophily=0.5,nodes=200,edges=800 --epochs 20";

fn does(folder: &Path, line: &str) -> Run {
    edgepace_in(folder, line.split(' '))
}

fn page(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("a page")
}

/// What is between `<section id="ID"` and its end.
fn has_section(page: &str, id: &str) -> bool {
    page.contains(&format!("<section id=\"{id}\""))
}

#[test]
fn runs_become_one_page_with_the_graph_and_the_methods_beside_each_other() {
    let folder = tempdir().expect("a folder");
    for method in ["rcl", "vanilla"] {
        let run = does(
            folder.path(),
            &format!("train {GRAPH} --method {method} --noise fake=0.5 --seeds 0..2 --out {method}"),
        );
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
    let run = does(folder.path(), "report vanilla rcl -o r.html");
    assert_eq!((run.code, &run.stdout[..], &run.stderr[..]), (Some(0), "wrote r.html\n", ""));
    let text = page(folder.path(), "r.html");
    for id in ["graph", "edges", "learning", "curriculum", "predictions", "fakes", "comparison", "settings"] {
        assert!(has_section(&text, id), "{id}");
    }
    assert!(!has_section(&text, "robustness"), "all runs have as many fake edges");
    assert!(text.contains("Joint objective"), "from the history of the run");
    let refused = does(folder.path(), "report rcl -o r.html");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("is there already") && refused.stderr.contains("--overwrite"),
        "{}",
        refused.stderr
    );
    let json = does(folder.path(), "report rcl/seed-1 -o r.html --overwrite --title Mine --json");
    assert_eq!(json.stdout, "{\"wrote\":[\"r.html\"]}\n", "{}", json.stderr);
    assert!(page(folder.path(), "r.html").contains("<title>Mine</title>"));
}

#[test]
fn train_and_audit_write_the_page_in_one_step() {
    let folder = tempdir().expect("a folder");
    let run = does(folder.path(), &format!("train {GRAPH} --seeds 0..2 --report t.html"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.ends_with("wrote t.html\n"), "{}", run.stdout);
    assert!(has_section(&page(folder.path(), "t.html"), "graph"));
    let run = does(folder.path(), &format!("audit {GRAPH} --noise fake=0.5 --top 1 --report a.html"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(has_section(&page(folder.path(), "a.html"), "fakes"));
    let run = does(folder.path(), &format!("train {GRAPH} --out run --report o.html"));
    assert!(run.stdout.ends_with("wrote o.html\nwrote run\n"), "{}", run.stdout);
    let run = does(folder.path(), "audit run --top 1 --report again.html");
    assert!(run.stdout.ends_with("wrote again.html\n"), "{}", run.stdout);
    let commands = |text: String| {
        text.lines()
            .filter(|line| !line.contains("edgepace train") && !line.contains("edgepace audit"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(
        commands(page(folder.path(), "o.html")),
        commands(page(folder.path(), "again.html")),
        "the same run, the same page"
    );
}

#[test]
fn what_cannot_be_a_report_is_refused_before_any_work() {
    let folder = tempdir().expect("a folder");
    let line = format!("train {GRAPH} --report page.pdf --out run");
    let cases = [
        (&line[..], "expected a name that ends in `.html`"),
        ("report nothing -o r.html", "has no run in it"),
        ("report nothing -o no/r.html", "no/"),
        ("report", "RUN"),
    ];
    for (line, said) in cases {
        let run = does(folder.path(), line);
        assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "{line}");
        assert!(run.stderr.contains(said), "{line}: {}", run.stderr);
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_run_whose_data_is_gone_is_reported_without_its_graph() {
    let folder = tempdir().expect("a folder");
    let save = "data save synthetic:nodes=200,edges=800 -o own.graph";
    assert_eq!(does(folder.path(), save).code, Some(0));
    let run = does(folder.path(), "train own.graph --split fraction:0.5:0.25 --epochs 20 --out run");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    std::fs::remove_file(folder.path().join("own.graph")).expect("removed");
    let run = does(folder.path(), "report run -o r.html");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("The graph and the predictions are not shown"), "{}", run.stderr);
    let text = page(folder.path(), "r.html");
    assert!(!has_section(&text, "graph") && has_section(&text, "learning") && text.contains("are not shown"));
}
