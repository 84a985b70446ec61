//! Where the rows of a part of a file begin: a line end within quotes ends none.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/11472>
//! Shows: no statement: files of 10 MB and more, whose parts are read side by side

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use memchr::memchr;

use super::state::State;
use super::syntax::Syntax;

/// The bytes that are read at once.
const PART: usize = 1 << 18;

/// The bytes behind a place that tell of quotes around it. A longer string without a quote in it, around the place, is taken for
/// rows, of which the part before says that a quote is missing.
const WINDOW: usize = 1 << 20;

/// The state of a reader before a byte, as far as quotes go.
#[derive(Debug, Clone, Copy, Default)]
struct Quoting {
    inside: bool,
    /// Inside, and the last byte was a quote: the end of the string, or the first half of two.
    closing: bool,
    /// The last byte; `None` at the start of the file.
    last: Option<u8>,
}

impl Quoting {
    /// The state behind these bytes.
    fn behind(mut self, bytes: &[u8], syntax: Syntax) -> Self {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.closing {
                self.closing = false;
                self.inside = rest[0] == syntax.quote;
                self.last = Some(rest[0]);
                rest = &rest[1..];
                continue;
            }
            let Some(at) = memchr(syntax.quote, rest) else {
                self.last = rest.last().copied();
                break;
            };
            let before = if at == 0 { self.last } else { Some(rest[at - 1]) };
            if self.inside {
                self.closing = true;
            } else {
                // A quote within a plain string is one of its letters.
                self.inside = before.is_none_or(|byte| byte == syntax.delimiter || syntax.ends_row(byte));
            }
            self.last = Some(syntax.quote);
            rest = &rest[at + 1..];
        }
        self
    }

    fn state(self, syntax: Syntax) -> State {
        match self.last {
            _ if self.closing => State::Quote(false),
            _ if self.inside => State::Quoted(false),
            Some(byte) if byte == syntax.delimiter => State::Field,
            Some(byte) if !syntax.ends_row(byte) => State::Plain,
            _ => State::Row,
        }
    }
}

/// A file, in a state of its own.
pub(super) type FileKey = (String, i64);

/// The places in files that were looked for, each with the state before it and the row that begins there or after it.
#[derive(Debug, Default)]
pub(super) struct Boundaries(Mutex<BTreeMap<(FileKey, u64), (Quoting, u64)>>);

impl Boundaries {
    /// The first row that begins at a position or after it.
    pub(super) fn row_at(&self, file: &mut File, key: &FileKey, position: u64, syntax: Syntax) -> io::Result<u64> {
        let Some(before) = position.checked_sub(1) else { return Ok(0) };
        // Parts wait for one another: what one has read is read once.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, row)) = known.get(&(key.clone(), position)) {
            return Ok(*row);
        }
        let mut quoting = Quoting { last: Some(syntax.delimiter), ..Quoting::default() };
        file.seek(SeekFrom::Start(before))?;
        let mut window = Vec::new();
        file.by_ref().take(WINDOW as u64).read_to_end(&mut window)?;
        if memchr(syntax.quote, &window).is_some() {
            let nearest = known.range((key.clone(), 0)..(key.clone(), position)).next_back();
            let (start, state) = nearest.map_or((0, Quoting::default()), |((_, at), (state, _))| (at - 1, *state));
            quoting = scanned(file, start..before, state, syntax)?;
        }
        let row = row_behind(file, before, &window, quoting.state(syntax), syntax)?;
        known.insert((key.clone(), position), (quoting, row));
        Ok(row)
    }
}

/// The state behind a range of a file's bytes.
fn scanned(file: &mut File, range: std::ops::Range<u64>, mut state: Quoting, syntax: Syntax) -> io::Result<Quoting> {
    file.seek(SeekFrom::Start(range.start))?;
    let (mut part, mut left) = (vec![0; PART], range.end - range.start);
    while left > 0 {
        let length = file.read(&mut part[..PART.min(left.try_into().unwrap_or(PART))])?;
        if length == 0 {
            break;
        }
        state = state.behind(&part[..length], syntax);
        left -= length as u64;
    }
    Ok(state)
}

/// The byte behind the first end of a row that is not before `start`, where `window` begins.
fn row_behind(file: &mut File, start: u64, window: &[u8], mut state: State, syntax: Syntax) -> io::Result<u64> {
    let terminator = syntax.terminator.unwrap_or(b'\n');
    let (mut at, mut part) = (start, window.to_vec());
    file.seek(SeekFrom::Start(start + window.len() as u64))?;
    loop {
        if part.is_empty() {
            return Ok(at);
        }
        for byte in &part {
            state = state.behind(*byte, *byte == terminator, syntax);
            at += 1;
            if *byte == terminator && state == State::Row {
                return Ok(at);
            }
        }
        part.resize(PART, 0);
        let length = file.read(&mut part)?;
        part.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const SYNTAX: Syntax = Syntax { delimiter: b',', quote: b'"', escape: None, comment: None, terminator: None };

    /// The rows that begin at each position, by a reader of all bytes before it.
    fn literal(text: &[u8]) -> Vec<u64> {
        let mut starts = vec![0];
        let mut state = State::Row;
        for (at, byte) in text.iter().enumerate() {
            state = state.behind(*byte, *byte == b'\n', SYNTAX);
            if *byte == b'\n' && state == State::Row {
                starts.push(at as u64 + 1);
            }
        }
        let row = |position: usize| starts.iter().copied().find(|start| *start >= position as u64);
        (0..=text.len()).map(|position| row(position).unwrap_or(text.len() as u64)).collect()
    }

    #[test]
    fn a_line_end_within_quotes_ends_no_row() {
        let texts = [
            "a,b\n1,2\n3,4\n",
            "a,t\n1,\"x\ny\"\n2,\"\"\"\n\"\"\"\n3,5\" wide\n4,\"\n\n\",\"\"\n5,x\"y\n6,\"a\",\"b\n\"\n7,z",
            "\"a\n\",b\n\"\",\"\n\"\n",
            "",
        ];
        for text in texts {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let expected = literal(text.as_bytes());
            for order in [(0..=text.len()).collect::<Vec<_>>(), (0..=text.len()).rev().collect()] {
                let boundaries = Boundaries::default();
                for position in order {
                    let found = boundaries.row_at(&mut file, &(String::new(), 0), position as u64, SYNTAX).unwrap();
                    assert_eq!(found, expected[position], "{text:?} at {position}");
                }
            }
        }
    }

    #[test]
    fn the_state_does_not_depend_on_the_parts() {
        let text = b"a,t\n1,\"x\ny\"\n2,\"\"\"\n\"\"\"\n3,5\" wide\n4,\"\n";
        for split in 0..text.len() {
            let (one, other) = text.split_at(split);
            let parts = Quoting::default().behind(one, SYNTAX).behind(other, SYNTAX);
            let whole = Quoting::default().behind(text, SYNTAX);
            assert_eq!(parts.state(SYNTAX), whole.state(SYNTAX), "{split}");
        }
    }
}
