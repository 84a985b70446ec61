//! An engine's catalogs as one session sees them: with what takes a session to resolve. `FROM 'file.parquet'`, views,
//! which are planned when they are read, tables of the program around, and the schema `information_schema`.
//!
//! The wrapper between DataFusion and all catalogs and schemas of the engine. Statements reach what is below by
//! [`SessionSchema::of`]: an [`EngineCatalog`], which may stand for another one itself, for a catalog of DataFusion's
//! (`provider_catalog`) or for one that a database remembers and that is opened when it is first used.

use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use bonnet_common::{SYSTEM_SCHEMA, looks_like_a_file};
use datafusion::catalog::information_schema::{INFORMATION_SCHEMA, InformationSchemaProvider};
use datafusion::catalog::{CatalogProvider, CatalogProviderList, MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::common::{Result, plan_datafusion_err, plan_err};
use datafusion::datasource::ViewTable;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::TableType;
use datafusion::prelude::SessionContext;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::engine_catalogs::EngineCatalogs;
use super::frames::current_frame;
use super::table_lookup::check_access;
use crate::attached::path_table::path_table;
use crate::attached::provider_catalog::{ProviderCatalog, ProviderSchema};
use crate::schemas::engine_catalog::EngineCatalog;
use crate::schemas::engine_schema::EngineSchema;
use crate::schemas::memory_schema::MemorySchema;
use crate::schemas::stored_view::{PlanQuery, StoredView};

/// A session's state, which says how files are read and views are planned. Weak, as the session owns the catalogs.
struct State {
    session: OnceLock<Box<dyn Fn() -> Option<SessionState> + Send + Sync>>,
    views: Arc<dyn PlanQuery>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}

impl State {
    /// The state of the statement that is being planned, else of its session as it is now.
    fn session(&self) -> Option<Arc<SessionState>> {
        let of_statement = PLANNED.try_with(Arc::clone).ok();
        of_statement.or_else(|| self.session.get().and_then(|state| state()).map(Arc::new))
    }
}

tokio::task_local! {
    static PLANNED: Arc<SessionState>;
}

/// Plans a statement in a state of its session, which takes long to copy for each file and view in it.
pub async fn planned_in<T>(state: Arc<SessionState>, work: impl Future<Output = T>) -> T {
    PLANNED.scope(state, work).await
}

/// The catalogs of an engine in a session.
#[derive(Debug, Clone)]
pub struct SessionCatalogs {
    engine: Arc<EngineCatalogs>,
    state: Arc<State>,
    /// Whether what cannot be read is left out, as in listings of all tables, which one damaged entry must not hide.
    lenient: bool,
}

impl SessionCatalogs {
    /// Makes an engine's catalogs those of the context. Views are planned by `views`.
    pub fn install(context: &SessionContext, engine: Arc<EngineCatalogs>, views: Arc<dyn PlanQuery>) {
        let list = Self { engine, state: Arc::new(State { session: OnceLock::new(), views }), lenient: false };
        let weak = context.state_weak_ref();
        // The list is new, so nothing is set yet.
        let _ = list.state.session.set(Box::new(move || Weak::upgrade(&weak).map(|state| state.read().clone())));
        context.register_catalog_list(Arc::new(list));
    }

    /// The schema of all tables, in which what cannot be read is left out.
    fn information_schema(&self) -> Arc<dyn SchemaProvider> {
        let functions = self.state.session().map(|state| state.table_functions().clone()).unwrap_or_default();
        let listed = Arc::new(Self { lenient: true, ..self.clone() });
        Arc::new(InformationSchemaProvider::new(listed).with_table_functions(functions))
    }
}

impl CatalogProviderList for SessionCatalogs {
    fn register_catalog(&self, name: String, catalog: Arc<dyn CatalogProvider>) -> Option<Arc<dyn CatalogProvider>> {
        let before = self.catalog(&name);
        self.engine.insert(&name, Arc::new(ProviderCatalog(catalog)));
        before
    }

    fn catalog_names(&self) -> Vec<String> {
        self.engine.names()
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        let inner = self.engine.get(name)?;
        Some(Arc::new(SessionCatalog { name: name.to_owned(), inner, catalogs: self.clone() }))
    }
}

/// A catalog of [`SessionCatalogs`].
#[derive(Debug)]
struct SessionCatalog {
    name: String,
    inner: Arc<dyn EngineCatalog>,
    catalogs: SessionCatalogs,
}

impl CatalogProvider for SessionCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.inner.schema_names()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        if name == INFORMATION_SCHEMA {
            return Some(self.catalogs.information_schema());
        }
        let (catalog, inner) = self.catalogs.engine.schema(&self.name, name)?;
        let (state, lenient) = (Arc::clone(&self.catalogs.state), self.catalogs.lenient);
        Some(Arc::new(SessionSchema { catalog, name: name.to_owned(), inner, state, lenient }))
    }

    fn register_schema(&self, name: &str, schema: Arc<dyn SchemaProvider>) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.catalogs.engine.check_new_schema(name)?;
        // What CREATE SCHEMA of DataFusion makes.
        let schema: Arc<dyn EngineSchema> = match schema.is::<MemorySchemaProvider>() {
            true => Arc::new(MemorySchema::default()),
            false => Arc::new(ProviderSchema(schema)),
        };
        self.inner.register_schema(name, schema).map(|()| None)
    }

    fn deregister_schema(&self, name: &str, cascade: bool) -> Result<Option<Arc<dyn SchemaProvider>>> {
        if name == SYSTEM_SCHEMA {
            return plan_err!("the schema {SYSTEM_SCHEMA} belongs to the engine and cannot be dropped");
        }
        let schema = self.schema(name);
        Ok(if self.inner.drop_schema(name, cascade)? { schema } else { None })
    }
}

