//! Casts inside of aggregates and window functions, and in GROUP BY.
//!
//! DataFusion leaves them out of a column's name, so that `sum(a)` and `sum(a::double)`, or `GROUP BY a, a::double`, were one
//! column. `coalesce` of one value is that value, and is part of the name.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/4478>
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Shows: `SELECT sum(a), sum(a::double) FROM t` gives `3 | 3.0`

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArguments, GroupByExpr, OrderBy, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr,
    VisitorMut,
};

use crate::names::columns::key;
use crate::names::ordinals;
use crate::syntax::tree::ast;
use crate::syntax::tree::walk::{walk, walk_outside_subqueries};

/// Makes calls of a query differ that differ by casts alone, in all its clauses alike.
pub(crate) fn tell_apart(query: &mut Query) {
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
    let mut calls = Calls::default();
    calls.add_groups(select);
    let groups: &mut [Expr] = match &mut select.group_by {
        GroupByExpr::Expressions(groups, _) => groups,
        GroupByExpr::All(_) => &mut [],
    };
    let items = select.projection.iter_mut().filter_map(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    });
    let mut exprs: Vec<&mut Expr> = items
        .chain(groups)
        .chain(&mut select.having)
        .chain(&mut select.qualify)
        .chain(orders.iter_mut().map(|order| &mut order.expr))
        .collect();
    if exprs.iter().all(|expr| ast::find(expr, is_cast).is_none()) {
        return;
    }
    for expr in &mut exprs {
        let _ = walk_outside_subqueries(*expr, &mut calls);
    }
    calls.tell_from_aliases();
    calls.texts.retain(|_, texts| texts.len() > 1);
    if calls.texts.is_empty() {
        return;
    }
    calls.complete = true;
    for expr in exprs {
        let _ = walk_outside_subqueries(expr, &mut calls);
    }
}

fn is_cast(expr: &Expr) -> bool {
    matches!(expr, Expr::Cast { .. } | Expr::AtTimeZone { .. })
}

/// The keys of a part of GROUP BY: several of ROLLUP, CUBE and GROUPING SETS.
fn keys(group: &Expr) -> Vec<&Expr> {
    match group {
        Expr::Rollup(sets) | Expr::Cube(sets) | Expr::GroupingSets(sets) => sets.iter().flatten().collect(),
        key => vec![key],
    }
}

/// The calls and keys of a query: of all those that have one text without casts, each gets a name of its own.
#[derive(Default)]
struct Calls {
    /// The columns and casts by which rows are grouped.
    groups: HashSet<String>,
    /// The aliases of a query that groups, with what they stand for.
    aliases: Vec<(String, String)>,
    /// The texts of what has the same text without casts. The first is the one without them.
    texts: HashMap<String, Vec<Option<String>>>,
    /// Whether all texts are known, so that names can be given.
    complete: bool,
}

impl Calls {
    fn add_groups(&mut self, select: &Select) {
        let item = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr.to_string()),
            _ => None,
        };
        match &select.group_by {
            GroupByExpr::All(_) => self.groups.extend(select.projection.iter().filter_map(item)),
            GroupByExpr::Expressions(groups, _) => {
                self.groups.extend(groups.iter().flat_map(keys).filter_map(|group| match ordinals::ordinal(group) {
                    Some(at) => select.projection.get(at).and_then(item),
                    None => Some(group.to_string()),
                }))
            }
        }
        if !self.groups.is_empty() {
            self.aliases.extend(select.projection.iter().filter_map(|item| match item {
                SelectItem::ExprWithAlias { alias, expr } => Some((alias.value.to_lowercase(), expr.to_string())),
                _ => None,
            }));
        }
    }

    /// Tells a key whose column has the name of an alias of something else from that column: ORDER BY of the alias would be
    /// one of the key.
    fn tell_from_aliases(&mut self) {
        for (key, texts) in &mut self.texts {
            let [Some(text)] = texts.as_slice() else { continue };
            let name = key.trim_matches('"');
            if self.aliases.iter().any(|(alias, expr)| alias == name && expr != text) {
                texts.insert(0, None);
            }
        }
    }

    /// The number among those with the same text, once all are known.
    fn number(&mut self, expr: &Expr) -> Option<usize> {
        let text = ast::find(expr, is_cast).map(|_| expr.to_string());
        if !self.complete {
            let texts = self.texts.entry(column(expr)).or_default();
            if !texts.contains(&text) {
                // What has no cast keeps its name.
                texts.insert(if text.is_none() { 0 } else { texts.len() }, text);
            }
            return None;
        }
        self.texts.get(&column(expr))?.iter().position(|other| *other == text)
    }
}

/// The name of the column that DataFusion makes of an expression. It counts rows by `count(1)`.
fn column(expr: &Expr) -> String {
    key(expr).replace("count(*)", "count(1)")
}

impl VisitorMut for Calls {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if matches!(expr, Expr::Function(_))
            && let Some(number) = self.number(expr)
            && let Expr::Function(call) = expr
            && let FunctionArguments::List(list) = &mut call.args
        {
            let _ = walk(&mut list.args, &mut Named(number));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if matches!(expr, Expr::Cast { .. } | Expr::Identifier(_) | Expr::CompoundIdentifier(_))
            && self.groups.contains(&expr.to_string())
            && let Some(number) = self.number(expr)
        {
            let _ = Named(number).post_visit_expr(expr);
        }
        ControlFlow::Continue(())
    }
}

/// Makes the casts of a call take part in its name.
struct Named(usize);

impl VisitorMut for Named {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if is_cast(expr) {
            *expr = (0..self.0).fold(expr.clone(), |expr, _| ast::call("coalesce", vec![expr]));
        }
        ControlFlow::Continue(())
    }
}
