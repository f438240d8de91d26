use edgepace_data::generate;
use edgepace_graph::Names;
use edgepace_train::{Audit, EdgeTable, Material, Run, RunConfig, Shelf};

use super::*;

/// What a name must not be able to do to a page.
const EVIL: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{ 7*7 }}&\u{202e}\u{0}\u{7}";

/// A small graph after a small run, with names that mean harm.
fn sample(method: &str, fake: &str) -> (RunRecord, GraphOfRun) {
    let threads = Threads::one();
    let dataset = generate(&threads, "synthetic:homophily=0.5,nodes=120,edges=480,seed=0").unwrap().unwrap();
    let nodes = (0..dataset.graph().nodes()).map(|node| format!("{EVIL}{node}"));
    let classes = (0..dataset.labels().width()).map(|class| format!("{EVIL}{class}"));
    let dataset = dataset.with_node_names(Names::new(nodes)).unwrap();
    let dataset = dataset.with_class_names(Names::new(classes)).unwrap();
    let split =
        edgepace_data::splits::make(&threads, &"fraction:0.5:0.25".parse().unwrap(), &dataset, 0).unwrap();
    let noise: edgepace_data::Noise = fake.parse().unwrap();
    let noisy = crate::with_noise(&threads, &dataset, &noise, &split, 0).unwrap();
    let (material, judge) = Material::with_noise(&noisy, &split, dataset.name(), &noise.record(0)).unwrap();
    let config = RunConfig { method: method.to_owned(), epochs: 12, ..RunConfig::default() };
    let spec = config.check().unwrap().spec(&material, 0).unwrap();
    let mut run = Run::start(spec, &material, &Shelf::new(), &threads).unwrap();
    while run.advance().unwrap().is_some() {}
    let finished = run.finish(&judge, None).unwrap();
    let rows = finished.edges.as_ref().map_or_else(Vec::new, |report| {
        let audit = Audit::new(&threads, &noisy, report).unwrap();
        EdgeTable::new(&noisy, report, &finished.snapshot.logits, &audit).rows().collect()
    });
    let logits = (&finished.snapshot.logits[..], finished.record.result.temperature);
    let graph = GraphOfRun::new(0, (noisy, Some(split)), logits, rows);
    (finished.record, graph)
}

fn report(runs: Vec<RunRecord>, graph: Option<GraphOfRun>) -> Report {
    let runs = runs.into_iter().map(ReportRun::new).collect();
    Report {
        title: format!("Report {EVIL}"),
        command: format!("edgepace {EVIL}"),
        runs,
        graph,
        notes: vec![EVIL.to_owned()],
    }
}

#[test]
fn a_page_holds_all_it_needs_and_names_cannot_break_out_of_it() {
    let (record, graph) = sample("rcl", "fake=0.5");
    let others = [("rcl", "fake=0"), ("vanilla", "fake=0"), ("vanilla", "fake=0.5")]
        .map(|(method, fake)| sample(method, fake).0);
    let runs = std::iter::once(record).chain(others).collect();
    let page = report(runs, Some(graph)).to_html(&Threads::one()).unwrap();
    for id in [
        "summary",
        "graph",
        "edges",
        "learning",
        "curriculum",
        "predictions",
        "fakes",
        "comparison",
        "robustness",
        "settings",
    ] {
        assert!(page.contains(&format!("<section id=\"{id}\"")), "no section {id}");
    }
    // Ours are two: the data, and the script.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    for evil in ["<img", "alert(1)</", "49", "\u{202e}", "\u{0}", "\u{7}"] {
        let found = page.replace(" 49", "").matches(evil).count();
        assert!(evil == "49" || found == 0, "{evil:?} {found} times");
    }
    assert!(page.contains("{{ 7*7 }}"), "names are no templates");
    // What a page could be made to load.
    for link in ["http://", "https://", "url(", "@import", "src=", "href=\"//"] {
        let found: Vec<&str> =
            page.match_indices(link).map(|(at, _)| &page[at..(at + 40).min(page.len())]).collect();
        let own =
            |text: &&str| text.starts_with("http://www.w3.org/2000/svg") || text.starts_with("src=x onerror");
        assert!(found.iter().all(own), "{link}: {found:?}");
    }
    assert!(page.contains("default-src &#x27;none&#x27;") || page.contains("default-src 'none'"));
}

#[test]
fn the_same_report_is_the_same_page_on_any_number_of_threads() {
    let page = |threads: usize| {
        let (record, graph) = sample("rcl", "fake=0.5");
        let page = report(vec![record], Some(graph)).to_html(&Threads::new(threads).unwrap()).unwrap();
        // The time of a run is the only thing that differs.
        page.lines().filter(|line| !line.contains("time of a run")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(page(1), page(3));
}

#[test]
fn a_report_without_a_graph_has_no_drawing_and_one_without_a_run_is_refused() {
    let (record, _) = sample("vanilla", "fake=0");
    let page = report(vec![record], None).to_html(&Threads::one()).unwrap();
    assert!(!page.contains("id=\"canvas\"") && page.contains("<section id=\"learning\""));
    let refused = report(Vec::new(), None).to_html(&Threads::one()).unwrap_err();
    assert!(refused.to_string().contains("no run"), "{refused}");
}

#[test]
fn a_run_whose_method_says_nothing_of_edges_has_its_predictions_all_the_same() {
    let (record, graph) = sample("vanilla", "fake=0");
    let page = report(vec![record], Some(graph)).to_html(&Threads::one()).unwrap();
    assert!(!page.contains("id=\"canvas\"") && page.contains("<section id=\"predictions\""));
}

#[test]
fn the_objective_is_that_of_the_last_training_that_a_history_tells_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.jsonl");
    let lines = [
        r#"{"event":"update","epoch":0,"edges":4,"objective":[9.0,8.0]}"#,
        r#"{"event":"update","epoch":5,"edges":4,"objective":[8.0,7.0]}"#,
        r#"{"event":"epoch","phase":"training","epoch":5,"epochs":9,"loss":1.0,"validation":null,"edges":4}"#,
        "no JSON",
        r#"{"event":"update","epoch":0,"edges":4,"objective":[3.0,2.5]}"#,
        r#"{"event":"update","epoch":5,"edges":4,"objective":null}"#,
    ];
    std::fs::write(&file, lines.join("\n")).unwrap();
    assert_eq!(objective_of(&file), [(0, 2.5)]);
    assert_eq!(objective_of(&folder.path().join("none")), []);
}
