//! `COPY t FROM 'file'` as `INSERT INTO t SELECT * FROM read_csv('file', all_varchar = true)`, token by token.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t(a INT)`
//! Given: `COPY (SELECT 1 AS a) TO '{dir}/rows.csv' STORED AS CSV`
//! Given: `COPY t FROM '{dir}/rows.csv'`
//! Shows: `SELECT a FROM t` gives `1`

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::syntax::statements::copy::uncompressed;
use crate::syntax::tokens::token::{is_word, replace, significant};
use crate::{Error, Result};

/// The alias of the file in the statement that a COPY FROM becomes, by which it is told from an INSERT that someone wrote.
pub const COPIED_FILE: &str = "the file of COPY";

/// The endings of files that no function reads.
const PLAIN: [&str; 2] = ["arrow", "feather"];

/// What reads a file of a format, or of an ending.
const READERS: [(&str, &str); 5] = [
    ("csv", "read_csv"),
    ("parquet", "read_parquet"),
    ("json", "read_json"),
    ("ndjson", "read_ndjson"),
    ("jsonl", "read_ndjson"),
];

/// Rewrites the statement, if it is one. The values of a CSV are read as texts, which INSERT casts to the types of the table's
/// columns: `007` stays what it is in a column of texts.
///
/// # Errors
/// If what stands behind the file is no list of options.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    let first = is_word(significant(tokens, 0), "EXPLAIN").map_or(0, |explain| explain + 1);
    let Some(start) = is_word(significant(tokens, first), "COPY") else { return Ok(()) };
    let Some((from, at, file)) = source(tokens, start + 1) else { return Ok(()) };
    let given = options(tokens, at + 1)?;
    let (formats, others): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|option| option.name.eq_ignore_ascii_case("format"));
    let (name, _) = uncompressed(&file);
    let plain = PLAIN.into_iter().find(|ending| name.ends_with(&format!(".{ending}")));
    let reader = match formats.first() {
        // A file of Arrow is one by its name alone.
        Some(Given { value: Some(Token::Word(Word { value: format, .. })), .. })
            if plain.is_some_and(|ending| ending.eq_ignore_ascii_case(format)) =>
        {
            ""
        }
        None if plain.is_some() => "",
        Some(Given {
            value: Some(Token::Word(Word { value: format, .. }) | Token::SingleQuotedString(format)),
            ..
        }) => {
            let known = READERS.iter().find(|(known, _)| format.eq_ignore_ascii_case(known));
            let Some((_, reader)) = known else {
                return Err(Error::statement_at(
                    tokens[at].span,
                    format!(
                        "COPY FROM reads csv, parquet, json and ndjson, and files that end in .arrow, not {format}"
                    ),
                ));
            };
            *reader
        }
        Some(_) => return Err(Error::statement_at(tokens[at].span, "FORMAT takes the name of a format")),
        None => of_ending(&file),
    };
    if reader.is_empty() {
        if let Some(Given { name, .. }) = others.first() {
            return Err(Error::statement_at(
                tokens[at].span,
                format!("COPY FROM of an Arrow file has no option {name}"),
            ));
        }
        return replaced(tokens, (start, from, at), vec![Token::SingleQuotedString(file)]);
    }
    let mut call = vec![Token::make_word(reader, None), Token::LParen, Token::SingleQuotedString(file)];
    if reader == "read_csv" {
        call.extend([Token::Comma, Token::make_word("all_varchar", None), Token::Eq, Token::make_keyword("TRUE")]);
    }
    for Given { name, value } in others {
        let name = if name.eq_ignore_ascii_case("null") { "nullstr".to_owned() } else { name.to_ascii_lowercase() };
        let value = value.unwrap_or_else(|| Token::make_keyword("TRUE"));
        call.extend([Token::Comma, Token::make_word(&name, None), Token::Eq, value]);
    }
    call.push(Token::RParen);
    replaced(tokens, (start, from, at), call)
}

