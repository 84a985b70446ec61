//! Casts that round or fail. `d::int = 2` is no comparison of d with 2, and `TRY_CAST(x AS TINYINT) < 10` none of x with 10.
//! DataFusion leaves out the cast if the constant has a value of the column's type, wherever they come to stand beside each
//! other.

use arrow::datatypes::DataType;
use bonnet_sql::InputColumns;
use bonnet_standard::opaque;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{Expr, ExprSchemable};

pub(super) fn that_lose(expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    let concerned = match &expr {
        Expr::Cast(Cast { expr: of, field }) => varies(of) && loses(of, field.data_type(), schema, false),
        Expr::TryCast(TryCast { expr: of, field }) => varies(of) && loses(of, field.data_type(), schema, true),
        _ => false,
    };
    Ok(if concerned { Transformed::yes(opaque(expr)) } else { Transformed::no(expr) })
}

/// Whether an expression is no constant.
pub(super) fn varies(expr: &Expr) -> bool {
    expr.any_column_refs() || expr.contains_outer() || expr.contains_scalar_subquery()
}

/// Whether a cast of a number may answer another one, or fail; one that fails without NULL only if it was asked for.
fn loses(of: &Expr, to: &DataType, schema: &InputColumns, to_null: bool) -> bool {
    let Ok(from) = of.get_type(schema) else { return false };
    match (Numbers::of(&from), Numbers::of(to)) {
        (Some(from), Some(into)) => {
            from.scale > into.scale || (!from.are_within(&into) && (to_null || to.is_integer()))
        }
        _ => shifts(&from, to),
    }
}

/// Whether a cast holds each number of its operand.
pub(super) fn is_exact(from: &DataType, to: &DataType) -> bool {
    match (Numbers::of(from), Numbers::of(to)) {
        (Some(from), Some(to)) => from.scale <= to.scale && from.are_within(&to),
        _ => from == to,
    }
}

/// Whether a cast moves a timestamp by the distance of a zone from UTC.
fn shifts(from: &DataType, to: &DataType) -> bool {
    let is_utc = |zone: &str| matches!(zone, "UTC" | "Z" | "+00:00" | "+00");
    match (from, to) {
        (DataType::Timestamp(_, None), DataType::Timestamp(_, Some(zone)))
        | (DataType::Timestamp(_, Some(zone)), DataType::Timestamp(_, None)) => !is_utc(zone),
        _ => false,
    }
}

/// The numbers of a type: the whole ones from the least to the greatest, and their digits behind the point.
struct Numbers {
    least: i128,
    greatest: i128,
    scale: i8,
}

impl Numbers {
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

    fn are_within(&self, other: &Self) -> bool {
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
