//! The statement COPY, with the options of PostgreSQL, those before version 9 too, which psql sends.

use bonnet_dialect::syntax::tokens::split::{Lexeme, LexemeKind, Lexer};

use crate::failure::Failure;

/// A COPY over the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CopyStatement {
    pub(crate) direction: Direction,
    pub(crate) format: Format,
}

/// What is copied where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Into these columns of a table, or all of them. Names are as they are written.
    In { table: String, columns: Vec<String> },
    /// The rows of this query.
    Out { query: String },
}

/// How rows are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Format {
    Binary,
    Lines(LineFormat),
}

/// Rows as lines: PostgreSQL's own text, or CSV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineFormat {
    pub(crate) csv: bool,
    pub(crate) delimiter: u8,
    pub(crate) null: String,
    /// Whether the first line has the names of the columns.
    pub(crate) header: bool,
    pub(crate) quote: u8,
    pub(crate) escape: u8,
}

/// Whether a statement is a COPY over the connection: from STDIN or to STDOUT, not from or to a file.
pub(crate) fn asks(statement: &str) -> bool {
    let mut words = significant(statement);
    if !words.next().is_some_and(|word| is(&word, "COPY")) {
        return false;
    }
    let mut depth = 0_usize;
    let mut before = None;
    for lexeme in words {
        match lexeme.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if before.is_some_and(|before| is(&before, "FROM")) => return is(&lexeme, "STDIN"),
            _ if before.is_some_and(|before| is(&before, "TO")) => return is(&lexeme, "STDOUT"),
            _ => {}
        }
        before = (depth == 0).then_some(lexeme);
    }
    false
}

/// The COPY that a statement is.
///
/// # Errors
/// If it is none that PostgreSQL knows, or has options that are not supported here.
pub(crate) fn parse(statement: &str) -> Result<CopyStatement, Failure> {
    Parser { text: statement, lexemes: significant(statement).collect(), at: 1 }.copy()
}

fn significant(statement: &str) -> impl Iterator<Item = Lexeme<'_>> {
    Lexer::new(statement).filter(|lexeme| lexeme.is_significant() && !lexeme.is_semicolon())
}

fn is(lexeme: &Lexeme<'_>, word: &str) -> bool {
    lexeme.kind == LexemeKind::Word && lexeme.text.eq_ignore_ascii_case(word)
}

struct Parser<'a> {
    text: &'a str,
    lexemes: Vec<Lexeme<'a>>,
    at: usize,
}

