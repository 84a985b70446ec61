//! `ATTACH` and `DETACH`.

use std::sync::Arc;

use bonnet_catalogs::{FileAwareSchema, GraphCatalog, GraphSchema};
use bonnet_datasets::Opened;
use datafusion::catalog::{CatalogProvider, CatalogProviderList};

use crate::engine::{MAIN_SCHEMA, MEMORY_CATALOG};
use crate::front::statement::Attach;
use crate::{Answer, Error, Result, Session};

/// `ATTACH 'location' AS name (TYPE format, ...)`: one graph becomes a schema, a folder of graphs a catalog.
pub(super) async fn attach(session: &Session, attach: Attach) -> Result<Answer> {
    let Attach { location, name, if_not_exists, format, read_only, options } = attach;
    let catalogs = &session.engine.shared.catalogs;
    let memory = memory(session)?;
    let taken = catalogs.catalog_names().contains(&name) || memory.schema_names().contains(&name) || name == "bonnet";
    if taken && if_not_exists {
        return Ok(Answer::Done("ATTACH".to_owned()));
    }
    if taken {
        return Err(Error::statement(format!(
            "the name {name} is taken: ATTACH ... AS another name, or DETACH {name} first"
        )));
    }
    let opened = tokio::task::spawn_blocking(move || bonnet_datasets::open(&location, format.as_deref(), &options))
        .await
        .map_err(|error| Error::statement(format!("the reader failed by a defect, please report it: {error}")))?
        .map_err(|error| Error::statement(error.to_string()))?;
    match opened {
        Opened::Graph(dataset) => {
            let schema = if read_only { GraphSchema::read_only(dataset) } else { GraphSchema::new(dataset) };
            memory.register_schema(&name, Arc::new(schema))?;
            Ok(Answer::Done(format!("ATTACH {name}")))
        }
        Opened::Collection(collection) => {
            let (graphs, skipped) = (collection.graphs.len(), collection.skipped.len());
            let catalog = if read_only { GraphCatalog::read_only(collection) } else { GraphCatalog::new(collection) };
            catalogs.register_catalog(name.clone(), Arc::new(catalog));
            let skipped = if skipped == 0 { String::new() } else { format!(", {skipped} not recognised and left out") };
            Ok(Answer::Done(format!("ATTACH {name} ({graphs} graphs{skipped})")))
        }
    }
}

/// `DETACH name`: what was attached, never what was made here.
pub(super) fn detach(session: &Session, name: &str, if_exists: bool) -> Result<Answer> {
    let memory = memory(session)?;
    let state = session.state();
    let current = &state.config_options().catalog;
    if name == current.default_catalog || (name == current.default_schema && current.default_catalog == MEMORY_CATALOG)
    {
        return Err(Error::statement(format!("{name} is in use: USE {MEMORY_CATALOG}.{MAIN_SCHEMA} first")));
    }
    if name != MEMORY_CATALOG && session.engine.shared.catalogs.remove(name).is_some() {
        return Ok(Answer::Done(format!("DETACH {name}")));
    }
    let schema = memory.schema_names().iter().any(|other| other == name).then(|| memory.schema(name)).flatten();
    match schema {
        Some(schema) if FileAwareSchema::unwrap(&schema).downcast_ref::<GraphSchema>().is_some() => {
            memory.deregister_schema(name, true)?;
            Ok(Answer::Done(format!("DETACH {name}")))
        }
        Some(_) => Err(Error::statement(format!(
            "{name} is not attached but made here: DROP GRAPH {name}, or DROP SCHEMA {name} CASCADE"
        ))),
        None if if_exists => Ok(Answer::Done("DETACH".to_owned())),
        None => Err(Error::statement(format!(
            "there is nothing attached as {name}; SELECT graph, location FROM bonnet.graphs lists what is"
        ))),
    }
}

fn memory(session: &Session) -> Result<Arc<dyn CatalogProvider>> {
    let memory = session.engine.shared.catalogs.catalog(MEMORY_CATALOG);
    memory.ok_or_else(|| Error::statement("the engine has lost its catalog in memory"))
}
