//! A graph as nodes and links.

use super::Figure;
use super::canvas::{Canvas, Stroke};
use super::frame::{Key, Mark, draw_keys};
use super::palette::Colour;

/// A line between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The numbers of the nodes.
    pub ends: [u32; 2],
    /// Its colour.
    pub colour: Colour,
    /// How far one sees through, from 0, all, to 1, not at all.
    pub opacity: f64,
}

/// A graph whose nodes have places.
#[derive(Clone, Debug)]
pub struct Network {
    title: String,
    size: [f64; 2],
    places: Vec<[f32; 2]>,
    colours: Vec<Colour>,
    links: Vec<Link>,
    keys: Vec<Key>,
    radius: f64,
}

impl Network {
    /// Nodes at places, in any unit, with a colour each. Those without one, and links of nodes that are not there, are left out.
    pub fn new(
        title: impl Into<String>,
        places: Vec<[f32; 2]>,
        colours: Vec<Colour>,
        links: Vec<Link>,
    ) -> Self {
        let radius = (60.0 / (places.len().max(1) as f64).sqrt()).clamp(1.2, 5.0);
        let (size, keys) = ([460.0, 460.0], Vec::new());
        Self { title: title.into(), size, places, colours, links, keys, radius }
    }

    /// The same with what colours mean.
    #[must_use]
    pub fn key(mut self, name: impl Into<String>, colour: Colour, mark: Mark) -> Self {
        self.keys.push(Key { name: name.into(), colour, mark, dashes: "" });
        self
    }

    /// The same in another size.
    #[must_use]
    pub fn sized(self, width: f64, height: f64) -> Self {
        Self { size: [width, height], ..self }
    }
}

impl Figure for Network {
    fn size(&self) -> [f64; 2] {
        self.size
    }

    fn description(&self) -> String {
        format!("{}: a graph of {} nodes and {} edges", self.title, self.places.len(), self.links.len())
    }

    fn keys(&self) -> Vec<Key> {
        self.keys.clone()
    }

    fn draw(&self, canvas: &mut Canvas) {
        use super::canvas::{Anchor, TITLE};
        let [width, height] = self.size;
        let mut top = 8.0;
        if !self.title.is_empty() {
            canvas.text([8.0, top + TITLE], &self.title, TITLE, (Colour::Text, Anchor::Start, false));
            top += TITLE + 9.0;
        }
        top += draw_keys(Some(canvas), &self.keys, [8.0, top], width - 16.0) + 4.0;
        let inside = [8.0 + self.radius, top + self.radius];
        let room = [width - 16.0 - 2.0 * self.radius, height - 8.0 - top - 2.0 * self.radius];
        let finite = || self.places.iter().filter(|place| place.iter().all(|value| value.is_finite()));
        let ends = |axis: usize| {
            let low = finite().map(|place| f64::from(place[axis])).fold(f64::INFINITY, f64::min);
            let high = finite().map(|place| f64::from(place[axis])).fold(f64::NEG_INFINITY, f64::max);
            [low, (high - low).max(1e-9)]
        };
        let [x, y] = [ends(0), ends(1)];
        let scale = (room[0] / x[1]).min(room[1] / y[1]);
        let margin = [(room[0] - scale * x[1]) / 2.0, (room[1] - scale * y[1]) / 2.0];
        let place = |node: u32| {
            let found = self.places.get(node as usize)?;
            let at = [(f64::from(found[0]) - x[0]) * scale, (f64::from(found[1]) - y[0]) * scale];
            let at = [inside[0] + margin[0] + at[0], inside[1] + margin[1] + at[1]];
            at.iter().all(|value| value.is_finite()).then_some(at)
        };
        for link in &self.links {
            if let (Some(a), Some(b)) = (place(link.ends[0]), place(link.ends[1])) {
                let width = (self.radius / 4.0).clamp(0.4, 1.2);
                canvas.line(a, b, Stroke::new(link.colour, width).opacity(link.opacity));
            }
        }
        for (node, &colour) in self.colours.iter().enumerate() {
            if let Some(at) = place(node as u32) {
                canvas.circle(at, self.radius, colour, 1.0, None);
            }
        }
    }
}
