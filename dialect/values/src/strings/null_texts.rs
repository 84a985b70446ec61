//! `NULL || NULL`, which is NULL: DataFusion 55 finds no type for it.
//!
//! Upstream: none known
//! Shows: `SELECT (NULL || NULL) IS NULL` gives `true`

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::sql::sqlparser::ast;

/// Makes it a text.
#[derive(Debug)]
pub struct NullTexts;

impl ExprPlanner for NullTexts {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let is_null = |side: &Expr| side.get_type(schema).is_ok_and(|of| of == DataType::Null);
        let of_nulls = expr.op == ast::BinaryOperator::StringConcat && is_null(&expr.right) && is_null(&expr.left);
        Ok(match of_nulls {
            true => PlannerResult::Planned(Expr::Literal(ScalarValue::Utf8(None), None)),
            false => PlannerResult::Original(expr),
        })
    }
}
