//! A table of an attached data set.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use bonnet_datasets::Dataset;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::execution::{SessionState, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use super::row_cache::RowCache;
use crate::ground::blocking::block_in_place;
use crate::ground::error::external;
use crate::ground::lazy::{LazyExec, LazyRows, TableRows};
use crate::ground::table_version::{TableVersion, VersionedTable, is_settled};

/// A table of a data set: its columns from the headers, its rows when they are scanned.
#[derive(Debug, Clone)]
pub struct DatasetTable {
    scan: Arc<DatasetScan>,
    schema: SchemaRef,
}

/// The rows of a [`DatasetTable`].
#[derive(Debug)]
struct DatasetScan {
    dataset: Arc<dyn Dataset>,
    table: String,
    cache: Arc<RowCache>,
}

impl DatasetTable {
    /// The table of this name. Reads its headers: call it where a thread may block.
    pub fn try_new(dataset: Arc<dyn Dataset>, table: &str) -> Result<Self> {
        let schema = dataset.schema(table).map_err(external)?;
        Ok(Self { scan: Arc::new(DatasetScan { dataset, table: table.to_owned(), cache: Arc::default() }), schema })
    }

    /// The data set whose table this is.
    pub fn dataset(&self) -> &Arc<dyn Dataset> {
        &self.scan.dataset
    }

    /// The table's name in its data set.
    pub(crate) fn name(&self) -> &str {
        &self.scan.table
    }
}

impl LazyRows for DatasetScan {
    fn describe(&self) -> String {
        format!("{} of {}", self.table, self.dataset.location())
    }

    fn expected_bytes(&self, columns: &[usize]) -> usize {
        self.dataset.expected_bytes(&self.table, columns)
    }

    fn rows<'a>(&'a self, columns: &'a [usize], _: &'a Arc<TaskContext>) -> BoxFuture<'a, Result<TableRows>> {
        let (dataset, table, columns) = (Arc::clone(&self.dataset), self.table.clone(), columns.to_vec());
        let cache = Arc::clone(&self.cache);
        let rows = TableRows::Blocking(Box::new(move |keep_going| {
            cache.get(dataset.version(), &columns, || dataset.read(&table, &columns, keep_going)).map_err(external)
        }));
        Box::pin(ready(Ok(rows)))
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

impl VersionedTable for DatasetTable {
    fn row_version<'a>(&'a self, _: &'a SessionState) -> BoxFuture<'a, Result<Option<TableVersion>>> {
        async move {
            let dataset = Arc::clone(self.dataset());
            let stamp = block_in_place(move || dataset.stamp()).await?;
            let version = is_settled(stamp.modified).then_some(stamp.version);
            let dataset = self.dataset();
            // How it is read follows from the options.
            let table = format!("{} {} {:?} {}", dataset.format(), dataset.location(), dataset.options(), self.name());
            Ok(version.map(|version| TableVersion { table, version }))
        }
        .boxed()
    }
}
