//! A table as Markdown: one for each backbone, methods below each other.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::collect::Measure;
use super::compare::{ResultTable, TableCell};
use super::text::{cell_text, mark, number};

/// Differences of means within this many points are a tie.
const TIE: f64 = 0.1;

/// The tables of all backbones, with ranks, wins and what is missing. `ours` is the row that wins are counted of.
pub fn markdown(table: &ResultTable, ours: Option<&str>) -> String {
    let mut text = String::new();
    for backbone in &table.backbones {
        one(&mut text, table, backbone);
        ranks(&mut text, table, backbone, ours);
    }
    missing(&mut text, table);
    text
}

fn one(text: &mut String, table: &ResultTable, backbone: &str) {
    let has = |dataset: &&String| {
        table
            .methods
            .iter()
            .any(|method| table.cell(backbone, method, dataset).is_some_and(|cell| cell.n > 0))
    };
    let datasets: Vec<&String> = table.datasets.iter().filter(has).collect();
    if datasets.is_empty() {
        return;
    }
    let names = datasets.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(" | ");
    let _ = writeln!(text, "### {}\n", backbone_name(backbone));
    let _ = writeln!(text, "| method | seeds | {names} |");
    let _ = writeln!(text, "| --- | ---: |{}", " ---: |".repeat(datasets.len()));
    for method in &table.methods {
        let cells: Vec<Option<&TableCell>> =
            datasets.iter().map(|dataset| table.cell(backbone, method, dataset)).collect();
        if cells.iter().flatten().all(|cell| cell.n == 0) {
            continue;
        }
        let shown: Vec<String> = cells
            .iter()
            .map(|cell| cell.map_or_else(String::new, |cell| shown(table.measure, cell)))
            .collect();
        let _ = writeln!(text, "| {} | {} | {} |", escaped(method), seeds(&cells), shown.join(" | "));
    }
    text.push('\n');
}

/// `10`, or `1, 3` where cells differ.
fn seeds(cells: &[Option<&TableCell>]) -> String {
    let counts: BTreeSet<usize> = cells.iter().flatten().map(|cell| cell.n).filter(|&n| n > 0).collect();
    counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn shown(measure: Measure, cell: &TableCell) -> String {
    let ours = cell_text(measure, cell);
    let ours = match cell.rank {
        _ if ours.is_empty() => "–".to_owned(),
        Some(1) => format!("**{ours}**"),
        Some(2) => format!("_{ours}_"),
        _ => ours,
    };
    let stars = mark(measure, cell).replace('*', "\\*");
    let paper = cell.paper.map_or_else(String::new, |paper| format!(" ({})", number(measure, paper)));
    format!("{ours}{stars}{paper}")
}

fn ranks(text: &mut String, table: &ResultTable, backbone: &str, ours: Option<&str>) {
    let Some((methods, found)) = table.ranks(backbone) else { return };
    if methods.len() < 3 {
        return;
    }
    let mut order: Vec<(f64, &str)> = found.ranks.iter().copied().zip(methods.iter().copied()).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let list: Vec<String> =
        order.iter().map(|(rank, method)| format!("{} {rank:.1}", escaped(method))).collect();
    let p = if found.p_value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {:.3}", found.p_value) };
    let _ = writeln!(
        text,
        "Mean ranks over graphs: {}. Friedman: χ² = {:.1}, {p}; critical difference {:.1} (Nemenyi, 5 %).\n",
        list.join(", "),
        found.statistic,
        found.critical_difference
    );
    let Some(ours) = ours.filter(|ours| table.methods.iter().any(|method| method == ours)) else { return };
    let against: Vec<String> = table
        .methods
        .iter()
        .filter(|method| *method != ours)
        .map(|method| (method, table.wins(backbone, ours, method, TIE)))
        .filter(|(_, count)| count.wins + count.ties + count.losses > 0)
        .map(|(method, count)| format!("{} {}/{}/{}", escaped(method), count.wins, count.ties, count.losses))
        .collect();
    if table.measure.higher_is_better() && !against.is_empty() {
        let _ = writeln!(
            text,
            "{} ahead / within {TIE} points / behind, by graphs: {}.\n",
            escaped(ours),
            against.join(", ")
        );
    }
}

/// What is missing and why, cells of one reason together.
fn missing(text: &mut String, table: &ResultTable) {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for cell in &table.cells {
        let Some(reason) = &cell.missing else { continue };
        let name = format!("{} with {} on {}", cell.method, cell.backbone, cell.dataset);
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, cells)) => cells.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    if reasons.is_empty() {
        return;
    }
    let _ = writeln!(text, "Not measured:\n");
    for (reason, cells) in reasons {
        let few = cells.len().min(3);
        let more = if cells.len() > few { format!(" and {} more", cells.len() - few) } else { String::new() };
        let _ = writeln!(text, "- {}{more}: {}", escaped(&cells[..few].join(", ")), escaped(reason));
    }
    text.push('\n');
}

/// What a reader of tables calls a backbone.
pub(crate) fn backbone_name(backbone: &str) -> &str {
    match backbone {
        "gcn" => "GCN",
        "gin" => "GIN",
        "sage" => "GraphSAGE",
        "pna" => "PNA",
        "mlp" => "MLP",
        other => other,
    }
}

/// Names from files cannot break the table.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
