//! `ORDER BY 1` in a query that groups: DataFusion would look for the expression among the groups. And ORDER BY ALL, by the
//! positions of all outputs: DataFusion orders by the names of columns, of one SELECT.
//!
//! Upstream: none known
//! Given: `CREATE TABLE o AS SELECT * FROM (VALUES ('b'), ('A'), ('A')) AS v(s)`
//! Shows: `SELECT upper(s), count(*) FROM o GROUP BY s ORDER BY 1` gives `A | 2 / B | 1`
//! Shows: `SELECT upper(s), count(*) FROM o GROUP BY s ORDER BY ALL` gives `A | 2 / B | 1`
//! Shows: `SELECT 2 AS n UNION SELECT 1 UNION SELECT 3 ORDER BY ALL` gives `1 / 2 / 3`
//! Shows: `SELECT * FROM o JOIN o AS p ON o.s < p.s ORDER BY ALL LIMIT 1` gives `A | b`

use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, OrderBy, OrderByExpr, OrderByKind, Query, SelectItem, SetExpr, Value,
};

use crate::syntax::tree::ast;

/// Orders by the name of the column that a number stands for, which gets one where it has none.
pub(crate) fn name(query: &mut Query) {
    let Query { body, order_by: Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }), .. } = query else {
        return;
    };
    let SetExpr::Select(select) = body.as_mut() else { return };
    let groups = !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    if !groups || !select.projection.iter().all(is_one) {
        return;
    }
    for order in orders {
        let Some(at) = ordinal(&order.expr) else { continue };
        let Some(item) = select.projection.get_mut(at) else { continue };
        if let SelectItem::UnnamedExpr(expr) = item
            && !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        {
            *item = SelectItem::ExprWithAlias { alias: ast::quoted(expr.to_string()), expr: expr.clone() };
        }
        if let SelectItem::ExprWithAlias { alias, .. } = item {
            order.expr = Expr::Identifier(alias.clone());
        }
    }
}

fn is_one(item: &SelectItem) -> bool {
    matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. })
}

/// Whether a query has an ORDER BY ALL.
pub(crate) fn orders_by_all(query: &Query) -> bool {
    matches!(&query.order_by, Some(OrderBy { kind: OrderByKind::All(_), .. }))
}

/// The number of a query's outputs, where its text tells.
pub(crate) fn outputs(query: &Query) -> Option<usize> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    select.projection.iter().all(is_one).then_some(select.projection.len())
}

/// Puts the positions of so many outputs in the place of ORDER BY ALL.
pub(crate) fn order_by_all(query: &mut Query, outputs: usize) {
    if let Some(OrderBy { kind, .. }) = &mut query.order_by
        && let OrderByKind::All(options) = *kind
    {
        let order = |at: usize| OrderByExpr { expr: ast::number(&at.to_string()), options, with_fill: None };
        *kind = OrderByKind::Expressions((1..=outputs).map(order).collect());
    }
}

/// The position from 0 that a whole number from 1 stands for.
pub(crate) fn ordinal(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.parse::<usize>().ok()?.checked_sub(1),
            _ => None,
        },
        _ => None,
    }
}
