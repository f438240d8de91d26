//! Charts of values over values: lines with bands, steps, areas, points.

use super::Figure;
use super::axis::{Axis, Scale};
use super::canvas::{Anchor, Canvas, Stroke, TICK};
use super::frame::{Around, Frame, Key, Mark, widest};
use super::palette::Colour;
use super::text::number;

/// Values that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    band: Vec<(f64, f64)>,
    mark: Mark,
    colour: Option<Colour>,
    dashes: &'static str,
}

/// At most so many points say what they are to whoever points at them.
const TOLD: usize = 60;

impl Series {
    /// Points (x, y), drawn in some way. A value that is no number is a gap.
    pub fn new(name: impl Into<String>, mark: Mark, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let (name, points) = (name.into(), points.into_iter().collect());
        Self { name, points, band: Vec::new(), mark, colour: None, dashes: "" }
    }

    /// A line.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Mark::Line, points)
    }

    /// The same with an interval, low and high, around each point.
    #[must_use]
    pub fn band(self, band: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { band: band.into_iter().collect(), ..self }
    }

    /// The same in a colour of one's choice.
    #[must_use]
    pub fn colour(self, colour: Colour) -> Self {
        Self { colour: Some(colour), ..self }
    }

    /// The same in dashes.
    #[must_use]
    pub fn dashed(self) -> Self {
        Self { dashes: "5 4", ..self }
    }

    fn corners(&self) -> Vec<(f64, f64)> {
        if self.mark != Mark::Step {
            return self.points.clone();
        }
        let mut corners: Vec<(f64, f64)> = Vec::with_capacity(2 * self.points.len());
        for &(x, y) in &self.points {
            if let Some(&(_, before)) = corners.last() {
                corners.push((x, before));
            }
            corners.push((x, y));
        }
        corners
    }
}

/// A chart of one or several [`Series`].
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    size: [f64; 2],
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    lines: Vec<(f64, String)>,
    key: bool,
}

impl Chart {
    /// An empty chart; without a title if that is empty.
    pub fn new(title: impl Into<String>) -> Self {
        let (x, y) = (Axis::default(), Axis::default());
        let (series, lines) = (Vec::new(), Vec::new());
        Self { title: title.into(), size: [460.0, 300.0], x, y, series, lines, key: true }
    }

    /// The same with this below it.
    #[must_use]
    pub fn x(self, x: Axis) -> Self {
        Self { x, ..self }
    }

    /// The same with this beside it.
    #[must_use]
    pub fn y(self, y: Axis) -> Self {
        Self { y, ..self }
    }

    /// The same with one more series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The same with a line upwards at some value, and a word at it.
    #[must_use]
    pub fn upright(mut self, at: f64, word: impl Into<String>) -> Self {
        self.lines.push((at, word.into()));
        self
    }

    /// The same in another size.
    #[must_use]
    pub fn sized(self, width: f64, height: f64) -> Self {
        Self { size: [width, height], ..self }
    }

    /// The same without a key, where something else has it.
    #[must_use]
    pub fn without_key(self) -> Self {
        Self { key: false, ..self }
    }

    fn colour_of(&self, place: usize) -> Colour {
        self.series[place].colour.unwrap_or(Colour::Kind(place))
    }

    fn draw_series(&self, canvas: &mut Canvas, place: usize, x: &Scale, y: &Scale) {
        let (series, colour) = (&self.series[place], self.colour_of(place));
        let pixel = |&(a, b): &(f64, f64)| [x.at(a), y.at(b)];
        let corners: Vec<[f64; 2]> = series.corners().iter().map(pixel).collect();
        let whole = |point: &[f64; 2]| point.iter().all(|value| value.is_finite());
        if series.mark == Mark::Area {
            for part in corners.split(|point| !whole(point)).filter(|part| part.len() > 1) {
                let base = y.pixels[0];
                let ends = [[part[part.len() - 1][0], base], [part[0][0], base]];
                let shape: Vec<[f64; 2]> = part.iter().copied().chain(ends).collect();
                canvas.polygon(&shape, colour, 0.22, None);
            }
        }
        if series.mark != Mark::Points {
            let stroke = Stroke::new(colour, 1.8).dashes(self.dashes_of(place));
            canvas.polyline(&corners, stroke, Some(&series.name));
        }
        let pointed = matches!(series.mark, Mark::Points | Mark::LineAndPoints);
        if pointed {
            let opacity = if series.points.len() > 300 { 0.5 } else { 1.0 };
            for (&(a, b), point) in series.points.iter().zip(series.points.iter().map(pixel)) {
                if whole(&point) {
                    let told = format!("{}: {}, {}", series.name, short(a), short(b));
                    let told = Some(&told[..]).filter(|_| series.points.len() <= TOLD);
                    canvas.circle(point, if opacity < 1.0 { 2.0 } else { 3.2 }, colour, opacity, told);
                }
            }
        }
    }

