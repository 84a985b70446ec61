//! Errors for unknown tables and functions.
//!
//! Upstream: none known
//! Shows: no statement: an error, no answer: the nearest name is missing from that of an unknown function.

use bonnet_common::{ErrorKind, Raised, nearest};
use bonnet_sql::Registry;
use datafusion::common::{DataFusionError, ResolvedTableReference};
use datafusion::execution::SessionState;

/// What is said of a name, if it names something.
type Advice = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What is said of a name in FROM that is no table, where it names something else. A session has it as an extension of its
/// configuration.
pub struct OtherNames(pub Box<Advice>);

/// The error about an unknown function with the nearest name of all functions; any other as it is.
pub(crate) fn with_nearest_function(
    state: &SessionState,
    registry: &Registry,
    error: DataFusionError,
) -> DataFusionError {
    match error {
        DataFusionError::Diagnostic(diagnostic, inner) => {
            DataFusionError::Diagnostic(diagnostic, Box::new(with_nearest_function(state, registry, *inner)))
        }
        DataFusionError::Context(text, inner) => {
            DataFusionError::Context(text, Box::new(with_nearest_function(state, registry, *inner)))
        }
        DataFusionError::Plan(text) => match unknown_function(state, registry, &text) {
            Some(text) => Raised::new(ErrorKind::UnknownFunction, text).into(),
            None => DataFusionError::Plan(text),
        },
        other => other,
    }
}

/// What is said of an unknown function in the place of DataFusion's words.
fn unknown_function(state: &SessionState, registry: &Registry, text: &str) -> Option<String> {
    let name = text.strip_prefix("Invalid function '")?.split('\'').next()?;
    if name.to_ascii_lowercase().starts_with("json") {
        return Some(format!(
            "there is no function '{name}': FROM read_json('file') reads JSON into columns, and regexp_extract takes a value \
             out of a text"
        ));
    }
    let mut names: Vec<String> = registry.iter().map(|function| function.name.to_owned()).collect();
    names.extend(state.scalar_functions().keys().cloned());
    names.extend(state.aggregate_functions().keys().cloned());
    names.extend(state.window_functions().keys().cloned());
    let unknown = text.split_once('\n').map_or(text, |(unknown, _)| unknown).trim_end_matches('.');
    Some(with_nearest(unknown, name, names))
}

/// The error about a function in FROM that is not there.
pub(crate) fn unknown_function_in_from(state: &SessionState, registry: &Registry, name: &str) -> Raised {
    let ours = registry.iter().filter(|function| function.kind().in_from());
    let mut names: Vec<String> = ours.map(|function| function.name.to_owned()).collect();
    names.extend(state.table_functions().keys().cloned());
    let text = with_nearest(&format!("table function '{name}' not found"), name, names);
    Raised::new(ErrorKind::UnknownFunction, text)
}

fn with_nearest(unknown: &str, name: &str, mut names: Vec<String>) -> String {
    // Names come out of a map in no order.
    names.sort_unstable();
    match nearest(name, names.into_iter().map(|name| (name.clone(), name))) {
        Some(nearest) => format!("{unknown}.\nDid you mean '{nearest}'?"),
        None => unknown.to_owned(),
    }
}

/// The error about a table that is not there, in short.
pub(crate) fn not_found(name: &ResolvedTableReference) -> Raised {
    Raised::new(ErrorKind::UnknownTable, format!("table '{name}' not found"))
}

/// The error about a table that is not there, in the words of the statement: a graph is no table, a path may be no file of one,
/// and a table beside it may have been meant.
pub(crate) fn unknown_table(state: &SessionState, name: &ResolvedTableReference) -> Raised {
    match explanation(state, &name.table) {
        Some(text) => Raised::new(ErrorKind::UnknownTable, text),
        None => {
            let beside = state.schema_for_ref(name.clone()).map(|schema| schema.table_names()).unwrap_or_default();
            let text = with_nearest(not_found(name).text(), &name.table, beside);
            Raised::new(ErrorKind::UnknownTable, text)
        }
    }
}

fn explanation(state: &SessionState, table: &str) -> Option<String> {
    if table.contains(['*', '?', '.']) {
        return Some(format!(
            "there is no table '{table}', and it does not end like a file of a table (parquet, csv, json, arrow, ...)"
        ));
    }
    let catalog = state.catalog_list().catalog(&state.config_options().catalog.default_catalog)?;
    if let Some(graph) = catalog.schema(table) {
        return (graph.table_exist("nodes") && graph.table_exist("edges"))
            .then(|| format!("{table} is a graph: write {table}.edges or {table}.nodes"));
    }
    state.config().get_extension::<OtherNames>().and_then(|names| (names.0)(table))
}
