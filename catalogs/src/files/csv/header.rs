//! The first row of a file, looked at before its columns are planned.

use std::collections::HashSet;
use std::io::{self, Read};

use arrow::csv::reader::Format;

use super::state::State;
use super::syntax::Syntax;
use crate::files::file_fault::too_long;
use crate::files::limits::{MOST_COLUMNS, MOST_ROW, columns_text};

/// What is wrong with the first rows of a file: too many fields in the first, two of one name where it has names, or too many
/// bytes in one of `rows` rows, from which the types of columns will be found.
pub(super) fn fault(mut text: impl Read, syntax: Syntax, names: bool, rows: usize) -> io::Result<Option<String>> {
    let mut first = FirstRows { syntax, columns: 1, rows: 0, length: 0, line: 1, state: State::Row, text: Vec::new() };
    let mut part = vec![0; 1 << 16];
    loop {
        let read = text.read(&mut part)?;
        let ended = read == 0 || part[..read].iter().any(|byte| first.step(*byte) || first.rows > rows);
        if first.columns > MOST_COLUMNS {
            let what = format!(
                ", line {}: more than {} columns; name the delimiter, read_csv(..., delim => '...'), or write a row for each \
                 value, with the name of the column beside it",
                first.line,
                columns_text()
            );
            return Ok(Some(what));
        }
        if first.length > MOST_ROW {
            return Ok(Some(too_long(first.line)));
        }
        if ended {
            return Ok(if names { first.twice() } else { None });
        }
    }
}

struct FirstRows {
    syntax: Syntax,
    /// The columns of the first row.
    columns: usize,
    rows: usize,
    length: usize,
    /// The line in which the row begins.
    line: usize,
    state: State,
    /// The first row.
    text: Vec<u8>,
}

impl FirstRows {
    /// Takes the next byte; true where the first row has too many columns, or a row is too long.
    fn step(&mut self, byte: u8) -> bool {
        let before = self.state;
        self.state = before.behind(byte, self.syntax.ends_row(byte), self.syntax);
        if self.state == State::Field {
            self.columns += usize::from(self.rows == 0);
        }
        self.rows += usize::from(self.state.ends_row_at(before));
        match self.state {
            State::Row => {
                self.length = 0;
                self.line += usize::from(byte == b'\n');
            }
            _ => self.length += 1,
        }
        if self.rows == 0 && !matches!(self.state, State::Row | State::Comment) {
            self.text.push(byte);
        }
        self.columns > MOST_COLUMNS || self.length > MOST_ROW
    }

    /// Two columns of one name: DataFusion 55 merges them, and then finds too many fields in each row.
    fn twice(&self) -> Option<String> {
        let format =
            Format::default().with_header(true).with_delimiter(self.syntax.delimiter).with_quote(self.syntax.quote);
        // What cannot be read says so where it is read.
        let (names, _) = format.infer_schema(self.text.as_slice(), Some(0)).ok()?;
        let mut known = HashSet::new();
        let twice = names.fields().iter().find(|field| !known.insert(field.name()))?;
        Some(format!(
            "cannot be read as a table: two columns are called \"{}\"; give them names of their own, or read the file with \
             read_csv(..., header => false)",
            twice.name()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax { delimiter: b',', quote: b'"', escape: None, comment: Some(b'#'), terminator: None };

    #[test]
    fn the_first_row_is_looked_at_alone() {
        let found = |text: &str, names| fault(text.as_bytes(), SYNTAX, names, 10).unwrap();
        for whole in ["", "\n\n", "a,b\na,a\n", "# a,a\n\na,\"a,\n\"\n", "a", "a\"\nb", "a\n5\",\",\n"] {
            assert_eq!(found(whole, true), None, "{whole}");
        }
        assert!(found("\n# x\na,b,a\n", true).unwrap().contains("two columns are called \"a\""));
        assert_eq!(found("1,2,1\n", false), None);
        let wide = |columns: usize| found(&"x,".repeat(columns - 1), false);
        assert_eq!(wide(MOST_COLUMNS), None);
        assert!(wide(MOST_COLUMNS + 1).unwrap().contains("more than 16,384 columns"));
        for (before, line) in [("", 1), ("a,b\n", 2), ("a,b\n\n1,2\n\"", 4), ("a,b\n1,\"\n\",\"", 2)] {
            let long = fault(before.as_bytes().chain(io::repeat(b'x')), SYNTAX, false, 10).unwrap().unwrap();
            assert!(long.contains(&format!("line {line}: a row of more than 32 MB")), "{long}");
        }
        // Rows after those that are looked at.
        let many = "1\n".repeat(20);
        assert_eq!(fault(many.as_bytes().chain(io::repeat(b'x')), SYNTAX, false, 10).unwrap(), None);
    }
}
