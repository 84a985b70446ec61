//! The output of rows: its target and its format.

mod csv;
mod expanded;
mod json;
mod layout;
mod markdown;
mod pager;
mod picture;
mod screen;
mod table;
mod writer;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bonnet_pictures::Request;
use bonnet_sql::outside_databases;
use bonnetdb::pictures::Document;
use clap::ValueEnum;

use self::pager::Pager;
use self::screen::Screen;
pub(super) use self::screen::has_colour;
use self::writer::Writer;

/// The formats of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
    /// Aligned columns under their names, with the number of rows.
    #[default]
    Table,
    /// Comma-separated values with a line of names (RFC 4180); lists, structs and maps as JSON.
    Csv,
    /// One JSON array a result, a row a line.
    Json,
    /// One JSON object a line.
    Ndjson,
    /// A Markdown table.
    Markdown,
    /// A picture of each result, as --plot or its columns say.
    Svg,
    /// A page with the table and the picture of each result.
    Html,
    /// Each result as a specification of Vega-Lite.
    VegaLite,
}

impl OpenResult {
    /// Whether nobody looks at it any more: the pager was left.
    pub(super) fn is_closed(&self) -> bool {
        self.pager.as_ref().is_some_and(Pager::is_closed)
    }
}

/// The way out of rows.
enum Destination {
    Stdout(BufWriter<Stdout>),
    File(BufWriter<File>, String),
}

/// The rows' way out: standard output, or the file of `\o`.
pub(super) struct Output {
    destination: Destination,
    results: usize,
    /// The format of the results to come.
    pub(super) format: Format,
    /// The most rows of a result that a terminal shows.
    pub(super) screen_rows: usize,
    /// The most digits behind the point of a number that a terminal shows; `None` is all.
    pub(super) screen_digits: Option<usize>,
    /// Whether tables have a line for each column of a row.
    pub(super) expanded: bool,
    /// Whether a terminal shows results in a pager.
    pub(super) paged: bool,
    /// The request of the formats of pictures.
    pub(super) plot: Request,
}

/// A result that is being written.
pub(super) struct OpenResult {
    writer: Box<dyn Writer>,
    pager: Option<Pager>,
    /// A blank line stands before the first byte.
    separate: bool,
}

impl Output {
    pub(super) fn new(format: Format) -> Self {
        Self {
            destination: Destination::Stdout(BufWriter::new(io::stdout())),
            results: 0,
            format,
            screen_rows: 40,
            screen_digits: Some(6),
            expanded: false,
            paged: false,
            plot: Request::default(),
        }
    }

    /// Sends the results to come to a new file, or with None back to standard output.
    pub(super) fn redirect(&mut self, path: Option<&str>) -> io::Result<()> {
        let destination = match path {
            Some(path) => {
                outside_databases(Path::new(path)).map_err(io::Error::other)?;
                Destination::File(BufWriter::new(File::create(path)?), path.to_owned())
            }
            None => Destination::Stdout(BufWriter::new(io::stdout())),
        };
        // What the file before could not take is lost, and said; the new one takes what comes.
        let flushed = self.flush();
        self.destination = destination;
        self.results = 0;
        flushed
    }

    /// Forgets the results before: the next one needs no blank line before it.
    pub(super) fn start_over(&mut self) {
        self.results = 0;
    }

    /// Whether rows go to a terminal.
    pub(super) fn is_screen(&self) -> bool {
        matches!(self.destination, Destination::Stdout(_)) && io::stdout().is_terminal()
    }

