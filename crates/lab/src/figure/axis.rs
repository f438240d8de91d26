//! Axes: from values to pixels, and numbers where a reader expects them.

use super::text::number;

/// An axis of a chart.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) range: Option<[f64; 2]>,
    pub(crate) logarithmic: bool,
    pub(crate) named: Vec<(f64, String)>,
}

impl Axis {
    /// An axis with this beside it, as `test accuracy / %`.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// The same from one value to another, whatever the data.
    #[must_use]
    pub fn range(self, from: f64, to: f64) -> Self {
        Self { range: Some([from, to]), ..self }
    }

    /// The same in powers of ten. What is not positive is left out.
    #[must_use]
    pub fn logarithmic(self) -> Self {
        Self { logarithmic: true, ..self }
    }

    /// The same with names at these values instead of numbers.
    #[must_use]
    pub fn named<N: Into<String>>(self, names: impl IntoIterator<Item = (f64, N)>) -> Self {
        let named = names.into_iter().map(|(value, name)| (value, name.into())).collect();
        Self { named, ..self }
    }

    /// The scale that shows the data; `loose` gives it room up to the next number at the axis.
    pub(crate) fn scale(&self, data: impl Iterator<Item = f64>, pixels: [f64; 2], loose: bool) -> Scale {
        let usable = |value: &f64| value.is_finite() && (!self.logarithmic || *value > 0.0);
        let range = data.filter(usable).fold(None, |range: Option<[f64; 2]>, value| {
            Some(range.map_or([value; 2], |[from, to]| [from.min(value), to.max(value)]))
        });
        let [mut from, mut to] = self.range.or(range).unwrap_or([0.0, 1.0]);
        if self.logarithmic {
            (from, to) = (libm::log10(from.max(f64::MIN_POSITIVE)), libm::log10(to.max(f64::MIN_POSITIVE)));
        }
        if to <= from {
            let half = if from == 0.0 || self.logarithmic { 0.5 } else { 0.02 * from.abs() };
            (from, to) = (from - half, to + half);
        }
        if loose && self.range.is_none() && self.named.is_empty() {
            if self.logarithmic {
                (from, to) = (from - 0.05, to + 0.05);
            } else {
                let step = step(to - from, WISHED);
                (from, to) = ((from / step).floor() * step, (to / step).ceil() * step);
            }
        }
        Scale { from, to, pixels, logarithmic: self.logarithmic }
    }

    /// Where there is something at the axis, and what.
    pub(crate) fn ticks(&self, scale: &Scale) -> Vec<(f64, String)> {
        if !self.named.is_empty() {
            return self.named.clone();
        }
        if self.logarithmic { scale.powers() } else { scale.steps() }
    }
}

/// About so many numbers at an axis.
const WISHED: f64 = 5.0;

/// A step of 1, 2 or 5 times a power of ten, so that a span has about so many.
fn step(span: f64, count: f64) -> f64 {
    let rough = (span / count).max(f64::MIN_POSITIVE);
    let mut power = 1.0;
    // A handful of multiplications instead of a logarithm: they are exact for usual values.
    while power > rough {
        power /= 10.0;
    }
    while power * 10.0 <= rough {
        power *= 10.0;
    }
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= rough * 0.75);
    times.unwrap_or(10.0) * power
}

/// From values to pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) pixels: [f64; 2],
    pub(crate) logarithmic: bool,
}

impl Scale {
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = match self.logarithmic {
            true if value > 0.0 => libm::log10(value),
            true => return f64::NAN,
            false => value,
        };
        let share = (value - self.from) / (self.to - self.from);
        self.pixels[0] + share * (self.pixels[1] - self.pixels[0])
    }

    fn steps(&self) -> Vec<(f64, String)> {
        let step = step(self.to - self.from, WISHED);
        let decimals = (0..8).find(|&places| {
            let scaled = step * 10_f64.powi(places);
            (scaled - scaled.round()).abs() < 1e-6
        });
        let decimals = decimals.unwrap_or(8) as usize;
        let first = (self.from / step - 1e-9).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last.min(first + 50))
            .map(|place| place as f64 * step)
            .map(|value| (value, number(value, decimals)))
            .collect()
    }

    fn powers(&self) -> Vec<(f64, String)> {
        let (first, last) = (self.from.floor() as i32, self.to.ceil() as i32);
        let inside = |value: &f64| {
            let at = libm::log10(*value);
            at >= self.from - 1e-9 && at <= self.to + 1e-9
        };
        let of = |steps: &[f64]| -> Vec<f64> {
            let all =
                (first..=last).flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
            all.filter(inside).collect()
        };
        // Powers alone where there are some; else what is between them.
        let ticks = [&[1.0][..], &[1.0, 3.0], &[1.0, 2.0, 5.0]].map(of);
        let ticks = ticks.iter().find(|ticks| ticks.len() >= 3).unwrap_or(&ticks[2]);
        let decimals = |value: f64| (0..8).find(|&places| value * 10_f64.powi(places) >= 0.999).unwrap_or(8);
        ticks.iter().map(|&value| (value, number(value, decimals(value) as usize))).collect()
    }
}
