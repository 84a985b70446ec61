//! Comma-separated values with quotes, as RFC 4180 writes them.

use std::path::Path;

use crate::{Error, Result};

/// The rows of a file with their line numbers; a quoted field may hold commas, doubled quotes and line ends. Fields are
/// not trimmed; empty lines are left out.
pub(crate) fn rows(path: &Path, bytes: &[u8], keep_going: &dyn Fn() -> bool) -> Result<Vec<(usize, Vec<String>)>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::line(path, line, "is not UTF-8 text")
    })?;
    let mut rows = Vec::new();
    let mut fields = Vec::new();
    let mut field = String::new();
    let (mut line, mut first, mut quoted, mut closed) = (1, 1, false, false);
    let mut characters = text.chars().peekable();
    loop {
        let next = characters.next();
        match next {
            Some('"') if quoted => match characters.peek() {
                Some('"') => {
                    characters.next();
                    field.push('"');
                }
                _ => (quoted, closed) = (false, true),
            },
            Some(c) if quoted => {
                line += usize::from(c == '\n');
                field.push(c);
            }
            None if quoted => return Err(Error::line(path, first, "a quote is not closed")),
            Some('"') if field.is_empty() && !closed => quoted = true,
            Some(',') => {
                fields.push(std::mem::take(&mut field));
                closed = false;
            }
            Some('\r') if characters.peek() == Some(&'\n') => {}
            Some('\n') | None => {
                fields.push(std::mem::take(&mut field));
                closed = false;
                let row = std::mem::take(&mut fields);
                if row.len() > 1 || !row[0].is_empty() {
                    rows.push((first, row));
                }
                if next.is_none() {
                    return Ok(rows);
                }
                line += 1;
                first = line;
                if line % 4096 == 0 && !keep_going() {
                    return Err(Error::Cancelled);
                }
            }
            Some(c) => field.push(c),
        }
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
