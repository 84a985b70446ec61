//! Whether the first line of an edge list names its columns.

use std::borrow::Cow;

use super::keys::integer;

/// Names that hardly are those of nodes.
const WORDS: [&str; 14] =
    ["src", "dst", "source", "target", "from", "to", "id1", "id2", "id_1", "id_2", "node", "node1", "node_id", "label"];

/// Names of columns that may be those of nodes as well.
const LETTERS: [&str; 2] = ["u", "v"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// The line has names.
    Names,
    /// It is a row.
    Row,
    /// It may be either.
    Open,
}

/// What the first line is, by its fields, the rows behind it and the number of fields that a row has at the least: keys first.
pub(super) fn header<'a>(top: &[Cow<'_, str>], rows: impl Iterator<Item = Vec<Cow<'a, str>>>, least: usize) -> Header {
    let keys = least.min(top.len());
    let is_number = |field: &str| field.parse::<f64>().is_ok();
    let is_key = |field: &Cow<'_, str>| integer(field).is_some();
    if top.is_empty() || top.iter().take(keys).all(is_key) {
        return Header::Row;
    }
    // Columns in which all rows have numbers, and whether the first row has them for its keys.
    let (mut numeric, mut first_is_numeric, mut count, mut returns) = (vec![true; top.len()], false, 0, false);
    for row in rows {
        if count == 0 {
            first_is_numeric = row.len() >= keys && row.iter().take(keys).all(is_key);
        }
        for (column, is_numeric) in numeric.iter_mut().enumerate() {
            *is_numeric &= row.get(column).is_some_and(|field| is_number(field));
        }
        returns |= row.iter().take(keys).any(|key| top.iter().take(keys).any(|name| name == key));
        count += 1;
    }
    let contrast = || top.iter().zip(&numeric).any(|(name, is_numeric)| *is_numeric && !is_number(name));
    if count > 0 && (first_is_numeric || contrast()) {
        // Names are no numbers, but keys may be some.
        return match top.iter().any(|name| is_number(name)) || returns {
            true if contrast() => Header::Open,
            true => Header::Row,
            false => Header::Names,
        };
    }
    let named = |words: &[&str]| {
        let is_word = |field: &Cow<'_, str>| words.contains(&field.to_lowercase().as_str());
        top.iter().all(is_word) || (top.len() >= 2 && top[..2].iter().all(is_word))
    };
    let any: Vec<&str> = WORDS.into_iter().chain(LETTERS).collect();
    match named(&any) {
        false => Header::Row,
        true if returns || (count > 0 && !named(&WORDS)) => Header::Open,
        true => Header::Names,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str]) -> Header {
        let fields = |line: &&str| line.split(' ').map(|field| Cow::Owned(field.to_owned())).collect::<Vec<_>>();
        header(&fields(&lines[0]), lines[1..].iter().map(fields), 2)
    }

    #[test]
    fn names_are_told_from_edges_or_asked_for() {
        for names in [
            &["src dst", "1 2"][..],
            &["person1 person2", "1 2", "2 3"],
            &["from to weight", "a b 1"],
            &["person1 person2 weight", "Ava Bo 0.5", "Bo Cy 1"],
            &["source target", "Ava Bo"],
            &["src dst"],
            &["u v", "1 2"],
            &["a b", "1 2", "2 x"],
        ] {
            assert_eq!(found(names), Header::Names, "{names:?}");
        }
        for row in [
            &["1 2", "2 3"][..],
            &["1 2", "2 x3"],
            &["Ava Bo", "Bo Cy"],
            &["007 7", "7 8"],
            &["a b", "b c"],
            &["1 2 x"],
        ] {
            assert_eq!(found(row), Header::Row, "{row:?}");
        }
        for open in [&["x3 2", "1 2"][..], &["u v", "v w"], &["u v", "a b"], &["src dst", "dst x"]] {
            assert_eq!(found(open), Header::Open, "{open:?}");
        }
    }
}
