//! From the text of one statement to its tree.

use std::collections::BTreeMap;
use std::time::Duration;

use datafusion::common::DataFusionError;
use datafusion::sql::parser::{DFParser, DFParserBuilder, ExplainStatement, Statement as SqlStatement};
use datafusion::sql::sqlparser::ast::{DescribeAlias, FunctionArg, Query, Statement as AstStatement};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::dialect::BonnetDialect;
use super::statement::{Attach, Call, CreateGraph, CreateSchemaGraph, KeyClause, KeyColumns, Statement};
use super::{ast, copy, depth, everyday_tokens, from_first, pivot_statement};
use crate::{Error, Result};

const ATTACH: &str = "ATTACH [IF NOT EXISTS] 'path or URL' [AS name] [(TYPE t, option value, ...)]";
const DETACH: &str = "DETACH [IF EXISTS] name";
const CREATE_GRAPH: &str = "CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] name AS generator(argument, name => value, ...)";
const CREATE_SCHEMA_GRAPH: &str = "CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] name FROM SCHEMA schema \
    [KEYS (table.column -> table.column [AS type], table(column, ...) -> table(column, ...), table(column), ...)] \
    [WITH (option => value, ...)]";
const DROP_GRAPH: &str = "DROP GRAPH [IF EXISTS] name";
const OPTIMIZE: &str = "OPTIMIZE table";
const VACUUM: &str = "VACUUM [table] [RETAIN n HOURS]";
const USE: &str = "USE schema or USE catalog.schema";
const SUMMARIZE: &str = "SUMMARIZE table or SUMMARIZE SELECT ...";
const SET: &str = "SET bonnet.name = value, the value in quotes unless it is a word or a number";

/// Parses exactly one statement. A trailing `;` and comments are tolerated.
///
/// # Errors
/// If the text is no statement, or more than one: what was found where, and what was expected.
pub fn parse(text: &str) -> Result<Statement> {
    let tokens = Tokenizer::new(&BonnetDialect, text)
        .tokenize_with_location()
        .map_err(|error| Error::statement(error.to_string()))?;
    depth::check(&tokens)?;
    let tokens = everyday_tokens::rewrite(tokens)?;
    let tokens = pivot_statement::rewrite(from_first::rewrite(tokens))?;
    let mut parser = DFParserBuilder::new(tokens.clone()).with_dialect(&BonnetDialect).build()?;
    while parser.parser.consume_token(&Token::SemiColon) {}
    if parser.parser.peek_token().token == Token::EOF {
        return Err(Error::statement("there is no statement in the text"));
    }
    let statement = statement(&mut parser, &tokens)?;
    while parser.parser.consume_token(&Token::SemiColon) {}
    match parser.parser.peek_token() {
        TokenWithSpan { token: Token::EOF, .. } => Ok(statement),
        found => Err(sql(parser.parser.expected::<()>("end of statement", found))),
    }
}

/// The engine's error for what the parser says.
pub(super) fn parser_error(error: ParserError) -> Error {
    Error::statement(match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
        ParserError::RecursionLimitExceeded => {
            "the statement is nested too deeply: at most 50 levels of parentheses and subqueries".to_owned()
        }
    })
}

fn datafusion_error(error: DataFusionError) -> Error {
    match error {
        DataFusionError::SQL(error, _) => parser_error(*error),
        DataFusionError::Diagnostic(_, error) | DataFusionError::Context(_, error) => datafusion_error(*error),
        other => other.into(),
    }
}

fn sql<T>(result: Result<T, ParserError>) -> Error {
    match result {
        Err(error) => parser_error(error),
        Ok(_) => Error::statement("the statement does not end where it should"),
    }
}

/// Adds the form that a statement takes to the parser's error.
fn with_form<T>(form: &str, result: Result<T, ParserError>) -> Result<T> {
    result.map_err(|error| Error::statement(format!("{}; the form is {form}", parser_error(error))))
}

