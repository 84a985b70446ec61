//! `DEFAULT` as a value of INSERT and UPDATE: the expression that the table has for the column.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t(a INT DEFAULT 7, b INT)`
//! Given: `INSERT INTO t VALUES (DEFAULT, 1)`
//! Shows: `SELECT a, b FROM t` gives `7 | 1`

use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Value};
use datafusion::sql::unparser::expr_to_sql;

use crate::forms::changes::changed_values::change_values;
use crate::{Error, Result};

/// Puts the defaults of a table in the place of DEFAULT.
///
/// # Errors
/// If a DEFAULT stands for no column of the table.
pub(crate) async fn fill(state: &SessionState, statement: &mut SqlStatement) -> Result<()> {
    let is_default = |value: &Expr| default_place(value).is_some();
    change_values(state, statement, is_default, |table, column, value| {
        if let Some(place) = default_place(value) {
            *value = default(table, column, place)?;
        }
        Ok(())
    })
    .await
}

/// The word DEFAULT as a whole value.
fn default_place(value: &Expr) -> Option<&Ident> {
    match value {
        Expr::Identifier(name) if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("default") => {
            Some(name)
        }
        _ => None,
    }
}

/// What DEFAULT stands for in a column: NULL where the table says nothing.
fn default(table: &dyn TableProvider, column: Option<&str>, place: &Ident) -> Result<Expr> {
    let schema = table.schema();
    let Some(column) = column.filter(|column| schema.field_with_name(column).is_ok()) else {
        return Err(Error::statement_at(place.span, "DEFAULT stands for a column of the table, and here is none"));
    };
    match table.get_column_default(column) {
        Some(default) => Ok(expr_to_sql(default)?),
        None => Ok(Expr::Value(Value::Null.into())),
    }
}
