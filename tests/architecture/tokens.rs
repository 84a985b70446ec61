//! Rust's text as words and marks, as far as imports need it.

/// A word (a name, a keyword, a number) or a mark (`::` or one character), and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
}

/// The tokens of a source without comments; a string or a character is one empty token.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let text: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let (start, first_line) = (at, line);
        let next = text.get(at + 1).copied().unwrap_or(' ');
        let mut token = String::new();
        match text[at] {
            c if c.is_whitespace() => at += 1,
            '/' if next == '/' => at = end_of_line(&text, at),
            '/' if next == '*' => at = end_of_block_comment(&text, at),
            '"' => at = end_of_string(&text, at),
            '\'' => match end_of_character(&text, at) {
                Some(end) => at = end,
                None => (token, at) = ("'".to_owned(), at + 1),
            },
            ':' if next == ':' => (token, at) = ("::".to_owned(), at + 2),
            c if c.is_alphanumeric() || c == '_' => {
                at += text[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
                let word: String = text[start..at].iter().collect();
                match raw_string(&text, at, &word) {
                    Some(end) => at = end,
                    None => token = word,
                }
            }
            c => (token, at) = (c.to_string(), at + 1),
        }
        line += text[start..at].iter().filter(|c| **c == '\n').count();
        let literal = matches!(text[start], '"') || token.is_empty() && text[start] == '\'';
        if literal || !token.is_empty() {
            tokens.push(Token { text: token, line: first_line });
        }
    }
    tokens
}

fn end_of_line(text: &[char], at: usize) -> usize {
    text[at..].iter().position(|c| *c == '\n').map_or(text.len(), |length| at + length)
}

fn end_of_block_comment(text: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < text.len() {
        match text[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn end_of_string(text: &[char], mut at: usize) -> usize {
    at += 1;
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

/// The end of a character such as `'a'` or `'\n'`; `None` for a lifetime.
fn end_of_character(text: &[char], at: usize) -> Option<usize> {
    match text[at + 1..] {
        ['\\', _, ..] => Some(at + 4 + text[at + 3..].iter().position(|c| *c == '\'')?),
        [_, '\'', ..] => Some(at + 3),
        _ => None,
    }
}

/// The end of a string whose prefix, as in `r"` or `br#"`, ends at `at`; `None` where there is none.
fn raw_string(text: &[char], at: usize, prefix: &str) -> Option<usize> {
    if matches!(prefix, "b" | "c") && text.get(at) == Some(&'"') {
        return Some(end_of_string(text, at));
    }
    if matches!(prefix, "b") && text.get(at) == Some(&'\'') {
        return end_of_character(text, at);
    }
    if !matches!(prefix, "r" | "br" | "cr") {
        return None;
    }
    let hashes = text[at..].iter().take_while(|c| **c == '#').count();
    if text.get(at + hashes) != Some(&'"') {
        return None;
    }
    let mut closing = vec!['"'];
    closing.resize(hashes + 1, '#');
    let inside = at + hashes + 1;
    let length = text[inside..].windows(closing.len()).position(|window| window == closing)?;
    Some(inside + length + closing.len())
}

/// The tokens without what stands under `#[cfg(test)]`, and the names of the modules left out whose files stand apart.
pub(super) fn without_tests(tokens: &[Token]) -> (Vec<Token>, Vec<String>) {
    let (mut kept, mut modules) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        match attribute(tokens, at) {
            Some(end) if of_tests(&tokens[at..end]) => {
                let item = skip_attributes(tokens, end);
                let after = end_of_item(tokens, item);
                let words: Vec<&str> = tokens[item..after].iter().map(|token| token.text.as_str()).collect();
                if let [.., "mod", name, ";"] = words[..] {
                    modules.push(name.to_owned());
                }
                at = after;
            }
            Some(end) => {
                kept.extend_from_slice(&tokens[at..end]);
                at = end;
            }
            None => {
                kept.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    (kept, modules)
}

/// Where the attribute that begins here ends.
fn attribute(tokens: &[Token], at: usize) -> Option<usize> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text == text);
    (is(at, "#") && is(at + 1, "[")).then(|| closing(tokens, at + 1))
}

fn skip_attributes(tokens: &[Token], mut at: usize) -> usize {
    while let Some(end) = attribute(tokens, at) {
        at = end;
    }
    at
}

/// Behind the bracket that closes the one at `at`.
pub(super) fn closing(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

fn of_tests(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute.iter().map(|token| token.text.as_str()).collect();
    matches!(words[..], ["#", "[", "cfg", "(", "test", ..] | ["#", "[", "cfg", "(", "all", "(", "test", ..])
}

/// Behind the item (a function, a module, an import, a field, an arm) that begins at `at`.
fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    const FIELDLESS: [&str; 14] = [
        "pub",
        "fn",
        "impl",
        "mod",
        "use",
        "struct",
        "enum",
        "trait",
        "const",
        "static",
        "type",
        "unsafe",
        "async",
        "macro_rules",
    ];
    let is_item = tokens.get(at).is_some_and(|token| FIELDLESS.contains(&token.text.as_str()));
    let is_import = tokens[at..].iter().take(6).take_while(|token| token.text != "{").any(|token| token.text == "use");
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            "}" => return at,
            "{" => {
                at = closing(tokens, at);
                if !is_import {
                    return at;
                }
            }
            "(" | "[" => at = closing(tokens, at),
            _ => at += 1,
        }
    }
    at
}