fn statement(parser: &mut DFParser<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    let words = first_words(&parser.parser);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let inner = &mut parser.parser;
    match words.as_slice() {
        ["ATTACH", ..] => with_form(ATTACH, attach(inner)),
        ["DETACH", ..] => with_form(DETACH, detach(inner)),
        ["CREATE", "GRAPH", ..] | ["CREATE", "OR", "REPLACE", "GRAPH", ..] => {
            let from = tokens.iter().find_map(|token| match &token.token {
                Token::Word(word) if word.keyword == Keyword::AS => Some(false),
                Token::Word(word) if word.keyword == Keyword::FROM => Some(true),
                _ => None,
            });
            with_form(if from == Some(true) { CREATE_SCHEMA_GRAPH } else { CREATE_GRAPH }, create_graph(inner))
        }
        ["DROP", "GRAPH", ..] => with_form(DROP_GRAPH, drop_graph(inner)),
        ["OPTIMIZE", ..] => with_form(OPTIMIZE, optimize(inner)),
        ["VACUUM", ..] => with_form(VACUUM, vacuum(inner)),
        ["USE", ..] => with_form(USE, use_schema(inner)),
        ["SUMMARIZE", ..] => with_form(SUMMARIZE, summarize(inner)),
        ["SET", "BONNET", ..] => with_form(SET, set(inner)),
        ["SHOW", "BONNET", ..] => show(inner).map_err(parser_error),
        ["RESET", "BONNET" | "ALL", ..] => reset(inner).map_err(parser_error),
        ["COPY", second, ..] if *second != "INTO" => copy_statement(inner),
        ["COPY"] => copy_statement(inner),
        ["EXPLAIN", ..] => explain(parser, tokens),
        ["DESCRIBE" | "DESC", ..] => describe(parser),
        _ => parser.parse_statement().map(|statement| Statement::Sql(Box::new(statement))).map_err(datafusion_error),
    }
}

/// The words that the statement begins with, in upper case; at most four.
fn first_words(parser: &Parser<'_>) -> Vec<String> {
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
pub(super) fn parse_word(parser: &mut Parser<'_>, word: &str) -> bool {
    match parser.peek_token().token {
        Token::Word(found) if found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word) => {
            parser.next_token();
            true
        }
        _ => false,
    }
}

fn expect_word(parser: &mut Parser<'_>, word: &str) -> Result<(), ParserError> {
    if parse_word(parser, word) { Ok(()) } else { parser.expected(word, parser.peek_token()) }
}

fn if_exists(parser: &mut Parser<'_>) -> bool {
    parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS])
}

fn if_not_exists(parser: &mut Parser<'_>) -> bool {
    parser.parse_keywords(&[Keyword::IF, Keyword::NOT, Keyword::EXISTS])
}

/// The parts of a schema's name: one, or a catalog's before it.
fn schema_name(parser: &mut Parser<'_>) -> Result<Vec<String>, ParserError> {
    let found = parser.peek_token();
    let name = parser.parse_object_name(false)?;
    match ast::name_parts(&name) {
        Some(parts) if parts.len() <= 2 && parts.iter().all(|part| !part.is_empty()) => Ok(parts),
        _ => parser.expected("a name or catalog.name", found),
    }
}

fn attach(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::ATTACH)?;
    let _ = parser.parse_keyword(Keyword::DATABASE);
    let if_not_exists = if_not_exists(parser);
    let found = parser.next_token();
    let location = match found.token {
        Token::SingleQuotedString(location) | Token::EscapedStringLiteral(location) if !location.is_empty() => location,
        _ => return parser.expected("a path or URL in single quotes", found),
    };
    let name = if parser.parse_keyword(Keyword::AS) {
        ast::normalized(&parser.parse_identifier()?)
    } else {
        match default_name(&location) {
            Some(name) => name,
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

/// The name of an option in lower case: a word, or text in quotes.
pub(super) fn option_name(parser: &mut Parser<'_>) -> Result<String, ParserError> {
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
pub(super) fn option_value(parser: &mut Parser<'_>) -> Result<Option<String>, ParserError> {
    let _ = parser.consume_token(&Token::Eq) || parser.consume_token(&Token::RArrow);
    if matches!(parser.peek_token().token, Token::Comma | Token::RParen) {
        return Ok(None);
    }
    value(parser, "a value: text in quotes, a number, or a word").map(Some)
}

fn value(parser: &mut Parser<'_>, expected: &str) -> Result<String, ParserError> {
    let sign = if parser.consume_token(&Token::Minus) { "-" } else { "" };
    let found = parser.next_token();
    match found.token {
        Token::Number(number, _) => Ok(format!("{sign}{number}")),
        Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) if sign.is_empty() => Ok(text),
        Token::Word(word) if sign.is_empty() => Ok(word.value),
        _ => parser.expected(expected, found),
    }
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

fn detach(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::DETACH)?;
    // DATABASE may itself be the name: `DETACH database`.
    if !matches!(parser.peek_nth_token(1).token, Token::EOF | Token::SemiColon) {
        let _ = parser.parse_keyword(Keyword::DATABASE);
    }
    let if_exists = if_exists(parser);
    Ok(Statement::Detach { name: ast::normalized(&parser.parse_identifier()?), if_exists })
}

fn create_graph(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::CREATE)?;
    let or_replace = parser.parse_keywords(&[Keyword::OR, Keyword::REPLACE]);
    expect_word(parser, "GRAPH")?;
    let if_not_exists = if_not_exists(parser);
    let found = parser.peek_token();
    if or_replace && if_not_exists {
        return parser.expected("either OR REPLACE or IF NOT EXISTS, not both,", found);
    }
    let name = schema_name(parser)?;
    if parser.parse_keyword(Keyword::FROM) {
        parser.expect_keyword(Keyword::SCHEMA)?;
        let schema = schema_name(parser)?;
        let keys = if parse_word(parser, "KEYS") { keys(parser)? } else { Vec::new() };
        let options = if parser.parse_keyword(Keyword::WITH) { options(parser)? } else { Vec::new() };
        let create = CreateSchemaGraph { name, or_replace, if_not_exists, schema, keys, options };
        return Ok(Statement::CreateSchemaGraph(create));
    }
    if !parser.parse_keyword(Keyword::AS) {
        return parser.expected("AS generator(...) or FROM SCHEMA schema", parser.peek_token());
    }
    let found = parser.peek_token();
    if matches!(found.token, Token::LParen)
        || matches!(&found.token, Token::Word(word) if matches!(word.keyword, Keyword::SELECT | Keyword::WITH | Keyword::FROM))
    {
        return parser.expected("the call of a generator, as erdos_renyi(100, 0.3)", found);
    }
    let call = Call { name: parser.parse_identifier()?, args: Vec::new() };
    parser.expect_token(&Token::LParen)?;
    let generator = Call { args: parser.parse_optional_args()?, ..call };
    Ok(Statement::CreateGraph(CreateGraph { name, or_replace, if_not_exists, generator }))
}

/// `(t.a -> u.b AS name, t(a, b) -> u(c, d), t(a), ...)`
fn keys(parser: &mut Parser<'_>) -> Result<Vec<KeyClause>, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let keys = parser.parse_comma_separated(|parser| {
        let found = parser.peek_token();
        let from = key_columns(parser)?;
        let to = if parser.consume_token(&Token::Arrow) { Some(key_columns(parser)?) } else { None };
        let name = if parser.parse_keyword(Keyword::AS) { Some(parser.parse_identifier()?) } else { None };
        if from.columns.is_empty() || (to.is_none() && name.is_some()) {
            return parser.expected("a key, as orders.customer_id -> customers.id AS bought, or customers(id)", found);
        }
        Ok(KeyClause { from, to, name })
    })?;
    parser.expect_token(&Token::RParen)?;
    Ok(keys)
}

