//! Several figures as one, side by side, with one key.

use super::Figure;
use super::canvas::{Anchor, Canvas, TITLE};
use super::frame::{Key, draw_keys};
use super::palette::Colour;

/// Several figures as one, line by line, with the key of the first. Those inside should have none of their own
/// (`Chart::without_key`).
pub struct Panels {
    title: String,
    columns: usize,
    figures: Vec<Box<dyn Figure>>,
}

impl Panels {
    /// An empty one with so many in a line.
    pub fn new(title: impl Into<String>, columns: usize) -> Self {
        Self { title: title.into(), columns: columns.max(1), figures: Vec::new() }
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, figure: impl Figure + 'static) -> Self {
        self.figures.push(Box::new(figure));
        self
    }

    /// The largest width and height.
    fn cell(&self) -> [f64; 2] {
        let most = |axis: usize| self.figures.iter().map(|figure| figure.size()[axis]).fold(0.0, f64::max);
        [most(0), most(1)]
    }

    fn width(&self) -> f64 {
        self.cell()[0] * self.columns.min(self.figures.len().max(1)) as f64
    }

    fn head(&self) -> f64 {
        let title = if self.title.is_empty() { 8.0 } else { 8.0 + TITLE + 11.0 };
        title + draw_keys(None, &self.keys(), [0.0, 0.0], self.width() - 16.0) + 4.0
    }
}

impl Figure for Panels {
    fn size(&self) -> [f64; 2] {
        let lines = self.figures.len().div_ceil(self.columns);
        [self.width(), self.head() + self.cell()[1] * lines as f64]
    }

    fn description(&self) -> String {
        let each: Vec<String> = self.figures.iter().map(|figure| figure.description()).collect();
        format!("{}. {}", self.title, each.join(". "))
    }

    fn keys(&self) -> Vec<Key> {
        self.figures.first().map(|figure| figure.keys()).unwrap_or_default()
    }

    fn draw(&self, canvas: &mut Canvas) {
        let mut top = 8.0;
        if !self.title.is_empty() {
            canvas.text([8.0, top + TITLE], &self.title, TITLE + 1.0, (Colour::Text, Anchor::Start, false));
            top += TITLE + 11.0;
        }
        draw_keys(Some(canvas), &self.keys(), [8.0, top], self.width() - 16.0);
        let ([wide, high], head) = (self.cell(), self.head());
        for (place, figure) in self.figures.iter().enumerate() {
            let (line, column) = (place / self.columns, place % self.columns);
            canvas.begin_group([wide * column as f64, head + high * line as f64]);
            figure.draw(canvas);
            canvas.end_group();
        }
    }
}
