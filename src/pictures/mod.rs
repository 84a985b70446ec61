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
    /// A page of the picture's size. Only with the feature `print`.
    Pdf,
    /// Pixels, two for each unit of the picture. Only with the feature `print`.
    Png,
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
) -> Result<Vec<u8>, String> {
    let text = match document {
        Document::Svg | Document::Pdf | Document::Png => {
            let picture = draw(&table(schema, batches)?, request).map_err(|error| error.to_string())?;
            return printed(document, picture.svg);
        }
        Document::VegaLite => vega_lite(&table(schema, batches)?, request).map_err(|error| error.to_string())?,
        Document::Html => {
            page::head(request.title.as_deref().unwrap_or("BonnetDB")) + &figure(schema, batches, request)?
        }
    };
    Ok(text.into_bytes())
}

/// A picture as the document of its own.
#[cfg(feature = "print")]
fn printed(document: Document, svg: String) -> Result<Vec<u8>, String> {
    match document {
        Document::Pdf => bonnet_pictures::print::pdf(&svg).map_err(|error| error.to_string()),
        Document::Png => bonnet_pictures::print::png(&svg).map_err(|error| error.to_string()),
        _ => Ok(svg.into_bytes()),
    }
}

#[cfg(not(feature = "print"))]
fn printed(document: Document, svg: String) -> Result<Vec<u8>, String> {
    match document {
        Document::Pdf | Document::Png => {
            Err("this engine was built without PDF and PNG: build it with the feature print, or write an SVG"
                .to_owned())
        }
        _ => Ok(svg.into_bytes()),
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