/// `t`, `t.a` or `t(a, b)`.
fn key_columns(parser: &mut Parser<'_>) -> Result<KeyColumns, ParserError> {
    let table = parser.parse_identifier()?;
    let columns = if parser.consume_token(&Token::Period) {
        vec![parser.parse_identifier()?]
    } else if parser.consume_token(&Token::LParen) {
        let columns = parser.parse_comma_separated(Parser::parse_identifier)?;
        parser.expect_token(&Token::RParen)?;
        columns
    } else {
        Vec::new()
    };
    Ok(KeyColumns { table, columns })
}

/// `(name => value, ...)`
fn options(parser: &mut Parser<'_>) -> Result<Vec<FunctionArg>, ParserError> {
    let found = parser.peek_token();
    parser.expect_token(&Token::LParen)?;
    let options = parser.parse_optional_args()?;
    if options.is_empty() || !options.iter().all(|option| matches!(option, FunctionArg::Named { .. })) {
        return parser.expected("options by name, as (directed => true)", found);
    }
    Ok(options)
}

fn drop_graph(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::DROP)?;
    expect_word(parser, "GRAPH")?;
    let if_exists = if_exists(parser);
    Ok(Statement::DropGraph { name: schema_name(parser)?, if_exists })
}

/// The parts of a table's name, up to three.
fn table_name(parser: &mut Parser<'_>) -> Result<Vec<String>, ParserError> {
    let found = parser.peek_token();
    let name = parser.parse_object_name(false)?;
    match ast::name_parts(&name) {
        Some(parts) if parts.len() <= 3 && parts.iter().all(|part| !part.is_empty()) => Ok(parts),
        _ => parser.expected("the name of a table", found),
    }
}

fn optimize(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    expect_word(parser, "OPTIMIZE")?;
    let _ = parser.parse_keyword(Keyword::TABLE);
    Ok(Statement::Optimize { table: table_name(parser)? })
}

