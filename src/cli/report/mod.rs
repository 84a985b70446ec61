//! `bonnet report script.sql -o report.html`: a script as a page, with what its comments say, the tables that it answers
//! with, and a picture of each.

mod comments;
mod versions;

use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bonnet_pictures::{Request, escaped};
use clap::Args;

use self::comments::Block;
use super::resources::Resources;
use super::shell::{Failure, Shell};
use super::{Arguments, variable};
use crate::pictures::{figure, page};

/// Run a script and write a page of what it says and answers: comments as text, tables, pictures
///
/// The page is one file that asks for nothing from elsewhere. A comment `-- \plot kind x y color` above a statement says what
/// picture its rows have; `-- \plot none` says that they have none. The same script on the same data gives the same page.
#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// The script
    #[arg(value_name = "SCRIPT")]
    script: String,

    /// The page to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The folder of a lasting database; without it everything is in memory
    #[arg(long, value_name = "DATABASE")]
    database: Option<PathBuf>,

    /// Set a variable of the script
    #[arg(short = 'v', long = "variable", value_name = "NAME=VALUE", value_parser = variable)]
    variable: Vec<(String, String)>,

    #[command(flatten)]
    resources: Resources,
}

impl ReportArguments {
    /// The arguments of the shell in which the script runs.
    pub(super) fn shell(&self) -> Arguments {
        Arguments {
            database: self.database.clone(),
            variable: self.variable.clone(),
            resources: self.resources.clone(),
            quiet: true,
            ..Arguments::default()
        }
    }
}

/// Runs the script in this shell and writes the page; a script that fails leaves the page that was there.
pub(super) fn run(arguments: &ReportArguments, shell: &mut Shell) -> Result<(), Failure> {
    shell.report = Some(Report::default());
    shell.run_file(&arguments.script)?;
    let page = finished(shell, &arguments.script)?;
    write(&arguments.output, &page)
}

fn write(path: &Path, page: &str) -> Result<(), Failure> {
    // Written aside: who has the old page open sees the old or the new one.
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.part", std::process::id()));
    let written = std::fs::write(&aside, page).and_then(|()| std::fs::rename(&aside, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&aside);
        Failure::error(format!("'{}' cannot be written: {error}", path.display()))
    })
}

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
    /// What the next rows are to be drawn as.
    plots: Vec<Plot>,
    /// Statements without rows since the last that had some.
    silent: Vec<String>,
}

/// What a comment says of the picture of the rows to come.
#[derive(Debug)]
enum Plot {
    None,
    Of(Request),
}

impl Report {
    /// A script begins.
    pub(super) fn enter(&mut self, origin: &str) {
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
    pub(super) fn leave(&mut self) -> Result<(), Failure> {
        let end = self.open.last().map_or(0, |source| source.lines.len());
        self.before(end + 1)?;
        self.places.pop();
        self.open.pop();
        Ok(())
    }

    /// An item begins at this line, from 1: the comments before it are text.
    ///
    /// # Errors
    /// If one asks for a picture that there is none of.
    pub(super) fn before(&mut self, line: usize) -> Result<(), Failure> {
        let Some(source) = self.open.last_mut() else { return Ok(()) };
        let (from, to) = (source.done.min(line - 1), line - 1);
        let blocks = comments::blocks(&source.lines[from..to]);
        source.done = source.lines.len().max(to);
        for block in blocks {
            match block {
                Block::Plot(text) if text.trim() == "none" => self.plots.push(Plot::None),
                Block::Plot(text) => {
                    let wrong = |error| Failure::error(format!("\\plot {text}: {error}"));
                    self.plots.push(Plot::Of(Request::parse(&text).map_err(wrong)?));
                }
                other => {
                    self.flush();
                    self.body += &other.html();
                }
            }
        }
        Ok(())
    }

    /// A line that the script itself says.
    pub(super) fn say(&mut self, text: &str) {
        self.flush();
        self.body += &format!("<p class=\"lead\">{}</p>\n", comments::prose(text));
    }

    /// A statement that answers no rows.
    pub(super) fn done(&mut self, statement: &str) {
        self.silent.push(statement.to_owned());
    }

    /// The rows of a statement.
    ///
    /// # Errors
    /// If a picture that is asked for cannot be drawn.
    pub(super) fn rows(&mut self, statement: &str, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<(), Failure> {
        self.flush();
        let plots = std::mem::take(&mut self.plots);
        if plots.is_empty() {
            self.body += &figure(schema, batches, &Request::default()).map_err(Failure::error)?;
        } else {
            for plot in &plots {
                if let Plot::Of(request) = plot {
                    let drawn = picture(schema, batches, request);
                    self.body += &drawn.map_err(|error| Failure::error(format!("\\plot: {error}")))?;
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
        let count =
            if statements.len() == 1 { "1 statement".to_owned() } else { format!("{} statements", statements.len()) };
        let text = statements.join(";\n\n");
        self.body += &format!("<details><summary>{count}</summary><pre>{};</pre></details>\n", escaped(&text));
    }
}

/// The picture alone.
fn picture(schema: &SchemaRef, batches: &[RecordBatch], request: &Request) -> Result<String, String> {
    let table = crate::pictures::table(schema, batches)?;
    let picture = bonnet_pictures::draw(&table, request).map_err(|error| error.to_string())?;
    Ok(page::picture(&picture.svg))
}

/// The page, once the script has run.
fn finished(shell: &mut Shell, script: &str) -> Result<String, Failure> {
    let versions = shell.runtime.block_on(versions::versions(&shell.session))?;
    let Some(mut report) = shell.report.take() else { return Err(Failure::error("there is no report")) };
    report.flush();
    let name = Path::new(script).file_stem().map_or("Report".into(), |stem| stem.to_string_lossy());
    let title = comments::capitalised(&name.replace(['_', '-'], " "));
    let mut html = page::head(&title);
    html += &format!("<h1>{}</h1>\n", escaped(&title));
    html += report.body.trim_start();
    html += "<h2>How this page was made</h2>\n";
    html += &format!("<p>BonnetDB {}, <code>bonnet report</code>.</p>\n", env!("CARGO_PKG_VERSION"));
    if !versions.is_empty() {
        html += "<p>Data:</p>\n<ul>\n";
        for (name, version) in &versions {
            html += &format!("<li><code>{}</code>: {}</li>\n", escaped(name), escaped(version));
        }
        html += "</ul>\n";
    }
    let seeds = seeds(&report.read);
    if !seeds.is_empty() {
        html += "<p>Seeds: the same give the same numbers.</p>\n<pre>";
        html += &escaped(&seeds.join("\n"));
        html += "</pre>\n";
    }
    for (origin, text) in &report.read {
        html += &format!("<details><summary>{}</summary><pre>{}</pre></details>\n", escaped(origin), escaped(text));
    }
    Ok(html)
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
