//! `ALTER TABLE`: a table gets another name, or a column is added, dropped, renamed or given another type.

mod columns;

use datafusion::common::TableReference;
use datafusion::datasource::TableType;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::planner::object_name_to_table_reference;
use datafusion::sql::sqlparser::ast::{AlterTable, AlterTableOperation, RenameTableNameKind, Spanned, Statement};

use crate::statements::table_place::TablePlace;
use crate::{Error, ErrorKind, Raised, Result, Session};

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
/// If there is no such table, the new name is taken, or the change is another.
pub(super) async fn run(session: &Session, alter: &AlterTable) -> Result<()> {
    let name = &alter.name;
    let at = name.span();
    let refuse = |text: String| Err(Error::statement_at(at, text));
    let [operation] = alter.operations.as_slice() else {
        let second = alter.operations.get(1).map_or(at, Spanned::span);
        return Err(Error::statement_at(second, format!("ALTER TABLE {name}: give one change a statement")));
    };
    let from = object_name_to_table_reference(name.clone(), true)?;
    let place = TablePlace::of(&session.state(), &from, at)?;
    let Some(schema) = place.schema() else {
        return refuse(format!("ALTER TABLE {name}: the table is not the user's"));
    };
    let (table, engine) = (&place.name.table, schema.engine());
    if let Some(why) = engine.why_not_drop(table) {
        return refuse(why);
    }
    let kind = match engine.table_type(table).await? {
        None if alter.if_exists => return Ok(()),
        None => return Err(Raised::new(ErrorKind::UnknownTable, format!("there is no table {name}")).at(at).into()),
        Some(kind) => kind,
    };
    let AlterTableOperation::RenameTable { table_name } = operation else {
        if kind == TableType::View {
            return refuse(format!("{name} is a view: CREATE OR REPLACE VIEW {name} AS ... with other columns"));
        }
        let changed = columns::run(session, alter, operation, engine.as_ref(), table).await;
        return changed.map_err(|error| error.at(operation.span()));
    };
    let (RenameTableNameKind::To(new) | RenameTableNameKind::As(new)) = table_name;
    let to = object_name_to_table_reference(new.clone(), true)?;
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
    match kind {
        TableType::View => refuse(format!("{name} is a view: CREATE VIEW {new} AS ..., DROP VIEW {name}")),
        _ => engine.rename_table(table, to.table()).map_err(|error| Error::from(error).at(new.span())),
    }
}
