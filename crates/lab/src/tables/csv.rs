//! A table as CSV, one line per cell.

use super::compare::{ResultTable, TableCell};

const HEAD: &str = "table,backbone,method,dataset,n,mean,sd,half_interval,paper,paper_sd,difference,met,p_value,\
                    p_unadjusted,against,ahead,missing";

/// All cells, with what is not known left empty.
pub fn csv(table: &ResultTable) -> String {
    let mut lines = vec![HEAD.to_owned()];
    lines.extend(table.cells.iter().map(line));
    lines.join("\n") + "\n"
}

fn line(cell: &TableCell) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
    let text = |value: &str| {
        if value.contains(['"', ',', '\n']) {
            format!("\"{}\"", value.replace('"', "\"\""))
        } else {
            value.to_owned()
        }
    };
    [
        text(&cell.table),
        text(&cell.backbone),
        text(&cell.method),
        text(&cell.dataset),
        cell.n.to_string(),
        number(cell.mean),
        number(cell.sd),
        number(cell.half_interval),
        number(cell.paper),
        number(cell.paper_sd),
        number(cell.difference),
        cell.met.map_or_else(String::new, |met| met.to_string()),
        cell.p_value.map_or_else(String::new, |p| format!("{p:.6e}")),
        cell.p_unadjusted.map_or_else(String::new, |p| format!("{p:.6e}")),
        text(cell.against.as_deref().unwrap_or("")),
        number(cell.ahead),
        text(cell.missing.as_deref().unwrap_or("")),
    ]
    .join(",")
}
