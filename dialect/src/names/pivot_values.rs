//! A PIVOT without a list of values has to look at its rows first: the query that finds the values, and the
//! list that they become.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/12907> <https://github.com/apache/datafusion/pull/17946>
//! Given: `CREATE TABLE runs AS SELECT * FROM (VALUES ('a', 'gcn', 1), ('a', 'mlp', 2), ('b', 'gcn', 3)) AS v(graph, model, accuracy)`
//! Shows: `SELECT * FROM (PIVOT runs ON model USING max(accuracy) GROUP BY graph) ORDER BY graph` gives `a | 1 | 2 / b | 3 | NULL`

use std::ops::ControlFlow;

use arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::lit;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    Cte, Distinct, Expr, ExprWithAlias, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, PivotValueSource, Query,
    SelectItem, SetExpr, Spanned, Statement, TableFactor, VisitorMut,
};
use datafusion::sql::sqlparser::tokenizer::Span;
use datafusion::sql::unparser::Unparser;

use crate::names::ctes::Ctes;
use crate::syntax::tree::ast;
use crate::syntax::tree::visit::visit_statement;
use crate::{Error, Result};

/// The most columns that a PIVOT may make.
const MOST_VALUES: usize = 10_000;

/// Whether a factor is a PIVOT without a list of values: `PIVOT t ON c USING sum(x)`, `IN (ANY)`, `IN (SELECT ...)`.
pub(crate) fn is_open(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::Pivot { value_source, value_column, .. }
        if !matches!(value_source, PivotValueSource::List(_)) && !value_column.is_empty())
}

/// The query that finds the values of the first open PIVOT of a statement, and the PIVOT's place.
pub(crate) fn first_open(statement: &mut SqlStatement) -> Option<(Query, Span)> {
    let mut finder = Finder { ctes: Ctes::default(), queries: Vec::new() };
    visit_statement(statement, &mut finder).break_value()
}

/// Finds the first open PIVOT, those within others first.
struct Finder {
    ctes: Ctes,
    /// The CTEs of the queries around, with the addresses of their queries, to know them when they are visited.
    queries: Vec<Vec<(*const Query, Cte)>>,
}

impl VisitorMut for Finder {
    type Break = (Query, Span);

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<(Query, Span)> {
        self.ctes.enter(query.with.as_ref());
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        self.queries.push(ctes.map(|cte| (std::ptr::from_ref(cte.query.as_ref()), cte.clone())).collect());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<(Query, Span)> {
        self.ctes.leave();
        self.queries.pop();
        let around = self.queries.last().into_iter().flatten();
        if let Some((_, cte)) = around.into_iter().find(|(address, _)| std::ptr::eq(*address, query)) {
            self.ctes.show(cte.clone());
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<(Query, Span)> {
        match is_open(factor) {
            true => ControlFlow::Break((self.ctes.around(query(factor)), place(factor))),
            false => ControlFlow::Continue(()),
        }
    }
}

/// The query that finds the values of an open PIVOT.
fn query(factor: &TableFactor) -> Query {
    match factor {
        TableFactor::Pivot { value_source: PivotValueSource::Subquery(query), .. } => query.as_ref().clone(),
        TableFactor::Pivot { table, value_column, value_source: PivotValueSource::Any(order_by), .. } => {
            distinct_values(&value_column[0], table, order_by)
        }
        factor => ast::select_all(factor.clone()),
    }
}

/// The place of a PIVOT in the statement, by the column whose values it takes.
fn place(factor: &TableFactor) -> Span {
    match factor {
        TableFactor::Pivot { value_column, .. } => value_column.first().map_or_else(Span::empty, Spanned::span),
        factor => factor.span(),
    }
}

/// The values that the query of a PIVOT of this statement found: the distinct ones of the first column, without NULL, in
/// their order.
///
/// # Errors
/// If there are too many values, if no SQL can express one, or if the statement makes a view, whose columns must not
/// depend on rows.
fn list(statement: &SqlStatement, at: Span, batches: &[RecordBatch]) -> Result<PivotValueSource> {
    if let SqlStatement::Statement(statement) = statement
        && matches!(statement.as_ref(), Statement::CreateView(_))
    {
        return Err(Error::statement_at(
            at,
            "the columns of a view must not depend on rows: give the PIVOT its values, IN (value, ...)",
        ));
    }
    let mut values: Vec<ExprWithAlias> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for batch in batches {
        let Some(column) = batch.columns().first() else { continue };
        for row in 0..batch.num_rows() {
            let value = ScalarValue::try_from_array(column, row)?;
            if value.is_null() || !seen.insert(value.clone()) {
                continue;
            }
            if values.len() == MOST_VALUES {
                return Err(Error::statement_at(
                    at,
                    format!(
                        "PIVOT would make more than {MOST_VALUES} columns: give the values that matter, IN (value, ...)"
                    ),
                ));
            }
            values.push(ExprWithAlias { expr: literal(&value)?, alias: Some(ast::quoted(value.to_string())) });
        }
    }
    Ok(PivotValueSource::List(values))
}

/// Gives the first open PIVOT of a statement, which stands `at` a place, the values that its query found.
///
/// # Errors
/// As [`list`].
pub(crate) fn fill(statement: &mut SqlStatement, at: Span, rows: &[RecordBatch]) -> Result<()> {
    let mut filler = Filler(Some(list(statement, at, rows)?));
    let _ = visit_statement(statement, &mut filler);
    Ok(())
}

struct Filler(Option<PivotValueSource>);

impl VisitorMut for Filler {
    type Break = ();

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if is_open(factor)
            && let TableFactor::Pivot { value_source, .. } = factor
            && let Some(values) = self.0.take()
        {
            *value_source = values;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

fn literal(value: &ScalarValue) -> Result<Expr> {
    Ok(match value {
        ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
            ast::text(text)
        }
        ScalarValue::Dictionary(_, value) => literal(value)?,
        value => Unparser::default().expr_to_sql(&lit(value.clone()))?,
    })
}

/// `SELECT DISTINCT column FROM table WHERE column IS NOT NULL ORDER BY ...`
fn distinct_values(column: &Expr, table: &TableFactor, order_by: &[OrderByExpr]) -> Query {
    let mut query = ast::select(vec![SelectItem::UnnamedExpr(column.clone())], table.clone(), vec![]);
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.distinct = Some(Distinct::Distinct);
        select.selection = Some(Expr::IsNotNull(Box::new(Expr::Nested(Box::new(column.clone())))));
    }
    let first = OrderByExpr {
        expr: Expr::Value(datafusion::sql::sqlparser::ast::Value::Number("1".to_owned(), false).into()),
        options: OrderByOptions { asc: None, nulls_first: None },
        with_fill: None,
    };
    let order_by = if order_by.is_empty() { vec![first] } else { order_by.to_vec() };
    query.order_by = Some(OrderBy { kind: OrderByKind::Expressions(order_by), interpolate: None });
    query
}
