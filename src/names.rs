//! What names of schemas, tables and models mean, to kernels and in errors.

use bonnet_catalogs::SessionSchema;
use bonnet_dialect::names::unknown_names::OtherNames;
use bonnet_sql::{GraphSchemas, SchemaFacts, TableVersion, TableVersions};
use futures::FutureExt;

/// The facts about the graph of a schema that its tables do not hold, for kernels.
pub(crate) fn graph_schemas() -> GraphSchemas {
    GraphSchemas(Box::new(|schema| {
        let schema = SessionSchema::of(schema)?.engine();
        if let Some(facts) = schema.facts() {
            let format = "tables".to_owned();
            return Some(SchemaFacts { format, directed: Some(facts.directed), ..SchemaFacts::default() });
        }
        let dataset = schema.dataset()?;
        Some(SchemaFacts {
            format: dataset.format().to_owned(),
            location: dataset.location().to_owned(),
            version: dataset.version(),
            directed: Some(dataset.directed()),
            missing: dataset.missing_features(),
        })
    }))
}

/// The versions of tables, for the graphs in the cache that are made of them.
pub(crate) fn table_versions() -> TableVersions {
    TableVersions(Box::new(|table, state| {
        async move {
            let Some(table) = bonnet_catalogs::versioned(table.as_ref()) else { return Ok(None) };
            let version = table.row_version(state).await?;
            Ok(version.map(|version| TableVersion { table: version.table, version: version.version }))
        }
        .boxed()
    }))
}

/// Models, for those who look for one in FROM.
pub(crate) fn models() -> OtherNames {
    OtherNames(Box::new(|name| {
        bonnet_learning::models().iter().any(|model| model.name == name).then(|| {
            format!(
                "there is no table '{name}', but a model: it is trained by a row of jobs, as in \
                 train((SELECT 'g' AS graph, '{name}' AS model))"
            )
        })
    }))
}
