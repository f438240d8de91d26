//! Numbers as tables show them.

use super::collect::Measure;
use super::compare::TableCell;

/// A mean with the digits that mean something: one for scores, two or three that count for seconds.
pub fn number(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Seconds if value.abs() < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

/// `mean ± sd`, or the mean alone; nothing without a run.
pub fn cell_text(measure: Measure, cell: &TableCell) -> String {
    let Some(mean) = cell.mean else { return String::new() };
    let sd = cell.sd.map_or_else(String::new, |sd| format!(" ± {}", number(measure, sd)));
    format!("{}{sd}", number(measure, mean))
}

/// Stars of a cell that is ahead of the best of the others: three for p < 0.001, two for 0.01, one for 0.05.
pub fn mark(measure: Measure, cell: &TableCell) -> &'static str {
    let ahead =
        cell.ahead.is_some_and(|ahead| if measure.higher_is_better() { ahead > 0.0 } else { ahead < 0.0 });
    match cell.p_value {
        Some(p) if ahead && p < 0.001 => "***",
        Some(p) if ahead && p < 0.01 => "**",
        Some(p) if ahead && p < 0.05 => "*",
        _ => "",
    }
}
