//! Casts inside of aggregates and window functions.
//!
//! DataFusion leaves them out of a column's name, so that `sum(a)` and `sum(a::double)` were one column. `coalesce` of one
//! value is that value, and is part of the name.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArguments, OrderBy, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr, VisitorMut,
};

use super::ast;
use super::columns::key;
use super::walk::walk;

/// Makes calls of a query differ that differ by casts alone, in all its clauses alike.
pub(super) fn tell_apart(query: &mut Query) {
    let orders = match &mut query.order_by {
        Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }) => orders.as_mut_slice(),
        _ => &mut [],
    };
    in_body(&mut query.body, orders);
}

fn in_body(body: &mut SetExpr, orders: &mut [OrderByExpr]) {
    match body {
        SetExpr::Select(select) => in_select(select, orders),
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left, &mut []);
            in_body(right, &mut []);
        }
        // A query in parentheses is visited by itself.
        _ => {}
    }
}

fn in_select(select: &mut Select, orders: &mut [OrderByExpr]) {
    let items = select.projection.iter_mut().filter_map(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    });
    let exprs: Vec<&mut Expr> = items
        .chain(&mut select.having)
        .chain(&mut select.qualify)
        .chain(orders.iter_mut().map(|order| &mut order.expr))
        .collect();
    let is_cast = |expr: &Expr| matches!(expr, Expr::Cast { .. });
    if exprs.iter().all(|expr| ast::find(expr, is_cast).is_none()) {
        return;
    }
    let mut calls = Calls::default();
    for expr in exprs {
        let _ = walk(expr, &mut calls);
    }
}

#[derive(Default)]
struct Calls {
    /// How many subqueries are around: what stands in them is theirs.
    queries: usize,
    /// The texts of calls that have the same text without casts.
    texts: HashMap<String, Vec<String>>,
}

impl VisitorMut for Calls {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.queries > 0 || !matches!(expr, Expr::Function(_)) {
            return ControlFlow::Continue(());
        }
        let text = expr.to_string();
        let texts = self.texts.entry(key(expr)).or_default();
        let number = texts.iter().position(|other| *other == text).unwrap_or_else(|| {
            texts.push(text);
            texts.len() - 1
        });
        if let Expr::Function(call) = expr
            && let FunctionArguments::List(list) = &mut call.args
            && number > 0
        {
            let _ = walk(&mut list.args, &mut Named(number));
        }
        ControlFlow::Continue(())
    }
}

/// Makes the casts of a call take part in its name.
struct Named(usize);

impl VisitorMut for Named {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if matches!(expr, Expr::Cast { .. }) {
            *expr = (0..self.0).fold(expr.clone(), |expr, _| ast::call("coalesce", vec![expr]));
        }
        ControlFlow::Continue(())
    }
}
