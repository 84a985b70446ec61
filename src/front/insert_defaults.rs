//! `DEFAULT` as a value of INSERT and UPDATE: the expression that the table has for the column.

use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, Expr, Ident, ObjectName, SetExpr, Statement, TableFactor, TableObject, Value,
};
use datafusion::sql::unparser::expr_to_sql;

use super::ast;
use crate::{Error, Result};

/// Puts the defaults of a table in the place of DEFAULT.
///
/// # Errors
/// If a DEFAULT stands for no column of the table.
pub(super) async fn fill(state: &SessionState, statement: &mut SqlStatement) -> Result<()> {
    match change(statement) {
        Some(Statement::Insert(insert)) => {
            let Some(SetExpr::Values(values)) = insert.source.as_mut().map(|source| source.body.as_mut()) else {
                return Ok(());
            };
            if !values.rows.iter().any(|row| row.iter().any(is_default)) {
                return Ok(());
            }
            let TableObject::TableName(name) = &insert.table else { return Ok(()) };
            let Some(table) = table(state, name).await? else { return Ok(()) };
            let schema = table.schema();
            let columns: Vec<Option<String>> = match insert.columns.as_slice() {
                [] => schema.fields().iter().map(|field| Some(field.name().clone())).collect(),
                columns => columns.iter().map(last_name).collect(),
            };
            for row in &mut values.rows {
                for (at, value) in row.iter_mut().enumerate() {
                    let Some(place) = default_place(value) else { continue };
                    *value = default(table.as_ref(), &schema, columns.get(at).cloned().flatten(), place)?;
                }
            }
        }
        Some(Statement::Update(update)) => {
            if !update.assignments.iter().any(|assignment| is_default(&assignment.value)) {
                return Ok(());
            }
            let TableFactor::Table { name, .. } = &update.table.relation else { return Ok(()) };
            let Some(table) = table(state, name).await? else { return Ok(()) };
            for assignment in &mut update.assignments {
                let Some(place) = default_place(&assignment.value) else { continue };
                let column = match &assignment.target {
                    AssignmentTarget::ColumnName(name) => last_name(name),
                    AssignmentTarget::Tuple(_) => None,
                };
                assignment.value = default(table.as_ref(), &table.schema(), column, place)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The statement itself, or the one that EXPLAIN or PREPARE is about.
pub(super) fn change(statement: &mut SqlStatement) -> Option<&mut Statement> {
    match statement {
        SqlStatement::Explain(explain) => change(&mut explain.statement),
        SqlStatement::Statement(statement) => Some(match statement.as_mut() {
            Statement::Prepare { statement, .. } => statement,
            statement => statement,
        }),
        _ => None,
    }
}

fn is_default(value: &Expr) -> bool {
    default_place(value).is_some()
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

pub(super) fn last_name(name: &ObjectName) -> Option<String> {
    ast::name_parts(name)?.pop()
}

/// The table; `None` if there is none, which DataFusion says in its words.
pub(super) async fn table(
    state: &SessionState,
    name: &ObjectName,
) -> Result<Option<std::sync::Arc<dyn TableProvider>>> {
    let reference = match ast::name_parts(name).as_deref() {
        Some([table]) => TableReference::bare(table.as_str()),
        Some([schema, table]) => TableReference::partial(schema.as_str(), table.as_str()),
        Some([catalog, schema, table]) => TableReference::full(catalog.as_str(), schema.as_str(), table.as_str()),
        _ => return Ok(None),
    };
    let Ok(schema) = state.schema_for_ref(reference.clone()) else { return Ok(None) };
    Ok(schema.table(reference.table()).await?)
}

/// What DEFAULT stands for in a column: NULL where the table says nothing.
fn default(table: &dyn TableProvider, schema: &Schema, column: Option<String>, place: &Ident) -> Result<Expr> {
    let Some(column) = column.filter(|column| schema.field_with_name(column).is_ok()) else {
        return Err(Error::statement_at(place.span, "DEFAULT stands for a column of the table, and here is none"));
    };
    match table.get_column_default(&column) {
        Some(default) => Ok(expr_to_sql(default)?),
        None => Ok(Expr::Value(Value::Null.into())),
    }
}
