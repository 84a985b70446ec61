//! `ATTACH` and `DETACH`.

use std::collections::BTreeMap;

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use crate::syntax::statements::statement::{Attach, Statement, WithSpan};
use crate::syntax::statements::words::{if_exists, if_not_exists, name, option_name, option_value};

/// The form of ATTACH.
pub(crate) const ATTACH: &str = "ATTACH [IF NOT EXISTS] 'path or URL' [AS name] [(TYPE t, option value, ...)]";
/// The form of DETACH.
pub(crate) const DETACH: &str = "DETACH [IF EXISTS] name";

pub(crate) fn attach(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::ATTACH)?;
    let _ = parser.parse_keyword(Keyword::DATABASE);
    let if_not_exists = if_not_exists(parser);
    let found = parser.next_token();
    let at = found.span;
    let location = match found.token {
        Token::SingleQuotedString(location) | Token::EscapedStringLiteral(location) if !location.is_empty() => location,
        _ => return parser.expected("a path or URL in single quotes", found),
    };
    let name = if parser.parse_keyword(Keyword::AS) {
        name(parser)?
    } else {
        match default_name(&location) {
            Some(name) => WithSpan::new(name, at),
            None => return parser.expected("AS name", parser.peek_token()),
        }
    };
    let mut attach = Attach { location, name, if_not_exists, format: None, read_only: false, options: BTreeMap::new() };
    if parser.consume_token(&Token::LParen) {
        attach_options(parser, &mut attach)?;
    }
    Ok(Statement::Attach(attach))
}

fn attach_options(parser: &mut Parser<'_>, attach: &mut Attach) -> Result<(), ParserError> {
    while !parser.consume_token(&Token::RParen) {
        let found = parser.peek_token();
        let name = option_name(parser)?;
        let value = option_value(parser)?;
        let taken = match (name.as_str(), value) {
            ("type", Some(format)) => attach.format.replace(format.to_ascii_lowercase()).is_some(),
            ("type", None) => return parser.expected("the type's name after TYPE", parser.peek_token()),
            ("read_only", value) => match value.as_deref().map(str::to_ascii_lowercase).as_deref() {
                None | Some("true" | "on" | "1") => std::mem::replace(&mut attach.read_only, true),
                Some("false" | "off" | "0") => false,
                Some(_) => return parser.expected("true or false after READ_ONLY", found),
            },
            (_, value) => attach.options.insert(name, value.unwrap_or_else(|| "true".to_owned())).is_some(),
        };
        if taken {
            return parser.expected("each option once", found);
        }
        if !parser.consume_token(&Token::Comma) && parser.peek_token().token != Token::RParen {
            return parser.expected("',' or ')' after an option", parser.peek_token());
        }
    }
    Ok(())
}

/// The location's file stem as an identifier: lower case letters, digits and `_`, no digit first.
fn default_name(location: &str) -> Option<String> {
    let path = location.split(['?', '#']).next().unwrap_or(location).trim_end_matches(['/', '\\']);
    let last = path.rsplit(['/', '\\', ':']).next().unwrap_or(path);
    let stem = match last.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => last,
    };
    let mut name: String = stem
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect::<String>()
        .trim_matches('_')
        .to_owned();
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, '_');
    }
    (!name.is_empty()).then_some(name)
}

pub(crate) fn detach(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::DETACH)?;
    // DATABASE may itself be the name: `DETACH database`.
    if !matches!(parser.peek_nth_token(1).token, Token::EOF | Token::SemiColon) {
        let _ = parser.parse_keyword(Keyword::DATABASE);
    }
    let if_exists = if_exists(parser);
    Ok(Statement::Detach { name: name(parser)?, if_exists })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::statements::parse::parse;
    use crate::testing::{error, parsed};

    #[test]
    fn attach_reads_location_name_and_any_options() {
        let Statement::Attach(attach) = parsed(
            "attach if not exists 'data/it''s.npz' as Cora (type NPZ, read_only, sep ';', depth -3, Strict = true, \
             codec zstd)",
        ) else {
            panic!("ATTACH expected");
        };
        assert_eq!(attach.location, "data/it's.npz");
        assert_eq!(attach.name.value, "cora");
        assert!(attach.if_not_exists && attach.read_only);
        assert_eq!(attach.format.as_deref(), Some("npz"));
        let options: Vec<_> = attach.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(options, [("codec", "zstd"), ("depth", "-3"), ("sep", ";"), ("strict", "true")]);
    }

    #[test]
    fn attach_without_a_name_takes_the_files_stem() {
        for (location, name) in [
            ("data/Cora.npz", "cora"),
            ("https://example.org/sets/ogbn-arxiv.zip?x=1.2#top", "ogbn_arxiv"),
            ("mantra/", "mantra"),
            ("2024.csv", "_2024"),
            (".hidden", "hidden"),
        ] {
            let Statement::Attach(attach) = parse(&format!("ATTACH '{location}'")).unwrap() else { panic!() };
            assert_eq!(attach.name.value, name, "{location}");
        }
        assert!(error(parse("ATTACH '...'")).contains("AS name"));
    }

    #[test]
    fn attach_says_what_it_expects_and_where() {
        assert_eq!(
            error(parse("ATTACH cora.npz AS cora")),
            "Expected: a path or URL in single quotes, found: cora at Line: 1, Column: 8; the form is ATTACH \
             [IF NOT EXISTS] 'path or URL' [AS name] [(TYPE t, option value, ...)]"
        );
        assert!(error(parse("ATTACH 'x' AS x (TYPE a, TYPE b)")).contains("each option once, found: TYPE"));
        assert!(error(parse("ATTACH 'x' AS x (TYPE)")).contains("the type's name after TYPE"));
        assert!(error(parse("ATTACH 'x' AS x (READ_ONLY maybe)")).contains("true or false after READ_ONLY"));
        assert!(error(parse("ATTACH 'x' AS x (a 1 b 2)")).contains("',' or ')' after an option, found: b"));
        assert!(error(parse("ATTACH 'x' AS x; SELECT 1")).contains("Expected: end of statement, found: SELECT"));
    }
}