/// A schema of [`SessionCatalogs`].
#[derive(Debug)]
pub struct SessionSchema {
    catalog: String,
    name: String,
    inner: Arc<dyn EngineSchema>,
    state: Arc<State>,
    lenient: bool,
}

impl SessionSchema {
    /// A schema of a session's catalogs as such; `None` for `information_schema`.
    pub fn of(schema: &dyn SchemaProvider) -> Option<&Self> {
        schema.downcast_ref()
    }

    /// The name of the catalog that has it.
    pub fn catalog(&self) -> &str {
        &self.catalog
    }

    /// The engine's schema, which all sessions share.
    pub fn engine(&self) -> &Arc<dyn EngineSchema> {
        &self.inner
    }

    /// A table, a view, or what files hold. One boxed future: see `table_methods`.
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Arc<dyn TableProvider>>>> {
        async move {
            if let Some(table) = self.inner.table(name).await? {
                return match table.downcast_ref::<StoredView>() {
                    Some(view) => self.view(view).await.map(Some),
                    None => Ok(Some(table)),
                };
            }
            let state = self.state.session();
            if !looks_like_a_file(name) {
                return if state.is_some_and(|state| self.is_current(&state)) { current_frame(name) } else { Ok(None) };
            }
            let state = state.ok_or_else(|| plan_datafusion_err!("the session that reads '{name}' is closed"))?;
            check_access(name, &state)?;
            path_table(name, &state).await.map(Some)
        }
        .boxed()
    }

    /// Whether a name without a schema means a table of this one.
    fn is_current(&self, state: &SessionState) -> bool {
        let options = &state.config_options().catalog;
        options.default_catalog == self.catalog && options.default_schema == self.name
    }

    /// A view, planned in this session.
    async fn view(&self, view: &StoredView) -> Result<Arc<dyn TableProvider>> {
        let Some(state) = self.state.session() else {
            return plan_err!("the session that reads the view {} is closed", view.name);
        };
        let plan = view.plan(self.state.views.as_ref(), &state, &self.catalog).await?;
        Ok(Arc::new(ViewTable::new(plan, Some(view.query.clone()))))
    }
}

#[async_trait]
impl SchemaProvider for SessionSchema {
    fn table_names(&self) -> Vec<String> {
        self.inner.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match self.find(name).await {
            Err(_) if self.lenient => Ok(None),
            found => found,
        }
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        match self.inner.table_type(name).await {
            Err(_) if self.lenient => Ok(Some(TableType::Base)),
            found => found,
        }
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