fn vacuum(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    expect_word(parser, "VACUUM")?;
    let retains = matches!(parser.peek_token().token, Token::Word(word) if word.value.eq_ignore_ascii_case("RETAIN"));
    let named = matches!(parser.peek_token().token, Token::Word(_)) && !retains;
    let table = if named { Some(table_name(parser)?) } else { None };
    if !parse_word(parser, "RETAIN") {
        return Ok(Statement::Vacuum { table, retain: None });
    }
    let found = parser.next_token();
    let hours = match &found.token {
        Token::Number(number, _) => number.parse::<f64>().ok(),
        _ => None,
    };
    // A hundred years: longer times overflow clocks.
    let Some(hours) = hours.filter(|hours| (0.0..=876_000.0).contains(hours)) else {
        return parser.expected("a number of hours", found);
    };
    let unit = parser.next_token();
    let days = match &unit.token {
        Token::Word(word) if matches!(word.value.to_ascii_uppercase().as_str(), "HOUR" | "HOURS") => 1.0,
        Token::Word(word) if matches!(word.value.to_ascii_uppercase().as_str(), "DAY" | "DAYS") => 24.0,
        _ => return parser.expected("HOURS or DAYS", unit),
    };
    Ok(Statement::Vacuum { table, retain: Some(Duration::from_secs_f64(hours * days * 3600.0)) })
}

fn use_schema(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::USE)?;
    Ok(Statement::Use { name: schema_name(parser)? })
}

fn summarize(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    expect_word(parser, "SUMMARIZE")?;
    Ok(Statement::Summarize { query: relation(parser)? })
}

/// A query, or a table as `SELECT * FROM table`.
fn relation(parser: &mut Parser<'_>) -> Result<Box<Query>, ParserError> {
    match parser.peek_token().token {
        Token::LParen => parser.parse_query(),
        Token::Word(word)
            if matches!(word.keyword, Keyword::SELECT | Keyword::WITH | Keyword::FROM | Keyword::VALUES) =>
        {
            parser.parse_query()
        }
        _ => Ok(Box::new(ast::select_all(parser.parse_table_factor()?))),
    }
}

/// A setting's name in lower case.
fn setting(parser: &mut Parser<'_>) -> Result<String, ParserError> {
    let found = parser.peek_token();
    match ast::name_parts(&parser.parse_object_name(false)?) {
        Some(parts) => Ok(parts.join(".").to_ascii_lowercase()),
        None => parser.expected("the name of a setting", found),
    }
}

fn set(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::SET)?;
    let name = setting(parser)?;
    if !parser.consume_token(&Token::Eq) && !parser.parse_keyword(Keyword::TO) {
        return parser.expected("= or TO", parser.peek_token());
    }
    if parser.parse_keyword(Keyword::DEFAULT) {
        return Ok(Statement::Reset { name: Some(name) });
    }
    let value = value(parser, "a value")?;
    match parser.peek_token() {
        TokenWithSpan { token: Token::EOF | Token::SemiColon, .. } => Ok(Statement::Set { name, value }),
        found => parser.expected("end of statement after the value", found),
    }
}

fn show(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::SHOW)?;
    Ok(Statement::Show { name: setting(parser)? })
}

fn reset(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::RESET)?;
    if parser.parse_keyword(Keyword::ALL) {
        return Ok(Statement::Reset { name: None });
    }
    Ok(Statement::Reset { name: Some(setting(parser)?) })
}

fn copy_statement(parser: &mut Parser<'_>) -> Result<Statement> {
    let statement = with_form(copy::FORM, copy::parse(parser))?;
    Ok(Statement::Sql(Box::new(SqlStatement::CopyTo(statement))))
}

/// EXPLAIN of whatever this parser reads itself; DataFusion's parser reads the words before it.
fn explain(parser: &mut DFParser<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    let start = parser.parser.index();
    let inner = &mut parser.parser;
    inner.expect_keyword(Keyword::EXPLAIN).map_err(parser_error)?;
    if inner.peek_token().token == Token::LParen && !starts_query(&inner.peek_nth_token(1).token) {
        inner.parse_utility_options().map_err(parser_error)?;
    } else {
        let _ = inner.parse_keyword(Keyword::ANALYZE);
        let _ = inner.parse_keyword(Keyword::VERBOSE);
        if inner.parse_keyword(Keyword::FORMAT) {
            inner.next_token();
        }
    }
    let end = inner.index();
    let explained = match first_words(inner).first().map(String::as_str) {
        Some("COPY") => SqlStatement::CopyTo(with_form(copy::FORM, copy::parse(inner))?),
        Some("ATTACH" | "DETACH" | "USE" | "SUMMARIZE" | "OPTIMIZE" | "VACUUM") => {
            return Err(Error::statement(
                "EXPLAIN shows the plan of a query, of INSERT, of COPY or of CREATE TABLE or VIEW ... AS",
            ));
        }
        _ => parser.parse_statement().map_err(datafusion_error)?,
    };
    // The options of EXPLAIN are read by DataFusion's parser, before a statement that stands for the real one.
    let mut prefix = tokens[start..end].to_vec();
    prefix.extend(["SELECT", "*"].map(|word| {
        TokenWithSpan::wrap(match word {
            "*" => Token::Mul,
            word => Token::make_keyword(word),
        })
    }));
    let mut options = DFParserBuilder::new(prefix).with_dialect(&BonnetDialect).build()?;
    match options.parse_statement().map_err(datafusion_error)? {
        SqlStatement::Explain(explain) => Ok(Statement::Sql(Box::new(SqlStatement::Explain(ExplainStatement {
            statement: Box::new(explained),
            ..explain
        })))),
        _ => Err(Error::statement("EXPLAIN takes a statement")),
    }
}

