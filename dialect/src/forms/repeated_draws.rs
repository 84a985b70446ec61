//! A WITH that draws random values and is read more than once, which is refused.
//!
//! DataFusion 55 puts the query of a WITH in the place of each of its names, MATERIALIZED or not: `random()` in it was drawn for
//! each, and a row joined to itself differed from itself. DuckDB and PostgreSQL compute such a query once.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/24678>
//! Shows: `WITH c AS (SELECT random() AS r) SELECT count(*) FROM c AS a JOIN c AS b ON a.r = b.r` is refused

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Query, TableFactor, Visit, Visitor, visit_relations};

use crate::syntax::tree::ast;
use crate::{Error, Result};

/// The functions whose calls answer another value each time.
const DRAWS: [&str; 4] = ["random", "uuid", "uuidv4", "gen_random_uuid"];

/// Refuses such a WITH of a query.
///
/// # Errors
/// Names it, and says what keeps one draw.
pub(crate) fn check(query: &Query) -> Result<()> {
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

/// The function by which a query draws values, if it does. What a function in FROM reads is read once.
fn drawn(query: &Query) -> Option<&'static str> {
    query.visit(&mut Draws { calls: 0 }).break_value()
}

struct Draws {
    /// The number of calls in FROM around.
    calls: usize,
}

impl Visitor for Draws {
    type Break = &'static str;

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<&'static str> {
        self.calls += usize::from(is_call(factor));
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<&'static str> {
        self.calls -= usize::from(is_call(factor));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<&'static str> {
        let Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        let name = ast::function_name(&call.name).unwrap_or_default();
        match DRAWS.into_iter().find(|draws| self.calls == 0 && *draws == name) {
            Some(draws) => ControlFlow::Break(draws),
            None => ControlFlow::Continue(()),
        }
    }
}

fn is_call(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::Table { args: Some(_), .. })
}

/// How often a query names a relation.
fn mentions(query: &Query, name: &str) -> usize {
    let mut count = 0;
    let _ = visit_relations(query, |relation| {
        count += usize::from(matches!(ast::name_parts(relation).as_deref(), Some([one]) if one == name));
        ControlFlow::<()>::Continue(())
    });
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::duckdb_syntax::translate;
    use crate::syntax::statements::parse::parse;
    use crate::syntax::statements::statement::Statement;

    fn checked(text: &str) -> Result<()> {
        let Ok(Statement::Sql(mut statement)) = parse(text) else { panic!("{text} is not DataFusion's") };
        translate(&mut statement).map(drop)
    }

    #[test]
    fn what_is_drawn_is_read_once() {
        for text in [
            "WITH c AS (SELECT random() AS r) SELECT * FROM c",
            "WITH c AS (SELECT random() AS r), d AS (SELECT * FROM c) SELECT * FROM d",
            "WITH c AS (SELECT 1 AS r) SELECT random() FROM c AS a, c AS b",
            "WITH c AS (SELECT random() AS r), d AS (SELECT 1 FROM c) SELECT 2",
            "WITH c AS (SELECT * FROM connected_components((SELECT * FROM e WHERE random() < 0.5))) SELECT * FROM c AS a, c AS b",
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
