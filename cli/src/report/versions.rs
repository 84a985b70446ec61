//! The versions of the data that a page was made of.

use bonnet_catalogs::{SessionSchema, VersionedTable, list_graphs, versioned};
use datafusion::common::TableReference;

use bonnetdb::{Result, Session};

/// The most graphs, and tables, that are named; the rest are counted.
const MOST: usize = 100;

/// The data after the script has run: the data sets that are attached, with a text that changes when their files do,
/// and the tables of lasting databases with their versions. A name with what is said of it.
pub(super) async fn versions(session: &Session) -> Result<Vec<(String, String)>> {
    let here = session.clone();
    session.perform(async move { versions_of(&here).await }).await
}

async fn versions_of(session: &Session) -> Result<Vec<(String, String)>> {
    let state = session.context().state();
    let mut lines = Vec::new();
    let start = &state.config_options().catalog.default_catalog;
    let (mut left_out, mut tables_left_out) = (0, 0);
    for graph in list_graphs(state.catalog_list().as_ref(), start).await? {
        let Some(location) = &graph.location else { continue };
        if lines.len() == MOST {
            left_out += 1;
            continue;
        }
        let schema = state.catalog_list().catalog(&graph.catalog).and_then(|catalog| catalog.schema(&graph.schema));
        let dataset = schema.as_deref().and_then(SessionSchema::of).and_then(|schema| schema.engine().dataset());
        // What comes with the program has no files.
        let stamp = dataset.map(|dataset| dataset.stamp()).filter(|stamp| stamp.modified.is_some());
        let version = stamp.map_or_else(String::new, |stamp| format!(", version {}", stamp.version));
        lines.push((graph.name, format!("{}, {location}{version}", graph.format)));
    }
    if left_out > 0 {
        lines.push((format!("{left_out} more"), "attached data sets".to_owned()));
    }
    let graphs = lines.len();
    for name in state.catalog_list().catalog_names() {
        let Some(catalog) = state.catalog_list().catalog(&name) else { continue };
        for schema_name in catalog.schema_names() {
            let Some(schema) = catalog.schema(&schema_name) else { continue };
            for table in schema.table_names() {
                let reference = TableReference::full(name.as_str(), schema_name.as_str(), table.as_str());
                // A table that cannot be opened was not read either.
                let Ok(Some(provider)) = schema.table(&table).await else { continue };
                let Some(version) = versioned(provider.as_ref()).and_then(VersionedTable::version) else { continue };
                if lines.len() - graphs == MOST {
                    tables_left_out += 1;
                    continue;
                }
                lines.push((reference.to_quoted_string(), format!("version {version}")));
            }
        }
    }
    lines[graphs..].sort();
    if tables_left_out > 0 {
        lines.push((format!("{tables_left_out} more"), "tables".to_owned()));
    }
    Ok(lines)
}
