//! The rows of a JSON file as bytes: a row a line, or the items of one array.

use std::io::{self, BufRead};

use super::nesting::Nesting;
use crate::files::limits::MOST_ROW;

/// Reads a row at a time.
pub(in crate::files) struct JsonRows<R> {
    text: R,
    array: bool,
    /// Whether the array has begun, and whether it has ended.
    begun: bool,
    ended: bool,
    /// The line that is read.
    line: usize,
    row: Vec<u8>,
}

/// A row, or what is wrong with it.
pub(in crate::files) enum Row<'a> {
    /// The line at which it begins, from 1 on, and its bytes.
    Text(usize, &'a [u8]),
    TooLong(usize),
    Failed(usize, io::Error),
}

impl<R: BufRead> JsonRows<R> {
    pub(in crate::files) fn new(text: R, array: bool) -> Self {
        Self { text, array, begun: false, ended: false, line: 1, row: Vec::new() }
    }

    pub(in crate::files) fn next(&mut self) -> Option<Row<'_>> {
        self.row.clear();
        let begins = match if self.array { self.item() } else { self.lines() } {
            Ok(begins) => begins?,
            Err(error) => return Some(Row::Failed(self.line, error)),
        };
        Some(match self.row.len() > MOST_ROW {
            true => Row::TooLong(begins),
            false => Row::Text(begins, self.row.trim_ascii()),
        })
    }

    /// Reads the next line that is not empty, and returns its number.
    fn lines(&mut self) -> io::Result<Option<usize>> {
        loop {
            let at = self.line;
            let ended = self.until_line_feed()?;
            if !self.row.trim_ascii().is_empty() {
                return Ok(Some(at));
            }
            if ended {
                return Ok(None);
            }
            self.row.clear();
        }
    }

    /// Reads a line, no farther than a row may be long; true at the end of the file.
    fn until_line_feed(&mut self) -> io::Result<bool> {
        while self.row.len() <= MOST_ROW {
            let part = self.text.fill_buf()?;
            if part.is_empty() {
                return Ok(true);
            }
            let end = part.iter().position(|sign| *sign == b'\n');
            let length = end.map_or(part.len(), |end| end + 1);
            self.row.extend_from_slice(&part[..length]);
            self.text.consume(length);
            if end.is_some() {
                self.line += 1;
                break;
            }
        }
        Ok(false)
    }

    /// Reads the next item of the array, and returns its line.
    fn item(&mut self) -> io::Result<Option<usize>> {
        let (mut begins, mut nesting) = (None, Nesting::default());
        while !self.ended && self.row.len() <= MOST_ROW {
            let part = self.text.fill_buf()?;
            let mut used = 0;
            // Whether the item ends, with this byte or before it.
            let mut done = false;
            for &sign in part {
                used += 1;
                if sign == b'\n' {
                    self.line += 1;
                }
                if begins.is_none() {
                    match sign {
                        b'[' if !self.begun => {
                            self.begun = true;
                            continue;
                        }
                        b']' => {
                            self.ended = true;
                            break;
                        }
                        b',' => continue,
                        sign if sign.is_ascii_whitespace() => continue,
                        _ => begins = Some(self.line),
                    }
                }
                if nesting.is_outside() && matches!(sign, b']' | b',') {
                    self.ended = sign == b']';
                    done = true;
                    break;
                }
                nesting.step(sign);
                self.row.push(sign);
            }
            let end = part.is_empty();
            self.text.consume(used);
            if done || end {
                break;
            }
        }
        Ok(begins)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn rows(text: &str, array: bool, part: usize) -> Vec<(usize, String)> {
        let mut rows = JsonRows::new(BufReader::with_capacity(part, text.as_bytes()), array);
        let mut found = Vec::new();
        while let Some(row) = rows.next() {
            let Row::Text(line, text) = row else { panic!("a row cannot be read") };
            found.push((line, String::from_utf8(text.to_vec()).unwrap()));
        }
        found
    }

    #[test]
    fn rows_are_found_with_their_lines_whatever_the_parts() {
        for part in [1, 3, 7, 100] {
            let lines = rows("\n{\"a\":1}\n\n  {\"a\":\n2}", false, part);
            let expected = [(2, "{\"a\":1}"), (4, "{\"a\":"), (5, "2}")].map(|(line, text)| (line, text.to_owned()));
            assert_eq!(lines, expected, "in parts of {part}");
            let items = rows(" [{\"a\":[1,2],\n\"b\":\"]}\\\",\"}\n,\n {\"a\":{}}, 3 ,\"x\" ]\n", true, part);
            let expected = [(1, "{\"a\":[1,2],\n\"b\":\"]}\\\",\"}"), (4, "{\"a\":{}}"), (4, "3"), (4, "\"x\"")];
            assert_eq!(items, expected.map(|(line, text)| (line, text.to_owned())), "in parts of {part}");
            assert_eq!(rows("[]", true, part), []);
        }
    }
}
