//! Figures as SVG and PNG: the same drawings for the report, where colours follow the page's theme, and for publications, as
//! files.
//!
//! A figure is a value: made, then written. The same figure gives the same bytes on every machine.
//!
//! ```
//! use edgepace_lab::figure::{Axis, Chart, Ink, Series, svg};
//!
//! let chart = Chart::new("Accuracy and fake edges")
//!     .x(Axis::new("fake edges / %"))
//!     .y(Axis::new("test accuracy / %"))
//!     .with(Series::line("GCN", [(0.0, 85.9), (50.0, 77.2), (100.0, 71.0)]))
//!     .with(Series::line("RCL", [(0.0, 86.5), (50.0, 83.9), (100.0, 82.0)]).band([(86.1, 86.9), (83.0, 84.8), (81.0, 83.0)]));
//! assert!(svg(&chart, Ink::File).starts_with("<svg"));
//! // figure::write(&chart, "robustness.png".as_ref())? writes a picture.
//! ```

mod axis;
mod bars;
mod canvas;
mod chart;
mod curves;
mod frame;
mod heat_map;
mod intervals;
mod network;
mod palette;
mod panels;
mod png;
mod text;

use std::path::Path;

use edgepace_graph::files::{self, FileError};

use crate::error::LabError;

pub use axis::Axis;
pub use bars::{Bar, BarChart, BarSeries};
pub use canvas::{Anchor, Canvas, Stroke};
pub use chart::{Chart, Series};
pub use curves::{precision_curve, reliability_diagram, roc_chart, roc_curve};
pub use frame::{Key, Mark};
pub use heat_map::HeatMap;
pub use intervals::{Interval, IntervalChart};
pub use network::{Link, Network};
pub use palette::{Colour, Ink};
pub use panels::Panels;
pub use png::png;
pub(crate) use text::{is_hidden, number};

/// Something that can be drawn.
pub trait Figure {
    /// Width and height, in pixels at scale 1.
    fn size(&self) -> [f64; 2];
    /// Draws it, from (0, 0) to its size.
    fn draw(&self, canvas: &mut Canvas);
    /// What it shows, in one line, for those who cannot see it.
    fn description(&self) -> String;
    /// What its colours mean, where it has more than one.
    fn keys(&self) -> Vec<Key> {
        Vec::new()
    }
}

/// The figure as SVG.
pub fn svg(figure: &dyn Figure, ink: Ink) -> String {
    let mut canvas = Canvas::new(ink, figure.size(), &figure.description());
    figure.draw(&mut canvas);
    canvas.finish()
}

/// Writes a figure as SVG or PNG, by the ending of its name, whole or not at all. A PNG has three pixels for each of the figure's.
///
/// # Errors
/// A name with another ending, or a file that cannot be written.
pub fn write(figure: &dyn Figure, path: &Path) -> Result<(), LabError> {
    const PIXELS: f32 = 3.0;
    let failed = |cause: String| FileError {
        action: "write",
        path: path.to_owned(),
        source: std::io::Error::other(cause),
    };
    let text = svg(figure, Ink::File);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let bytes = match ending {
        "svg" => text.into_bytes(),
        "png" => png(&text, PIXELS).map_err(failed)?,
        _ => return Err(failed("a figure is written as .svg or .png".to_owned()).into()),
    };
    Ok(files::write(path, &bytes)?)
}

#[cfg(test)]
mod tests;
