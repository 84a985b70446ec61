//! The parts of a page: head, table, picture, text. A page is one file that asks for nothing from elsewhere, and reads without
//! its script, which sorts and copies tables.

use std::fmt::Write;
use std::io;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use bonnet_pictures::escaped;

use crate::cells::each_cell;

/// The rows of a table that a page shows.
const MOST_ROWS: usize = 200;

/// The digits behind the point that a page shows; the whole number is in the cell's title and in what is copied.
const DIGITS: usize = 6;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// All before the first section. What follows needs no closing tags.
pub fn head(title: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <script>\n{SCRIPT}</script>\n"
    )
}

/// A drawn picture.
pub fn picture(svg: &str) -> String {
    format!("<figure>\n{svg}</figure>\n")
}

/// The rows as a table, the first of many.
///
/// # Errors
/// If a value cannot be shown.
pub fn table(schema: &SchemaRef, batches: &[RecordBatch]) -> io::Result<String> {
    let mut html = String::from("<div class=\"scroll\"><table>\n<thead><tr>");
    let numeric: Vec<bool> = schema.fields().iter().map(|field| is_numeric(field.data_type())).collect();
    for (field, numeric) in schema.fields().iter().zip(&numeric) {
        push(&mut html, format_args!("<th{}>{}</th>", class(*numeric), escaped(field.name())));
    }
    html += "</tr></thead>\n<tbody>\n";
    let (mut shown, last) = (0, numeric.len().saturating_sub(1));
    for batch in batches {
        let batch = batch.slice(0, batch.num_rows().min(MOST_ROWS - shown));
        shown += batch.num_rows();
        each_cell(&batch, Some(DIGITS), |column, cell| {
            let start = if column == 0 { "<tr>" } else { "" };
            let end = if column == last { "</tr>\n" } else { "" };
            let whole = match cell.whole != cell.text {
                true => format!(" title=\"{}\"", escaped(cell.whole)),
                false => String::new(),
            };
            let (class, text) = match cell.is_null {
                true => (" class=\"null\"", "NULL".to_owned()),
                false => (class(numeric[column]), escaped(cell.text)),
            };
            push(&mut html, format_args!("{start}<td{class}{whole}>{text}</td>{end}"));
            Ok(())
        })?;
    }
    html += "</tbody></table></div>\n";
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let count = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    let cut = if shown < rows { format!(", the first {shown} are shown") } else { String::new() };
    push(&mut html, format_args!("<p class=\"count\">{count}{cut}</p>\n"));
    Ok(html)
}

fn push(html: &mut String, text: std::fmt::Arguments<'_>) {
    // A String takes any text.
    let _ = html.write_fmt(text);
}

fn class(numeric: bool) -> &'static str {
    if numeric { " class=\"number\"" } else { "" }
}

fn is_numeric(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, value) => value.is_numeric(),
        other => other.is_numeric(),
    }
}
