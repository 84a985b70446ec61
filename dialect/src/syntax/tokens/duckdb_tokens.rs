//! Rewrites DuckDB and PostgreSQL syntax that the parser does not read, token by token, to what it reads.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Shows: `TABLE t` gives `1 / 2`
//! Shows: `SELECT sum(a) FILTER (a > 1) FROM t` gives `2`
//! Shows: `WITH m AS MATERIALIZED (SELECT 1 AS x) SELECT * FROM m` gives `1`
//! Shows: `SELECT 2 ** 3` gives `8.0`

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::syntax::tokens::token::{is_word, replace, significant, significant_before};
use crate::syntax::tokens::{copy_from, from_first, numbers};
use crate::{Error, ErrorKind, Raised, Result};

/// Reads `E'a\n'` as a text, `1_000` and `0x1F` as numbers, `**` as `^`, `AS [NOT] MATERIALIZED (` as `AS (`,
/// `FILTER (x)` as `FILTER (WHERE x)`, `COPY t FROM 'f'` as INSERT, `TABLE t` as `SELECT * FROM t`,
/// `TRUNCATE t` as `DELETE FROM t`, and the statement UNPIVOT as UNPIVOT in FROM.
pub(crate) fn rewrite(mut tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>> {
    for TokenWithSpan { token, .. } in &mut tokens {
        // The tokenizer has read the escapes of `E'...'`.
        if let Token::EscapedStringLiteral(text) = token {
            *token = Token::SingleQuotedString(std::mem::take(text));
        }
    }
    copy_from::rewrite(&mut tokens)?;
    number_parameters(&mut tokens)?;
    numbers::join(&mut tokens);
    refuse_joins(&tokens)?;
    refuse_drawn_numbers(&tokens)?;
    powers(&mut tokens);
    exclude(&mut tokens);
    materialized(&mut tokens);
    filters(&mut tokens);
    truncate(&mut tokens);
    for start in from_first::query_starts(&tokens, Keyword::TABLE).into_iter().rev() {
        // `CREATE TABLE` and its like begin no query.
        let begins = match significant_before(&tokens, start) {
            None | Some(Token::LParen | Token::RParen | Token::SemiColon) => true,
            Some(Token::Word(word)) => matches!(
                word.keyword,
                Keyword::AS | Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::ALL | Keyword::EXPLAIN
            ),
            _ => false,
        };
        if begins && matches!(significant(&tokens, start + 1), Some((_, Token::Word(_)))) {
            replace(&mut tokens, start, 1, &[Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")]);
        }
    }
    for start in from_first::query_starts(&tokens, Keyword::UNPIVOT).into_iter().rev() {
        unpivot(&mut tokens, start)?;
    }
    Ok(tokens)
}

/// Refuses the joins of DuckDB that the parser reads otherwise: POSITIONAL as the alias of the table before it.
fn refuse_joins(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut before: Option<&Token> = None;
    for (at, TokenWithSpan { token, span }) in tokens.iter().enumerate() {
        let next = significant(tokens, at + 1);
        let joins = is_word(next, "JOIN").is_some();
        // Behind a table, which is a name or a parenthesis: behind FROM it is a table's name itself.
        let behind_table = match before {
            Some(Token::Word(word)) => {
                !matches!(word.keyword, Keyword::FROM | Keyword::JOIN | Keyword::AS) || word.quote_style.is_some()
            }
            Some(Token::RParen | Token::SingleQuotedString(_)) => true,
            _ => false,
        };
        let refusal = match token {
            _ if !behind_table => None,
            Token::Word(_) if joins && is_word(Some((at, token)), "POSITIONAL").is_some() => Some(
                "POSITIONAL JOIN is not supported, since rows have no order: number those of both sides, row_number() \
                 OVER (ORDER BY ...) AS i, and join USING (i)",
            ),
            Token::Word(_)
                if is_word(Some((at, token)), "ASOF").is_some()
                    && (joins
                        || ["LEFT", "INNER", "RIGHT", "FULL"].iter().any(|kind| is_word(next, kind).is_some())) =>
            {
                Some(
                    "ASOF JOIN is not supported: of t and u, SELECT *, last_value(u_value) IGNORE NULLS OVER (PARTITION \
                     BY key ORDER BY at, is_t ROWS UNBOUNDED PRECEDING) FROM the UNION ALL BY NAME of both, in which \
                     u_value is NULL in the rows of t, and is_t is 0 in those of u and 1 in those of t; QUALIFY is_t = 1",
                )
            }
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Err(Raised::new(ErrorKind::NotSupported, refusal).at(*span).into());
        }
        if !matches!(token, Token::Whitespace(_)) {
            before = Some(token);
        }
    }
    Ok(())
}

/// Reads `?` as `$1`, the next one as `$2`.
fn number_parameters(tokens: &mut [TokenWithSpan]) -> Result<()> {
    let is_numbered = |token: &Token| matches!(token, Token::Placeholder(name) if name != "?");
    let numbered = tokens.iter().any(|token| is_numbered(&token.token));
    let mut count = 0;
    for TokenWithSpan { token, span } in tokens {
        if *token == Token::Placeholder("?".to_owned()) {
            if numbered {
                return Err(Error::statement_at(*span, "parameters are written as ? or as $1, $2, ...: not both"));
            }
            count += 1;
            *token = Token::Placeholder(format!("${count}"));
        }
    }
    Ok(())
}

/// Reads `* EXCEPT (a, b)` as `* EXCLUDE (a, b)`; behind it may stand a query too.
fn exclude(tokens: &mut [TokenWithSpan]) {
    for at in 0..tokens.len() {
        if tokens[at].token != Token::Mul {
            continue;
        }
        let Some(except) = is_word(significant(tokens, at + 1), "EXCEPT") else { continue };
        let Some((open, Token::LParen)) = significant(tokens, except + 1) else { continue };
        let begins_query = match significant(tokens, open + 1) {
            Some((_, Token::Word(word))) => matches!(
                word.keyword,
                Keyword::SELECT | Keyword::FROM | Keyword::WITH | Keyword::VALUES | Keyword::TABLE
            ),
            _ => true,
        };
        if !begins_query {
            tokens[except].token = Token::make_keyword("EXCLUDE");
        }
    }
}

fn powers(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 1;
    while at < tokens.len() {
        if tokens[at - 1].token == Token::Mul && tokens[at].token == Token::Mul {
            replace(tokens, at - 1, 2, &[Token::Caret]);
        }
        at += 1;
    }
}

fn materialized(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at < tokens.len() {
        at += 1;
        if is_word(Some((0, &tokens[at - 1].token)), "AS").is_none() {
            continue;
        }
        let not = is_word(significant(tokens, at), "NOT");
        let Some(end) = is_word(significant(tokens, not.map_or(at, |not| not + 1)), "MATERIALIZED") else { continue };
        if matches!(significant(tokens, end + 1), Some((_, Token::LParen))) {
            tokens.drain(at..=end);
        }
    }
}

/// Reads `sum(x) FILTER (x > 1)` as `sum(x) FILTER (WHERE x > 1)`.
fn filters(tokens: &mut Vec<TokenWithSpan>) {
    for at in (1..tokens.len()).rev() {
        if is_word(Some((at, &tokens[at].token)), "FILTER").is_none() {
            continue;
        }
        let Some((open, Token::LParen)) = significant(tokens, at + 1) else { continue };
        let is_call = significant_before(tokens, at) == Some(&Token::RParen);
        if is_call && is_word(significant(tokens, open + 1), "WHERE").is_none() {
            replace(tokens, open, 1, &[Token::LParen, Token::make_keyword("WHERE")]);
        }
    }
}

/// Refuses AUTO_INCREMENT in CREATE TABLE, which the parser swallows outside MySQL's dialect.
fn refuse_drawn_numbers(tokens: &[TokenWithSpan]) -> Result<()> {
    if is_word(significant(tokens, 0), "CREATE").is_none() {
        return Ok(());
    }
    let found = tokens.iter().find(|token| match &token.token {
        Token::Word(word) => {
            word.quote_style.is_none() && matches!(word.keyword, Keyword::AUTO_INCREMENT | Keyword::AUTOINCREMENT)
        }
        _ => false,
    });
    match found {
        Some(token) => {
            let text = format!("{} is not supported", token.token);
            let advice = "numbers are not drawn by the table; row_number() in the INSERT";
            Err(Raised::new(ErrorKind::NotSupported, text).advise(advice).at(token.span).into())
        }
        None => Ok(()),
    }
}

fn truncate(tokens: &mut Vec<TokenWithSpan>) {
    let Some(start) = is_word(significant(tokens, 0), "TRUNCATE") else { return };
    let table = is_word(significant(tokens, start + 1), "TABLE");
    let end = table.unwrap_or(start);
    replace(tokens, start, end + 1 - start, &[Token::make_keyword("DELETE"), Token::make_keyword("FROM")]);
}

const UNPIVOT: &str = "UNPIVOT table ON column, ... [INTO NAME name VALUE value]";

/// `UNPIVOT t ON a, b INTO NAME n VALUE v` is `SELECT * FROM t UNPIVOT (v FOR n IN (a, b))`.
fn unpivot(tokens: &mut Vec<TokenWithSpan>, start: usize) -> Result<()> {
    let span = tokens[start].span;
    let form = || Error::statement_at(span, format!("UNPIVOT is not complete; the form is {UNPIVOT}"));
    // The places of ON, of INTO and of the end, outside all parentheses.
    let (mut depth, mut on, mut into, mut end) = (0usize, None, None, tokens.len());
    for (at, TokenWithSpan { token, .. }) in tokens.iter().enumerate().skip(start + 1) {
        match token {
            Token::LParen => depth += 1,
            Token::RParen if depth > 0 => depth -= 1,
            Token::RParen | Token::SemiColon if depth == 0 => {
                end = at;
                break;
            }
            Token::Word(word) if depth == 0 => match word.keyword {
                Keyword::ON if on.is_none() => on = Some(at),
                Keyword::INTO if into.is_none() => into = Some(at),
                Keyword::ORDER | Keyword::LIMIT | Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => {
                    end = at;
                    break;
                }
                _ => {}
            },
            _ => {}
        }
    }
    let on = match on {
        Some(on) => on,
        // A column or a table of this name, unless the statement begins with it.
        None if significant(tokens, 0).is_some_and(|(first, _)| first < start) => return Ok(()),
        None => return Err(form()),
    };
    let (mut name, mut value) = (Token::make_word("name", None), Token::make_word("value", None));
    if let Some(into) = into {
        let at = is_word(significant(tokens, into + 1), "NAME").ok_or_else(form)?;
        let (at, found) = significant(tokens, at + 1).ok_or_else(form)?;
        name = found.clone();
        let at = is_word(significant(tokens, at + 1), "VALUE").ok_or_else(form)?;
        let (at, found) = significant(tokens, at + 1).ok_or_else(form)?;
        value = found.clone();
        if significant(&tokens[..end], at + 1).is_some() {
            return Err(form());
        }
    }
    let keyword = |text: &str| TokenWithSpan::new(Token::make_keyword(text), span);
    let other = |token: Token| TokenWithSpan::new(token, span);
    let mut query = vec![keyword("SELECT"), other(Token::Mul), keyword("FROM")];
    query.extend_from_slice(&tokens[start + 1..on]);
    query.extend([keyword("UNPIVOT"), other(Token::LParen), other(value), keyword("FOR"), other(name), keyword("IN")]);
    query.push(other(Token::LParen));
    query.extend_from_slice(&tokens[on + 1..into.unwrap_or(end)]);
    query.extend([other(Token::RParen), other(Token::RParen)]);
    tokens.splice(start..end, query);
    Ok(())
}
