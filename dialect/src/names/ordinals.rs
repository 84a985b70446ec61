//! `ORDER BY 1` in a query that groups: DataFusion would look for the expression among the groups.
//!
//! Upstream: none known
//! Given: `CREATE TABLE o AS SELECT * FROM (VALUES ('b'), ('A'), ('A')) AS v(s)`
//! Shows: `SELECT upper(s), count(*) FROM o GROUP BY s ORDER BY 1` gives `A | 2 / B | 1`

use datafusion::sql::sqlparser::ast::{Expr, GroupByExpr, OrderBy, OrderByKind, Query, SelectItem, SetExpr, Value};

use crate::syntax::tree::ast;

/// Orders by the name of the column that a number stands for, which gets one where it has none.
pub(crate) fn name(query: &mut Query) {
    let Query { body, order_by: Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }), .. } = query else {
        return;
    };
    let SetExpr::Select(select) = body.as_mut() else { return };
    let groups = !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    let is_one = |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
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