/// The options as they are written.
#[derive(Default)]
struct Options {
    format: Option<String>,
    delimiter: Option<String>,
    null: Option<String>,
    header: bool,
    quote: Option<String>,
    escape: Option<String>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&Lexeme<'a>> {
        self.lexemes.get(self.at)
    }

    fn next(&mut self) -> Option<Lexeme<'a>> {
        let next = self.peek().copied();
        self.at += 1;
        next
    }

    fn take(&mut self, text: &str) -> bool {
        let found =
            self.peek().is_some_and(|next| next.kind != LexemeKind::Text && next.text.eq_ignore_ascii_case(text));
        self.at += usize::from(found);
        found
    }

    /// An error at the next word.
    fn wrong(&self, expected: &str) -> Failure {
        let (found, at) = match self.peek() {
            Some(next) => (format!("found {}", next.text), next.start),
            None => ("the statement ends".to_owned(), self.text.len()),
        };
        let failure = Failure::new("42601", format!("COPY: expected {expected}, {found}"));
        Failure { position: Some(self.text[..at].chars().count() + 1), ..failure }
    }

    fn copy(mut self) -> Result<CopyStatement, Failure> {
        let mut options = Options::default();
        if self.take("BINARY") {
            options.format = Some("binary".to_owned());
        }
        let from = self.peek().copied();
        let (source, columns) = match self.take("(") {
            true => (self.query()?, None),
            false => {
                let table = self.name()?;
                let columns = if self.take("(") { self.names()? } else { Vec::new() };
                (table, Some(columns))
            }
        };
        let direction = match (self.next(), columns) {
            (Some(word), Some(columns)) if is(&word, "FROM") => Direction::In { table: source, columns },
            (Some(word), Some(columns)) if is(&word, "TO") => {
                let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
                Direction::Out { query: format!("SELECT {columns} FROM {source}") }
            }
            (Some(word), None) if is(&word, "TO") => Direction::Out { query: source },
            (Some(word), None) if is(&word, "FROM") => {
                let failure =
                    Failure::new("42601", "rows are copied into a table, not into a query; COPY t FROM STDIN");
                let position = from.map(|from| self.text[..from.start].chars().count() + 1);
                return Err(Failure { position, ..failure });
            }
            _ => {
                self.at -= 1;
                return Err(self.wrong("FROM STDIN or TO STDOUT"));
            }
        };
        // STDIN or STDOUT.
        self.at += 1;
        self.options(&mut options)?;
        Ok(CopyStatement { direction, format: options.format()? })
    }

    /// A query in parentheses, as it is written.
    fn query(&mut self) -> Result<String, Failure> {
        let start = self.peek().map_or(self.text.len(), |next| next.start);
        let mut depth = 1;
        while let Some(next) = self.next() {
            match next.text {
                "(" => depth += 1,
                ")" if depth == 1 => return Ok(self.text[start..next.start].to_owned()),
                ")" => depth -= 1,
                _ => {}
            }
        }
        self.at = self.lexemes.len();
        Err(self.wrong("the parenthesis that ends the query"))
    }

    /// A name of one or more parts, as it is written.
    fn name(&mut self) -> Result<String, Failure> {
        let mut name = String::new();
        loop {
            match self.peek() {
                Some(next) if matches!(next.kind, LexemeKind::Word | LexemeKind::QuotedIdentifier) => {
                    name.push_str(next.text)
                }
                _ => return Err(self.wrong("a name")),
            }
            self.at += 1;
            if !self.take(".") {
                return Ok(name);
            }
            name.push('.');
        }
    }

    fn names(&mut self) -> Result<Vec<String>, Failure> {
        let mut names = vec![self.name()?];
        while self.take(",") {
            names.push(self.name()?);
        }
        if self.take(")") { Ok(names) } else { Err(self.wrong("the parenthesis that ends the columns")) }
    }

    fn options(&mut self, options: &mut Options) -> Result<(), Failure> {
        self.take("WITH");
        if self.take("(") {
            loop {
                self.option(options, true)?;
                if self.take(")") {
                    break;
                }
                if !self.take(",") {
                    return Err(self.wrong("a comma or the parenthesis that ends the options"));
                }
            }
        } else {
            while self.peek().is_some() {
                self.option(options, false)?;
            }
        }
        if self.peek().is_some() { Err(self.wrong("the end of the statement")) } else { Ok(()) }
    }

    /// One option, in parentheses or as before version 9 of PostgreSQL.
    fn option(&mut self, options: &mut Options, listed: bool) -> Result<(), Failure> {
        let name = match self.peek() {
            Some(next) if next.kind == LexemeKind::Word => next.text.to_ascii_uppercase(),
            _ => return Err(self.wrong("an option")),
        };
        self.at += 1;
        match name.as_str() {
            "FORMAT" if listed => options.format = Some(self.value()?.to_ascii_lowercase()),
            "BINARY" | "CSV" if !listed => options.format = Some(name.to_ascii_lowercase()),
            "DELIMITER" => {
                if !listed {
                    self.take("AS");
                }
                options.delimiter = Some(self.value()?);
            }
            "NULL" => {
                if !listed {
                    self.take("AS");
                }
                options.null = Some(self.value()?);
            }
            "QUOTE" | "ESCAPE" => {
                if !listed {
                    self.take("AS");
                }
                let value = Some(self.value()?);
                *(if name == "QUOTE" { &mut options.quote } else { &mut options.escape }) = value;
            }
            "HEADER" => options.header = !listed || self.truth()?,
            // Rows are committed with the statement in any case.
            "FREEZE" if listed => drop(self.truth()?),
            "ENCODING" => {
                let value = self.value()?;
                if !matches!(value.replace(['-', '_'], "").to_ascii_uppercase().as_str(), "UTF8" | "UNICODE") {
                    return Err(Failure::new("0A000", format!("COPY: texts are in UTF-8, not in {value}")));
                }
            }
            "FORCE_QUOTE" | "FORCE_NULL" | "FORCE_NOT_NULL" | "FORCE" | "ON_ERROR" | "LOG_VERBOSITY" | "DEFAULT" => {
                return Err(Failure::new("0A000", format!("COPY: the option {name} is not supported")));
            }
            _ => {
                self.at -= 1;
                return Err(self.wrong("FORMAT, DELIMITER, NULL, HEADER, QUOTE, ESCAPE or ENCODING"));
            }
        }
        Ok(())
    }

    /// The value of an option: a text, or a word.
    fn value(&mut self) -> Result<String, Failure> {
        match self.peek().copied() {
            Some(next) if next.kind == LexemeKind::Text && next.closed => {
                self.at += 1;
                Ok(text_of(next.text))
            }
            Some(next) if next.kind == LexemeKind::Word => {
                self.at += 1;
                Ok(next.text.to_owned())
            }
            Some(next) if next.kind == LexemeKind::QuotedIdentifier && next.closed => {
                self.at += 1;
                Ok(next.text.trim_matches('"').to_owned())
            }
            _ => Err(self.wrong("the option's value")),
        }
    }

    /// The value of an option that is on where it is named.
    fn truth(&mut self) -> Result<bool, Failure> {
        if self.peek().is_none_or(|next| matches!(next.text, "," | ")")) {
            return Ok(true);
        }
        let value = self.value()?;
        match value.to_ascii_lowercase().as_str() {
            "true" | "on" | "1" => Ok(true),
            "false" | "off" | "0" => Ok(false),
            "match" => {
                Err(Failure::new("0A000", "COPY: HEADER MATCH is not supported; HEADER passes over the first line"))
            }
            _ => Err(Failure::new("42601", format!("COPY: {value} is no truth value"))),
        }
    }
}

