//! `DELETE FROM t AS x WHERE x.a = 1`: DataFusion knows the rows by the table's name alone.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Given: `DELETE FROM t AS x WHERE x.a = 1`
//! Shows: `SELECT a FROM t` gives `2`

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Expr, FromTable, Ident, Statement, TableFactor, VisitorMut};

use crate::forms::changes::changed_values::changing;
use crate::syntax::tree::ast;
use crate::syntax::tree::walk::walk_outside_subqueries;

/// Gives the columns of a DELETE the table's name in the place of its alias.
pub(crate) fn resolve(statement: &mut SqlStatement) {
    let Some(Statement::Delete(delete)) = changing(statement) else { return };
    let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &mut delete.from;
    let [table] = tables.as_mut_slice() else { return };
    let TableFactor::Table { name, alias, .. } = &mut table.relation else { return };
    let Some(table) = name.0.last().and_then(|part| part.as_ident()) else { return };
    let (Some(alias), Some(condition)) = (alias.take(), &mut delete.selection) else { return };
    let mut renamer = Renamer { alias: ast::normalized(&alias.name), table: table.clone() };
    let _ = walk_outside_subqueries(condition, &mut renamer);
}

struct Renamer {
    alias: String,
    table: Ident,
}

impl VisitorMut for Renamer {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(names) = expr
            && let Some(name) = names.first_mut().filter(|name| ast::normalized(name) == self.alias)
        {
            *name = Ident { span: name.span, ..self.table.clone() };
        }
        ControlFlow::Continue(())
    }
}
