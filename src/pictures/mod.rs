//! Pictures of results: from rows to the columns that `bonnet-pictures` draws, `COPY ... (FORMAT svg)`, and the parts of a
//! page.

mod columns;
mod flat;
mod format;
pub mod page;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bonnet_pictures::{PictureError, Request, draw, vega_lite};

pub use columns::table;
pub(crate) use format::PictureFormatFactory;

/// The documents in which pictures of rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// An SVG document.
    Svg,
    /// A page with the picture and the table.
    Html,
    /// A specification of Vega-Lite, in JSON.
    VegaLite,
}

/// The document of these rows.
///
/// # Errors
/// The text of what is wrong.
pub fn document(
    document: Document,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    request: &Request,
) -> Result<String, String> {
    match document {
        Document::Svg => {
            let picture = draw(&table(schema, batches)?, request).map_err(|error| error.to_string())?;
            Ok(picture.svg)
        }
        Document::VegaLite => vega_lite(&table(schema, batches)?, request).map_err(|error| error.to_string()),
        Document::Html => {
            Ok(page::head(request.title.as_deref().unwrap_or("BonnetDB")) + &figure(schema, batches, request)?)
        }
    }
}

/// The picture and the table of a result, as HTML. Without a kind, rows that no picture fits, or fewer than two, have none.
///
/// # Errors
/// The text of what is wrong with the picture that is asked for.
pub fn figure(schema: &SchemaRef, batches: &[RecordBatch], request: &Request) -> Result<String, String> {
    let chosen = *request != Request { title: request.title.clone(), ..Request::default() };
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let mut html = String::new();
    if chosen || rows > 1 {
        match draw(&table(schema, batches)?, request) {
            Ok(picture) => html += &page::picture(&picture.svg),
            Err(error) if chosen => return Err(error.to_string()),
            // Nobody asked for a picture of rows like these.
            Err(PictureError::NoKind | PictureError::TooMany { .. } | PictureError::Repeated { .. }) => {}
            Err(PictureError::Missing { .. } | PictureError::Rows { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    html += &page::table(schema, batches).map_err(|error| error.to_string())?;
    Ok(html)
}

#[cfg(test)]
mod tests {
    #[test]
    fn pictures_cut_curvatures_where_the_regimes_do() {
        assert_eq!(bonnet_pictures::CURVATURE_CUT, bonnet_curvature::MEAN_TOLERANCE);
    }
}