fn starts_query(token: &Token) -> bool {
    match token {
        Token::LParen => true,
        Token::Word(word) => {
            matches!(word.keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES | Keyword::TABLE | Keyword::FROM)
        }
        _ => false,
    }
}

/// `DESCRIBE table` goes to DataFusion as it is; a file, a call or a query is described by its query.
fn describe(parser: &mut DFParser<'_>) -> Result<Statement> {
    let (second, third) = (parser.parser.peek_nth_token(1).token, parser.parser.peek_nth_token(2).token);
    let is_call = matches!(second, Token::Word(_)) && third == Token::LParen;
    if !matches!(second, Token::SingleQuotedString(_)) && !is_call {
        return parser.parse_statement().map(|statement| Statement::Sql(Box::new(statement))).map_err(datafusion_error);
    }
    parser.parser.next_token();
    let query = relation(&mut parser.parser).map_err(parser_error)?;
    Ok(Statement::Sql(Box::new(SqlStatement::Statement(Box::new(AstStatement::Explain {
        describe_alias: DescribeAlias::Describe,
        analyze: false,
        verbose: false,
        query_plan: false,
        estimate: false,
        statement: Box::new(AstStatement::Query(query)),
        format: None,
        options: None,
    })))))
}

#[cfg(test)]
mod tests {
    use super::super::testing::error;
    use super::*;

    fn sql_text(text: &str) -> String {
        match parse(text).unwrap() {
            Statement::Sql(statement) => statement.to_string(),
            other => panic!("{text}: {other:?}"),
        }
    }

    /// Parses, prints, parses again: both trees are equal.
    fn round_trip(text: &str) -> Statement {
        let statement = parse(text).unwrap();
        let printed = statement.to_string();
        assert_eq!(parse(&printed).unwrap().to_string(), printed, "{text}");
        statement
    }

    #[test]
    fn attach_reads_location_name_and_any_options() {
        let Statement::Attach(attach) = round_trip(
            "attach if not exists 'data/it''s.npz' as Cora (type NPZ, read_only, sep ';', depth -3, Strict = true, \
             codec zstd)",
        ) else {
            panic!("ATTACH expected");
        };
        assert_eq!(attach.location, "data/it's.npz");
        assert_eq!(attach.name, "cora");
        assert!(attach.if_not_exists && attach.read_only);
        assert_eq!(attach.format.as_deref(), Some("npz"));
        let options: Vec<_> = attach.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(options, [("codec", "zstd"), ("depth", "-3"), ("sep", ";"), ("strict", "true")]);
    }

