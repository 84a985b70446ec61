//! Comma-separated values with quotes, as RFC 4180 writes them.

use std::io::Read;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};

use crate::scan::check;
use crate::{Error, Result};

/// A line behind the text. Where a quote is open at the end of the text, the reader takes it as part of a field.
const END: &str = "\n\u{1}";

/// The rows of a file with their line numbers; a quoted field may hold commas, doubled quotes and line ends. Fields are
/// not trimmed; empty lines are left out.
pub(crate) fn rows(path: &Path, bytes: &[u8], keep_going: &dyn Fn() -> bool) -> Result<Vec<(usize, Vec<String>)>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::line(path, line, "is not UTF-8 text")
    })?;
    let input = text.as_bytes().chain(END.as_bytes());
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input);
    let (mut rows, mut record) = (Vec::new(), StringRecord::new());
    while reader.read_record(&mut record).map_err(|error| Error::file(path, error))? {
        if rows.len() % 4096 == 0 {
            check(keep_going)?;
        }
        // A record's position is that of the line ends before it.
        let (start, line) = record.position().map_or((0, 0), |at| (at.byte() as usize, at.line() as usize));
        let before = text.as_bytes()[start.min(text.len())..].iter().take_while(|byte| b"\r\n".contains(byte));
        let line = line + before.filter(|byte| **byte == b'\n').count();
        if record.len() > 1 || !record[0].is_empty() {
            rows.push((line, record.iter().map(str::to_owned).collect()));
        }
    }
    match rows.pop() {
        Some((_, row)) if row == [END.trim_start()] => Ok(rows),
        Some((line, _)) => Err(Error::line(path, line, "a quote is not closed")),
        None => Ok(rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(usize, Vec<String>)>> {
        rows(Path::new("x.csv"), text.as_bytes(), &|| true)
    }

    #[test]
    fn quotes_commas_and_line_ends() {
        let found = read("\u{feff}a,b\r\n1,\"x, \"\"y\"\"\nz\"\n\n,\n2,plain \"as is\"").unwrap();
        let fields: Vec<Vec<&str>> = found.iter().map(|(_, row)| row.iter().map(String::as_str).collect()).collect();
        let expected: [&[&str]; 4] = [&["a", "b"], &["1", "x, \"y\"\nz"], &["", ""], &["2", "plain \"as is\""]];
        assert_eq!(fields, expected);
        assert_eq!(found.iter().map(|row| row.0).collect::<Vec<_>>(), [1, 2, 5, 6]);
    }

    #[test]
    fn an_open_quote_and_other_bytes_are_errors_with_their_line() {
        assert_eq!(read("a\n\"b\nc").unwrap_err().to_string(), "'x.csv', line 2: a quote is not closed");
        let error = rows(Path::new("x.csv"), b"a\nb\n\xff", &|| true).unwrap_err();
        assert_eq!(error.to_string(), "'x.csv', line 3: is not UTF-8 text");
    }
}
