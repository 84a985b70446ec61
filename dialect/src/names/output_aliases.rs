//! Names of output columns in WHERE and in the outputs behind them: `SELECT a + 1 AS b, b * 2 AS c FROM t WHERE c > 4`.
//!
//! A column of FROM goes before an output of its name, and only the planner knows those: a name that it does not find is
//! looked for among the outputs, and the statement is planned again with the output's expression.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Shows: `SELECT a + 1 AS b, b * 2 AS c FROM t WHERE c > 4` gives `3 | 6`

use std::ops::ControlFlow;

use datafusion::common::{DataFusionError, SchemaError};
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::Volatility;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Select, SelectItem, VisitorMut};
use datafusion::sql::sqlparser::tokenizer::Location;

use crate::syntax::tree::ast;
use crate::syntax::tree::visit::visit_statement;
use crate::syntax::tree::walk::{find, walk_outside_subqueries};

/// Whether a SELECT reads a name that one of its outputs has.
pub(crate) fn are_read(select: &Select) -> bool {
    let mut known: Vec<String> = Vec::new();
    for item in &select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
            && reads(expr, &known)
        {
            return true;
        }
        if let SelectItem::ExprWithAlias { alias, .. } = item {
            known.push(ast::normalized(alias));
        }
    }
    select.selection.as_ref().is_some_and(|condition| reads(condition, &known))
}

fn reads(expr: &Expr, names: &[String]) -> bool {
    !names.is_empty()
        && find(expr, &|part| matches!(part, Expr::Identifier(name) if names.contains(&ast::normalized(name))))
            .is_some()
}

/// Puts the expression of an output in the place of the name that the planner has not found. Whether there is one.
pub(crate) fn replace(statement: &mut SqlStatement, error: &DataFusionError, state: &SessionState) -> bool {
    let DataFusionError::SchemaError(found, _) = error.find_root() else { return false };
    let SchemaError::FieldNotFound { field, .. } = found.as_ref() else { return false };
    let Some(span) = error.diagnostic().and_then(|diagnostic| diagnostic.span) else { return false };
    if field.relation.is_some() {
        return false;
    }
    let place = ast::parser_span(span).start;
    let mut replacer = Replacer { name: field.name.clone(), place, state, replaced: 0, missed: 0 };
    let _ = visit_statement(statement, &mut replacer);
    // A copy of the name stands wherever its expression was put before: all of them, or none.
    replacer.replaced > 0 && replacer.missed == 0
}

struct Replacer<'a> {
    name: String,
    place: Location,
    state: &'a SessionState,
    replaced: usize,
    missed: usize,
}

impl Replacer<'_> {
    fn is_meant(&self, name: &Ident) -> bool {
        name.span.start == self.place && ast::normalized(name) == self.name
    }

    fn replace(&mut self, within: &mut Expr, output: Option<&Expr>) {
        let _ = walk_outside_subqueries(within, &mut Names { replacer: self, output });
    }
}

impl VisitorMut for Replacer<'_> {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let mut output: Option<Expr> = None;
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                self.replace(expr, output.as_ref());
            }
            if let SelectItem::ExprWithAlias { expr, alias } = item
                && output.is_none()
                && ast::normalized(alias) == self.name
                && !is_volatile(expr, self.state)
            {
                output = Some(expr.clone());
            }
        }
        if let Some(condition) = &mut select.selection {
            // Windows are computed of the rows that WHERE keeps.
            let output = output.filter(|output| find(output, &is_window).is_none());
            self.replace(condition, output.as_ref());
        }
        ControlFlow::Continue(())
    }
}

fn is_window(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(call) if call.over.is_some())
}

/// Whether the expression has another value wherever it stands.
fn is_volatile(expr: &Expr, state: &SessionState) -> bool {
    let calls_one = |part: &Expr| {
        let Expr::Function(call) = part else { return false };
        let name = call.name.to_string().to_lowercase();
        state
            .scalar_functions()
            .get(&name)
            .is_some_and(|function| function.signature().volatility == Volatility::Volatile)
    };
    find(expr, &calls_one).is_some()
}

struct Names<'a, 's> {
    replacer: &'a mut Replacer<'s>,
    output: Option<&'a Expr>,
}

impl VisitorMut for Names<'_, '_> {
    type Break = ();

    // Afterwards, so that what is put in is not looked at again.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Expr::Identifier(name) = &*expr else { return ControlFlow::Continue(()) };
        if !self.replacer.is_meant(name) {
            return ControlFlow::Continue(());
        }
        match self.output {
            Some(output) => {
                *expr = Expr::Nested(Box::new(output.clone()));
                self.replacer.replaced += 1;
            }
            None => self.replacer.missed += 1,
        }
        ControlFlow::Continue(())
    }
}
