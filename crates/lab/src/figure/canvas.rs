//! SVG, element by element.

use super::palette::{Colour, Ink};
use super::text::{coordinate, escaped};

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// In which colour.
    pub colour: Colour,
    /// How wide, in pixels.
    pub width: f64,
    /// How far one sees through, from 0, all, to 1, not at all.
    pub opacity: f64,
    /// Lengths of dashes and gaps; empty: one line.
    pub dashes: &'static str,
}

impl Stroke {
    /// A line that one cannot see through.
    pub fn new(colour: Colour, width: f64) -> Self {
        Self { colour, width, opacity: 1.0, dashes: "" }
    }

    /// The same, seen through.
    #[must_use]
    pub fn opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// The same, in dashes, if any.
    #[must_use]
    pub fn dashes(self, dashes: &'static str) -> Self {
        Self { dashes, ..self }
    }
}

/// An SVG that is being drawn.
pub struct Canvas {
    out: String,
    ink: Ink,
}

/// Sizes of letters, in pixels.
pub(crate) const TITLE: f64 = 14.0;
/// Of names and keys.
pub(crate) const LABEL: f64 = 12.0;
/// Of numbers at axes.
pub(crate) const TICK: f64 = 11.0;

impl Canvas {
    pub(crate) fn new(ink: Ink, [width, height]: [f64; 2], description: &str) -> Self {
        let mut own = Self { out: String::new(), ink };
        own.out += "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ";
        coordinate(&mut own.out, width);
        own.out.push(' ');
        coordinate(&mut own.out, height);
        own.out.push('"');
        if ink == Ink::File {
            own.attribute("width", width);
            own.attribute("height", height);
            own.out += " font-family=\"Ubuntu, 'DejaVu Sans', Verdana, sans-serif\"";
        }
        own.out += " role=\"img\" aria-label=\"";
        own.out += &escaped(description);
        own.out += "\">\n";
        if ink == Ink::File {
            own.rectangle([0.0, 0.0], [width, height], Colour::Paper, 1.0, None);
        }
        own
    }

    pub(crate) fn finish(mut self) -> String {
        self.out += "</svg>\n";
        self.out
    }

    /// Where it is drawn.
    pub fn ink(&self) -> Ink {
        self.ink
    }

    fn attribute(&mut self, name: &str, value: f64) {
        self.out.push(' ');
        self.out += name;
        self.out += "=\"";
        coordinate(&mut self.out, value);
        self.out.push('"');
    }

    fn fill(&mut self, colour: Colour, opacity: f64) {
        match self.ink {
            Ink::File => self.out += &format!(" fill=\"{}\"", colour.light()),
            Ink::Page => self.out += &format!(" class=\"f-{}\"", colour.class()),
        }
        if opacity < 1.0 {
            self.attribute("fill-opacity", opacity);
        }
    }

    fn stroke(&mut self, stroke: Stroke) {
        match self.ink {
            Ink::File => self.out += &format!(" stroke=\"{}\"", stroke.colour.light()),
            Ink::Page => self.out += &format!(" class=\"s-{}\"", stroke.colour.class()),
        }
        self.attribute("stroke-width", stroke.width);
        if stroke.opacity < 1.0 {
            self.attribute("stroke-opacity", stroke.opacity);
        }
        if !stroke.dashes.is_empty() {
            self.out += &format!(" stroke-dasharray=\"{}\"", stroke.dashes);
        }
    }

    /// Closes an element; what is told is shown to whoever points at it.
    fn close(&mut self, element: &str, told: Option<&str>) {
        match told {
            Some(told) => self.out += &format!("><title>{}</title></{element}>\n", escaped(told)),
            None => self.out += "/>\n",
        }
    }

    /// Draws what follows shifted, until [`Canvas::end_group`].
    pub fn begin_group(&mut self, [x, y]: [f64; 2]) {
        self.out += "<g transform=\"translate(";
        coordinate(&mut self.out, x);
        self.out.push(' ');
        coordinate(&mut self.out, y);
        self.out += ")\">\n";
    }

    /// Ends what [`Canvas::begin_group`] began.
    pub fn end_group(&mut self) {
        self.out += "</g>\n";
    }

    /// A straight line.
    pub fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], stroke: Stroke) {
        self.out += "<line";
        for (name, value) in [("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)] {
            self.attribute(name, value);
        }
        self.stroke(stroke);
        self.close("line", None);
    }

    /// A line through points; one that is no number parts it.
    pub fn polyline(&mut self, points: &[[f64; 2]], stroke: Stroke, told: Option<&str>) {
        let mut data = String::new();
        let mut pen = 'M';
        for &[x, y] in points {
            if !(x.is_finite() && y.is_finite()) {
                pen = 'M';
                continue;
            }
            data.push(pen);
            coordinate(&mut data, x);
            data.push(' ');
            coordinate(&mut data, y);
            pen = 'L';
        }
        self.out += &format!("<path d=\"{data}\" fill=\"none\" stroke-linejoin=\"round\"");
        self.stroke(stroke);
        self.close("path", told);
    }

    /// A filled shape.
    pub fn polygon(&mut self, points: &[[f64; 2]], colour: Colour, opacity: f64, told: Option<&str>) {
        let mut data = String::new();
        for (place, &[x, y]) in points.iter().enumerate() {
            data.push(if place == 0 { 'M' } else { 'L' });
            coordinate(&mut data, x);
            data.push(' ');
            coordinate(&mut data, y);
        }
        self.out += &format!("<path d=\"{data}Z\"");
        self.fill(colour, opacity);
        self.close("path", told);
    }

    /// A filled rectangle.
    pub fn rectangle(
        &mut self,
        [x, y]: [f64; 2],
        [width, height]: [f64; 2],
        colour: Colour,
        opacity: f64,
        told: Option<&str>,
    ) {
        self.out += "<rect";
        for (name, value) in [("x", x), ("y", y), ("width", width.max(0.0)), ("height", height.max(0.0))] {
            self.attribute(name, value);
        }
        self.fill(colour, opacity);
        self.close("rect", told);
    }

    /// A filled circle.
    pub fn circle(
        &mut self,
        [x, y]: [f64; 2],
        radius: f64,
        colour: Colour,
        opacity: f64,
        told: Option<&str>,
    ) {
        self.out += "<circle";
        for (name, value) in [("cx", x), ("cy", y), ("r", radius)] {
            self.attribute(name, value);
        }
        self.fill(colour, opacity);
        self.close("circle", told);
    }

    /// A line of text; `turned` by 90° against the clock.
    pub fn text(
        &mut self,
        [x, y]: [f64; 2],
        text: &str,
        size: f64,
        (colour, anchor, turned): (Colour, Anchor, bool),
    ) {
        self.out += "<text";
        self.attribute("x", x);
        self.attribute("y", y);
        self.attribute("font-size", size);
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => self.out += " text-anchor=\"middle\"",
            Anchor::End => self.out += " text-anchor=\"end\"",
        }
        self.fill(colour, 1.0);
        if turned {
            self.out += " transform=\"rotate(-90 ";
            coordinate(&mut self.out, x);
            self.out.push(' ');
            coordinate(&mut self.out, y);
            self.out += ")\"";
        }
        self.out.push('>');
        self.out += &escaped(text);
        self.out += "</text>\n";
    }
}
