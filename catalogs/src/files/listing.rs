//! The files of paths as one table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bonnet_common::FileExtension;
use datafusion::catalog::TableProvider;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::context::SessionState;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::object_store::ObjectMeta;
use futures::TryStreamExt;

use super::arrow_file;
use super::file_fault::fault;
use super::file_patterns::addresses;
use super::folder_keys::FolderKeys;
use super::reading::name_error;
use crate::ground::file_path::path_of;
use crate::remote::shown;

/// The table of files of this machine in this format: their columns are found by name, and folders `key=value` are columns of it.
pub(super) async fn listing(
    paths: &[String],
    format: Arc<dyn FileFormat>,
    extension: &FileExtension,
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    let patterns = paths.to_vec();
    let found = SpawnedTask::spawn_blocking(move || {
        patterns.iter().map(|path| addresses(path)).collect::<Result<Vec<Vec<ListingTableUrl>>>>()
    });
    let found = found.join().await;
    let found =
        found.map_err(|error| DataFusionError::Execution(format!("looking for the files failed: {error}")))??;
    let shown: Vec<String> = paths.iter().map(|path| shown(Path::new(path)).display().to_string()).collect();
    listed(found.into_iter().flatten().collect(), &shown.join("', '"), format, extension, state).await
}

/// The table of files at addresses of one store; `shown` is what they are called in errors.
pub(super) async fn listed(
    urls: Vec<ListingTableUrl>,
    shown: &str,
    format: Arc<dyn FileFormat>,
    extension: &FileExtension,
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    let (files, keys) = files_of(&urls, extension, state).await?;
    if files.is_empty() {
        return plan_err!("'{shown}': no file matches");
    }
    if matches!(extension.format, "arrow" | "feather") {
        check_arrow(&files, shown, state).await?;
    }
    // Empty files have no columns.
    let filled: Vec<ObjectMeta> = files.into_iter().filter(|file| file.size > 0).collect();
    let store = state.runtime_env().object_store(&urls[0])?;
    let options = ListingOptions::new(format).with_file_extension(&extension.text);
    let schema = match filled.first() {
        Some(first) => {
            let schema = options.format.infer_schema(state, &store, &filled).await;
            let schema = schema.map_err(|error| name_error(shown, error))?;
            if let Some(key) = keys.names().find(|key| schema.index_of(key).is_ok()) {
                let what = format!(
                    "has a column \"{key}\", as its folders {key}=... have: give one of them another name, since two \
                     columns cannot be called \"{key}\""
                );
                return Err(fault(&path_of(&first.location), what));
            }
            schema
        }
        None => return plan_err!("'{shown}' is empty: it has no columns"),
    };
    if schema.fields().is_empty() {
        return plan_err!("'{shown}' is empty: it has no columns");
    }
    let options = options.with_table_partition_cols(keys.columns());
    let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options).with_schema(schema);
    keys.typed(ListingTable::try_new(config)?)
}

/// The files of all addresses, in order, and the keys of their folders.
async fn files_of(
    urls: &[ListingTableUrl],
    extension: &FileExtension,
    state: &SessionState,
) -> Result<(Vec<ObjectMeta>, FolderKeys)> {
    let (mut files, mut keys) = (Vec::new(), FolderKeys::default());
    for url in urls {
        let store = state.runtime_env().object_store(url)?;
        let found = url.list_all_files(state, store.as_ref(), &extension.text).await?;
        let mut found: Vec<ObjectMeta> = found.try_collect().await?;
        found.sort_unstable_by(|a, b| a.location.cmp(&b.location));
        for file in &found {
            keys.add(url, &file.location)?;
        }
        files.extend(found);
    }
    Ok((files, keys))
}

/// Checks Arrow files before their reader does what they say, and that there is memory for their largest batch.
async fn check_arrow(files: &[ObjectMeta], shown: &str, state: &SessionState) -> Result<()> {
    let paths: Vec<PathBuf> = files.iter().map(|file| path_of(&file.location)).collect();
    let check = move || {
        let checked = paths.iter().map(|path: &PathBuf| arrow_file::check(Path::new(path)));
        checked.collect::<Result<Vec<u64>>>().map(|batches| batches.into_iter().max().unwrap_or(0))
    };
    let largest = SpawnedTask::spawn_blocking(check).join().await;
    let largest = largest.map_err(|error| DataFusionError::Execution(error.to_string()))??;
    let pool = &state.runtime_env().memory_pool;
    MemoryConsumer::new(format!("batch of '{shown}'")).register(pool).try_grow(largest as usize)
}
