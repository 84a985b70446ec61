//! Puts a [`Mark`] after strings in quotes, in the bytes of a file as it is read: `"",1` becomes `""MARK,1`, which is the field
//! MARK. Where nothing is NULL, those are the empty ones; where other words are, all. On the way it refuses numbers with zeros
//! before them.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::mark::Mark;
use super::padding::{self, Place};
use super::state::State;
use super::syntax::Syntax;
use crate::files::limits::{MOST_ROW, PADDED, TOO_LONG};

/// The bytes of a file that are read at once.
const PART: usize = 1 << 16;

/// Follows the syntax of a file from row to row.
#[derive(Debug)]
pub(super) struct Marker {
    syntax: Syntax,
    mark: Arc<Mark>,
    /// Which columns are of strings.
    texts: Vec<bool>,
    /// Whether all strings in quotes are marked, or the empty ones alone.
    all: bool,
    state: State,
    column: usize,
    /// The last byte, and the one before it.
    last: u8,
    last_but_one: u8,
    /// Whether a line of names is yet to come. An empty line before it is none.
    header: bool,
    marked: Arc<AtomicBool>,
    /// The bytes that were passed on before this part, and where the row begins that goes on in it.
    passed: u64,
    row: u64,
    /// Where the field begins that goes on in it.
    field: u64,
    /// Which columns are of numbers, whose fields have no zeros before them; empty where they may.
    numbers: Vec<bool>,
}

impl Marker {
    /// `marked` says afterwards whether there are marks.
    pub(super) fn new(
        syntax: Syntax,
        mark: Arc<Mark>,
        texts: Vec<bool>,
        header: bool,
        marked: Arc<AtomicBool>,
    ) -> Self {
        Self {
            syntax,
            mark,
            texts,
            all: false,
            state: State::Row,
            column: 0,
            last: 0,
            last_but_one: 0,
            header,
            marked,
            passed: 0,
            row: 0,
            field: 0,
            numbers: Vec::new(),
        }
    }

    /// Refuses numbers with zeros before them in these columns, which were found to be of numbers.
    pub(super) fn refusing_zeros(mut self, numbers: Vec<bool>) -> Self {
        self.numbers = if numbers.contains(&true) { numbers } else { Vec::new() };
        self
    }

    /// Marks all strings in quotes.
    pub(super) fn marking_all(self, all: bool) -> Self {
        Self { all, ..self }
    }

    /// Whether a string in quotes ends here that is to be marked.
    fn is_due(&self) -> bool {
        matches!(self.state, State::Quote(empty) if empty || (self.all && !self.header))
    }

