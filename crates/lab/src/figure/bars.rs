//! Bars in groups, with error bars.

use super::Figure;
use super::axis::{Axis, Scale};
use super::canvas::{Canvas, Stroke};
use super::chart::short;
use super::frame::{Around, Frame, Key, Mark, widest};
use super::palette::Colour;

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// How high.
    pub value: f64,
    /// From where to where; none: not known.
    pub interval: Option<[f64; 2]>,
    /// What somebody else found, drawn as a line across the bar.
    pub reference: Option<f64>,
}

impl Bar {
    /// A value alone.
    pub fn new(value: f64) -> Self {
        Self { value, interval: None, reference: None }
    }

    /// A value with its interval.
    pub fn with_interval(value: f64, low: f64, high: f64) -> Self {
        Self { interval: Some([low, high]), ..Self::new(value) }
    }
}

/// The bars of one colour, one for each group; none where there is no value.
#[derive(Clone, Debug)]
pub struct BarSeries {
    /// What they are of.
    pub name: String,
    /// One for each group.
    pub bars: Vec<Option<Bar>>,
}

/// A chart of bars in groups.
#[derive(Clone, Debug)]
pub struct BarChart {
    title: String,
    size: [f64; 2],
    y: Axis,
    groups: Vec<String>,
    series: Vec<BarSeries>,
}

impl BarChart {
    /// A chart of these groups.
    pub fn new<N: Into<String>>(title: impl Into<String>, groups: impl IntoIterator<Item = N>) -> Self {
        let groups = groups.into_iter().map(Into::into).collect();
        Self { title: title.into(), size: [460.0, 300.0], y: Axis::default(), groups, series: Vec::new() }
    }

    /// The same with this beside it. Bars begin at 0 unless it has a range.
    #[must_use]
    pub fn y(self, y: Axis) -> Self {
        Self { y, ..self }
    }

    /// The same with bars of one more colour, one for each group.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<String>,
        bars: impl IntoIterator<Item = impl Into<Option<Bar>>>,
    ) -> Self {
        let bars = bars.into_iter().map(Into::into).collect();
        self.series.push(BarSeries { name: name.into(), bars });
        self
    }

    /// The same in another size.
    #[must_use]
    pub fn sized(self, width: f64, height: f64) -> Self {
        Self { size: [width, height], ..self }
    }
}

impl Figure for BarChart {
    fn size(&self) -> [f64; 2] {
        self.size
    }

    fn description(&self) -> String {
        let names: Vec<&str> = self.series.iter().map(|series| &series.name[..]).collect();
        format!("{}: {} of {} for {}", self.title, self.y.label, names.join(", "), self.groups.join(", "))
    }

    fn keys(&self) -> Vec<Key> {
        let key = |(place, series): (usize, &BarSeries)| {
            let (name, colour) = (series.name.clone(), Colour::Kind(place));
            Key { name, colour, mark: Mark::Box, dashes: "" }
        };
        self.series.iter().enumerate().map(key).collect()
    }

    fn draw(&self, canvas: &mut Canvas) {
        let bars = || self.series.iter().flat_map(|series| series.bars.iter().flatten());
        let values = bars().flat_map(|bar| [Some(bar.value), bar.reference].into_iter().flatten());
        let values = values.chain(bars().filter_map(|bar| bar.interval).flatten()).chain([0.0]);
        let y = self.y.scale(values, [1.0, 0.0], true);
        let names = self.groups.iter().enumerate().map(|(place, name)| (place as f64 + 0.5, name.clone()));
        let x_axis = Axis::new("").range(0.0, self.groups.len().max(1) as f64).named(names);
        let keys = if self.series.len() > 1 { self.keys() } else { Vec::new() };
        let around = Around {
            size: self.size,
            title: &self.title,
            keys: &keys,
            x: &x_axis,
            y: &self.y,
            left: widest(&self.y.ticks(&y)),
        };
        let frame = Frame::new(canvas, &around);
        let y = Scale { pixels: frame.y_pixels(), ..y };
        let x = x_axis.scale(std::iter::empty(), frame.x_pixels(), false);
        frame.draw_y(canvas, &self.y, &y, true);
        frame.draw_x(canvas, &x_axis, &x, self.size[1], false);
        let zero = y.at(0.0_f64.clamp(y.from, y.to));
        let room = (x.at(1.0) - x.at(0.0)) * 0.8;
        let wide = (room / self.series.len().max(1) as f64).min(56.0);
        for (place, series) in self.series.iter().enumerate() {
            for (group, bar) in series.bars.iter().enumerate().take(self.groups.len()) {
                let Some(bar) = bar.filter(|bar| bar.value.is_finite()) else { continue };
                let shift = (place as f64 - self.series.len() as f64 / 2.0) * wide;
                let left = x.at(group as f64 + 0.5) + shift;
                let top = y.at(bar.value.clamp(y.from, y.to));
                let interval = bar
                    .interval
                    .map_or_else(String::new, |[a, b]| format!(" ({} to {})", short(a), short(b)));
                let told = format!("{}, {}: {}{interval}", series.name, self.groups[group], short(bar.value));
                let size = [(wide - 2.0).max(1.0), (zero - top).abs()];
                canvas.rectangle([left + 1.0, top.min(zero)], size, Colour::Kind(place), 0.85, Some(&told));
                let middle = left + wide / 2.0;
                let stroke = Stroke::new(Colour::Text, 1.2);
                if let Some([low, high]) = bar.interval {
                    let [low, high] = [low, high].map(|value| y.at(value.clamp(y.from, y.to)));
                    let cap = (wide / 5.0).min(4.0);
                    canvas.line([middle, low], [middle, high], stroke);
                    canvas.line([middle - cap, low], [middle + cap, low], stroke);
                    canvas.line([middle - cap, high], [middle + cap, high], stroke);
                }
                if let Some(reference) = bar.reference.filter(|value| (y.from..=y.to).contains(value)) {
                    let at = y.at(reference);
                    canvas.line([left + 1.0, at], [left + wide - 1.0, at], stroke.dashes("3 2"));
                }
            }
        }
        canvas.line([frame.left, zero], [frame.right, zero], Stroke::new(Colour::Faint, 1.0));
    }
}
