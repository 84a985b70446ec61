//! The syntax of lists, structs and maps in texts, as DuckDB reads it: `[a, 'b, c', NULL]`, `{'a': 1}`, `{k=v}`.
//!
//! Shows: see `parts_of_texts.rs`

use std::borrow::Cow;

/// The texts of a list's items; `None` for what is no list.
pub(crate) fn items(text: &str) -> Option<Vec<&str>> {
    pieces(text.trim().strip_prefix('[')?.strip_suffix(']')?)
}

/// The keys and values of a struct or map, which this sign stands between; `None` for what is none.
pub(crate) fn entries(text: &str, sign: char) -> Option<Vec<(&str, &str)>> {
    let pieces = pieces(text.trim().strip_prefix('{')?.strip_suffix('}')?)?;
    pieces.into_iter().map(|piece| split(piece, sign)).collect()
}

/// The text of an item without its quotes; `None` for NULL.
pub(crate) fn plain(item: &str) -> Option<Cow<'_, str>> {
    let item = item.trim();
    if item.eq_ignore_ascii_case("null") {
        return None;
    }
    if item.starts_with(['[', '{']) || !item.contains(['\'', '"']) {
        return Some(Cow::Borrowed(item));
    }
    let mut plain = String::with_capacity(item.len());
    let mut place = Place::default();
    for sign in item.chars() {
        let before = place.quote;
        place.pass(sign);
        // The quotes themselves go, and a backslash before what it stands for.
        if before == place.quote && !place.escaped {
            plain.push(sign);
        }
    }
    Some(Cow::Owned(plain))
}

/// What commas outside of quotes and brackets separate; `None` where a quote or bracket is left open, or none was open.
fn pieces(text: &str) -> Option<Vec<&str>> {
    let (mut found, mut start, mut place) = (Vec::new(), 0, Place::default());
    for (at, sign) in text.char_indices() {
        if sign == ',' && place.is_outside() {
            found.push(&text[start..at]);
            start = at + 1;
        }
        place.pass(sign);
        if place.is_mismatched {
            return None;
        }
    }
    if !place.is_outside() {
        return None;
    }
    if !found.is_empty() || !text.trim().is_empty() {
        found.push(&text[start..]);
    }
    Some(found)
}

/// The parts before and behind the first such sign outside of quotes and brackets.
fn split(text: &str, by: char) -> Option<(&str, &str)> {
    let mut place = Place::default();
    for (at, sign) in text.char_indices() {
        if sign == by && place.is_outside() {
            return Some((&text[..at], &text[at + 1..]));
        }
        place.pass(sign);
    }
    None
}

/// Where in a text one is.
#[derive(Default)]
struct Place {
    quote: Option<char>,
    /// Behind a backslash in quotes.
    escaped: bool,
    /// The brackets that close what is open.
    closing: Vec<char>,
    is_mismatched: bool,
}

impl Place {
    fn is_outside(&self) -> bool {
        self.quote.is_none() && self.closing.is_empty()
    }

    fn pass(&mut self, sign: char) {
        match (self.quote, sign) {
            (Some(_), _) if self.escaped => self.escaped = false,
            (Some(_), '\\') => self.escaped = true,
            (Some(quote), _) if sign == quote => self.quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => self.quote = Some(sign),
            (None, '[') => self.closing.push(']'),
            (None, '{') => self.closing.push('}'),
            (None, ']' | '}') => self.is_mismatched |= self.closing.pop() != Some(sign),
            (None, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // As DuckDB 2.0 reads them.
    #[test]
    fn items_and_entries_are_told_apart_outside_of_quotes_and_brackets() {
        for (text, expected) in [
            ("[]", Some(vec![])),
            (" [ ] ", Some(vec![])),
            ("[1, 2]", Some(vec!["1", " 2"])),
            ("[a,]", Some(vec!["a", ""])),
            ("[[1, 2], {a: [3]}]", Some(vec!["[1, 2]", " {a: [3]}"])),
            (r"['a,b', 'c\'],d']", Some(vec!["'a,b'", r" 'c\'],d'"])),
            ("[1, 2", None),
            ("1, 2", None),
            ("[1]]", None),
            ("[[1]", None),
            ("[it's]", None),
            ("[{1]}", None),
            ("", None),
        ] {
            assert_eq!(items(text), expected, "{text}");
        }
        assert_eq!(entries("{a: 1, 'b:c': {d: 2}}", ':'), Some(vec![("a", " 1"), (" 'b:c'", " {d: 2}")]));
        assert_eq!(entries("{'a=b'=2, k={x=1}}", '='), Some(vec![("'a=b'", "2"), (" k", "{x=1}")]));
        assert_eq!(entries("{a, b}", ':'), None);
        assert_eq!(entries("{}", ':'), Some(vec![]));
    }

    #[test]
    fn quotes_go_and_null_is_none() {
        for (item, expected) in [
            (" a b ", Some("a b")),
            ("''", Some("")),
            ("", Some("")),
            (" ' x ' ", Some(" x ")),
            (r"'it\'s'", Some("it's")),
            (r"'a\\'", Some(r"a\")),
            (r"a\b", Some(r"a\b")),
            ("'a'b", Some("ab")),
            ("\"it's\"", Some("it's")),
            ("['a', b]", Some("['a', b]")),
            ("Null", None),
            ("'NULL'", Some("NULL")),
        ] {
            assert_eq!(plain(item).as_deref(), expected, "{item}");
        }
    }
}
