//! `x IN (SELECT ...)` and `EXISTS (SELECT ...)` in a select list, which DataFusion plans in WHERE alone.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Query, Select, SelectItem, TableFactor, UnaryOperator, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::parser::Parser;

use super::ast;
use super::dialect::BonnetDialect;

/// IN with its three values: unknown where nothing equal is found, but the value or one of the rows is NULL.
const IN: &str = "CASE WHEN (SELECT count(*) FROM listed AS s(c)) = 0 THEN false \
                  WHEN array_has((SELECT array_agg(c) FROM listed AS s(c)), given) THEN true \
                  WHEN given IS NULL OR (SELECT count(*) > count(c) FROM listed AS s(c)) THEN NULL ELSE false END";

const EXISTS: &str = "(SELECT count(*) > 0 FROM listed AS s)";

/// Writes them as scalar subqueries. For IN the rows are read three times, and each value is searched one by one.
pub(super) fn into_scalars(select: &mut Select) {
    for item in &mut select.projection {
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { continue };
        if ast::find(expr, |expr| matches!(expr, Expr::InSubquery { .. } | Expr::Exists { .. })).is_none() {
            continue;
        }
        let name = ast::quoted(expr.to_string());
        let _ = VisitMut::visit(expr, &mut Memberships::default());
        if let SelectItem::UnnamedExpr(expr) = item {
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: name };
        }
    }
}

#[derive(Default)]
struct Memberships {
    /// How many subqueries are around: what stands in them is theirs.
    queries: usize,
}

impl VisitorMut for Memberships {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let (template, given, listed, negated) = match expr {
            _ if self.queries > 0 => return ControlFlow::Continue(()),
            Expr::InSubquery { expr: given, subquery, negated } => (IN, Some(&**given), &**subquery, *negated),
            Expr::Exists { subquery, negated } => (EXISTS, None, &**subquery, *negated),
            _ => return ControlFlow::Continue(()),
        };
        let parser = Parser::new(&BonnetDialect).try_with_sql(template);
        let Ok(mut scalar) = parser.and_then(|mut parser| parser.parse_expr()) else {
            return ControlFlow::Continue(());
        };
        let _ = VisitMut::visit(&mut scalar, &mut Filler { given, listed });
        *expr = match negated {
            true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(Expr::Nested(Box::new(scalar))) },
            false => Expr::Nested(Box::new(scalar)),
        };
        ControlFlow::Continue(())
    }
}

/// Puts the value and the subquery into a template.
struct Filler<'a> {
    given: Option<&'a Expr>,
    listed: &'a Query,
}

impl VisitorMut for Filler<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let (Expr::Identifier(name), Some(given)) = (&*expr, self.given)
            && name.value == "given"
        {
            *expr = Expr::Nested(Box::new(given.clone()));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { alias, .. } = factor {
            *factor = ast::derived(self.listed.clone(), alias.take());
        }
        ControlFlow::Continue(())
    }
}