/// Puts the INSERT in the place of COPY, FROM and the file, which stand at these places.
fn replaced(
    tokens: &mut Vec<TokenWithSpan>,
    (start, from, at): (usize, usize, usize),
    mut call: Vec<Token>,
) -> Result<()> {
    call.extend([Token::make_keyword("AS"), Token::make_word(COPIED_FILE, Some('"'))]);
    let end = tokens.iter().rposition(|token| token.token == Token::SemiColon).unwrap_or(tokens.len());
    replace(tokens, at, end - at, &call);
    replace(tokens, from, 1, &[Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")]);
    replace(tokens, start, 1, &[Token::make_keyword("INSERT"), Token::make_keyword("INTO")]);
    Ok(())
}

/// The places of FROM and of the file behind it, and the file: FROM in parentheses is a query's.
fn source(tokens: &[TokenWithSpan], from: usize) -> Option<(usize, usize, String)> {
    let mut depth = 0;
    for (at, TokenWithSpan { token, .. }) in tokens.iter().enumerate().skip(from) {
        match token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Word(word) if depth == 0 && word.keyword == Keyword::TO => return None,
            Token::Word(word) if depth == 0 && word.keyword == Keyword::FROM => {
                return match significant(tokens, at + 1) {
                    Some((file, Token::SingleQuotedString(name))) => Some((at, file, name.clone())),
                    _ => None,
                };
            }
            _ => {}
        }
    }
    None
}

struct Given {
    name: String,
    value: Option<Token>,
}

/// The options `[WITH] (name [value], ...)` from this place on, up to the end of the statement.
fn options(tokens: &[TokenWithSpan], from: usize) -> Result<Vec<Given>> {
    let mut rest = tokens[from..].iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).peekable();
    let wrong = |found: Option<&TokenWithSpan>| {
        let at = found.or(tokens.get(from - 1)).map(|token| token.span).unwrap_or_else(|| tokens[0].span);
        let found = found.map_or_else(|| "the end".to_owned(), |token| token.token.to_string());
        Error::statement_at(
            at,
            format!("Expected: COPY table FROM 'file' (FORMAT f, option value, ...), found: {found}"),
        )
    };
    let mut given = Vec::new();
    if let Some(TokenWithSpan { token: Token::Word(word), .. }) = rest.peek()
        && word.keyword == Keyword::WITH
    {
        rest.next();
    }
    match rest.next() {
        None | Some(TokenWithSpan { token: Token::SemiColon | Token::EOF, .. }) => return Ok(given),
        Some(TokenWithSpan { token: Token::LParen, .. }) => {}
        other => return Err(wrong(other)),
    }
    loop {
        let name = match rest.next() {
            Some(TokenWithSpan { token: Token::Word(word), .. }) => word.value.clone(),
            other => return Err(wrong(other)),
        };
        let mut value = None;
        if let Some(TokenWithSpan { token: Token::Eq, .. }) = rest.peek() {
            rest.next();
        }
        if let Some(TokenWithSpan {
            token: token @ (Token::Word(_) | Token::SingleQuotedString(_) | Token::Number(..)),
            ..
        }) = rest.peek()
        {
            value = Some(token.clone());
            rest.next();
        }
        given.push(Given { name, value });
        match rest.next() {
            Some(TokenWithSpan { token: Token::Comma, .. }) => {}
            Some(TokenWithSpan { token: Token::RParen, .. }) => break,
            other => return Err(wrong(other)),
        }
    }
    match rest.next() {
        None | Some(TokenWithSpan { token: Token::SemiColon | Token::EOF, .. }) => Ok(given),
        other => Err(wrong(other)),
    }
}

fn of_ending(file: &str) -> &'static str {
    let (name, _) = uncompressed(file);
    let ending = name.rsplit('.').next();
    let known = READERS.iter().find(|(known, _)| ending == Some(*known));
    known.map_or("read_csv", |(_, reader)| reader)
}
