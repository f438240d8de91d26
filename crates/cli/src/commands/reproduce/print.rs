//! Tables as a terminal shows them.

use anyhow::Result;
use edgepace_lab::tables::{ResultTable, TableCell, cell_text, mark, number};

use super::Outcome;
use crate::table::{Align, Table, say};

/// A line for each cell: ours, the paper's, the difference and the mark.
pub(super) fn table(table: &ResultTable) -> Result<()> {
    say(&format!("{}: {}", table.name, table.about))?;
    let (left, right) = (Align::Left, Align::Right);
    let mut lines = Table::new(&[
        ("backbone", left),
        ("dataset", left),
        ("method", left),
        ("seeds", right),
        ("ours", right),
        ("", left),
        ("paper", right),
        ("difference", right),
    ]);
    let mut any = false;
    for backbone in &table.backbones {
        for dataset in &table.datasets {
            for method in &table.methods {
                let Some(cell) = table.cell(backbone, method, dataset).filter(|cell| cell.n > 0) else {
                    continue;
                };
                any = true;
                lines.row(line(table, cell));
            }
        }
    }
    if any {
        say(&lines.to_string())?;
        say("* ** ***: ahead of the best of the others, paired t test, p < 0.05, 0.01, 0.001 (Holm)\n")?;
    } else {
        say("nothing measured\n")?;
    }
    Ok(())
}

fn line(table: &ResultTable, cell: &TableCell) -> [String; 8] {
    let show = |value: Option<f64>| value.map_or_else(String::new, |value| number(table.measure, value));
    [
        cell.backbone.clone(),
        cell.dataset.clone(),
        cell.method.clone(),
        cell.n.to_string(),
        cell_text(table.measure, cell),
        mark(table.measure, cell).to_owned(),
        show(cell.paper),
        cell.difference.map_or_else(String::new, |difference| format!("{difference:+.1}")),
    ]
}

/// How many cells of the paper are met.
pub(super) fn sums(outcomes: &[Outcome]) -> Result<()> {
    let mut lines = Table::new(&[
        ("experiment", Align::Left),
        ("cells of the paper measured", Align::Right),
        ("met", Align::Right),
    ]);
    let mut sum = [0, 0];
    for outcome in outcomes {
        let (known, met) = outcome.table.met();
        sum = [sum[0] + known, sum[1] + met];
        lines.row([outcome.reproduction.name.to_owned(), known.to_string(), met.to_string()]);
    }
    if sum[0] == 0 {
        return Ok(());
    }
    if outcomes.len() > 1 {
        lines.row(["all".to_owned(), sum[0].to_string(), sum[1].to_string()]);
    }
    say(&lines.to_string())?;
    say(
        "Met: our mean is at least the paper's less its standard deviation; for seconds, at most the paper's.",
    )?;
    Ok(())
}
