//! Splitting a text of many statements, and the lexer beneath it.
//!
//! The lexer knows just enough of SQL to tell code from what only looks like it: strings, quoted identifiers, dollar
//! quotes and comments. It never fails; what is left open at the end of the text is marked so.

/// One statement of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The statement without its semicolon and without the comments and spaces around it.
    pub text: &'a str,
    /// The line of the text, from 1, on which the statement starts.
    pub line: usize,
    /// Whether a semicolon ends it. Only the last piece can lack one.
    pub complete: bool,
}

/// Splits a text at the semicolons that stand outside of strings, quoted identifiers, dollar quotes and comments.
/// Empty statements are dropped. One pass over the text.
pub fn split(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut lines = Lines::new(text);
    let mut open: Option<(usize, usize)> = None;
    for lexeme in Lexer::new(text) {
        if lexeme.is_semicolon() {
            if let Some((start, end)) = open.take() {
                pieces.push(Piece { text: &text[start..end], line: lines.line(start), complete: true });
            }
        } else if lexeme.is_significant() {
            let start = open.map_or(lexeme.start, |(start, _)| start);
            open = Some((start, lexeme.end()));
        }
    }
    if let Some((start, end)) = open {
        pieces.push(Piece { text: &text[start..end], line: lines.line(start), complete: false });
    }
    pieces
}

/// Turns rising byte offsets into lines, reading the text once.
pub struct Lines<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
    line_start: usize,
}

impl<'a> Lines<'a> {
    /// Counts the lines of this text.
    pub fn new(text: &'a str) -> Self {
        Self { text, offset: 0, line: 1, line_start: 0 }
    }

    /// The line, from 1, of this offset. Offsets must not fall from call to call.
    pub fn line(&mut self, offset: usize) -> usize {
        for (at, _) in self.text[self.offset..offset].match_indices('\n') {
            self.line += 1;
            self.line_start = self.offset + at + 1;
        }
        self.offset = offset;
        self.line
    }

    /// The column, from 1 and in characters, of the offset last asked for.
    pub fn column(&self) -> usize {
        self.text[self.line_start..self.offset].chars().count() + 1
    }
}

/// The kind of a lexeme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexemeKind {
    /// White space.
    Space,
    /// `-- ...` to the end of the line, or `/* ... */`, which nest.
    Comment,
    /// `'...'`, `E'...'` or `$tag$...$tag$`.
    Text,
    /// `"..."`.
    QuotedIdentifier,
    /// A keyword, a name or a number.
    Word,
    /// Any other single character.
    Symbol,
}

/// A stretch of the text of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lexeme<'a> {
    /// What kind of piece of the statement it is.
    pub kind: LexemeKind,
    /// Its characters, as written.
    pub text: &'a str,
    /// The byte at which it starts.
    pub start: usize,
    /// False where a quote or a comment is still open at the end of the text.
    pub closed: bool,
}

impl Lexeme<'_> {
    /// The offset in bytes behind its last character.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it ends a statement.
    pub fn is_semicolon(&self) -> bool {
        self.kind == LexemeKind::Symbol && self.text == ";"
    }

    /// Whether it belongs to a statement. An open comment does: the parser shall say that it is open.
    pub fn is_significant(&self) -> bool {
        !(matches!(self.kind, LexemeKind::Space | LexemeKind::Comment) && self.closed)
    }
}

/// Cuts a text into lexemes that cover it without gaps.
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of this text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Skips to the end of the line (past its newline) and gives what was skipped, without the newline.
    pub fn rest_of_line(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        self.at = (self.at + line.len() + 1).min(self.text.len());
        line
    }

    /// The byte at which the next lexeme starts.
    pub fn offset(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Lexeme<'a>;

    fn next(&mut self) -> Option<Lexeme<'a>> {
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (kind, length, closed) = match first {
            c if c.is_whitespace() => {
                (LexemeKind::Space, rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()), true)
            }
            '-' if rest.starts_with("--") => (LexemeKind::Comment, rest.find('\n').unwrap_or(rest.len()), true),
            '/' if rest.starts_with("/*") => ended(LexemeKind::Comment, rest, block_comment(rest)),
            '\'' => ended(LexemeKind::Text, rest, quoted(rest, '\'', false)),
            'e' | 'E' if rest[1..].starts_with('\'') => {
                ended(LexemeKind::Text, rest, quoted(&rest[1..], '\'', true).map(|length| length + 1))
            }
            '"' => ended(LexemeKind::QuotedIdentifier, rest, quoted(rest, '"', false)),
            '$' => match dollar_tag(rest) {
                Some(tag) => {
                    let close = rest[tag.len()..].find(tag).map(|at| at + 2 * tag.len());
                    ended(LexemeKind::Text, rest, close)
                }
                None => (LexemeKind::Symbol, 1, true),
            },
            c if is_word(c) => {
                (LexemeKind::Word, rest.find(|c: char| !is_word(c) && c != '$').unwrap_or(rest.len()), true)
            }
            c => (LexemeKind::Symbol, c.len_utf8(), true),
        };
        let lexeme = Lexeme { kind, text: &rest[..length], start: self.at, closed };
        self.at += length;
        Some(lexeme)
    }
}

