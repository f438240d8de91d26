//! Aligned tables, and the one way to print.

use std::fmt;
use std::io::Write;

/// Prints lines, which may hold names from files. A reader that has seen enough, as `head`, is an error that ends the program
/// quietly.
pub(crate) fn say(text: &str) -> std::io::Result<()> {
    say_drawn(&shown_lines(text))
}

/// Prints text of our own, colours and all.
pub(crate) fn say_drawn(text: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout().lock(), "{text}")
}

/// On which side of its column a cell stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows under a head, each column as wide as its widest cell.
pub(crate) struct Table {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let head = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        Self { align: columns.iter().map(|(_, align)| *align).collect(), rows: vec![head] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| shown(&cell)).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..self.align.len()).map(|column| width(column).unwrap_or(0)).collect();
        let lines = self.rows.iter().map(|row| {
            let cells = row.iter().zip(&widths).zip(&self.align).map(|((cell, &width), align)| match align {
                Align::Left => format!("{cell:width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        });
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Text from a file as a terminal may show it: control characters, which could move the cursor or hide what follows, are
/// written out.
pub(crate) fn shown(text: &str) -> String {
    let plain =
        |letter: char| if letter.is_control() { letter.escape_debug().collect() } else { letter.to_string() };
    text.chars().map(plain).collect()
}

/// The same for several lines.
pub(crate) fn shown_lines(text: &str) -> String {
    text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

/// A count with blanks between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&[("name", Align::Left), ("n", Align::Right)]);
        table.row(["é".into(), count(1_234_567)]);
        assert_eq!(table.to_string(), "name          n\né     1 234 567");
    }

    #[test]
    fn what_would_move_the_cursor_is_written_out() {
        assert_eq!(shown("a\u{1b}[2Jb\né"), "a\\u{1b}[2Jb\\né");
    }
}
