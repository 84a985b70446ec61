//! `ATTACH` and `DETACH`.

use std::sync::Arc;

use bonnet_catalogs::{Attachment, Database, EngineCatalog, GraphSchema, MAIN_SCHEMA, MEMORY_CATALOG, is_address};
use bonnet_datasets::REGISTRY;

use super::registered;
use crate::attachments::{self, Target};
use crate::{Answer, Error, Result, Session};
use bonnet_dialect::syntax::statements::statement::{Attach, WithSpan};

/// `ATTACH 'location' AS name (TYPE format, ...)`: one graph becomes a schema; a folder of graphs, a database, or tables
/// of another program, a catalog. A lasting database remembers it. In a read-only engine every database is attached for
/// reading alone.
pub(super) async fn attach(session: &Session, attach: Attach) -> Result<Answer> {
    let name = attach.name.value.clone();
    let catalogs = &session.engine.shared.catalogs;
    let start = catalog(session, catalogs.start())?;
    let taken = catalogs.names().contains(&name)
        || start.schema_names().contains(&name)
        || ["bonnet", "information_schema"].contains(&name.as_str());
    if taken && attach.if_not_exists {
        return Ok(Answer::Done("ATTACH".to_owned()));
    }
    if taken {
        return Err(Error::statement_at(
            attach.name.span,
            format!("the name {name} is taken: ATTACH ... AS another name, or DETACH {name} first"),
        ));
    }
    let (location, format) = match attach.location.strip_prefix(REGISTRY) {
        Some(name) => registered::found(session, name, &attach).await?,
        None => (attach.location.clone(), attach.format.clone()),
    };
    let attached = Attachment { location, format, read_only: attach.read_only, options: attach.options.clone() };
    let read_only = session.engine.shared.read_only;
    let (opened, mut attached) =
        tokio::task::spawn_blocking(move || attachments::open(&attached, read_only).map(|opened| (opened, attached)))
            .await
            .map_err(|error| Error::statement(format!("the reader failed by a defect, please report it: {error}")))??;
    attached.location = attachments::absolute(&attached.location);
    match opened {
        Target::Graph(dataset) => {
            let note = match start.database() {
                Some(database) if !database.is_read_only() => {
                    database.attach_schema(&name, attached)?;
                    String::new()
                }
                lasting => {
                    let schema = Arc::new(GraphSchema::new(dataset, attach.read_only));
                    catalog(session, MEMORY_CATALOG)?.register_schema(&name, schema)?;
                    let why = "the database is open for reading alone; it is memory.NAME";
                    lasting.map(|_| not_remembered(why)).unwrap_or_default()
                }
            };
            Ok(Answer::Done(format!("ATTACH {name}{note}")))
        }
        Target::Catalog(catalog, contents) => {
            let note = start.database().map(|database| remember(database, &name, attached)).transpose()?;
            catalogs.insert(&name, catalog);
            Ok(Answer::Done(format!("ATTACH {name}{contents}{}", note.unwrap_or_default())))
        }
    }
}

/// Remembers an attached catalog in a database; a note for the answer where it cannot.
fn remember(database: &Database, name: &str, attached: Attachment) -> Result<String> {
    if database.is_read_only() {
        return Ok(not_remembered("the database is open for reading alone"));
    }
    let authority = attached.location.split_once("://").map(|(_, rest)| rest);
    let login = authority.and_then(|rest| rest.split('/').next()?.rsplit_once('@')).map(|(login, _)| login);
    if login.is_some_and(|login| login.contains(':')) {
        return Ok(not_remembered("the address holds a password"));
    }
    if is_address(&attached.location) && attached.location.contains('?') {
        return Ok(not_remembered("the address may hold a secret behind its question mark"));
    }
    database.attach_catalog(name, attached)?;
    Ok(String::new())
}

fn not_remembered(why: &str) -> String {
    format!(" (not remembered: {why})")
}

/// `DETACH name`: what was attached, never what was made here.
pub(super) fn detach(session: &Session, name: &WithSpan<String>, if_exists: bool) -> Result<Answer> {
    let (name, at) = (name.as_str(), name.span);
    let refuse = |text: String| Err(Error::statement_at(at, text));
    let state = session.state();
    let current = &state.config_options().catalog;
    let catalogs = &session.engine.shared.catalogs;
    let start = catalogs.start();
    if name == current.default_catalog || (name == current.default_schema && current.default_catalog == start) {
        return refuse(format!("{name} is in use: USE {start}.{MAIN_SCHEMA} first"));
    }
    if name == start || name == MEMORY_CATALOG {
        return refuse(format!("{name} is not attached: it is where the engine keeps its own tables"));
    }
    if catalogs.remove(name) {
        if let Some(database) = catalog(session, start)?.database() {
            database.detach_catalog(name)?;
        }
        return Ok(Answer::Done(format!("DETACH {name}")));
    }
    for place in [start, MEMORY_CATALOG] {
        let catalog = catalog(session, place)?;
        let Some(schema) = catalog.schema(name) else { continue };
        if schema.dataset().is_none() && schema.fault().is_none() {
            return refuse(format!(
                "{name} is not attached but made here: DROP GRAPH {name}, or DROP SCHEMA {name} CASCADE"
            ));
        }
        catalog.drop_schema(name, true)?;
        return Ok(Answer::Done(format!("DETACH {name}")));
    }
    if if_exists {
        return Ok(Answer::Done("DETACH".to_owned()));
    }
    refuse(format!("there is nothing attached as {name}; SELECT graph, location FROM bonnet.graphs lists what is"))
}

fn catalog(session: &Session, name: &str) -> Result<Arc<dyn EngineCatalog>> {
    let catalog = session.engine.shared.catalogs.get(name);
    catalog.ok_or_else(|| Error::statement(format!("the engine has lost its catalog {name}")))
}
