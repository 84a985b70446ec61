//! Plans of statements that DataFusion knows.

use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement as SqlStatement;

use crate::{Result, Session};

/// The plan of a statement.
pub(super) async fn plan(session: &Session, statement: SqlStatement) -> Result<LogicalPlan> {
    bonnet_dialect::plan(&session.state(), session.engine.registry(), statement).await
}
