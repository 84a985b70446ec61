//! From the text of one statement to its tree.

use std::str::FromStr;

use datafusion::common::DataFusionError;
use datafusion::common::format::{ExplainFormat, ExplainStatementOptions};
use datafusion::sql::parser::{DFParser, DFParserBuilder, ExplainStatement, Statement as SqlStatement};
use datafusion::sql::sqlparser::ast::{DescribeAlias, Query, Spanned, Statement as AstStatement};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::syntax::statements::attach::{ATTACH, DETACH, attach, detach};
use crate::syntax::statements::copy;
use crate::syntax::statements::create_graph::{self, DROP_GRAPH, create_graph, drop_graph};
use crate::syntax::statements::dialect::BonnetDialect;
use crate::syntax::statements::maintenance::{OPTIMIZE, VACUUM, optimize, vacuum};
use crate::syntax::statements::statement::{Statement, WithSpan};
use crate::syntax::statements::words::{expect_word, first_words, parser_error, schema_name, value, with_form};
use crate::syntax::tokens::{depth, duckdb_tokens, from_first, pivot_statement};
use crate::syntax::tree::ast;
use crate::{Error, Result};

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
        .map_err(|error| Error::Syntax(error.to_string()))?;
    depth::check(&tokens)?;
    let tokens = duckdb_tokens::rewrite(tokens)?;
    let tokens = pivot_statement::rewrite(from_first::rewrite(tokens))?;
    let mut parser = DFParserBuilder::new(tokens.clone()).with_dialect(&BonnetDialect).build()?;
    while parser.parser.consume_token(&Token::SemiColon) {}
    if parser.parser.peek_token().token == Token::EOF {
        return Err(Error::Syntax("there is no statement in the text".to_owned()));
    }
    let statement = statement(&mut parser, &tokens)?;
    while parser.parser.consume_token(&Token::SemiColon) {}
    match parser.parser.peek_token() {
        TokenWithSpan { token: Token::EOF, .. } => Ok(statement),
        found => Err(sql(parser.parser.expected::<()>("end of statement", found))),
    }
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
        Ok(_) => Error::Syntax("the statement does not end where it should".to_owned()),
    }
}