    /// Begins a result with these columns.
    pub(super) fn begin(&mut self, schema: SchemaRef) -> io::Result<OpenResult> {
        let mut screen = match self.destination {
            Destination::Stdout(_) => Screen::of_stdout(self.screen_rows, self.screen_digits),
            Destination::File(..) => None,
        };
        let mut pager = None;
        if let (true, Some(screen)) = (self.paged, &mut screen) {
            pager = Some(Pager::open()?);
            // It scrolls.
            (screen.columns, screen.rows, screen.colour) = (usize::MAX, usize::MAX, false);
        }
        let writer: Box<dyn Writer> = match self.format {
            Format::Table if self.expanded => Box::new(expanded::Expanded::new(&schema, screen)),
            Format::Table => Box::new(table::Table::new(schema, screen)),
            Format::Csv => Box::new(csv::Csv::new(schema)),
            Format::Json => Box::new(json::Array::new(schema)),
            Format::Ndjson => Box::new(json::Lines::new(schema)),
            Format::Markdown => Box::new(markdown::Markdown::new(schema)),
            Format::Svg => self.picture(Document::Svg, schema),
            Format::Html => self.picture(Document::Html, schema),
            Format::VegaLite => self.picture(Document::VegaLite, schema),
        };
        let separate = pager.is_none() && self.follows_a_table();
        Ok(OpenResult { writer, pager, separate })
    }

    fn picture(&self, document: Document, schema: SchemaRef) -> Box<dyn Writer> {
        Box::new(picture::Picture::new(document, self.plot.clone(), schema, self.results == 0))
    }

    /// Whether a blank line is due before what comes.
    fn follows_a_table(&self) -> bool {
        self.results > 0 && matches!(self.format, Format::Table | Format::Markdown)
    }

    /// Writes rows of a result, as far as its format can without knowing the rest.
    pub(super) fn write(&mut self, result: &mut OpenResult, batch: &RecordBatch) -> io::Result<()> {
        let OpenResult { writer, pager, separate } = result;
        self.put(|out| writer.write(batch, out), pager, separate)
    }

    /// Writes the rest of a result.
    pub(super) fn finish(&mut self, result: OpenResult) -> io::Result<()> {
        let OpenResult { mut writer, mut pager, mut separate } = result;
        if pager.is_none() {
            self.results += 1;
        }
        self.put(|out| writer.finish(out), &mut pager, &mut separate)
    }

    /// Writes a line of text as it stands to standard output, wherever rows go: a heading, apart from the table before
    /// it and not from the one behind.
    pub(super) fn echo(&mut self, line: &str) -> io::Result<()> {
        let apart = if self.follows_a_table() { "\n" } else { "" };
        match &mut self.destination {
            Destination::Stdout(out) => {
                self.results = 0;
                writeln!(out, "{apart}{line}").and_then(|()| out.flush())
            }
            Destination::File(..) => {
                let mut out = io::stdout();
                writeln!(out, "{line}").and_then(|()| out.flush())
            }
        }
    }

    fn put(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        pager: &mut Option<Pager>,
        separate: &mut bool,
    ) -> io::Result<()> {
        // What one call gives is made in memory first, so that a value that cannot be shown leaves no half a line.
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(pager) = pager {
            return pager.write(&bytes);
        }
        let out: &mut dyn Write = match &mut self.destination {
            Destination::Stdout(out) => out,
            Destination::File(out, _) => out,
        };
        let separator: &[u8] = if std::mem::take(separate) { b"\n" } else { b"" };
        let written = out.write_all(separator).and_then(|()| out.write_all(&bytes)).and_then(|()| out.flush());
        self.named(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.destination {
            Destination::Stdout(out) => out.flush(),
            Destination::File(out, _) => out.flush(),
        };
        self.named(flushed)
    }

    /// Names the file in an error of writing to it.
    fn named(&self, result: io::Result<()>) -> io::Result<()> {
        match (&self.destination, result) {
            (Destination::File(_, path), Err(error)) => {
                Err(io::Error::other(format!("the rows cannot be written to '{path}': {error}")))
            }
            (_, result) => result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of a writer for these batches.
    pub(super) fn written(mut writer: impl Writer, batches: &[RecordBatch]) -> String {
        let mut out = Vec::new();
        for batch in batches {
            writer.write(batch, &mut out).unwrap();
        }
        writer.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
}
