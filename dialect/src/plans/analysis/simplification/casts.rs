//! Lossy casts: those that round, fail or answer NULL for some values of their operand.
//!
//! DataFusion 55 drops the cast from a comparison with a constant that the type of the column can hold, at any stage of
//! planning. But `d::int = 2` also holds where d is 2.3, and `TRY_CAST(x AS TINYINT) < 10` is NULL where x is 300.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/23095> <https://github.com/apache/datafusion/issues/24702>
//! Given: `CREATE TABLE t AS SELECT 1.6::double AS d`
//! Given: `CREATE TABLE u AS SELECT * FROM (VALUES (-1000), (1000), (5)) AS v(x)`
//! Shows: `SELECT d FROM t WHERE d::int = 2` gives `1.6`
//! Shows: `SELECT count(*) FROM u WHERE TRY_CAST(x AS TINYINT) < 10` gives `1`

use arrow::datatypes::DataType;
use bonnet_sql::InputColumns;
use bonnet_values::{opaque, value_type};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::{Cast, TryCast};

use crate::plans::expressions::is_large;

/// Puts a barrier around a lossy cast, so that no later rule drops it.
pub(super) fn protect_lossy_cast(expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    let is_protected = match &expr {
        Expr::Cast(Cast { expr: of, field }) => is_row_dependent(of) && is_lossy(of, field.data_type(), schema, false),
        Expr::TryCast(TryCast { expr: of, field }) => {
            is_row_dependent(of) && is_lossy(of, field.data_type(), schema, true)
        }
        _ => false,
    };
    Ok(if is_protected { Transformed::yes(opaque(expr)) } else { Transformed::no(expr) })
}

/// Puts a barrier around the large operand of a cast: DataFusion 55 asks the operand of each cast twice whether it may be NULL,
/// so that a cast of a cast of ... takes twice as long for each.
pub(super) fn separate_large_operand(expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    let asks = |of: &Expr| !matches!(of, Expr::Column(_) | Expr::Literal(..) | Expr::Cast(_) | Expr::ScalarFunction(_));
    Ok(match expr {
        Expr::Cast(Cast { expr: of, field }) if asks(&of) && is_large(&of) => {
            Transformed::yes(Expr::Cast(Cast { expr: Box::new(opaque(*of)), field }))
        }
        other => Transformed::no(other),
    })
}

/// Whether the value of an expression depends on columns, of this query or of an outer one, or on a subquery.
pub(super) fn is_row_dependent(expr: &Expr) -> bool {
    expr.any_column_refs() || expr.contains_outer() || expr.contains_scalar_subquery()
}

/// Whether a cast may change its operand: a number by rounding, or by NULL where it does not fit and `null_on_failure`
/// holds; a timestamp by a time zone. A cast that fails instead counts only if it is to an integer: such a cast is the
/// query's own, not one of coercion.
fn is_lossy(of: &Expr, to: &DataType, schema: &InputColumns, null_on_failure: bool) -> bool {
    let Ok(from) = value_type(of, schema) else { return false };
    match (NumericRange::of(&from), NumericRange::of(to)) {
        (Some(from), Some(into)) => {
            from.scale > into.scale || (!from.is_within(&into) && (null_on_failure || to.is_integer()))
        }
        _ => shifts_timestamp(&from, to),
    }
}

/// Whether a cast keeps every number of its operand's type.
pub(super) fn is_exact(from: &DataType, to: &DataType) -> bool {
    match (NumericRange::of(from), NumericRange::of(to)) {
        (Some(from), Some(to)) => from.scale <= to.scale && from.is_within(&to),
        _ => from == to,
    }
}

/// Whether a cast moves a timestamp by the offset of a time zone from UTC.
fn shifts_timestamp(from: &DataType, to: &DataType) -> bool {
    let is_utc = |zone: &str| matches!(zone, "UTC" | "Z" | "+00:00" | "+00");
    match (from, to) {
        (DataType::Timestamp(_, None), DataType::Timestamp(_, Some(zone)))
        | (DataType::Timestamp(_, Some(zone)), DataType::Timestamp(_, None)) => !is_utc(zone),
        _ => false,
    }
}

/// The range of a numeric type: its least and greatest integer, and its digits behind the point.
struct NumericRange {
    least: i128,
    greatest: i128,
    scale: i8,
}

impl NumericRange {
    fn of(data_type: &DataType) -> Option<Self> {
        let whole = |least, greatest| Some(Self { least, greatest, scale: 0 });
        match data_type {
            DataType::Int8 => whole(i8::MIN.into(), i8::MAX.into()),
            DataType::Int16 => whole(i16::MIN.into(), i16::MAX.into()),
            DataType::Int32 => whole(i32::MIN.into(), i32::MAX.into()),
            DataType::Int64 => whole(i64::MIN.into(), i64::MAX.into()),
            DataType::UInt8 => whole(0, u8::MAX.into()),
            DataType::UInt16 => whole(0, u16::MAX.into()),
            DataType::UInt32 => whole(0, u32::MAX.into()),
            DataType::UInt64 => whole(0, u64::MAX.into()),
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale) => {
                let digits = u32::try_from(i16::from(*precision) - i16::from(*scale)).unwrap_or(0);
                let greatest = 10_i128.checked_pow(digits).map_or(i128::MAX, |next| next - 1);
                Some(Self { least: -greatest, greatest, scale: *scale })
            }
            _ => None,
        }
    }

    fn is_within(&self, other: &Self) -> bool {
        other.least <= self.least && self.greatest <= other.greatest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_types_hold_all_numbers_of_narrower_ones() {
        let exact = [
            (DataType::Int32, DataType::Int64),
            (DataType::UInt32, DataType::Int64),
            (DataType::Int64, DataType::Decimal128(20, 1)),
            (DataType::Decimal128(18, 0), DataType::Int64),
            (DataType::Decimal128(6, 2), DataType::Decimal128(30, 15)),
        ];
        let inexact = [
            (DataType::Int64, DataType::Int32),
            (DataType::Int64, DataType::UInt64),
            (DataType::Int64, DataType::Decimal128(18, 0)),
            (DataType::Decimal128(19, 0), DataType::Int64),
            (DataType::Decimal128(6, 2), DataType::Decimal128(6, 1)),
        ];
        assert!(exact.iter().all(|(from, to)| is_exact(from, to)));
        assert!(!inexact.iter().any(|(from, to)| is_exact(from, to)));
    }
}
