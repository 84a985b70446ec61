//! The data of an edge as networkx writes it: a dictionary of Python behind the two nodes, `{'weight': 4, 'kind': "a"}`.

/// A value of the dictionary.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Attribute {
    Null,
    Number(f64),
    Text(String),
}

/// A line without its dictionary, and that; `None` where it ends in none, or something else than two fields stands before.
pub(super) fn split(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    line.ends_with('}').then_some(())?;
    let start = line.find('{')?;
    let separates = |letter: char| letter.is_whitespace() || matches!(letter, ',' | ';');
    let before = &line[..start];
    before.ends_with(separates).then_some(())?;
    Some((before.trim_end_matches(separates), &line[start..]))
}

/// The keys and values of a dictionary.
///
/// # Errors
/// Says what does not fit.
pub(super) fn parse(dictionary: &str) -> Result<Vec<(String, Attribute)>, String> {
    let inside = dictionary.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let mut rest = inside.ok_or_else(|| wrong(dictionary))?.trim();
    let mut found: Vec<(String, Attribute)> = Vec::new();
    while !rest.is_empty() {
        let (key, behind) = literal(rest, ':').ok_or_else(|| wrong(dictionary))?;
        let (value, behind) = literal(behind, ',').ok_or_else(|| wrong(dictionary))?;
        let key = match text(key) {
            Some(key) => key,
            None if key.is_empty() => return Err(wrong(dictionary)),
            None => key.to_owned(),
        };
        if value.is_empty() {
            return Err(wrong(dictionary));
        }
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = attribute(value),
            None => found.push((key, attribute(value))),
        }
        rest = behind.trim_start();
    }
    Ok(found)
}

fn wrong(dictionary: &str) -> String {
    let shown: String = dictionary.chars().take(60).collect();
    format!("'{shown}' is no dictionary of Python, {{'key': value}}, as networkx writes the data of an edge")
}

/// The literal up to a sign outside of quotes and brackets, or up to the end where that sign is a comma, and what follows the sign.
fn literal(text: &str, end: char) -> Option<(&str, &str)> {
    let (mut depth, mut quote, mut escaped) = (0usize, None, false);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '[' | '(' | '{') => depth += 1,
            (None, ']' | ')' | '}') => depth = depth.checked_sub(1)?,
            (None, letter) if letter == end && depth == 0 => return Some((text[..at].trim(), &text[at + 1..])),
            (None, _) => {}
        }
    }
    (end == ',' && depth == 0 && quote.is_none()).then(|| (text.trim(), ""))
}

fn attribute(value: &str) -> Attribute {
    match value {
        "None" => Attribute::Null,
        value => match (text(value), number(value)) {
            (Some(text), _) => Attribute::Text(text),
            (None, Some(number)) => Attribute::Number(number),
            (None, None) => Attribute::Text(value.to_owned()),
        },
    }
}

/// A number, which numpy may have written with its type: `np.float64(0.5)`.
fn number(value: &str) -> Option<f64> {
    let plain = value.strip_prefix("np.").and_then(|typed| typed.split_once('(')?.1.strip_suffix(')'));
    let plain = plain.unwrap_or(value);
    plain.parse().ok().filter(|_| !plain.starts_with('+'))
}

/// The text in quotes.
fn text(literal: &str) -> Option<String> {
    let quote = literal.chars().next().filter(|letter| matches!(letter, '\'' | '"'))?;
    let inside = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut text = String::with_capacity(inside.len());
    let mut letters = inside.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        let code = |letters: &mut std::str::Chars<'_>, length: usize| {
            let digits: String = letters.by_ref().take(length).collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
        };
        text.push(match letters.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'x' => code(&mut letters, 2)?,
            'u' => code(&mut letters, 4)?,
            'U' => code(&mut letters, 8)?,
            other => other,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_in_its_dictionary() {
        assert_eq!(split("1 2 {'weight': 7}"), Some(("1 2", "{'weight': 7}")));
        assert_eq!(split("a,b,{'k': 'x, {y}'} "), Some(("a,b", "{'k': 'x, {y}'}")));
        assert_eq!(split("1\t2\t{}"), Some(("1\t2", "{}")));
        for line in ["1 2", "1 2 3", "a{b} c", "{}"] {
            assert_eq!(split(line), None, "{line}");
        }
    }

    #[test]
    fn keys_and_values_are_those_of_python() {
        let texts = |text: &str| Attribute::Text(text.to_owned());
        let found = parse("{'weight': 4, \"it's\": 'a, \\'b\\' \\u20ac', 3: -1.5e-3, 'n': None, 't': True, 'l': [1, {'x': 2}], 'f': nan}").unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["weight", "it's", "3", "n", "t", "l", "f"]);
        assert_eq!(found[0].1, Attribute::Number(4.0));
        assert_eq!((&found[1].1, &found[2].1), (&texts("a, 'b' \u{20ac}"), &Attribute::Number(-0.0015)));
        assert_eq!(
            (&found[3].1, &found[4].1, &found[5].1),
            (&Attribute::Null, &texts("True"), &texts("[1, {'x': 2}]"))
        );
        assert!(matches!(found[6].1, Attribute::Number(value) if value.is_nan()));
        assert_eq!(parse("{'w': np.float64(0.5)}").unwrap()[0].1, Attribute::Number(0.5));
        assert_eq!(parse("{}"), Ok(vec![]));
        for wrong in ["{'a'}", "{'a': }", "{: 1}", "{'a': 'b}", "{'a': [1}", "{'a' 1}"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
