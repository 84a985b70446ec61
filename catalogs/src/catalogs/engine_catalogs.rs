//! The catalogs of an engine. Its sessions share them; each sees them through [`crate::SessionCatalogs`].

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use bonnet_common::SYSTEM_SCHEMA;
use datafusion::common::{Result, plan_err};

use crate::ground::new_table::MAIN_SCHEMA;
use crate::schemas::engine_catalog::EngineCatalog;
use crate::schemas::engine_schema::EngineSchema;

/// The catalogs of an engine. `a.t` is the schema `a` of the session's catalog, else the schema `main` of the catalog
/// `a`; the schema `bonnet` is seen from every catalog.
#[derive(Debug)]
pub struct EngineCatalogs {
    catalogs: RwLock<BTreeMap<String, Arc<dyn EngineCatalog>>>,
    start: String,
    system: Arc<dyn EngineSchema>,
}

impl EngineCatalogs {
    /// No catalogs yet, but the system's schema; `start` is the name of the catalog in which sessions start.
    pub fn new(start: &str, system: Arc<dyn EngineSchema>) -> Self {
        Self { catalogs: RwLock::default(), start: start.to_owned(), system }
    }

    /// The name of the catalog in which sessions start.
    pub fn start(&self) -> &str {
        &self.start
    }

    /// The names of the catalogs, in order.
    pub fn names(&self) -> Vec<String> {
        self.catalogs.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// The catalog of this name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn EngineCatalog>> {
        self.catalogs.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Puts a catalog under a name, instead of any other.
    pub fn insert(&self, name: &str, catalog: Arc<dyn EngineCatalog>) {
        self.catalogs.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), catalog);
    }

    /// Forgets a catalog; whether there was one.
    pub fn remove(&self, name: &str) -> bool {
        self.catalogs.write().unwrap_or_else(PoisonError::into_inner).remove(name).is_some()
    }

    /// The schema that a name means in a catalog, with the name of the catalog that has it.
    pub fn schema(&self, catalog: &str, schema: &str) -> Option<(String, Arc<dyn EngineSchema>)> {
        if schema == SYSTEM_SCHEMA {
            return Some((catalog.to_owned(), Arc::clone(&self.system)));
        }
        match self.get(catalog)?.schema(schema) {
            Some(found) => Some((catalog.to_owned(), found)),
            None => Some((schema.to_owned(), self.get(schema)?.schema(MAIN_SCHEMA)?)),
        }
    }

    /// Refuses to create a schema whose name would mean something else.
    ///
    /// # Errors
    /// If it is the system's, or a catalog's.
    pub fn check_new_schema(&self, name: &str) -> Result<()> {
        if name == SYSTEM_SCHEMA {
            return plan_err!("the schema {SYSTEM_SCHEMA} belongs to the engine; choose another name");
        }
        // Were there both, `name.table` could mean either.
        if self.get(name).is_some() {
            return plan_err!("{name} is a catalog already, so {name}.table would be ambiguous; choose another name");
        }
        Ok(())
    }

    /// Every table, view and schema of any catalog that cannot be read, with the reason: `lab.main.t`.
    pub fn damaged(&self) -> Vec<(String, String)> {
        self.names().iter().flat_map(|name| self.damaged_of(name)).collect()
    }

    /// Those of one catalog.
    pub fn damaged_of(&self, name: &str) -> Vec<(String, String)> {
        let Some(catalog) = self.get(name) else { return Vec::new() };
        let mut found = Vec::new();
        let mut schemas = catalog.schema_names();
        let lasting = catalog.database().is_some();
        if schemas.is_empty()
            && !lasting
            && let Some(schema) = catalog.schema(MAIN_SCHEMA)
        {
            found.extend(schema.fault().map(|why| (name.to_owned(), reason(why))));
        }
        // Every database has it, though its entry may be gone.
        if lasting && !schemas.iter().any(|schema| schema == MAIN_SCHEMA) {
            schemas.push(MAIN_SCHEMA.to_owned());
        }
        for schema_name in schemas {
            let Some(schema) = catalog.schema(&schema_name) else { continue };
            let path = format!("{name}.{schema_name}");
            found.extend(schema.fault().map(|why| (path.clone(), reason(why))));
            found.extend(schema.damaged().into_iter().map(|(table, why)| (format!("{path}.{table}"), reason(&why))));
        }
        found
    }
}

/// The reason in an error's message, which may begin with the name of what cannot be read.
fn reason(why: &str) -> String {
    let named = why.split_once(" cannot be read: ").filter(|(name, _)| !name.contains('\''));
    named.map_or(why, |(_, reason)| reason).to_owned()
}
