//! Any experiment as one Markdown table: graphs below each other, methods beside each other.

use std::fmt::Write as _;

use super::collect::Results;
use super::compare::{ResultTable, TableCell};
use super::markdown::{backbone_name, escaped};
use super::text::{cell_text, number};
use crate::statistics::Summary;

/// Graphs and backbones as rows, methods as columns: mean ± standard deviation, the best of a row bold; then for each other method
/// the paired difference to `against`, if the experiment has it.
pub fn grid_markdown(results: &Results, against: Option<&str>) -> String {
    let table = ResultTable::new(results, |_, _, _| None, |_, _| false);
    let against = against.filter(|name| table.methods.iter().any(|method| method == name));
    let mut text = String::new();
    let mut head: Vec<String> = vec!["graph".into(), "seeds".into()];
    head.extend(table.methods.iter().map(|method| escaped(method)));
    let others: Vec<&String> = match against {
        Some(base) => table.methods.iter().filter(|method| *method != base).collect(),
        None => Vec::new(),
    };
    head.extend(
        others.iter().map(|method| format!("{} − {}", escaped(method), escaped(against.unwrap_or("")))),
    );
    let _ = writeln!(text, "| {} |\n| --- |{}", head.join(" | "), " ---: |".repeat(head.len() - 1));
    for dataset in &table.datasets {
        for backbone in &table.backbones {
            let cells: Vec<Option<&TableCell>> =
                table.methods.iter().map(|method| table.cell(backbone, method, dataset)).collect();
            if cells.iter().flatten().all(|cell| cell.n == 0) {
                continue;
            }
            let name = if table.backbones.len() > 1 {
                format!("{}, {}", escaped(dataset), backbone_name(backbone))
            } else {
                escaped(dataset)
            };
            let mut counts: Vec<usize> =
                cells.iter().flatten().map(|cell| cell.n).filter(|&n| n > 0).collect();
            counts.sort_unstable();
            counts.dedup();
            let seeds = counts.iter().map(ToString::to_string).collect::<Vec<_>>().join("/");
            let mut row = vec![name, seeds];
            row.extend(cells.iter().map(|cell| {
                let Some(cell) = cell else { return String::new() };
                let shown = cell_text(table.measure, cell);
                if cell.rank == Some(1) { format!("**{shown}**") } else { shown }
            }));
            row.extend(others.iter().map(|method| {
                difference(&table, backbone, method, against.unwrap_or(""), dataset).unwrap_or_default()
            }));
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
    }
    text
}

/// The paired difference of two methods over the seeds that both have.
fn difference(
    table: &ResultTable,
    backbone: &str,
    method: &str,
    base: &str,
    dataset: &str,
) -> Option<String> {
    let (ours, theirs) = (table.result(backbone, method, dataset)?, table.result(backbone, base, dataset)?);
    let paired: Vec<f64> = ours
        .runs
        .iter()
        .filter_map(|run| Some(run.value - theirs.runs.iter().find(|twin| twin.seed == run.seed)?.value))
        .collect();
    let summary = Summary::of(&paired)?;
    let sd = summary.sd.map_or_else(String::new, |sd| format!(" ± {}", number(table.measure, sd)));
    let sign = if summary.mean >= 0.0 { "+" } else { "" };
    Some(format!("{sign}{}{sd}", number(table.measure, summary.mean)))
}
