//! What to say where a table is not found.

use bonnet_catalogs::parse_time_travel_name;
use datafusion::common::DataFusionError;
use datafusion::execution::SessionState;

use crate::Error;

/// The error in the words of the statement: a graph is no table, and a version is no part of a table's name.
pub(super) fn explain(state: &SessionState, error: DataFusionError) -> Error {
    match table_not_found(&error).and_then(|(schema, table)| explained(state, schema, table)) {
        Some(text) => Error::statement(text),
        None => error.into(),
    }
}

/// The schema with its catalog, and the table that is not in it.
fn table_not_found(error: &DataFusionError) -> Option<(&str, &str)> {
    let DataFusionError::Plan(text) = error.find_root() else { return None };
    let name = text.strip_prefix("table '")?.strip_suffix("' not found")?;
    let end = name.match_indices('.').nth(1)?.0;
    Some((&name[..end], &name[end + 1..]))
}

fn explained(state: &SessionState, schema: &str, table: &str) -> Option<String> {
    if let Ok(Some((table, _))) = parse_time_travel_name(table) {
        return Some(format!("table '{schema}.{table}' not found"));
    }
    if table.contains(['*', '?', '.']) {
        return Some(format!(
            "there is no table '{table}', and it does not end like a file of a table (parquet, csv, json, arrow, ...)"
        ));
    }
    let catalog = state.catalog_list().catalog(&state.config_options().catalog.default_catalog)?;
    let graph = catalog.schema(table)?;
    (graph.table_exist("nodes") && graph.table_exist("edges"))
        .then(|| format!("{table} is a graph: write {table}.edges or {table}.nodes"))
}
