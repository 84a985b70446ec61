//! `CREATE GRAPH` and `DROP GRAPH`.

use datafusion::sql::sqlparser::ast::FunctionArg;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::syntax::statements::statement::{Call, CreateGraph, CreateSchemaGraph, KeyClause, KeyColumns, Statement};
use crate::syntax::statements::words::{expect_word, if_exists, if_not_exists, parse_word, schema_name};

const CREATE_GRAPH: &str = "CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] name AS generator(argument, name => value, ...)";
const CREATE_SCHEMA_GRAPH: &str = "CREATE [OR REPLACE] GRAPH [IF NOT EXISTS] name FROM SCHEMA schema \
    [KEYS (table.column -> table.column [AS type], table(column, ...) -> table(column, ...), table(column), ...)] \
    [WITH (option => value, ...)]";
/// The form of DROP GRAPH.
pub(crate) const DROP_GRAPH: &str = "DROP GRAPH [IF EXISTS] name";

/// The form of the CREATE GRAPH of these tokens: of a generator, or of a schema.
pub(crate) fn form(tokens: &[TokenWithSpan]) -> &'static str {
    let from = tokens.iter().find_map(|token| match &token.token {
        Token::Word(word) if word.keyword == Keyword::AS => Some(false),
        Token::Word(word) if word.keyword == Keyword::FROM => Some(true),
        _ => None,
    });
    if from == Some(true) { CREATE_SCHEMA_GRAPH } else { CREATE_GRAPH }
}

pub(crate) fn create_graph(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
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

pub(crate) fn drop_graph(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::DROP)?;
    expect_word(parser, "GRAPH")?;
    let if_exists = if_exists(parser);
    Ok(Statement::DropGraph { name: schema_name(parser)?, if_exists })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::statements::parse::parse;
    use crate::testing::{error, parsed};

    #[test]
    fn create_graph_keeps_the_generators_arguments() {
        let Statement::CreateGraph(create) =
            parsed("CREATE OR REPLACE GRAPH g AS erdos_renyi(100, 0.3, seed => 1, loops := false)")
        else {
            panic!("CREATE GRAPH expected");
        };
        assert!(create.or_replace && !create.if_not_exists);
        assert_eq!(create.name.value, ["g"]);
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
        let Statement::CreateSchemaGraph(create) = parsed(text) else { panic!("CREATE GRAPH expected") };
        assert_eq!(create.schema.value, ["f1"]);
        assert_eq!((create.name.len(), create.keys.len(), create.options.len()), (2, 4, 3));
        assert_eq!(create.keys[0].name.as_ref().map(|name| name.value.as_str()), Some("drove"));
        assert_eq!(create.keys[1].from.columns.len(), 2);
        assert!(create.keys[2].to.as_ref().is_some_and(|to| to.columns.is_empty()) && create.keys[3].to.is_none());
        assert!(matches!(parsed("CREATE GRAPH g FROM SCHEMA s"), Statement::CreateSchemaGraph(_)));
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
}
