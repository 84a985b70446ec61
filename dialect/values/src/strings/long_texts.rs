//! Functions of texts of many megabytes, one row at a time: in pieces, between which the statement may end.
//!
//! Shows: see `bounded_functions.rs`

use std::iter;

use arrow::datatypes::DataType;
use bonnet_graph::{Monitor, Reservation, Stopped};
use datafusion::common::ScalarValue;

/// The bytes of a piece, and the comparisons of characters that take as long.
const PIECE: usize = 8 << 20;

/// An argument of a call in one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Argument<'a> {
    Text(&'a str),
    Number(i64),
    Null,
}

/// The value of a call, of the type `to`; `None` of a function that is not computed in pieces, or not of these arguments.
pub(crate) fn evaluate(
    function: &str,
    args: &[Argument<'_>],
    to: &DataType,
    monitor: &dyn Monitor,
) -> Result<Option<ScalarValue>, Stopped> {
    use Argument::{Null, Number, Text};
    let mut out = LongText { text: String::new(), monitor };
    match (function, args) {
        ("concat", texts) => texts.iter().try_for_each(|text| out.push_argument(text))?,
        ("concat_ws", [Text(separator), texts @ ..]) => {
            for (at, text) in texts.iter().filter(|text| **text != Null).enumerate() {
                out.push(if at > 0 { separator } else { "" })?;
                out.push_argument(text)?;
            }
        }
        (_, args) if args.contains(&Null) => return Ok(None),
        ("character_length", [Text(text)]) => return Ok(number(count_chars(text, monitor)?, to)),
        ("levenshtein", [Text(left), Text(right)]) => return Ok(number(levenshtein(left, right, monitor)?, to)),
        ("repeat", [Text(text), Number(count)]) => out.push_repeated(text, natural(*count))?,
        ("lpad" | "rpad", [Text(text), Number(length), fill @ ..]) => {
            let fill = if let [Text(fill)] = fill { fill } else { " " };
            out.pad(text, natural(*length), fill, function == "lpad")?;
        }
        ("reverse", [Text(text)]) => {
            let mut rest = *text;
            while !rest.is_empty() {
                let (before, piece) = rest.split_at(rest.floor_char_boundary(rest.len().saturating_sub(PIECE)));
                monitor.check()?;
                out.text.extend(piece.chars().rev());
                rest = before;
            }
        }
        ("upper", [Text(text)]) => {
            for piece in pieces(text) {
                out.push(&piece.to_uppercase())?;
            }
        }
        // The small letter of sigma depends on what is around it.
        ("lower", [Text(text)]) if !text.contains('Σ') => {
            for piece in pieces(text) {
                out.push(&piece.to_lowercase())?;
            }
        }
        ("replace", [Text(text), Text(from), Text(to)]) if !from.is_empty() => out.push_replaced(text, from, to)?,
        _ => return Ok(None),
    }
    Ok(Some(match to {
        DataType::Utf8 => ScalarValue::Utf8(Some(out.text)),
        DataType::LargeUtf8 => ScalarValue::LargeUtf8(Some(out.text)),
        DataType::Utf8View => ScalarValue::Utf8View(Some(out.text)),
        _ => return Ok(None),
    }))
}

fn natural(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

fn number(value: usize, to: &DataType) -> Option<ScalarValue> {
    match to {
        DataType::Int32 => Some(ScalarValue::Int32(Some(i32::try_from(value).ok()?))),
        DataType::Int64 => Some(ScalarValue::Int64(Some(i64::try_from(value).ok()?))),
        _ => None,
    }
}

/// A text that grows.
struct LongText<'a> {
    text: String,
    monitor: &'a dyn Monitor,
}

impl LongText<'_> {
    fn push(&mut self, text: &str) -> Result<(), Stopped> {
        for piece in pieces(text) {
            self.monitor.check()?;
            self.text.push_str(piece);
        }
        Ok(())
    }

    fn push_argument(&mut self, text: &Argument<'_>) -> Result<(), Stopped> {
        match text {
            Argument::Text(text) => self.push(text),
            _ => Ok(()),
        }
    }

    fn push_repeated(&mut self, text: &str, count: usize) -> Result<(), Stopped> {
        if text.is_empty() {
            return Ok(());
        }
        // Long enough for few steps, where the text is short.
        let times = (PIECE / text.len()).clamp(1, count.max(1));
        let block = if times > 1 { text.repeat(times) } else { String::new() };
        for _ in 0..count / times {
            self.push(if times > 1 { &block } else { text })?;
        }
        self.push(&block[..count % times * text.len()])
    }

    fn pad(&mut self, text: &str, length: usize, fill: &str, left: bool) -> Result<(), Stopped> {
        let given = count_chars(text, self.monitor)?;
        if given >= length || fill.is_empty() {
            return self.push(prefix(text, length, self.monitor)?);
        }
        if !left {
            self.push(text)?;
        }
        let (missing, width) = (length - given, count_chars(fill, self.monitor)?);
        self.push_repeated(fill, missing / width)?;
        self.push(prefix(fill, missing % width, self.monitor)?)?;
        if left { self.push(text) } else { Ok(()) }
    }

    fn push_replaced(&mut self, text: &str, from: &str, to: &str) -> Result<(), Stopped> {
        let mut rest = text;
        while rest.len() >= from.len() {
            self.monitor.check()?;
            // What begins in the piece, with its end.
            let piece = rest.ceil_char_boundary(PIECE);
            let window = &rest[..rest.ceil_char_boundary(piece + from.len() - 1)];
            let mut done = 0;
            for (at, _) in window.match_indices(from).take_while(|(at, _)| *at < piece) {
                self.text.push_str(&rest[done..at]);
                self.push(to)?;
                done = at + from.len();
            }
            let next = done.max(piece.min(rest.len()));
            self.text.push_str(&rest[done..next]);
            rest = &rest[next..];
        }
        self.push(rest)
    }
}

