//! The queries around a place of a statement, with the names of their relations.
//!
//! Shows: see `outer_columns.rs`

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, Select, SetExpr, TableFactor, TableWithJoins, VisitorMut};

use crate::names::join_keys;
use crate::syntax::tree::ast;
use crate::syntax::tree::visit::visit_statement;

/// The SELECTs around the place that a visitor has come to.
#[derive(Default)]
pub(crate) struct Scopes {
    around: Vec<Scope>,
    /// Of the queries around, whether their ORDER BY sees the relations of their only SELECT.
    ordered: Vec<bool>,
    /// The number of SELECTs so far.
    selects: usize,
}

enum Scope {
    Select {
        number: usize,
        relations: Vec<Relation>,
    },
    /// A subquery in FROM that does not see the relations beside it.
    Derived,
}

/// A relation in FROM: its name, and the schema that stands before it.
struct Relation {
    name: String,
    schema: Option<Ident>,
}

/// A column of a query around.
pub(crate) struct Outer {
    /// The schema of its relation, where it was written in FROM.
    pub(crate) schema: Option<Ident>,
    /// The numbers of the SELECTs within that query that the column stands in.
    pub(crate) between: Vec<usize>,
}

impl Scopes {
    /// Before a query is visited.
    pub(crate) fn enter_query(&mut self, query: &Query) {
        self.ordered.push(query.order_by.is_some() && matches!(query.body.as_ref(), SetExpr::Select(_)));
    }

    /// After a query was visited.
    pub(crate) fn leave_query(&mut self) {
        if self.ordered.pop() == Some(true) {
            self.around.pop();
        }
    }

    /// Before a SELECT is visited. They are numbered in this order.
    pub(crate) fn enter_select(&mut self, select: &Select) {
        let mut relations = Vec::new();
        select.from.iter().for_each(|table| add_relations(table, &mut relations));
        self.around.push(Scope::Select { number: self.selects, relations });
        self.selects += 1;
    }

    /// After a SELECT was visited.
    pub(crate) fn leave_select(&mut self) {
        if self.ordered.last() != Some(&true) {
            self.around.pop();
        }
    }

    /// Before a part of FROM is visited.
    pub(crate) fn enter_factor(&mut self, factor: &TableFactor) {
        if is_closed(factor) {
            self.around.push(Scope::Derived);
        }
    }

    /// After a part of FROM was visited.
    pub(crate) fn leave_factor(&mut self, factor: &TableFactor) {
        if is_closed(factor) {
            self.around.pop();
        }
    }

    /// The column of a query around that an expression names by its relation; `None` for any other expression.
    pub(crate) fn outer(&self, expr: &Expr) -> Option<Outer> {
        let Expr::CompoundIdentifier(names) = expr else { return None };
        let (true, [relation, _, ..]) = (self.around.len() > 1, names.as_slice()) else { return None };
        let name = ast::normalized(relation);
        let (mut between, mut hidden) = (Vec::new(), false);
        for scope in self.around.iter().rev() {
            match scope {
                Scope::Derived => hidden = true,
                Scope::Select { .. } if hidden => hidden = false,
                Scope::Select { number, relations } => match relations.iter().find(|relation| relation.name == name) {
                    Some(_) if between.is_empty() => return None,
                    Some(relation) => return Some(Outer { schema: relation.schema.clone(), between }),
                    None => between.push(*number),
                },
            }
        }
        None
    }
}

/// What is done at columns of queries around.
pub(crate) trait AtOuterColumns {
    /// Before a query is visited.
    fn enter_query(&mut self, _: &Query) {}

    /// After a query was visited.
    fn leave_query(&mut self, _: &Query) {}

    /// Before a SELECT is visited.
    fn enter_select(&mut self, _: &Select) {}

    /// At a column of a query around, by its names.
    fn outer(&mut self, names: &mut Vec<Ident>, column: Outer);
}

/// Shows the columns of queries around to `act`.
pub(crate) fn visit_outer_columns(statement: &mut SqlStatement, act: &mut impl AtOuterColumns) {
    let _ = visit_statement(statement, &mut OuterColumns { scopes: Scopes::default(), act });
}

struct OuterColumns<'a, A> {
    scopes: Scopes,
    act: &'a mut A,
}

impl<A: AtOuterColumns> VisitorMut for OuterColumns<'_, A> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.act.enter_query(query);
        self.scopes.enter_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.act.leave_query(query);
        self.scopes.leave_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        self.scopes.enter_select(select);
        self.act.enter_select(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.scopes.leave_select();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        self.scopes.enter_factor(factor);
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        self.scopes.leave_factor(factor);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Some(column) = self.scopes.outer(expr)
            && let Expr::CompoundIdentifier(names) = expr
        {
            self.act.outer(names, column);
        }
        ControlFlow::Continue(())
    }
}

fn is_closed(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::Derived { lateral: false, .. })
}

fn add_relations(table: &TableWithJoins, relations: &mut Vec<Relation>) {
    for factor in std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)) {
        match factor {
            TableFactor::NestedJoin { table_with_joins, alias }
                if alias.as_ref().is_none_or(|alias| alias.name.value == join_keys::MARK) =>
            {
                add_relations(table_with_joins, relations);
            }
            TableFactor::Table { name, alias: None, .. } => {
                let mut parts = name.0.iter().rev().filter_map(|part| part.as_ident());
                if let Some(last) = parts.next() {
                    relations.push(Relation { name: ast::normalized(last), schema: parts.next().cloned() });
                }
            }
            TableFactor::Table { alias: Some(alias), .. }
            | TableFactor::Derived { alias: Some(alias), .. }
            | TableFactor::Function { alias: Some(alias), .. }
            | TableFactor::TableFunction { alias: Some(alias), .. }
            | TableFactor::UNNEST { alias: Some(alias), .. }
            | TableFactor::NestedJoin { alias: Some(alias), .. }
            | TableFactor::Pivot { alias: Some(alias), .. }
            | TableFactor::Unpivot { alias: Some(alias), .. } => {
                relations.push(Relation { name: ast::normalized(&alias.name), schema: None });
            }
            _ => {}
        }
    }
}
