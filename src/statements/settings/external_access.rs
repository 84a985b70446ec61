//! Access to whatever lies outside the database, which a session with `bonnet.external_access = off` is refused. Files that
//! a query reads are refused where they are opened, in `catalogs/src/catalogs/session_catalog.rs`, parameters of models in
//! `udfs/learning/src/sql/jobs.rs`.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{DdlStatement, LogicalPlan, Statement as PlanStatement};

use crate::{Error, ErrorKind, Raised, Result, Session};
use bonnet_dialect::syntax::statements::statement::Statement;

/// Settings of the runtime that hold limits of memory and the folder of temporary files.
const RUNTIME: &str = "datafusion.runtime.";

fn refused(what: &str) -> Error {
    Raised::new(ErrorKind::Forbidden, format!("{what} is refused: bonnet.external_access is off in this session"))
        .into()
}

/// Refuses statements that attach and detach, where external access is off.
pub(in crate::statements) fn check_statement(session: &Session, statement: &Statement) -> Result<()> {
    match statement {
        Statement::Attach(_) | Statement::Detach { .. } if !session.settings()?.external_access() => {
            Err(refused(statement.tag()))
        }
        _ => Ok(()),
    }
}

/// Refuses plans that write files or make tables of them, also where they are explained or prepared, and settings of the
/// runtime, where external access is off.
pub(in crate::statements) fn check_plan(session: &Session, plan: &LogicalPlan) -> Result<()> {
    if session.settings()?.external_access() {
        return Ok(());
    }
    let mut door = None;
    plan.apply(|plan| {
        door = match plan {
            LogicalPlan::Copy(_) => Some("COPY".to_owned()),
            LogicalPlan::Ddl(DdlStatement::CreateExternalTable(_)) => Some("CREATE EXTERNAL TABLE".to_owned()),
            LogicalPlan::Statement(PlanStatement::SetVariable(set)) if set.variable.starts_with(RUNTIME) => {
                Some(format!("SET {}", set.variable))
            }
            LogicalPlan::Statement(PlanStatement::ResetVariable(reset)) if reset.variable.starts_with(RUNTIME) => {
                Some(format!("RESET {}", reset.variable))
            }
            LogicalPlan::Dml(change) => match source_as_provider(&change.target) {
                Ok(table) if table.is::<ListingTable>() => {
                    Some(format!("a change of the files of {}", change.table_name))
                }
                _ => None,
            },
            _ => None,
        };
        Ok(if door.is_some() { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    door.map_or(Ok(()), |what| Err(refused(&what)))
}