fn ended(kind: LexemeKind, rest: &str, length: Option<usize>) -> (LexemeKind, usize, bool) {
    (kind, length.unwrap_or(rest.len()), length.is_some())
}

/// Whether a character may stand in an unquoted name or a keyword.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a quoted stretch with its quotes; a doubled quote is part of it. None where it is not closed.
fn quoted(text: &str, quote: char, backslash_escapes: bool) -> Option<usize> {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if c == '\\' && backslash_escapes {
            characters.next();
        } else if c == quote && characters.next_if(|&(_, next)| next == quote).is_none() {
            return Some(at + 1);
        }
    }
    None
}

/// The length of a block comment and of those nested in it. None where it is not closed.
fn block_comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" if depth == 1 => return Some(at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    None
}

/// The `$tag$` with which the text starts; a tag is empty or a name that does not start with a digit.
fn dollar_tag(text: &str) -> Option<&str> {
    let name = &text[1..];
    let length = name.find(|c: char| !is_word(c)).unwrap_or(name.len());
    let is_tag = name[length..].starts_with('$') && !name.starts_with(|c: char| c.is_numeric());
    is_tag.then(|| &text[..length + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        split(text).into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn statements_end_at_semicolons() {
        assert_eq!(
            split("SELECT 1;\n\n  SELECT\n 2 ;SELECT 3"),
            [
                Piece { text: "SELECT 1", line: 1, complete: true },
                Piece { text: "SELECT\n 2", line: 3, complete: true },
                Piece { text: "SELECT 3", line: 4, complete: false },
            ]
        );
    }

    #[test]
    fn empty_statements_are_dropped() {
        assert_eq!(texts(" ;; -- nothing\n; /* nothing */ ;"), [""; 0]);
        assert_eq!(texts(""), [""; 0]);
    }

    #[test]
    fn a_semicolon_in_quotes_ends_nothing() {
        for statement in [
            "SELECT 'a;b'",
            "SELECT 'it''s; so'",
            r"SELECT E'it\'s; so'",
            r"SELECT e'\\', 1",
            "SELECT \"a;\"\"b\"",
            "SELECT $$a;'b$$",
            "SELECT $f$a; $$ $g$ ; $f$",
        ] {
            assert_eq!(texts(&format!("{statement}; x")), [statement, "x"]);
        }
    }

    #[test]
    fn a_backslash_is_plain_in_a_plain_string() {
        assert_eq!(texts(r"SELECT '\'; x"), [r"SELECT '\'", "x"]);
        assert_eq!(texts(r"SELECT note'\'; x"), [r"SELECT note'\'", "x"]);
    }

    #[test]
    fn a_semicolon_in_a_comment_ends_nothing() {
        assert_eq!(texts("SELECT -- a;b\n 1; x"), ["SELECT -- a;b\n 1", "x"]);
        assert_eq!(texts("SELECT /* a; /* b; */ c; */ 1; x"), ["SELECT /* a; /* b; */ c; */ 1", "x"]);
        assert_eq!(texts("SELECT '--'; x"), ["SELECT '--'", "x"]);
    }

    #[test]
    fn comments_around_a_statement_are_not_part_of_it() {
        let text = "-- first\n/* second\n */ SELECT 1 -- last\n;";
        assert_eq!(split(text), [Piece { text: "SELECT 1", line: 3, complete: true }]);
    }

    #[test]
    fn a_dollar_in_a_name_or_before_a_number_opens_nothing() {
        assert_eq!(texts("SELECT a$b$; x$b$"), ["SELECT a$b$", "x$b$"]);
        assert_eq!(texts("SELECT $1; SELECT $2"), ["SELECT $1", "SELECT $2"]);
    }

    #[test]
    fn what_stays_open_is_not_complete() {
        for text in ["SELECT ';", "SELECT \";", "SELECT $a$;$b$", "/* ;", "SELECT E'\\';"] {
            assert_eq!(split(text), [Piece { text, line: 1, complete: false }]);
        }
    }

    #[test]
    fn lexemes_cover_any_text_without_gaps() {
        for text in ["α 'β;' -- γ\n/*δ/**/", "$", "$é$ x $é$;", "e'", "'\\", "🦀\u{a0};\u{2028}\"", "-", "/", "1e'2'"]
        {
            let joined: String = Lexer::new(text).map(|lexeme| lexeme.text).collect();
            assert_eq!(joined, text);
        }
    }
}
