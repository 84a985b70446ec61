//! Any catalogs, and on top of them what takes a session to resolve: `FROM 'file.parquet'`, views that are remembered as
//! text, and tables of another time.
//!
//! DataFusion's own wrapper (`enable_url_table`) does not pass `DROP SCHEMA` on; this one passes everything on.

use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::common::{Result, plan_datafusion_err, plan_err};
use datafusion::datasource::ViewTable;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::TableType;
use datafusion::prelude::SessionContext;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::files::{file_table, looks_like_a_file};
use crate::stored_view::{StoredView, ViewPlanner};
use crate::versions::{Asked, no_history, read_asked};

/// A session's state, which says how files are read and views are planned. Weak, as the session owns the catalogs.
#[derive(Debug)]
struct State {
    session: OnceLock<WeakState>,
    views: Option<ViewPlanner>,
}

impl State {
    fn session(&self) -> Option<SessionState> {
        self.session.get().and_then(|state| (state.0)())
    }
}

#[derive(Clone)]
struct WeakState(Arc<dyn Fn() -> Option<SessionState> + Send + Sync>);

impl std::fmt::Debug for WeakState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WeakState")
    }
}

/// A list of catalogs in whose schemas a name that looks like a file is that file. One for each session; the inner list
/// may be shared.
#[derive(Debug)]
pub struct FileAwareCatalogList {
    inner: Arc<dyn CatalogProviderList>,
    state: Arc<State>,
}

impl FileAwareCatalogList {
    /// Puts files on top of the context's own catalogs, and registers the result with the context. Views that are
    /// remembered as text are planned by `views`.
    pub fn install(context: &SessionContext, views: Option<ViewPlanner>) -> Arc<Self> {
        let inner = Arc::clone(context.state_ref().read().catalog_list());
        let list = Arc::new(Self { inner, state: Arc::new(State { session: OnceLock::new(), views }) });
        let weak = context.state_weak_ref();
        let state = WeakState(Arc::new(move || Weak::upgrade(&weak).map(|state| state.read().clone())));
        // The list is new, so nothing is set yet.
        let _ = list.state.session.set(state);
        context.register_catalog_list(Arc::clone(&list) as _);
        list
    }

    /// The catalogs without files.
    pub fn inner(&self) -> &Arc<dyn CatalogProviderList> {
        &self.inner
    }
}

impl CatalogProviderList for FileAwareCatalogList {
    fn register_catalog(&self, name: String, catalog: Arc<dyn CatalogProvider>) -> Option<Arc<dyn CatalogProvider>> {
        self.inner.register_catalog(name, catalog)
    }

    fn catalog_names(&self) -> Vec<String> {
        self.inner.catalog_names()
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        let inner = self.inner.catalog(name)?;
        Some(Arc::new(FileAwareCatalog { name: name.to_owned(), inner, state: Arc::clone(&self.state) }))
    }
}

/// A catalog of [`FileAwareCatalogList`].
#[derive(Debug)]
pub struct FileAwareCatalog {
    name: String,
    inner: Arc<dyn CatalogProvider>,
    state: Arc<State>,
}

impl FileAwareCatalog {
    /// The catalog without files.
    pub fn inner(&self) -> &Arc<dyn CatalogProvider> {
        &self.inner
    }
}

impl CatalogProvider for FileAwareCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.inner.schema_names()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let inner = self.inner.schema(name)?;
        Some(Arc::new(FileAwareSchema { catalog: self.name.clone(), inner, state: Arc::clone(&self.state) }))
    }

    fn register_schema(&self, name: &str, schema: Arc<dyn SchemaProvider>) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.inner.register_schema(name, schema)
    }

    fn deregister_schema(&self, name: &str, cascade: bool) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.inner.deregister_schema(name, cascade)
    }
}

/// A schema of [`FileAwareCatalogList`].
#[derive(Debug)]
pub struct FileAwareSchema {
    catalog: String,
    inner: Arc<dyn SchemaProvider>,
    state: Arc<State>,
}

impl FileAwareSchema {
    /// The schema without files.
    pub fn inner(&self) -> &Arc<dyn SchemaProvider> {
        &self.inner
    }

    /// The schema below, whether or not this one is file-aware: for downcasting to its real type.
    pub fn unwrap(schema: &Arc<dyn SchemaProvider>) -> &Arc<dyn SchemaProvider> {
        schema.downcast_ref::<Self>().map_or(schema, Self::inner)
    }

    /// A table, a view, or what files hold. One boxed future: see `boxed`.
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Arc<dyn TableProvider>>>> {
        async move {
            if let Some(table) = self.inner.table(name).await? {
                return match table.downcast_ref::<StoredView>() {
                    Some(view) => self.view(view).await.map(Some),
                    None => Ok(Some(table)),
                };
            }
            if let Some((table, asked)) = read_asked(name)? {
                return match self.table(table).await? {
                    Some(table_now) => self.asked(table, table_now, asked).await.map(Some),
                    None => Ok(None),
                };
            }
            if !looks_like_a_file(name) {
                return Ok(None);
            }
            let state = self.state.session();
            let state = state.ok_or_else(|| plan_datafusion_err!("the session that reads '{name}' is closed"))?;
            file_table(name, &state).await.map(Some)
        }
        .boxed()
    }

    /// A view, planned in this session.
    async fn view(&self, view: &StoredView) -> Result<Arc<dyn TableProvider>> {
        let state = self.state.session();
        let Some((planner, state)) = self.state.views.as_ref().zip(state) else {
            return plan_err!("the view {} is planned by sessions of the engine", view.name);
        };
        let plan = view.plan(planner, &state, &self.catalog).await?;
        Ok(Arc::new(ViewTable::new(plan, Some(view.query.clone()))))
    }

    /// A table at another time, or its history.
    async fn asked(&self, name: &str, table: Arc<dyn TableProvider>, asked: Asked) -> Result<Arc<dyn TableProvider>> {
        #[cfg(feature = "delta")]
        if let Some(lasting) = table.downcast_ref::<crate::delta::LastingTable>() {
            return Ok(match asked {
                Asked::Version(version) => Arc::new(lasting.at_version(&version).await?),
                Asked::History => Arc::new(crate::delta::History::new(lasting.clone())),
            });
        }
        drop(table);
        no_history(name, asked)
    }
}

#[async_trait]
impl SchemaProvider for FileAwareSchema {
    fn owner_name(&self) -> Option<&str> {
        self.inner.owner_name()
    }

    fn table_names(&self) -> Vec<String> {
        self.inner.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.find(name).await
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        self.inner.table_type(name).await
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        self.inner.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.inner.deregister_table(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.inner.table_exist(name)
    }
}
