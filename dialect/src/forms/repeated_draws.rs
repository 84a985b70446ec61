//! A WITH that draws random values and is read more than once, which is refused.
//!
//! DataFusion 55 puts the query of a WITH in the place of each of its names, MATERIALIZED or not: `random()` in it was drawn for
//! each, and a row joined to itself differed from itself. DuckDB and PostgreSQL compute such a query once.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/24678>
//! Shows: `WITH c AS (SELECT random() AS r) SELECT count(*) FROM c AS a JOIN c AS b ON a.r = b.r` is refused

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Expr, ObjectName, Query, VisitorMut};

use crate::syntax::tree::ast;
use crate::syntax::tree::visit::visit_statement;
use crate::syntax::tree::walk::{Flow, flow, result, walk};
use crate::{Error, Result};

/// The functions whose calls answer another value each time.
const DRAWS: [&str; 4] = ["random", "uuid", "uuidv4", "gen_random_uuid"];

/// Refuses such a WITH.
///
/// # Errors
/// Names it, and says what keeps one draw.
pub(crate) fn refuse(statement: &mut SqlStatement) -> Result<()> {
    struct Queries;
    impl VisitorMut for Queries {
        type Break = Box<Error>;

        fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
            flow(check(query))
        }
    }
    result(visit_statement(statement, &mut Queries))
}

fn check(query: &Query) -> Result<()> {
    let Some(with) = &query.with else { return Ok(()) };
    let drawing: Vec<Option<&'static str>> = with.cte_tables.iter().map(|cte| drawn(&cte.query)).collect();
    if drawing.iter().all(Option::is_none) {
        return Ok(());
    }
    let names: Vec<String> = with.cte_tables.iter().map(|cte| ast::normalized(&cte.alias.name)).collect();
    // How often the query reads each of them, through those that stand behind it.
    let mut body = query.clone();
    body.with = None;
    let mut reads: Vec<usize> = vec![0; names.len()];
    for at in (0..names.len()).rev() {
        reads[at] = mentions(&body, &names[at]);
        for (later, cte) in with.cte_tables.iter().enumerate().skip(at + 1) {
            reads[at] = reads[at].saturating_add(mentions(&cte.query, &names[at]).saturating_mul(reads[later]));
        }
        if let (Some(function), 2..) = (drawing[at], reads[at]) {
            let name = &names[at];
            return Err(Error::statement_at(
                with.cte_tables[at].alias.name.span,
                format!(
                    "{name} is read more than once, and {function}() would be drawn anew each time: CREATE TABLE {name} AS ... \
                     keeps what is drawn"
                ),
            ));
        }
    }
    Ok(())
}

/// The function by which a query draws values, if it does.
fn drawn(query: &Query) -> Option<&'static str> {
    struct Draws(Option<&'static str>);
    impl VisitorMut for Draws {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            let Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
            let name = ast::function_name(&call.name).unwrap_or_default();
            self.0 = DRAWS.into_iter().find(|draws| *draws == name);
            if self.0.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let mut draws = Draws(None);
    let _ = walk(&mut query.clone(), &mut draws);
    draws.0
}

/// How often a query names a relation.
fn mentions(query: &Query, name: &str) -> usize {
    struct Mentions<'a>(&'a str, usize);
    impl VisitorMut for Mentions<'_> {
        type Break = ();

        fn pre_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<()> {
            self.1 += usize::from(matches!(ast::name_parts(relation).as_deref(), Some([one]) if one == self.0));
            ControlFlow::Continue(())
        }
    }
    let mut mentions = Mentions(name, 0);
    let _ = walk(&mut query.clone(), &mut mentions);
    mentions.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::statements::parse::parse;
    use crate::syntax::statements::statement::Statement;

    fn checked(text: &str) -> Result<()> {
        let Ok(Statement::Sql(mut statement)) = parse(text) else { panic!("{text} is not DataFusion's") };
        refuse(&mut statement)
    }

    #[test]
    fn what_is_drawn_is_read_once() {
        for text in [
            "WITH c AS (SELECT random() AS r) SELECT * FROM c",
            "WITH c AS (SELECT random() AS r), d AS (SELECT * FROM c) SELECT * FROM d",
            "WITH c AS (SELECT 1 AS r) SELECT random() FROM c AS a, c AS b",
            "WITH c AS (SELECT random() AS r), d AS (SELECT 1 FROM c) SELECT 2",
        ] {
            checked(text).unwrap();
        }
        for text in [
            "WITH c AS (SELECT random() AS r) SELECT * FROM c AS a JOIN c AS b ON a.r = b.r",
            "WITH c AS MATERIALIZED (SELECT 1 + random() AS r) SELECT * FROM c WHERE r = (SELECT max(r) FROM c)",
            "WITH c AS (SELECT uuid() AS r), d AS (SELECT * FROM c) SELECT * FROM d AS a, d AS b",
            "SELECT * FROM (WITH C AS (SELECT random() AS r) SELECT * FROM c UNION ALL SELECT * FROM c) AS t",
            "INSERT INTO t WITH c AS (SELECT random() AS r) SELECT a.r FROM c AS a, c AS b",
        ] {
            let error = checked(text).unwrap_err().to_string();
            assert!(error.contains("c is read more than once") && error.contains("CREATE TABLE c"), "{error}");
        }
    }
}
