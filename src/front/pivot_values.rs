//! A PIVOT without a list of values has to look at its rows first: which query finds the values, and where they go.

use std::ops::ControlFlow;

use arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::lit;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    Cte, Distinct, Expr, ExprWithAlias, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, PivotValueSource, Query,
    SelectItem, SetExpr, Statement, TableFactor, VisitorMut, With,
};
use datafusion::sql::unparser::Unparser;

use super::ast;
use super::rewrite::visit_statement;
use crate::{Error, Result};

/// The most columns that a PIVOT may make.
const MOST_VALUES: usize = 10_000;

/// The query that finds the values of the first PIVOT that has none (`PIVOT t ON c USING sum(x)`, `IN (ANY)`,
/// `IN (SELECT ...)`), with the CTEs that it may name; `None` once all have their values.
///
/// Nothing is changed: the visitor that may change trees is the one that shows them in the order needed.
pub fn pivot_values(statement: &mut SqlStatement) -> Option<SqlStatement> {
    if visit_statement(statement, &mut AnyPivot).is_continue() {
        return None;
    }
    let mut finder = Finder { scopes: Vec::new(), found: None };
    let _ = visit_statement(statement, &mut finder);
    finder.found.map(|query| SqlStatement::Statement(Box::new(Statement::Query(Box::new(query)))))
}

/// Gives the first PIVOT without values those that its query found: the distinct values of the first column, without
/// NULL, in their order.
///
/// # Errors
/// If there are too many values, if no SQL can express one, or if the statement makes a view, whose columns must not
/// depend on rows.
pub fn fill_pivot(statement: &mut SqlStatement, batches: &[RecordBatch]) -> Result<()> {
    if let SqlStatement::Statement(statement) = statement
        && matches!(statement.as_ref(), Statement::CreateView(_))
    {
        return Err(Error::statement(
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
                return Err(Error::statement(format!(
                    "PIVOT would make more than {MOST_VALUES} columns: give the values that matter, IN (value, ...)"
                )));
            }
            values.push(ExprWithAlias { expr: literal(&value)?, alias: Some(ast::quoted(value.to_string())) });
        }
    }
    let mut filler = Filler { values: Some(values) };
    let _ = visit_statement(statement, &mut filler);
    Ok(())
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

fn is_open(source: &PivotValueSource) -> bool {
    !matches!(source, PivotValueSource::List(_))
}

struct Filler {
    values: Option<Vec<ExprWithAlias>>,
}

impl VisitorMut for Filler {
    type Break = ();

    // After the children: a PIVOT inside the source of another comes first, here as in `Finder`.
    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Pivot { value_source, .. } if is_open(value_source) => {
                *value_source = PivotValueSource::List(self.values.take().unwrap_or_default());
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// A query around, and how many of its CTEs are visible at the place that is visited.
struct Scope {
    with: Option<With>,
    /// Where the CTEs' queries lie, to know them when they are visited.
    queries: Vec<*const Query>,
    visible: usize,
}

struct Finder {
    scopes: Vec<Scope>,
    found: Option<Query>,
}

/// Stops at a PIVOT: nearly every statement has none.
struct AnyPivot;

impl VisitorMut for AnyPivot {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Pivot { .. } => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl VisitorMut for Finder {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let queries = query.with.iter().flat_map(|with| &with.cte_tables);
        let queries = queries.map(|cte| std::ptr::from_ref(cte.query.as_ref())).collect();
        self.scopes.push(Scope { with: query.with.clone(), queries, visible: 0 });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.scopes.pop();
        if let Some(scope) = self.scopes.last_mut()
            && let Some(at) = scope.queries.iter().position(|other| std::ptr::eq(*other, query))
        {
            scope.visible = at + 1;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Pivot { table, value_column, value_source, .. } = factor else {
            return ControlFlow::Continue(());
        };
        let mut query = match value_source {
            PivotValueSource::List(_) => return ControlFlow::Continue(()),
            PivotValueSource::Subquery(query) => query.as_ref().clone(),
            PivotValueSource::Any(order_by) => {
                let Some(column) = value_column.first() else { return ControlFlow::Continue(()) };
                distinct_values(column, table, order_by)
            }
        };
        // The CTEs around, the outermost first: an inner one of the same name hides it.
        let mut ctes: Vec<Cte> = Vec::new();
        let mut recursive = false;
        for scope in &self.scopes {
            for cte in scope.with.iter().flat_map(|with| &with.cte_tables).take(scope.visible) {
                ctes.retain(|other| other.alias.name != cte.alias.name);
                ctes.push(cte.clone());
            }
            recursive |= scope.with.as_ref().is_some_and(|with| with.recursive);
        }
        if !ctes.is_empty() {
            // The query's own CTEs stay where they are, around a query that stands for it.
            query = match query.with {
                None => query,
                Some(_) => ast::select_all(ast::derived(query, None)),
            };
            query.with = Some(With { with_token: ast::no_token(), recursive, cte_tables: ctes });
        }
        self.found = Some(query);
        ControlFlow::Break(())
    }
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
