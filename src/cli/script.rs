//! Reading scripts: lines go in, statements and backslash commands come out as soon as they are whole.

use std::io::{self, BufRead};

use crate::front::split::{Lexer, Lines};

/// One thing to run, and the place in its script at which it starts (line and column from 1).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) task: Task,
    pub(super) line: usize,
    pub(super) column: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// A statement, without its semicolon.
    Statement(String),
    /// A backslash command: the rest of its line after the backslash.
    Command(String),
}

/// The part of a script that is read but not yet run.
pub(super) struct Pending {
    text: String,
    /// The lines before `text`, and the characters before it in its first line.
    lines_before: usize,
    columns_before: usize,
}

impl Pending {
    pub(super) fn new() -> Self {
        Self { text: String::new(), lines_before: 0, columns_before: 0 }
    }

    /// Takes a line with its newline and gives what is whole by now.
    pub(super) fn push(&mut self, line: &str) -> Vec<Item> {
        self.text.push_str(line);
        // Nothing else can end a statement or be a command: long statements are not read again for every line.
        if line.contains(';') || line.trim_start().starts_with('\\') { self.take(false) } else { Vec::new() }
    }

    /// Gives what remains at the end of the script, where the last statement may lack its semicolon.
    pub(super) fn finish(&mut self) -> Vec<Item> {
        self.take(true)
    }

    fn take(&mut self, at_end: bool) -> Vec<Item> {
        let text = std::mem::take(&mut self.text);
        let mut items = Vec::new();
        let mut lines = Lines::new(&text);
        let mut lexer = Lexer::new(&text);
        // What is open: the first and the last byte of a statement. What is done: the bytes before `taken`.
        let mut open: Option<(usize, usize)> = None;
        let mut taken = 0;
        let mut item = |task: Task, start: usize| {
            let line = lines.line(start);
            let column = lines.column() + if line == 1 { self.columns_before } else { 0 };
            items.push(Item { task, line: self.lines_before + line, column });
        };
        while let Some(lexeme) = lexer.next() {
            if lexeme.is_semicolon() {
                if let Some((start, end)) = open.take() {
                    item(Task::Statement(text[start..end].to_owned()), start);
                }
                taken = lexeme.end();
            } else if open.is_none() && lexeme.text == "\\" && starts_line(&text[..lexeme.start]) {
                let command = lexer.rest_of_line();
                item(Task::Command(command.trim().to_owned()), lexeme.start);
                taken = lexer.offset();
            } else if lexeme.is_significant() {
                open = Some((open.map_or(lexeme.start, |(start, _)| start), lexeme.end()));
            }
        }
        if at_end {
            if let Some((start, end)) = open {
                item(Task::Statement(text[start..end].to_owned()), start);
            }
            taken = text.len();
        }
        let before = &text[..taken];
        if before.contains('\n') {
            self.columns_before = 0;
        }
        self.columns_before += before.rsplit('\n').next().unwrap_or_default().chars().count();
        self.lines_before += before.matches('\n').count();
        self.text = text[taken..].to_owned();
        items
    }
}

/// Whether only spaces stand between this text's last newline and its end.
fn starts_line(before: &str) -> bool {
    before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
}

/// Whether an input at the prompt is whole: a command, nothing at all, or statements that are all ended.
pub(super) fn is_whole(input: &str) -> bool {
    if input.trim_start().starts_with('\\') {
        return true;
    }
    let mut pending = Pending { text: input.to_owned(), ..Pending::new() };
    pending.take(false);
    pending.finish().is_empty()
}

/// The lines of a script as text; a line that is not UTF-8 is an error that names it.
pub(super) struct ScriptLines<R> {
    reader: R,
    line: usize,
}

impl<R: BufRead> ScriptLines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, line: 0 }
    }

    /// The next line with its newline, or the line's number and what is wrong with it.
    pub(super) fn next(&mut self) -> Result<Option<String>, (usize, String)> {
        let mut bytes = Vec::new();
        self.line += 1;
        loop {
            match self.reader.read_until(b'\n', &mut bytes) {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err((self.line, format!("the script cannot be read: {error}"))),
            }
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8(bytes).map_err(|_| (self.line, "this line is not UTF-8 text".to_owned()))?;
        let text = if self.line == 1 { text.trim_start_matches('\u{feff}').to_owned() } else { text };
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<Item> {
        let mut pending = Pending::new();
        let mut items: Vec<Item> = text.split_inclusive('\n').flat_map(|line| pending.push(line)).collect();
        items.extend(pending.finish());
        items
    }

    fn statement(text: &str, line: usize, column: usize) -> Item {
        Item { task: Task::Statement(text.into()), line, column }
    }

    fn command(text: &str, line: usize, column: usize) -> Item {
        Item { task: Task::Command(text.into()), line, column }
    }

    #[test]
    fn statements_and_commands_come_with_their_places() {
        assert_eq!(
            items("-- head\n\nSELECT\n 1;  SELECT 'é'; x;\n\\echo it's; here\n  \\set a 1\nSELECT 2"),
            [
                statement("SELECT\n 1", 3, 1),
                statement("SELECT 'é'", 4, 6),
                statement("x", 4, 18),
                command("echo it's; here", 5, 1),
                command("set a 1", 6, 3),
                statement("SELECT 2", 7, 1),
            ]
        );
    }

    #[test]
    fn a_backslash_inside_a_statement_is_no_command() {
        assert_eq!(items("SELECT 1 +\n\\echo;\n"), [statement("SELECT 1 +\n\\echo", 1, 1)]);
        assert_eq!(items("SELECT '\n\\q\n';"), [statement("SELECT '\n\\q\n'", 1, 1)]);
        assert_eq!(items("/*\n\\q\n*/ SELECT 1"), [statement("SELECT 1", 3, 4)]);
    }

    #[test]
    fn a_statement_comes_out_with_the_line_that_ends_it() {
        let mut pending = Pending::new();
        assert_eq!(pending.push("SELECT\n"), []);
        assert_eq!(pending.push("';', 1\n"), []);
        assert_eq!(pending.push("; SELECT\n"), [statement("SELECT\n';', 1", 1, 1)]);
        assert_eq!(pending.push("\n"), []);
        assert_eq!(pending.push("2;\n"), [statement("SELECT\n\n2", 3, 3)]);
        assert_eq!(pending.finish(), []);
    }

    #[test]
    fn lines_split_by_carriage_returns_too_are_counted_once() {
        assert_eq!(items("SELECT 1;\r\nSELECT 2;\r\n\\q\r\n").last(), Some(&command("q", 3, 1)));
    }

    #[test]
    fn an_input_is_whole_when_nothing_is_open() {
        for whole in ["", "  ", "\\d", " \\d t", "SELECT 1;", "SELECT 1; -- ;", "SELECT ';'; ", "-- SELECT", "/* a */"]
        {
            assert!(is_whole(whole), "{whole}");
        }
        for open in ["SELECT 1", "SELECT ';", "SELECT 1; SELECT 2", "/* a", "SELECT 1; /* a", "SELECT $$;"] {
            assert!(!is_whole(open), "{open}");
        }
    }

    #[test]
    fn a_line_that_is_not_text_is_named() {
        let mut lines = ScriptLines::new(&b"\xef\xbb\xbfSELECT 1;\nSELECT '\xff';\n"[..]);
        assert_eq!(lines.next(), Ok(Some("SELECT 1;\n".into())));
        assert_eq!(lines.next(), Err((2, "this line is not UTF-8 text".into())));
    }
}
