//! Readers and writers of tokens.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// The first token from this place on that is no space, and its place.
pub(crate) fn significant(tokens: &[TokenWithSpan], from: usize) -> Option<(usize, &Token)> {
    let mut tokens = tokens.iter().enumerate().skip(from);
    tokens.find(|(_, token)| !matches!(token.token, Token::Whitespace(_))).map(|(at, token)| (at, &token.token))
}

/// The last token before this place that is no space.
pub(crate) fn significant_before(tokens: &[TokenWithSpan], at: usize) -> Option<&Token> {
    tokens[..at].iter().rev().map(|token| &token.token).find(|token| !matches!(token, Token::Whitespace(_)))
}

/// The position of a token that is this word without quotes, in any case of its letters.
pub(crate) fn is_word(token: Option<(usize, &Token)>, text: &str) -> Option<usize> {
    match token {
        Some((at, Token::Word(word))) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text) => {
            Some(at)
        }
        _ => None,
    }
}

/// Puts tokens in the place of `count` others, a space between them.
pub(crate) fn replace(tokens: &mut Vec<TokenWithSpan>, at: usize, count: usize, by: &[Token]) {
    let span = tokens[at].span;
    tokens.splice(at..at + count, by.iter().map(|token| TokenWithSpan::new(token.clone(), span)));
}
