//! Backslash commands.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use bonnet_pictures::Request;
use bonnet_sql::outside_databases;
use bonnetdb::pictures::{self, Document};
use clap::ValueEnum;

use super::failure::ScriptFailure;
use super::output::Format;
use super::shell::Shell;

/// The commands, with what `\?` says of them.
pub(super) const COMMANDS: &[(&str, &str, &str)] = &[
    (
        "\\d",
        "[table]",
        "list tables and graphs, or the columns of a table, the tables of a graph, or what a function is",
    ),
    ("\\df", "[pattern]", "list functions; a pattern matches anywhere in the name, or with * and ? the whole name"),
    ("\\digits", "[n]", "show or set how many digits behind the point a terminal shows (0: all)"),
    ("\\default", "name value", "set a variable that nobody has set"),
    ("\\dn", "", "list schemas"),
    ("\\dt", "[pattern]", "list tables; a pattern as of \\df"),
    ("\\dv", "[pattern]", "list views"),
    ("\\echo", "text", "write text to standard output"),
    ("\\format", "[name]", "show or set the format: table, csv, json, ndjson, markdown, svg, html, vega-lite"),
    ("\\i", "file", "run a script"),
    ("\\ir", "file", "run a script that lies beside the one that says so"),
    ("\\l", "", "list databases: memory, and what is attached"),
    ("\\o", "[file]", "send rows to a file, or back to standard output"),
    ("\\pager", "[on|off]", "scroll through results on a terminal, with $PAGER or less"),
    ("\\plot", "file [kind x y color]", "draw the last result: a file that ends in .svg, .html or .json (Vega-Lite)"),
    ("\\q", "", "end this script, or leave"),
    ("\\rows", "[n]", "show or set how many rows of a result a terminal shows (0: all)"),
    ("\\set", "[name [value]]", "list the variables, or set one: used as :name, :'name' or :\"name\""),
    ("\\timing", "[on|off]", "show how long statements take"),
    ("\\unset", "name", "forget a variable"),
    ("\\x", "[on|off]", "give each column of a row a line of its own"),
    ("\\?", "", "this list"),
];

/// A double has no more that tell it from its neighbours.
const MOST_DIGITS: usize = 17;

/// The time that a listing may take.
const PATIENCE: Duration = Duration::from_secs(60);

