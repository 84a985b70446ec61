//! Views, which every session plans from their SQL when it reads them.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result, internal_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;

/// More views than this that read one another are a circle.
const DEEPEST: usize = 32;

/// A view as SQL. Names in it are looked up when it is read, so it follows its tables.
#[derive(Debug, Clone)]
pub struct StoredView {
    /// The name of the view.
    pub name: String,
    /// The query of the view.
    pub query: String,
    /// The catalog in which its names are looked up; `None` for the one that it belongs to.
    pub catalog: Option<String>,
    /// The schema in which its names are looked up.
    pub schema: String,
}

/// Plans a query in a session whose current schema it is given.
pub trait PlanQuery: Send + Sync + 'static {
    /// The plan of the query.
    fn plan<'a>(&'a self, state: &'a SessionState, query: &'a str) -> BoxFuture<'a, Result<LogicalPlan>>;
}

tokio::task_local! {
    /// The number of views that are being planned, each for the one before.
    static DEPTH: usize;
}

impl StoredView {
    /// The plan of a view of `catalog` in a session.
    pub(crate) async fn plan(&self, views: &dyn PlanQuery, state: &SessionState, catalog: &str) -> Result<LogicalPlan> {
        let depth = DEPTH.try_with(|depth| *depth).unwrap_or(0);
        if depth >= DEEPEST {
            return plan_err!(
                "the view {} reads itself, through other views: CREATE OR REPLACE one of them",
                self.name
            );
        }
        let catalog = self.catalog.as_deref().unwrap_or(catalog);
        let current = &state.config_options().catalog;
        let mut there = Cow::Borrowed(state);
        if current.default_catalog != catalog || current.default_schema != self.schema {
            let options = &mut there.to_mut().config_mut().options_mut().catalog;
            options.default_catalog = catalog.to_owned();
            options.default_schema = self.schema.clone();
        }
        let plan = DEPTH.scope(depth + 1, views.plan(&there, &self.query)).await;
        plan.map_err(|error| match depth {
            0 => error.context(format!("the view {}", self.name)),
            _ => error,
        })
    }
}

#[async_trait]
impl TableProvider for StoredView {
    fn schema(&self) -> SchemaRef {
        Arc::new(Schema::empty())
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        _: &dyn Session,
        _: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        internal_err!("the view {} was not planned", self.name)
    }
}
