//! `ALTER TABLE`: a table gets another name. Its columns are fixed; the refusals say how it is made anew with others.

use datafusion::common::TableReference;
use datafusion::datasource::TableType;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::planner::object_name_to_table_reference;
use datafusion::sql::sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnOption, RenameTableNameKind, Spanned, Statement,
};

use super::table_place::TablePlace;
use crate::{Error, Result, Session};

/// The ALTER TABLE that a statement is.
pub(super) fn of(statement: &SqlStatement) -> Option<&AlterTable> {
    let SqlStatement::Statement(statement) = statement else { return None };
    match statement.as_ref() {
        Statement::AlterTable(alter) => Some(alter),
        _ => None,
    }
}

/// Runs it.
///
/// # Errors
/// If there is no such table, the new name is taken, or more than the name is to change.
pub(super) async fn run(session: &Session, alter: &AlterTable) -> Result<()> {
    let name = &alter.name;
    let at = name.span();
    let refuse = |text: String| Err(Error::statement_at(at, text));
    let [operation] = alter.operations.as_slice() else {
        let second = alter.operations.get(1).map_or(at, Spanned::span);
        return Err(Error::statement_at(second, format!("ALTER TABLE {name}: give one change a statement")));
    };
    let AlterTableOperation::RenameTable { table_name } = operation else {
        return refuse(refusal(alter, operation));
    };
    let (RenameTableNameKind::To(new) | RenameTableNameKind::As(new)) = table_name;
    let (from, to) =
        (object_name_to_table_reference(name.clone(), true)?, object_name_to_table_reference(new.clone(), true)?);
    let place = TablePlace::of(&session.state(), &from, at)?;
    let Some(schema) = place.schema() else {
        return refuse(format!("ALTER TABLE {name}: the table is not the user's"));
    };
    // A name without a schema stays in the table's.
    if !matches!(to, TableReference::Bare { .. }) {
        let other = TablePlace::of(&session.state(), &to, new.span())?;
        if (&other.name.catalog, &other.name.schema) != (&place.name.catalog, &place.name.schema) {
            return Err(Error::statement_at(
                new.span(),
                format!(
                    "ALTER TABLE {name} RENAME TO {new}: a table stays in its schema; CREATE TABLE {new} AS SELECT * FROM \
                     {name} copies it"
                ),
            ));
        }
    }
    let (table, engine) = (&place.name.table, schema.engine());
    if let Some(why) = engine.why_not_drop(table) {
        return refuse(why);
    }
    match engine.table_type(table).await? {
        None if alter.if_exists => Ok(()),
        None => refuse(format!("there is no table {name}")),
        Some(TableType::View) => refuse(format!("{name} is a view: CREATE VIEW {new} AS ..., DROP VIEW {name}")),
        Some(_) => engine.rename_table(table, to.table()).map_err(|error| Error::from(error).at(new.span())),
    }
}

/// The error of a change of columns, with the statement that makes the table anew.
fn refusal(alter: &AlterTable, operation: &AlterTableOperation) -> String {
    let name = &alter.name;
    let columns = match operation {
        AlterTableOperation::AddColumn { column_def, .. } => {
            let default = column_def.options.iter().find_map(|option| match &option.option {
                ColumnOption::Default(value) => Some(value.to_string()),
                _ => None,
            });
            let value = default.unwrap_or_else(|| "NULL".to_owned());
            Some(format!("*, CAST({value} AS {}) AS {}", column_def.data_type, column_def.name))
        }
        AlterTableOperation::DropColumn { column_names, .. } => {
            let dropped: Vec<String> = column_names.iter().map(ToString::to_string).collect();
            Some(format!("* EXCLUDE ({})", dropped.join(", ")))
        }
        AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
            Some(format!("{old_column_name} AS {new_column_name}, * EXCLUDE ({old_column_name})"))
        }
        AlterTableOperation::AlterColumn { column_name, op: AlterColumnOperation::SetDataType { data_type, .. } } => {
            Some(format!("* REPLACE (CAST({column_name} AS {data_type}) AS {column_name})"))
        }
        _ => None,
    };
    match columns {
        Some(columns) => format!(
            "{alter} is not supported, since a table's columns are fixed: CREATE OR REPLACE TABLE {name} AS SELECT \
             {columns} FROM {name} makes it anew in one step"
        ),
        None => format!("{alter} is not supported: of a table the name can change, ALTER TABLE {name} RENAME TO other"),
    }
}
