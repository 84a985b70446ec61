//! Lists of complexes as text: `name=[[1,2,3],[1,2,4],...]`, over any number of lines.

use std::io::BufRead;
use std::path::Path;

use crate::complexes::Complex;
use crate::{Error, Result};

/// A name that is longer is none.
const LONGEST_NAME: usize = 1000;

/// Reads entry after entry. Lines that begin with `#` are comments, blanks and `;` between entries mean nothing.
pub(crate) struct SimplexLists<'a, R> {
    path: &'a Path,
    input: R,
    line: usize,
    at_line_start: bool,
    /// The comments met so far, read as Latin-1.
    pub(crate) comments: String,
}

impl<'a, R: BufRead> SimplexLists<'a, R> {
    pub(crate) fn new(path: &'a Path, input: R) -> Self {
        Self { path, input, line: 1, at_line_start: true, comments: String::new() }
    }

    fn fault(&self, what: impl ToString) -> Error {
        Error::line(self.path, self.line, what)
    }

    /// The next byte that is no part of a comment; `None` at the end.
    fn next(&mut self) -> Result<Option<u8>> {
        loop {
            let buffer = self.input.fill_buf().map_err(Error::io(self.path))?;
            let Some(&byte) = buffer.first() else { return Ok(None) };
            if self.at_line_start && byte == b'#' {
                let mut comment = Vec::new();
                self.input.read_until(b'\n', &mut comment).map_err(Error::io(self.path))?;
                self.comments.extend(comment.iter().map(|&byte| char::from(byte)));
                self.line += 1;
                continue;
            }
            self.input.consume(1);
            self.at_line_start = byte == b'\n';
            self.line += usize::from(self.at_line_start);
            return Ok(Some(byte));
        }
    }

    /// The next byte that is no blank.
    fn next_solid(&mut self) -> Result<Option<u8>> {
        loop {
            match self.next()? {
                Some(byte) if byte.is_ascii_whitespace() => {}
                other => return Ok(other),
            }
        }
    }

    fn shown(byte: Option<u8>) -> String {
        byte.map_or("the end of the file".to_owned(), |byte| format!("'{}'", char::from(byte)))
    }

    fn expect(&mut self, wanted: u8) -> Result<()> {
        match self.next_solid()? {
            Some(byte) if byte == wanted => Ok(()),
            other => Err(self.fault(format!("'{}' is expected, {} is found", char::from(wanted), Self::shown(other)))),
        }
    }

    /// Reads the next entry's name and facets; `false` at the end of the file.
    pub(crate) fn next_complex(&mut self, complex: &mut Complex) -> Result<bool> {
        complex.clear();
        let mut name = String::new();
        loop {
            match self.next()? {
                None if name.trim().is_empty() => return Ok(false),
                None => return Err(self.fault(format!("'{}' is not followed by =[[...]]", name.trim()))),
                Some(b'=') => break,
                Some(b'\n' | b'\r') if name.trim().is_empty() => name.clear(),
                Some(b'[') => return Err(self.fault("a list without a name; name=[[...]] is expected")),
                Some(b';') if name.trim().is_empty() => {}
                Some(_) if name.len() > LONGEST_NAME => return Err(self.fault("name=[[...]] is expected")),
                Some(byte) => name.push(char::from(byte)),
            }
        }
        complex.id = name.trim().trim_end_matches(':').trim_end().to_owned();
        self.expect(b'[')?;
        loop {
            self.expect(b'[')?;
            self.facet(complex)?;
            match self.next_solid()? {
                Some(b',') => {}
                Some(b']') => return Ok(true),
                other => return Err(self.fault(format!("',' or ']' is expected, {} is found", Self::shown(other)))),
            }
        }
    }

    /// Reads a facet behind its opening bracket.
    fn facet(&mut self, complex: &mut Complex) -> Result<()> {
        loop {
            let mut byte = self.next_solid()?;
            let mut digits = String::new();
            while let Some(digit @ (b'-' | b'0'..=b'9')) = byte {
                digits.push(char::from(digit));
                byte = self.next()?;
            }
            if byte.is_some_and(|byte| byte.is_ascii_whitespace()) {
                byte = self.next_solid()?;
            }
            let vertex = digits.parse::<i64>();
            let vertex = vertex.map_err(|_| {
                let found = if digits.is_empty() { Self::shown(byte) } else { format!("'{digits}'") };
                self.fault(format!("a vertex is expected, {found} is found, in {}", complex.id))
            })?;
            complex.push_vertex(vertex).map_err(|what| self.fault(format!("{what}, in {}", complex.id)))?;
            match byte {
                Some(b',') => {}
                Some(b']') => {
                    return complex.end_facet().map_err(|what| self.fault(format!("{what}, in {}", complex.id)));
                }
                other => return Err(self.fault(format!("',' or ']' is expected, {} is found", Self::shown(other)))),
            }
        }
    }
}

/// The name of a string's first entry, and the sign between it and its list: `=` or `:=`.
pub(crate) fn first_entry(head: &[u8]) -> Option<(String, String)> {
    let text: String = head.iter().map(|&byte| char::from(byte)).collect();
    let text: String = text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let (name, list) = text.split_once('=')?;
    let list: String = list.chars().filter(|c| !c.is_whitespace()).take(3).collect();
    let digit = list.strip_prefix("[[")?.chars().next()?;
    let plain = name.trim().trim_end_matches(':').trim_end();
    let named = !plain.is_empty() && !plain.contains(['\n', '[', ',', ';']) && digit.is_ascii_digit();
    let sign = if name.trim_end().ends_with(':') { ":=" } else { "=" };
    named.then(|| (plain.to_owned(), sign.to_owned()))
}
