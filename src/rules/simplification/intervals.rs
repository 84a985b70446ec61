//! Intervals are compared by their lengths; DataFusion compares months first, then days, then the time, and a difference
//! of timestamps has time alone.

use arrow::datatypes::{DataType, IntervalUnit};
use bonnet_standard::interval_length;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable};

use super::replace;
use crate::rules::comparisons::compared;

pub(super) fn by_length(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let mut values = compared(&mut expr);
    let is_interval =
        |value: &&mut Expr| matches!(value.get_type(schema), Ok(DataType::Interval(IntervalUnit::MonthDayNano)));
    if values.is_empty() || !values.iter().all(is_interval) {
        return Ok(Transformed::no(expr));
    }
    values.iter_mut().for_each(|value| replace(value, interval_length));
    Ok(Transformed::yes(expr))
}
