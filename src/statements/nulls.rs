//! Errors for a NULL in a column that takes none.

use bonnet_common::{NullColumn, null_column};
use datafusion::logical_expr::{DmlStatement, LogicalPlan};

use crate::{Error, ErrorKind, Raised};

/// The error in the words of the statement, where a row that it writes has NULL in a column that is NOT NULL.
pub(super) fn explain(statement: &DmlStatement, error: Error) -> Error {
    match column(statement, &error) {
        Some(column) => {
            let text =
                format!("{}: the column {column} is NOT NULL, and a row has NULL there", statement.table_name.table());
            Raised::new(ErrorKind::MissingValue, text).into()
        }
        None => error,
    }
}

/// The column of the table: what checks rows knows its place, or the name that VALUES gives it.
fn column(statement: &DmlStatement, error: &Error) -> Option<String> {
    let Error::DataFusion(error) = error else { return None };
    let name = match null_column(error)? {
        NullColumn::Place(place) => return Some(statement.target.schema().fields().get(place)?.name().clone()),
        NullColumn::Name(name) => name,
    };
    let LogicalPlan::Projection(projection) = statement.input.as_ref() else { return Some(name) };
    let reads = |expr: &&datafusion::logical_expr::Expr| expr.column_refs().iter().any(|column| column.name == name);
    let written = projection.expr.iter().find(reads).map(|expr| expr.qualified_name().1);
    Some(written.unwrap_or(name))
}
