//! Reading scripts: lines go in, statements and backslash commands come out as soon as they are whole.

use std::io::{self, BufRead, Read};

use bonnet_dialect::syntax::tokens::split::{Lexer, Lines};

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
#[derive(Default)]
pub(super) struct Pending {
    text: String,
    /// The bytes of `text` that are known to be whole lexemes, and need not be read again.
    lexed: usize,
    /// The first and the last byte of the statement in those lexemes that is not ended.
    open: Option<(usize, usize)>,
    /// The lines before `text`, and the characters before it in its first line.
    lines_before: usize,
    columns_before: usize,
}

impl Pending {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Takes a line with its newline and gives what is whole by now.
    pub(super) fn push(&mut self, line: String) -> Vec<Item> {
        // Nothing else can end a statement or be a command.
        let ends = line.contains(';') || line.trim_start().starts_with('\\');
        // A line may hold a gigabyte: it is not copied where it stands alone.
        if self.text.is_empty() {
            self.text = line;
        } else {
            self.text.push_str(&line);
        }
        if ends { self.take(false) } else { Vec::new() }
    }

    /// Whether the statement that is not whole has become too long.
    pub(super) fn is_too_long(&self) -> bool {
        self.text.len() > MOST_TEXT
    }

    /// Gives what remains at the end of the script, where the last statement may lack its semicolon.
    pub(super) fn finish(&mut self) -> Vec<Item> {
        self.take(true)
    }

    fn take(&mut self, at_end: bool) -> Vec<Item> {
        let mut ready = Vec::new();
        let mut taken = 0;
        let before = std::mem::replace(&mut self.lexed, self.text.len());
        let mut lexer = Lexer::new(&self.text[before..]);
        while let Some(lexeme) = lexer.next() {
            let (start, end) = (before + lexeme.start, before + lexeme.end());
            if !lexeme.closed && !at_end {
                // The lines to come belong to it.
                self.lexed = start;
                break;
            }
            if lexeme.is_semicolon() {
                if let Some((start, end)) = self.open.take() {
                    ready.push((Found::Statement(end), start));
                }
                taken = end;
            } else if self.open.is_none() && lexeme.text == "\\" && starts_line(&self.text[..start]) {
                ready.push((Found::Command(lexer.rest_of_line().trim().to_owned()), start));
                taken = before + lexer.offset();
            } else if lexeme.is_significant() {
                self.open = Some((self.open.map_or(start, |(first, _)| first), end));
            }
        }
        if at_end {
            if let Some((start, end)) = self.open.take() {
                ready.push((Found::Statement(end), start));
            }
            taken = self.text.len();
        }
        if taken == 0 {
            return Vec::new();
        }
        let places = self.places(&ready);
        // A single statement takes the text over.
        let alone = matches!(ready.as_slice(), [(Found::Statement(_), _)]);
        let mut text = self.forget(taken);
        let task = |(found, start): (Found, usize)| match found {
            Found::Command(command) => Task::Command(command),
            Found::Statement(end) if alone => {
                text.truncate(end);
                text.drain(..start);
                Task::Statement(std::mem::take(&mut text))
            }
            Found::Statement(end) => Task::Statement(text[start..end].to_owned()),
        };
        let tasks: Vec<Task> = ready.into_iter().map(task).collect();
        tasks.into_iter().zip(places).map(|(task, (line, column))| Item { task, line, column }).collect()
    }

    /// The lines and columns of what is found.
    fn places(&self, found: &[(Found, usize)]) -> Vec<(usize, usize)> {
        let mut lines = Lines::new(&self.text);
        let place = |&(_, start): &(Found, usize)| {
            let line = lines.line(start);
            let column = lines.column() + if line == 1 { self.columns_before } else { 0 };
            (self.lines_before + line, column)
        };
        found.iter().map(place).collect()
    }

    /// Drops the bytes that are taken, and gives the text as it was.
    fn forget(&mut self, taken: usize) -> String {
        let before = &self.text[..taken];
        if before.contains('\n') {
            self.columns_before = 0;
        }
        self.columns_before += before.rsplit('\n').next().unwrap_or_default().chars().count();
        self.lines_before += before.matches('\n').count();
        let left = self.text[taken..].to_owned();
        self.lexed -= taken;
        self.open = self.open.map(|(start, end)| (start - taken, end - taken));
        std::mem::replace(&mut self.text, left)
    }
}

/// What a text has: a statement up to a byte, or a command.
enum Found {
    Statement(usize),
    Command(String),
}

/// Whether only spaces stand between this text's last newline and its end.
fn starts_line(before: &str) -> bool {
    before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
}

/// Commands of other shells (DuckDB, SQLite), with ours for the same thing.
const DOT_COMMANDS: &[(&str, &str)] = &[
    ("databases", "l"),
    ("exit", "q"),
    ("functions", "df"),
    ("help", "?"),
    ("maxrows", "rows"),
    ("mode", "format"),
    ("output", "o"),
    ("print", "echo"),
    ("quit", "q"),
    ("read", "i"),
    ("schema", "d"),
    ("tables", "d"),
    ("timer", "timing"),
];

/// The backslash command that an input at the prompt stands for: what other shells answer is answered here.
pub(super) fn shell_command(input: &str) -> Option<String> {
    let input = input.trim();
    let word = input.trim_end_matches(';').trim_end();
    let words = [("exit", "q"), ("quit", "q"), ("help", "?")];
    if let Some((_, command)) = words.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)) {
        return Some((*command).to_owned());
    }
    let line = input.strip_prefix('.').filter(|line| !line.contains('\n'))?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let command = DOT_COMMANDS.iter().find(|(known, _)| *known == name).map_or(name, |(_, command)| command);
    is_name.then(|| match (name, rest.trim()) {
        ("mode", "line") => "x on".to_owned(),
        ("mode", "jsonlines") => "format ndjson".to_owned(),
        (_, rest) => format!("{command} {rest}").trim_end().to_owned(),
    })
}

