//! Rows of lines, as text or CSV, out of bytes that come in parts.

use super::statement::LineFormat;
use crate::codec::MOST;
use crate::failure::Failure;

/// A row: the bytes of its fields, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) bytes: Vec<u8>,
    /// The end of each field in the bytes, and whether it is NULL.
    pub(super) ends: Vec<(usize, bool)>,
    /// The line at which it begins, or its number in binary data; from 1.
    pub(super) line: u64,
}

impl Record {
    /// The fields; `None` for NULL.
    pub(super) fn fields(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, null)| {
            let field = &self.bytes[start..end];
            start = end;
            (!null).then_some(field)
        })
    }

    /// Ends a field.
    pub(super) fn end(&mut self, null: bool) {
        self.ends.push((self.bytes.len(), null));
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside of quotes and escapes.
    Plain,
    /// Behind the carriage return that ends a line.
    Returned,
    /// Behind the backslash of the text format.
    Escaped,
    /// Within `\123`: the digits and their value.
    Octal(u8, u32),
    /// Within `\x7f`: the digits and their value.
    Hexadecimal(u8, u32),
    /// Within the quotes of CSV.
    Quoted,
    /// Behind a quote within quotes: the end of them, or one of two.
    QuoteInQuotes,
    /// Behind an escape within quotes.
    EscapeInQuotes,
}

/// Cuts bytes into rows.
pub(super) struct Records {
    format: LineFormat,
    state: State,
    record: Record,
    /// The field as it is written: NULL is told by it.
    raw: Vec<u8>,
    quoted: bool,
    /// Whether a byte of the row has come.
    begun: bool,
    passes_header: bool,
    line: u64,
    /// Whether the line `\.` has come: what follows is no row.
    ended: bool,
}

impl Records {
    pub(super) fn new(format: LineFormat) -> Self {
        let record = Record { line: 1, ..Record::default() };
        let passes_header = format.header;
        let (raw, quoted, begun, ended) = (Vec::new(), false, false, false);
        Self { format, state: State::Plain, record, raw, quoted, begun, passes_header, line: 1, ended }
    }

