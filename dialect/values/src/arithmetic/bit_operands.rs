//! Operators on bits.
//!
//! Upstream: none known
//! Shows: `SELECT 2.5::double | 1` is refused

use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::ExprSchemable;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::sql::sqlparser::ast;

/// Operators on bits, of integers alone: DataFusion would round other numbers without a word.
#[derive(Debug)]
pub struct BitOperands;

impl ExprPlanner for BitOperands {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let bits = matches!(
            expr.op,
            ast::BinaryOperator::BitwiseAnd
                | ast::BinaryOperator::BitwiseOr
                | ast::BinaryOperator::BitwiseXor
                | ast::BinaryOperator::PGBitwiseXor
                | ast::BinaryOperator::PGBitwiseShiftLeft
                | ast::BinaryOperator::PGBitwiseShiftRight
        );
        for side in [&expr.left, &expr.right] {
            if bits
                && let Ok(data_type) = side.get_type(schema)
                && (data_type.is_floating() || data_type.is_decimal())
            {
                return plan_err!(
                    "~, &, |, <<, >> and xor work on the bits of integers: CAST the other operand AS BIGINT, which rounds it"
                );
            }
        }
        Ok(PlannerResult::Original(expr))
    }
}
