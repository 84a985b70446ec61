//! The statement form of PIVOT, `PIVOT t ON c IN (...) USING sum(x) GROUP BY g`, as a query over PIVOT in FROM.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/12907> <https://github.com/apache/datafusion/pull/17946>
//! Given: `CREATE TABLE runs AS SELECT * FROM (VALUES ('a', 'gcn', 1), ('a', 'mlp', 2), ('b', 'gcn', 3)) AS v(graph, model, accuracy)`
//! Shows: `PIVOT runs ON model IN ('gcn', 'mlp') USING max(accuracy) GROUP BY graph ORDER BY graph` gives `a | 1 | 2 / b | 3 | NULL`

use std::ops::Range;

use datafusion::sql::sqlparser::ast::{Expr, Ident, TableAlias, TableFactor};
use datafusion::sql::sqlparser::dialect::{Dialect, Precedence};
use datafusion::sql::sqlparser::keywords::{Keyword, RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_TABLE_ALIAS};
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan};

use crate::syntax::statements::dialect::BonnetDialect;
use crate::syntax::statements::words::parser_error;
use crate::syntax::tokens::from_first;
use crate::syntax::tree::ast;
use crate::{Error, Result};

const FORM: &str = "PIVOT table ON column [IN (value, ...)] [USING aggregate [AS name], ...] [GROUP BY column, ...]";

/// Replaces each `PIVOT t ON ...` that stands where a query may by `SELECT * FROM t PIVOT (...)`, token by token, so
/// that literals and everything around it stay as they are. What follows it, ORDER BY and LIMIT, follows still.
pub(crate) fn rewrite(mut tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>> {
    // From the last to the first: a PIVOT inside the source of another is done before it.
    for start in from_first::query_starts(&tokens, Keyword::PIVOT).into_iter().rev() {
        let rest = &tokens[start + 1..];
        let is_first = tokens[..start].iter().all(|token| matches!(token.token, Token::Whitespace(_)));
        match parse(rest) {
            Ok(Some(pivot)) => {
                let query = pivot.query(rest, tokens[start].span);
                let end = start + 1 + pivot.end;
                tokens.splice(start..end, query);
            }
            // A column or table called pivot, unless the statement begins with it.
            Ok(None) if !is_first => {}
            Ok(None) => {
                let at = tokens[start].span.start;
                return Err(Error::Syntax(format!("PIVOT lacks its table or ON{at}; the form is {FORM}")));
            }
            Err(error) => {
                return Err(Error::Syntax(format!("{}; the form is {FORM}", parser_error(error))));
            }
        }
    }
    Ok(tokens)
}

/// The parts of a statement, as ranges of the tokens after PIVOT.
struct Pivot {
    source: Range<usize>,
    /// The name by which the source's columns may be qualified.
    source_name: Option<Ident>,
    on: Range<usize>,
    values: Option<Range<usize>>,
    aggregates: Option<Range<usize>>,
    group_by: Vec<Expr>,
    /// Columns that the aggregates and ON read.
    columns: Vec<Vec<Ident>>,
    end: usize,
}

/// `None` where this is no PIVOT statement: no table and ON follow.
fn parse(tokens: &[TokenWithSpan]) -> Result<Option<Pivot>, ParserError> {
    let mut parser = Parser::new(&BonnetDialect).with_tokens_with_locations(tokens.to_vec());
    match parser.peek_token().token {
        Token::Word(word) if RESERVED_FOR_TABLE_ALIAS.contains(&word.keyword) => return Ok(None),
        Token::Word(_) | Token::LParen | Token::SingleQuotedString(_) => {}
        _ => return Ok(None),
    }
    let Ok(source_factor) = parser.parse_table_factor() else { return Ok(None) };
    let source = 0..parser.index();
    if !parser.parse_keyword(Keyword::ON) {
        return Ok(None);
    }

    let on_start = parser.index();
    let on_expr = parser.parse_subexpr(BonnetDialect.prec_value(Precedence::Between))?;
    let on = on_start..parser.index();
    if parser.peek_token().token == Token::Comma {
        return parser.expected(
            "one expression after ON (join several columns into one: ON a || '_' || b)",
            parser.peek_token(),
        );
    }
    let mut columns = ast::columns(&on_expr);

    let values = if parser.parse_keyword(Keyword::IN) {
        parser.expect_token(&Token::LParen)?;
        let start = parser.index();
        let mut depth = 1usize;
        let mut end = start;
        while depth > 0 {
            end = parser.index();
            let found = parser.next_token();
            match found.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                Token::EOF => return parser.expected("')' after the values of IN", found),
                _ => {}
            }
        }
        Some(start..end)
    } else {
        None
    };

    let aggregates = if parser.parse_keyword(Keyword::USING) {
        let start = parser.index();
        loop {
            columns.extend(ast::columns(&parser.parse_expr()?));
            parser.parse_optional_alias(RESERVED_FOR_COLUMN_ALIAS)?;
            if !parser.consume_token(&Token::Comma) {
                break;
            }
        }
        Some(start..parser.index())
    } else {
        None
    };

    let mut group_by = Vec::new();
    if parser.parse_keywords(&[Keyword::GROUP, Keyword::BY]) && !parser.parse_keyword(Keyword::ALL) {
        group_by = parser.parse_comma_separated(Parser::parse_expr)?;
        for expr in &group_by {
            let name = match expr {
                Expr::Identifier(name) => Some(name),
                Expr::CompoundIdentifier(names) => names.last(),
                _ => None,
            };
            let Some(name) = name else {
                return parser.expected("names of columns after GROUP BY", parser.peek_token());
            };
            if columns.iter().any(|column| same_column(column, name)) {
                return Err(ParserError::ParserError(format!(
                    "PIVOT groups by {name} and reads it in ON or USING as well{}: give the column a second name in \
                     a subquery, PIVOT (SELECT *, {name} AS {name}_2 FROM ...) ON ...",
                    name.span.start
                )));
            }
        }
    }

    let source_name = match &source_factor {
        TableFactor::Table { alias: Some(TableAlias { name, .. }), .. }
        | TableFactor::Derived { alias: Some(TableAlias { name, .. }), .. } => Some(name.clone()),
        TableFactor::Table { name, .. } => name.0.last().and_then(|part| part.as_ident()).cloned(),
        _ => None,
    };
    Ok(Some(Pivot { source, source_name, on, values, aggregates, group_by, columns, end: parser.index() }))
}

