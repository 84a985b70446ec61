//! `ALTER TABLE t ADD`, `DROP`, `RENAME` and `ALTER COLUMN ... TYPE`.

use std::sync::Arc;

use arrow::datatypes::Field;
use bonnet_catalogs::{ColumnChange, EngineSchema};
use bonnet_common::raise;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::sql::sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnDef, ColumnOption, DataType, Ident,
};

use crate::statements::plan::plan;
use crate::{Error, Result, Session};
use bonnet_dialect::syntax::statements::parse::parse;
use bonnet_dialect::syntax::statements::statement::Statement;
use bonnet_dialect::syntax::tree::ast::normalized;

/// Changes the columns of a table as an operation says.
///
/// # Errors
/// If the operation is another, there is no such column, or the table does not change so.
pub(super) async fn run(
    session: &Session,
    alter: &AlterTable,
    operation: &AlterTableOperation,
    schema: &dyn EngineSchema,
    table: &str,
) -> Result<()> {
    let has = async |column: &Ident| -> Result<bool> {
        let found = schema.table(table).await?;
        Ok(found.is_some_and(|found| found.schema().index_of(&normalized(column)).is_ok()))
    };
    let change = match operation {
        AlterTableOperation::AddColumn { column_def, if_not_exists, column_position: None, .. } => {
            if *if_not_exists && has(&column_def.name).await? {
                return Ok(());
            }
            added(session, column_def).await?
        }
        AlterTableOperation::DropColumn { column_names, if_exists, drop_behavior: None, .. } => {
            let [column] = column_names.as_slice() else {
                return Err(Error::statement(format!("{alter}: drop one column a statement")));
            };
            if *if_exists && !has(column).await? {
                return Ok(());
            }
            ColumnChange::Drop(normalized(column))
        }
        AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
            ColumnChange::Rename { from: normalized(old_column_name), to: normalized(new_column_name) }
        }
        AlterTableOperation::AlterColumn {
            column_name,
            op: AlterColumnOperation::SetDataType { data_type, using: None, .. },
        } => {
            let (to, _) = typed(session, data_type, None).await?;
            ColumnChange::Retype { column: normalized(column_name), to: to.data_type().clone() }
        }
        _ => {
            return raise!(
                NotSupported,
                "{alter} is not supported: ADD COLUMN with a type and DEFAULT, DROP COLUMN, RENAME COLUMN, ALTER COLUMN ... TYPE and \
                 RENAME TO are; CREATE OR REPLACE TABLE {0} AS SELECT ... FROM {0} makes it anew in one step",
                alter.name
            );
        }
    };
    Ok(schema.change_columns(table, &change, &session.state()).await?)
}

async fn added(session: &Session, column: &ColumnDef) -> Result<ColumnChange> {
    let mut default = None;
    for option in &column.options {
        match &option.option {
            ColumnOption::Default(value) => default = Some(value.to_string()),
            ColumnOption::Null => {}
            other => {
                return raise!(
                    NotSupported,
                    "ADD COLUMN {}: {other} is not supported: a new column has a type, and DEFAULT at most",
                    column.name
                );
            }
        }
    }
    let has_default = default.is_some();
    let (field, value) = typed(session, &column.data_type, default).await?;
    let field = Arc::new(field.with_name(normalized(&column.name)));
    Ok(ColumnChange::Add { field, default: has_default.then_some(value) })
}

/// The column that a type makes, and a constant, or NULL, as a value of it.
async fn typed(session: &Session, data_type: &DataType, value: Option<String>) -> Result<(Field, Expr)> {
    let value = value.unwrap_or_else(|| "NULL".to_owned());
    let Statement::Sql(statement) = parse(&format!("SELECT CAST({value} AS {data_type}) AS c"))? else {
        return Err(Error::statement(format!("{data_type} is no type of a column")));
    };
    match plan(session, *statement).await? {
        LogicalPlan::Projection(projection) if projection.expr.len() == 1 => {
            let field = projection.schema.field(0).as_ref().clone().with_nullable(true);
            Ok((field, projection.expr[0].clone().unalias()))
        }
        _ => Err(Error::statement(format!("{value} is no constant"))),
    }
}