/// A text in pieces, which end with whole characters.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(PIECE));
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

fn count_chars(text: &str, monitor: &dyn Monitor) -> Result<usize, Stopped> {
    let mut count = 0;
    for piece in pieces(text) {
        monitor.check()?;
        count += piece.chars().count();
    }
    Ok(count)
}

/// The first characters of a text.
fn prefix<'a>(text: &'a str, length: usize, monitor: &dyn Monitor) -> Result<&'a str, Stopped> {
    let (mut end, mut missing) = (0, length);
    for piece in pieces(text) {
        monitor.check()?;
        let count = piece.chars().count();
        if count >= missing {
            end += piece.char_indices().nth(missing).map_or(piece.len(), |(at, _)| at);
            break;
        }
        end += piece.len();
        missing -= count;
    }
    Ok(&text[..end])
}

/// The fewest characters to insert, delete and replace that make one text the other.
fn levenshtein(left: &str, right: &str, monitor: &dyn Monitor) -> Result<usize, Stopped> {
    let (shorter, longer) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let _memory = Reservation::new(monitor, shorter.len().saturating_mul(size_of::<char>() + size_of::<usize>()))?;
    let shorter: Vec<char> = shorter.chars().collect();
    // Of the distances between beginnings of both texts those of the last beginning of the longer one.
    let mut distances: Vec<usize> = (0..=shorter.len()).collect();
    let mut compared = 0;
    for (row, of_longer) in longer.chars().enumerate() {
        compared += shorter.len();
        if compared >= PIECE {
            monitor.check()?;
            compared = 0;
        }
        let mut diagonal = row;
        distances[0] = row + 1;
        for (at, of_shorter) in shorter.iter().enumerate() {
            let replaced = diagonal + usize::from(*of_shorter != of_longer);
            diagonal = distances[at + 1];
            distances[at + 1] = replaced.min(diagonal + 1).min(distances[at] + 1);
        }
    }
    Ok(distances[shorter.len()])
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::Argument::{Null, Number, Text};
    use super::*;

    fn text(function: &str, args: &[Argument<'_>]) -> String {
        match evaluate(function, args, &DataType::Utf8, &Unmonitored).unwrap() {
            Some(ScalarValue::Utf8(Some(text))) => text,
            other => panic!("{function}: {other:?}"),
        }
    }

    fn count(function: &str, args: &[Argument<'_>]) -> i32 {
        match evaluate(function, args, &DataType::Int32, &Unmonitored).unwrap() {
            Some(ScalarValue::Int32(Some(count))) => count,
            other => panic!("{function}: {other:?}"),
        }
    }

    /// Texts whose pieces end within characters of two and three bytes, and within what is looked for.
    #[test]
    fn pieces_give_what_the_whole_does() {
        let long = format!("x{}", "éa…bab".repeat(PIECE / 4));
        assert!(long.len() > 2 * PIECE && pieces(&long).count() > 2);
        assert_eq!(pieces(&long).collect::<String>(), long);
        assert_eq!(count("character_length", &[Text(&long)]) as usize, long.chars().count());
        assert_eq!(text("reverse", &[Text(&long)]), long.chars().rev().collect::<String>());
        assert_eq!(text("upper", &[Text(&long)]), long.to_uppercase());
        assert_eq!(text("lower", &[Text(&long.to_uppercase())]), long);
        assert_eq!(text("concat", &[Text(&long), Null, Text("é")]), format!("{long}é"));
        assert_eq!(text("concat_ws", &[Text(", "), Text(&long), Null, Text("z")]), format!("{long}, z"));
        assert_eq!(text("repeat", &[Text(&long), Number(2)]), long.repeat(2));
        assert_eq!(text("repeat", &[Text("é…"), Number(5_000_001)]), "é…".repeat(5_000_001));
        for (from, to) in [("éa", "u"), ("bab", "b"), ("bé", "éééé"), ("b", ""), ("nothing", "x"), (long.as_str(), "y")]
        {
            assert!(text("replace", &[Text(&long), Text(from), Text(to)]) == long.replace(from, to), "{from}");
        }
        let chars = long.chars().count();
        let short: String = long.chars().take(chars - 3).collect();
        assert!(text("rpad", &[Text(&long), Number(chars as i64 - 3)]) == short);
        let fill = "é-".repeat(2_500_000);
        assert!(text("rpad", &[Text(&long), Number(chars as i64 + 5_000_001), Text("é-")]) == format!("{long}{fill}é"));
        assert!(text("lpad", &[Text(&long), Number(chars as i64 + 5_000_001), Text("é-")]) == format!("{fill}é{long}"));
    }

    #[test]
    fn short_texts_are_right_too() {
        assert_eq!(text("repeat", &[Text("ab"), Number(3)]), "ababab");
        assert_eq!(text("repeat", &[Text("ab"), Number(-3)]), "");
        assert_eq!(text("lpad", &[Text("ab"), Number(5), Text("xyz")]), "xyzab");
        assert_eq!(text("lpad", &[Text("ab"), Number(5)]), "   ab");
        assert_eq!(text("rpad", &[Text("ab"), Number(1), Text("xyz")]), "a");
        assert_eq!(text("rpad", &[Text("ab"), Number(9), Text("")]), "ab");
        assert_eq!(text("replace", &[Text("aaaa"), Text("aa"), Text("b")]), "bb");
        for (left, right, distance) in [("kitten", "sitting", 3), ("", "abc", 3), ("é", "e", 1), ("ab", "ab", 0)] {
            assert_eq!(count("levenshtein", &[Text(left), Text(right)]), distance, "{left} {right}");
            assert_eq!(count("levenshtein", &[Text(right), Text(left)]), distance, "{left} {right}");
        }
        let none = |function, args: &[Argument<'_>]| evaluate(function, args, &DataType::Utf8, &Unmonitored).unwrap();
        assert_eq!(none("repeat", &[Text("ab"), Null]), None);
        assert_eq!(none("replace", &[Text("ab"), Text(""), Text("x")]), None);
        assert_eq!(none("lower", &[Text("ΑΣ")]), None);
    }
}
