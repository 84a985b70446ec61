//! Words and small clauses that statements share.

use datafusion::sql::sqlparser::ast::Spanned;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use crate::syntax::statements::statement::WithSpan;
use crate::syntax::tokens::depth::NESTED;
use crate::syntax::tree::ast;
use crate::{Error, Result};

/// The engine's error for what the parser says.
pub(crate) fn parser_error(error: ParserError) -> Error {
    Error::Syntax(match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => in_words(text),
        ParserError::RecursionLimitExceeded => format!(
            "the statement is nested too deeply: at most {NESTED} levels of parentheses, CASE, NOT and subqueries"
        ),
    })
}

/// The parser's error without what it is written in: `No infix parser for token Word(Word { value: "MATCH", ...`.
fn in_words(text: String) -> String {
    let Some(rest) = text.strip_prefix("No infix parser for token ") else { return text };
    let (token, place) =
        rest.rsplit_once(" at ").map_or((rest, String::new()), |(token, at)| (token, format!(" at {at}")));
    let found = token.split('"').nth(1).unwrap_or(token);
    let advice = match found.eq_ignore_ascii_case("match") {
        true => {
            "; there is no MATCH: a pattern is a join of the table edges with itself, or subgraph_isomorphisms(edges, pattern)"
        }
        false => "",
    };
    format!("an operator or the end of the expression is expected, found: {found}{place}{advice}")
}

/// Adds the form that a statement takes to the parser's error.
pub(crate) fn with_form<T>(form: &str, result: Result<T, ParserError>) -> Result<T> {
    result.map_err(|error| Error::Syntax(format!("{}; the form is {form}", parser_error(error))))
}

/// The words that the statement begins with, in upper case; at most four.
pub(crate) fn first_words(parser: &Parser<'_>) -> Vec<String> {
    let mut words = Vec::new();
    for n in 0..4 {
        match parser.peek_nth_token(n).token {
            Token::Word(word) if word.quote_style.is_none() => words.push(word.value.to_ascii_uppercase()),
            _ => break,
        }
    }
    words
}

/// Takes one word that is no keyword of sqlparser, in any case.
pub(crate) fn parse_word(parser: &mut Parser<'_>, word: &str) -> bool {
    match parser.peek_token().token {
        Token::Word(found) if found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word) => {
            parser.next_token();
            true
        }
        _ => false,
    }
}

pub(crate) fn expect_word(parser: &mut Parser<'_>, word: &str) -> Result<(), ParserError> {
    if parse_word(parser, word) { Ok(()) } else { parser.expected(word, parser.peek_token()) }
}

pub(crate) fn if_exists(parser: &mut Parser<'_>) -> bool {
    parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS])
}

pub(crate) fn if_not_exists(parser: &mut Parser<'_>) -> bool {
    parser.parse_keywords(&[Keyword::IF, Keyword::NOT, Keyword::EXISTS])
}

/// A name of one part, normalized.
pub(crate) fn name(parser: &mut Parser<'_>) -> Result<WithSpan<String>, ParserError> {
    let name = parser.parse_identifier()?;
    Ok(WithSpan::new(ast::normalized(&name), name.span))
}

/// The parts of a schema's name: one, or a catalog's before it.
pub(crate) fn schema_name(parser: &mut Parser<'_>) -> Result<WithSpan<Vec<String>>, ParserError> {
    parts(parser, 2, "a name or catalog.name")
}

/// The parts of a table's name, up to three.
pub(crate) fn table_name(parser: &mut Parser<'_>) -> Result<WithSpan<Vec<String>>, ParserError> {
    parts(parser, 3, "the name of a table")
}

fn parts(parser: &mut Parser<'_>, most: usize, expected: &str) -> Result<WithSpan<Vec<String>>, ParserError> {
    let found = parser.peek_token();
    let name = parser.parse_object_name(false)?;
    match ast::name_parts(&name) {
        Some(parts) if parts.len() <= most && parts.iter().all(|part| !part.is_empty()) => {
            Ok(WithSpan::new(parts, name.span()))
        }
        _ => parser.expected(expected, found),
    }
}

/// The name of an option in lower case: a word, or text in quotes.
pub(crate) fn option_name(parser: &mut Parser<'_>) -> Result<String, ParserError> {
    let found = parser.next_token();
    let mut name = match found.token {
        Token::Word(word) => word.value,
        Token::SingleQuotedString(text) => text,
        _ => return parser.expected("the name of an option", found),
    };
    while parser.consume_token(&Token::Period) {
        let found = parser.next_token();
        match found.token {
            Token::Word(word) => name = format!("{name}.{}", word.value),
            _ => return parser.expected("the name of an option", found),
        }
    }
    Ok(name.to_ascii_lowercase())
}

/// The value of an option as text: text, a number, a word; `None` where a `,` or `)` follows at once.
pub(crate) fn option_value(parser: &mut Parser<'_>) -> Result<Option<String>, ParserError> {
    let _ = parser.consume_token(&Token::Eq) || parser.consume_token(&Token::RArrow);
    if matches!(parser.peek_token().token, Token::Comma | Token::RParen) {
        return Ok(None);
    }
    value(parser, "a value: text in quotes, a number, or a word").map(Some)
}

pub(crate) fn value(parser: &mut Parser<'_>, expected: &str) -> Result<String, ParserError> {
    let sign = if parser.consume_token(&Token::Minus) { "-" } else { "" };
    let found = parser.next_token();
    match found.token {
        Token::Number(number, _) => Ok(format!("{sign}{number}")),
        Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) if sign.is_empty() => Ok(text),
        Token::Word(word) if sign.is_empty() => Ok(word.value),
        _ => parser.expected(expected, found),
    }
}
