//! Time travel, and the history of a table.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use bonnet_common::Version;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result, exec_err};
use datafusion::datasource::TableType;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::Expr;
use deltalake::kernel::{Action, CommitInfo};
use deltalake::{DeltaTable, DeltaTableBuilder};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use super::damage;
use super::fast::log::{self, Listed};
use super::fault::Fault;
use super::store;
use crate::ground::blocking::blocking;
use crate::ground::lazy::{LazyExec, LazyRows, TableRows};
use crate::ground::table_methods::{Planned, table_methods};

/// The commits of a table with their versions, latest first. Reads the log, up to the table's version. The library's
/// `history` gives no version numbers, leaves out commits without a `commitInfo` and does not end at the table's version;
/// its `load_with_datetime` goes by the times of files, which a copied database has not kept.
async fn commits(table: &DeltaTable, name: &str) -> Result<Vec<(u64, CommitInfo)>> {
    let folder = store::folder(table)?;
    let (place, latest) = (folder.clone(), table.version().unwrap_or_default());
    let found = blocking(move || {
        let read = |version: u64| {
            let path = log::commit(&place, version);
            let text = std::fs::read_to_string(&path);
            let text = text.map_err(|error| Fault::new(&path, format!("cannot be read: {error}")))?;
            let info = text.lines().find_map(|line| match serde_json::from_str(line) {
                Ok(Action::CommitInfo(info)) => Some(info),
                _ => None,
            });
            Ok((version, info.unwrap_or_default()))
        };
        Listed::of(&place, latest)?.commits.into_iter().rev().map(read).collect()
    });
    found.await.map_err(|error| store::with_name(&folder, name, error))
}

/// Loads a table as it was.
pub(super) async fn load(table: &DeltaTable, name: &str, version: &Version) -> Result<DeltaTable> {
    let latest = table.version().unwrap_or_default();
    let number = match version {
        Version::Number(number) if *number > latest => {
            return exec_err!("{name} has the versions 0 to {latest}: there is no version {number}");
        }
        Version::Number(number) => *number,
        Version::Time(time) => {
            let commits = commits(table, name).await?;
            let before =
                commits.iter().find(|(_, info)| info.timestamp.is_some_and(|at| at.saturating_mul(1000) <= *time));
            match (before, commits.last()) {
                (Some((version, _)), _) => *version,
                (None, Some((version, info))) => {
                    let first = Version::Time(info.timestamp.unwrap_or_default().saturating_mul(1000));
                    return exec_err!("{name} did not exist then: its version {version} is from {}", first.time());
                }
                (None, None) => return exec_err!("{name} has no history"),
            }
        }
    };
    if number == latest {
        return Ok(table.clone());
    }
    let folder = store::folder(table)?;
    store::check(&folder, name, number).await?;
    let builder = DeltaTableBuilder::from_url(table.table_url().clone());
    let old = match builder {
        Ok(builder) => builder.with_version(number).load().await,
        Err(error) => Err(error),
    };
    let old = match old {
        Ok(old) => old,
        Err(error) => return Err(store::unread(&folder, name, error).await),
    };
    let paths: Vec<_> = old.get_file_uris().map_err(|error| store::failed(name, error))?.collect();
    let gone = paths.iter().find(|path| {
        let file = path.rsplit('/').next().unwrap_or(path);
        // Partitioned tables keep their files deeper, and such paths need the whole address.
        !folder.join(file).exists() && !std::path::Path::new(path.trim_start_matches("file://")).exists()
    });
    let Some(gone) = gone else { return Ok(old) };
    // VACUUM removes no file of the latest version.
    let file = gone.rsplit('/').next().unwrap_or(gone);
    if table.get_file_uris().map_err(|error| store::failed(name, error))?.any(|path| path == *gone)
        && let Some(error) = damage::of_files(&[(folder.join(file), 0)])
    {
        return Err(error);
    }
    exec_err!("{name} {version}: the rows of that version were removed by VACUUM; its latest is {latest}")
}

/// The commits of a table as rows: `version, timestamp, operation, parameters, engine`.
#[derive(Debug)]
pub struct History {
    name: String,
    table: DeltaTable,
    schema: SchemaRef,
}

impl History {
    /// The history of this table.
    pub(super) fn new(name: &str, table: DeltaTable) -> Self {
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let schema = Schema::new(vec![
            Field::new("version", DataType::Int64, false),
            Field::new("timestamp", utc, true),
            text("operation"),
            text("parameters"),
            text("engine"),
        ]);
        Self { name: name.to_owned(), table, schema: Arc::new(schema) }
    }
}

impl TableProvider for History {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    table_methods! {
        scan by plan_scan;
    }
}

impl History {
    fn plan_scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Planned<'static> {
        let scan = HistoryScan { name: self.name.clone(), table: self.table.clone(), schema: self.schema() };
        let plan = LazyExec::try_new(Arc::new(scan), &self.schema, projection, limit);
        Box::pin(ready(plan.map(|plan| Arc::new(plan) as _)))
    }
}

struct HistoryScan {
    name: String,
    table: DeltaTable,
    schema: SchemaRef,
}

impl fmt::Debug for HistoryScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HistoryScan").field("name", &self.name).finish()
    }
}

impl LazyRows for HistoryScan {
    fn describe(&self) -> String {
        format!("history of {}", self.name)
    }

    fn expected_bytes(&self, _: &[usize]) -> usize {
        64 * 1024
    }

    fn rows<'a>(&'a self, columns: &'a [usize], _: &'a Arc<TaskContext>) -> BoxFuture<'a, Result<TableRows>> {
        async move {
            let commits = commits(&self.table, &self.name).await?;
            let parameters = |info: &CommitInfo| {
                // What a new table is stands in the table itself, at length.
                let said = |(name, _): &(&String, _)| !["location", "metadata", "protocol"].contains(&name.as_str());
                let sorted: BTreeMap<_, _> = info.operation_parameters.iter().flatten().filter(said).collect();
                serde_json::to_string(&sorted).ok().filter(|_| !sorted.is_empty())
            };
            let engine = |info: &CommitInfo| match info.info.get("bonnetdb").and_then(|version| version.as_str()) {
                Some(version) => Some(format!("bonnetdb {version}")),
                None => info.engine_info.clone(),
            };
            let all: [ArrayRef; 5] = [
                Arc::new(commits.iter().map(|(version, _)| Some(*version as i64)).collect::<Int64Array>()),
                Arc::new(
                    commits
                        .iter()
                        .map(|(_, info)| info.timestamp.map(|milliseconds| milliseconds.saturating_mul(1000)))
                        .collect::<TimestampMicrosecondArray>()
                        .with_timezone("UTC"),
                ),
                Arc::new(commits.iter().map(|(_, info)| info.operation.as_deref()).collect::<StringArray>()),
                Arc::new(commits.iter().map(|(_, info)| parameters(info)).collect::<StringArray>()),
                Arc::new(commits.iter().map(|(_, info)| engine(info)).collect::<StringArray>()),
            ];
            let arrays = columns.iter().map(|column| Arc::clone(&all[*column])).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(commits.len()));
            let schema = Arc::new(self.schema.project(columns)?);
            Ok(TableRows::Ready(vec![RecordBatch::try_new_with_options(schema, arrays, &options)?]))
        }
        .boxed()
    }
}