/// Whether an input at the prompt is whole: a command, nothing at all, or statements that are all ended.
pub(super) fn is_whole(input: &str) -> bool {
    if input.trim_start().starts_with('\\') || shell_command(input).is_some() {
        return true;
    }
    let mut pending = Pending { text: input.to_owned(), ..Pending::new() };
    pending.take(false);
    pending.finish().is_empty()
}

/// A command in the last line of an input, below a statement that is not ended: the lines of the statement, and the command.
pub(super) fn command_within(input: &str) -> Option<(&str, &str)> {
    let (statement, line) = input.rsplit_once('\n')?;
    let command = line.trim_start().strip_prefix('\\')?;
    // Within a string or a comment it is a part of it.
    (!is_whole(statement) && is_whole(&format!("{statement}\n;"))).then_some((statement, command.trim_end()))
}

/// The most bytes of a line or a statement of a script, which has to be in memory whole.
pub(super) const MOST_TEXT: usize = 128 << 20;

/// The error of a longer one.
pub(super) fn too_long() -> String {
    format!(
        "a line or a statement of more than {} MB: write rows to a file, which FROM 'rows.csv' reads",
        MOST_TEXT >> 20
    )
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
            let room = (MOST_TEXT + 1 - bytes.len()) as u64;
            match self.reader.by_ref().take(room).read_until(b'\n', &mut bytes) {
                Ok(_) if bytes.len() > MOST_TEXT => return Err((self.line, too_long())),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err((self.line, format!("the script cannot be read: {error}"))),
            }
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8(bytes).map_err(|_| (self.line, "this line is not UTF-8 text".to_owned()))?;
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let mut text = text;
        if self.line == 1 {
            text.drain(..mark);
        }
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<Item> {
        let mut pending = Pending::new();
        let mut items: Vec<Item> = text.split_inclusive('\n').flat_map(|line| pending.push(line.to_owned())).collect();
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
    fn commands_stand_within_statements_but_not_within_strings() {
        assert_eq!(command_within("SELECT 1\n  \\? "), Some(("SELECT 1", "?")));
        assert_eq!(command_within("SELECT 1,\n2\n\\d t"), Some(("SELECT 1,\n2", "d t")));
        for other in
            ["SELECT 'a\n\\?", "SELECT 1;\n\\?", "SELECT 1 /*\n\\?", "SELECT 1\nFROM t", "\\?", "SELECT \"a\n\\?"]
        {
            assert_eq!(command_within(other), None, "{other}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_an_error() {
        let mut lines = ScriptLines::new(io::BufReader::new(io::repeat(b' ')));
        let (line, text) = lines.next().unwrap_err();
        assert!(line == 1 && text.contains("more than 128 MB"), "{text}");
        let mut pending = Pending::new();
        for _ in 0..=MOST_TEXT >> 20 {
            assert!(!pending.is_too_long() && pending.push(" ".repeat(1 << 20)).is_empty());
        }
        assert!(pending.is_too_long());
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
        assert_eq!(pending.push("SELECT\n".to_owned()), []);
        assert_eq!(pending.push("';', 1\n".to_owned()), []);
        assert_eq!(pending.push("; SELECT\n".to_owned()), [statement("SELECT\n';', 1", 1, 1)]);
        assert_eq!(pending.push("\n".to_owned()), []);
        assert_eq!(pending.push("2;\n".to_owned()), [statement("SELECT\n\n2", 3, 3)]);
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
        for whole in ["exit", "QUIT ;", " help", "help;\n"] {
            assert!(is_whole(whole) && shell_command(whole).is_some(), "{whole}");
        }
        let dotted = [(".tables", "d"), (".schema t ", "d t"), (".mode csv", "format csv"), (".mode line", "x on")];
        for (line, command) in dotted.into_iter().chain([
            (" .read 'a b.sql'", "i 'a b.sql'"),
            (".plot a.svg bars model", "plot a.svg bars model"),
            (".nosuch", "nosuch"),
        ]) {
            assert!(is_whole(line), "{line}");
            assert_eq!(shell_command(line).as_deref(), Some(command));
        }
        assert_eq!(shell_command(".5 + 1;"), None);
        for open in ["SELECT 1", "SELECT ';", "SELECT 1; SELECT 2", "/* a", "SELECT 1; /* a", "SELECT $$;", "help me"] {
            assert!(!is_whole(open), "{open}");
        }
    }

    #[test]
    fn a_long_statement_is_not_read_again_for_each_of_its_lines() {
        let lines = 200_000;
        let mut text = String::from("SELECT * FROM (VALUES\n");
        (0..lines).for_each(|_| text.push_str("('a; b', 'it''s'), -- ;\n"));
        text.push_str("(1, 2))");
        let started = std::time::Instant::now();
        assert_eq!(items(&format!("{text};\n\\q\n")), [statement(&text, 1, 1), command("q", lines + 3, 1)]);
        // Reading it again for each line would take hours.
        assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
    }

    #[test]
    fn a_line_that_is_not_text_is_named() {
        let mut lines = ScriptLines::new(&b"\xef\xbb\xbfSELECT 1;\nSELECT '\xff';\n"[..]);
        assert_eq!(lines.next(), Ok(Some("SELECT 1;\n".into())));
        assert_eq!(lines.next(), Err((2, "this line is not UTF-8 text".into())));
    }
}
