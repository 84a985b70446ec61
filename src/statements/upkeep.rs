//! `OPTIMIZE` and `VACUUM` of lasting tables.

use std::sync::Arc;
use std::time::Duration;

use bonnet_catalogs::LastingTable;
use datafusion::catalog::SchemaProvider;
use datafusion::common::TableReference;
use datafusion::execution::SessionState;

use super::table_place::TablePlace;
use crate::{Answer, Error, ErrorKind, Raised, Result, Session};
use bonnet_dialect::syntax::statements::statement::WithSpan;

/// The time for which files that are no longer needed stay, unless the statement says otherwise: Delta Lake's default. A
/// reader of another process may still be at work on them.
const RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);

/// The lasting table of this name.
async fn lasting_table(state: &SessionState, name: &WithSpan<Vec<String>>, verb: &str) -> Result<LastingTable> {
    let refuse = |text: String| Err(Error::statement_at(name.span, text));
    let reference = match name.as_slice() {
        [table] => TableReference::bare(table.as_str()),
        [schema, table] => TableReference::partial(schema.as_str(), table.as_str()),
        [catalog, schema, table] => TableReference::full(catalog.as_str(), schema.as_str(), table.as_str()),
        _ => return refuse(format!("{verb}: the name of a table is expected")),
    };
    let shown = name.join(".");
    let unknown =
        || Err(Raised::new(ErrorKind::UnknownTable, format!("there is no table {shown}")).at(name.span).into());
    let place = TablePlace::of(state, &reference, name.span);
    let Some(schema) = place.as_ref().ok().and_then(TablePlace::schema) else {
        return unknown();
    };
    let table = reference.table();
    match schema.engine().lasting_table(table).await? {
        Some(table) => Ok(table),
        None if schema.table_exist(table) => {
            refuse(format!("{verb} {shown}: it is no table of a lasting database, so there is nothing to do"))
        }
        None => unknown(),
    }
}

/// `OPTIMIZE table`: merges its small files.
pub(super) async fn optimize(session: &Session, table: &WithSpan<Vec<String>>) -> Result<Answer> {
    let state = session.state();
    let done = lasting_table(&state, table, "OPTIMIZE").await?.optimize(&state).await?;
    Ok(Answer::Done(format!("OPTIMIZE ({} files became {})", done.removed, done.added)))
}

/// `VACUUM [table] [RETAIN n HOURS]`: removes the files that a table, or a database, has needed for none of the versions
/// of the last week, or of the time given; with `VACUUM` alone also tables that were dropped longer ago. What is younger
/// stays, as a reader may be at work on it: `RETAIN 0 HOURS` removes it nevertheless.
pub(super) async fn vacuum(
    session: &Session,
    table: Option<&WithSpan<Vec<String>>>,
    retain: Option<Duration>,
) -> Result<Answer> {
    let state = session.state();
    if let Some(table) = table {
        let done = lasting_table(&state, table, "VACUUM").await?.vacuum(retain).await?;
        return Ok(Answer::Done(format!("VACUUM ({} files removed)", done.files)));
    }
    let name = &state.config_options().catalog.default_catalog;
    let catalog = session.engine.shared.catalogs.get(name);
    let Some(database) = catalog.as_ref().and_then(|catalog| catalog.database()) else {
        return Err(Error::statement(format!(
            "VACUUM: {name} is no lasting database, so it has no files to remove; `bonnet lab.bonnet` opens one"
        )));
    };
    let (database, keep) = (Arc::clone(database), retain.unwrap_or(RETENTION));
    let dropped = tokio::task::spawn_blocking(move || database.remove_dropped(keep)).await;
    let dropped = dropped.map_err(|error| Error::statement(format!("VACUUM failed: {error}")))??;
    let mut files = 0;
    // What is damaged keeps nothing else from it.
    let damaged = session.engine.shared.catalogs.damaged_of(name);
    let mut kept: Vec<String> = damaged.iter().map(|(path, why)| format!("{path} cannot be read: {why}")).collect();
    for schema_name in catalog.iter().flat_map(|catalog| catalog.schema_names()) {
        let Some(schema) = catalog.as_ref().and_then(|catalog| catalog.schema(&schema_name)) else { continue };
        for table in schema.table_names() {
            let path = format!("{name}.{schema_name}.{table}");
            if damaged.iter().any(|(known, _)| *known == path) {
                continue;
            }
            let done = match schema.lasting_table(&table).await {
                Ok(Some(table)) => table.vacuum(retain).await,
                Ok(None) => continue,
                Err(error) => Err(error),
            };
            match done.map_err(Error::from) {
                Ok(done) => files += done.files,
                Err(error) => kept.push(error.to_string()),
            }
        }
    }
    match kept.is_empty() {
        true => Ok(Answer::Done(format!("VACUUM ({files} files and {dropped} dropped tables removed)"))),
        false => Err(Error::statement(format!(
            "VACUUM: {files} files of other tables and {dropped} dropped tables were removed; {}",
            kept.join("; ")
        ))),
    }
}