impl Shell {
    /// Runs a command: its line without the backslash, variables already put in.
    pub(super) fn run_command(&mut self, line: &str) -> Result<ControlFlow<()>, ScriptFailure> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let arguments = arguments(rest).map_err(ScriptFailure::error)?;
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match (name, arguments.as_slice()) {
            ("q" | "quit", []) => return Ok(ControlFlow::Break(())),
            ("?", []) => self.help()?,
            ("d", []) => self.list_tables()?,
            ("d", [table]) => self.describe(table)?,
            ("df", []) => self.list_functions("*")?,
            ("df", [pattern]) => self.list_functions(pattern)?,
            ("dn", []) => self.list_schemas()?,
            ("dt", [] | [_]) => self.list_kind("BASE TABLE", arguments.first().unwrap_or(&"*"))?,
            ("dv", [] | [_]) => self.list_kind("VIEW", arguments.first().unwrap_or(&"*"))?,
            ("l", []) => self.list_databases()?,
            ("echo", words) => match &mut self.report {
                Some(report) => report.say(&words.join(" ")),
                None => self.output.echo(&words.join(" "))?,
            },
            // A page takes all rows, in its own format.
            ("o" | "format" | "x", _) if self.report.is_some() => {}
            ("format", []) => self.message(&format!("The format is {}.", name_of(self.output.format))),
            ("format", [format]) => {
                self.output.format = Format::from_str(format, true).map_err(|_| no_format(format))?
            }
            ("i", [path]) => self.run_file(unquoted(path))?,
            ("ir", [path]) => self.run_file(&self.beside(unquoted(path)))?,
            ("o", []) => self.output.redirect(None)?,
            ("o", [path]) => {
                let path = unquoted(path);
                let refused = |error| ScriptFailure::error(format!("'{path}' cannot be written: {error}"));
                self.output.redirect(Some(path)).map_err(refused)?;
            }
            ("plot", [path, words @ ..]) => self.plot(unquoted(path), words)?,
            ("rows", []) => self.message(&match self.output.screen_rows {
                usize::MAX => "A terminal shows all rows.".to_owned(),
                rows => format!("A terminal shows {rows} rows of a result."),
            }),
            ("rows", [count]) => match count.parse() {
                Ok(0) => self.output.screen_rows = usize::MAX,
                Ok(rows) => self.output.screen_rows = rows,
                Err(_) => return Err(ScriptFailure::error(format!("\\rows takes a number of rows, not `{count}`"))),
            },
            ("digits", []) => self.message(&match self.output.screen_digits {
                None => "A terminal shows all digits.".to_owned(),
                Some(digits) => format!("A terminal shows {digits} digits behind the point."),
            }),
            ("digits", [count]) => match count.parse() {
                Ok(0) => self.output.screen_digits = None,
                Ok(digits) if digits <= MOST_DIGITS => self.output.screen_digits = Some(digits),
                _ => {
                    let text = format!("\\digits takes a number of digits up to {MOST_DIGITS}, not `{count}`");
                    return Err(ScriptFailure::error(text));
                }
            },
            ("set", []) => {
                let lines: Vec<String> =
                    self.variables.iter().map(|(name, value)| format!("{name} = '{value}'")).collect();
                for line in lines {
                    self.output.echo(&line)?;
                }
            }
            ("set", [variable, value @ ..]) => {
                self.variables.set(variable, &value.concat()).map_err(ScriptFailure::error)?;
            }
            ("default", [variable, value @ ..]) if !value.is_empty() => {
                if self.variables.iter().all(|(known, _)| known != *variable) {
                    self.variables.set(variable, &value.concat()).map_err(ScriptFailure::error)?;
                }
            }
            ("unset", [variable]) => self.variables.unset(variable),
            ("timing", words) if let Some(on) = switched(words, self.timing) => {
                self.timing = on;
                self.message_switch("Timing", on);
            }
            ("x", words) if let Some(on) = switched(words, self.output.expanded) => {
                self.output.expanded = on;
                self.message_switch("A line for each column", on);
            }
            ("pager", words) if let Some(on) = switched(words, self.output.paged) => {
                self.output.paged = on;
                self.message_switch("The pager", on);
            }
            _ => return Err(ScriptFailure::error(usage(name))),
        }
        Ok(ControlFlow::Continue(()))
    }

    fn message_switch(&self, what: &str, on: bool) {
        self.message(&format!("{what} is {}.", if on { "on" } else { "off" }));
    }

    fn help(&mut self) -> Result<(), ScriptFailure> {
        for (name, arguments, text) in COMMANDS {
            self.output.echo(&format!("{:<22} {text}", format!("{name} {arguments}")))?;
        }
        self.output.echo("Statements end with a semicolon. Ctrl-C stops a statement, Ctrl-D leaves.")?;
        Ok(())
    }

    /// The file as it is seen from the folder of the script that is being run.
    fn beside(&self, path: &str) -> String {
        let folder = self.scripts.last().and_then(|script| Path::new(script).parent());
        folder.map_or_else(|| path.to_owned(), |folder| folder.join(path).to_string_lossy().into_owned())
    }

    /// Draws the last result into a file, as the words say.
    fn plot(&mut self, path: &str, words: &[&str]) -> Result<(), ScriptFailure> {
        let document = match Path::new(path).extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Document::Svg,
            Some("html") => Document::Html,
            Some("json") => Document::VegaLite,
            Some("pdf") => Document::Pdf,
            Some("png") => Document::Png,
            _ => {
                return Err(ScriptFailure::error(format!(
                    "'{path}' ends in none of .svg, .html, .json, .pdf and .png"
                )));
            }
        };
        let request =
            Request::from_words(words.iter().copied()).map_err(|error| ScriptFailure::error(error.to_string()))?;
        let Some((schema, batches)) = &self.last else {
            let text = "there is no last result to draw, or it is too large to be kept: COPY (query) TO 'file.svg'";
            return Err(ScriptFailure::error(text));
        };
        let drawn = pictures::document(document, schema, batches, &request).map_err(ScriptFailure::error)?;
        let refused = |error| ScriptFailure::error(format!("'{path}' cannot be written: {error}"));
        outside_databases(Path::new(path)).map_err(std::io::Error::other).map_err(refused)?;
        std::fs::write(path, drawn).map_err(refused)?;
        self.message(&format!("'{path}' is written."));
        Ok(())
    }

    /// Shows what a listing answers: on a terminal as a table, whatever the format of results is.
    fn show(&mut self, query: &str) -> Result<(), ScriptFailure> {
        let format = self.output.format;
        if self.output.is_screen() {
            self.output.format = Format::Table;
        }
        let shown = self.run_statement(query);
        self.output.format = format;
        shown
    }

    fn list_databases(&mut self) -> Result<(), ScriptFailure> {
        self.show(
            "SELECT catalog_name AS database, count(*) AS schemas FROM information_schema.schemata \
             GROUP BY catalog_name ORDER BY database",
        )
    }

    fn list_schemas(&mut self) -> Result<(), ScriptFailure> {
        self.show(
            "SELECT catalog_name AS catalog, schema_name AS name FROM information_schema.schemata \
             WHERE schema_name NOT IN ('information_schema', 'bonnet') ORDER BY catalog, name",
        )
    }

    fn list_kind(&mut self, kind: &str, pattern: &str) -> Result<(), ScriptFailure> {
        self.show(&format!(
            "SELECT table_catalog AS catalog, table_schema AS schema, table_name AS name \
             FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'bonnet') \
             AND table_type = '{kind}' AND lower(table_name) LIKE '{}' ESCAPE '\\' ORDER BY catalog, schema, name",
            like(pattern)
        ))
    }

    fn list_tables(&mut self) -> Result<(), ScriptFailure> {
        self.show(
            "SELECT table_catalog AS catalog, table_schema AS schema, table_name AS name, table_type AS type \
             FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'bonnet') \
             ORDER BY catalog, schema, name",
        )?;
        // Only what is known without reading the graphs.
        self.show("SELECT graph, format, location FROM bonnet.graphs ORDER BY graph")?;
        for (name, why) in self.session.damaged() {
            self.message(&format!("{name} cannot be read: {why}"));
        }
        Ok(())
    }

    fn describe(&mut self, name: &str) -> Result<(), ScriptFailure> {
        // DESCRIBE finds the name as a query would, in the current schema too.
        let missing = match self.show(&format!("DESCRIBE {name}")) {
            Err(ScriptFailure::Error(text, _)) => text,
            other => return other,
        };
        let schema = unquoted(name).replace('\'', "''");
        let tables = format!("FROM information_schema.tables WHERE table_schema = '{schema}'");
        let count = self.ask(&format!("SELECT count(*) AS n {tables}"), PATIENCE)?;
        let none = |count: &[Vec<String>]| count.first().and_then(|row| row.first()).is_none_or(|count| count == "0");
        if none(&count) {
            let function = format!("FROM bonnet.functions WHERE name = '{}'", schema.to_lowercase());
            return match none(&self.ask(&format!("SELECT count(*) AS n {function}"), PATIENCE)?) {
                true => Err(ScriptFailure::error(missing)),
                false => self.show(&format!("SELECT name, kind, signature, returns, description {function}")),
            };
        }
        self.show(&format!("SELECT table_name AS name, table_type AS type {tables} ORDER BY name"))
    }

    fn list_functions(&mut self, pattern: &str) -> Result<(), ScriptFailure> {
        self.show(&format!(
            "SELECT name, kind, signature, description FROM bonnet.functions WHERE name LIKE '{}' ESCAPE '\\' \
             ORDER BY name",
            like(pattern)
        ))
    }
}