    fn draw_band(&self, canvas: &mut Canvas, place: usize, x: &Scale, y: &Scale) {
        let series = &self.series[place];
        let edges: Vec<[f64; 3]> = series
            .points
            .iter()
            .zip(&series.band)
            .map(|(&(at, _), &(low, high))| [x.at(at), y.at(low), y.at(high)])
            .collect();
        let whole = |edge: &[f64; 3]| edge.iter().all(|value| value.is_finite());
        for part in edges.split(|edge| !whole(edge)).filter(|part| part.len() > 1) {
            let lower = part.iter().map(|&[x, low, _]| [x, low]);
            let upper = part.iter().rev().map(|&[x, _, high]| [x, high]);
            let shape: Vec<[f64; 2]> = lower.chain(upper).collect();
            canvas.polygon(&shape, self.colour_of(place), 0.17, None);
        }
    }

    fn dashes_of(&self, place: usize) -> &'static str {
        let again = place >= Colour::KINDS && self.series[place].colour.is_none();
        if again { "2 3" } else { self.series[place].dashes }
    }
}

/// A number as short as it is clear.
pub(crate) fn short(value: f64) -> String {
    let decimals = match value.abs() {
        size if size == size.trunc() || size >= 1000.0 => 0,
        size if size >= 10.0 => 2,
        _ => 4,
    };
    number(value, decimals)
}

impl Figure for Chart {
    fn size(&self) -> [f64; 2] {
        self.size
    }

    fn description(&self) -> String {
        let names: Vec<&str> = self.series.iter().map(|series| &series.name[..]).collect();
        format!("{}: {} by {}, of {}", self.title, self.y.label, self.x.label, names.join(", "))
    }

    fn keys(&self) -> Vec<Key> {
        let named = |place: &usize| !self.series[*place].name.is_empty();
        let key = |place: usize| {
            let series = &self.series[place];
            let dashes = self.dashes_of(place);
            Key { name: series.name.clone(), colour: self.colour_of(place), mark: series.mark, dashes }
        };
        (0..self.series.len()).filter(named).map(key).collect()
    }

    fn draw(&self, canvas: &mut Canvas) {
        let points = || self.series.iter().flat_map(|series| series.points.iter());
        let bands = || self.series.iter().flat_map(|series| series.band.iter());
        let loose = self.series.iter().all(|series| series.mark == Mark::Points);
        let x = self.x.scale(points().map(|point| point.0), [0.0, 1.0], loose);
        let values = points().map(|point| point.1).chain(bands().flat_map(|&(low, high)| [low, high]));
        let y = self.y.scale(values, [1.0, 0.0], true);
        let keys = if self.key && self.series.len() > 1 { self.keys() } else { Vec::new() };
        let around = Around {
            size: self.size,
            title: &self.title,
            keys: &keys,
            x: &self.x,
            y: &self.y,
            left: widest(&self.y.ticks(&y)),
        };
        let frame = Frame::new(canvas, &around);
        let (x, y) = (Scale { pixels: frame.x_pixels(), ..x }, Scale { pixels: frame.y_pixels(), ..y });
        frame.draw_y(canvas, &self.y, &y, true);
        frame.draw_x(canvas, &self.x, &x, self.size[1], false);
        for (at, word) in &self.lines {
            let at = x.at(*at);
            let stroke = Stroke::new(Colour::Faint, 1.0).dashes("2 3");
            canvas.line([at, frame.top], [at, frame.bottom], stroke);
            let (anchor, shift) = if at > (frame.left + frame.right) / 2.0 {
                (Anchor::End, -4.0)
            } else {
                (Anchor::Start, 4.0)
            };
            canvas.text([at + shift, frame.top + TICK], word, TICK, (Colour::Faint, anchor, false));
        }
        for place in 0..self.series.len() {
            self.draw_band(canvas, place, &x, &y);
        }
        for place in 0..self.series.len() {
            self.draw_series(canvas, place, &x, &y);
        }
        frame.draw_base(canvas);
    }
}
