//! Errors for a NULL in a column that takes none.

use datafusion::logical_expr::{DmlStatement, LogicalPlan};

use crate::Error;

/// The error in the words of the statement, where a row that it writes has NULL in a column that is NOT NULL.
pub(super) fn explain(statement: &DmlStatement, error: Error) -> Error {
    match column(statement, &error.to_string()) {
        Some(column) => {
            let table = statement.table_name.table();
            Error::statement(format!("{table}: the column {column} is NOT NULL, and a row has NULL there"))
        }
        None => error,
    }
}

/// The column of the table: what checks rows knows its place, or the name that VALUES gives it.
fn column(statement: &DmlStatement, error: &str) -> Option<String> {
    if let Some((_, rest)) = error.split_once("Invalid batch column at '") {
        let place: usize = rest.split_once('\'')?.0.parse().ok()?;
        return Some(statement.target.schema().fields().get(place)?.name().clone());
    }
    let (found, _) = error.split_once("' is declared as non-nullable but contains null values")?;
    let name = found.rsplit_once('\'')?.1;
    let LogicalPlan::Projection(projection) = statement.input.as_ref() else { return Some(name.to_owned()) };
    let reads = |expr: &&datafusion::logical_expr::Expr| expr.column_refs().iter().any(|column| column.name == name);
    let written = projection.expr.iter().find(reads).map(|expr| expr.qualified_name().1);
    Some(written.unwrap_or_else(|| name.to_owned()))
}