fn statement(parser: &mut DFParser<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    let words = first_words(&parser.parser);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let inner = &mut parser.parser;
    match words.as_slice() {
        ["ATTACH", ..] => with_form(ATTACH, attach(inner)),
        ["DETACH", ..] => with_form(DETACH, detach(inner)),
        ["CREATE", "GRAPH", ..] | ["CREATE", "OR", "REPLACE", "GRAPH", ..] => {
            with_form(create_graph::form(tokens), create_graph(inner))
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
        ["EXPLAIN", ..] => explain(parser),
        ["DESCRIBE" | "DESC", ..] => describe(parser),
        _ => parser.parse_statement().map(|statement| Statement::Sql(Box::new(statement))).map_err(datafusion_error),
    }
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
fn setting(parser: &mut Parser<'_>) -> Result<WithSpan<String>, ParserError> {
    let found = parser.peek_token();
    let name = parser.parse_object_name(false)?;
    match ast::name_parts(&name) {
        Some(parts) => Ok(WithSpan::new(parts.join(".").to_ascii_lowercase(), name.span())),
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

/// EXPLAIN of whatever this parser reads itself.
fn explain(parser: &mut DFParser<'_>) -> Result<Statement> {
    let inner = &mut parser.parser;
    inner.expect_keyword(Keyword::EXPLAIN).map_err(parser_error)?;
    let options = if inner.peek_token().token == Token::LParen && !starts_query(&inner.peek_nth_token(1).token) {
        ExplainStatementOptions::from_utility_options(&inner.parse_utility_options().map_err(parser_error)?)?
    } else {
        let (analyze, verbose) = (inner.parse_keyword(Keyword::ANALYZE), inner.parse_keyword(Keyword::VERBOSE));
        let format = parser.parse_explain_format().map_err(datafusion_error)?;
        let format = format.map(|format| ExplainFormat::from_str(&format)).transpose()?;
        ExplainStatementOptions { analyze, verbose, format, ..ExplainStatementOptions::default() }
    };
    let statement = match first_words(&parser.parser).first().map(String::as_str) {
        Some("COPY") => SqlStatement::CopyTo(with_form(copy::FORM, copy::parse(&mut parser.parser))?),
        Some("ATTACH" | "DETACH" | "USE" | "SUMMARIZE" | "OPTIMIZE" | "VACUUM") => {
            return Err(Error::statement_at(
                parser.parser.peek_token().span,
                "EXPLAIN shows the plan of a query, of INSERT, of COPY or of CREATE TABLE or VIEW ... AS",
            ));
        }
        _ => parser.parse_statement().map_err(datafusion_error)?,
    };
    let explained = ExplainStatement { statement: Box::new(statement), options };
    Ok(Statement::Sql(Box::new(SqlStatement::Explain(explained))))
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
    use super::*;
    use crate::testing::{error, name, parsed};

    fn sql_text(text: &str) -> String {
        match parse(text).unwrap() {
            Statement::Sql(statement) => statement.to_string(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn detach_drops_and_use_take_names() {
        assert_eq!(parsed("DETACH cora"), Statement::Detach { name: "cora".to_owned().into(), if_exists: false });
        assert_eq!(
            parsed("DETACH DATABASE IF EXISTS \"My Set\";"),
            Statement::Detach { name: "My Set".to_owned().into(), if_exists: true }
        );
        assert_eq!(
            parsed("DETACH database"),
            Statement::Detach { name: "database".to_owned().into(), if_exists: false }
        );
        assert_eq!(
            parsed("DROP GRAPH IF EXISTS c.G"),
            Statement::DropGraph { name: name(&["c", "g"]), if_exists: true }
        );
        assert_eq!(parsed("USE Mantra.\"S\""), Statement::Use { name: name(&["mantra", "S"]) });
        assert!(error(parse("USE a.b.c")).contains("the form is USE schema"));
        // A table may be called graph.
        assert_eq!(sql_text("DROP TABLE graph"), "DROP TABLE graph");
        assert_eq!(sql_text("CREATE TABLE graph AS SELECT 1"), "CREATE TABLE graph AS SELECT 1");
    }

    #[test]
    fn settings_of_the_engine_are_its_own_statements() {
        let set =
            |value: &str| Statement::Set { name: "bonnet.statement_timeout".to_owned().into(), value: value.into() };
        assert_eq!(parsed("SET bonnet.statement_timeout = '5s'"), set("5s"));
        assert_eq!(parse("set Bonnet.Statement_Timeout TO 500").unwrap(), set("500"));
        assert_eq!(parse("SET bonnet.statement_timeout = -1").unwrap(), set("-1"));
        assert_eq!(
            parse("SET bonnet.device = cuda").unwrap(),
            Statement::Set { name: "bonnet.device".to_owned().into(), value: "cuda".into() }
        );
        let reset = Statement::Reset { name: Some("bonnet.device".to_owned().into()) };
        assert_eq!(parse("SET bonnet.device = DEFAULT").unwrap(), reset);
        assert_eq!(parsed("RESET bonnet.device"), reset);
        assert_eq!(parsed("RESET ALL"), Statement::Reset { name: None });
        assert_eq!(parsed("SHOW bonnet.device"), Statement::Show { name: "bonnet.device".to_owned().into() });
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
            match parsed(text) {
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
        assert!(error(parse("COPY t FROM a")).contains("TO 'file', or FROM 'file'"));
        assert!(
            error(parse("COPY t FROM 'a.csv' HEADER")).contains("COPY table FROM 'file' (FORMAT f, option value, ...)")
        );
        assert!(
            error(parse("COPY t FROM 'a' (FORMAT xml)"))
                .contains("csv, parquet, json and ndjson, and files that end in .arrow, not xml")
        );
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
            (
                "COPY u (a) FROM 'b.parquet'",
                "INSERT INTO u (a) SELECT * FROM read_parquet('b.parquet') AS \"the file of COPY\"",
            ),
            (
                "EXPLAIN COPY u FROM 'b.json'",
                "EXPLAIN INSERT INTO u SELECT * FROM read_json('b.json') AS \"the file of COPY\"",
            ),
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
    const WORDS: &str = "SELECT FROM WHERE PIVOT UNPIVOT ON IN USING GROUP BY ORDER LIMIT AS ( ) ( ) , ; . * = => := [ ] { } \
        'a' ' \"b\" \" 1 - 0.5 t c.s sum(x) ATTACH DETACH CREATE OR REPLACE GRAPH -> DROP IF NOT EXISTS TYPE \
        USE SUMMARIZE SET SHOW RESET ALL bonnet bonnet.device TO COPY FORMAT WITH UNION EXPLAIN ANALYZE \
        DESCRIBE INSERT INTO VALUES VIEW TABLE OVER FOR ANY DEFAULT NULL LATERAL unnest -- /* */ é 💥 $1 \\ \
        \0 EXTERNAL STORED";

    #[test]
    fn no_text_makes_the_parser_panic() {
        let words: Vec<&str> = WORDS.split(' ').chain(["FROM SCHEMA", "KEYS (", "\n"]).collect();
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
                    text += words[next(words.len())];
                    text.push(' ');
                }
            }
            if let Ok(Statement::Sql(statement)) = parse(&text) {
                let _ = statement.to_string();
            }
        }
    }
}
