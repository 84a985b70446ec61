//! Queries that have no rows, since they join a table that is always empty: they need no plan.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_dialect::syntax::tree::ast;
use datafusion::sql::sqlparser::ast::{
    Expr, JoinOperator, Query, Select, SelectItem, SetExpr, TableFactor, TableWithJoins,
};

use super::{columns, information};

/// The columns of a query that has no rows; `None` for a query that may have some.
pub(super) fn rows(query: &Query) -> Option<RecordBatch> {
    if !is_empty(query) {
        return None;
    }
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(ast::normalized(alias)),
        _ => None,
    };
    let names = items(query)?.iter().map(name).collect::<Option<Vec<_>>>()?;
    let fields: Vec<Field> = names.into_iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    Some(RecordBatch::new_empty(Arc::new(Schema::new(fields))))
}

/// Whether a query cannot have rows.
pub(super) fn is_empty(query: &Query) -> bool {
    body_is_empty(&query.body)
}

fn body_is_empty(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => select_is_empty(select),
        SetExpr::Query(query) => is_empty(query),
        SetExpr::SetOperation { left, right, .. } => body_is_empty(left) && body_is_empty(right),
        _ => false,
    }
}

fn select_is_empty(select: &Select) -> bool {
    // An aggregate without GROUP BY has a row even of nothing.
    let grouped = matches!(&select.group_by, datafusion::sql::sqlparser::ast::GroupByExpr::Expressions(groups, _) if !groups.is_empty());
    let aggregates = select.projection.iter().any(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => calls_aggregate(expr),
        _ => false,
    });
    (grouped || !aggregates) && select.from.iter().any(joins_empty)
}

fn calls_aggregate(expr: &Expr) -> bool {
    let is_aggregate = |expr: &Expr| match expr {
        Expr::Function(call) => ast::function_name(&call.name).is_some_and(|name| {
            matches!(
                name.as_str(),
                "count" | "sum" | "avg" | "min" | "max" | "array_agg" | "string_agg" | "bool_and" | "bool_or"
            )
        }),
        _ => false,
    };
    ast::find(expr, is_aggregate).is_some()
}

fn joins_empty(from: &TableWithJoins) -> bool {
    let inner = |operator: &JoinOperator| {
        matches!(operator, JoinOperator::Join(_) | JoinOperator::Inner(_) | JoinOperator::CrossJoin(_))
    };
    let no_outer_before = from.joins.iter().all(|join| {
        !matches!(join.join_operator, JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_))
    });
    no_outer_before
        && (factor_is_empty(&from.relation)
            || from.joins.iter().any(|join| inner(&join.join_operator) && factor_is_empty(&join.relation)))
}

fn factor_is_empty(factor: &TableFactor) -> bool {
    match factor {
        TableFactor::Table { name, args: None, .. } => {
            information::key(name).is_some_and(|table| columns::is_always_empty(&table))
        }
        TableFactor::Derived { subquery, .. } => is_empty(subquery),
        TableFactor::NestedJoin { table_with_joins, .. } => joins_empty(table_with_joins),
        _ => false,
    }
}

/// The items of a query's select list, if it has one; of a UNION that of its first query.
pub(super) fn items(query: &Query) -> Option<&[SelectItem]> {
    let mut body = query.body.as_ref();
    loop {
        body = match body {
            SetExpr::Select(select) => return Some(&select.projection),
            SetExpr::Query(query) => query.body.as_ref(),
            SetExpr::SetOperation { left, .. } => left.as_ref(),
            _ => return None,
        };
    }
}
