//! Numbers with zeros before them, in text without quotes.

use memchr::{memchr_iter, memrchr2};

use super::syntax::Syntax;

/// The bytes that are looked at together: whether one of them may matter is a matter of few instructions.
const BLOCK: usize = 1 << 12;

/// Where a part of a file begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The first bytes of the field that goes on here, as many as there are; three stand for more.
    pub(super) field: [u8; 3],
    pub(super) length: usize,
    pub(super) column: usize,
    /// Where the row begins.
    pub(super) row: u64,
    /// The bytes of the file before the part.
    pub(super) at: u64,
    /// Whether the row is one of names.
    pub(super) header: bool,
}

/// The first number with a zero before it in one of the columns of `numbers`: its column, and where its row begins.
pub(super) fn find(part: &[u8], syntax: Syntax, numbers: &[bool], place: Place) -> Option<(usize, u64)> {
    let mut search = Search { syntax, numbers, place, known: 0 };
    // The field that began before, and whatever begins right here.
    let begun = &place.field[..place.length.min(3)];
    if place.length < 3 {
        let mut head = begun.to_vec();
        head.extend(part.iter().take(4));
        if is_padded(&head) && search.is_number(begun, part) && search.counts() {
            return Some((search.place.column, search.place.row));
        }
    }
    for start in (0..part.len()).step_by(BLOCK) {
        // A field begins behind a byte of this block.
        let end = part.len().min(start + BLOCK);
        let window = &part[start..part.len().min(end + 3)];
        if syntax.terminator.is_none_or(|end| end < 14) && !may_be_padded(window, syntax.delimiter) {
            continue;
        }
        for at in start..end {
            let field = &part[at + 1..];
            let begins = part[at] == syntax.delimiter || syntax.ends_row(part[at]);
            if begins && is_padded(field) && search.is_number(&[], field) && search.counts_behind(part, at + 1) {
                return Some((search.place.column, search.place.row));
            }
        }
    }
    None
}

/// Whether a field begins with a zero before a digit.
fn is_padded(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    matches!(digits, [b'0', next, ..] if next.is_ascii_digit())
}

/// Whether a field may begin with a zero before a digit, or with a minus and those: behind a delimiter or a control character, as
/// ends of rows are. A date has digits before its minus.
fn may_be_padded(bytes: &[u8], delimiter: u8) -> bool {
    let Some(last) = bytes.len().checked_sub(3) else { return true };
    // Eight bytes at once, each with those behind it.
    let words = |from: usize| bytes[from..].as_chunks::<8>().0;
    let mut found = 0;
    for (((one, two), three), four) in words(0).iter().zip(words(1)).zip(words(2)).zip(words(3)) {
        let [one, two, three, four] = [*one, *two, *three, *four].map(u64::from_le_bytes);
        let separator = control(one) | equal(one, delimiter);
        let begins = control(two) | equal(two, delimiter);
        // The second may be a minus behind a separator, or the separator itself.
        let before = begins | (separator & equal(two, b'-'));
        found |= before & equal(three, b'0') & digit(four);
    }
    let separates = |at: usize| bytes[at] < 14 || bytes[at] == delimiter;
    let padded = |at: usize| {
        let before = separates(at + 1) || (separates(at) && bytes[at + 1] == b'-');
        before && bytes[at + 2] == b'0' && bytes.get(at + 3).is_some_and(u8::is_ascii_digit)
    };
    let first = separates(0) && bytes[1] == b'0' && bytes[2].is_ascii_digit();
    let rest = 8 * words(3).len();
    found & HIGH != 0 || first || (rest..last).any(padded)
}

/// The high bit of each byte, and all others.
const HIGH: u64 = 0x8080_8080_8080_8080;
const LOW: u64 = !HIGH;

/// A byte, eight times.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The high bit of each byte that is a digit.
fn digit(bytes: u64) -> u64 {
    let low = bytes & LOW;
    (low + each(0x80 - b'0')) & !(low + each(0x80 - b'0' - 10)) & !bytes
}

/// The high bit of each byte below 14, as ends of rows and tabs are.
fn control(bytes: u64) -> u64 {
    !((bytes & LOW) + each(0x80 - 14)) & !bytes
}

/// The high bit of each byte that is this one.
fn equal(bytes: u64, byte: u8) -> u64 {
    let other = bytes ^ each(byte);
    !(((other & LOW) + LOW) | other)
}

