//! Numbers as they are written among the values of INSERT and UPDATE: cast to the column's type, their digits do not pass
//! through a DOUBLE, and halves round away from zero, as in `2.5::int`.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t(a INT)`
//! Given: `INSERT INTO t VALUES (2.5)`
//! Shows: `SELECT a FROM t` gives `3`

use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{CastKind, DataType, ExactNumberInfo, Expr};

use crate::Result;
use crate::forms::changes::changed_values::change_values;
use crate::forms::exact_casts::number;

/// Casts the numbers with a fraction that go into columns of integers and decimals.
///
/// # Errors
/// If the table cannot be read.
pub(crate) async fn cast(state: &SessionState, statement: &mut SqlStatement) -> Result<()> {
    change_values(state, statement, has_fraction, |table, column, value| {
        if let Some(data_type) = column_type(table, column) {
            let expr = Box::new(Expr::Nested(Box::new(value.clone())));
            *value = Expr::Cast { kind: CastKind::Cast, expr, data_type, array: false, format: None };
        }
        Ok(())
    })
    .await
}

fn has_fraction(value: &Expr) -> bool {
    number(value).is_some_and(|number| number.contains('.'))
}

fn column_type(table: &dyn TableProvider, column: Option<&str>) -> Option<DataType> {
    exact_type(table.schema().field_with_name(column?).ok()?.data_type())
}

/// The type to cast to; `None` for a column of another type.
fn exact_type(data_type: &ArrowType) -> Option<DataType> {
    match data_type {
        ArrowType::Decimal128(precision, scale) => {
            Some(DataType::Decimal(ExactNumberInfo::PrecisionAndScale((*precision).into(), (*scale).into())))
        }
        ArrowType::UInt64 => Some(DataType::UBigInt),
        data_type if data_type.is_integer() => Some(DataType::BigInt(None)),
        _ => None,
    }
}