    /// Passes a part of the file on, with marks.
    ///
    /// # Errors
    /// If a row is longer than one may be: it has to be in memory whole. If a number has zeros before it that may have none.
    fn pass(&mut self, part: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        if !self.pass_unquoted(part, out)? {
            self.pass_bytes(part, out)?;
        }
        self.passed += part.len() as u64;
        if self.passed - self.row > MOST_ROW as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{TOO_LONG}{}", self.row)));
        }
        Ok(())
    }

    fn pass_bytes(&mut self, part: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let syntax = self.syntax;
        let mut passed = 0;
        for (at, &byte) in part.iter().enumerate() {
            let ends = syntax.ends_row(byte);
            // A row of one column that is NULL: the reader would pass over an empty line.
            let blank = self.state == State::Row && ends && self.texts.len() == 1 && !self.header;
            if blank && !(byte == b'\n' && self.last == b'\r' && syntax.terminator.is_none()) {
                out.extend_from_slice(&part[passed..at]);
                out.extend_from_slice(&[syntax.quote; 2]);
                passed = at;
            }
            if (ends || byte == syntax.delimiter) && self.is_due() {
                out.extend_from_slice(&part[passed..at]);
                self.put(out);
                passed = at;
            }
            if self.last == b'0' && byte.is_ascii_digit() && self.is_padded(at) {
                return Err(self.padded(self.column, self.row));
            }
            self.step(byte, ends);
            if matches!(self.state, State::Row | State::Field) {
                self.field = self.passed + at as u64 + 1;
            }
            if ends && self.state == State::Row {
                self.row = self.passed + at as u64 + 1;
            }
            self.last_but_one = std::mem::replace(&mut self.last, byte);
        }
        out.extend_from_slice(&part[passed..]);
        Ok(())
    }

    /// Whether the digit here follows the first zero of a number that may have none before it.
    fn is_padded(&self, at: usize) -> bool {
        let within = matches!(self.state, State::Plain | State::Quoted(_));
        if self.header || !within || self.numbers.get(self.column) != Some(&true) {
            return false;
        }
        let before = (self.passed + at as u64).saturating_sub(self.field) as usize;
        let quotes = usize::from(matches!(self.state, State::Quoted(_)));
        before == quotes + 1 || (before == quotes + 2 && self.last_but_one == b'-')
    }

    /// The error of a number with zeros before it.
    fn padded(&self, column: usize, row: u64) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("{PADDED}{row} {column}"))
    }

    fn put(&self, out: &mut Vec<u8>) {
        if self.texts.get(self.column) == Some(&true) {
            out.extend_from_slice(self.mark.as_str().as_bytes());
            self.marked.store(true, Ordering::Relaxed);
        }
    }

    fn step(&mut self, byte: u8, ends: bool) {
        let before = self.state;
        self.state = before.behind(byte, ends, self.syntax);
        if ends && self.state.ends_row_at(before) {
            self.header = false;
            self.column = 0;
        } else if self.state == State::Field {
            self.column += 1;
        }
    }

    /// Passes on a part without quotes, which needs no look at each byte; false if it may have some.
    fn pass_unquoted(&mut self, part: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        let Some(&last) = part.last() else { return Ok(true) };
        let between = matches!(self.state, State::Row | State::Field | State::Plain);
        if !between || self.texts.len() == 1 || self.syntax.comment.is_some() || part.contains(&self.syntax.quote) {
            return Ok(false);
        }
        if !self.numbers.is_empty() {
            let length = (self.passed - self.field) as usize;
            let field = if length == 1 { [self.last, 0, 0] } else { [self.last_but_one, self.last, 0] };
            let (column, row, at, header) = (self.column, self.row, self.passed, self.header);
            let place = Place { field, length, column, row, at, header };
            if let Some((column, row)) = padding::find(part, self.syntax, &self.numbers, place) {
                return Err(self.padded(column, row));
            }
        }
        out.extend_from_slice(part);
        let line = part.iter().rposition(|&byte| self.syntax.ends_row(byte)).map(|end| end + 1);
        if let Some(end) = line {
            self.header = false;
            self.column = 0;
            self.row = self.passed + end as u64;
        }
        let row = &part[line.unwrap_or(0)..];
        self.column += row.iter().filter(|byte| **byte == self.syntax.delimiter).count();
        self.state = match row.last() {
            None => State::Row,
            Some(byte) if *byte == self.syntax.delimiter => State::Field,
            Some(_) => State::Plain,
        };
        let field = part.iter().rposition(|byte| *byte == self.syntax.delimiter || self.syntax.ends_row(*byte));
        self.field = field.map_or(self.field, |end| self.passed + end as u64 + 1);
        self.last_but_one = part.len().checked_sub(2).map_or(self.last, |at| part[at]);
        self.last = last;
        Ok(true)
    }

    /// The end of the file.
    ///
    /// # Errors
    /// If it stands inside quotes: they hold all rows from where they open.
    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        if matches!(self.state, State::Quoted(_) | State::Escaped) {
            let text = "a text in quotes does not end before the file does: close it, write a quote inside quotes twice, or \
                        name another quote, read_csv(..., quote => '...')";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if self.is_due() {
            self.put(out);
        }
        Ok(())
    }
}

/// A file with marks.
pub(super) struct MarkedFile<R> {
    file: R,
    marker: Option<Marker>,
    part: Vec<u8>,
    passed: Vec<u8>,
    /// The bytes of `passed` that are consumed.
    at: usize,
}

impl<R: Read> MarkedFile<R> {
    /// Without a marker, the file as it is.
    pub(super) fn new(file: R, marker: Option<Marker>) -> Self {
        Self { file, marker, part: vec![0; PART], passed: Vec::with_capacity(PART), at: 0 }
    }
}

