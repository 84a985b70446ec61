//! Outer references: the columns of outer queries that a plan refers to.
//!
//! Shows: see `mod.rs`

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result, TableReference};
use datafusion::logical_expr::expr::Exists;
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery, SubqueryAlias};

/// The columns of outer queries that a plan refers to, in its subqueries as well, without duplicates.
pub(super) fn outer_columns(plan: &LogicalPlan) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    let mut add = |column: &Column| {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    };
    let inputs = plan.inputs();
    let is_own = |column: &Column| inputs.iter().any(|input| input.schema().has_column(column));
    plan.apply_expressions(|expr| {
        expr.apply(|expr| {
            if let Expr::OuterReferenceColumn(_, column) = expr {
                add(column);
            }
            if let Some(subquery) = subquery_of(expr) {
                outer_columns(&subquery.subquery)?.iter().filter(|column| !is_own(column)).for_each(&mut add);
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    match plan {
        LogicalPlan::Join(join) if lateral(&join.right).is_some() => {
            outer_columns(&join.left)?.iter().for_each(&mut add);
            let right = outer_columns(&join.right)?;
            right.iter().filter(|column| !join.left.schema().has_column(column)).for_each(&mut add);
        }
        _ => {
            for input in inputs {
                outer_columns(input)?.iter().for_each(&mut add);
            }
        }
    }
    Ok(columns)
}

/// The subquery of an expression that is one.
pub(super) fn subquery_of(expr: &Expr) -> Option<&Subquery> {
    match expr {
        Expr::Exists(exists) => Some(&exists.subquery),
        Expr::InSubquery(within) => Some(&within.subquery),
        Expr::SetComparison(comparison) => Some(&comparison.subquery),
        Expr::ScalarSubquery(subquery) => Some(subquery),
        _ => None,
    }
}

/// The expression with another subquery.
pub(super) fn with_subquery(expr: Expr, subquery: Subquery) -> Expr {
    match expr {
        Expr::Exists(exists) => Expr::Exists(Exists { subquery, ..exists }),
        Expr::InSubquery(mut within) => {
            within.subquery = subquery;
            Expr::InSubquery(within)
        }
        _ => Expr::ScalarSubquery(subquery),
    }
}

/// The LATERAL relation, and its alias, that a side of a join is.
pub(super) fn lateral(side: &LogicalPlan) -> Option<(&Subquery, Option<&TableReference>)> {
    match side {
        LogicalPlan::Subquery(subquery) => Some((subquery, None)),
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, alias, .. }) => match input.as_ref() {
            LogicalPlan::Subquery(subquery) => Some((subquery, Some(alias))),
            _ => None,
        },
        _ => None,
    }
}
