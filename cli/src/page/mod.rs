//! The page of a report: what comments say, and what statements answer.

mod comments;
mod summary;

use std::path::Path;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bonnet_pictures::{Request, escaped};
use bonnetdb::pictures::{figure, page};

use self::comments::Block;
use super::failure::ScriptFailure;

/// The end of the text of `\echo`.
const END_OF_LEAD: &str = "</p>\n";

/// The lines that name seeds, of which more are folded.
const SEEDS_SHOWN: usize = 6;

/// A script that is being read.
#[derive(Debug, Default)]
struct Script {
    lines: Vec<String>,
    /// The lines that have been dealt with.
    done: usize,
}

/// The page of the scripts that are being run.
#[derive(Debug, Default)]
pub(super) struct Report {
    body: String,
    /// Those being read, each included by the one before.
    open: Vec<Script>,
    /// Those that were read, in the order in which they began.
    read: Vec<(String, String)>,
    /// The place in `read` of each script being read.
    places: Vec<usize>,
    /// The pictures of the next rows.
    plots: Vec<Plot>,
    /// Statements without rows since the last that had some.
    silent: Vec<String>,
    /// Comments of an included script, until it is known whether what they speak of is shown.
    held: String,
    /// Whether the last part of the page is a line of `\echo`, which the next one goes on with.
    speaking: bool,
}

/// A comment's request for the picture of the next rows.
#[derive(Debug)]
enum Plot {
    None,
    Of(Box<Request>),
}

impl Report {
    /// A script begins.
    pub(super) fn enter(&mut self, origin: &str) {
        self.release();
        self.places.push(self.read.len());
        self.read.push((origin.to_owned(), String::new()));
        self.open.push(Script::default());
    }

    /// A line of the script is read.
    pub(super) fn line(&mut self, line: &str) {
        if let (Some(source), Some(&place)) = (self.open.last_mut(), self.places.last()) {
            source.lines.push(line.to_owned());
            self.read[place].1.push_str(line);
        }
    }

    /// The script ends.
    ///
    /// # Errors
    /// As [`before`](Self::before).
    pub(super) fn leave(&mut self) -> Result<(), ScriptFailure> {
        let end = self.open.last().map_or(0, |source| source.lines.len());
        self.before(end + 1)?;
        self.release();
        self.places.pop();
        self.open.pop();
        Ok(())
    }

    /// An item begins at this line, from 1: the comments before it are text. In a script that another includes, those above
    /// statements without rows are not: they explain what that script makes to its readers, and not what is found.
    ///
    /// # Errors
    /// If one asks for a picture that there is none of.
    pub(super) fn before(&mut self, line: usize) -> Result<(), ScriptFailure> {
        let Some(source) = self.open.last_mut() else { return Ok(()) };
        let (from, to) = (source.done.min(line - 1), line - 1);
        let blocks = comments::blocks(&source.lines[from..to]);
        source.done = source.lines.len().max(to);
        let included = self.open.len() > 1;
        for block in blocks {
            match block {
                Block::Plot(text) if text.trim() == "none" => self.plots.push(Plot::None),
                Block::Plot(text) => {
                    let wrong = |error| ScriptFailure::error(format!("\\plot {text}: {error}"));
                    self.plots.push(Plot::Of(Box::new(Request::parse(&text).map_err(wrong)?)));
                }
                other if included => self.held += &other.html(),
                other => {
                    self.speaking = false;
                    self.flush();
                    self.body += &other.html();
                }
            }
        }
        Ok(())
    }

    /// A line that the script itself says. Lines that follow one another are a paragraph, an empty one ends it, and one that
    /// begins as a heading of Markdown does is a heading.
    pub(super) fn say(&mut self, text: &str) {
        let goes_on = self.speaking && self.held.is_empty();
        self.release();
        let text = text.trim();
        let title = text.trim_start_matches('#');
        if text.is_empty() {
            return;
        }
        if title.len() < text.len() && title.starts_with(' ') {
            self.flush();
            self.body += &Block::Heading(title.trim().to_owned()).html();
            return;
        }
        match self.body.strip_suffix(END_OF_LEAD) {
            Some(before) if goes_on => {
                let length = before.len();
                self.body.truncate(length);
                self.body += &format!("\n{}{END_OF_LEAD}", comments::prose(text));
            }
            _ => {
                self.flush();
                self.body += &format!("<p class=\"lead\">{}{END_OF_LEAD}", comments::prose(text));
            }
        }
        self.speaking = true;
    }