/// The text that a literal stands for: `'it''s'`, `E'\t'` or `$$a$$`.
fn text_of(literal: &str) -> String {
    if let Some(escaped) = literal.strip_prefix(['e', 'E']) {
        let mut text = String::new();
        let mut chars = escaped[1..escaped.len() - 1].chars();
        while let Some(next) = chars.next() {
            match (next, next == '\\' || next == '\'') {
                (_, false) => text.push(next),
                ('\\', _) => text.push(match chars.next() {
                    Some('t') => '\t',
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('b') => '\u{8}',
                    Some('f') => '\u{c}',
                    Some(other) => other,
                    None => '\\',
                }),
                // One of two.
                _ => text.extend(chars.next()),
            }
        }
        return text;
    }
    match literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inner) => inner.replace("''", "'"),
        None => {
            let tag = literal[1..].find('$').map_or(0, |end| end + 2);
            literal[tag..literal.len() - tag].to_owned()
        }
    }
}

impl Options {
    fn format(self) -> Result<Format, Failure> {
        let wrong = |text: String| Err(Failure::new("22023", format!("COPY: {text}")));
        let csv = match self.format.as_deref() {
            Some("binary") => {
                let others = self.delimiter.is_some() || self.null.is_some() || self.header || self.quote.is_some();
                return if others {
                    wrong("the binary format has no other options".to_owned())
                } else {
                    Ok(Format::Binary)
                };
            }
            Some("csv") => true,
            None | Some("text") => false,
            Some(other) => return wrong(format!("there is no format {other}; there are text, csv and binary")),
        };
        if !csv && (self.quote.is_some() || self.escape.is_some()) {
            return wrong("QUOTE and ESCAPE are options of FORMAT csv".to_owned());
        }
        let byte = |name: &str, value: Option<String>, default: u8| match value.as_deref().map(str::as_bytes) {
            None => Ok(default),
            Some(&[byte]) if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Ok(byte),
            Some(_) => {
                Err(Failure::new("22023", format!("COPY: {name} is one character of ASCII, and no end of a line")))
            }
        };
        let delimiter = byte("DELIMITER", self.delimiter, if csv { b',' } else { b'\t' })?;
        let quote = byte("QUOTE", self.quote, b'"')?;
        let escape = byte("ESCAPE", self.escape, quote)?;
        let null = self.null.unwrap_or_else(|| if csv { String::new() } else { "\\N".to_owned() });
        if !csv && (delimiter == b'\\' || delimiter == b'.' || delimiter.is_ascii_alphanumeric()) {
            return wrong("DELIMITER is no letter, digit, point or backslash in the text format".to_owned());
        }
        if csv && delimiter == quote {
            return wrong("DELIMITER and QUOTE are two characters".to_owned());
        }
        if null.contains(['\n', '\r']) || null.as_bytes().contains(&delimiter) {
            return wrong("NULL holds neither the delimiter nor an end of a line".to_owned());
        }
        Ok(Format::Lines(LineFormat { csv, delimiter, null, header: self.header, quote, escape }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(csv: bool, delimiter: u8, null: &str, header: bool) -> Format {
        Format::Lines(LineFormat { csv, delimiter, null: null.to_owned(), header, quote: b'"', escape: b'"' })
    }

    #[test]
    fn a_copy_over_the_connection_is_told_from_one_of_a_file() {
        for yes in [
            "COPY t FROM STDIN",
            "copy \"a b\".t (x, y) from stdin with (format csv)",
            "/* rows */ COPY (SELECT 'FROM' FROM t) TO STDOUT",
            "COPY  t FROM STDIN csv header",
            "COPY BINARY t TO STDOUT;",
        ] {
            assert!(asks(yes), "{yes}");
        }
        for no in [
            "COPY t FROM 'stdin'",
            "COPY t TO 'stdout.csv'",
            "SELECT 1",
            "COPY (SELECT 1 FROM stdin) TO 'a'",
            "COPY",
            "",
        ] {
            assert!(!asks(no), "{no}");
        }
    }

    #[test]
    fn options_of_all_times_are_read() {
        let of = |text: &str| parse(text).unwrap();
        let into = |table: &str, columns: &[&str], format| CopyStatement {
            direction: Direction::In {
                table: table.to_owned(),
                columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            },
            format,
        };
        assert_eq!(of("COPY t FROM STDIN"), into("t", &[], lines(false, b'\t', "\\N", false)));
        assert_eq!(
            of("COPY s.\"T\" (a, \"B c\") FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';', NULL 'NA')"),
            into("s.\"T\"", &["a", "\"B c\""], lines(true, b';', "NA", true))
        );
        assert_eq!(of("COPY t FROM STDIN CSV HEADER"), into("t", &[], lines(true, b',', "", true)));
        assert_eq!(
            of("COPY t FROM STDIN WITH DELIMITER AS E'\\t' NULL AS ''"),
            into("t", &[], lines(false, b'\t', "", false))
        );
        assert_eq!(of("COPY BINARY t FROM STDIN"), into("t", &[], Format::Binary));
        assert_eq!(of("COPY t FROM STDIN (FORMAT \"binary\")"), into("t", &[], Format::Binary));
        assert_eq!(
            of("COPY t FROM STDIN (FORMAT text, HEADER false)"),
            into("t", &[], lines(false, b'\t', "\\N", false))
        );
        let out = |text: &str| match of(text).direction {
            Direction::Out { query } => query,
            Direction::In { .. } => panic!("{text}"),
        };
        assert_eq!(out("COPY t (b, a) TO STDOUT"), "SELECT b, a FROM t");
        assert_eq!(out("COPY t TO STDOUT"), "SELECT * FROM t");
        assert_eq!(out("COPY (SELECT (1), ')') TO STDOUT"), "SELECT (1), ')'");
    }

    #[test]
    fn what_is_no_copy_is_told_with_its_place() {
        let of = |text: &str| parse(text).unwrap_err();
        let failure = of("COPY t (a FROM STDIN");
        assert_eq!((failure.code, failure.position), ("42601", Some(11)));
        assert!(of("COPY t FROM STDIN (FORMAT parquet)").message.contains("there is no format parquet"));
        assert_eq!(of("COPY t FROM STDIN (FORMAT csv, DELIMITER 'ab')").code, "22023");
        assert_eq!(of("COPY t FROM STDIN (FORMAT csv, FORCE_NULL (a))").code, "0A000");
        assert_eq!(of("COPY t FROM STDIN (FORMAT csv, ENCODING 'latin1')").code, "0A000");
        assert_eq!(of("COPY (SELECT 1) FROM STDIN").code, "42601");
        assert!(of("COPY t FROM STDIN (FORMAT csv").message.contains("the statement ends"));
        assert!(of("COPY t FROM STDIN (FORMAT binary, NULL '')").message.contains("no other options"));
    }
}
