//! IN and NOT IN of one value, side by side.
//!
//! DataFusion 55 makes one list of `x IN (1, 2) AND x IN (2, 3)`, and of no item in common `false`, where a NULL x is unknown:
//! `NOT (x IN (1, 2) AND x IN (3, 4))` kept such rows, and so did `x NOT IN (1, 2) OR x NOT IN (3, 4)`. Items that are columns
//! it takes for different values because they have different names.

use std::borrow::Cow;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, binary_expr, lit};

use super::by_node::LogicalRule;

/// Makes one list of such constants, and comparisons of all other items.
pub(crate) const IN_LISTS: LogicalRule = LogicalRule { name: "in_lists", rewrite: of_constants };

fn of_constants(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let names = NamePreserver::new(&plan);
    let plan = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let expr = expr.transform_up(|expr| match expr {
            Expr::InList(list) if !list.list.iter().all(is_constant) && !list.expr.is_volatile() => {
                Ok(Transformed::yes(compared(list)))
            }
            Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
                Ok(together(*left, op, *right))
            }
            other => Ok(Transformed::no(other)),
        })?;
        Ok(expr.update_data(|expr| name.restore(expr)))
    })?;
    plan.map_data(LogicalPlan::recompute_schema)
}

/// Whether an item is a value that is known, and not NULL.
fn is_constant(item: &Expr) -> bool {
    matches!(item, Expr::Literal(value, _) if !value.is_null())
}

/// A constant in another type, as type coercion leaves it, in that type.
fn cast(item: Expr) -> Expr {
    let value = match &item {
        Expr::Cast(cast) => match cast.expr.as_ref() {
            Expr::Literal(value, _) => value.cast_to(cast.field.data_type()).ok(),
            _ => None,
        },
        _ => None,
    };
    value.map_or(item, lit)
}

/// The list of the constants, and a comparison with each of the other items.
fn compared(InList { expr, list, negated }: InList) -> Expr {
    let (constants, others): (Vec<Expr>, Vec<Expr>) = list.into_iter().map(cast).partition(is_constant);
    let (equal, join) = if negated { (Operator::NotEq, Operator::And) } else { (Operator::Eq, Operator::Or) };
    let list = (!constants.is_empty()).then(|| Expr::InList(InList::new(expr.clone(), constants, negated)));
    let others = others.into_iter().map(|item| binary_expr(expr.as_ref().clone(), equal, item));
    list.into_iter().chain(others).reduce(|left, right| binary_expr(left, join, right)).unwrap_or_else(|| lit(negated))
}

/// The conjunction or disjunction of two expressions; if the second is a list whose items decide with those of a list in the
/// first, with one list instead.
fn together(left: Expr, op: Operator, right: Expr) -> Transformed<Expr> {
    let Some(second) = as_list(&right, op) else { return Transformed::no(binary_expr(left, op, right)) };
    let mut behind = Vec::new();
    let mut chain = left;
    let one = loop {
        chain = match chain {
            Expr::BinaryExpr(BinaryExpr { left, op: own, right }) if own == op => {
                behind.push(*right);
                *left
            }
            other => {
                behind.push(other);
                break behind.iter().enumerate().find_map(|(at, item)| {
                    let first = as_list(item, op)?;
                    Some((at, one_list(&first, op, &second)?))
                });
            }
        };
    };
    let merged = one.is_some();
    match one {
        Some((at, one)) => behind[at] = one,
        None => behind.insert(0, right),
    }
    let chain = behind.into_iter().rev().reduce(|left, right| binary_expr(left, op, right));
    Transformed::new_transformed(chain.unwrap_or_else(|| lit(op == Operator::And)), merged)
}

/// A list, which `x = 1` is one in a disjunction, too.
fn as_list(expr: &Expr, op: Operator) -> Option<Cow<'_, InList>> {
    match expr {
        Expr::InList(list) => Some(Cow::Borrowed(list)),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) if op == Operator::Or => {
            let item = cast(right.as_ref().clone());
            (matches!(left.as_ref(), Expr::Column(_)) && is_constant(&item))
                .then(|| Cow::Owned(InList::new(left.clone(), vec![item], false)))
        }
        _ => None,
    }
}

/// The list of two of the same value.
fn one_list(first: &InList, op: Operator, second: &InList) -> Option<Expr> {
    if first.expr != second.expr || !first.list.iter().chain(&second.list).all(is_constant) {
        return None;
    }
    if (op, first.negated, second.negated) == (Operator::Or, false, false) {
        let more = second.list.iter().filter(|item| !first.list.contains(item)).cloned();
        let list = first.list.iter().cloned().chain(more).collect();
        return Some(Expr::InList(InList::new(first.expr.clone(), list, false)));
    }
    let (from, of, kept) = match (op, first.negated, second.negated) {
        (Operator::And, false, false) | (Operator::Or, true, true) => (first, second, true),
        (Operator::And, false, true) => (first, second, false),
        (Operator::And, true, false) => (second, first, false),
        _ => return None,
    };
    let list: Vec<Expr> = from.list.iter().filter(|item| of.list.contains(item) == kept).cloned().collect();
    let value = from.expr.as_ref().clone();
    Some(match (list.is_empty(), op) {
        (false, _) => Expr::InList(InList::new(from.expr.clone(), list, from.negated)),
        // Unknown where the value is.
        (true, Operator::And) => binary_expr(value.is_null(), op, lit(ScalarValue::Boolean(None))),
        (true, _) => binary_expr(value.is_not_null(), op, lit(ScalarValue::Boolean(None))),
    })
}
