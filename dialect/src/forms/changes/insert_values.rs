//! VALUES within the query of an INSERT, or of a CREATE TABLE with types: planned by what stands in them.
//!
//! DataFusion 55 casts every VALUES of such a statement to the types of the table, column by column, wherever it stands:
//! `INSERT INTO t SELECT x * 2 FROM (VALUES (1.5)) AS v(x)` doubled 2, and a VALUES of another number of columns was
//! refused. Only the rows of `INSERT INTO t VALUES ...` itself are those of the table.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/13124>
//! Given: `CREATE TABLE t(a INT)`
//! Given: `INSERT INTO t SELECT x * 2 FROM (VALUES (1.5)) AS v(x)`
//! Shows: `SELECT a FROM t` gives `3`

use std::ops::ControlFlow;

use bonnet_sql::RunningStatement;
use datafusion::common::{DFSchema, Result, internal_err};
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Query, SetExpr, Statement, TableFactor, VisitorMut};

use crate::forms::changes::changed_values::changing;
use crate::syntax::tree::ast;
use crate::syntax::tree::walk::walk;

/// Puts each VALUES that is not itself what the statement inserts into a FROM, where [`ValuesPlanner`] finds it.
pub(crate) fn set_apart(statement: &mut SqlStatement) {
    let source = match changing(statement) {
        Some(Statement::Insert(insert)) => insert.source.as_deref_mut(),
        Some(Statement::CreateTable(table)) if !table.columns.is_empty() => table.query.as_deref_mut(),
        _ => None,
    };
    if let Some(source) = source {
        let _ = walk(source, &mut Apart { inserted: true, ..Apart::default() });
    }
}

#[derive(Default)]
struct Apart {
    /// Whether the rows of the next query are the statement's own.
    inserted: bool,
    /// Of each query around, whether its VALUES stay.
    stays: Vec<bool>,
}

impl VisitorMut for Apart {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        // Rows that are sorted or cut first are compared by the types that they have.
        let inserted = std::mem::take(&mut self.inserted) && has_body_alone(query);
        self.inserted = inserted && matches!(query.body.as_ref(), SetExpr::Query(_));
        self.stays.push(inserted && matches!(query.body.as_ref(), SetExpr::Values(_)));
        ControlFlow::Continue(())
    }

    // What takes their place is not looked at again.
    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if self.stays.pop() == Some(false) {
            move_values(&mut query.body);
        }
        ControlFlow::Continue(())
    }
}

/// `SELECT * FROM (VALUES ...)` in the place of each VALUES of a query.
fn move_values(body: &mut SetExpr) {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            move_values(left);
            move_values(right);
        }
        body => ast::set_values_apart(body),
    }
}

/// Plans VALUES in FROM without the types of the table that a statement writes to.
#[derive(Debug, Clone, Copy, Default)]
pub struct ValuesPlanner;

impl RelationPlanner for ValuesPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        // Of all planners it is the first that is asked for a relation: here planning ends with its statement.
        RunningStatement::check_current()?;
        match relation {
            TableFactor::Derived { subquery, alias, sample: None, .. } if is_values_alone(&subquery) => {
                let SetExpr::Values(values) = *subquery.body else { return internal_err!("VALUES expected") };
                let none = DFSchema::empty();
                let rows = values.rows.into_iter().map(|row| {
                    row.content.into_iter().map(|value| context.sql_to_expr(value, &none)).collect::<Result<Vec<_>>>()
                });
                let rows = rows.collect::<Result<Vec<_>>>()?;
                let plan = LogicalPlanBuilder::values(rows)?.build()?;
                Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
            }
            other => Ok(RelationPlanning::Original(Box::new(other))),
        }
    }
}

/// Whether a query has rows of VALUES, and nothing else.
fn is_values_alone(query: &Query) -> bool {
    matches!(query.body.as_ref(), SetExpr::Values(values) if !values.value_keyword) && has_body_alone(query)
}

/// Whether a query has neither a WITH nor what orders and cuts its rows.
fn has_body_alone(query: &Query) -> bool {
    query.with.is_none()
        && query.order_by.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty()
        && query.pipe_operators.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::statements::parse;
    use crate::syntax::statements::statement::Statement as Parsed;

    fn apart(text: &str) -> String {
        let Ok(Parsed::Sql(mut statement)) = parse::parse(text) else { panic!("{text} is not DataFusion's") };
        set_apart(&mut statement);
        statement.to_string()
    }

    #[test]
    fn rows_of_the_statement_itself_keep_the_types_of_the_table() {
        for text in ["INSERT INTO t VALUES (1.5)", "CREATE TABLE t (a INT) AS VALUES (1)"] {
            assert!(!apart(text).contains("SELECT"), "{}", apart(text));
        }
    }

    #[test]
    fn other_rows_are_set_apart() {
        let cases = [
            ("INSERT INTO t VALUES ((SELECT x FROM (VALUES (1.5)) AS v (x)))", 2),
            ("INSERT INTO t WITH c AS (VALUES (1.5)) SELECT 1 FROM c", 2),
            ("INSERT INTO t VALUES (1) UNION VALUES (2)", 2),
            ("INSERT INTO t VALUES (9), (10) ORDER BY 1 LIMIT 1", 1),
            ("INSERT INTO t SELECT 1 WHERE 0.7 IN (VALUES (0.7))", 2),
            ("CREATE TABLE t (a INT) AS SELECT 1 WHERE EXISTS (VALUES (2))", 2),
            ("EXPLAIN INSERT INTO t SELECT 1 WHERE EXISTS (VALUES (2))", 2),
            ("PREPARE p AS INSERT INTO t SELECT 1 WHERE EXISTS (VALUES (2))", 2),
        ];
        for (text, selects) in cases {
            assert!(apart(text).matches("SELECT").count() >= selects, "{}", apart(text));
            assert!(apart(text).contains("FROM (VALUES"), "{}", apart(text));
        }
    }

    #[test]
    fn a_statement_that_writes_nothing_stays() {
        let text = "SELECT 1 WHERE EXISTS (VALUES (2))";
        assert_eq!(apart(text), text);
    }
}
