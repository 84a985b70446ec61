//! An attached graph as a schema.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bonnet_common::raise;
use bonnet_datasets::Dataset;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::logical_expr::TableType;

use super::dataset_table::DatasetTable;
use crate::ground::blocking::block_in_place;
use crate::schemas::engine_schema::EngineSchema;
use crate::schemas::memory_schema::MemorySchema;

/// A data set as a schema: its own tables, and those that users create beside them.
#[derive(Debug)]
pub struct GraphSchema {
    dataset: Arc<dyn Dataset>,
    /// The columns of the data set's tables, of the version that they were read from.
    known: Mutex<BTreeMap<String, (String, DatasetTable)>>,
    created: MemorySchema,
    read_only: bool,
}

impl GraphSchema {
    /// The schema of a data set; with `read_only` nothing is created in it. Reads nothing.
    pub fn new(dataset: Arc<dyn Dataset>, read_only: bool) -> Self {
        Self { dataset, known: Mutex::default(), created: MemorySchema::default(), read_only }
    }

    fn is_own(&self, name: &str) -> bool {
        self.dataset.tables().iter().any(|table| table == name)
    }

    /// Refuses to create a table of this name where none can be created.
    pub(crate) fn check_new(&self, name: &str) -> Result<()> {
        if let Some(reason) = self.why_not_drop(name) {
            return plan_err!("{reason}");
        }
        if self.read_only {
            let location = self.dataset.location();
            return raise!(ReadOnly, "'{location}' is attached READ_ONLY: create {name} in another schema");
        }
        Ok(())
    }
}

impl EngineSchema for GraphSchema {
    fn dataset(&self) -> Option<&Arc<dyn Dataset>> {
        Some(&self.dataset)
    }

    fn why_not_drop(&self, name: &str) -> Option<String> {
        let location = self.dataset.location();
        let reason =
            || format!("table '{name}' is part of the attached '{location}' and stays; DETACH the graph instead");
        self.is_own(name).then(reason)
    }
}

#[async_trait]
impl SchemaProvider for GraphSchema {
    fn table_names(&self) -> Vec<String> {
        let mut names = self.dataset.tables();
        names.extend(self.created.table_names());
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(table) = self.created.table(name).await? {
            return Ok(Some(table));
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some((known, table)) = known {
            let dataset = Arc::clone(&self.dataset);
            if block_in_place(move || dataset.version()).await? == known {
                return Ok(Some(Arc::new(table)));
            }
        }
        let (dataset, table) = (Arc::clone(&self.dataset), name.to_owned());
        // Headers are read from files, so not on a thread of queries.
        let read = SpawnedTask::spawn_blocking(move || {
            if !dataset.tables().contains(&table) {
                return Ok(None);
            }
            let version = dataset.version();
            DatasetTable::try_new(dataset, &table).map(|table| Some((version, table)))
        });
        let found = read
            .join()
            .await
            .map_err(|error| DataFusionError::Execution(format!("reading the columns of {name} failed: {error}")))??;
        let Some((version, table)) = found else { return Ok(None) };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(name.to_owned(), (version, table.clone()));
        Ok(Some(Arc::new(table)))
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        if let Some(found) = self.created.table_type(name).await? {
            return Ok(Some(found));
        }
        Ok(self.is_own(name).then_some(TableType::Base))
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        self.check_new(&name)?;
        self.created.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(reason) = self.why_not_drop(name) {
            return plan_err!("{reason}");
        }
        self.created.deregister_table(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.created.table_exist(name) || self.is_own(name)
    }
}
