//! Whether a statement may run in the session's transaction.

use std::sync::Arc;

use bonnet_catalogs::KeptRows;
use datafusion::common::TableReference;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::Span;

use super::table_place::TablePlace;
use crate::session::{Admitted, Changing, RowsOf, Step};
use crate::{Answer, Result, Session};
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

/// What came of a statement.
pub(crate) enum Ran<T> {
    /// It began or ended a transaction.
    Answered(Answer),
    /// Its work is done.
    Done(T),
}

/// Does the work of a statement within the session's transaction, if one is open; answers a step that begins or ends one.
///
/// # Errors
/// If the transaction cannot have the statement, or ends and cannot undo a change; those of the work.
pub(crate) async fn within<T>(session: &Session, step: Step, work: impl Future<Output = Result<T>>) -> Result<Ran<T>> {
    let rows = match &step {
        Step::Rows(tag, table) if session.transaction.is_open() => rows_of(session, table, tag == "INSERT").await?,
        _ => RowsOf::Other,
    };
    match session.transaction.admit(step, rows).await? {
        Admitted::Done(answer) => Ok(Ran::Answered(answer)),
        Admitted::Runs(noted) => session.transaction.noting(noted, work).await.map(Ran::Done),
    }
}

/// The table of this name, whose rows a statement changes. `adds` says that it only adds some.
async fn rows_of(session: &Session, table: &TableReference, adds: bool) -> Result<RowsOf> {
    // What is no table is told by the statement.
    let Ok(place) = TablePlace::of(&session.state(), table, Span::empty()) else { return Ok(RowsOf::Other) };
    let Some(schema) = place.schema() else { return Ok(RowsOf::Other) };
    let (schema, table) = (schema.engine(), &place.name.table);
    if session.transaction.has_made(schema, table).await? {
        return Ok(RowsOf::MadeHere);
    }
    let kept = KeptRows::of(schema.as_ref(), table, adds).await?;
    let changing = |before| Changing { schema: Arc::clone(schema), table: table.to_string(), before };
    Ok(kept.map_or(RowsOf::Other, |before| RowsOf::Kept(Box::new(changing(before)))))
}
