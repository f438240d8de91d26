//! Tables of results: what is compared with what, and how it is written.

use edgepace_lab::tables::{
    CellResult, Measure, PaperValue, ResultTable, Results, SeedValue, csv, grid_markdown, latex, mark,
    markdown,
};

fn cell(backbone: &str, method: &str, dataset: &str, values: &[f64]) -> CellResult {
    let run =
        |(seed, &value): (usize, &f64)| SeedValue { seed: seed as u64, id: format!("{method}{seed}"), value };
    CellResult {
        dataset: dataset.into(),
        backbone: backbone.into(),
        method: method.into(),
        runs: values.iter().enumerate().map(run).collect(),
        asked: values.len(),
        missing: None,
    }
}

/// On `a` ours is clearly ahead, on `b` it is behind; `twin` is another form of ours.
fn results() -> Results {
    let cells = vec![
        cell("gcn", "ours", "a", &[81.0, 82.1, 80.9, 81.6, 82.0]),
        cell("gcn", "rival", "a", &[70.2, 71.0, 70.1, 70.9, 70.8]),
        cell("gcn", "plain", "a", &[60.0, 61.0, 60.5, 60.1, 60.7]),
        cell("gcn", "twin", "a", &[81.1, 82.0, 81.0, 81.7, 81.9]),
        cell("gcn", "ours", "b", &[50.0, 51.0]),
        cell("gcn", "rival", "b", &[50.4, 51.9]),
        cell("gcn", "plain", "b", &[]),
        cell("gcn", "twin", "b", &[49.0, 48.0]),
    ];
    Results { name: "test".into(), about: "A, B & 100 %".into(), measure: Measure::Test, cells }
}

fn table() -> ResultTable {
    let paper = |_: &str, method: &str, dataset: &str| match (method, dataset) {
        ("ours", "a") => Some(PaperValue { mean: 81.8, sd: Some(0.5) }),
        ("ours", "b") => Some(PaperValue { mean: 55.0, sd: None }),
        _ => None,
    };
    let form = |name: &str| ["ours", "twin"].contains(&name);
    ResultTable::new(&results(), paper, |one, other| form(one) && form(other))
}

#[test]
fn each_cell_is_tested_against_the_best_of_the_others_and_not_against_its_other_forms() {
    let table = table();
    let ours = table.cell("gcn", "ours", "a").unwrap();
    assert_eq!(ours.against.as_deref(), Some("rival"));
    assert!(ours.p_unadjusted.unwrap() < 1e-4 && (ours.ahead.unwrap() - 10.92).abs() < 1e-9);
    // Holm over both of its cells: the smaller p-value counts twice, and none is below it.
    let other = table.cell("gcn", "ours", "b").unwrap();
    assert_eq!(ours.p_value, ours.p_unadjusted.map(|p| 2.0 * p));
    assert_eq!(other.p_value, other.p_unadjusted);
    assert_eq!(mark(Measure::Test, ours), "***");
    assert_eq!(mark(Measure::Test, other), "", "behind");
    assert_eq!(table.cell("gcn", "rival", "a").unwrap().against.as_deref(), Some("twin"));
    assert_eq!(table.cell("gcn", "plain", "b").unwrap().p_value, None, "there is no run");
}

#[test]
fn a_cell_is_met_within_one_standard_deviation_of_the_paper_and_faster_is_better() {
    let table = table();
    let ours = table.cell("gcn", "ours", "a").unwrap();
    assert_eq!((ours.met, ours.paper, ours.n), (Some(true), Some(81.8), 5));
    assert!((ours.difference.unwrap() + 0.28).abs() < 1e-9);
    assert_eq!(table.cell("gcn", "ours", "b").unwrap().met, Some(false));
    assert_eq!(table.met(), (2, 1));
    let seconds = Results { measure: Measure::Seconds, ..results() };
    let table = ResultTable::new(&seconds, |_, _, _| Some(PaperValue { mean: 65.0, sd: None }), |_, _| false);
    assert_eq!(table.cell("gcn", "ours", "a").unwrap().met, Some(false));
    assert_eq!(table.cell("gcn", "plain", "a").unwrap().met, Some(true));
    assert_eq!(table.cell("gcn", "plain", "a").unwrap().rank, Some(1));
}

#[test]
fn json_begins_with_the_fields_that_programs_read() {
    let text = serde_json::to_string(table().cell("gcn", "ours", "b").unwrap()).unwrap();
    let keys = ["table", "backbone", "method", "dataset", "mean", "sd", "n", "paper", "p_value"];
    let places: Vec<usize> = keys.iter().map(|key| text.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn markdown_shows_ours_the_paper_and_the_mark() {
    let text = markdown(&table(), Some("ours"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "### GCN");
    assert_eq!(lines[2], "| method | seeds | a | b |");
    assert_eq!(lines[4], "| ours | 2, 5 | _81.5 ± 0.6_\\*\\*\\* (81.8) | _50.5 ± 0.7_ (55.0) |");
    assert_eq!(lines[6], "| plain | 5 | 60.5 ± 0.4 | – |");
    assert!(text.contains("Friedman: χ² = "), "{text}");
    assert!(
        text.contains(
            "ours ahead / within 0.1 points / behind, by graphs: rival 1/0/1, plain 1/0/0, twin 1/1/0."
        ),
        "{text}"
    );
}

#[test]
fn latex_and_csv_survive_names_that_mean_something_to_them() {
    let mut results = results();
    for cell in &mut results.cells {
        cell.dataset.push_str("_1,\"x\" & 10%");
    }
    let table = ResultTable::new(&results, |_, _, _| None, |_, _| false);
    let tex = latex(&table);
    assert!(tex.contains("a\\_1,\"x\" \\& 10\\%"), "{tex}");
    assert!(tex.contains("\\textbf{81.5$\\pm$0.5}"), "{tex}");
    let csv = csv(&table);
    assert!(
        csv.lines().nth(1).unwrap().starts_with("test,gcn,ours,\"a_1,\"\"x\"\" & 10%\",5,81.52"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 9);
}

#[test]
fn the_grid_has_graphs_below_each_other_and_paired_differences() {
    let text = grid_markdown(&results(), Some("plain"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "| graph | seeds | ours | rival | plain | twin | ours − plain | rival − plain | twin − plain |"
    );
    assert_eq!(
        lines[2],
        "| a | 5 | 81.5 ± 0.6 | 70.6 ± 0.4 | 60.5 ± 0.4 | **81.5 ± 0.5** | +21.1 ± 0.4 | +10.1 ± 0.3 | +21.1 ± 0.4 |"
    );
    assert!(lines[3].ends_with("|  |  |  |"), "without its base there is no difference: {}", lines[3]);
    assert!(!grid_markdown(&results(), None).contains('−'));
}
