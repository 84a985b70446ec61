//! IN and NOT IN of one value, side by side.
//!
//! DataFusion 55 makes one list of `x IN (1, 2) AND x IN (2, 3)`, and of no item in common `false`, where a NULL x is unknown:
//! `NOT (x IN (1, 2) AND x IN (3, 4))` kept such rows, and so did `x NOT IN (1, 2) OR x NOT IN (3, 4)`. Items that are columns
//! it takes for different values because they have different names.

use std::borrow::Cow;
use std::collections::HashSet;

use bonnet_sql::InputColumns;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, binary_expr, lit};

use super::by_node::ExpressionRule;

/// Makes one list of such constants, and comparisons of all other items.
pub(crate) const IN_LISTS: ExpressionRule =
    ExpressionRule { name: "in_lists", concerned: is_list, rewrite: of_constants };

/// Whether an expression is a list, or becomes one.
fn is_list(expr: &Expr) -> bool {
    matches!(expr, Expr::InList(_) | Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }))
}

fn of_constants(expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| match expr {
        Expr::InList(list) if is_compared(&list) => Ok(Transformed::yes(compared(list))),
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            Ok(together(*left, op, *right))
        }
        other => Ok(Transformed::no(other)),
    })
}

/// Whether a list is to be comparisons: one of other items than constants, or of one item for what is drawn by chance, whose
/// lists DataFusion joins as well. What is drawn is not drawn for each item.
fn is_compared(list: &InList) -> bool {
    match list.expr.is_volatile() {
        true => list.list.len() == 1,
        false => !list.list.iter().all(is_constant),
    }
}

/// Whether an item is a value that is known, and not NULL.
fn is_constant(item: &Expr) -> bool {
    matches!(item, Expr::Literal(value, _) if !value.is_null())
}

fn value(item: Expr) -> Option<ScalarValue> {
    match item {
        Expr::Literal(value, _) => Some(value),
        _ => None,
    }
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
fn together(mut left: Expr, op: Operator, right: Expr) -> Transformed<Expr> {
    match as_list(&right, op).and_then(|second| partner(&mut left, op, &second)) {
        Some(item) => {
            *item = match (list(std::mem::take(item)), list(right)) {
                (Some(first), Some(second)) => one_list(first, op, second),
                _ => unreachable!("partners are lists"),
            };
            Transformed::yes(left)
        }
        None => Transformed::no(binary_expr(left, op, right)),
    }
}

/// The list in a chain of conjunctions or disjunctions that makes one list with another, or what is there as one.
fn partner<'a>(mut chain: &'a mut Expr, op: Operator, second: &InList) -> Option<&'a mut Expr> {
    let fits = |item: &Expr| {
        as_list(item, op).is_some_and(|first| {
            let decide = match op {
                Operator::And => !(first.negated && second.negated),
                _ => first.negated == second.negated,
            };
            let same = first.expr == second.expr && !first.expr.is_volatile();
            decide && same && first.list.iter().chain(&second.list).all(is_constant)
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

/// An expression as a list, which `x = 1` is in a disjunction, too.
fn as_list(expr: &Expr, op: Operator) -> Option<Cow<'_, InList>> {
    match expr {
        Expr::InList(list) => Some(Cow::Borrowed(list)),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, .. })
            if op == Operator::Or && matches!(left.as_ref(), Expr::Column(_)) =>
        {
            list(expr.clone()).map(Cow::Owned)
        }
        _ => None,
    }
}

fn list(expr: Expr) -> Option<InList> {
    match expr {
        Expr::InList(list) => Some(list),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            Some(InList::new(left, vec![cast(*right)], false))
        }
        _ => None,
    }
}

/// The list of two of the same value.
fn one_list(mut first: InList, op: Operator, mut second: InList) -> Expr {
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
        // Unknown where the value is.
        (true, Operator::And) => binary_expr(one.expr.is_null(), op, lit(ScalarValue::Boolean(None))),
        (true, _) => binary_expr(one.expr.is_not_null(), op, lit(ScalarValue::Boolean(None))),
    }
}