    /// Reads further bytes, and hands on the rows that end in them.
    ///
    /// # Errors
    /// Those of `row`, and a row that is too long.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        mut row: impl FnMut(&Record) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for &byte in bytes {
            if self.ended {
                break;
            }
            self.byte(byte, &mut row)?;
        }
        match self.record.bytes.len() + self.raw.len() > MOST {
            true => {
                Err(Failure::new("54000", format!("line {}: a row has at most {} MiB", self.record.line, MOST >> 20)))
            }
            false => Ok(()),
        }
    }

    /// Ends the last row, if no end of a line has.
    ///
    /// # Errors
    /// Those of `row`, and quotes that are still open.
    pub(super) fn finish(mut self, mut row: impl FnMut(&Record) -> Result<(), Failure>) -> Result<(), Failure> {
        match self.state {
            State::Quoted | State::EscapeInQuotes if !self.ended => {
                let text = format!("line {}: the quotes of a field are not closed", self.record.line);
                return Err(Failure::new("22P04", text));
            }
            State::Escaped => self.record.bytes.push(b'\\'),
            State::Octal(_, value) => self.record.bytes.push(value as u8),
            State::Hexadecimal(digits, value) => self.record.bytes.push(if digits == 0 { b'x' } else { value as u8 }),
            _ => {}
        }
        if self.begun && !self.ended { self.end_record(&mut row) } else { Ok(()) }
    }

    fn byte(&mut self, byte: u8, row: &mut impl FnMut(&Record) -> Result<(), Failure>) -> Result<(), Failure> {
        if self.state == State::Returned {
            self.end_record(row)?;
            if byte == b'\n' || self.ended {
                return Ok(());
            }
        }
        self.begun = true;
        match self.state {
            State::Plain | State::Returned => return self.plain(byte, row),
            State::Escaped => {
                self.raw.push(byte);
                self.state = State::Plain;
                match byte {
                    b'0'..=b'7' => self.state = State::Octal(1, u32::from(byte - b'0')),
                    b'x' => self.state = State::Hexadecimal(0, 0),
                    b'b' => self.record.bytes.push(8),
                    b'f' => self.record.bytes.push(12),
                    b'n' => self.record.bytes.push(b'\n'),
                    b'r' => self.record.bytes.push(b'\r'),
                    b't' => self.record.bytes.push(b'\t'),
                    b'v' => self.record.bytes.push(11),
                    _ => self.put_counted(byte),
                }
            }
            State::Octal(digits, value) => match byte {
                b'0'..=b'7' if digits < 3 => {
                    self.raw.push(byte);
                    self.state = State::Octal(digits + 1, value * 8 + u32::from(byte - b'0'));
                }
                _ => {
                    self.record.bytes.push(value as u8);
                    return self.plain(byte, row);
                }
            },
            State::Hexadecimal(digits, value) => match char::from(byte).to_digit(16) {
                Some(digit) if digits < 2 => {
                    self.raw.push(byte);
                    self.state = State::Hexadecimal(digits + 1, value * 16 + digit);
                }
                _ => {
                    self.record.bytes.push(if digits == 0 { b'x' } else { value as u8 });
                    return self.plain(byte, row);
                }
            },
            State::Quoted if byte == self.format.quote => self.state = State::QuoteInQuotes,
            State::Quoted if byte == self.format.escape => self.state = State::EscapeInQuotes,
            State::Quoted => self.put_counted(byte),
            State::QuoteInQuotes if byte == self.format.quote && self.format.escape == self.format.quote => {
                self.record.bytes.push(byte);
                self.state = State::Quoted;
            }
            State::QuoteInQuotes => return self.plain(byte, row),
            State::EscapeInQuotes => {
                if byte != self.format.quote && byte != self.format.escape {
                    self.record.bytes.push(self.format.escape);
                }
                self.put_counted(byte);
                self.state = State::Quoted;
            }
        }
        Ok(())
    }

    /// A byte of a field that may be the end of a line.
    fn put_counted(&mut self, byte: u8) {
        self.line += u64::from(byte == b'\n');
        self.record.bytes.push(byte);
    }

    fn plain(&mut self, byte: u8, row: &mut impl FnMut(&Record) -> Result<(), Failure>) -> Result<(), Failure> {
        self.state = State::Plain;
        match byte {
            _ if byte == self.format.delimiter => self.end_field(),
            b'\n' => return self.end_record(row),
            b'\r' => self.state = State::Returned,
            _ if self.format.csv && byte == self.format.quote => {
                self.state = State::Quoted;
                self.quoted = true;
            }
            b'\\' if !self.format.csv => {
                self.raw.push(byte);
                self.state = State::Escaped;
            }
            _ => {
                self.raw.push(byte);
                self.record.bytes.push(byte);
            }
        }
        Ok(())
    }

    fn end_field(&mut self) {
        let null = !self.quoted && self.raw == self.format.null.as_bytes();
        self.record.end(null);
        self.raw.clear();
        self.quoted = false;
    }

    fn end_record(&mut self, row: &mut impl FnMut(&Record) -> Result<(), Failure>) -> Result<(), Failure> {
        self.state = State::Plain;
        self.ended = self.record.ends.is_empty() && !self.quoted && self.raw == b"\\.";
        self.end_field();
        let handed = match self.ended || std::mem::take(&mut self.passes_header) {
            true => Ok(()),
            false => row(&self.record),
        };
        self.record.clear();
        self.line += 1;
        self.record.line = self.line;
        self.begun = false;
        handed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8], csv: bool, header: bool, parts: usize) -> Result<Vec<(u64, Vec<String>)>, Failure> {
        let (delimiter, null) = if csv { (b',', "") } else { (b'\t', "\\N") };
        let format = LineFormat { csv, delimiter, null: null.to_owned(), header, quote: b'"', escape: b'"' };
        let mut found = Vec::new();
        let mut row = |record: &Record| {
            let text =
                |field: Option<&[u8]>| field.map_or("NULL".to_owned(), |field| String::from_utf8_lossy(field).into());
            found.push((record.line, record.fields().map(text).collect()));
            Ok(())
        };
        let mut records = Records::new(format);
        text.chunks(parts).try_for_each(|part| records.read(part, &mut row))?;
        records.finish(&mut row)?;
        Ok(found)
    }

    fn of(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
        (line, fields.iter().map(|field| (*field).to_owned()).collect())
    }

    #[test]
    fn lines_of_text_have_escapes_and_nulls() {
        let text = b"1\ta\\tb\\\\\\n\n2\t\\N\r\n3\t\\101\\x41z\\q\n\\N\tend\\";
        let expected =
            [of(1, &["1", "a\tb\\\n"]), of(2, &["2", "NULL"]), of(3, &["3", "AAzq"]), of(4, &["NULL", "end\\"])];
        // In whatever parts they come.
        for parts in [1, 2, 3, 1000] {
            assert_eq!(rows(text, false, false, parts).unwrap(), expected);
        }
        assert_eq!(rows(b"x\n\\.\nno row\n", false, false, 1).unwrap(), [of(1, &["x"])]);
        assert_eq!(rows(b"name\n\n", false, true, 1).unwrap(), [of(2, &[""])]);
        assert_eq!(rows(b"", false, false, 1).unwrap(), []);
        // A backslash before the end of a line is part of the value, and the line counts.
        assert_eq!(rows(b"a\\\nb\nc\n", false, false, 1).unwrap(), [of(1, &["a\nb"]), of(3, &["c"])]);
    }

    #[test]
    fn csv_has_quotes_and_tells_empty_from_null() {
        let text = b"a,b\r\n1,\"x, \"\"y\"\"\nz\"\n2,\n\"\",\"\"\nlast,one";
        let expected = [of(2, &["1", "x, \"y\"\nz"]), of(4, &["2", "NULL"]), of(5, &["", ""]), of(6, &["last", "one"])];
        for parts in [1, 2, 3, 1000] {
            assert_eq!(rows(text, true, true, parts).unwrap(), expected);
        }
        let failure = rows(b"a\n\"open\n", true, false, 1).unwrap_err();
        assert!(failure.message.starts_with("line 2: the quotes"), "{failure:?}");
        assert_eq!(rows(b"1\n\\.\n", true, false, 1).unwrap(), [of(1, &["1"])]);
        assert_eq!(rows(b"\"\\.\"\n", true, false, 1).unwrap(), [of(1, &["\\."])]);
    }

    #[test]
    fn another_escape_stands_before_quotes_and_itself() {
        let format = LineFormat {
            csv: true,
            delimiter: b';',
            null: "NA".to_owned(),
            header: false,
            quote: b'\'',
            escape: b'\\',
        };
        let mut found = Vec::new();
        let mut records = Records::new(format);
        let mut row = |record: &Record| {
            found.extend(record.fields().map(|field| field.map(<[u8]>::to_vec)));
            Ok(())
        };
        records.read(b"'a\\'b\\\\c\\d';NA;'NA'\n", &mut row).unwrap();
        assert_eq!(found, [Some(b"a'b\\c\\d".to_vec()), None, Some(b"NA".to_vec())]);
    }
}
