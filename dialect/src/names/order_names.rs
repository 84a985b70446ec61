//! Names within expressions of ORDER BY: `SELECT 10 - x AS x FROM t ORDER BY abs(x)`.
//!
//! In DuckDB and PostgreSQL the name of an output column counts where it stands alone; within an expression a name is that of a
//! column of FROM, if there is one. DataFusion takes the output column, or finds both and refuses. Such expressions are
//! computed beside the outputs, and a query around orders by them.
//!
//! Upstream: none known
//! Shows: `SELECT 10 - x AS x FROM (VALUES (1), (2), (3)) AS t(x) ORDER BY abs(x)` gives `9 / 8 / 7`

use std::collections::HashSet;

use datafusion::common::DFSchema;
use datafusion::sql::sqlparser::ast::{
    ExcludeSelectItem, Expr, GroupByExpr, Ident, ObjectName, OrderBy, OrderByExpr, OrderByKind, Query, Select,
    SelectItem, SetExpr, WildcardAdditionalOptions,
};

use crate::names::ordinals::ordinal;
use crate::syntax::tree::ast;
use crate::syntax::tree::walk::find;

/// Whether an expression of the query's ORDER BY names an output column that another column may be meant by, or has a
/// subquery, which would not see the columns of FROM.
pub(crate) fn is_ambiguous(query: &Query) -> bool {
    let Some((select, orders)) = parts(query) else { return false };
    if orders.iter().any(has_subquery) {
        return true;
    }
    let outputs = renamed(select);
    !outputs.is_empty() && orders.iter().any(|order| names_within(&order.expr, &|name| outputs.contains(name)))
}

/// Computes the ambiguous expressions beside the outputs, and orders by them in a query around. Whether there was one that
/// names a column of FROM or has a subquery: the others are expressions of outputs, and stay.
pub(crate) fn order_by_columns(query: &mut Query, columns: &DFSchema) -> bool {
    let Some((select, orders)) = parts(query) else { return false };
    let outputs = renamed(select);
    let is_column = |name: &str| outputs.contains(name) && columns.fields().iter().any(|field| field.name() == name);
    if !orders.iter().any(|order| has_subquery(order) || names_within(&order.expr, &is_column)) {
        return false;
    }
    let all: HashSet<String> = select.projection.iter().filter_map(output).collect();
    let mut free = (0..).map(|i| format!("order_{i}")).filter(|name| !all.contains(name));
    let mut hidden = Vec::new();
    let mut key = |order: Expr| match order {
        Expr::Identifier(name) if all.contains(&ast::normalized(&name)) => Some(Expr::Identifier(name)),
        order => {
            let expr = match ordinal(&order) {
                Some(at) => item(select, at)?.clone(),
                None => order,
            };
            let name = ast::quoted(free.next()?);
            hidden.push((expr, name.clone()));
            Some(Expr::Identifier(name))
        }
    };
    let Some(orders) = orders.iter().map(|order| key(order.expr.clone())).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let excluded = hidden.iter().map(|(_, name)| ObjectName::from(vec![name.clone()])).collect();
    let SetExpr::Select(select) = query.body.as_mut() else { return false };
    select.projection.extend(hidden.into_iter().map(|(expr, alias)| SelectItem::ExprWithAlias { expr, alias }));
    let all = WildcardAdditionalOptions {
        opt_exclude: Some(ExcludeSelectItem::Multiple(excluded)),
        ..WildcardAdditionalOptions::default()
    };
    let outer = ast::select(vec![SelectItem::Wildcard(all)], ast::table(ObjectName(vec![])), vec![]).body;
    let inner = std::mem::replace(&mut query.body, outer);
    if let SetExpr::Select(outer) = query.body.as_mut() {
        outer.from[0].relation = ast::derived(ast::query(*inner), Some(ast::alias("ordered")));
    }
    if let Some(OrderBy { kind: OrderByKind::Expressions(keys), .. }) = &mut query.order_by {
        for (key, order) in keys.iter_mut().zip(orders) {
            key.expr = order;
        }
    }
    true
}

/// The SELECT of a query and its keys, where an expression may be computed beside the outputs.
fn parts(query: &Query) -> Option<(&Select, &[OrderByExpr])> {
    let Query { body, order_by: Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }), .. } = query else {
        return None;
    };
    let SetExpr::Select(select) = body.as_ref() else { return None };
    // Of DISTINCT rows only outputs are known; GROUP BY ALL would group by what is added.
    let closed = select.distinct.is_some() || matches!(select.group_by, GroupByExpr::All(_)) || select.from.is_empty();
    (!closed).then_some((select.as_ref(), orders.as_slice()))
}

/// Whether a key names such a column within an expression: by its name or number alone it is an output.
fn names_within(order: &Expr, holds: &dyn Fn(&str) -> bool) -> bool {
    if matches!(order, Expr::Identifier(_)) || ordinal(order).is_some() {
        return false;
    }
    find(order, &|expr| match expr {
        Expr::Identifier(name) => holds(&ast::normalized(name)),
        Expr::CompoundIdentifier(path) => path.last().is_some_and(|name| holds(&ast::normalized(name))),
        _ => false,
    })
    .is_some()
}

fn has_subquery(order: &OrderByExpr) -> bool {
    let is_one = |expr: &Expr| matches!(expr, Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. });
    find(&order.expr, &is_one).is_some()
}

/// The names that outputs were given which are not columns of this name.
fn renamed(select: &Select) -> HashSet<String> {
    let is_same = |expr: &Expr, alias: &Ident| match expr {
        Expr::Identifier(name) => ast::normalized(name) == ast::normalized(alias),
        _ => false,
    };
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { expr, alias } if !is_same(expr, alias) => Some(ast::normalized(alias)),
        _ => None,
    };
    select.projection.iter().filter_map(name).collect()
}

/// The name of an output, as far as it is written.
fn output(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(ast::normalized(alias)),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(ast::normalized(name)),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(path)) => path.last().map(ast::normalized),
        _ => None,
    }
}

/// The expression of an output by its position, if all before it are one column each.
fn item(select: &Select, at: usize) -> Option<&Expr> {
    let items: Option<Vec<&Expr>> = select.projection[..=at.min(select.projection.len().checked_sub(1)?)]
        .iter()
        .map(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
            _ => None,
        })
        .collect();
    items?.get(at).copied()
}
