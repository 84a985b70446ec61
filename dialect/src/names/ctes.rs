//! The CTEs that a place in a statement may name.
//!
//! Shows: see `order_names.rs`

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Cte, Query, With, visit_relations};

use crate::syntax::tree::ast;

/// The CTEs of the queries around a place, the outermost first.
#[derive(Debug, Default)]
pub(crate) struct Ctes(Vec<Scope>);

/// The CTEs of a query that the place may name.
#[derive(Debug)]
struct Scope {
    ctes: Vec<Cte>,
    is_recursive: bool,
}

impl Ctes {
    /// Before a query is visited that has this clause, without its CTEs.
    pub(crate) fn enter(&mut self, with: Option<&With>) {
        self.0.push(Scope { ctes: Vec::new(), is_recursive: with.is_some_and(|with| with.recursive) });
    }

    /// Shows a CTE of the query to those behind it.
    pub(crate) fn show(&mut self, cte: Cte) {
        if let Some(scope) = self.0.last_mut() {
            scope.ctes.push(cte);
        }
    }

    /// After a query was visited: its CTEs.
    pub(crate) fn leave(&mut self) -> Vec<Cte> {
        self.0.pop().map(|scope| scope.ctes).unwrap_or_default()
    }

    /// A query of this place that can stand alone, with the CTEs that it reads.
    pub(crate) fn around(&self, mut query: Query) -> Query {
        if self.0.iter().all(|scope| scope.ctes.is_empty()) {
            return query;
        }
        let mut read = HashSet::new();
        add_names(&query, &mut read);
        let mut ctes: Vec<&Cte> = Vec::new();
        let all = || self.0.iter().flat_map(|scope| &scope.ctes);
        // An inner one hides the outer one of its name, and reads those before it.
        for cte in all().collect::<Vec<_>>().into_iter().rev() {
            let name = ast::normalized(&cte.alias.name);
            if read.contains(&name) && ctes.iter().all(|other| other.alias.name != cte.alias.name) {
                add_names(cte.query.as_ref(), &mut read);
                ctes.push(cte);
            }
        }
        if ctes.is_empty() {
            return query;
        }
        let cte_tables = ctes.into_iter().rev().cloned().collect();
        // The query's own CTEs stay where they are, around a query that stands for it.
        if query.with.is_some() {
            query = ast::select_all(ast::derived(query, None));
        }
        let recursive = self.0.iter().any(|scope| scope.is_recursive);
        query.with = Some(With { with_token: ast::no_token(), recursive, cte_tables });
        query
    }
}

/// Adds the names of tables that a query reads, without schemas.
fn add_names(query: &Query, names: &mut HashSet<String>) {
    let _ = visit_relations(query, |name| {
        if let Some([only]) = ast::name_parts(name).as_deref() {
            names.insert(only.clone());
        }
        ControlFlow::<()>::Continue(())
    });
}
