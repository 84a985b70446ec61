//! Decimals of a scale below 0, which are refused.
//!
//! DataFusion 55 divides by a power of ten that it does not have: comparisons, averages and sums of such decimals panic. No
//! type of SQL is one, but `arrow_cast` and files may give one.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/24896>
//! Shows: `SELECT arrow_cast(1, 'Decimal128(10, -2)') = 100` is refused

use arrow::datatypes::{DataType, Schema};
use bonnet_common::raise;
use bonnet_sql::InputColumns;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};

use crate::plans::node_rules::LogicalRule;

/// Refuses such columns and casts. It comes first, before anything is computed of them.
pub(crate) const NEGATIVE_SCALES: LogicalRule =
    LogicalRule { name: "negative_scales", rewrite: |node| check(&node).map(|()| Transformed::no(node)) };

fn check(node: &LogicalPlan) -> Result<()> {
    if let LogicalPlan::TableScan(scan) = node {
        return refuse_column(&scan.source.schema());
    }
    let mut columns = None;
    node.apply_expressions(|expr| {
        let mut refused = None;
        expr.apply(|expr| {
            let of = match expr {
                Expr::Cast(Cast { field, .. }) | Expr::TryCast(TryCast { field, .. }) => {
                    Some(field.data_type().clone())
                }
                Expr::ScalarFunction(call) if call.name().starts_with("arrow_") && call.name().ends_with("cast") => {
                    expr.get_type(columns.get_or_insert_with(|| InputColumns::of(node))).ok()
                }
                _ => None,
            };
            refused = of.filter(has_negative_scale);
            Ok(if refused.is_some() { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        match refused {
            Some(of) => {
                raise!(NotSupported, "a decimal of a scale below 0, {of}, is not supported: cast to DECIMAL(38, 0)")
            }
            None => Ok(TreeNodeRecursion::Continue),
        }
    })?;
    Ok(())
}

fn refuse_column(schema: &Schema) -> Result<()> {
    match schema.fields().iter().find(|field| has_negative_scale(field.data_type())) {
        Some(field) => raise!(
            NotSupported,
            "the column {:?} holds decimals of a scale below 0, {}, which are not supported",
            field.name(),
            field.data_type()
        ),
        None => Ok(()),
    }
}

fn has_negative_scale(of: &DataType) -> bool {
    match of {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => *scale < 0,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            has_negative_scale(item.data_type())
        }
        DataType::Struct(fields) => fields.iter().any(|field| has_negative_scale(field.data_type())),
        DataType::Map(entries, _) => has_negative_scale(entries.data_type()),
        _ => false,
    }
}
