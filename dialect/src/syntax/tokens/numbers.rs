//! Numbers with `_` between their digits, and of base 16, 8 and 2, as in SQL:2023 and PostgreSQL: `1_000`, `0x1F`, `0b101`.
//!
//! The tokenizer reads the first as `1` and the name `_000`, `0b101` as `0` and the name `b101`, and `0x1F` as bytes.
//!
//! Upstream: <https://github.com/apache/datafusion-sqlparser-rs/issues/2432>
//! Shows: `SELECT 1_000, 0x1F, 0b101, 0o17` gives `1000 | 31 | 5 | 15`

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// Joins the tokens of such numbers.
pub(crate) fn join(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at].token {
            Token::Number(..) => join_parts(tokens, at),
            Token::HexStringLiteral(_) => join_hexadecimal(tokens, at),
            _ => {}
        }
        at += 1;
    }
}

/// The text of the word or number that follows without a space.
fn adjoining(tokens: &[TokenWithSpan], at: usize) -> Option<&str> {
    let next = tokens.get(at + 1).filter(|next| next.span.start == tokens[at].span.end)?;
    match &next.token {
        Token::Word(word) if word.quote_style.is_none() => Some(&word.value),
        Token::Number(text, false) if text.starts_with('.') => Some(text),
        _ => None,
    }
}

/// Takes the next token into the one at this place.
fn take_in(tokens: &mut Vec<TokenWithSpan>, at: usize, token: Token) {
    tokens[at].span.end = tokens[at + 1].span.end;
    tokens[at].token = token;
    tokens.remove(at + 1);
}

fn join_parts(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    while let (Token::Number(text, false), Some(next)) = (&tokens[at].token, adjoining(tokens, at)) {
        let based = if text == "0" { based(next) } else { None };
        let joined = match based {
            Some(number) => number,
            None if next.starts_with('.') && !text.contains(['.', 'e', 'E']) => format!("{text}{next}"),
            None => match separated(next) {
                Some(digits) => format!("{text}{digits}"),
                None => return,
            },
        };
        take_in(tokens, at, Token::Number(joined, false));
    }
}

/// The digits of `_000_000`, also with an exponent behind them.
fn separated(word: &str) -> Option<String> {
    let is_number =
        |digits: &str| digits.split('_').all(|group| !group.is_empty() && group.chars().all(|c| c.is_ascii_digit()));
    let rest = word.strip_prefix('_')?;
    let complete = match rest.split_once(['e', 'E']) {
        Some((digits, exponent)) => is_number(digits) && is_number(exponent),
        None => is_number(rest),
    };
    complete.then(|| rest.replace('_', ""))
}

/// The number whose base and digits follow a zero, as `b101` does.
fn based(word: &str) -> Option<String> {
    let base = match word.chars().next()? {
        'b' | 'B' => 2,
        'o' | 'O' => 8,
        'x' | 'X' => 16,
        _ => return None,
    };
    in_decimal(&word[1..], base)
}

fn in_decimal(digits: &str, base: u32) -> Option<String> {
    let groups = digits.strip_prefix('_').unwrap_or(digits);
    if !groups.split('_').all(|group| !group.is_empty() && group.chars().all(|c| c.is_digit(base))) {
        return None;
    }
    u128::from_str_radix(&groups.replace('_', ""), base).ok().map(|number| number.to_string())
}

/// `0x1F` is a number, and `X'1F'` bytes: the latter is longer by its quotes.
fn join_hexadecimal(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let Token::HexStringLiteral(digits) = &tokens[at].token else { return };
    let span = tokens[at].span;
    if span.start.line != span.end.line || span.end.column != span.start.column + digits.len() as u64 + 2 {
        return;
    }
    let rest = adjoining(tokens, at).filter(|rest| rest.starts_with('_'));
    if let Some(number) = in_decimal(&format!("{digits}{}", rest.unwrap_or_default()), 16) {
        match rest.is_some() {
            true => take_in(tokens, at, Token::Number(number, false)),
            false => tokens[at].token = Token::Number(number, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    use super::*;
    use crate::syntax::statements::dialect::BonnetDialect;

    #[test]
    fn parts_of_numbers_are_joined_and_names_stay() {
        for (text, expected) in [
            ("1_000", "1000"),
            ("1_000.5_0", "1000.50"),
            ("1_0e1_0", "10e10"),
            ("1e1_0", "1e10"),
            ("0x1F", "31"),
            ("0X1_f", "31"),
            ("0x1_F", "31"),
            ("0b101", "5"),
            ("0o17", "15"),
            ("X'1F'", "X'1F'"),
            ("1 _000", "1 _000"),
            ("0b102", "0b102"),
            ("1_", "1_"),
            ("1_000,0b1", "1000,1"),
        ] {
            let mut tokens = Tokenizer::new(&BonnetDialect, text).tokenize_with_location().unwrap();
            join(&mut tokens);
            let found: String = tokens.iter().map(|token| token.token.to_string()).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