/// The value of a switch after the words behind it; `None` where they are wrong.
fn switched(words: &[&str], now: bool) -> Option<bool> {
    match words {
        [] => Some(!now),
        ["on"] => Some(true),
        ["off"] => Some(false),
        _ => None,
    }
}

/// The LIKE pattern, ready to stand in quotes, of a pattern with `*` and `?`; one without them matches anywhere.
fn like(pattern: &str) -> String {
    let wild = pattern.contains(['*', '?']);
    let body: String = pattern
        .to_lowercase()
        .chars()
        .map(|c| match c {
            '*' => "%".to_owned(),
            '?' => "_".to_owned(),
            '%' | '_' | '\\' => format!("\\{c}"),
            '\'' => "''".to_owned(),
            c => c.to_string(),
        })
        .collect();
    if wild { body } else { format!("%{body}%") }
}

fn name_of(format: Format) -> String {
    format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn no_format(format: &str) -> ScriptFailure {
    let names: Vec<String> = Format::value_variants().iter().map(|&format| name_of(format)).collect();
    ScriptFailure::error(format!("there is no format `{format}`: use one of {}", names.join(", ")))
}

fn usage(name: &str) -> String {
    let command = format!("\\{name}");
    match COMMANDS.iter().find(|(known, ..)| *known == command) {
        Some((_, "", _)) => format!("{command} takes no argument"),
        Some((_, arguments, _)) => format!("use it so: {command} {arguments}"),
        None => format!("there is no command `{command}`: \\? lists the commands"),
    }
}

/// Cuts a line into arguments at spaces. Single quotes keep spaces and go away (a doubled one stands for itself);
/// double quotes keep spaces and stay, since they are part of a SQL name.
fn arguments(line: &str) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    let mut open: Option<String> = None;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        if c.is_whitespace() {
            arguments.extend(open.take());
            continue;
        }
        let argument = open.get_or_insert_with(String::new);
        if c != '\'' && c != '"' {
            argument.push(c);
            continue;
        }
        if c == '"' {
            argument.push(c);
        }
        loop {
            match characters.next() {
                None => return Err(format!("a quote {c} is not closed")),
                Some(next) if next == c => {
                    let doubled = characters.next_if_eq(&c).is_some();
                    if c == '"' {
                        argument.push(c);
                    }
                    if !doubled {
                        break;
                    }
                    argument.push(c);
                }
                Some(next) => argument.push(next),
            }
        }
    }
    arguments.extend(open);
    Ok(arguments)
}

/// An argument without the double quotes around it.
fn unquoted(argument: &str) -> &str {
    argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_cut_at_spaces_outside_of_quotes() {
        assert_eq!(arguments("").unwrap(), [""; 0]);
        assert_eq!(arguments("  a  b ").unwrap(), ["a", "b"]);
        assert_eq!(arguments("x 'two words' 'it''s' ''").unwrap(), ["x", "two words", "it's", ""]);
        assert_eq!(arguments("s.\"My \"\"Table\"\"\" t").unwrap(), ["s.\"My \"\"Table\"\"\"", "t"]);
        assert!(arguments("it's").unwrap_err().contains("not closed"));
    }

    #[test]
    fn a_pattern_without_wildcards_matches_anywhere() {
        assert_eq!(like("Ricci"), "%ricci%");
        assert_eq!(like("*"), "%");
        assert_eq!(like("forman*"), "forman%");
        assert_eq!(like("a_b?'"), "a\\_b_''");
    }

    #[test]
    fn a_wrong_use_says_the_right_one() {
        assert_eq!(usage("i"), "use it so: \\i file");
        assert_eq!(usage("q"), "\\q takes no argument");
        assert!(usage("nonsense").contains("\\? lists"));
    }
}
