//! A table of counts as shades: a confusion matrix.

use super::Figure;
use super::axis::Axis;
use super::canvas::{Anchor, Canvas, LABEL, TICK};
use super::frame::{Around, Frame};
use super::palette::Colour;
use super::text::{number, shortened, width};

/// A table of counts as shades. Each is as dark as its share of its line.
#[derive(Clone, Debug)]
pub struct HeatMap {
    title: String,
    wide: f64,
    rows: Vec<String>,
    columns: Vec<String>,
    /// Line by line.
    counts: Vec<f64>,
    labels: [String; 2],
}

impl HeatMap {
    /// A table with names of lines and columns, and its counts, line by line; missing ones are 0.
    pub fn new(
        title: impl Into<String>,
        rows: Vec<String>,
        columns: Vec<String>,
        mut counts: Vec<f64>,
    ) -> Self {
        counts.resize(rows.len() * columns.len(), 0.0);
        Self {
            title: title.into(),
            wide: 460.0,
            rows,
            columns,
            counts,
            labels: [String::new(), String::new()],
        }
    }

    /// A confusion matrix: for each true class, a line, how many nodes were predicted to be of each class.
    pub fn confusion(title: impl Into<String>, classes: &[String], counts: Vec<f64>) -> Self {
        let own = Self::new(title, classes.to_vec(), classes.to_vec(), counts);
        Self { labels: ["predicted class".to_owned(), "true class".to_owned()], ..own }
    }

    /// The same with words below and beside it.
    #[must_use]
    pub fn labelled(self, below: impl Into<String>, beside: impl Into<String>) -> Self {
        Self { labels: [below.into(), beside.into()], ..self }
    }

    /// The same in another width; the height follows the number of lines.
    #[must_use]
    pub fn wide(self, wide: f64) -> Self {
        Self { wide, ..self }
    }

    fn left(&self) -> f64 {
        let widest = self.rows.iter().map(|name| width(name, LABEL)).fold(0.0, f64::max);
        widest.min(self.wide * 0.28)
    }

    fn cell(&self) -> f64 {
        let beside = if self.labels[1].is_empty() { 0.0 } else { LABEL + 11.0 };
        let room = self.wide - self.left() - beside - 31.0;
        (room / self.columns.len().max(1) as f64).max(3.0)
    }

    fn cell_height(&self) -> f64 {
        self.cell().min(38.0)
    }

    /// Whether the names of columns have to stand upright.
    fn upright(&self) -> bool {
        self.columns.iter().any(|name| width(name, TICK) > self.cell() - 4.0)
    }

    fn below(&self) -> f64 {
        let widest = self.columns.iter().map(|name| width(name, TICK)).fold(0.0, f64::max);
        if self.upright() { widest.min(90.0) } else { 0.0 }
    }
}

impl Figure for HeatMap {
    fn size(&self) -> [f64; 2] {
        let title = if self.title.is_empty() { 0.0 } else { 23.0 };
        let label = if self.labels[0].is_empty() { 0.0 } else { LABEL + 6.0 };
        [self.wide, 45.0 + title + label + self.below() + self.rows.len() as f64 * self.cell_height()]
    }

    fn description(&self) -> String {
        format!("{}: {} by {}", self.title, self.labels[1], self.labels[0])
    }

    fn draw(&self, canvas: &mut Canvas) {
        let size = self.size();
        let y_axis = Axis::new(self.labels[1].clone());
        let x_axis = Axis::new(self.labels[0].clone());
        let around =
            Around { size, title: &self.title, keys: &[], x: &x_axis, y: &y_axis, left: self.left() };
        let frame = Frame::new(canvas, &around);
        let (wide, high) = (self.cell(), self.cell_height());
        let columns = self.columns.len();
        for (row, name) in self.rows.iter().enumerate() {
            let counts = &self.counts[row * columns..][..columns];
            let all: f64 = counts.iter().sum();
            let top = frame.top + row as f64 * high;
            let place = [frame.left - 7.0, top + high / 2.0 + LABEL * 0.35];
            let name = shortened(name, LABEL, self.left() + 1.0);
            canvas.text(place, &name, LABEL, (Colour::Faint, Anchor::End, false));
            for (column, &count) in counts.iter().enumerate() {
                let share = if all > 0.0 { count / all } else { 0.0 };
                let left = frame.left + column as f64 * wide;
                let told = format!(
                    "{} → {}: {} ({} %)",
                    self.rows[row],
                    self.columns[column],
                    number(count, 0),
                    number(100.0 * share, 1)
                );
                let opacity = 0.04 + 0.96 * share;
                let size = [wide - 1.0, high - 1.0];
                canvas.rectangle([left, top], size, Colour::Kind(0), opacity, Some(&told));
                let text = number(count, 0);
                if width(&text, TICK) <= wide - 3.0 && high >= TICK + 3.0 && count > 0.0 {
                    let colour = if share > 0.55 { Colour::Paper } else { Colour::Text };
                    let place = [left + (wide - 1.0) / 2.0, top + high / 2.0 + TICK * 0.35];
                    canvas.text(place, &text, TICK, (colour, Anchor::Middle, false));
                }
            }
        }
        let bottom = frame.top + self.rows.len() as f64 * high;
        for (column, name) in self.columns.iter().enumerate() {
            let middle = frame.left + (column as f64 + 0.5) * wide - 0.5;
            if self.upright() {
                if wide < TICK && columns > 12 {
                    continue;
                }
                let name = shortened(name, TICK, 90.0);
                canvas.text(
                    [middle + TICK * 0.35, bottom + 6.0],
                    &name,
                    TICK,
                    (Colour::Faint, Anchor::End, true),
                );
            } else {
                canvas.text(
                    [middle, bottom + TICK + 5.0],
                    name,
                    TICK,
                    (Colour::Faint, Anchor::Middle, false),
                );
            }
        }
        let middle = [(frame.left + frame.right) / 2.0, size[1] - 8.0];
        canvas.text(middle, &self.labels[0], LABEL, (Colour::Faint, Anchor::Middle, false));
        if !self.labels[1].is_empty() {
            let middle = [8.0 + LABEL, (frame.top + bottom) / 2.0];
            canvas.text(middle, &self.labels[1], LABEL, (Colour::Faint, Anchor::Middle, true));
        }
    }
}