impl<R: Read> BufRead for MarkedFile<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.passed.len() {
            self.passed.clear();
            self.at = 0;
            let read = self.file.read(&mut self.part)?;
            match &mut self.marker {
                Some(marker) if read == 0 => marker.end(&mut self.passed)?,
                Some(marker) => marker.pass(&self.part[..read], &mut self.passed)?,
                None => self.passed.extend_from_slice(&self.part[..read]),
            }
            if read == 0 {
                self.marker = None;
                break;
            }
        }
        Ok(&self.passed[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

impl<R: Read> Read for MarkedFile<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax { delimiter: b',', quote: b'"', escape: None, comment: None, terminator: None };

    /// The text with marks as `MARK`, passed on in parts of `part` bytes.
    fn passed(syntax: Syntax, texts: &[bool], text: &str, part: usize) -> String {
        marked(syntax, texts, false, text, part)
    }

    fn marked(syntax: Syntax, texts: &[bool], all: bool, text: &str, part: usize) -> String {
        let mark = Arc::new(Mark::without(&syntax.bytes()).unwrap());
        let marked = Arc::new(AtomicBool::new(false));
        let mut marker =
            Marker::new(syntax, Arc::clone(&mark), texts.to_vec(), true, Arc::clone(&marked)).marking_all(all);
        let mut out = Vec::new();
        text.as_bytes().chunks(part).for_each(|part| marker.pass(part, &mut out).unwrap());
        marker.end(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(marked.load(Ordering::Relaxed), out.contains(mark.as_str()));
        out.replace(mark.as_str(), "MARK")
    }

    #[test]
    fn empty_texts_in_quotes_are_marked_whatever_the_parts() {
        let text =
            "a,n,b\n\"\",\"\",\"\"\r\n\"x\"\"\",,\"\"\"\"\n\"q,\"\",\",1,\"\n\"\"\n\"\n,,\nz\"\",2,\"\"y\n\"\",3,\"\"";
        let expected = "a,n,b\n\"\"MARK,\"\",\"\"MARK\r\n\"x\"\"\",,\"\"\"\"\n\"q,\"\",\",1,\"\n\"\"\n\"\n,,\nz\"\",2,\"\"y\n\
                        \"\"MARK,3,\"\"MARK";
        for part in 1..=text.len() {
            assert_eq!(passed(SYNTAX, &[true, false, true], text, part), expected, "in parts of {part}");
        }
    }

    #[test]
    fn all_texts_in_quotes_are_marked_but_names() {
        let text = "\"a\",n\r\n\"x\",\"1\"\nx,2\n\"x\"\"\",\"3\"\n\"x\"y,\"4\"\n\"\",5\n\",\n\"";
        let expected = "\"a\",n\r\n\"x\"MARK,\"1\"\nx,2\n\"x\"\"\"MARK,\"3\"\n\"x\"y,\"4\"\n\"\"MARK,5\n\",\n\"MARK";
        for part in 1..=text.len() {
            assert_eq!(marked(SYNTAX, &[true, false], true, text, part), expected, "in parts of {part}");
        }
    }

    #[test]
    fn a_row_of_one_column_may_be_an_empty_line() {
        for part in 1..8 {
            assert_eq!(passed(SYNTAX, &[true], "\na\n\nx\n\"\"\n\n", part), "\na\n\"\"\nx\n\"\"MARK\n\"\"\n");
            assert_eq!(passed(SYNTAX, &[false], "a\r\n\r\n1\r\n", part), "a\r\n\"\"\r\n1\r\n");
        }
    }

    #[test]
    fn escapes_and_comments_are_followed() {
        let syntax = Syntax { escape: Some(b'\\'), comment: Some(b'#'), ..SYNTAX };
        let text = "a,b\n# it's \",\n\"\\\"\",\"\"\n\"x\\\",\"\",\"\"\n\"";
        let expected = "a,b\n# it's \",\n\"\\\"\",\"\"MARK\n\"x\\\",\"\",\"\"\n\"";
        for part in 1..=text.len() {
            assert_eq!(passed(syntax, &[true, true], text, part), expected, "in parts of {part}");
        }
    }

    #[test]
    fn a_number_with_a_zero_before_it_is_refused_whatever_the_parts() {
        let found = |text: &str, part: usize| {
            let mark = Arc::new(Mark::without(&SYNTAX.bytes()).unwrap());
            let marker = Marker::new(SYNTAX, mark, vec![false, true, false], true, Arc::default());
            let mut marker = marker.refusing_zeros(vec![true, false, true]);
            let mut out = Vec::new();
            text.as_bytes().chunks(part).try_for_each(|part| marker.pass(part, &mut out)).map_err(|it| it.to_string())
        };
        for (text, says) in [
            ("007,t,05\n1,2,3\n10,\"007\",07\n", "15 2"),
            ("k,t,x\n1,007,0.5\n-100,\"a\n\",-0.5\n\"-07\",,\n", "31 0"),
            ("k,t,x\n1,007,0.5\n100,a,205\n1,a,-00.5\n", "26 2"),
        ] {
            for part in 1..=text.len() {
                assert_eq!(found(text, part), Err(format!("{PADDED}{says}")), "{text} in parts of {part}");
            }
        }
        let text = "007,t,05\n0,007,0.5\n100,\"01\",-0\n\"10\",1005,2005\n1e-05,00,\"1.05\"\n-10,,-205\n";
        for part in 1..=text.len() {
            assert_eq!(found(text, part), Ok(()), "in parts of {part}");
        }
    }

    #[test]
    fn a_row_that_is_too_long_is_an_error_with_its_place() {
        for (text, begins) in [("a,b\n1,2\nx", "8"), ("a,b\n\"x", "4")] {
            let mark = Arc::new(Mark::without(&SYNTAX.bytes()).unwrap());
            let marker = Marker::new(SYNTAX, mark, vec![true, true], true, Arc::default());
            let endless = text.as_bytes().chain(io::repeat(b'x'));
            let error = io::copy(&mut MarkedFile::new(endless, Some(marker)), &mut io::sink()).unwrap_err().to_string();
            assert_eq!(error, format!("{TOO_LONG}{begins}"));
        }
    }

    #[test]
    fn a_quote_without_an_end_is_an_error() {
        for (text, ends) in
            [("a\n\"x", false), ("a\n\"x\"\"", false), ("a\n\"x\"", true), ("a\nx\"", true), ("a\n\"", false)]
        {
            let mark = Arc::new(Mark::without(&SYNTAX.bytes()).unwrap());
            let marker = Marker::new(SYNTAX, mark, vec![true], true, Arc::default());
            let read = io::read_to_string(MarkedFile::new(text.as_bytes(), Some(marker)));
            assert_eq!(read.is_ok(), ends, "{text}");
        }
    }
}
