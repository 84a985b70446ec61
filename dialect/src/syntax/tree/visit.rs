//! Visits of whole statements.

use std::ops::ControlFlow;

use datafusion::sql::parser::{CopyToSource, Statement as SqlStatement};
use datafusion::sql::sqlparser::ast::VisitorMut;

use super::walk::walk;

/// Visits every tree inside a statement of DataFusion.
pub(crate) fn visit_statement<V: VisitorMut>(statement: &mut SqlStatement, visitor: &mut V) -> ControlFlow<V::Break> {
    match statement {
        SqlStatement::Statement(statement) => walk(&mut **statement, visitor),
        SqlStatement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => walk(query, visitor),
            CopyToSource::Relation(_) => ControlFlow::Continue(()),
        },
        SqlStatement::Explain(explain) => visit_statement(&mut explain.statement, visitor),
        SqlStatement::CreateExternalTable(_) | SqlStatement::Reset(_) => ControlFlow::Continue(()),
    }
}