    #[test]
    fn upkeep_of_tables_parses() {
        assert_eq!(round_trip("optimize a.b"), Statement::Optimize { table: vec!["a".into(), "b".into()] });
        assert_eq!(round_trip("VACUUM"), Statement::Vacuum { table: None, retain: None });
        let hours = |hours: u64| Some(Duration::from_secs(hours * 3600));
        assert_eq!(round_trip("VACUUM RETAIN 2 HOURS"), Statement::Vacuum { table: None, retain: hours(2) });
        let vacuum = Statement::Vacuum { table: Some(vec!["T x".into()]), retain: hours(48) };
        assert_eq!(round_trip("vacuum \"T x\" retain 2 days"), vacuum);
        for text in ["VACUUM t RETAIN", "VACUUM t RETAIN x HOURS", "VACUUM t RETAIN 2", "OPTIMIZE", "VACUUM 'x'"] {
            let found = error(parse(text));
            assert!(found.contains("the form is") || found.contains("end of statement"), "{text}: {found}");
        }
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
            assert_eq!(attach.name, name, "{location}");
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

    #[test]
    fn detach_drops_and_use_take_names() {
        assert_eq!(round_trip("DETACH cora"), Statement::Detach { name: "cora".into(), if_exists: false });
        assert_eq!(
            round_trip("DETACH DATABASE IF EXISTS \"My Set\";"),
            Statement::Detach { name: "My Set".into(), if_exists: true }
        );
        assert_eq!(round_trip("DETACH database"), Statement::Detach { name: "database".into(), if_exists: false });
        assert_eq!(
            round_trip("DROP GRAPH IF EXISTS c.G"),
            Statement::DropGraph { name: vec!["c".into(), "g".into()], if_exists: true }
        );
        assert_eq!(round_trip("USE Mantra.\"S\""), Statement::Use { name: vec!["mantra".into(), "S".into()] });
        assert!(error(parse("USE a.b.c")).contains("the form is USE schema"));
        // A table may be called graph.
        assert_eq!(sql_text("DROP TABLE graph"), "DROP TABLE graph");
        assert_eq!(sql_text("CREATE TABLE graph AS SELECT 1"), "CREATE TABLE graph AS SELECT 1");
    }

    #[test]
    fn create_graph_keeps_the_generators_arguments() {
        let Statement::CreateGraph(create) =
            round_trip("CREATE OR REPLACE GRAPH g AS erdos_renyi(100, 0.3, seed => 1, loops := false)")
        else {
            panic!("CREATE GRAPH expected");
        };
        assert!(create.or_replace && !create.if_not_exists);
        assert_eq!(create.name, ["g"]);
        assert_eq!(create.generator.to_string(), "erdos_renyi(100, 0.3, seed => 1, loops := false)");
        assert_eq!(create.generator.to_query().to_string(), format!("SELECT * FROM {}", create.generator));
        assert!(error(parse("CREATE GRAPH g AS SELECT 1")).contains("the call of a generator"));
        assert!(error(parse("CREATE GRAPH g")).contains("the form is CREATE [OR REPLACE] GRAPH"));
        assert!(error(parse("CREATE OR REPLACE GRAPH IF NOT EXISTS g AS f()")).contains("not both"));
    }

    #[test]
    fn create_graph_from_a_schema_takes_keys_and_options() {
        let text = "CREATE OR REPLACE GRAPH c.g FROM SCHEMA f1 KEYS (results.driverId -> drivers.driverId AS drove, \
                    laps(raceId, driverId) -> results(raceId, driverId), a.b -> c, stops(race, lap)) \
                    WITH (directed => true, weight => 'points', text_vectors => (SELECT word, vector FROM w))";
        let Statement::CreateSchemaGraph(create) = round_trip(text) else { panic!("CREATE GRAPH expected") };
        assert_eq!(create.to_owned().schema, ["f1"]);
        assert_eq!((create.name.len(), create.keys.len(), create.options.len()), (2, 4, 3));
        assert_eq!(create.keys[0].name.as_ref().map(|name| name.value.as_str()), Some("drove"));
        assert_eq!(create.keys[1].from.columns.len(), 2);
        assert!(create.keys[2].to.as_ref().is_some_and(|to| to.columns.is_empty()) && create.keys[3].to.is_none());
        assert!(matches!(round_trip("CREATE GRAPH g FROM SCHEMA s"), Statement::CreateSchemaGraph(_)));
        for (text, part) in [
            ("CREATE GRAPH g FROM s", "Expected: SCHEMA"),
            ("CREATE GRAPH g FROM SCHEMA s KEYS ()", "the form is CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] name FROM"),
            ("CREATE GRAPH g FROM SCHEMA s KEYS (a -> b)", "a key, as orders.customer_id"),
            ("CREATE GRAPH g FROM SCHEMA s KEYS (a.b AS x)", "a key, as orders.customer_id"),
            ("CREATE GRAPH g FROM SCHEMA s WITH (directed)", "options by name"),
            ("CREATE GRAPH g FROM SCHEMA s WITH ()", "options by name"),
            ("CREATE GRAPH g FROM SCHEMA s KEYS (a.b -> c.d) x", "end of statement"),
        ] {
            assert!(error(parse(text)).contains(part), "{text}: {}", error(parse(text)));
        }
    }

    #[test]
    fn settings_of_the_engine_are_its_own_statements() {
        let set = |value: &str| Statement::Set { name: "bonnet.statement_timeout".into(), value: value.into() };
        assert_eq!(round_trip("SET bonnet.statement_timeout = '5s'"), set("5s"));
        assert_eq!(parse("set Bonnet.Statement_Timeout TO 500").unwrap(), set("500"));
        assert_eq!(parse("SET bonnet.statement_timeout = -1").unwrap(), set("-1"));
        assert_eq!(
            parse("SET bonnet.device = cuda").unwrap(),
            Statement::Set { name: "bonnet.device".into(), value: "cuda".into() }
        );
        let reset = Statement::Reset { name: Some("bonnet.device".into()) };
        assert_eq!(parse("SET bonnet.device = DEFAULT").unwrap(), reset);
        assert_eq!(round_trip("RESET bonnet.device"), reset);
        assert_eq!(round_trip("RESET ALL"), Statement::Reset { name: None });
        assert_eq!(round_trip("SHOW bonnet.device"), Statement::Show { name: "bonnet.device".into() });
        assert!(matches!(parse("SHOW ALL").unwrap(), Statement::Sql(_)));
        assert!(matches!(parse("SET datafusion.execution.batch_size = 3").unwrap(), Statement::Sql(_)));
        assert!(matches!(parse("RESET datafusion.execution.batch_size").unwrap(), Statement::Sql(_)));
        assert!(error(parse("SET bonnet.statement_timeout = 5 s")).contains("in quotes"));
        assert!(error(parse("SET bonnet.device")).contains("= or TO"));
    }

    #[test]
    fn summarize_takes_tables_files_calls_and_queries() {
        for (text, query) in [
            ("SUMMARIZE cora.edges", "SELECT * FROM cora.edges"),
            ("SUMMARIZE 'a.parquet'", "SELECT * FROM 'a.parquet'"),
            ("summarize f(t, k => 1)", "SELECT * FROM f(t, k => 1)"),
            ("SUMMARIZE SELECT a FROM t WHERE b", "SELECT a FROM t WHERE b"),
            ("SUMMARIZE FROM t LIMIT 2", "SELECT * FROM t LIMIT 2"),
            ("SUMMARIZE WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x"),
        ] {
            match round_trip(text) {
                Statement::Summarize { query: found } => assert_eq!(found.to_string(), query),
                other => panic!("{other:?}"),
            }
        }
        assert!(error(parse("SUMMARIZE")).contains("the form is SUMMARIZE table"));
    }

    #[test]
    fn copy_reads_the_options_of_both() {
        for (text, copied) in [
            ("COPY t TO 'a.parquet'", "COPY t TO a.parquet"),
            ("COPY t TO 'a' (FORMAT parquet)", "COPY t TO a STORED AS PARQUET"),
            ("COPY (SELECT 1 AS a;) TO 'a.csv'".replace(';', "").as_str(), "COPY (SELECT 1 AS a) TO a.csv"),
            (
                "copy t to 'a' with (format CSV, header, delimiter ';', partition_by (x, Y))",
                "COPY t TO a STORED AS CSV PARTITIONED BY (x, y) OPTIONS ('has_header' 'true', 'delimiter' ';')",
            ),
            (
                "COPY t TO 'a' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 1000)",
                "COPY t TO a STORED AS PARQUET OPTIONS ('compression' 'zstd(3)', 'max_row_group_size' '1000')",
            ),
            (
                "COPY t TO 'a' STORED AS CSV PARTITIONED BY (x) OPTIONS ('format.has_header' 'false')",
                "COPY t TO a STORED AS CSV PARTITIONED BY (x) OPTIONS ('format.has_header' 'false')",
            ),
            ("COPY 'a.csv' TO 'b.json'", "COPY (SELECT * FROM 'a.csv') TO b.json"),
            ("COPY (FROM t) TO 'b.json'", "COPY (SELECT * FROM t) TO b.json"),
            ("EXPLAIN COPY t TO 'a' (FORMAT json)", "EXPLAIN COPY t TO a STORED AS JSON"),
            (
                "EXPLAIN ANALYZE VERBOSE COPY t TO 'a' (FORMAT json)",
                "EXPLAIN ANALYZE VERBOSE COPY t TO a STORED AS JSON",
            ),
        ] {
            assert_eq!(sql_text(text), copied);
        }
        assert!(error(parse("COPY t TO 'a' (FORMAT xls)")).contains("csv, parquet, json, arrow"));
        assert!(error(parse("COPY t FROM 'a.csv'")).contains("INSERT INTO table SELECT * FROM 'file'"));
        assert!(error(parse("COPY t TO 'a' (FORMAT csv, FORMAT json)")).contains("one format"));
        assert!(error(parse("COPY t TO 'a' nonsense")).contains("found: nonsense at Line: 1, Column: 15"));
    }

    #[test]
    fn a_query_may_begin_with_from() {
        for (text, read) in [
            ("FROM t", "SELECT * FROM t"),
            ("FROM 'a.parquet' WHERE x > 1 ORDER BY x", "SELECT * FROM 'a.parquet' WHERE x > 1 ORDER BY x"),
            ("FROM t SELECT a", "FROM t SELECT a"),
            ("WITH x AS (FROM t) FROM x", "WITH x AS (SELECT * FROM t) SELECT * FROM x"),
            ("FROM a UNION ALL FROM b", "SELECT * FROM a UNION ALL SELECT * FROM b"),
            ("SELECT * FROM (FROM t LIMIT 1)", "SELECT * FROM (SELECT * FROM t LIMIT 1)"),
            ("SELECT a IN (FROM t) FROM u", "SELECT a IN (SELECT * FROM t) FROM u"),
            ("CREATE VIEW v AS FROM t", "CREATE VIEW v AS SELECT * FROM t"),
            ("INSERT INTO u FROM t", "INSERT INTO u SELECT * FROM t"),
            ("EXPLAIN FROM t", "EXPLAIN SELECT * FROM t"),
            // What only looks like it.
            ("SELECT count(*) FROM t", "SELECT count(*) FROM t"),
            ("WITH x AS (SELECT 1) SELECT count(*) FROM x", "WITH x AS (SELECT 1) SELECT count(*) FROM x"),
            ("SELECT EXTRACT(YEAR FROM d) FROM t", "SELECT EXTRACT(YEAR FROM d) FROM t"),
            ("DELETE FROM t WHERE a = 1", "DELETE FROM t WHERE a = 1"),
            ("SELECT 'FROM x', \"from\" FROM t -- FROM y", "SELECT 'FROM x', \"from\" FROM t"),
        ] {
            assert_eq!(sql_text(text), read, "{text}");
        }
    }

    #[test]
    fn statements_of_datafusion_pass() {
        for text in [
            "SELECT f(a = b), g(x => 1) FROM h(a.b, c => (SELECT 1))",
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'a.csv'",
            "EXPLAIN ANALYZE SELECT 1",
            "DESCRIBE t",
            "SHOW TABLES",
            "INSERT INTO t SELECT 1",
            "PREPARE p AS SELECT 1",
        ] {
            assert!(matches!(parse(text).unwrap(), Statement::Sql(_)), "{text}");
        }
        assert_eq!(sql_text("DESCRIBE 'a.csv'"), "DESCRIBE SELECT * FROM 'a.csv'");
        assert_eq!(sql_text("DESCRIBE f(t)"), "DESCRIBE SELECT * FROM f(t)");
    }

    #[test]
    fn one_statement_with_comments_and_semicolons_is_tolerated() {
        assert_eq!(sql_text(";; -- first\n SELECT 1 /* ; */ ; ; -- last"), "SELECT 1");
        assert!(
            error(parse("SELECT 1; SELECT 2"))
                .contains("Expected: end of statement, found: SELECT at Line: 1, Column: 11")
        );
        assert_eq!(error(parse(" -- nothing")), "there is no statement in the text");
        assert_eq!(error(parse("")), "there is no statement in the text");
    }

    #[test]
    fn errors_say_what_was_found_where() {
        assert_eq!(error(parse("SELEC 1")), "Expected: an SQL statement, found: SELEC at Line: 1, Column: 1");
        assert!(error(parse("SELECT\n  FROM )")).contains("at Line: 2, Column: "));
        assert!(error(parse("SELECT 'abc")).contains("Unterminated string literal at Line: 1, Column: 8"));
        let nested = format!("SELECT {}1{}", "(".repeat(300), ")".repeat(300));
        assert!(error(parse(&nested)).contains("nested too deeply"), "{}", error(parse(&nested)));
    }

    /// Words that the parser knows, and some that it does not: soups of them reach most of its branches.
    const WORDS: &[&str] = &[
        "SELECT",
        "FROM",
        "WHERE",
        "PIVOT",
        "UNPIVOT",
        "ON",
        "IN",
        "USING",
        "GROUP",
        "BY",
        "ORDER",
        "LIMIT",
        "AS",
        "(",
        ")",
        "(",
        ")",
        ",",
        ";",
        ".",
        "*",
        "=",
        "=>",
        ":=",
        "[",
        "]",
        "{",
        "}",
        "'a'",
        "'",
        "\"b\"",
        "\"",
        "1",
        "-",
        "0.5",
        "t",
        "c.s",
        "sum(x)",
        "ATTACH",
        "DETACH",
        "CREATE",
        "OR",
        "REPLACE",
        "GRAPH",
        "FROM SCHEMA",
        "KEYS (",
        "->",
        "DROP",
        "IF",
        "NOT",
        "EXISTS",
        "TYPE",
        "USE",
        "SUMMARIZE",
        "SET",
        "SHOW",
        "RESET",
        "ALL",
        "bonnet",
        "bonnet.device",
        "TO",
        "COPY",
        "FORMAT",
        "WITH",
        "UNION",
        "EXPLAIN",
        "ANALYZE",
        "DESCRIBE",
        "INSERT",
        "INTO",
        "VALUES",
        "VIEW",
        "TABLE",
        "OVER",
        "FOR",
        "ANY",
        "DEFAULT",
        "NULL",
        "LATERAL",
        "unnest",
        "--",
        "/*",
        "*/",
        "\n",
        "é",
        "💥",
        "$1",
        "\\",
        "\0",
        "EXTERNAL",
        "STORED",
    ];

    #[test]
    fn no_text_makes_the_parser_panic() {
        // A linear congruential generator: the same texts every time.
        let mut state = 1u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for round in 0..20_000 {
            let length = 1 + next(14);
            let mut text = String::new();
            for _ in 0..length {
                if round % 4 == 0 {
                    text.extend(char::from_u32(next(0x250) as u32));
                } else {
                    text += WORDS[next(WORDS.len())];
                    text.push(' ');
                }
            }
            if let Ok(statement) = parse(&text) {
                let _ = statement.to_string();
            }
        }
    }
}
