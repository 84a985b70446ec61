//! IN lists of one value, intersected or united with three-valued logic.
//!
//! DataFusion 55 intersects `x IN (1, 2) AND x IN (2, 3)` to one list, and takes an empty intersection for `false`,
//! although a NULL x makes it unknown: `NOT (x IN (1, 2) AND x IN (3, 4))` kept such rows, and so did `x NOT IN (1, 2) OR x
//! NOT IN (3, 4)`. And it takes items that are columns for different values because their names differ.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/24258>
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (NULL)) AS v(x)`
//! Shows: `SELECT count(*) FROM t WHERE NOT (x IN (1, 4) AND x IN (2, 5))` gives `1`
//! Shows: `SELECT count(*) FROM t WHERE x NOT IN (1, 4) OR x NOT IN (2, 5)` gives `1`

use std::borrow::Cow;
use std::collections::HashSet;

use bonnet_sql::InputColumns;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, binary_expr, lit};

use crate::plans::node_rules::ExpressionRule;

/// Merges adjacent lists of constants into one, and replaces other items by comparisons.
pub(crate) const IN_LISTS: ExpressionRule =
    ExpressionRule { name: "in_lists", applies_to: is_list, rewrite: rewrite_lists };

/// Whether an expression is a list, or a disjunction, which DataFusion may make a list.
fn is_list(expr: &Expr) -> bool {
    matches!(expr, Expr::InList(_) | Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }))
}

fn rewrite_lists(expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| match expr {
        Expr::InList(list) if needs_comparisons(&list) => Ok(Transformed::yes(as_comparisons(list))),
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            Ok(merge_operands(*left, op, *right))
        }
        other => Ok(Transformed::no(other)),
    })
}

/// Whether a list becomes comparisons: one with items that are no constants, or one of a volatile expression with a single
/// item, since DataFusion merges the lists of volatile expressions too. With several items the comparisons would evaluate a
/// volatile expression once for each.
fn needs_comparisons(list: &InList) -> bool {
    match list.expr.is_volatile() {
        true => list.list.len() == 1,
        false => !list.list.iter().all(is_constant),
    }
}

/// Whether an item is a literal other than NULL.
fn is_constant(item: &Expr) -> bool {
    matches!(item, Expr::Literal(value, _) if !value.is_null())
}

/// The value of a literal.
fn value(item: Expr) -> Option<ScalarValue> {
    match item {
        Expr::Literal(value, _) => Some(value),
        _ => None,
    }
}

/// An item, and if it is the cast of a literal, as coercion leaves it, the literal that it evaluates to.
fn fold_cast(item: Expr) -> Expr {
    let value = match &item {
        Expr::Cast(cast) => match cast.expr.as_ref() {
            Expr::Literal(value, _) => value.cast_to(cast.field.data_type()).ok(),
            _ => None,
        },
        _ => None,
    };
    value.map_or(item, lit)
}

/// A list of the constants, and a comparison with each of the other items.
fn as_comparisons(InList { expr, list, negated }: InList) -> Expr {
    let (constants, others): (Vec<Expr>, Vec<Expr>) = list.into_iter().map(fold_cast).partition(is_constant);
    let (equal, join) = if negated { (Operator::NotEq, Operator::And) } else { (Operator::Eq, Operator::Or) };
    let list = (!constants.is_empty()).then(|| Expr::InList(InList::new(expr.clone(), constants, negated)));
    let others = others.into_iter().map(|item| binary_expr(expr.as_ref().clone(), equal, item));
    list.into_iter().chain(others).reduce(|left, right| binary_expr(left, join, right)).unwrap_or_else(|| lit(negated))
}

/// The conjunction or disjunction of two expressions. If the second is a list, and the first contains one that it can be
/// merged with, the merged list takes the place of both.
fn merge_operands(mut left: Expr, op: Operator, right: Expr) -> Transformed<Expr> {
    match as_list(&right, op).and_then(|second| mergeable(&mut left, op, &second)) {
        Some(item) => {
            *item = match (into_list(std::mem::take(item)), into_list(right)) {
                (Some(first), Some(second)) => merge_lists(first, op, second),
                _ => unreachable!("both are lists"),
            };
            Transformed::yes(left)
        }
        None => Transformed::no(binary_expr(left, op, right)),
    }
}

/// The operand in a chain of conjunctions or disjunctions that can be merged with a list.
fn mergeable<'a>(mut chain: &'a mut Expr, op: Operator, second: &InList) -> Option<&'a mut Expr> {
    let fits = |item: &Expr| {
        as_list(item, op).is_some_and(|first| {
            let items_decide = match op {
                Operator::And => !(first.negated && second.negated),
                _ => first.negated == second.negated,
            };
            let same = first.expr == second.expr && !first.expr.is_volatile();
            items_decide && same && first.list.iter().chain(&second.list).all(is_constant)
        })
    };
    let is_link = |item: &Expr| matches!(item, Expr::BinaryExpr(link) if link.op == op);
    loop {
        match chain {
            item if !is_link(item) => return fits(item).then_some(item),
            Expr::BinaryExpr(link) => {
                if fits(&link.right) {
                    return Some(&mut link.right);
                }
                chain = &mut link.left;
            }
            _ => return None,
        }
    }
}

/// An expression as a list; `x = 1` counts as one in a disjunction.
fn as_list(expr: &Expr, op: Operator) -> Option<Cow<'_, InList>> {
    match expr {
        Expr::InList(list) => Some(Cow::Borrowed(list)),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, .. })
            if op == Operator::Or && matches!(left.as_ref(), Expr::Column(_)) =>
        {
            into_list(expr.clone()).map(Cow::Owned)
        }
        _ => None,
    }
}

/// The list that an expression is, or that an equality is equivalent to.
fn into_list(expr: Expr) -> Option<InList> {
    match expr {
        Expr::InList(list) => Some(list),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            Some(InList::new(left, vec![fold_cast(*right)], false))
        }
        _ => None,
    }
}

/// One list, or a constant condition, that is equivalent to two lists of one value.
fn merge_lists(mut first: InList, op: Operator, mut second: InList) -> Expr {
    if (op, first.negated) == (Operator::Or, false) {
        second.list.retain(|item| !first.list.contains(item));
        first.list.append(&mut second.list);
        return Expr::InList(first);
    }
    let (mut one, other) = if op == Operator::And && first.negated { (second, first) } else { (first, second) };
    let in_both = one.negated == other.negated;
    let items: HashSet<ScalarValue> = other.list.into_iter().filter_map(value).collect();
    one.list.retain(|item| value(item.clone()).is_some_and(|value| items.contains(&value) == in_both));
    match (one.list.is_empty(), op) {
        (false, _) => Expr::InList(one),
        // False, or true, but unknown where the value is NULL.
        (true, Operator::And) => binary_expr(one.expr.is_null(), op, lit(ScalarValue::Boolean(None))),
        (true, _) => binary_expr(one.expr.is_not_null(), op, lit(ScalarValue::Boolean(None))),
    }
}
