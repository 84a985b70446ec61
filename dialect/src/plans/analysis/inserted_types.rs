//! The types of inserted rows, where coercion has changed them: `INSERT INTO t SELECT 1::int UNION ALL SELECT 2::bigint`.
//!
//! DataFusion 55 casts the rows of an INSERT to the types of the table by those of the first query of a UNION, and settles the
//! types of the UNION afterwards. So a column of INTEGER got BIGINT, and the table could not be read again.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t(a INT)`
//! Given: `INSERT INTO t SELECT 1::int UNION ALL SELECT 2::bigint`
//! Shows: `SELECT a FROM t ORDER BY a` gives `1 / 2`

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{DmlStatement, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, WriteOp};

use crate::plans::node_rules::LogicalRule;

/// Casts such rows to the types of the table. Comes after DataFusion's coercion.
pub(crate) const INSERTED_TYPES: LogicalRule = LogicalRule { name: "inserted_types", rewrite: rewrite_node };

fn rewrite_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Dml(insert) if has_other_types(&insert) => {
            let (given, target) = (insert.input.schema(), insert.target.schema());
            let columns = given.iter().zip(target.fields()).map(|((table, field), to)| {
                let column = Expr::Column(Column::new(table.cloned(), field.name()));
                Ok(column.cast_to(to.data_type(), given)?.alias(to.name()))
            });
            let columns = columns.collect::<Result<Vec<Expr>>>()?;
            let rows = LogicalPlanBuilder::from(insert.input.as_ref().clone()).project(columns)?.build()?;
            Ok(Transformed::yes(LogicalPlan::Dml(DmlStatement { input: rows.into(), ..insert })))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn has_other_types(statement: &DmlStatement) -> bool {
    let (given, target) = (statement.input.schema().fields(), statement.target.schema());
    matches!(statement.op, WriteOp::Insert(_))
        && given.len() == target.fields().len()
        && given.iter().zip(target.fields()).any(|(given, to)| given.data_type() != to.data_type())
}
