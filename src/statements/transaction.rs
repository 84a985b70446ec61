//! Whether a statement may run in the session's transaction.

use datafusion::common::TableReference;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::Span;

use super::table_place::TablePlace;
use crate::session::{Admitted, Step};
use crate::{Result, Session};
use bonnet_dialect::syntax::statements::statement::Statement;

/// What a statement means to a transaction; EXECUTE means what it executes.
pub(super) fn step(session: &Session, statement: &Statement) -> Step {
    let executed = || {
        let Statement::Sql(sql) = statement else { return None };
        let SqlStatement::Statement(sql) = sql.as_ref() else { return None };
        let ast::Statement::Execute { name: Some(name), .. } = sql.as_ref() else { return None };
        let [ast::ObjectNamePart::Identifier(name)] = name.0.as_slice() else { return None };
        let prepared = session.prepared.get(&bonnet_dialect::syntax::tree::ast::normalized(name))?;
        let SqlStatement::Statement(prepared) = prepared else { return None };
        let ast::Statement::Prepare { statement, .. } = *prepared else { return None };
        Some(Step::of_sql(&SqlStatement::Statement(statement)))
    };
    executed().unwrap_or_else(|| Step::of(statement))
}

/// Answers a step that begins or ends a transaction, and refuses one that it cannot have.
///
/// # Errors
/// If the transaction cannot have it, or a table cannot be undone.
pub(crate) async fn admit(session: &Session, step: Step) -> Result<Admitted> {
    let made_here = match &step {
        Step::Rows(_, table) if session.transaction.changes() > 0 => made_here(session, table).await?,
        _ => false,
    };
    session.transaction.admit(step, made_here).await
}

/// Whether the open transaction has made the table of this name.
async fn made_here(session: &Session, table: &TableReference) -> Result<bool> {
    // What is no table is told by the statement.
    let Ok(place) = TablePlace::of(&session.state(), table, Span::empty()) else { return Ok(false) };
    match place.schema() {
        Some(schema) => session.transaction.has_made(schema.engine(), &place.name.table).await,
        None => Ok(false),
    }
}
