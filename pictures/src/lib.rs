//! Charts as SVG: columns of numbers and text go in, a picture comes out. Plain Rust, no Arrow, no SQL.
//!
//! * [`draw`] makes a picture of a [`Table`], as a [`Request`] says; what it leaves open follows from the columns.
//! * [`vega_lite`] makes the same chart as a specification of Vega-Lite 6, for viewers that have it.
//!
//! The same table and request give the same bytes. Every mark has the class `mark` and a title with the values of its row,
//! all of their digits; a mark that stands for several rows says how many. Colours are told apart with any colour vision.
//!
//! ```
//! use bonnet_pictures::{Column, Request, Table, Values, draw};
//!
//! let models = Values::texts(["gcn", "mlp"].map(Some));
//! let columns = vec![Column::new("model", models), Column::new("accuracy", Values::Numbers(vec![0.81, 0.57]))];
//! let picture = draw(&Table { columns }, &Request::default()).unwrap();
//! assert!(picture.svg.contains("accuracy: 0.81"));
//! ```
//!
//! # Floors
//!
//! 1. `layout`, `names`, `palette`, `svg`, `text`, `tick`: names, colours, marks.
//! 2. `error`, `scale`, `table`, `time`: tables, and the scales of axes.
//! 3. `request`: what the user asks for.
//! 4. `chart`, `legend`, `plan`: which columns are drawn, and where.
//! 5. `kinds`, `deviations`, `unpivot`: the kinds of pictures, one a file; columns that are made first.
//! 6. `vega`, `print`: the same as a specification of Vega-Lite; a drawn picture as PDF and PNG.

mod chart;
mod deviations;
mod error;
mod kinds;
mod layout;
mod legend;
mod names;
mod palette;
mod plan;
#[cfg(feature = "print")]
pub mod print;
mod request;
mod scale;
mod svg;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod tick;
mod time;
mod unpivot;
mod vega;

pub use error::PictureError;
pub use kinds::CURVATURE_CUT;
pub use names::Kind;
pub use request::Request;
pub use svg::escaped;
pub use table::{Column, MISSING, Table, TextCoder, Values};
pub use vega::vega_lite;

/// A drawn picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The kind that was drawn.
    pub kind: Kind,
    /// The document: an `svg` element and nothing before it.
    pub svg: String,
    /// Notes on rows that were left out or put together. The picture has them too.
    pub notes: Vec<String>,
}

/// Draws the rows of a table. Without rows, the picture says so.
///
/// # Errors
/// [`PictureError`] for a column that is not there or does not fit, for marks too many to see, or where no kind fits.
pub fn draw(table: &Table, request: &Request) -> Result<Picture, PictureError> {
    let (table, request) = deviations::with_ends(unpivot::unpivoted(table, request)?, request)?;
    let plan = plan::plan(&table, &request)?;
    let kind = plan.kind;
    let (svg, notes) = if plan.rows == 0 { kinds::empty(&plan) } else { kinds::draw(&plan)? };
    Ok(Picture { kind, svg, notes })
}
