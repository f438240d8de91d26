//! SVG as a picture. The font is in the program, so that a picture looks the same wherever it is made.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// The only font there is.
const FAMILY: &str = "Ubuntu";

fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let made = FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
        fonts.set_sans_serif_family(FAMILY);
        Arc::new(fonts)
    });
    made.clone()
}

/// An SVG as PNG, with `scale` pixels for each of its own.
///
/// # Errors
/// What is no SVG, or is too large.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, String> {
    let options = Options { fontdb: fonts(), font_family: FAMILY.to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| format!("no SVG: {error}"))?;
    let size = tree.size();
    let (width, height) = ((size.width() * scale).ceil() as u32, (size.height() * scale).ceil() as u32);
    let mut pixels =
        Pixmap::new(width, height).ok_or_else(|| format!("{width} × {height} pixels are no picture"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}
