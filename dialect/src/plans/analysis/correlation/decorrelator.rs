//! The state of a statement's decorrelation, and the functions of plans that its parts share.
//!
//! Shows: see `mod.rs`

use std::sync::Arc;

use datafusion::common::{Column, NullEquality, Result, plan_err};
use datafusion::logical_expr::{Expr, LogicalPlan, Projection};

/// Decorrelates the subqueries of one statement, and numbers the relations and columns that it adds.
#[derive(Debug, Default)]
pub(super) struct Decorrelator {
    last_number: usize,
}

impl Decorrelator {
    /// A number that makes a name unique within the statement.
    pub(super) fn next_number(&mut self) -> usize {
        self.last_number += 1;
        self.last_number
    }
}

/// A projection of a plan to some of its columns.
pub(super) fn select_columns(plan: LogicalPlan, columns: Vec<Column>) -> Result<LogicalPlan> {
    let columns = columns.into_iter().map(Expr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?))
}

/// The error of a correlated subquery that cannot be decorrelated.
pub(super) fn unsupported<T>(what: &str) -> Result<T> {
    plan_err!(
        "a subquery cannot look at the query around it here: {what}; join the relations and group the rows instead, or \
         CREATE TABLE what is between"
    )
}

/// The equality by which values that may be NULL are the same.
pub(super) fn null_equality(nullable: bool) -> NullEquality {
    if nullable { NullEquality::NullEqualsNull } else { NullEquality::NullEqualsNothing }
}
