//! Names without quotes in the lists of INSERT and UPDATE, of columns whose names have capitals: as in queries, see
//! `names/letter_case.rs`.
//!
//! Upstream: <https://github.com/apache/datafusion-python/issues/399>
//! Given: `CREATE TABLE e("Source" INT)`
//! Given: `INSERT INTO e(source) VALUES (7)`
//! Shows: `SELECT "Source" FROM e` gives `7`

use datafusion::common::DFSchema;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, Ident, ObjectName, ObjectNamePart, Statement, TableFactor, TableObject,
};

use crate::Result;
use crate::forms::changes::changed_values::{changing, table};
use crate::names::letter_case::{Found, find};

/// Gives the names of changed columns the case that they have in their table.
///
/// # Errors
/// If the table cannot be read.
pub(crate) async fn name(state: &SessionState, statement: &mut SqlStatement) -> Result<()> {
    let (name, mut columns): (&ObjectName, Vec<&mut ObjectName>) = match changing(statement) {
        Some(Statement::Insert(insert)) => {
            let TableObject::TableName(name) = &insert.table else { return Ok(()) };
            (name, insert.columns.iter_mut().collect())
        }
        Some(Statement::Update(update)) => {
            let TableFactor::Table { name, .. } = &update.table.relation else { return Ok(()) };
            let targets = update.assignments.iter_mut().flat_map(|assignment| match &mut assignment.target {
                AssignmentTarget::ColumnName(name) => std::slice::from_mut(name).iter_mut(),
                AssignmentTarget::Tuple(names) => names.iter_mut(),
            });
            (name, targets.collect())
        }
        _ => return Ok(()),
    };
    columns.retain_mut(|column| last(column).is_some_and(|name| name.quote_style.is_none()));
    if columns.is_empty() {
        return Ok(());
    }
    let Some(table) = table(state, name).await? else { return Ok(()) };
    let schema = table.schema();
    if !schema.fields().iter().any(|field| field.name().contains(char::is_uppercase)) {
        return Ok(());
    }
    let schema = DFSchema::try_from(schema)?;
    for column in columns {
        let Some(name) = last(column) else { continue };
        if let Found::Column(found) = find(std::slice::from_ref(name), &schema) {
            *name = Ident { span: name.span, ..found };
        }
    }
    Ok(())
}

fn last(name: &mut ObjectName) -> Option<&mut Ident> {
    match name.0.last_mut() {
        Some(ObjectNamePart::Identifier(name)) => Some(name),
        _ => None,
    }
}
