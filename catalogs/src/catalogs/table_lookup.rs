//! Tables that take more than a name: those of another time, and files with options.

use std::sync::Arc;

use bonnet_common::{FileCall, TableLookup, TimeTravel, no_history, raise};
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::execution::SessionState;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::versioned::versioned;
use crate::attached::path_table::files_table;

/// The lookup of sessions on these catalogs.
#[derive(Debug, Clone, Copy, Default)]
pub struct CatalogLookup;

impl TableLookup for CatalogLookup {
    fn at<'a>(
        &'a self,
        name: &'a str,
        table: Arc<dyn TableProvider>,
        asked: TimeTravel,
    ) -> BoxFuture<'a, Result<Arc<dyn TableProvider>>> {
        async move {
            let found = match (versioned(table.as_ref()), asked) {
                (Some(table), TimeTravel::Version(version)) => table.at_version(version).await?,
                (Some(table), TimeTravel::History) => table.history().await?,
                (None, _) => None,
            };
            found.map_or_else(|| no_history(name, asked), Ok)
        }
        .boxed()
    }

    fn files<'a>(
        &'a self,
        call: &'a FileCall,
        state: &'a SessionState,
    ) -> BoxFuture<'a, Result<Arc<dyn TableProvider>>> {
        async move {
            call.paths.iter().try_for_each(|path| check_access(path, state))?;
            files_table(call, state).await
        }
        .boxed()
    }
}

/// Refuses files where the session may read none: its setting `bonnet.external_access`, which belongs to the engine above.
///
/// # Errors
/// If it is off.
pub(crate) fn check_access(file: &str, state: &SessionState) -> Result<()> {
    let entries = state.config_options().extensions.iter().flat_map(|(_, settings)| settings.entries());
    let is_off = |key: &str, value: Option<&str>| key == "bonnet.external_access" && value == Some("off");
    match entries.into_iter().any(|entry| is_off(&entry.key, entry.value.as_deref())) {
        true => raise!(Forbidden, "the file '{file}' is refused: bonnet.external_access is off in this session"),
        false => Ok(()),
    }
}
