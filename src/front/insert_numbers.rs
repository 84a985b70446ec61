//! Numbers as they are written among the values of INSERT and UPDATE: cast to the column's type, their digits do not pass
//! through a DOUBLE, and halves round away from zero, as in `2.5::int`.

use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, CastKind, DataType, ExactNumberInfo, Expr, SetExpr, Statement, TableFactor, TableObject,
};

use super::exact_casts::number;
use super::insert_defaults::{change, last_name, table};
use crate::Result;

/// Casts the numbers with a fraction that go into columns of integers and decimals.
///
/// # Errors
/// If the table cannot be read.
pub(super) async fn cast(state: &SessionState, statement: &mut SqlStatement) -> Result<()> {
    match change(statement) {
        Some(Statement::Insert(insert)) => {
            let Some(SetExpr::Values(values)) = insert.source.as_mut().map(|source| source.body.as_mut()) else {
                return Ok(());
            };
            if !values.rows.iter().any(|row| row.iter().any(has_fraction)) {
                return Ok(());
            }
            let TableObject::TableName(name) = &insert.table else { return Ok(()) };
            let Some(table) = table(state, name).await? else { return Ok(()) };
            let types: Vec<Option<DataType>> = match insert.columns.as_slice() {
                [] => table.schema().fields().iter().map(|field| exact_type(field.data_type())).collect(),
                columns => columns.iter().map(|name| column_type(table.as_ref(), last_name(name))).collect(),
            };
            for row in &mut values.rows {
                for (value, data_type) in row.iter_mut().zip(&types) {
                    cast_number(value, data_type.as_ref());
                }
            }
        }
        Some(Statement::Update(update)) => {
            if !update.assignments.iter().any(|assignment| has_fraction(&assignment.value)) {
                return Ok(());
            }
            let TableFactor::Table { name, .. } = &update.table.relation else { return Ok(()) };
            let Some(table) = table(state, name).await? else { return Ok(()) };
            for assignment in &mut update.assignments {
                if let AssignmentTarget::ColumnName(name) = &assignment.target {
                    let data_type = column_type(table.as_ref(), last_name(name));
                    cast_number(&mut assignment.value, data_type.as_ref());
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn has_fraction(value: &Expr) -> bool {
    number(value).is_some_and(|number| number.contains('.'))
}

fn cast_number(value: &mut Expr, data_type: Option<&DataType>) {
    if let Some(data_type) = data_type
        && has_fraction(value)
    {
        let expr = Box::new(Expr::Nested(Box::new(value.clone())));
        *value = Expr::Cast { kind: CastKind::Cast, expr, data_type: data_type.clone(), array: false, format: None };
    }
}

fn column_type(table: &dyn TableProvider, column: Option<String>) -> Option<DataType> {
    let schema = table.schema();
    exact_type(schema.field_with_name(&column?).ok()?.data_type())
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
