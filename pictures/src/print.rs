//! Pictures as PDF and PNG, by the packages `svg2pdf` and `resvg`, in the fonts of the system.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Group, Node, Options, Tree};
use svg2pdf::{ConversionOptions, PageOptions};

use crate::error::PictureError;

/// Pixels of a PNG for one unit of a picture: those of a screen of twice the density.
const PIXELS: f32 = 2.0;

/// Units of a picture in an inch of a page, as in CSS: a picture 640 wide takes 6.7 inches.
const UNITS: f32 = 96.0;

/// A picture as a page of its own size, with its letters as text.
///
/// # Errors
/// [`PictureError::Font`] where the system has no font for a string of the picture.
pub fn pdf(svg: &str) -> Result<Vec<u8>, PictureError> {
    let page = PageOptions { dpi: UNITS };
    svg2pdf::to_pdf(&tree(svg)?, ConversionOptions::default(), page).map_err(|error| failed(&error))
}

/// A picture in pixels, two for each of its units, on white.
///
/// # Errors
/// [`PictureError::Font`] where the system has no font for a string of the picture.
pub fn png(svg: &str) -> Result<Vec<u8>, PictureError> {
    let tree = tree(svg)?;
    let size = tree.size();
    let pixels = |length: f32| (PIXELS * length).ceil() as u32;
    let room = Pixmap::new(pixels(size.width()), pixels(size.height()));
    let mut room = room.ok_or_else(|| PictureError::Document("it has no size".to_owned()))?;
    room.fill(resvg::tiny_skia::Color::WHITE);
    resvg::render(&tree, Transform::from_scale(PIXELS, PIXELS), &mut room.as_mut());
    room.encode_png().map_err(|error| failed(&error))
}

fn failed(error: &dyn std::fmt::Display) -> PictureError {
    PictureError::Document(error.to_string())
}

/// The picture with its letters as outlines.
fn tree(svg: &str) -> Result<Tree, PictureError> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        Arc::new(fonts)
    });
    let options = Options { fontdb: Arc::clone(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let mut drawn = 0;
    check_letters(tree.root(), &mut drawn)?;
    // A string for which there is no font at all is left out without a word.
    if drawn < svg.matches("<text").count() {
        return Err(PictureError::Font { text: None });
    }
    Ok(tree)
}

/// Counts the strings of a group, and refuses one with a letter that no font has.
fn check_letters(group: &Group, drawn: &mut usize) -> Result<(), PictureError> {
    for node in group.children() {
        match node {
            Node::Group(group) => check_letters(group, drawn)?,
            Node::Text(text) => {
                *drawn += 1;
                let mut letters = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
                if letters.any(|letter| letter.id.0 == 0) {
                    let text = text.chunks().iter().map(|chunk| chunk.text()).collect();
                    return Err(PictureError::Font { text: Some(text) });
                }
            }
            Node::Path(_) | Node::Image(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Request, Table, Values, draw};

    fn bars() -> String {
        let models = Values::texts(["gcn", "mlp"].map(Some));
        let columns = vec![Column::new("model", models), Column::new("accuracy", Values::Numbers(vec![0.81, 0.57]))];
        draw(&Table { columns }, &Request::parse("width=640").unwrap()).unwrap().svg
    }

    /// Whether the machine has fonts at all.
    fn has_fonts() -> bool {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let has = !fonts.is_empty();
        assert!(has || std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "no font is installed");
        has
    }

    #[test]
    fn a_page_has_the_size_of_the_picture_and_a_font() {
        if !has_fonts() {
            return;
        }
        let page = String::from_utf8_lossy(&pdf(&bars()).unwrap()).into_owned();
        assert!(page.starts_with("%PDF-") && page.contains("/FontDescriptor"), "{}", &page[..200]);
        // 640 units at 96 an inch are 480 points.
        assert!(page.contains("/MediaBox [0 0 480 "), "no page of 480 points");
    }

    #[test]
    fn pixels_are_two_for_each_unit_and_bars_have_their_colour() {
        if !has_fonts() {
            return;
        }
        let bytes = png(&bars()).unwrap();
        let read = Pixmap::decode_png(&bytes).unwrap();
        assert_eq!(read.width(), 1280);
        let counted = |found: [u8; 3]| {
            let same = |p: &&resvg::tiny_skia::PremultipliedColorU8| [p.red(), p.green(), p.blue()] == found;
            read.pixels().iter().filter(same).count()
        };
        // The first colour of the palette fills both bars.
        assert!(counted([0x00, 0x72, 0xb2]) > 20_000, "{}", counted([0x00, 0x72, 0xb2]));
        assert!(counted([255, 255, 255]) > 100_000);
        assert_eq!(bytes, png(&bars()).unwrap(), "the same bytes");
    }

    #[test]
    fn a_letter_that_no_font_has_is_named() {
        if !has_fonts() {
            return;
        }
        // A code point of the private use area.
        let error = pdf(&bars().replace("mlp", "m\u{f8ff9}lp")).unwrap_err().to_string();
        assert!(error.contains("no font of this machine"), "{error}");
    }
}