struct Search<'a> {
    syntax: Syntax,
    numbers: &'a [bool],
    /// Column and row of the byte up to which they are known.
    place: Place,
    known: usize,
}

impl Search<'_> {
    /// Whether a field, of which some bytes came before, is nothing but a number.
    fn is_number(&self, begun: &[u8], rest: &[u8]) -> bool {
        let ends = |byte: &u8| *byte == self.syntax.delimiter || self.syntax.ends_row(*byte);
        let of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
        begun.iter().chain(rest.iter().take_while(|byte| !ends(byte))).all(of_number)
    }

    /// Whether numbers of the column that is known count.
    fn counts(&self) -> bool {
        !self.place.header && self.numbers.get(self.place.column) == Some(&true)
    }

    /// Whether numbers count in the column of the field that begins here.
    fn counts_behind(&mut self, part: &[u8], at: usize) -> bool {
        let passed = &part[self.known..at];
        let end = match self.syntax.terminator {
            None => memrchr2(b'\n', b'\r', passed),
            Some(terminator) => memrchr2(terminator, terminator, passed),
        };
        let row = match end {
            Some(end) => {
                self.place.row = self.place.at + (self.known + end + 1) as u64;
                self.place.column = 0;
                self.place.header = false;
                &passed[end + 1..]
            }
            None => passed,
        };
        self.place.column += memchr_iter(self.syntax.delimiter, row).count();
        self.known = at;
        self.counts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax { delimiter: b',', quote: b'"', escape: None, comment: None, terminator: None };

    fn found(text: &str, numbers: &[bool]) -> Option<(usize, u64)> {
        let place = Place { field: [0; 3], length: 0, column: 0, row: 0, at: 0, header: true };
        find(text.as_bytes(), SYNTAX, numbers, place)
    }

    #[test]
    fn a_number_with_a_zero_before_it_is_found_in_columns_of_numbers() {
        let numbers = [true, false, true];
        assert_eq!(found("k,t,x\n1,007,2\n3,4,05\n", &numbers), Some((2, 14)));
        assert_eq!(found("k,t,x\n-07,a,1\n", &numbers), Some((0, 6)));
        assert_eq!(found("k,t,x\r\n1,a,00.5", &numbers), Some((2, 7)));
        for text in [
            "007,t,05\n0,007,0.5\n10,00,-0.007\n1e-05,01,1.05\n0,a,0\n",
            "k,t,x\n100,b,2005\n0x10,,-1\n",
            "k,t,x\n1,a,01:30\n",
            "",
        ] {
            assert_eq!(found(text, &numbers), None, "{text}");
        }
        let many = format!("k,t,x\n{}9,9,09\n", "12,007,0.5\n".repeat(5000));
        assert_eq!(found(&many, &numbers), Some((2, 6 + 11 * 5000)));
    }

    #[test]
    fn eight_bytes_at_once_are_looked_at_as_one_by_one() {
        let letters = [b'0', b'1', b'9', b'.', b',', b'-', b'/', b':', b'e', 0, 0x80, 0xb0, 0xff, b'\n'];
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            letters[(state >> 33) as usize % letters.len()]
        };
        for length in 0..4000 {
            let bytes: Vec<u8> = (0..length % 29).map(|_| random()).collect();
            let separates = |byte: u8| byte == b',' || byte < 14;
            let literal = (0..bytes.len()).any(|at| separates(bytes[at]) && is_padded(&bytes[at + 1..]));
            let found = may_be_padded(&bytes, b',');
            assert!(found == literal || (found && bytes.len() < 3), "{bytes:?}");
        }
    }

    #[test]
    fn a_field_may_have_begun_before() {
        let begun = |before: &[u8], text: &str| {
            let mut field = [0; 3];
            before.iter().take(3).zip(&mut field).for_each(|(byte, place)| *place = *byte);
            let place = Place { field, length: before.len(), column: 0, row: 5, at: 9, header: false };
            find(text.as_bytes(), SYNTAX, &[true], place)
        };
        for (before, text) in [(&b"0"[..], "7,1\n"), (b"-", "07\n"), (b"-0", "7"), (b"", "07\n")] {
            assert_eq!(begun(before, text), Some((0, 5)), "{text}");
        }
        for (before, text) in [(&b"10"[..], "7,1\n"), (b"-", "7\n"), (b"0", ".7"), (b"0", ",07"), (b"123", "07")] {
            assert_eq!(begun(before, text), None, "{text}");
        }
    }
}
