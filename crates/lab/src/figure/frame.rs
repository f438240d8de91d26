//! What is around the data of a chart: title, key, grid, axes.

use super::axis::{Axis, Scale};
use super::canvas::{Anchor, Canvas, LABEL, Stroke, TICK, TITLE};
use super::palette::Colour;
use super::text::{shortened, width};

/// How a kind of data is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line from point to point.
    Line,
    /// A line with its points.
    LineAndPoints,
    /// A value that stays until the next one.
    Step,
    /// A line with what is below it filled.
    Area,
    /// Points alone.
    Points,
    /// Something filled.
    Box,
}

/// What a colour means.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The name of what has it.
    pub name: String,
    /// The colour.
    pub colour: Colour,
    /// How it is drawn.
    pub mark: Mark,
    /// As [`Stroke::dashes`].
    pub dashes: &'static str,
}

const KEY_MARK: f64 = 18.0;
const KEY_GAP: f64 = 14.0;
const KEY_LINE: f64 = 17.0;
const MARGIN: f64 = 8.0;

/// Draws keys in lines, from a place on and no wider than `room`; returns how high they are.
pub(crate) fn draw_keys(canvas: Option<&mut Canvas>, keys: &[Key], [left, top]: [f64; 2], room: f64) -> f64 {
    let mut at = [0.0, 0.0];
    let mut canvas = canvas;
    for key in keys {
        let name = shortened(&key.name, LABEL, room - KEY_MARK - 4.0);
        let wide = KEY_MARK + 4.0 + width(&name, LABEL);
        if at[0] > 0.0 && at[0] + wide > room {
            at = [0.0, at[1] + KEY_LINE];
        }
        if let Some(canvas) = canvas.as_deref_mut() {
            let [x, y] = [left + at[0], top + at[1] + KEY_LINE / 2.0];
            draw_mark(canvas, key, [x, y]);
            canvas.text(
                [x + KEY_MARK + 4.0, y + LABEL * 0.35],
                &name,
                LABEL,
                (Colour::Text, Anchor::Start, false),
            );
        }
        at[0] += wide + KEY_GAP;
    }
    if keys.is_empty() { 0.0 } else { at[1] + KEY_LINE }
}

fn draw_mark(canvas: &mut Canvas, key: &Key, [x, y]: [f64; 2]) {
    match key.mark {
        Mark::Box => canvas.rectangle([x + 3.0, y - 5.0], [12.0, 10.0], key.colour, 1.0, None),
        Mark::Points => canvas.circle([x + KEY_MARK / 2.0, y], 3.5, key.colour, 1.0, None),
        Mark::Area => {
            canvas.rectangle([x, y], [KEY_MARK, 5.0], key.colour, 0.25, None);
            canvas.line([x, y], [x + KEY_MARK, y], Stroke::new(key.colour, 2.0));
        }
        Mark::Line | Mark::Step | Mark::LineAndPoints => {
            canvas.line([x, y], [x + KEY_MARK, y], Stroke::new(key.colour, 2.0).dashes(key.dashes));
            if key.mark == Mark::LineAndPoints {
                canvas.circle([x + KEY_MARK / 2.0, y], 3.0, key.colour, 1.0, None);
            }
        }
    }
}

/// Where the data goes.
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// What a frame has to show.
pub(crate) struct Around<'a> {
    pub(crate) size: [f64; 2],
    pub(crate) title: &'a str,
    pub(crate) keys: &'a [Key],
    pub(crate) x: &'a Axis,
    pub(crate) y: &'a Axis,
    /// The widest text at the axis on the left.
    pub(crate) left: f64,
}

impl Frame {
    /// Draws title and key, and leaves room for the axes.
    pub(crate) fn new(canvas: &mut Canvas, around: &Around<'_>) -> Self {
        let [width, height] = around.size;
        let room = width - 2.0 * MARGIN;
        let mut top = MARGIN;
        if !around.title.is_empty() {
            let title = shortened(around.title, TITLE, room);
            canvas.text([MARGIN, top + TITLE], &title, TITLE, (Colour::Text, Anchor::Start, false));
            top += TITLE + 9.0;
        }
        top += draw_keys(Some(canvas), around.keys, [MARGIN, top], room);
        let beside = if around.y.label.is_empty() { 0.0 } else { LABEL + 11.0 };
        let below = if around.x.label.is_empty() { 0.0 } else { LABEL + 6.0 };
        Self {
            left: MARGIN + beside + around.left + 7.0,
            right: width - MARGIN - 8.0,
            top: top + 9.0,
            bottom: height - MARGIN - below - TICK - 7.0,
        }
    }

    pub(crate) fn x_pixels(&self) -> [f64; 2] {
        [self.left, self.right]
    }

    pub(crate) fn y_pixels(&self) -> [f64; 2] {
        [self.bottom, self.top]
    }

    /// The lines, numbers and name of the lower axis.
    pub(crate) fn draw_x(&self, canvas: &mut Canvas, axis: &Axis, scale: &Scale, height: f64, grid: bool) {
        let ticks = axis.ticks(scale);
        let mut free = f64::NEG_INFINITY;
        let every = ticks.len() as f64;
        let room = (self.right - self.left) / every.max(1.0);
        for (value, label) in ticks {
            let x = scale.at(value);
            if grid {
                canvas.line([x, self.top], [x, self.bottom], Stroke::new(Colour::Grid, 1.0));
            }
            let label =
                if axis.named.is_empty() { label } else { shortened(&label, TICK, (room - 4.0).max(24.0)) };
            let half = width(&label, TICK) / 2.0;
            // Numbers that would touch the one before are left out.
            if x - half < free && axis.named.is_empty() {
                continue;
            }
            free = x + half + 6.0;
            // What would reach over the margin ends at it.
            let x = x.min(self.right + MARGIN + 6.0 - half);
            canvas.text([x, self.bottom + TICK + 5.0], &label, TICK, (Colour::Faint, Anchor::Middle, false));
        }
        if !axis.label.is_empty() {
            let middle = (self.left + self.right) / 2.0;
            canvas.text(
                [middle, height - MARGIN],
                &axis.label,
                LABEL,
                (Colour::Faint, Anchor::Middle, false),
            );
        }
    }

    /// Those of the left axis.
    pub(crate) fn draw_y(&self, canvas: &mut Canvas, axis: &Axis, scale: &Scale, grid: bool) {
        for (value, label) in axis.ticks(scale) {
            let y = scale.at(value);
            if grid {
                canvas.line([self.left, y], [self.right, y], Stroke::new(Colour::Grid, 1.0));
            }
            let place = [self.left - 7.0, y + TICK * 0.35];
            canvas.text(place, &label, TICK, (Colour::Faint, Anchor::End, false));
        }
        if !axis.label.is_empty() {
            let middle = (self.top + self.bottom) / 2.0;
            let label = shortened(&axis.label, LABEL, self.bottom - self.top + 20.0);
            canvas.text([MARGIN + LABEL, middle], &label, LABEL, (Colour::Faint, Anchor::Middle, true));
        }
    }

    /// The line at the bottom.
    pub(crate) fn draw_base(&self, canvas: &mut Canvas) {
        canvas.line([self.left, self.bottom], [self.right, self.bottom], Stroke::new(Colour::Faint, 1.0));
    }
}

/// The width of the widest text at an axis.
pub(crate) fn widest(ticks: &[(f64, String)]) -> f64 {
    ticks.iter().map(|(_, label)| width(label, TICK)).fold(0.0, f64::max)
}
