//! One page over all experiments: what is met, and where not.

use std::fmt::Write as _;

use super::page::legend;
use super::{REPRODUCTIONS, find_reproduction};
use crate::tables::{Measure, ResultTable, TableCell, is_met, markdown, number};

/// The page, as Markdown. `pages` says where the page of an experiment is, from this one.
pub fn overview(tables: &[ResultTable], command: &str, pages: impl Fn(&str) -> String) -> String {
    let mut text = format!(
        "# The paper, cell by cell\n\n```console slow\n$ {command}\n```\n\n\
         Every figure that the paper gives, beside ours. Scores: a cell is met when our mean over seeds is at least the \
         paper's mean less its standard deviation (less nothing where the paper gives none). Seconds: when ours is at most the \
         paper's. A method to compare with that is met is as strong here as in the paper. The last column counts the cells of \
         RCL that `--method auto` meets in its place, which is not of the paper.\n\n"
    );
    summary(&mut text, tables, &pages);
    for reproduction in REPRODUCTIONS {
        if let Some(table) = tables.iter().find(|table| table.name == reproduction.name) {
            section(&mut text, table, reproduction.what, reproduction.ours, &pages(reproduction.name));
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn counts<'a>(cells: impl Iterator<Item = &'a TableCell>) -> [usize; 3] {
    cells.filter(|cell| cell.paper.is_some()).fold([0; 3], |[all, run, met], cell| {
        [all + 1, run + usize::from(cell.mean.is_some()), met + usize::from(cell.met == Some(true))]
    })
}

fn summary(text: &mut String, tables: &[ResultTable], pages: &impl Fn(&str) -> String) {
    let _ = writeln!(
        text,
        "| experiment | cells of the paper | measured | met | of these RCL | RCL met | Auto meets |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    let mut sums = [0; 6];
    for reproduction in REPRODUCTIONS {
        let Some(table) = tables.iter().find(|table| table.name == reproduction.name) else { continue };
        let [all, run, met] = counts(table.cells.iter());
        let [_, own, own_met] = counts(table.cells.iter().filter(|cell| cell.method == reproduction.ours));
        let auto = met_by(table, "Auto", reproduction.ours);
        sums.iter_mut().zip([all, run, met, own, own_met, auto]).for_each(|(sum, count)| *sum += count);
        let _ = writeln!(
            text,
            "| [{}]({}): {} | {all} | {run} | {met} | {own} | {own_met} | {auto} |",
            reproduction.name,
            pages(reproduction.name),
            reproduction.what
        );
    }
    let [all, run, met, own, own_met, auto] = sums;
    let _ = writeln!(text, "| all | {all} | {run} | {met} | {own} | {own_met} | {auto} |\n");
}

/// How many cells that the paper gives for one row another row of ours meets; of scores alone.
fn met_by(table: &ResultTable, row: &str, paper_row: &str) -> usize {
    if table.measure == Measure::Seconds {
        return 0;
    }
    let meets = |cell: &&TableCell| {
        let same = |other: &&TableCell| {
            other.method == row && other.backbone == cell.backbone && other.dataset == cell.dataset
        };
        let reached = table.cells.iter().find(same).and_then(|other| other.mean);
        cell.paper
            .zip(reached)
            .is_some_and(|(paper, reached)| is_met(table.measure, reached, (paper, cell.paper_sd)))
    };
    table.cells.iter().filter(|cell| cell.method == paper_row).filter(meets).count()
}

fn section(text: &mut String, table: &ResultTable, what: &str, ours: &str, page: &str) {
    let _ = writeln!(text, "## {}\n\n{what}; [page with figures]({page}).\n", table.name);
    unmet(text, table, ours);
    text.push_str(&legend(table).replace("\n\n", "\n"));
    text.push('\n');
    // Headings of backbones go below that of the experiment.
    text.push_str(&markdown(
        table,
        find_reproduction(&table.name).map(|found| found.ours).filter(|ours| !ours.is_empty()),
    ));
}

/// Cells of our own row that are not met, with what the best row reaches there; the others are counted.
fn unmet(text: &mut String, table: &ResultTable, ours: &str) {
    let missed = |cell: &&TableCell| cell.met == Some(false);
    let own: Vec<&TableCell> = table.cells.iter().filter(missed).filter(|cell| cell.method == ours).collect();
    if !own.is_empty() {
        let _ = writeln!(
            text,
            "Not met by {ours}:\n\n| backbone | dataset | ours | paper | difference | best row here |\n| --- | --- | ---: | ---: | ---: | --- |"
        );
        for cell in own {
            let show =
                |value: Option<f64>| value.map_or_else(String::new, |value| number(table.measure, value));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                cell.backbone,
                cell.dataset,
                show(cell.mean),
                show(cell.paper),
                cell.difference.map_or_else(String::new, |difference| format!("{difference:+.1}")),
                best(table, cell).unwrap_or_default()
            );
        }
        text.push('\n');
    }
    let others: Vec<&TableCell> =
        table.cells.iter().filter(missed).filter(|cell| cell.method != ours).collect();
    if !others.is_empty() {
        let list: Vec<String> = others
            .iter()
            .map(|cell| {
                let difference = cell.difference.unwrap_or_default();
                let shown = if table.measure == Measure::Seconds {
                    format!("{difference:+.1} s")
                } else {
                    format!("{difference:+.1}")
                };
                format!("{} {} {} {shown}", cell.method, cell.backbone, cell.dataset)
            })
            .collect();
        let _ = writeln!(text, "Other rows below the paper: {}.\n", list.join("; "));
    }
}

/// The best row of a cell's column, with its figure.
fn best(table: &ResultTable, cell: &TableCell) -> Option<String> {
    let best = table.cells.iter().find(|other| {
        other.backbone == cell.backbone && other.dataset == cell.dataset && other.rank == Some(1)
    })?;
    Some(format!("{} {}", best.method, number(table.measure, best.mean?)))
}
