//! The values that INSERT and UPDATE give the columns of a table.
//!
//! Shows: see `insert_numbers.rs`

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, Expr, ObjectName, SetExpr, Statement, TableFactor, TableObject,
};

use crate::Result;
use crate::syntax::tree::ast;

/// Changes the values that are of concern, those of VALUES and of assignments, by the table and the name of their column there;
/// `None` where it has no single one. Without such a value, or such a table, nothing is looked up.
///
/// # Errors
/// Those of `change`, or if the table cannot be read.
pub(crate) async fn change_values(
    state: &SessionState,
    statement: &mut SqlStatement,
    concerns: impl Fn(&Expr) -> bool,
    mut change: impl FnMut(&dyn TableProvider, Option<&str>, &mut Expr) -> Result<()>,
) -> Result<()> {
    match changing(statement) {
        Some(Statement::Insert(insert)) => {
            let Some(SetExpr::Values(values)) = insert.source.as_mut().map(|source| source.body.as_mut()) else {
                return Ok(());
            };
            if !values.rows.iter().any(|row| row.iter().any(&concerns)) {
                return Ok(());
            }
            let TableObject::TableName(name) = &insert.table else { return Ok(()) };
            let Some(table) = table(state, name).await? else { return Ok(()) };
            let columns: Vec<Option<String>> = match insert.columns.as_slice() {
                [] => table.schema().fields().iter().map(|field| Some(field.name().clone())).collect(),
                columns => columns.iter().map(last_name).collect(),
            };
            for row in &mut values.rows {
                for (at, value) in row.iter_mut().enumerate().filter(|(_, value)| concerns(value)) {
                    change(table.as_ref(), columns.get(at).and_then(Option::as_deref), value)?;
                }
            }
        }
        Some(Statement::Update(update)) => {
            if !update.assignments.iter().any(|assignment| concerns(&assignment.value)) {
                return Ok(());
            }
            let TableFactor::Table { name, .. } = &update.table.relation else { return Ok(()) };
            let Some(table) = table(state, name).await? else { return Ok(()) };
            for assignment in update.assignments.iter_mut().filter(|assignment| concerns(&assignment.value)) {
                let column = match &assignment.target {
                    AssignmentTarget::ColumnName(name) => last_name(name),
                    AssignmentTarget::Tuple(_) => None,
                };
                change(table.as_ref(), column.as_deref(), &mut assignment.value)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The statement itself, or the one that EXPLAIN or PREPARE is about.
pub(crate) fn changing(statement: &mut SqlStatement) -> Option<&mut Statement> {
    match statement {
        SqlStatement::Explain(explain) => changing(&mut explain.statement),
        SqlStatement::Statement(statement) => Some(match statement.as_mut() {
            Statement::Prepare { statement, .. } => statement,
            statement => statement,
        }),
        _ => None,
    }
}

fn last_name(name: &ObjectName) -> Option<String> {
    ast::name_parts(name)?.pop()
}

/// The table; `None` if there is none, which DataFusion says in its words.
pub(crate) async fn table(state: &SessionState, name: &ObjectName) -> Result<Option<Arc<dyn TableProvider>>> {
    let reference = match ast::name_parts(name).as_deref() {
        Some([table]) => TableReference::bare(table.as_str()),
        Some([schema, table]) => TableReference::partial(schema.as_str(), table.as_str()),
        Some([catalog, schema, table]) => TableReference::full(catalog.as_str(), schema.as_str(), table.as_str()),
        _ => return Ok(None),
    };
    let Ok(schema) = state.schema_for_ref(reference.clone()) else { return Ok(None) };
    Ok(schema.table(reference.table()).await?)
}
