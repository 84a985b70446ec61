//! Attached data sets: a graph is a schema, a folder of graphs a catalog.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use bonnet_datasets::{Collection, Dataset};
use datafusion::catalog::{CatalogProvider, SchemaProvider, Session, TableProvider};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::{BoxFuture, ready};

use crate::file_aware::FileAwareSchema;
use crate::kept::KeptRows;
use crate::lazy::{LazyExec, LazyRows, Rows};
use crate::made::MadeGraph;
use crate::system::{SYSTEM_SCHEMA, SystemSchema};
use crate::tables::TablesSchema;

/// A reader's error, which keeps its own text.
pub(crate) fn external(error: bonnet_datasets::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A table of a data set: its columns from the headers, its rows when they are scanned.
#[derive(Debug, Clone)]
pub struct DatasetTable {
    scan: Arc<DatasetScan>,
    schema: SchemaRef,
}

/// What [`DatasetTable`] scans.
#[derive(Debug)]
struct DatasetScan {
    dataset: Arc<dyn Dataset>,
    table: String,
    kept: Arc<KeptRows>,
}

impl DatasetTable {
    /// The table of this name. Reads its headers: call it where a thread may block.
    pub fn try_new(dataset: Arc<dyn Dataset>, table: &str) -> Result<Self> {
        let schema = dataset.schema(table).map_err(external)?;
        Ok(Self { scan: Arc::new(DatasetScan { dataset, table: table.to_owned(), kept: Arc::default() }), schema })
    }

    /// The data set whose table this is.
    pub fn dataset(&self) -> &Arc<dyn Dataset> {
        &self.scan.dataset
    }

    /// The data set and the table's name that a scan reads, if it reads a data set: what another process needs to make
    /// the scan again.
    pub fn of_scan(rows: &dyn LazyRows) -> Option<(&Arc<dyn Dataset>, &str)> {
        rows.as_any().downcast_ref::<DatasetScan>().map(|scan| (&scan.dataset, scan.table.as_str()))
    }
}

impl LazyRows for DatasetScan {
    fn describe(&self) -> String {
        format!("{} of {}", self.table, self.dataset.location())
    }

    fn expected_bytes(&self, columns: &[usize]) -> usize {
        self.dataset.expected_bytes(&self.table, columns)
    }

    fn rows<'a>(&'a self, columns: &'a [usize], _: &'a Arc<TaskContext>) -> BoxFuture<'a, Result<Rows>> {
        let (dataset, table, columns) = (Arc::clone(&self.dataset), self.table.clone(), columns.to_vec());
        let kept = Arc::clone(&self.kept);
        let rows = Rows::Blocking(Box::new(move |keep_going| {
            kept.get(dataset.version(), &columns, || dataset.read(&table, &columns, keep_going)).map_err(external)
        }));
        Box::pin(ready(Ok(rows)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[async_trait]
impl TableProvider for DatasetTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let source: Arc<dyn LazyRows> = Arc::clone(&self.scan) as _;
        Ok(Arc::new(LazyExec::try_new(source, &self.schema, projection, limit)?))
    }
}

/// Why DROP has to refuse a table or view of this schema, if it has to.
///
/// DataFusion's DROP discards the error of a schema and says that the table does not exist (with IF EXISTS, nothing):
/// whoever plans statements asks here first.
pub fn why_not_drop(schema: &Arc<dyn SchemaProvider>, table: &str) -> Option<String> {
    let schema = FileAwareSchema::unwrap(schema);
    if schema.is::<SystemSchema>() && schema.table_exist(table) {
        return Some(format!("{SYSTEM_SCHEMA}.{table} belongs to the system and cannot be dropped"));
    }
    if let Some(tables) = schema.downcast_ref::<TablesSchema>() {
        return tables.keeps(table);
    }
    attached_graph(schema.as_ref())?.keeps(table)
}

/// The attached graph that a schema stands for, in memory or in a database.
pub fn attached_graph(schema: &dyn SchemaProvider) -> Option<&GraphSchema> {
    if let Some(aware) = schema.downcast_ref::<FileAwareSchema>() {
        return attached_graph(aware.inner().as_ref());
    }
    #[cfg(feature = "delta")]
    if let Some(lasting) = schema.downcast_ref::<crate::delta::LastingSchema>() {
        return lasting.attached().map(|graph| graph.as_ref());
    }
    schema.downcast_ref()
}

/// Whether the rows of `edges` are arcs, in a graph that a statement made and that says so.
pub fn made_directed(schema: &dyn SchemaProvider) -> Option<bool> {
    if let Some(aware) = schema.downcast_ref::<FileAwareSchema>() {
        return made_directed(aware.inner().as_ref());
    }
    #[cfg(feature = "delta")]
    if let Some(lasting) = schema.downcast_ref::<crate::delta::LastingSchema>() {
        return lasting.facts().map(|facts| facts.directed);
    }
    schema.downcast_ref::<MadeGraph>().map(MadeGraph::directed)
}

/// A data set as a schema: its own tables, and those that users create beside them.
#[derive(Debug)]
pub struct GraphSchema {
    dataset: Arc<dyn Dataset>,
    /// The columns of the data set's tables, of the version that they were read from.
    known: Mutex<BTreeMap<String, (String, DatasetTable)>>,
    created: RwLock<BTreeMap<String, Arc<dyn TableProvider>>>,
    read_only: bool,
}

impl GraphSchema {
    /// The schema of a data set. Reads nothing.
    pub fn new(dataset: Arc<dyn Dataset>) -> Self {
        Self { dataset, known: Mutex::default(), created: RwLock::default(), read_only: false }
    }

    /// The schema of a data set in which nothing can be created.
    pub fn read_only(dataset: Arc<dyn Dataset>) -> Self {
        Self { read_only: true, ..Self::new(dataset) }
    }

    /// The data set.
    pub fn dataset(&self) -> &Arc<dyn Dataset> {
        &self.dataset
    }

    fn is_own(&self, name: &str) -> bool {
        self.dataset.tables().iter().any(|table| table == name)
    }

    /// Refuses to create a table of this name where none can be created.
    pub(crate) fn check_new(&self, name: &str) -> Result<()> {
        if let Some(reason) = self.keeps(name) {
            return plan_err!("{reason}");
        }
        if self.read_only {
            let location = self.dataset.location();
            return plan_err!("'{location}' is attached READ_ONLY: create {name} in another schema");
        }
        Ok(())
    }

    /// Why a table can be neither dropped nor replaced, if it is one of the data set's own.
    pub(crate) fn keeps(&self, name: &str) -> Option<String> {
        let location = self.dataset.location();
        let reason =
            || format!("table '{name}' is part of the attached '{location}' and stays; DETACH the graph instead");
        self.is_own(name).then(reason)
    }

    fn created(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, Arc<dyn TableProvider>>> {
        self.created.read().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SchemaProvider for GraphSchema {
    fn table_names(&self) -> Vec<String> {
        let mut names = self.dataset.tables();
        names.extend(self.created().keys().cloned());
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(table) = self.created().get(name) {
            return Ok(Some(Arc::clone(table)));
        }
        let (dataset, table) = (Arc::clone(&self.dataset), name.to_owned());
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        // Headers are read from files, so not on a thread of queries.
        let read = SpawnedTask::spawn_blocking(move || {
            if !dataset.tables().contains(&table) {
                return Ok(None);
            }
            let version = dataset.version();
            match known {
                Some((known, table)) if known == version => Ok(Some((version, table))),
                _ => DatasetTable::try_new(dataset, &table).map(|table| Some((version, table))),
            }
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
        if let Some(table) = self.created().get(name) {
            return Ok(Some(table.table_type()));
        }
        Ok(self.is_own(name).then_some(TableType::Base))
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        self.check_new(&name)?;
        let mut created = self.created.write().unwrap_or_else(PoisonError::into_inner);
        if created.contains_key(&name) {
            return plan_err!("the table {name} already exists");
        }
        created.insert(name, table);
        Ok(None)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(reason) = self.keeps(name) {
            return plan_err!("{reason}");
        }
        Ok(self.created.write().unwrap_or_else(PoisonError::into_inner).remove(name))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.created().contains_key(name) || self.is_own(name)
    }
}

/// A folder of data sets as a catalog, one schema each, and the schemas that users create beside them.
#[derive(Debug)]
pub struct GraphCatalog {
    schemas: RwLock<BTreeMap<String, Arc<dyn SchemaProvider>>>,
    read_only: bool,
}

impl GraphCatalog {
    /// The catalog of a folder of graphs.
    pub fn new(collection: Collection) -> Self {
        Self::with(collection, false)
    }

    /// The catalog of a folder of graphs in which nothing can be created or dropped.
    pub fn read_only(collection: Collection) -> Self {
        Self::with(collection, true)
    }

    fn with(collection: Collection, read_only: bool) -> Self {
        let schema = if read_only { GraphSchema::read_only } else { GraphSchema::new };
        let graphs = collection.graphs.into_iter();
        let schemas = graphs.map(|(name, dataset)| (name, Arc::new(schema(dataset)) as Arc<dyn SchemaProvider>));
        Self { schemas: RwLock::new(schemas.collect()), read_only }
    }

    fn refuse_change(&self, schema: &str) -> Result<()> {
        if self.read_only {
            return plan_err!(
                "the catalog is attached READ_ONLY: the schema {schema} can be neither made nor dropped in it"
            );
        }
        Ok(())
    }
}

impl CatalogProvider for GraphCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.schemas.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        self.schemas.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn register_schema(&self, name: &str, schema: Arc<dyn SchemaProvider>) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.refuse_change(name)?;
        Ok(self.schemas.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), schema))
    }

    fn deregister_schema(&self, name: &str, cascade: bool) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.refuse_change(name)?;
        let mut schemas = self.schemas.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = schemas.get(name)
            && !cascade
            && !schema.table_names().is_empty()
        {
            let tables = schema.table_names().join(", ");
            return plan_err!("schema {name} has the tables {tables}; DROP SCHEMA {name} CASCADE drops them too");
        }
        Ok(schemas.remove(name))
    }
}
