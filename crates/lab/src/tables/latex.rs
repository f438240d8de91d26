//! A table as LaTeX: one `tabular` for each backbone, without packages.

use std::fmt::Write as _;

use super::collect::Measure;
use super::compare::{ResultTable, TableCell};
use super::markdown::backbone_name;
use super::text::{mark, number};

/// The tables of all backbones. The best is bold, the second underlined; the paper's figure stands in brackets.
pub fn latex(table: &ResultTable) -> String {
    let mut text = format!("% {}: {}\n", escaped(&table.name), escaped(&table.about));
    for backbone in &table.backbones {
        let has = |dataset: &&String| {
            let of = |method: &String| table.cell(backbone, method, dataset).is_some_and(|cell| cell.n > 0);
            table.methods.iter().any(of)
        };
        let datasets: Vec<&String> = table.datasets.iter().filter(has).collect();
        if datasets.is_empty() {
            continue;
        }
        let names: Vec<String> = datasets.iter().map(|name| escaped(name)).collect();
        let _ = writeln!(text, "\\begin{{tabular}}{{l|{}}}\n\\hline", "c".repeat(datasets.len()));
        let _ = writeln!(text, "{} & {} \\\\ \\hline", backbone_name(backbone), names.join(" & "));
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
            let _ = writeln!(text, "{} & {} \\\\", escaped(method), shown.join(" & "));
        }
        let _ = writeln!(text, "\\hline\n\\end{{tabular}}\n");
    }
    text
}

fn shown(measure: Measure, cell: &TableCell) -> String {
    let Some(mean) = cell.mean else { return "--".to_owned() };
    let sd = cell.sd.map_or_else(String::new, |sd| format!("$\\pm${}", number(measure, sd)));
    let ours = format!("{}{sd}", number(measure, mean));
    let ours = match cell.rank {
        Some(1) => format!("\\textbf{{{ours}}}"),
        Some(2) => format!("\\underline{{{ours}}}"),
        _ => ours,
    };
    let stars = match mark(measure, cell) {
        "" => String::new(),
        stars => format!("$^{{{stars}}}$"),
    };
    let paper = cell.paper.map_or_else(String::new, |paper| format!(" ({})", number(measure, paper)));
    format!("{ours}{stars}{paper}")
}

/// Text with what means something to LaTeX written out.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(letter);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            'ψ' => out.push_str("$\\psi$"),
            'ρ' => out.push_str("$\\rho$"),
            _ => out.push(letter),
        }
    }
    out
}
