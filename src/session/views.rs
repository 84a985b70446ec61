//! Views, which a catalog stores as text, planned in a session.

use std::sync::Arc;

use bonnet_catalogs::PlanQuery;
use bonnet_sql::Registry;
use datafusion::common::{Result, plan_err};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use futures::FutureExt;
use futures::future::BoxFuture;

use bonnet_dialect::syntax::statements::parse;
use bonnet_dialect::syntax::statements::statement::Statement;
use bonnet_dialect::syntax::views::older;

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
            let Statement::Sql(mut statement) = parse::parse(query)? else {
                return plan_err!("the text of a view is no query");
            };
            older::renew(query, &mut statement);
            Ok(bonnet_dialect::plan(state, &self.registry, *statement).await?)
        }
        .boxed()
    }
}
