//! How a session plans the views that a database remembers as text.

use std::sync::Arc;

use bonnet_catalogs::PlanQuery;
use bonnet_sql::Registry;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::front::statement::Statement;
use crate::front::{self, parse};

/// Parses and rewrites a view's query as a statement's.
pub(crate) struct Views {
    registry: Arc<Registry>,
}

impl Views {
    pub(crate) fn new(registry: Arc<Registry>) -> Self {
        Self { registry }
    }
}

impl PlanQuery for Views {
    fn plan<'a>(&'a self, state: &'a SessionState, query: &'a str) -> BoxFuture<'a, Result<LogicalPlan>> {
        async move {
            let external = |error: crate::Error| DataFusionError::Plan(error.to_string());
            let Statement::Sql(statement) = parse::parse(query).map_err(external)? else {
                return plan_err!("the text of a view is no query");
            };
            let prepared = front::prepare(state, &self.registry, *statement).await.map_err(external)?;
            state.statement_to_plan(prepared.statement).await
        }
        .boxed()
    }
}
