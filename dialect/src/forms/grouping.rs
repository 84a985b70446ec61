//! The keys of ROLLUP, CUBE and GROUPING SETS, as DataFusion 55 plans them.
//!
//! It takes a number for a constant there, not for a column of the answer, and refuses a key that ROLLUP or CUBE has twice,
//! which `x + INTERVAL '12 months'` and `x + INTERVAL '1 year'` are. In GROUPING SETS a key may be there twice.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT 1 AS a`
//! Shows: `SELECT a + 1, count(*) FROM t GROUP BY ROLLUP (a + 1, a + 1) ORDER BY 1 NULLS LAST` gives `2 | 1 / 2 | 1 / NULL | 1`

use std::collections::HashSet;

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Select, SelectItem,
};

use crate::names::ordinals;
use crate::syntax::tree::ast;

/// CUBE of more keys than this, of which DataFusion makes 2^n sets, stays as it is.
const MAX_CUBE: usize = 10;

/// Puts columns of the answer for their numbers, and sets for ROLLUP and CUBE where a key may be there twice.
pub(crate) fn spell_out(select: &mut Select) {
    let GroupByExpr::Expressions(groups, _) = &mut select.group_by else { return };
    for group in groups {
        if let Expr::GroupingSets(sets) = group {
            *sets = std::mem::take(sets).into_iter().flat_map(nested_sets).collect();
        }
        let (Expr::Rollup(keys) | Expr::Cube(keys) | Expr::GroupingSets(keys)) = &mut *group else { continue };
        for key in keys.iter_mut().flatten() {
            if let Some(column) = ordinals::ordinal(key).and_then(|at| column(&select.projection, at)) {
                *key = column;
            }
        }
        let sets = match group {
            Expr::Rollup(keys) if may_repeat(keys) => rollup(keys),
            Expr::Cube(keys) if may_repeat(keys) && keys.len() <= MAX_CUBE => cube(keys),
            _ => continue,
        };
        *group = Expr::GroupingSets(sets);
    }
}

/// The sets that stand for one of GROUPING SETS, where it is ROLLUP or CUBE: these have the form of a call there.
fn nested_sets(set: Vec<Expr>) -> Vec<Vec<Expr>> {
    let [Expr::Function(call)] = set.as_slice() else { return vec![set] };
    let FunctionArguments::List(list) = &call.args else { return vec![set] };
    let key = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Tuple(keys))) => Some(keys.clone()),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(key)) => Some(vec![key.clone()]),
        _ => None,
    };
    let Some(keys) = list.args.iter().map(key).collect::<Option<Vec<_>>>() else { return vec![set] };
    match ast::function_name(&call.name).as_deref() {
        Some("rollup") => rollup(&keys),
        Some("cube") if keys.len() <= MAX_CUBE => cube(&keys),
        _ => vec![set],
    }
}

fn rollup(keys: &[Vec<Expr>]) -> Vec<Vec<Expr>> {
    (0..=keys.len()).rev().map(|n| keys[..n].concat()).collect()
}

fn cube(keys: &[Vec<Expr>]) -> Vec<Vec<Expr>> {
    (0..1 << keys.len()).map(|left_out| without(keys, left_out)).collect()
}

/// The keys that are not among those left out, a bit for each.
fn without(keys: &[Vec<Expr>], left_out: usize) -> Vec<Expr> {
    let left = keys.iter().enumerate().filter(|(i, _)| left_out >> i & 1 == 0);
    left.flat_map(|(_, key)| key.clone()).collect()
}

/// The expression of a column of the answer; `None` where a star comes before it.
fn column(projection: &[SelectItem], at: usize) -> Option<Expr> {
    let expr = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr.clone()),
        _ => None,
    };
    projection.get(..=at)?.iter().map(expr).collect::<Option<Vec<Expr>>>()?.pop()
}

/// Whether two keys may be one: all are told apart only if they are columns of different names.
fn may_repeat(keys: &[Vec<Expr>]) -> bool {
    let mut names = HashSet::new();
    let mut is_new = |key: &Expr| match key {
        Expr::Identifier(name) => names.insert(name.value.to_lowercase()),
        Expr::CompoundIdentifier(parts) => parts.last().is_some_and(|name| names.insert(name.value.to_lowercase())),
        _ => false,
    };
    !keys.iter().flatten().all(&mut is_new)
}