fn same_column(column: &[Ident], name: &Ident) -> bool {
    column.last().is_some_and(|last| ast::normalized(last) == ast::normalized(name))
}

impl Pivot {
    /// `SELECT * FROM source PIVOT (...)`; with GROUP BY, the source is cut down to the columns that are named, since
    /// PIVOT in FROM groups by all others.
    fn query(&self, tokens: &[TokenWithSpan], span: Span) -> Vec<TokenWithSpan> {
        let mut query = Tokens { tokens: Vec::new(), span };
        query.words("SELECT").push(Token::Mul).words("FROM");
        if self.group_by.is_empty() {
            query.copy(tokens, &self.source);
        } else {
            let mut columns: Vec<Vec<Ident>> = Vec::new();
            for expr in &self.group_by {
                columns.extend(ast::columns(expr));
            }
            for column in &self.columns {
                if !columns.iter().any(|other| column.last().is_some_and(|name| same_column(other, name))) {
                    columns.push(column.clone());
                }
            }
            query.push(Token::LParen).words("SELECT");
            for (i, column) in columns.iter().enumerate() {
                if i > 0 {
                    query.push(Token::Comma);
                }
                for (j, part) in column.iter().enumerate() {
                    if j > 0 {
                        query.push(Token::Period);
                    }
                    query.push(Token::make_word(&part.value, part.quote_style));
                }
            }
            query.words("FROM").copy(tokens, &self.source).push(Token::RParen);
            if let Some(name) = &self.source_name {
                let quote = name.quote_style.map(|_| '"');
                query.words("AS").push(Token::make_word(&name.value, quote));
            }
        }
        query.words("PIVOT").push(Token::LParen);
        match &self.aggregates {
            Some(aggregates) => query.copy(tokens, aggregates),
            None => query.words("count").push(Token::LParen).push(Token::Mul).push(Token::RParen),
        };
        query.words("FOR").copy(tokens, &self.on).words("IN").push(Token::LParen);
        match &self.values {
            Some(values) => query.copy(tokens, values),
            None => query.words("ANY"),
        };
        query.push(Token::RParen).push(Token::RParen);
        query.tokens
    }
}

struct Tokens {
    tokens: Vec<TokenWithSpan>,
    /// The place of the statement, which errors in inserted tokens name.
    span: Span,
}

impl Tokens {
    fn push(&mut self, token: Token) -> &mut Self {
        self.tokens.push(TokenWithSpan::new(token, self.span));
        self
    }

    fn words(&mut self, word: &str) -> &mut Self {
        self.push(Token::make_keyword(word))
    }

    fn copy(&mut self, tokens: &[TokenWithSpan], range: &Range<usize>) -> &mut Self {
        self.tokens.extend_from_slice(&tokens[range.clone()]);
        self
    }
}
