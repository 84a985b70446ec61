//! ALTER TABLE: other columns in one commit, for which all files are written anew. Earlier versions keep theirs.

use std::path::Path;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::{Result, exec_datafusion_err, plan_err};
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlanBuilder;
use deltalake::DeltaTable;
use deltalake::delta_datafusion::DeltaScanNext;
use deltalake::kernel::{Action, MetadataExt};

use super::store::{self, Appender};
use super::{copy_on_write, types};
use crate::ground::column_change::{ChangedColumns, ColumnChange};

/// Changes the columns of a table at its latest version, `now`. `aside` is an empty folder for a table of the new columns,
/// which says what of Delta's protocol they ask for. `false` where another commit came first.
///
/// # Errors
/// If the columns cannot be changed so, or a value does not fit its new type.
pub(super) async fn run(
    now: &DeltaTable,
    aside: &Path,
    name: &str,
    state: &SessionState,
    change: &ColumnChange,
) -> Result<bool> {
    let before = now.snapshot().map_err(|error| store::failed(name, error))?;
    if !before.metadata().partition_columns().is_empty() {
        return plan_err!("{name} is partitioned, so its columns stay: CREATE TABLE ... AS SELECT makes another");
    }
    let scan = DeltaScanNext::new(before.snapshot().clone(), store::scan_config())?;
    let ChangedColumns { schema, values, .. } = change.of(name, &scan.schema())?;
    let schema = types::storable(&schema)?;
    let model = store::create(aside, name, &schema, Vec::new()).await?;
    let model = model.snapshot().map_err(|error| store::failed(name, error))?;

    let plan =
        LogicalPlanBuilder::scan("changed", provider_as_source(Arc::new(scan)), None)?.project(values)?.build()?;
    let folder = store::folder(now)?;
    let mut files = Appender::new(&folder, name, &schema, &[])?;
    copy_on_write::write(state, plan, &mut files, state.task_ctx()).await?;
    let added = store::synced(&folder, files.take().await?).await?;

    let mut actions = Vec::new();
    if model.protocol() != before.protocol() {
        actions.push(Action::Protocol(model.protocol().clone()));
    }
    let columns = before.metadata().clone().with_schema(&model.schema());
    actions.push(Action::Metadata(columns.map_err(|error| exec_datafusion_err!("{name}: {error}"))?));
    let views = store::files(now, name).await?;
    actions.extend(views.iter().map(|view| Action::Remove(view.remove_action(true))));
    actions.extend(added.into_iter().map(Action::Add));
    store::commit_next(now, name, actions, operation(change)).await
}

/// What the history says.
fn operation(change: &ColumnChange) -> &'static str {
    match change {
        ColumnChange::Add { .. } => "ADD COLUMN",
        ColumnChange::Drop(_) => "DROP COLUMN",
        ColumnChange::Rename { .. } => "RENAME COLUMN",
        ColumnChange::Retype { .. } => "CHANGE COLUMN",
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use datafusion::execution::session_state::SessionStateBuilder;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_commit_that_comes_first_is_not_overtaken() {
        let (folder, aside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let rows = RecordBatch::try_from_iter([("a", keys)]).unwrap();
        let before = store::create(folder.path(), "t", &rows.schema(), Vec::new()).await.unwrap();
        let mut files = Appender::new(folder.path(), "t", &rows.schema(), &[]).unwrap();
        files.write(&rows).await.unwrap();
        store::append(folder.path(), "t", 0, files.take().await.unwrap()).await.unwrap();
        let state = SessionStateBuilder::new_with_default_features().build();
        let change = ColumnChange::Rename { from: "a".to_owned(), to: "b".to_owned() };
        assert!(!run(&before, aside.path(), "t", &state, &change).await.unwrap());

        let (now, aside) = (store::open(folder.path(), "t").await.unwrap(), tempfile::tempdir().unwrap());
        assert!(run(&now, aside.path(), "t", &state, &change).await.unwrap());
        let after = store::open(folder.path(), "t").await.unwrap();
        assert_eq!(after.version(), Some(2));
        let scan = DeltaScanNext::new(after.snapshot().unwrap().snapshot().clone(), store::scan_config()).unwrap();
        assert_eq!(scan.schema().field(0).name(), "b");
    }
}