    /// A statement that answers no rows.
    pub(super) fn done(&mut self, statement: &str) {
        self.held.clear();
        self.speaking = false;
        self.silent.push(statement.to_owned());
    }

    /// Writes the comments that were held back.
    fn release(&mut self) {
        self.speaking = false;
        if !self.held.is_empty() {
            self.flush();
            self.body += &std::mem::take(&mut self.held);
        }
    }

    /// The rows of a statement.
    ///
    /// # Errors
    /// If a picture that is asked for cannot be drawn.
    pub(super) fn rows(
        &mut self,
        statement: &str,
        schema: &SchemaRef,
        batches: &[RecordBatch],
    ) -> Result<(), ScriptFailure> {
        self.release();
        self.flush();
        let plots = std::mem::take(&mut self.plots);
        if plots.is_empty() {
            self.body += &figure(schema, batches, &Request::default()).map_err(ScriptFailure::error)?;
        } else {
            for plot in &plots {
                if let Plot::Of(request) = plot {
                    let drawn = picture(schema, batches, request);
                    self.body += &drawn.map_err(|error| ScriptFailure::error(format!("\\plot: {error}")))?;
                }
            }
            self.body += &page::table(schema, batches)?;
        }
        self.body += &format!("<details><summary>SQL</summary><pre>{};</pre></details>\n", escaped(statement));
        Ok(())
    }

    /// The statements without rows, folded.
    fn flush(&mut self) {
        let statements = std::mem::take(&mut self.silent);
        if statements.is_empty() {
            return;
        }
        let text = statements.join(";\n\n");
        let summary = escaped(&summary::of(&statements));
        self.body += &format!("<details><summary>{summary}</summary><pre>{};</pre></details>\n", escaped(&text));
    }

    /// The page, once the script has run, with the versions of the data that it was made of.
    pub(super) fn page(mut self, script: &str, versions: &[(String, String)]) -> String {
        self.flush();
        let name = Path::new(script).file_stem().map_or("Report".into(), |stem| stem.to_string_lossy());
        let title = comments::capitalised(&name.replace(['_', '-'], " "));
        let mut html = page::head(&title);
        html += &format!("<h1>{}</h1>\n", escaped(&title));
        html += self.body.trim_start();
        html += "<h2>How this page was made</h2>\n";
        html += &format!("<p>BonnetDB {}, <code>bonnet report</code>.</p>\n", env!("CARGO_PKG_VERSION"));
        if !versions.is_empty() {
            html += "<p>Data:</p>\n<ul>\n";
            for (name, version) in versions {
                html += &format!("<li><code>{}</code>: {}</li>\n", escaped(name), escaped(version));
            }
            html += "</ul>\n";
        }
        let seeds = seeds(&self.read);
        if !seeds.is_empty() {
            html += "<p>Seeds: the same give the same numbers.</p>\n";
            let lines = format!("<pre>{}</pre>", escaped(&seeds.join("\n")));
            html += &match seeds.len() > SEEDS_SHOWN {
                true => format!("<details><summary>{} lines name seeds</summary>{lines}</details>\n", seeds.len()),
                false => lines + "\n",
            };
        }
        for (origin, text) in &self.read {
            html += &format!("<details><summary>{}</summary><pre>{}</pre></details>\n", escaped(origin), escaped(text));
        }
        html
    }
}

/// The picture alone.
fn picture(schema: &SchemaRef, batches: &[RecordBatch], request: &Request) -> Result<String, String> {
    let table = bonnetdb::pictures::table(schema, batches)?;
    let picture = bonnet_pictures::draw(&table, request).map_err(|error| error.to_string())?;
    Ok(page::picture(&picture.svg))
}

/// The lines of the scripts, without comments, that speak of a seed.
fn seeds(scripts: &[(String, String)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (origin, text) in scripts {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("--").next().unwrap_or_default().trim();
            if code.to_lowercase().contains("seed") && (code.contains("=>") || code.to_lowercase().contains(" as seed"))
            {
                lines.push(format!("{origin}:{}: {code}", number + 1));
            }
        }
    }
    lines
}
