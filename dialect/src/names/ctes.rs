//! The CTEs that a place in a statement may name.
//!
//! Shows: see `order_names.rs`

use datafusion::sql::sqlparser::ast::{Cte, Query, With};

use crate::syntax::tree::ast;

/// The CTEs of the queries around the place that a visitor has come to.
#[derive(Default)]
pub(crate) struct Ctes(Vec<Scope>);

/// A query around, and how many of its CTEs are visible at the place that is visited.
struct Scope {
    with: Option<With>,
    /// The addresses of the CTEs' queries, to know them when they are visited.
    queries: Vec<*const Query>,
    visible: usize,
}

impl Ctes {
    /// Before a query is visited.
    pub(crate) fn enter(&mut self, query: &Query) {
        let queries = query.with.iter().flat_map(|with| &with.cte_tables);
        let queries = queries.map(|cte| std::ptr::from_ref(cte.query.as_ref())).collect();
        self.0.push(Scope { with: query.with.clone(), queries, visible: 0 });
    }

    /// After a query was visited: as a CTE, those behind it may name it.
    pub(crate) fn leave(&mut self, query: &Query) {
        self.0.pop();
        if let Some(scope) = self.0.last_mut()
            && let Some(at) = scope.queries.iter().position(|other| std::ptr::eq(*other, query))
        {
            scope.visible = at + 1;
        }
    }

    /// A query of this place that can stand alone, with the CTEs that it may name.
    pub(crate) fn around(&self, query: Query) -> Query {
        // The outermost first: an inner one of the same name hides it.
        let mut ctes: Vec<Cte> = Vec::new();
        let mut recursive = false;
        for scope in &self.0 {
            for cte in scope.with.iter().flat_map(|with| &with.cte_tables).take(scope.visible) {
                ctes.retain(|other| other.alias.name != cte.alias.name);
                ctes.push(cte.clone());
            }
            recursive |= scope.with.as_ref().is_some_and(|with| with.recursive);
        }
        if ctes.is_empty() {
            return query;
        }
        // The query's own CTEs stay where they are, around a query that stands for it.
        let mut query = match query.with {
            None => query,
            Some(_) => ast::select_all(ast::derived(query, None)),
        };
        query.with = Some(With { with_token: ast::no_token(), recursive, cte_tables: ctes });
        query
    }
}
