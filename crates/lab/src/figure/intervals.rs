//! Means with their intervals, one line each: where bars from 0 would hide what differs.

use super::Figure;
use super::axis::{Axis, Scale};
use super::canvas::{Anchor, Canvas, LABEL, Stroke};
use super::chart::short;
use super::frame::{Around, Frame};
use super::palette::Colour;
use super::text::{shortened, width};

/// One line of an [`IntervalChart`].
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Whose it is.
    pub name: String,
    /// The mean.
    pub value: f64,
    /// From where to where; none: not known.
    pub interval: Option<[f64; 2]>,
    /// The single values.
    pub points: Vec<f64>,
    /// What somebody else found, drawn as an empty mark.
    pub reference: Option<f64>,
    /// Which of the colours.
    pub kind: usize,
}

impl Interval {
    /// A value with its interval.
    pub fn new(name: impl Into<String>, value: f64, interval: Option<[f64; 2]>) -> Self {
        Self { name: name.into(), value, interval, points: Vec::new(), reference: None, kind: 0 }
    }
}

/// Means with their intervals, one line each.
#[derive(Clone, Debug)]
pub struct IntervalChart {
    title: String,
    width: f64,
    x: Axis,
    rows: Vec<Interval>,
}

const ROW: f64 = 24.0;

impl IntervalChart {
    /// A chart of these, the first at the top.
    pub fn new(title: impl Into<String>, x: Axis, rows: Vec<Interval>) -> Self {
        Self { title: title.into(), width: 460.0, x, rows }
    }

    /// The same in another width; the height follows the number of lines.
    #[must_use]
    pub fn wide(self, width: f64) -> Self {
        Self { width, ..self }
    }
}

impl Figure for IntervalChart {
    fn size(&self) -> [f64; 2] {
        let title = if self.title.is_empty() { 0.0 } else { 23.0 };
        let label = if self.x.label.is_empty() { 0.0 } else { 18.0 };
        [self.width, 44.0 + title + label + ROW * self.rows.len() as f64]
    }

    fn description(&self) -> String {
        let names: Vec<&str> = self.rows.iter().map(|row| &row.name[..]).collect();
        format!("{}: {} of {}", self.title, self.x.label, names.join(", "))
    }

    fn draw(&self, canvas: &mut Canvas) {
        let most = self.width * 0.42;
        let left = self.rows.iter().map(|row| width(&row.name, LABEL)).fold(0.0, f64::max).min(most);
        let none = Axis::default();
        let size = self.size();
        let around = Around { size, title: &self.title, keys: &[], x: &self.x, y: &none, left };
        let frame = Frame::new(canvas, &around);
        let values = self.rows.iter().flat_map(|row| {
            let more = row.interval.into_iter().flatten().chain(row.reference);
            std::iter::once(row.value).chain(row.points.iter().copied()).chain(more)
        });
        let x = self.x.scale(values, [0.0, 1.0], true);
        let x = Scale { pixels: frame.x_pixels(), ..x };
        frame.draw_x(canvas, &self.x, &x, size[1], true);
        let room = (frame.bottom - frame.top) / self.rows.len().max(1) as f64;
        for (place, row) in self.rows.iter().enumerate() {
            let y = frame.top + room * (place as f64 + 0.5);
            let name = shortened(&row.name, LABEL, left + 1.0);
            canvas.text(
                [frame.left - 8.0, y + LABEL * 0.35],
                &name,
                LABEL,
                (Colour::Text, Anchor::End, false),
            );
            let colour = Colour::Kind(row.kind);
            for &point in &row.points {
                canvas.circle([x.at(point), y], 2.2, colour, 0.35, None);
            }
            if let Some([low, high]) = row.interval {
                let stroke = Stroke::new(colour, 2.0);
                canvas.line([x.at(low), y], [x.at(high), y], stroke);
                for end in [low, high] {
                    canvas.line([x.at(end), y - 4.0], [x.at(end), y + 4.0], stroke);
                }
            }
            if let Some(reference) = row.reference {
                let at = x.at(reference);
                let corners = [[at - 5.0, y], [at, y - 5.0], [at + 5.0, y], [at, y + 5.0], [at - 5.0, y]];
                canvas.polyline(&corners, Stroke::new(Colour::Text, 1.2), Some(&short(reference)));
            }
            let interval =
                row.interval.map_or_else(String::new, |[a, b]| format!(" ({} to {})", short(a), short(b)));
            let told = format!("{}: {}{interval}", row.name, short(row.value));
            canvas.circle([x.at(row.value), y], 4.5, colour, 1.0, Some(&told));
        }
        frame.draw_base(canvas);
    }
}
